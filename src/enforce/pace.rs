//! How fast a crawler may come: what the rules ask of it, and whether it is held to that.
//!
//! Held to a `Crawl-delay` or `Request-rate` is who says that it keeps to one, by its entry in the
//! catalogue: no standard knows these records, so nobody else has promised anything. The rung of
//! the [ladder](super::Rung) asks it of everybody who stands on it.

use jiff::Timestamp;

use crate::{
    crawlers::{self, CrawlDelay},
    policy::{Enforcement, Grace, Mode, PaceMode},
    robots::{self, Matcher, Pace, PaceRecord},
};

use super::{
    asked::Knowledge, decide::group_in, decision::Decision, edition::EditionId, ladder::Rung,
    rulebook::Site,
};

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

/// The same with where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured<'r> {
    /// The pace.
    pub held: Held<'r>,
    /// The edition that its record is of; of the ladder's pace the one in force.
    pub edition: EditionId,
}

/// The pace that the sender of a judged request is measured by, in time: by the laxest of the
/// editions that it may be going by, and by none if one of them asks for none. Asks for the moment
/// only where the edition in force asks for a pace that this crawler has promised to keep.
pub fn measured<'r>(
    site: &'r Site,
    decision: &Decision<'r>,
    knowledge: &impl Knowledge,
) -> Option<Measured<'r>> {
    let judgement = decision.judgement?;
    let (name, edition) = (judgement.name?, site.edition());
    let own = match edition.asks_for_pace() && keeps_paces(name) {
        true => promised(edition.matcher(), name, judgement.group, knowledge.moment().now),
        false => None,
    };
    let laxest = own.and_then(|own| laxest(site, decision, (name, own), knowledge));
    let record = laxest.map(|(_, record)| record);
    let held = held(record, &site.enforcement, decision.mode, decision.rung)?;
    // An edition that asks for nothing must not bring down a stricter pace, that of the ladder.
    match own.filter(|own| held.record.is_none() && held.pace.is_stricter_than(own.pace)) {
        Some(PaceRecord { pace, record, .. }) => {
            let held = Held { pace: *pace, record: Some(record), ..held };
            Some(Measured { held, edition: edition.id() })
        }
        None => {
            let edition = laxest.map_or_else(|| edition.id(), |(edition, _)| edition);
            Some(Measured { held, edition })
        }
    }
}

/// The laxest record of the editions that a crawler may be going by, with its edition; `own` is that
/// of the edition in force. `None` where it may be going by one that asks for nothing.
fn laxest<'r>(
    site: &'r Site,
    decision: &Decision<'r>,
    (name, own): (crawlers::Name<'r>, &'r PaceRecord),
    knowledge: &impl Knowledge,
) -> Option<(EditionId, &'r PaceRecord)> {
    let (enforcement, own) = (&site.enforcement, (site.edition().id(), own));
    if site.timeline.is_single() || enforcement.grace == Grace::Enforce {
        return Some(own);
    }
    let moment = knowledge.moment();
    let start = moment.start_of(site.cache_window);
    let holding = knowledge.holding(name, decision.standing, start);
    site.timeline.held(start, &holding)?.try_fold(own, |laxest, past| {
        let matcher = past.edition.matcher();
        let group = group_in(matcher, enforcement, name);
        let other = promised(matcher, name, group, moment.now)?;
        let is_laxer = laxest.1.pace.is_stricter_than(other.pace);
        Some(if is_laxer { (past.edition.id(), other) } else { laxest })
    })
}

/// Whether a crawler says that it keeps to such records.
pub(super) fn keeps_paces(name: crawlers::Name<'_>) -> bool {
    name.known().is_some_and(|known| known.honours().crawl_delay == Some(CrawlDelay::Yes))
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
    if !keeps_paces(name) {
        return None;
    }
    let honours = name.known()?.honours();
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
    use crate::{
        crawlers::Standing,
        enforce::{self, Asked, Holding, Moment, Rulebook},
        policy,
        robots::Target,
    };

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

    /// A moment, and what everybody holds then, slowed on the ladder where there is one.
    struct Known(Timestamp, Holding);

    impl Knowledge for Known {
        fn moment(&self) -> Moment {
            Moment::at(self.0)
        }

        fn rung(&self, _: crawlers::Name<'_>, _: crawlers::Outcome) -> Rung {
            Rung::Throttle
        }

        fn holding(&self, _: crawlers::Name<'_>, _: Standing, _: Timestamp) -> Holding {
            self.1.clone()
        }
    }

    #[test]
    fn rfc9309_2_4_a_crawler_is_held_to_the_laxest_pace_that_it_may_know() {
        let at = |hours: i64| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours);
        let policy = |enforcement: &str, delay: &str| {
            let text = format!(
                "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
                 robots_txt: {{ groups: [{{ user_agents: [bingbot], disallow: [/x] {delay} }}] }}, \
                 enforcement: {{ {enforcement} }} }}]"
            );
            let (policy, findings) = policy::read("test.yaml", text.as_bytes());
            policy.unwrap_or_else(|| panic!("{findings:?}"))
        };
        let (throttle, ladder) = ("mode: throttle", "mode: ladder");
        let (none, one, ten) = ("", ", crawl_delay: 1", ", crawl_delay: 10");
        // What was asked for until 1:00 and what since then, when it comes, which of them it holds,
        // the seconds for one request, whether they are the rules', and whether those of now.
        for (enforcement, before, now, hours, holds, expected) in [
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
            // On the ladder nothing is gained by rules that are stricter than before.
            (ladder, none, ", crawl_delay: 60", 2, "any", Some((10.0, false, true))),
            (ladder, none, one, 2, "any", Some((1.0, true, true))),
            (ladder, none, none, 2, "any", Some((10.0, false, true))),
        ] {
            let before = Rulebook::compile(&policy(enforcement, before), at(0), None);
            let book = Rulebook::compile(&policy(enforcement, now), at(1), Some(&before));
            let of = |book: &Rulebook| Holding::Of(vec![book.sites()[0].edition().id()]);
            let holding = match holds {
                "any" => Holding::Any,
                "now" => of(&book),
                "before" => of(&before),
                _ => Holding::Of(EditionId::parse("0123456789abcdef").into_iter().collect()),
            };
            let (site, known) = (&book.sites()[0], Known(at(hours), holding));
            let claim = book.catalogue().identify(b"bingbot/2.0", &site.names);
            let target = Target::new(b"/");
            let asked = Asked { claim: &claim, is_nameless: false, target: &target };
            let decision = enforce::decide(site, asked, &known);
            let found = measured(site, &decision, &known).map(|Measured { held, edition }| {
                let seconds = held.pace.interval().as_secs_f64();
                (seconds, held.record.is_some(), edition == site.edition().id())
            });
            assert_eq!(found, expected, "{enforcement}{now}, {holds} at {hours}");
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
