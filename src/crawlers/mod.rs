//! Crawlers: who is known, under which product tokens, and what a User-Agent claims to be.
//!
//! A User-Agent is a claim and nothing more: what this room finds in it are names. Whether they are
//! true is told by evidence alone (published [`ranges`] of addresses, names of addresses, a
//! [`signature`]), and what that says together is a [`Standing`]. Names are found as whole words,
//! never as substrings, because phones are called `CUBOT`, links hold `bot.html` and an in-app
//! browser carries its network's name.
//!
//! May use: diagnostic, escape, product_token. Must not know: policy, the request, the network.

mod audit;
mod catalogue;
mod changes;
mod claim;
mod crawler;
mod entry;
mod lookup;
mod names;
mod patterns;
mod purpose;
pub mod ranges;
mod recent;
mod self_named;
pub mod signature;
mod site_names;
mod standing;
mod unique;
mod user_agent;
mod words;

pub use catalogue::Catalogue;
pub use changes::{Change, Changes};
pub use claim::{Claim, Class, Name};
pub use crawler::Crawler;
pub use entry::{CatalogueFile, CrawlDelay, Entry, Honours, Kind, Match, Purpose, Robots, Status};
pub use patterns::check_pattern;
pub use recent::Recent;
pub use site_names::{SiteNames, is_findable};
pub use standing::{Answer, Evidence, Outcome, Standing};

#[cfg(test)]
mod tests;
