//! Bundles made and verified in memory.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    contents::{Material, Served, contents},
    file::File,
    manifest::Counts,
    *,
};
use crate::{
    base::text::Text,
    formats::robots::OriginFile,
    records::{
        record::{ClockLeap, Edition, Fetch, Robots, RobotsRead, Violation},
        tally::{Claimant, ReadState},
    },
    rules::{
        crawlers::Name,
        enforce::{EditionId, Stay, is_bound_by_star},
        policy::Policy,
    },
};

const OLD: &str = "User-agent: GPTBot\nDisallow: /both/\n";
const NEW: &str = "# new\nUser-agent: GPTBot\nDisallow: /both/\nDisallow: /new/\nCrawl-delay: 5\n\n\
                   User-agent: *\nDisallow: /all/\n";
const DAY: i64 = 86_400;
/// The time at which the new edition replaces the old one.
const CHANGE: i64 = 10 * DAY;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn id(text: &str) -> String {
    EditionId::of(text.as_bytes()).to_string()
}

fn edition(site: &'static str, text: &'static str, from: i64, until: Option<i64>) -> Edition {
    Edition {
        site: Text::word(site),
        id: id(text).into(),
        sha256: digest(text.as_bytes()).into(),
        bytes: text.into(),
        source: Text::word("policy"),
        origin_file: OriginFile::Unknown,
        from: at(from),
        until: until.map(at),
    }
}

fn fetch(text: &str, first: i64, last: i64) -> Fetch {
    Fetch {
        site: Text::word("a.example"),
        product_token: Text::word("GPTBot"),
        network: Text::word("192.0.2.0/24"),
        standing: Text::word("confirmed"),
        edition: id(text).into(),
        first: at(first),
        last: at(last),
        count: 2,
        interval: Some(Duration::from_secs(3_600)),
    }
}

/// A violation of the new edition's rule in line 3, an hour after the change.
fn record() -> Violation {
    Violation {
        schema: 1,
        id: Text::word("0199aaaa-0000-7000-8000-000000000001"),
        time: at(CHANGE + 3_600),
        site: Text::word("a.example"),
        client_ip: Text::word("192.0.2.7"),
        method: Text::word("GET"),
        host: Text::word("a.example"),
        path: Text::word("/both/1"),
        user_agent: Text::word("GPTBot/1.2"),
        product_token: Text::word("GPTBot"),
        product_tokens: vec![Text::word("GPTBot")],
        operator: Some(Text::word("OpenAI")),
        purpose: Some(Text::word("ai-training")),
        standing: Text::word("confirmed"),
        evidence: Some(Text::word("ip-range")),
        verdict: Text::word("disallow"),
        reason: Text::word("robots.disallow"),
        action: Text::word("block"),
        status: 403,
        robots: Robots {
            edition: id(NEW).into(),
            line: Some(3),
            directive: Text::word("disallow"),
            pattern: Text::word("/both/"),
            group: vec![Text::word("GPTBot")],
        },
        robots_read: RobotsRead { state: ReadState::Never, edition: None, at: None },
    }
}

fn policy() -> Policy {
    let site = "{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }";
    format!("sites: [{site}]").parse().expect("a policy")
}

