//! The records that the options select, with every name checked.

use jiff::Timestamp;

use super::{args::Args, hours::NO_NAME, id, known, source::Source};
use crate::{
    cli::{exit::Error, span::Span},
    escape::shown,
    policy::{Policy, corrected_pattern},
    robots,
    violations::Filter,
};

/// The filter of these options.
pub(super) fn filter(
    args: &Args,
    policy: &Policy,
    source: &Source,
    now: Timestamp,
) -> Result<Filter, Error> {
    let site = args.site.as_deref().map(|text| known::site(policy, source, text));
    let token = args.product_token.as_deref();
    let token = token.map(|text| known::product_token(policy, source, text));
    let purpose = args.purpose.as_deref().map(|text| known::purpose(source, text));
    let span = Span::of(args.since.as_deref(), args.until.as_deref(), now)?;
    Ok(Filter {
        id: args.id.as_deref().map(id::read).transpose()?,
        path: args.path.as_deref().map(pattern).transpose()?,
        site: site.transpose()?,
        product_token: token.transpose()?,
        purpose: purpose.transpose()?,
        since: span.since,
        until: span.until,
        action: args.action.clone(),
        limit: Some(args.limit),
        after_sequence: None,
        before_sequence: None,
    })
}

/// A path pattern, by the rules for those of a policy.
fn pattern(text: &str) -> Result<String, Error> {
    let refused =
        |why: &str| Error::Refused(format!("'{}' is no path pattern ({why})", shown(text)));
    if let Some(correction) = corrected_pattern(text) {
        let why = match text.is_empty() {
            true => "it is empty; '/' matches every path".to_owned(),
            false => {
                format!("it begins with neither '/' nor '*'; write '{}'", shown(correction))
            }
        };
        return Err(refused(&why));
    }
    match robots::Rule::new(robots::Directive::Disallow, text) {
        Ok(_) => Ok(text.to_owned()),
        Err(finding) => Err(refused(finding.help.as_deref().unwrap_or(&finding.message))),
    }
}

/// The records as a sentence names them: ` of GPTBot on a.example since 2026-11-20T10:00:00Z`.
pub(super) fn described(filter: &Filter) -> String {
    let mut words = String::new();
    let mut add = |before: &str, name: Option<String>, after: &str| {
        if let Some(name) = name {
            words.push_str(&format!(" {before}{name}{after}"));
        }
    };
    let text = |name: &Option<String>| name.as_deref().map(shown);
    let time = |time: Option<Timestamp>| time.map(|time| format!("{time:.0}"));
    let token = filter.product_token.as_deref().map(|token| match token {
        NO_NAME => "clients without a name".to_owned(),
        token => shown(token),
    });
    add("of ", token, "");
    add("of crawlers for ", text(&filter.purpose), "");
    add("on ", text(&filter.site), "");
    add("at '", text(&filter.path), "'");
    add("with the action '", text(&filter.action), "'");
    add("since ", time(filter.since), "");
    add("before ", time(filter.until), "");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_refused_with_the_one_that_is_meant() {
        for (text, says) in [
            ("private", "write '/private'"),
            ("?page=", "write '/*?page='"),
            ("https://www.example.com/a/*", "write '/a/*'"),
            ("", "it is empty"),
            ("$", "write '/$'"),
        ] {
            let Err(Error::Refused(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(sentence.contains(says), "{text}: {sentence}");
        }
        for text in ["/", "*", "*.pdf$", "/a?b=*"] {
            assert!(pattern(text).is_ok(), "{text}");
        }
        for text in ["/a\nb", "/a#b", "/\u{1b}[2J"] {
            let Err(Error::Refused(sentence)) = pattern(text) else { panic!("{text}: accepted") };
            assert!(!sentence.contains(char::is_control), "{sentence}");
        }
    }

    #[test]
    fn a_sentence_names_every_condition() {
        let some = |text: &str| Some(text.to_owned());
        let filter = Filter {
            site: some("a.example"),
            product_token: some("GPTBot"),
            purpose: some("ai-training"),
            path: some("/a*"),
            action: some("block"),
            since: "2026-11-20T10:00:00Z".parse().ok(),
            until: "2026-11-21T00:00:00Z".parse().ok(),
            ..Filter::default()
        };
        assert_eq!(
            described(&filter),
            " of GPTBot of crawlers for ai-training on a.example at '/a*' with the action 'block' \
             since 2026-11-20T10:00:00Z before 2026-11-21T00:00:00Z"
        );
        let filter = Filter { product_token: some("-"), ..Filter::default() };
        assert_eq!(described(&filter), " of clients without a name");
    }
}
