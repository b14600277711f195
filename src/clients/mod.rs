//! What is known about clients beside what they say.
//!
//! Look here for whether a crawler is who it claims to be, and for what it fetched and how fast.
//!
//! ```text
//! evidence   conduct     do not know each other
//! ```

pub mod conduct; // what clients did: robots.txt fetched, pace, limits, ladder of harder answers, breaker, people first
pub mod evidence; // whether a crawler is genuine, by its operator's lists of addresses, DNS names and keys
