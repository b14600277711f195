//! How fast a crawler may come: what the rules ask of it, and whether it is held to that.
//!
//! Held to a `Crawl-delay` or `Request-rate` is who says that it keeps to one, by its entry in the
//! catalogue: no standard knows these records, so nobody else has promised anything. The rung of
//! the [ladder](super::Rung) asks it of everybody who stands on it.

use jiff::Timestamp;

use crate::{
    crawlers::{self, CrawlDelay},
    policy::{Enforcement, Mode, PaceMode},
    robots::{self, Matcher, Pace, PaceRecord},
};

use super::Rung;

/// The pace that one crawler is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'r> {
    /// The pace.
    pub pace: Pace,
    /// The record that asks for it; `None` is the ladder.
    pub record: Option<&'r robots::Record>,
    /// Whether a request that comes too soon is answered with 429. Otherwise it is only counted.
    pub is_enforced: bool,
}

/// The record whose pace a crawler has promised to keep: of the group that it obeys, by the time of
/// day. `None` where there is none, or where it promises nothing. Where a crawler says that it takes
/// `Crawl-delay` from `*` beside a group of its own, as bingbot does, the record of `*` counts if its
/// own group has none.
pub fn promised<'r>(
    matcher: &'r Matcher,
    name: crawlers::Name<'_>,
    group: Option<robots::Scope>,
    now: Timestamp,
) -> Option<&'r PaceRecord> {
    let honours = name.known()?.honours();
    if honours.crawl_delay != Some(CrawlDelay::Yes) {
        return None;
    }
    let minute = u16::try_from(now.as_second().rem_euclid(86_400) / 60).ok()?;
    let of_star = || {
        let star = matcher.star().filter(|_| honours.crawl_delay_of_star)?;
        let is_delay = |one: &&PaceRecord| one.record.name.eq_ignore_ascii_case("crawl-delay");
        matcher.pace(star, minute).filter(is_delay)
    };
    matcher.pace(group?, minute).or_else(of_star)
}

/// The pace that a crawler is measured by, and whether it is held to it. `mode` is what is done with
/// its violations; `rung` is where it stands, `None` where the ladder does not decide about it.
///
/// On a rung above the first a crawler without a pace that it has promised gets that of the ladder.
/// Where the policy does not say, a promise is enforced in the mode `throttle` and on the ladder, and
/// measured elsewhere: `block` is about Disallow.
pub fn held<'r>(
    promised: Option<&'r PaceRecord>,
    enforcement: &Enforcement,
    mode: Mode,
    rung: Option<Rung>,
) -> Option<Held<'r>> {
    let is_slowed = rung.is_some_and(|rung| rung > Rung::Observe);
    let is_enforced = match enforcement.crawl_delay {
        Some(PaceMode::Throttle) => true,
        Some(PaceMode::Log) => is_slowed,
        None => mode == Mode::Throttle || rung.is_some(),
    };
    let of_ladder = || enforcement.ladder.filter(|_| is_slowed).map(|ladder| ladder.throttle);
    match promised {
        _ if mode == Mode::Off => None,
        Some(one) => Some(Held { pace: one.pace, record: Some(&one.record), is_enforced }),
        None => of_ladder().map(|pace| Held { pace, record: None, is_enforced: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    fn asked(text: &str, token: &str) -> Option<u32> {
        let matcher = Matcher::new(&robots::parse(text.as_bytes()).0);
        let catalogue = policy::built_in_catalogue();
        let name = catalogue.find(token).map(crawlers::Name::Known);
        let name = name.unwrap_or(crawlers::Name::Declared(token));
        let group = matcher.group(token).or_else(|| matcher.star());
        promised(&matcher, name, group, Timestamp::UNIX_EPOCH).map(|one| one.record.line)
    }

    #[test]
    fn ours_a_pace_is_asked_of_those_who_promise_to_keep_it() {
        let text = "User-agent: *\nDisallow: /x\nCrawl-delay: 5\n";
        for (token, line) in [
            ("AhrefsBot", Some(3)),
            ("ClaudeBot", Some(3)),
            ("bingbot", Some(3)),
            ("Googlebot", None),  // says that it ignores the record
            ("GPTBot", None),     // says nothing
            ("NobodysBot", None), // is in no catalogue
        ] {
            assert_eq!(asked(text, token), line, "{token}");
        }
    }

    #[test]
    fn ours_bingbot_takes_crawl_delay_from_star_beside_a_group_of_its_own() {
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
                (asked(&text, "bingbot"), asked(&text, "AhrefsBot")),
                (bingbot, ahrefsbot),
                "{text}"
            );
        }
    }

    #[test]
    fn ours_where_a_pace_is_enforced_and_where_it_is_only_measured() {
        let record = robots::Record { name: "Crawl-delay".into(), value: "5".into(), line: 3 };
        let promised = PaceRecord::of(&record);
        let enforcement = |text: &str| {
            let text = format!(
                "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
                 enforcement: {{ {text} }} }}]"
            );
            let (policy, findings) = policy::read("test.yaml", text.as_bytes());
            let policy = policy.unwrap_or_else(|| panic!("{findings:?}"));
            policy.sites[0].enforcement.clone()
        };
        let (observe, throttle) = (Some(Rung::Observe), Some(Rung::Throttle));
        for (text, mode, rung, of_promised, of_others) in [
            ("mode: log", Mode::Log, None, Some(false), None),
            ("mode: throttle", Mode::Throttle, None, Some(true), None),
            ("mode: block", Mode::Block, None, Some(false), None),
            ("mode: block, crawl_delay: throttle", Mode::Block, None, Some(true), None),
            ("mode: throttle, crawl_delay: log", Mode::Throttle, None, Some(false), None),
            ("mode: throttle", Mode::Off, None, None, None),
            ("mode: ladder", Mode::Log, observe, Some(true), None),
            ("mode: ladder", Mode::Throttle, throttle, Some(true), Some(true)),
            ("mode: ladder", Mode::Block, Some(Rung::Block), Some(true), Some(true)),
            ("mode: ladder, crawl_delay: log", Mode::Log, observe, Some(false), None),
            ("mode: ladder, crawl_delay: log", Mode::Throttle, throttle, Some(true), Some(true)),
            // An override decides about it, not the ladder.
            ("mode: ladder", Mode::Log, None, Some(false), None),
        ] {
            let enforcement = enforcement(text);
            let is_enforced =
                |promised| held(promised, &enforcement, mode, rung).map(|held| held.is_enforced);
            assert_eq!(is_enforced(promised.as_ref()), of_promised, "{text} {rung:?}");
            assert_eq!(is_enforced(None), of_others, "{text} {rung:?}");
        }
    }
}
