//! Changes of the policy file: a look at what a change does, then the change.
//!
//! ```text
//! change_form what the form asks for: an entry for a crawler, or the text of a section
//! preview    the differences, and the button that applies them, if the policy allows it
//! section_text the text of a section of a site
//! ```
//! The page carries the hash of the file that it shows. A file that changed meanwhile is not written.

use axum::{Router, routing::get};

use crate::desk::admin::View;

mod change_form; // what a form asks for
mod preview; // the differences before, and the file written
mod section_text; // the text of a section

pub(super) fn router() -> Router<View> {
    Router::new()
        .route("/change", get(preview::page).post(preview::write))
        .route("/policy/edit", get(section_text::page).post(preview::of_section))
}
