//! The policies that were in force, each compared with the one before it.

use std::{path::Path, sync::Arc};

use jiff::Timestamp;

use crate::{
    advice::comparison::{self, Comparison, Side},
    records::{
        record::{Error, PolicyEntry},
        violations::Store,
    },
    rules::policy::Policy,
};

use super::{files::read_policy_bytes, memory::Memory};

/// Compares the policies in a database, of which it reads one after the other.
#[derive(Debug)]
pub struct PastPolicies<'a> {
    store: &'a Store,
    /// The policy file; relative names start at its folder.
    file: &'a Path,
    /// The most steps of an exact search.
    steps: usize,
    /// The last one that was read, by its hash.
    last: Option<(String, Read)>,
}

/// `None` for a file that this version does not take.
type Read = Option<Arc<Policy>>;

/// The difference in meaning between a policy and the one before it, or the reason why there is none.
pub type PolicyChange = Result<Comparison, &'static str>;

impl<'a> PastPolicies<'a> {
    pub(crate) const fn new(store: &'a Store, file: &'a Path, steps: usize) -> Self {
        Self { store, file, steps, last: None }
    }

    /// What an entry changed. Of several, the newest comes first.
    pub fn change(
        &mut self,
        entry: &PolicyEntry,
        before: Option<&PolicyEntry>,
    ) -> Result<PolicyChange, Error> {
        let Some(before) = before else { return Ok(Err("the first one that is kept")) };
        if entry.sha256 == before.sha256 {
            return Ok(Err("the same file"));
        }
        let (after, before) = (self.read(entry)?, self.read(before)?);
        let both = after.zip(before).ok_or("not compared: this version can't read one of the two");
        Ok(both.map(|(after, before)| difference(&before, &after, self.steps)))
    }

    fn read(&mut self, entry: &PolicyEntry) -> Result<Read, Error> {
        if let Some((sha256, known)) = &self.last
            && *sha256 == *entry.sha256
        {
            return Ok(known.clone());
        }
        let bytes = self.store.policy_file(&entry.sha256)?;
        let read = bytes.and_then(|bytes| read_policy_bytes(self.file, "policy", bytes).policy);
        let policy = read.map(Arc::new);
        self.last = Some((entry.sha256.to_string(), policy.clone()));
        Ok(policy)
    }
}

/// The difference in meaning between two policies, with no more steps of an exact search than this. The
/// files of origins are left out.
pub fn difference(before: &Policy, after: &Policy, steps: usize) -> Comparison {
    let [old, new] =
        [before, after].map(|one| Memory::default().rulebook(one, Timestamp::UNIX_EPOCH));
    let (before, after) =
        (Side { policy: before, rulebook: &old }, Side { policy: after, rulebook: &new });
    comparison::policies_within(before, after, steps)
}

/// A change in a line.
pub fn summary(change: &PolicyChange) -> String {
    change.as_ref().map_or_else(|why| (*why).to_owned(), Comparison::summary)
}
