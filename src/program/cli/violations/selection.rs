//! The options, and the records that they select, with every name checked.

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use super::record_source::Source;
use crate::{
    base::{escape::shown, text::words},
    program::console::{ConfigFile, Error, completions, refuse},
    records::{
        record::{Filter, REASONS, Violation, rule_line},
        tally::Claimant,
    },
    review::report::terms::{Names, disorder, id, pattern, rule, time},
    rules::policy::Policy,
};

/// List or count recorded violations
///
/// Reads the policy's database, or its JSON lines if it has no database. Works beside a running
/// server. Exits with 1 if there are violations, and with 2 if no site, crawler or purpose has the
/// name of a filter.
///
///   beadle violations --since 24h --product-token GPTBot
///   beadle violations --since 7d --by crawler
///   beadle violations --since 2026-11-01 --until 2026-12-01 --format csv > november.csv
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(in crate::program::cli) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// Filter by site, named by one of its hosts.
    #[arg(long, value_name = "HOST", add = ArgValueCompleter::new(completions::sites))]
    pub(super) site: Option<String>,
    /// Filter by crawler; '-' is a client without a name.
    #[arg(long, short = 't', value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
    pub(super) product_token: Option<String>,
    /// Filter by the crawler's purpose.
    #[arg(long, value_name = "PURPOSE", add = ArgValueCompleter::new(completions::purposes))]
    pub(super) purpose: Option<String>,
    /// Filter by impostors, whose claim evidence contradicts: only their requests, or without them.
    #[arg(long, value_parser = Claimant::WORDS, value_name = "WHICH")]
    pub(super) impostors: Option<String>,
    /// Filter by path, with a pattern as in robots.txt.
    #[arg(long, value_name = "PATTERN")]
    pub(super) path: Option<String>,
    /// Filter by rule as robots.txt has it ('Disallow: /private/'); of records without a rule, by the
    /// code of the reason.
    #[arg(long, value_name = "RULE")]
    pub(super) rule: Option<String>,
    /// Earliest time: a time (2026-11-20T10:00:00Z), a day in UTC (2026-11-20) or an age (24h).
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
    /// End of the span, as in --since. A day ends the span where the day begins.
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,
    /// Filter by action.
    #[arg(long, value_parser = ["log", "throttle", "block"])]
    pub(super) action: Option<String>,
    /// Filter by reason. Requests for other forms of closed paths are no violations, and listed only
    /// with 'robots.form'.
    #[arg(long, value_name = "CODE", value_parser = REASONS)]
    pub(super) reason: Option<String>,
    /// Filter by decision id, as shown to a refused client.
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,
    /// Count violations instead of listing them.
    #[arg(long, value_enum, value_name = "KEY", conflicts_with_all = ["follow", "id"])]
    pub(super) by: Option<By>,
    /// Most violations to list, or most counts; the latest violations and the highest counts (default:
    /// 100 in text and with --follow, else all).
    #[arg(long, short = 'n', value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Keep running and print new violations.
    #[arg(long, short)]
    pub(super) follow: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl Args {
    /// The most violations; an export has all of them.
    pub(super) fn limit(&self) -> Option<usize> {
        let is_list = self.format == Format::Text || self.follow;
        self.limit.or_else(|| is_list.then_some(100))
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A table. On a terminal, as wide as the terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// CSV with a header, safe for spreadsheets.
    Csv,
}

words! {
    /// The value by which violations are counted, with the heading of its column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
    pub(super) enum By {
        /// The crawler, by its product token; its impostors apart.
        Crawler = "CRAWLER",
        /// The rule, as robots.txt has it; else the reason.
        Rule = "RULE",
        /// The path, without its query.
        Path = "PATH",
        /// The network of the client.
        Network = "NETWORK",
        /// The day, in UTC.
        Day = "DAY",
        /// The standing of the claim; 'contradicted' is impostors.
        Standing = "STANDING",
        /// The site.
        Site = "SITE",
    }
}

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
