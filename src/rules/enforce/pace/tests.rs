//! The pace of each crawler, as tables.

use super::*;
use crate::{
    formats::robots::Target,
    rules::{
        crawlers::Standing,
        enforce::{self, Case, KnownEditions, Moment, Rulebook},
        policy::{self, Policy},
    },
};

fn promised_line(text: &str, token: &str) -> Option<u32> {
    let matcher = Matcher::new(&robots::parse(text.as_bytes()).0);
    let catalogue = policy::built_in_catalogue();
    let name = catalogue.find(token).map(Name::Known);
    let name = name.unwrap_or(Name::Declared(token));
    let group = matcher.group(token).or_else(|| matcher.star());
    promised(&matcher, name, group, Timestamp::UNIX_EPOCH).map(|one| one.record.line)
}

#[test]
fn a_pace_binds_crawlers_that_promise_to_keep_it() {
    let text = "User-agent: *\nDisallow: /x\nCrawl-delay: 5\n";
    for (token, line) in [
        ("AhrefsBot", Some(3)),
        ("ClaudeBot", Some(3)),
        ("bingbot", Some(3)),
        ("Googlebot", None),  // says that it ignores the record
        ("GPTBot", None),     // says nothing
        ("NobodysBot", None), // is in no catalogue
    ] {
        assert_eq!(promised_line(text, token), line, "{token}");
    }
}

#[test]
fn a_line_that_says_a_limit_is_no_pace() {
    for (line, is_pace) in [
        ("Crawl-delay: 5", true),
        ("Crawl-delay: 5 # limit", false),
        ("Request-rate: 1/5 # limit", false),
        ("Crawl-delay: 5 # no limit", true),
        ("Crawl-delay: 5 # the limit", true),
    ] {
        let text = format!("User-agent: *\nDisallow: /x\n{line}\n");
        for token in ["AhrefsBot", "bingbot"] {
            assert_eq!(promised_line(&text, token).is_some(), is_pace, "{line}");
        }
        let bytes = robots::parse(text.as_bytes()).0.to_string();
        assert_eq!(bytes.contains("# limit\n"), !is_pace, "{bytes}");
        let plain = text.replace(" # limit", "");
        let [edition, plain] = [text, plain].map(|text| enforce::Edition::of_bytes(text.into()));
        assert_eq!(edition.is_equivalent(&plain), is_pace, "{line}");
    }
}

#[test]
fn bingbot_takes_crawl_delay_from_star_beside_a_group_of_its_own() {
    let with = |own: &str, star: &str| {
        format!(
            "User-agent: bingbot\nUser-agent: AhrefsBot\nDisallow: /x\n{own}\nUser-agent: *\nDisallow: /y\n{star}\n"
        )
    };
    for (own, star, bingbot, ahrefsbot) in [
        ("", "Crawl-delay: 5", Some(7), None),
        ("Crawl-delay: 1", "Crawl-delay: 5", Some(4), Some(4)),
        ("", "Request-rate: 1/5", None, None),
        ("", "", None, None),
    ] {
        let text = with(own, star);
        assert_eq!(
            (promised_line(&text, "bingbot"), promised_line(&text, "AhrefsBot")),
            (bingbot, ahrefsbot),
            "{text}"
        );
    }
}

/// A time and the editions that every client may know; every client stands on the rung `throttle`.
struct Known(Timestamp, KnownEditions);

impl Knowledge for Known {
    fn moment(&self) -> Moment {
        Moment::at(self.0)
    }

    fn rung(&self, _: Name<'_>, _: Outcome) -> Rung {
        Rung::Throttle
    }

    fn known_editions(&self, _: Name<'_>, _: Standing, _: Timestamp) -> KnownEditions {
        self.1.clone()
    }
}

