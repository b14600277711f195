//! Crawlers: the catalogue of known crawlers, the claims of User-Agents, and the evidence for them.
//!
//! A User-Agent is only a claim: [`Catalogue::identify`] finds the names in it. Evidence shows
//! whether the claim is true: published [`ranges`] of addresses, names of addresses, or a
//! [`signature`](crate::formats::signature). All evidence together gives a [`Standing`]. Names count as whole words, never as
//! substrings: phones are called `CUBOT`, links contain `bot.html`, and an in-app browser carries
//! the name of its network.
//!
//! ```text
//! entry, audit, changes    catalogue files: as written, checked, compared
//! foreign_list, subscription   lists that others maintain, and what they add
//! crawler, catalogue       one known crawler; all of them, by name
//! words, name_table        a text as words; names that are looked up by word
//! site_names, patterns     names of a site's groups; crawlers without a name of their own
//! user_agent               User-Agent -> claim
//! self_description, product_name, systems   an unlisted client's own words
//! claim, name, class       the result: tokens and the class of client
//! recent                   a cache of claims
//! referrers                hosts from which operators send people
//! standing                 evidence -> standing
//! ```
//!
//! May use: signature, diagnostic, escape, product_token, text. Must not know: policy, the request, the
//! network.

mod catalogue;
mod changes;
mod claim;
mod class;
mod crawler;
mod entry;
mod foreign_file;
mod foreign_list;
mod lookup;
mod name;
mod name_table;
mod patterns;
mod product_name;
mod purpose;
pub mod ranges;
mod recent;
mod referrers;
mod self_description;
mod shared_domains;
mod site_names;
mod standing;
mod stored_claim;
mod subscription;
mod systems;
mod table_id;
mod user_agent;
mod words;

pub use catalogue::Catalogue;
pub use changes::{Change, Changes};
pub use claim::Claim;
pub use class::Class;
pub use crawler::{Crawler, check_suffix};
pub use entry::{
    CatalogueFile, CrawlDelay, Entry, Honours, Kind, Match, OperatorEntry, Robots, Source, Status,
};
pub use foreign_list::{Listed, read_list};
pub use name::Name;
pub use patterns::check_pattern;
pub use purpose::Purpose;
pub use recent::Recent;
pub use shared_domains::is_shared;
pub use site_names::{SiteNames, is_findable};
pub use standing::{Evidence, Outcome, Standing, Testimony};
pub use subscription::{Followed, ListUpdate, accepted_names};

#[cfg(test)]
mod tests;
