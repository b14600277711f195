//! What is known about clients beside what they say.
//!
//! Look here for whether a crawler is who it claims to be, and for what it fetched and how fast.
//!
//! ```text
//! evidence   conduct     do not know each other
//! ```

pub mod conduct; // the behaviour of clients: fetches, pace, violations
pub mod evidence; // the identity of clients: lists, names, keys
