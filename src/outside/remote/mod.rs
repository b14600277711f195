//! A policy on a web server: its address, its signature, and the last good copy on disk.
//!
//! A [`Remote`] is what an operator names in place of a policy file. It fetches the policy
//! ([`Remote::fetch`]) and verifies its signature. An unchanged policy costs a response without a
//! body. A [`Follower`] fetches regularly, and at once if the operator asks. A [`KeptCopy`] has the
//! last good policy, for a start while the server is away.
//!
//! Whether a document is a good policy is decided elsewhere: here it is bytes.
//!
//! May use: fetch, diagnostic, whole_file. Must not know: policies, editions, any verb.

mod address; // the address, with and without its secrets
mod document; // a policy as bytes, its signature, the public key
mod failure; // the reasons for a missing document
mod fetcher; // one fetch, and one after another
mod kept_copy; // the last good copy as a file: atomic, mode 0600, with its address and signature

pub use self::{
    address::Address,
    document::{Document, MAX_BYTES, PublicKey},
    failure::Failure,
    fetcher::{Answer, Fetched, Follower, Remote},
    kept_copy::{KeptCopy, LONGEST_MARK, without_mark},
};

#[cfg(test)]
mod tests;
