//! The records that the options select, with every name checked.

use jiff::Timestamp;

use super::{
    args::{Args, By},
    record_source::Source,
};
use crate::{
    base::escape::shown,
    program::console::{Error, refuse},
    records::{
        record::{Filter, Violation, rule_line},
        tally::Claimant,
    },
    review::report::terms::{Names, disorder, id, pattern, rule, time},
    rules::policy::Policy,
};

pub(super) fn filter(
    args: &Args,
    policy: &Policy,
    source: &Source,
    now: Timestamp,
) -> Result<Filter, Error> {
    let names = Names::from(policy);
    let site = args.site.as_deref().map(|text| names.site(source, text));
    let token = args.product_token.as_deref().map(|text| names.product_token(source, text));
    let purpose = args.purpose.as_deref().map(|text| names.purpose(source, text));
    let (since, until) = span(args.since.as_deref(), args.until.as_deref(), now)?;
    Ok(Filter {
        id: args.id.as_deref().map(id::read).transpose()?,
        path: args.path.as_deref().map(pattern).transpose()?,
        rule: args.rule.as_deref().map(rule).transpose()?,
        site: site.transpose()?,
        product_token: token.transpose()?,
        purpose: purpose.transpose()?,
        claimant: args.impostors.as_deref().and_then(Claimant::of_word),
        since,
        until,
        action: args.action.clone(),
        reason: args.reason.clone(),
        limit: args.limit(),
        ..Filter::default()
    })
}

/// The times from `since` on and before `until`; `None` is no limit.
fn span(
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
) -> Result<(Option<Timestamp>, Option<Timestamp>), Error> {
    let time = |text| time(text, now);
    let span = (since.map(time).transpose()?, until.map(time).transpose()?);
    let (Some(from), Some(to)) = span else { return Ok(span) };
    match disorder(from, to, until.unwrap_or_default()) {
        None => Ok(span),
        Some(repair) => {
            refuse(format!("--until {to:.0} is not after --since {from:.0} ({repair})"))
        }
    }
}

/// The records that are counted. The numbers of a crawler are without its impostors, which have a row
/// of their own.
pub(super) fn counted(by: By, filter: Filter) -> Filter {
    let tells_apart = matches!(by, By::Crawler | By::Standing);
    let is_of_crawler = !tells_apart && filter.product_token.is_some();
    let own = is_of_crawler.then_some(Claimant::Crawler);
    Filter { claimant: filter.claimant.or(own), ..filter }
}

pub(super) fn noun(filter: &Filter) -> &'static str {
    if filter.is_of_forms() { "requests" } else { "violations" }
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
        Violation::NAMELESS => "clients without a name".to_owned(),
        token => shown(token),
    });
    add("of ", token, "");
    add("of crawlers for ", text(&filter.purpose), "");
    let impostors = filter.claimant.map(|claimant| match claimant {
        Claimant::Crawler => "without impostors",
        Claimant::Impostor => "by impostors",
    });
    add("", impostors.map(str::to_owned), "");
    add("on ", text(&filter.site), "");
    add("at '", text(&filter.path), "'");
    let rule = filter.rule.as_ref().map(|rule| {
        let line = rule_line(rule.directive, &rule.pattern);
        shown(line.or_else(|| rule.reason.clone()).unwrap_or_default())
    });
    add("under '", rule, "'");
    add("with the action '", text(&filter.action), "'");
    add("with the reason '", text(&filter.reason), "'");
    add("since ", time(filter.since), "");
    add("before ", time(filter.until), "");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_end_that_is_not_after_the_start_is_refused() {
        for (since, until, says) in [
            ("24h", "1h", None),
            ("2026-11-19", "2026-11-20", None),
            ("1h", "24h", Some("swap the two")),
            ("2026-11-19", "2026-11-19", Some("name the day after the last one")),
            ("2026-11-19T00:00:00Z", "2026-11-19T00:00:00Z", Some("a later end")),
            ("1h", "tomorrow", Some("'tomorrow' is not a time")),
        ] {
            let sentence = match span(Some(since), Some(until), now()) {
                Err(Error::Refused(sentence)) => Some(sentence),
                _ => None,
            };
            let is_as_expected = match (&sentence, says) {
                (None, None) => true,
                (Some(sentence), Some(says)) => sentence.contains(says),
                _ => false,
            };
            assert!(is_as_expected, "{since} {until}: {sentence:?}");
        }
    }

    #[test]
    fn a_sentence_names_every_condition() {
        let some = |text: &str| Some(text.to_owned());
        let filter = Filter {
            site: some("a.example"),
            product_token: some("GPTBot"),
            purpose: some("ai-training"),
            claimant: Some(Claimant::Impostor),
            path: some("/a*"),
            action: some("block"),
            since: "2026-11-20T10:00:00Z".parse().ok(),
            until: "2026-11-21T00:00:00Z".parse().ok(),
            ..Filter::default()
        };
        assert_eq!(
            described(&filter),
            " of GPTBot of crawlers for ai-training by impostors on a.example at '/a*' with the action 'block' \
             since 2026-11-20T10:00:00Z before 2026-11-21T00:00:00Z"
        );
        let filter = Filter { product_token: some("-"), ..Filter::default() };
        assert_eq!(described(&filter), " of clients without a name");
    }
}
