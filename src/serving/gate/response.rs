//! The fields of a response: what it says about the use of its content, and its tags; those of the site with
//! those of the origin.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::{
    base::metrics::Metrics,
    formats::{robots::Target, usage::Carrier},
    rules::enforce::{Said, Site, TagFields},
};

const CONTENT_USAGE: HeaderName = HeaderName::from_static("content-usage");
const TDM_RESERVATION: HeaderName = HeaderName::from_static("tdm-reservation");
const TDM_POLICY: HeaderName = HeaderName::from_static("tdm-policy");

/// Fields, each with the lines that replace those of the response.
pub type Replaced = Vec<(HeaderName, Vec<HeaderValue>)>;

/// The fields to replace in a response to a request for `target`. A cache takes the fields of a 304 over
/// those that it stored (RFC 9111 §3.2), so a 304 says nothing.
pub(super) fn use_fields(site: &Site, target: &[u8], status: u16, fields: &HeaderMap) -> Replaced {
    let Some(usage) = &site.usage else { return Replaced::new() };
    if status == StatusCode::NOT_MODIFIED {
        return [CONTENT_USAGE, TDM_RESERVATION, TDM_POLICY]
            .map(|name| (name, Vec::new()))
            .to_vec();
    }
    let mut replaced = Replaced::new();
    let said = usage.at(Target::new(target).letter());
    if let Some(lines) = content_usage(&said, fields) {
        replaced.push((CONTENT_USAGE, lines));
    }
    // The origin may reserve more.
    let is_reserved = fields.get(TDM_RESERVATION).is_some_and(|value| value == "1");
    if let Some(reserved) = said.tdm_reservation.filter(|_| !is_reserved) {
        let value = HeaderValue::from_static(if reserved { "1" } else { "0" });
        replaced.push((TDM_RESERVATION, vec![value]));
    }
    // The origin's own policy stays.
    let policy = said.tdm_policy.filter(|_| !fields.contains_key(TDM_POLICY));
    if let Some(policy) = policy.and_then(|policy| HeaderValue::from_str(policy).ok()) {
        replaced.push((TDM_POLICY, vec![policy]));
    }
    if let Some(link) = usage.link.as_deref().and_then(|link| HeaderValue::from_str(link).ok()) {
        let links = fields.get_all(header::LINK).iter().cloned();
        replaced.push((header::LINK, links.chain([link]).collect()));
    }
    replaced
}

/// The lines of `Content-Usage`. For each category the stricter preference counts (vocab §5.1). What the
/// origin says of other categories stays.
fn content_usage(said: &Said<'_>, fields: &HeaderMap) -> Option<Vec<HeaderValue>> {
    let own = said.content_usage.as_deref()?;
    let origin: Vec<HeaderValue> = fields.get_all(CONTENT_USAGE).iter().cloned().collect();
    if origin.is_empty() {
        return Some(vec![HeaderValue::from_str(own).ok()?]);
    }
    let read = |lines: &[HeaderValue]| {
        Carrier::ContentUsage.read_lines(lines.iter().map(HeaderValue::as_bytes))
    };
    let all = read(&origin).combine(said.statement);
    let all = HeaderValue::from_str(&Carrier::ContentUsage.write(&all)?).ok()?;
    // The last value of a category counts, so this line comes last. It would have no effect behind lines
    // that can't be read.
    let lines: Vec<HeaderValue> = origin.into_iter().chain([all.clone()]).collect();
    Some(if read(&lines) == read(std::slice::from_ref(&all)) { lines } else { vec![all] })
}

/// The tag fields for a response to a request for `target`; `None` leaves its own tags unchanged. A
/// response without tags gets prepared values. `count_cut` counts a response whose tags are cut.
pub(super) fn tag_fields<'s>(
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
