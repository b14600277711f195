//! Mail by SMTP.
//!
//! ```text
//! Letter ─▶ Server: MIME, TLS, login ─▶ Answer
//! ```
//! A letter has one connection and a deadline. A server that offers no encryption where the policy wants
//! it gets neither the password nor the letter.
//!
//! May use: policy, diagnostic, escape, secret_file. Must not know: what a letter is about.

pub use self::server::{Answer, Letter, Server};

mod server; // a letter, and the server of the policy
