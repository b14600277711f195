//! What the server stored, for the verbs that explain and compare.

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use jiff::Timestamp;

use crate::{
    base::escape,
    program::console::{Error, remark},
    rules::{enforce::Rulebook, policy::Policy},
    state::publication::Memory,
};

/// What the policy's database keeps. Where there is none yet, the answer is that of a first start; a
/// remark on a terminal says so.
pub(super) fn read(policy: &Policy) -> Result<Memory, Error> {
    let database = policy.violations.local_database();
    let is_missing = |file: &&Path| file.try_exists().is_ok_and(|is_there| !is_there);
    if let Some(file) = database.filter(is_missing)
        && io::stderr().is_terminal()
    {
        let file = escape::path(file);
        remark(&format!("'{file}' does not exist yet: no edition and no fetch is known"));
    }
    Memory::read(policy, Timestamp::now()).map_err(|error| Error::Refused(error.to_string()))
}

/// The policy as a server would serve it now.
pub(super) fn rulebook(policy: &Policy, memory: &Memory) -> Rulebook {
    memory.rulebook(policy, Timestamp::now())
}
