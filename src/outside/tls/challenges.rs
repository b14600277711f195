//! The open tokens of ACME orders (RFC 8555 §8.3).
//!
//! An authority asks for `/.well-known/acme-challenge/TOKEN`, and the answer proves that the host is
//! Beadle's. While no order is open, a request costs one load of a number.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;

const FOLDER: &[u8] = b"/.well-known/acme-challenge/";

/// The open tokens, each with its answer.
#[derive(Debug, Default)]
pub struct Challenges {
    count: AtomicUsize,
    answers: Mutex<HashMap<Vec<u8>, String>>,
}

/// An open token. It ends on drop.
#[derive(Debug)]
pub struct Open {
    challenges: Arc<Challenges>,
    token: Vec<u8>,
}

impl Challenges {
    /// Answers for a token until the returned value is dropped.
    #[must_use]
    pub fn open(self: &Arc<Self>, token: &str, answer: &str) -> Open {
        let mut answers = self.answers.lock();
        answers.insert(token.as_bytes().to_vec(), answer.to_owned());
        self.count.store(answers.len(), Ordering::Release);
        Open { challenges: Arc::clone(self), token: token.as_bytes().to_vec() }
    }

    /// The answer to a request for this target, if it asks for an open token. Any other request is
    /// the site's: its origin may have orders of its own.
    pub fn answer(&self, target: &[u8]) -> Option<String> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.answers.lock().get(target.strip_prefix(FOLDER)?).cloned()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut answers = self.challenges.answers.lock();
        answers.remove(&self.token);
        self.challenges.count.store(answers.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_answered_while_it_is_open() {
        let challenges = Arc::new(Challenges::default());
        let target = b"/.well-known/acme-challenge/abc";
        assert_eq!(challenges.answer(target), None);
        let open = challenges.open("abc", "abc.xyz");
        let other = challenges.open("def", "def.xyz");
        assert_eq!(challenges.answer(target).as_deref(), Some("abc.xyz"));
        for unknown in ["/.well-known/acme-challenge/", "/.well-known/acme-challenge/ab", "/abc"] {
            assert_eq!(challenges.answer(unknown.as_bytes()), None, "{unknown}");
        }
        drop(open);
        assert_eq!(challenges.answer(target), None);
        drop(other);
        assert_eq!(challenges.count.load(Ordering::Acquire), 0);
    }
}
