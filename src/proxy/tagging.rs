//! The tags of an answer on its way out: the site's, merged with what the origin said.

use http::{HeaderName, HeaderValue, header};
use pingora::http::ResponseHeader;

use crate::{enforce::Site, robots::Target};

use super::{Proxy, respond::set_tags};

impl Proxy {
    /// Merges the site's tags with the origin's; the usual case, where the origin sent none, copies
    /// prepared values.
    pub(super) fn tag(
        &self,
        target: &[u8],
        site: &Site,
        response: &mut ResponseHeader,
    ) -> pingora::Result<()> {
        let is_tag = |name: &HeaderName| matches!(name.as_str(), "robots-tag" | "x-robots-tag");
        let from_origin = response.headers.keys().any(is_tag);
        if site.tags.is_empty() && !from_origin {
            return Ok(());
        }
        let target = Target::new(target);
        let status = response.status.as_u16();
        let content_type = response.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        if !from_origin {
            if let Some(tags) = site.tags.select(target.letter(), status, content_type) {
                set_tags(response, &tags)?;
            }
            return Ok(());
        }
        let lines = |name: &str| {
            let values = response.headers.get_all(name).iter();
            values.map(HeaderValue::as_bytes).collect::<Vec<_>>()
        };
        let merged = site.tags.merge(
            target.letter(),
            status,
            content_type,
            &lines("robots-tag"),
            &lines("x-robots-tag"),
        );
        if merged.invalid_lines > 0 {
            self.metrics.invalid_tag_lines(&site.name, merged.invalid_lines);
            tracing::debug!(
                site = site.name,
                lines = merged.invalid_lines,
                "the origin sent robots tags that are not valid; what was understood was kept"
            );
        }
        if merged.truncated {
            tracing::warn!(
                site = site.name,
                "the origin's robots tags exceed 8 KiB; the rest was cut"
            );
        }
        set_tags(response, &merged.fields)
    }
}
