//! The tags of a response: the site's tags, merged with the origin's.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{
    base::metrics::Metrics,
    formats::robots::Target,
    rules::enforce::{Site, TagFields},
};

/// The tag fields for a response to a request for `target`; `None` leaves its own tags unchanged. A
/// response without tags gets prepared values. `count_cut` counts a response whose tags are cut.
pub(super) fn of_response<'s>(
    site: &'s Site,
    target: &[u8],
    status: u16,
    fields: &HeaderMap,
    metrics: &Metrics,
    count_cut: impl FnOnce() -> u64,
) -> Option<Cow<'s, TagFields>> {
    let is_tag = |name: &HeaderName| matches!(name.as_str(), "robots-tag" | "x-robots-tag");
    let is_tagged = fields.keys().any(is_tag);
    if site.tags.is_empty() && !is_tagged {
        return None;
    }
    let target = Target::new(target);
    let content_type = fields.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !is_tagged {
        return site.tags.select(target.letter(), status, content_type);
    }
    let lines = |name: &str| {
        let values = fields.get_all(name).iter();
        values.map(HeaderValue::as_bytes).collect::<Vec<_>>()
    };
    let (robots_tag, x_robots_tag) = (lines("robots-tag"), lines("x-robots-tag"));
    let merged = site.tags.merge(target.letter(), status, content_type, &robots_tag, &x_robots_tag);
    if merged.invalid_lines > 0 {
        metrics.invalid_tag_lines(&site.name).inc_by(u64::from(merged.invalid_lines));
        tracing::debug!(
            site = site.name,
            lines = merged.invalid_lines,
            "the origin sent invalid robots tags; the valid parts are kept"
        );
    }
    if merged.truncated {
        // Most often every page has the same fault.
        let responses = count_cut();
        if responses.is_power_of_two() {
            let site = site.name.as_str();
            tracing::warn!(site, responses, "the origin's robots tags exceed 8 KiB and are cut");
        }
    }
    Some(Cow::Owned(merged.fields))
}
