//! Crawlers: who is known, under which product tokens, and what a User-Agent claims to be.
//!
//! A User-Agent is a claim and nothing more: this room finds the names in it and never says whether
//! they are true. Names are found as whole words, never as substrings, because phones are called
//! `CUBOT`, links hold `bot.html` and an in-app browser carries its network's name.
//!
//! May use: diagnostic, escape, product_token. Must not know: policy, the request, the network.

mod catalogue;
mod claim;
mod crawler;
mod entry;
mod lookup;
mod names;
mod patterns;
mod purpose;
pub mod ranges;
mod self_named;
mod site_names;
mod user_agent;
mod words;

pub use catalogue::Catalogue;
pub use claim::{Claim, Class, Name};
pub use crawler::Crawler;
pub use entry::{CatalogueFile, CrawlDelay, Entry, Honours, Kind, Match, Purpose, Robots, Status};
pub use patterns::check_pattern;
pub use site_names::{SiteNames, is_findable};

#[cfg(test)]
mod tests;
