//! The counts of two weeks: fifteen crawlers, an impostor, clients without a name, people and visits.
//! The same each time, but for the hour in which they end.

use std::path::Path;

use beadle::{
    base::text::Text,
    records::{
        tally::{
            Claimant, Hour, PeopleCount, PlaceCount, PlaceKind, ReadState, ReferralCount, Rollup,
            Rollups, Series,
        },
        violations::Store,
    },
};
use jiff::Timestamp;

/// The site of all counts.
pub(crate) const SITE: &str = "www.example.com";
/// The edition of all rules.
pub(crate) const EDITION: &str = "0123456789abcdef";
/// The hours of a week up to now, the one that runs included.
const WEEK: i64 = 169;
const HOUR: i64 = 3_600_000;

/// What a crawler does again and again.
struct Habit {
    product_token: &'static str,
    class: &'static str,
    standing: &'static str,
    /// Requests an hour that the rules allow.
    allowed: u64,
    /// The hours between two fetches of robots.txt; 0 for none.
    fetches_every: i64,
    /// A violation: its hours, the rule, what was read.
    breaks: Option<Break>,
}

/// A violation that comes again and again.
struct Break {
    /// The hours between two, this week and in the one before; 0 for none.
    every: (i64, i64),
    /// How many each time.
    count: u64,
    action: &'static str,
    reason: &'static str,
    directive: &'static str,
    pattern: &'static str,
    path: &'static str,
    read: ReadState,
}

const fn habit(product_token: &'static str, allowed: u64, fetches_every: i64) -> Habit {
    Habit {
        product_token,
        class: "crawler",
        standing: "unknown",
        allowed,
        fetches_every,
        breaks: None,
    }
}

const fn breaking(
    every: (i64, i64),
    count: u64,
    rule: [&'static str; 2],
    read: ReadState,
) -> Break {
    Break {
        every,
        count,
        action: "log",
        reason: "robots.disallow",
        directive: "disallow",
        pattern: rule[0],
        path: rule[1],
        read,
    }
}

const PRIVATE: [&str; 2] = ["/private/", "/private/prices"];
const SEARCH: [&str; 2] = ["/*?q=", "/search"];

fn habits() -> Vec<Habit> {
    use ReadState::{Current, Never, Older};
    let with = |habit: Habit, one: Break| Habit { breaks: Some(one), ..habit };
    vec![
        Habit { standing: "confirmed", ..habit("Googlebot", 60, 12) },
        with(
            Habit { standing: "confirmed", ..habit("bingbot", 30, 24) },
            breaking((84, 84), 1, SEARCH, Older),
        ),
        with(habit("GPTBot", 20, 6), breaking((1, 1), 4, PRIVATE, Current)),
        habit("ClaudeBot", 10, 8),
        with(habit("CCBot", 5, 0), breaking((1, 1), 2, PRIVATE, Never)),
        with(habit("Bytespider", 0, 0), breaking((1, 0), 3, SEARCH, Never)),
        with(habit("PerplexityBot", 4, 24), breaking((6, 6), 1, PRIVATE, Older)),
        with(
            habit("DotBot", 8, 24),
            Break {
                action: "throttle",
                reason: "robots.crawl_delay",
                directive: "crawl-delay",
                ..breaking((4, 8), 1, ["5", "/products"], Current)
            },
        ),
        habit("Applebot", 6, 24),
        with(habit("YandexBot", 5, 12), breaking((0, 1), 6, SEARCH, Older)),
        with(habit("AhrefsBot", 12, 24), breaking((3, 3), 1, SEARCH, Current)),
        habit("SemrushBot", 9, 24),
        with(habit("MJ12bot", 3, 48), breaking((8, 4), 1, SEARCH, Current)),
        with(habit("meta-externalagent", 7, 24), breaking((2, 3), 1, PRIVATE, Current)),
        habit("DuckDuckBot", 1, 24),
        with(
            Habit { standing: "contradicted", ..habit("Googlebot", 0, 0) },
            Break {
                action: "block",
                reason: "claim.contradicted",
                directive: "",
                ..breaking((5, 5), 2, ["", "/"], Never)
            },
        ),
        Habit { class: "none", standing: "unverifiable", ..habit("", 2, 0) },
    ]
}

/// Adds the counts of the two weeks that end in the hour of `now`.
pub(crate) fn fill(database: &Path, now: Timestamp) {
    let mut rollups = Rollups::default();
    let current = Hour::of(now).as_millisecond();
    for back in 0..2 * WEEK {
        let hour = Hour::from_millisecond(current - back * HOUR);
        habits().iter().for_each(|habit| add(&mut rollups, habit, hour, back));
        let site = Text::word(SITE);
        rollups.people.push(PeopleCount { hour, site: site.clone(), requests: 500 });
        for (operator, every, visits) in
            [("Google", 1, 40), ("Microsoft", 2, 5), ("OpenAI", 24, 1), ("Perplexity", 6, 1)]
        {
            if back % every == 0 {
                let (site, operator) = (site.clone(), Text::word(operator));
                rollups.referrals.push(ReferralCount { hour, site, operator, visits });
            }
        }
    }
    let mut store = Store::open(database).expect("a database");
    store.add_rollups(&rollups).expect("added");
}

/// A series in which nothing is known.
pub(crate) fn nothing() -> Series {
    let none = Text::default;
    Series {
        site: none(),
        class: none(),
        product_token: none(),
        purpose: none(),
        standing: Text::word("unknown"),
        verdict: none(),
        action: none(),
        reason: none(),
        edition: none(),
        line: 0,
        directive: none(),
        pattern: none(),
        read: None,
    }
}

fn add(rollups: &mut Rollups, habit: &Habit, hour: Hour, back: i64) {
    let passed = Series {
        site: Text::word(SITE),
        class: Text::word(habit.class),
        product_token: Text::word(habit.product_token),
        standing: Text::word(habit.standing),
        verdict: Text::word("allow"),
        action: Text::word("pass"),
        reason: Text::word("robots.allow"),
        edition: Text::word(EDITION),
        ..nothing()
    };
    let mut push = |series: Series, requests| {
        rollups.series.push(Rollup { hour, series, requests, folded: 0, dropped: 0 });
    };
    if habit.allowed > 0 {
        push(passed.clone(), habit.allowed);
    }
    if habit.fetches_every > 0 && back % habit.fetches_every == 0 {
        push(Series { reason: Text::word("robots.robots_txt"), ..passed.clone() }, 1);
    }
    let Some(one) = &habit.breaks else { return };
    let every = if back < WEEK { one.every.0 } else { one.every.1 };
    if every == 0 || back % every != 0 {
        return;
    }
    let is_disallow = one.directive == "disallow";
    let series = Series {
        verdict: Text::word(if is_disallow { "disallow" } else { "allow" }),
        action: Text::word(one.action),
        reason: Text::word(one.reason),
        line: if one.directive.is_empty() { 0 } else { 3 },
        directive: Text::word(one.directive),
        pattern: Text::word(one.pattern),
        read: Some(one.read),
        ..passed
    };
    push(series, one.count);
    rollups.places.push(PlaceCount {
        hour,
        kind: PlaceKind::Path,
        site: Text::word(SITE),
        product_token: Text::word(habit.product_token),
        claimant: Claimant::of(habit.standing),
        place: Text::word(one.path),
        violations: one.count,
    });
}