/// A bundle of this record, after a change to its material.
fn made(record: Violation, change: impl FnOnce(&mut Material<'_>)) -> Vec<File> {
    let policy = policy();
    let crawler = policy.catalogue.find("GPTBot");
    let star_binds = &policy.sites[0].enforcement.star_binds;
    let is_bound_by_star = is_bound_by_star(star_binds, Name::Known(crawler.expect("it is known")));
    let wanted = Wanted {
        product_token: "GPTBot",
        site: None,
        claimant: Claimant::Crawler,
        since: at(0),
        until: at(20 * DAY),
        made: at(20 * DAY),
    };
    let mut material = Material {
        wanted: &wanted,
        crawler,
        records: vec![record],
        is_cut: false,
        counts: None,
        sites: vec![Served { site: &policy.sites[0], inherited: Vec::new(), is_bound_by_star }],
        editions: vec![
            edition("a.example", OLD, DAY, Some(CHANGE)),
            edition("a.example", NEW, CHANGE, None),
        ],
        fetches: Vec::new(),
        leaps: Vec::new(),
    };
    change(&mut material);
    contents(&material)
}

fn verified(files: &[File]) -> Verification {
    verify(unpack(&pack(files)).expect("it is a zip"))
}

/// What a record's findings say: nothing if all agrees.
fn said(record: Violation, change: impl FnOnce(&mut Material<'_>)) -> String {
    let verification = verified(&made(record, change));
    let mut said: Vec<String> = verification
        .findings
        .iter()
        .filter(|finding| finding.file != "standing.json")
        .map(|finding| {
            let values =
                [&finding.recorded, &finding.recomputed].map(|one| one.clone().unwrap_or_default());
            format!("{} {} {}", finding.status.as_str(), finding.what, values.join(" > "))
        })
        .collect();
    said.sort();
    let (agreeing, differing) = (verification.agreeing, verification.differing);
    assert_eq!(verification.is_verified(), agreeing == 1 && differing == 0, "{said:?}");
    said.join("; ").trim().to_owned()
}

#[test]
fn a_violation_is_judged_again() {
    assert_eq!(said(record(), |_| ()), "");
    let robots = |change: fn(&mut Robots)| {
        let mut record = record();
        change(&mut record.robots);
        record
    };
    let new = |line| {
        let mut record = record();
        record.path = Text::word("/new/1");
        (record.robots.line, record.robots.pattern) = (Some(line), Text::word("/new/"));
        record
    };
    let formed =
        |path, reason| Violation { path: Text::word(path), reason: Text::word(reason), ..record() };
    for (record, says) in [
        (robots(|robots| robots.line = Some(4)), "differs robots.line 4 > 3"),
        (robots(|robots| robots.pattern = Text::word("/b")), "differs robots.pattern /b > /both/"),
        (
            robots(|robots| robots.directive = Text::word("allow")),
            "differs robots.directive allow > disallow",
        ),
        (robots(|robots| robots.group = vec![Text::word("*")]), "differs robots.group * > GPTBot"),
        (
            robots(|robots| robots.edition = Text::word("0123456789abcdef")),
            "not-recomputed edition 0123456789abcdef is not in the bundle  > ",
        ),
        (
            Violation { path: Text::word("/open/"), ..record() },
            "differs robots.directive disallow > ; differs robots.line 3 > none; differs \
             robots.pattern /both/ > ; differs verdict disallow > allow",
        ),
        (
            Violation { verdict: Text::word("allow"), ..record() },
            "differs verdict allow > disallow",
        ),
        (
            Violation { product_token: Text::word("CCBot"), ..record() },
            "differs product_token CCBot > GPTBot",
        ),
        (
            Violation { time: at(20 * DAY), ..record() },
            "differs time 1970-01-21T00:00:00.000Z > 1970-01-01T00:00:00.000Z to 1970-01-21T00:00:00.000Z",
        ),
        (
            Violation { time: at(CHANGE - 1), ..record() },
            &*format!("differs robots.edition in force {} > {}", id(NEW), id(OLD)),
        ),
        (formed("/x/../both/1", "robots.disallow"), ""),
        // Earlier versions took other forms for violations.
        (formed("/x/../both/1", "robots.disallow.evasion"), ""),
        (
            formed("//both/1", "robots.disallow.evasion"),
            "not-recomputed an earlier version took another form of a closed path for a violation  > ",
        ),
        (
            formed("//both/1", "robots.disallow"),
            "differs robots.directive disallow > ; differs robots.line 3 > none; differs \
             robots.pattern /both/ > ; differs verdict disallow > allow",
        ),
        // A path that only the new edition disallows: the crawler could still use the old one.
        (
            new(4),
            &*format!(
                "differs reason robots.disallow > robots.disallow.grace by edition {}",
                id(OLD)
            ),
        ),
        (Violation { time: at(CHANGE + DAY), ..new(4) }, ""),
    ] {
        assert_eq!(said(record, |_| ()), says.trim());
    }
}

#[test]
fn the_bundle_does_not_claim_what_it_cannot_show() {
    let read = |text: &str, second| RobotsRead {
        state: if text == NEW { ReadState::Current } else { ReadState::Older },
        edition: Some(id(text).into()),
        at: Some(at(second)),
    };
    let new = |robots_read| {
        let mut record = Violation { path: Text::word("/new/1"), robots_read, ..record() };
        (record.robots.line, record.robots.pattern) = (Some(4), Text::word("/new/"));
        record
    };
    let fetched = CHANGE + 60;
    let grace =
        format!("differs reason robots.disallow > robots.disallow.grace by edition {}", id(OLD));
    assert_eq!(said(new(read(NEW, fetched)), |one| one.fetches = vec![fetch(NEW, 0, fetched)]), "");
    assert_eq!(
        said(new(read(OLD, CHANGE - 60)), |one| one.fetches = vec![fetch(OLD, 0, CHANGE)]),
        grace
    );
    // Another client under this name fetched later: it may be the same crawler.
    assert_eq!(
        said(new(read(NEW, fetched)), |one| {
            one.fetches = vec![fetch(NEW, 0, fetched), fetch(OLD, 0, fetched + 1)];
        }),
        grace
    );
    let no_fetch = format!(
        "not-recomputed that the crawler had fetched edition {} rests on the record: fetches.json \
         has no such fetch  >",
        id(NEW)
    );
    assert_eq!(said(new(read(NEW, fetched)), |_| ()), no_fetch);
    let wrong = RobotsRead { state: ReadState::Current, ..read(OLD, CHANGE - 60) };
    assert_eq!(
        said(Violation { robots_read: wrong, ..record() }, |_| ()),
        "differs robots_read.state current > older"
    );

    // Another client's fetch says nothing about an impostor.
    let impostor = || Violation {
        standing: Text::word("contradicted"),
        robots_read: read(NEW, fetched),
        ..record()
    };
    assert_eq!(said(impostor(), |one| one.fetches = vec![fetch(NEW, 0, fetched)]), "");
    let foreign = || Fetch { network: Text::word("198.51.100.0/24"), ..fetch(NEW, 0, fetched) };
    let not_its_own = "not-recomputed that the impostor itself had fetched robots.txt rests on the record: \
                       fetches.json has no such fetch of its network  >";
    assert_eq!(said(impostor(), |one| one.fetches = vec![foreign()]), not_its_own);

    let long = format!("/both/{}", "a".repeat(5_000));
    let cut = "not-recomputed a part of the path or query was not recorded  >";
    for path in [Text::path(long.as_bytes()), Text::word("/both/?token=[redacted]")] {
        assert_eq!(said(Violation { path, ..record() }, |_| ()), cut);
    }
    let gone = "not-recomputed the policy no longer had the site: its settings are unknown  >";
    assert_eq!(said(record(), |one| one.sites.clear()), gone);

    let mut early = record();
    early.reason = Text::word("robots.crawl_delay");
    early.verdict = Text::word("allow");
    early.robots.directive = Text::word("crawl-delay");
    (early.robots.line, early.robots.pattern) = (Some(5), Text::word("5"));
    let too_soon =
        "not-recomputed whether it came too soon rests on the times of other requests  >";
    assert_eq!(said(early.clone(), |_| ()), too_soon);
    early.robots.pattern = Text::word("50");
    assert!(
        said(early, |_| ()).starts_with("differs robots.line crawl-delay: 50 > crawl-delay: 5; ")
    );

    let mut impostor = record();
    impostor.reason = Text::word("claim.contradicted");
    impostor.verdict = Text::word("allow");
    impostor.robots = Robots {
        line: None,
        directive: Text::word(""),
        pattern: Text::word(""),
        group: Vec::new(),
        ..impostor.robots
    };
    let false_name = "not-recomputed that the name is false rests on evidence at that time  >";
    assert_eq!(said(impostor, |_| ()), false_name);
}

#[test]
fn editions_of_a_site_that_had_the_host_and_jumps_of_the_clock_count() {
    let mut new = Violation { path: Text::word("/new/1"), ..record() };
    (new.robots.line, new.robots.pattern) = (Some(4), Text::word("/new/"));
    let grace =
        format!("differs reason robots.disallow > robots.disallow.grace by edition {}", id(OLD));
    let moved = |since: i64, until: i64| {
        said(new.clone(), |one| {
            one.editions =
                vec![edition("b.example", OLD, 0, None), edition("a.example", NEW, DAY, None)];
            let (from, until) = (at(since), at(until));
            one.sites[0].inherited = vec![Stay { site: "b.example", from, until }];
        })
    };
    assert_eq!(moved(0, CHANGE), grace);
    assert_eq!(moved(0, CHANGE - 2 * DAY), "");
    let late = Violation { time: at(CHANGE + DAY + 60), ..new.clone() };
    assert_eq!(said(late.clone(), |_| ()), "");
    let leap = ClockLeap { at: at(CHANGE + 600), by: Duration::from_secs(7_200) };
    assert_eq!(said(late, |one| one.leaps = vec![leap]), grace);
}

#[test]
fn an_edition_that_allows_a_request_to_a_crawler_that_reads_lists_is_an_excuse() {
    const LISTED: &str = "User-agent: GPTBot, CCBot\nAllow: /\n\nUser-agent: *\nDisallow: /\n";
    let mut new = Violation { path: Text::word("/new/1"), ..record() };
    (new.robots.line, new.robots.pattern) = (Some(4), Text::word("/new/"));
    let listed = |one: &mut Material<'_>| {
        one.editions[0] = edition("a.example", LISTED, DAY, Some(CHANGE));
    };
    let grace =
        format!("differs reason robots.disallow > robots.disallow.grace by edition {}", id(LISTED));
    assert_eq!(said(new, listed), grace);
}

#[test]
fn the_same_facts_make_the_same_bytes_and_the_bundle_names_what_is_missing() {
    let files = made(record(), |_| ());
    assert_eq!(pack(&files), pack(&made(record(), |_| ())));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let old = format!("robots/a.example/{}.txt", id(OLD));
    let new = format!("robots/a.example/{}.txt", id(NEW));
    let (first, second) = if old < new { (&old, &new) } else { (&new, &old) };
    assert_eq!(
        names,
        [
            "editions.json",
            "fetches.json",
            "manifest.json",
            "manifest.sha256",
            "message.txt",
            "records.jsonl",
            "records.sha256",
            first,
            second,
            "standing.json",
            "summary.txt"
        ]
    );
    let bytes =
        |name: &str| files.iter().find(|(other, _)| other == name).map(|(_, bytes)| &**bytes);
    assert_eq!(bytes(&old), Some(OLD.as_bytes()), "it could still be used");
    let text = |files: &[File], name: &str| {
        let bytes = files.iter().find(|(other, _)| other == name).map(|(_, bytes)| bytes.clone());
        String::from_utf8(bytes.expect("it is there")).expect("it is text")
    };
    let files = made(record(), |one| one.editions.truncate(1));
    assert!(
        text(&files, "manifest.json")
            .contains(&format!("\"missing_editions\": [\n    \"{}\"", id(NEW)))
    );
    assert!(text(&files, "summary.txt").contains(&format!("Edition {} is missing", id(NEW))));
}

#[test]
fn violations_without_a_record_stand_in_the_summary_as_a_number() {
    let counts = Counts { requests: 9_000, violations: 5_001, folded: 4_990, dropped: 10 };
    let files = made(record(), |one| (one.counts, one.is_cut) = (Some(counts), true));
    assert!(verified(&files).is_verified());
    let found = files.into_iter().find(|(name, _)| name == "summary.txt");
    let summary = String::from_utf8(found.expect("it is there").1).expect("it is text");
    for part in [
        "How many  1 violation in detail",
        "Earlier ones are left out",
        "9000 requests, 5001 of them violations",
        "4990 violations are only counted: there were more of a kind",
        "10 violations are only counted: records found no room",
    ] {
        assert!(summary.contains(part), "{part}:\n{summary}");
    }
}

#[test]
fn the_message_blames_nobody_for_what_impostors_do() {
    let file = |wanted: &str, records: Vec<Violation>| {
        let files = made(record(), |one| one.records = records);
        let found = files.into_iter().find(|(name, _)| name == wanted);
        String::from_utf8(found.expect("it is there").1).expect("it is text")
    };
    let text = |records: Vec<Violation>| file("message.txt", records);
    let impostor = || Violation { standing: Text::word("contradicted"), ..record() };
    let own = text(vec![record(), record(), impostor()]);
    for part in [
        "Subject: GPTBot requests pages that robots.txt disallows (a.example)",
        "we recorded 3 requests",
        "- 2 of them are confirmed to be yours",
        "- 1 of them are not yours",
        "- Disallow: /both/, for GPTBot (line 3 of edition ",
    ] {
        assert!(own.contains(part), "{part}:\n{own}");
    }
    // What was not checked is no accusation, and other crawlers of the group are none of the operator's.
    let mut unchecked = Violation { standing: Text::word("unknown"), ..record() };
    let names = ["AI2Bot", "Ai2Bot-Dolma", "GPTBot", "CCBot"];
    unchecked.robots.group = names.map(Text::word).into();
    let unverifiable = Violation { standing: Text::word("unverifiable"), ..unchecked.clone() };
    let open = text(vec![unchecked, unverifiable]);
    for part in [
        "- 1 of them were not checked when they came",
        "    addresses: https://openai.com/gptbot.json",
        "- 1 of them can't be checked: we know of no addresses",
        "- Disallow: /both/, for GPTBot and 3 more (line 3 of edition ",
    ] {
        assert!(open.contains(part), "{part}:\n{open}");
    }
    assert!(!open.to_lowercase().contains("ai2bot") && !open.contains("confirmed"), "{open}");
    let foreign = text(vec![impostor()]);
    assert!(foreign.contains("Subject: Somebody uses the name GPTBot on a.example"), "{foreign}");
    assert!(!foreign.contains("why"), "{foreign}");
    let summary = file("summary.txt", vec![impostor()]);
    for part in [
        "Requests under the name GPTBot that robots.txt disallows",
        "Who       impostors of GPTBot, operated by OpenAI",
        "no fetch of robots.txt by the impostor itself is known",
    ] {
        assert!(summary.contains(part), "{part}:\n{summary}");
    }
}

#[test]
fn a_change_in_any_file_is_found_and_named() {
    let files = made(record(), |_| ());
    for number in 0..files.len() {
        let name = files[number].0.clone();
        let length = files[number].1.len();
        for place in [0, length / 3, length / 2, length - 1] {
            let mut files = files.clone();
            files[number].1[place] ^= 1;
            let verification = verified(&files);
            assert!(!verification.is_verified(), "{name} at {place}");
            let names = |finding: &Finding| {
                finding.status == Status::Changed
                    && (finding.file == name || finding.what.contains(&name))
            };
            assert!(verification.findings.iter().any(names), "{name}: {:?}", verification.findings);
            let line = verification.findings.iter().find(|one| one.line.is_some());
            assert!(name != "records.jsonl" || line.is_some_and(|one| one.line == Some(1)));
        }
        let mut fewer = files.clone();
        fewer.remove(number);
        assert!(!verified(&fewer).is_verified(), "without {name}");
    }
    let mut more = files;
    more.push(("note.txt".to_owned(), b"hello".to_vec()));
    let verification = verified(&more);
    assert!(verification.findings.iter().any(|one| one.file == "note.txt"));
    assert!(!verification.is_verified());
}

#[test]
fn a_change_of_any_octet_of_the_zip_is_found() {
    let zip = pack(&made(record(), |_| ()));
    assert!(verify(unpack(&zip).expect("it is a zip")).is_verified());
    for place in 0..zip.len() {
        let masks = [1, 0x80, 0xff];
        let all = std::env::var_os("BEADLE_FULL").is_some();
        for mask in if all { &masks[..] } else { &masks[place % 3..=place % 3] } {
            let mut zip = zip.clone();
            zip[place] ^= *mask;
            if let Ok(unpacked) = unpack(&zip) {
                assert_eq!(unpacked.is_sealed, Some(false), "{place} {mask}");
                if place % 97 == 0 {
                    assert!(!verify(unpacked).is_verified(), "{place} {mask}");
                }
            }
        }
        let cut = unpack(&zip[..place]);
        assert!(cut.is_err(), "cut at {place}");
    }
}
