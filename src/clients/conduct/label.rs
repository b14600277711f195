//! The metric label of a crawler.

use crate::{base::metrics, rules::crawlers::Name};

/// The label of a name; `None` is a client without one. Names outside the catalogue and the policy
/// share one label, so clients can't create time series without limit.
pub fn label(name: Option<Name<'_>>) -> &str {
    match name {
        None => metrics::NO_TOKEN,
        Some(Name::Declared(_)) => metrics::OTHER_TOKEN,
        Some(name) => name.as_str(),
    }
}
