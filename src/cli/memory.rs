//! What the server stored, for the verbs that explain and compare.

use jiff::Timestamp;

use crate::{cli::exit::Error, enforce::Rulebook, policy::Policy, publication::Memory};

/// What the policy's database keeps; nothing where there is none yet.
pub(super) fn read(policy: &Policy) -> Result<Memory, Error> {
    Memory::read(policy, Timestamp::now()).map_err(|error| Error::Refused(error.to_string()))
}

/// What a server needs at its start.
pub(super) fn read_latest(policy: &Policy) -> Result<Memory, Error> {
    let read = Memory::read_latest(policy, Timestamp::now());
    read.map_err(|error| Error::Refused(error.to_string()))
}

/// The policy as a server would serve it now.
pub(super) fn rulebook(policy: &Policy, memory: &Memory) -> Rulebook {
    memory.rulebook(policy, Timestamp::now())
}
