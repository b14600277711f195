//! The one HTTP client for everything that Beadle itself fetches. Every fetch has a deadline, a
//! size limit and a rule for the addresses that it may reach.
//!
//! A [`Request`] goes in. A [`Response`] or a [`Failure`] with a stable code comes out. A caller
//! reads the body up to a limit. A [`Client`] follows redirects or returns them. It reaches every
//! address ([`Reach::Any`]) or public addresses only. [`repeat`] fetches from many sources, each at
//! its own interval.
//!
//! May use: version. Must not know: the content and the purpose of a fetch.

mod client; // the client, its limits and its certificate authorities
pub mod page; // pages that an operator names
mod reach; // the addresses that a client may connect to
mod response; // status, fields, bounded body; the reason for a missing response
mod schedule; // many sources, each at its own interval

pub use self::{
    client::{
        Client, DEADLINE, PRODUCT, Post, REDIRECTS, Redirects, Request, Settings, check_authorities,
    },
    reach::{Reach, Resolver},
    response::{Failure, Response, Validators},
    schedule::{Fetching, Sources, repeat},
};
