//! The metric label of a crawler.

use crate::{crawlers::Name, enforce::Judgement, metrics};

/// The label of a judged name. Names outside the catalogue and the policy share one label, so
/// clients can't create time series without limit.
pub fn label<'r>(judgement: &Judgement<'r>) -> &'r str {
    match judgement.name {
        None => metrics::NO_TOKEN,
        Some(Name::Declared(_)) => metrics::OTHER_TOKEN,
        Some(name) => name.as_str(),
    }
}
