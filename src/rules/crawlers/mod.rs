//! Crawlers: the catalogue of known crawlers, the claims of User-Agents, and the evidence for them.
//!
//! A User-Agent is only a claim: [`Catalogue::identify`] finds the names in it. Evidence shows
//! whether the claim is true: published [`ranges`] of addresses, names of addresses, or a
//! [`signature`](crate::formats::signature). All evidence together gives a [`Standing`]. Names count as whole words, never as
//! substrings: phones are called `CUBOT`, links contain `bot.html`, and an in-app browser carries
//! the name of its network.
//!
//! May use: signature, diagnostic, escape, product_token, text. Must not know: policy, the request, the
//! network.

// Catalogue files.
mod changes; // the differences of two of them
mod entry; // a crawler as a file has it
mod foreign_file; // the check of one from elsewhere

// Lists that others maintain.
mod foreign_list; // one as it is published
mod subscription; // what it adds to the catalogue

// All known crawlers.
mod catalogue; // by name and by number, with hosts from which operators send people
mod crawler; // one of them, checked, and domains of many owners
mod name_table; // names, and the lookup of a word
mod patterns; // crawlers without a name of their own
mod site_names; // names of a site's groups

// User-Agent to claim.
mod product_name; // a name of several words
mod self_description; // an unlisted client's own words
mod user_agent; // the scan
mod words; // a text as words, and those of systems and engines

// The claim.
mod claim; // the class of client, and its tokens
mod recent; // a cache of claims

// The evidence.
pub mod ranges; // published lists of addresses
mod standing; // evidence -> standing

pub use catalogue::Catalogue;
pub use changes::{Change, Changes};
pub use claim::{Claim, Class, Name};
pub use crawler::{Crawler, check_suffix, is_shared};
pub use entry::{
    CatalogueFile, CrawlDelay, Entry, Honours, Kind, Match, OperatorEntry, Purpose, Robots, Source,
    Status,
};
pub use foreign_list::{Listed, read_list};
pub use patterns::check_pattern;
pub use recent::Recent;
pub use site_names::{SiteNames, is_findable};
pub use standing::{Evidence, Outcome, Standing, Testimony};
pub use subscription::{Followed, ListUpdate, accepted_names};

#[cfg(test)]
mod tests;
