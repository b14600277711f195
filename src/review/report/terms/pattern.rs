//! Path patterns and rules, by the rules for those of a policy.

use super::Refusal;
use crate::{
    base::escape::shown,
    formats::robots::{Directive, Rule, corrected},
    records::record::BrokenRule,
};

/// A path pattern as in robots.txt.
pub(crate) fn pattern(text: &str) -> Result<String, Refusal> {
    let refused =
        |why: &str| Refusal::Term(format!("'{}' is no path pattern ({why})", shown(text)));
    if let Some(correction) = corrected(text) {
        let why = match text.is_empty() {
            true => "it is empty; '/' matches every path".to_owned(),
            false => {
                format!("it begins with neither '/' nor '*'; write '{}'", shown(correction))
            }
        };
        return Err(refused(&why));
    }
    match Rule::new(Directive::Disallow, text) {
        Ok(_) => Ok(text.to_owned()),
        Err(finding) => Err(refused(finding.help.as_deref().unwrap_or(&finding.message))),
    }
}

/// A rule as robots.txt has it, or the reason of records without one.
pub(crate) fn rule(text: &str) -> Result<BrokenRule, Refusal> {
    BrokenRule::of_line(text.trim()).ok_or_else(|| {
        let why =
            "write it as robots.txt has it, as in 'Disallow: /private/', or the code of a reason";
        Refusal::Term(format!("'{}' is no rule ({why})", shown(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_line_of_robots_txt_or_the_code_of_a_reason() {
        for (text, directive, pattern) in [
            ("Disallow: /a:b", "disallow", "/a:b"),
            (" allow :/", "allow", "/"),
            ("Crawl-delay: 5", "crawl-delay", "5"),
            ("Disallow:", "disallow", ""),
            ("claim.contradicted", "", ""),
        ] {
            let rule = rule(text).expect("a rule");
            assert_eq!((rule.directive, rule.pattern.as_str()), (directive, pattern), "{text}");
        }
        for text in ["", "/private/", "Sitemap: /", "robots.froms"] {
            assert!(rule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_is_refused_with_the_one_that_is_meant() {
        for (text, says) in [
            ("private", "write '/private'"),
            ("?page=", "write '/*?page='"),
            ("https://www.example.com/a/*", "write '/a/*'"),
            ("", "it is empty"),
            ("$", "write '/$'"),
        ] {
            let Err(Refusal::Term(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(sentence.contains(says), "{text}: {sentence}");
        }
        for text in ["/", "*", "*.pdf$", "/a?b=*"] {
            assert!(pattern(text).is_ok(), "{text}");
        }
        for text in ["/a\nb", "/a#b", "/\u{1b}[2J"] {
            let Err(Refusal::Term(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(!sentence.contains(char::is_control), "{sentence}");
        }
    }
}
