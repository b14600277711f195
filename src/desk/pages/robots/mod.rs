//! The robots.txt of the sites.
//!
//! ```text
//! index       the sites
//! site        the file in force with the hits of each line, its fetches and its history
//! matrix      what crawlers may do with a page
//! edition     one edition: its bytes, and the difference in meaning to the one before
//! quarantine  the file that waits for a decision, and the decision
//! ```

use axum::{Router, routing::get};

use crate::desk::admin::View;

mod edition; // one edition
mod file; // a file line by line
mod here; // the site in an address
mod hits; // hits of lines, from the counts
mod index; // the sites
mod matrix; // what crawlers may do with a page
mod quarantine; // the file that waits for a decision
mod site; // the file in force

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/robots", get(index::page))
        .route("/robots/{site}", get(site::page))
        .route("/robots/{site}/matrix", get(matrix::page))
        .route("/robots/{site}/quarantine", get(quarantine::page).post(quarantine::decide))
        .route("/robots/{site}/{edition}", get(edition::page))
        .route("/robots/{site}/{edition}/file", get(edition::file))
}