#[test]
fn rfc9309_2_4_the_laxest_pace_that_a_crawler_may_know_counts() {
    let at = |hours: i64| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours);
    let policy = |enforcement: &str, delay: &str| {
        let text = format!(
            "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
             robots_txt: {{ groups: [{{ user_agents: [bingbot], disallow: [/x] {delay} }}] }}, \
             enforcement: {{ {enforcement} }} }}]"
        );
        text.parse::<Policy>().unwrap()
    };
    let (throttle, ladder) = ("mode: throttle", "mode: ladder");
    let (none, one, ten) = ("", ", crawl_delay: 1", ", crawl_delay: 10");
    // The delay until 1:00, the delay since then, the hour of the request, the editions it may
    // know, and the expected pace: its seconds, whether a record sets it, whether of the edition in
    // force.
    for (enforcement, before, now, hours, which, expected) in [
        (throttle, one, ten, 2, "any", Some((1.0, true, false))),
        (throttle, none, ten, 2, "any", None),
        (throttle, ten, one, 2, "any", Some((1.0, true, true))),
        (throttle, one, none, 2, "any", None),
        (throttle, one, ten, 2, "now", Some((10.0, true, true))),
        (throttle, none, ten, 2, "now", Some((10.0, true, true))),
        (throttle, one, ten, 2, "before", Some((1.0, true, false))),
        (throttle, one, ten, 2, "another", None),
        (throttle, none, ten, 26, "any", Some((10.0, true, true))),
        ("mode: throttle, grace: enforce", none, ten, 2, "any", Some((10.0, true, true))),
        // New rules that are stricter than the old ones give no advantage on the ladder.
        (ladder, none, ", crawl_delay: 60", 2, "any", Some((10.0, false, true))),
        (ladder, none, one, 2, "any", Some((1.0, true, true))),
        (ladder, none, none, 2, "any", Some((10.0, false, true))),
    ] {
        let before = Rulebook::compile(&policy(enforcement, before), at(0), None);
        let book = Rulebook::compile(&policy(enforcement, now), at(1), Some(&before));
        let of = |book: &Rulebook| KnownEditions::Of(vec![book.sites()[0].edition().id()]);
        let known_editions = match which {
            "any" => KnownEditions::Any,
            "now" => of(&book),
            "before" => of(&before),
            _ => KnownEditions::Of(EditionId::parse("0123456789abcdef").into_iter().collect()),
        };
        let (site, known) = (&book.sites()[0], Known(at(hours), known_editions));
        let claim = book.catalogue().identify(b"bingbot/2.0", &site.names);
        let target = Target::new(b"/");
        let case = Case { claim: &claim, is_nameless: false, target: &target };
        let decision = enforce::decide(site, case, &known);
        let found = applied_pace(site, &decision, &known).map(|applied| {
            let seconds = applied.pace.interval().as_secs_f64();
            (seconds, applied.record.is_some(), applied.edition == site.edition().id())
        });
        assert_eq!(found, expected, "{enforcement}{now}, {which} at {hours}");
    }
}

#[test]
fn the_mode_and_the_rung_say_where_a_pace_is_enforced() {
    let enforcement = |text: &str| {
        let text = format!(
            "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
             enforcement: {{ {text} }} }}]"
        );
        text.parse::<Policy>().unwrap().sites[0].enforcement.clone()
    };
    let (observe, throttle) = (Some(Rung::Observe), Some(Rung::Throttle));
    for (text, mode, rung, of_promised, of_others) in [
        ("mode: log", Mode::Log, None, false, false),
        ("mode: throttle", Mode::Throttle, None, true, false),
        ("mode: block", Mode::Block, None, false, false),
        ("mode: block, crawl_delay: throttle", Mode::Block, None, true, false),
        ("mode: throttle, crawl_delay: log", Mode::Throttle, None, false, false),
        ("mode: ladder", Mode::Log, observe, true, false),
        ("mode: ladder", Mode::Throttle, throttle, true, true),
        ("mode: ladder", Mode::Block, Some(Rung::Block), true, true),
        ("mode: ladder, crawl_delay: log", Mode::Log, observe, false, false),
        ("mode: ladder, crawl_delay: log", Mode::Throttle, throttle, true, true),
        // An override decides, not the ladder.
        ("mode: ladder", Mode::Log, None, false, false),
    ] {
        let enforcement = enforcement(text);
        let is_enforced = is_promise_enforced(&enforcement, mode, rung);
        assert_eq!(is_enforced, of_promised, "{text} {rung:?}");
        assert_eq!(ladder_pace(&enforcement, rung).is_some(), of_others, "{text} {rung:?}");
    }
}
