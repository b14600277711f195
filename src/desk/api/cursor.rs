//! Where the next page of a listing begins.
//!
//! Records come in the order of their sequence numbers, so a page that begins below a number stays
//! the same while records are added. A cursor also keeps the times that ages like `24h` stood for
//! on the first page, and belongs to the filter of that page.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::query::{FILTER, Query};
use crate::{base::escape::hex, desk::admin::problem::Problem};

const VERSION: &str = "1";
const LONGEST: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The page has only records below this number.
    pub(super) before: u64,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Cursor {
    pub(super) fn read(query: &Query) -> Result<Option<Self>, Problem> {
        let Some(text) = query.text("cursor") else { return Ok(None) };
        let refused = |why: &str| {
            let repair = "take 'next' of a page with the same parameters, or leave the cursor out";
            Problem::value("cursor", format!("{why} ({repair})"))
        };
        let (filter, cursor) =
            parse(text).ok_or_else(|| refused("this is no cursor of this API"))?;
        if filter != mark(query) {
            return Err(refused("this cursor belongs to another filter"));
        }
        Ok(Some(cursor))
    }

    pub(super) fn text(&self, query: &Query) -> String {
        let time =
            |time: Option<Timestamp>| time.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let (since, until) = (time(self.since), time(self.until));
        let plain = format!("{VERSION} {} {} {since} {until}", mark(query), self.before);
        URL_SAFE_NO_PAD.encode(plain)
    }
}

/// The mark of the filter, and the cursor.
fn parse(text: &str) -> Option<(String, Cursor)> {
    let text = Some(text).filter(|text| text.len() <= LONGEST)?;
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let parts: Vec<&str> = plain.split(' ').collect();
    let [VERSION, filter, before, since, until] = parts.as_slice() else { return None };
    let time = |text: &str| match text {
        "-" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let (since, until) = (time(since)?, time(until)?);
    Some(((*filter).to_owned(), Cursor { before: before.parse().ok()?, since, until }))
}

/// A short mark of the filter, as the request writes it.
fn mark(query: &Query) -> String {
    let mut hash = Sha256::new();
    for name in FILTER {
        // A missing value differs from an empty one, and no value runs into the next.
        let text = query.text(name);
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        hash.update(length.to_be_bytes());
        hash.update(text.unwrap_or_default());
    }
    hex(hash.finalize().iter().take(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        const KNOWN: [&str; 8] =
            ["site", "crawler", "purpose", "path", "action", "since", "until", "cursor"];
        Query::read(Some(text), &KNOWN).expect("known parameters")
    }

    #[test]
    fn a_cursor_comes_back_for_its_own_filter_alone() {
        let cursor =
            Cursor { before: 17, since: "2026-11-20T10:00:00.5Z".parse().ok(), until: None };
        let text = cursor.text(&query("site=a&since=24h"));
        let read = |parameters: &str| Cursor::read(&query(&format!("{parameters}&cursor={text}")));
        assert_eq!(read("site=a&since=24h"), Ok(Some(cursor)));
        assert_eq!(read("since=24h&site=a"), Ok(Some(cursor)), "the order does not count");
        for other in ["site=a", "site=a&since=25h", "site=&crawler=a&since=24h", "site=b&since=24h"]
        {
            let problem = read(other).expect_err("another filter");
            assert!(format!("{problem:?}").contains("another filter"), "{problem:?}");
        }
    }

    #[test]
    fn a_text_of_another_form_is_no_cursor() {
        let whole = Cursor { before: 1, since: None, until: None }.text(&query(""));
        let other = URL_SAFE_NO_PAD.encode("1 x -1 - -");
        let long = "A".repeat(400);
        for text in ["", "x", "%00", &whole[1..], &whole[..10], &other, &long, "%F0%9F%92%A9"] {
            let problem = Cursor::read(&query(&format!("cursor={text}"))).expect_err("a problem");
            assert!(format!("{problem:?}").contains("no cursor of this API"), "{text}");
        }
    }
}
