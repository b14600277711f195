//! The robots.txt of the sites.

pub(super) mod edition; // one edition: its bytes, and the difference in meaning to the one before
mod file; // a file line by line, with the hits of its lines
mod here; // the site in an address
pub(super) mod matrix; // what crawlers may do with a page
pub(super) mod quarantine; // the file that waits for a decision, and the decision
pub(super) mod site; // the sites, and the file in force with its hits, fetches and history
