//! A response: its status, its fields, and a body of bounded size; or the reason why there is none.

use std::{error::Error, iter, str::FromStr, time::Duration};

use bytes::{Bytes, BytesMut};
use derive_more::Display;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The response to a fetch.
#[derive(Debug)]
pub struct Response(reqwest::Response);

/// The validators for the next conditional request (RFC 9110 §13), as the server wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Response {
    pub(super) const fn of(response: reqwest::Response) -> Self {
        Self(response)
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    /// All fields.
    pub fn fields(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// The `Content-Type` field.
    pub fn content_type(&self) -> Option<&[u8]> {
        self.0.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes)
    }

    /// The `Location` field.
    pub fn location(&self) -> Option<&[u8]> {
        self.0.headers().get(header::LOCATION).map(HeaderValue::as_bytes)
    }

    /// Whether the body has a content coding that the client does not decode.
    pub fn is_encoded(&self) -> bool {
        self.0.headers().get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity")
    }

    /// The validators of the body.
    pub fn validators(&self) -> Validators {
        let fields = self.0.headers();
        Validators {
            etag: fields.get(header::ETAG).cloned(),
            last_modified: fields.get(header::LAST_MODIFIED).cloned(),
        }
    }

    /// `Cache-Control: max-age`.
    pub fn max_age(&self) -> Option<Duration> {
        max_age(self.0.headers())
    }

    /// The time for which the response stays fresh: the rest of `max-age` (RFC 9111 §4.2). Zero if
    /// a cache must not store it, `None` if it does not say.
    pub fn fresh_for(&self) -> Option<Duration> {
        fresh_for(self.0.headers())
    }

    /// The body, decompressed.
    ///
    /// # Errors
    /// [`Failure::TooLarge`] beyond `most` octets, or a failed connection.
    pub async fn body(self, most: usize) -> Result<Bytes, Failure> {
        // The limit applies to the decompressed body, so a small response can't grow without limit.
        match self.beginning(most).await? {
            (octets, false) => Ok(octets),
            (_, true) => Err(Failure::TooLarge),
        }
    }

    /// The first `most` octets of the body, decompressed, and whether there are more.
    ///
    /// # Errors
    /// A failed connection.
    pub async fn beginning(mut self, most: usize) -> Result<(Bytes, bool), Failure> {
        let mut octets = BytesMut::new();
        while let Some(chunk) = self.0.chunk().await? {
            octets.extend_from_slice(&chunk);
            if octets.len() > most {
                octets.truncate(most);
                return Ok((octets.freeze(), true));
            }
        }
        Ok((octets.freeze(), false))
    }
}

impl Validators {
    /// Whether the server sent no validator.
    pub const fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// The fields of a conditional request.
    pub(super) fn fields(&self) -> impl Iterator<Item = (HeaderName, &HeaderValue)> {
        let fields =
            [(header::IF_NONE_MATCH, &self.etag), (header::IF_MODIFIED_SINCE, &self.last_modified)];
        fields.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }
}

fn fresh_for(fields: &HeaderMap) -> Option<Duration> {
    if directives(fields).any(|one| matches!(one.as_str(), "no-cache" | "no-store")) {
        return Some(Duration::ZERO);
    }
    let age = fields.get(header::AGE).and_then(|age| seconds(age.to_str().ok()?));
    Some(max_age(fields)?.saturating_sub(age.unwrap_or_default()))
}

fn max_age(fields: &HeaderMap) -> Option<Duration> {
    directives(fields).find_map(|one| seconds(one.strip_prefix("max-age=")?))
}

/// The directives of all `Cache-Control` fields, in lower case.
fn directives(fields: &HeaderMap) -> impl Iterator<Item = String> {
    let values = fields.get_all(header::CACHE_CONTROL).into_iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).map(|one| one.trim().to_ascii_lowercase())
}

/// A number of seconds (RFC 9111 §1.2.2), quoted or not. A larger number becomes the maximum.
fn seconds(text: &str) -> Option<Duration> {
    let digits = text.trim().trim_matches('"');
    let is_number = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    is_number.then(|| Duration::from_secs(u64::from(u32::from_str(digits).unwrap_or(u32::MAX))))
}

/// The reason why a fetch has no result.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when this client does not fetch from the URL.
    #[display("not an https:// address (http:// is for addresses in evidence.allow_addresses)")]
    Address,
    /// Occurs when the host has no address that the client may connect to.
    #[display(
        "its host has no public address (to allow this, name the network in evidence.allow_addresses)"
    )]
    Private,
    /// Occurs when there are too many redirects in a row.
    #[display("more than five redirects")]
    Redirects,
    /// Occurs when the body exceeds the caller's limit.
    #[display("a body larger than the limit")]
    TooLarge,
    /// Occurs when the caller does not accept the status.
    #[display("status {_0}")]
    Status(u16),
    /// Occurs when the exchange takes too long; has the error as text.
    Timeout(String),
    /// Occurs when the exchange fails; has the error as text.
    Transport(String),
}

impl Failure {
    /// The stable code for logs and metric labels.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address => "fetch.address",
            Self::Private => "fetch.private",
            Self::Redirects => "fetch.redirects",
            Self::TooLarge => "fetch.too_large",
            Self::Status(_) => "fetch.status",
            Self::Timeout(_) | Self::Transport(_) => "fetch.transport",
        }
    }
}

impl Error for Failure {}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        // The library returns the client's own refusals as causes of its error.
        let mut own = causes(&error).filter_map(|cause| cause.downcast_ref::<Self>());
        if let Some(own) = own.next() {
            return own.clone();
        }
        // The outermost error only says that something failed.
        let how = causes(&error).last().map_or_else(|| error.to_string(), ToString::to_string);
        if error.is_timeout() { Self::Timeout(how) } else { Self::Transport(how) }
    }
}

/// The causes of an error, the innermost last.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn rfc9111_5_2_max_age_is_found_among_the_directives_of_all_fields() {
        for (values, age) in [
            (&["max-age=60"][..], Some(60)),
            (&["public, Max-Age=\"60\" , immutable"], Some(60)),
            (&["no-transform", "max-age=5"], Some(5)),
            (&["max-age=99999999999999999999"], Some(u64::from(u32::MAX))),
            (&["max-age=-1"], None),
            (&["s-maxage=60"], None),
            (&["max-age="], None),
            (&[], None),
        ] {
            let fields: Vec<_> = values.iter().map(|value| ("cache-control", *value)).collect();
            assert_eq!(max_age(&header(&fields)), age.map(Duration::from_secs), "{values:?}");
        }
    }

    #[test]
    fn rfc9111_4_2_freshness_is_what_the_age_leaves_of_max_age() {
        for (fields, left) in [
            (&[][..], None),
            (&[("cache-control", "max-age=600")], Some(600)),
            (&[("cache-control", "max-age=600"), ("age", "100")], Some(500)),
            (&[("cache-control", "max-age=600"), ("age", "1000")], Some(0)),
            (&[("cache-control", "max-age=600"), ("age", "old")], Some(600)),
            (&[("cache-control", "max-age=600, No-Cache")], Some(0)),
            (&[("cache-control", "max-age=600"), ("cache-control", "no-store")], Some(0)),
            (&[("age", "5")], None),
        ] {
            assert_eq!(fresh_for(&header(fields)), left.map(Duration::from_secs), "{fields:?}");
        }
    }
}
