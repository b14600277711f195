//! Suffixes of the names of crawlers, as operators publish them: `.googlebot.com`.

/// Whether a name, in lower case and without a final dot, has at least one label before one of
/// `suffixes`. A suffix without its leading dot matches nothing.
pub(super) fn is_under(name: &str, suffixes: &[String]) -> bool {
    let name = name.as_bytes();
    suffixes.iter().map(String::as_bytes).any(|suffix| {
        let start = name.len().saturating_sub(suffix.len());
        start > 0
            && suffix.first() == Some(&b'.')
            && name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_matches_whole_labels() {
        let suffixes = [".googlebot.com".to_owned(), ".Search.MSN.com".to_owned()];
        for (name, matches) in [
            ("crawl-66-249-66-1.googlebot.com", true),
            ("a.geo.googlebot.com", true),
            ("msnbot-40-77-167-1.search.msn.com", true),
            ("googlebot.com", false),
            (".googlebot.com", false),
            ("evilgooglebot.com", false),
            ("a.evilgooglebot.com", false),
            ("googlebot.com.attacker.net", false),
            ("crawl.googlebot.com.attacker.net", false),
            ("crawl.googlebot.co", false),
            ("crawl.googlebot.com.", false),
            ("search.msn.com", false),
            ("com", false),
            ("", false),
        ] {
            assert_eq!(is_under(name, &suffixes), matches, "{name}");
        }
        for suffix in ["googlebot.com", "", "."] {
            assert!(!is_under("crawl.googlebot.com", &[suffix.to_owned()]), "{suffix}");
        }
    }
}
