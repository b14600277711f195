//! Addresses of the desk's own pages. Foreign text in them is percent-encoded.

use serde::Serialize;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::records::{record::Violation, tally::Claimant};

pub(super) struct Link {
    pub(super) path: String,
    pub(super) name: String,
    /// Whether it leads to what is shown.
    pub(super) is_here: bool,
}

impl Link {
    pub(super) fn to(path: impl Into<String>, name: impl Into<String>) -> Self {
        Self { path: path.into(), name: name.into(), is_here: false }
    }
}

/// A path with these conditions. An empty value is no condition.
pub(super) fn with_query(path: &str, conditions: &[(&str, &str)]) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in conditions.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    match query.finish() {
        none if none.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// A path with all conditions of a page. An empty text is no condition.
pub(super) fn with(path: &str, wanted: &impl Serialize) -> String {
    let wanted = serde_json::to_value(wanted).unwrap_or_default();
    let texts = wanted.as_object().into_iter().flatten();
    let texts = texts.filter_map(|(name, text)| Some((name.as_str(), text.as_str()?)));
    with_query(path, &texts.collect::<Vec<_>>())
}

pub(super) fn impostors(product_token: &str, site: &str, since: &str) -> String {
    let [_, only] = Claimant::WORDS;
    let conditions =
        [("crawler", product_token), ("site", site), ("impostors", only), ("since", since)];
    violations(&conditions)
}

pub(super) fn crawler(product_token: &str, conditions: &[(&str, &str)]) -> String {
    below_crawler(product_token, "", conditions)
}

pub(super) fn below_crawler(
    product_token: &str,
    rest: &str,
    conditions: &[(&str, &str)],
) -> String {
    let name = match product_token {
        "" => Violation::NAMELESS.to_owned(),
        // Browsers take these for steps between folders, even encoded.
        "." | ".." => return violations(&[("crawler", product_token)]),
        name => segment(name),
    };
    with_query(&format!("/crawlers/{name}{rest}"), conditions)
}

pub(super) fn robots(site: &str) -> String {
    format!("/robots/{}", segment(site))
}

pub(super) fn quarantine(site: &str) -> String {
    format!("{}/quarantine", robots(site))
}

pub(super) fn edition(site: &str, edition: &str) -> String {
    format!("/robots/{}/{}", segment(site), segment(edition))
}

pub(super) fn violation(id: &str) -> String {
    format!("/violations/{}", segment(id))
}

pub(super) fn violations(conditions: &[(&str, &str)]) -> String {
    with_query("/violations", conditions)
}

/// A text as one segment of a path (RFC 3986 §3.3).
fn segment(text: &str) -> String {
    // In a form a space is `+`, and a plus sign is never one.
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_breaks_out_of_its_link() {
        for (token, link) in [
            ("GPTBot", "/crawlers/GPTBot"),
            ("", "/crawlers/-"),
            ("Some Crawler", "/crawlers/Some%20Crawler"),
            ("a+b", "/crawlers/a%2Bb"),
            ("<script>", "/crawlers/%3Cscript%3E"),
            ("../x", "/crawlers/..%2Fx"),
            ("..", "/violations?crawler=.."),
            ("%2f\n?#&\"'", "/crawlers/%252f%0A%3F%23%26%22%27"),
            ("é", "/crawlers/%C3%A9"),
        ] {
            assert_eq!(crawler(token, &[]), link);
        }
        assert_eq!(crawler("..", &[("days", "1")]), "/violations?crawler=..");
        assert_eq!(
            crawler("a", &[("days", "7"), ("site", ""), ("x", "&=")]),
            "/crawlers/a?days=7&x=%26%3D"
        );
        assert_eq!(edition(".a.example", "0f/"), "/robots/.a.example/0f%2F");
        assert_eq!(with_query("/try", &[("a", "")]), "/try");
    }
}
