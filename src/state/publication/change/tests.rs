//! What follows from each change.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::rules::{
    enforce::{Edition, Timeline},
    policy,
};

const A: &str = "{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: \
                 { groups: [{ user_agents: [\"*\"], disallow: [/a/] }] } }";
const A_TOO: &str = "{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: \
                     { groups: [{ user_agents: [\"*\"], disallow: [/a/, /too/] }] } }";
const B: &str =
    "{ hosts: [b.example], origin: \"http://127.0.0.1:1\", robots_txt: { source: origin } }";
const FILE: &str = "User-agent: *\nDisallow: /file/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";

fn policy(sites: &str) -> Arc<Policy> {
    Arc::new(format!("sites: [{sites}]").parse::<Policy>().unwrap())
}

fn at(hours: i64) -> Moment {
    let start = Timestamp::from_second(1_795_000_000).expect("a time");
    Moment::at(start + SignedDuration::from_hours(hours))
}

fn file(text: &'static str) -> OriginFile {
    OriginFile::Present(Bytes::from_static(text.as_bytes()))
}

/// The origin of `b.example` has this file.
fn files(text: &'static str) -> FilesBySite {
    FilesBySite::from([("b.example".to_owned(), file(text))])
}

fn first(sites: &str, files: FilesBySite) -> InForce {
    InForce::first(policy(sites), files, Chronicle::default(), at(0))
}

fn timeline<'a>(in_force: &'a InForce, site: &str) -> &'a Timeline {
    let (_, site) = in_force.rulebook.exact_site(site).expect("it is served");
    &site.timeline
}

/// The bytes of the edition in force, and the number of earlier ones.
fn shown(in_force: &InForce, site: &str) -> (String, usize) {
    let timeline = timeline(in_force, site);
    let text = String::from_utf8_lossy(timeline.current().bytes()).into_owned();
    (text, timeline.in_window(Timestamp::MIN).count())
}

fn is_same_rulebook(a: &InForce, b: &InForce) -> bool {
    Arc::ptr_eq(&a.rulebook, &b.rulebook)
}

#[test]
fn a_policy_is_compiled_after_the_editions_before_it() {
    let before = first(A, FilesBySite::new());
    let after = next(&before, Change::Policy(policy(A_TOO), FilesBySite::new()), at(1));
    assert!(!is_same_rulebook(&before, &after));
    assert_eq!(after.rulebook.fingerprint(), after.policy.fingerprint);
    let (text, earlier) = shown(&after, "a.example");
    assert!(text.contains("Disallow: /too/\n") && earlier == 1, "{text}");
    assert_eq!(timeline(&after, "a.example").since, at(1).now);
    // Other settings with the same rules make no edition.
    let slow = A_TOO.replace("robots_txt: {", "robots_txt: { max_age: 2h,");
    let last = next(&after, Change::Policy(policy(&slow), FilesBySite::new()), at(2));
    assert!(!is_same_rulebook(&after, &last));
    assert_eq!(timeline(&last, "a.example").since, at(1).now);
}

#[test]
fn without_a_difference_the_rulebook_is_the_same_object() {
    let before = first(&format!("{A}, {B}"), files(FILE));
    let policy = || Arc::clone(&before.policy);
    for change in [
        Change::Policy(policy(), files(FILE)),
        Change::Origin(files(FILE)),
        Change::Accepted("a.example".to_owned(), file(CLOSED)),
        Change::Accepted("b.example".to_owned(), file(FILE)),
        Change::Accepted("unknown.example".to_owned(), OriginFile::Absent),
    ] {
        let after = next(&before, change.clone(), at(1));
        assert!(is_same_rulebook(&before, &after), "{change:?}");
    }
}

#[test]
fn a_file_of_an_origin_makes_an_edition_of_its_site_alone() {
    let before = first(&format!("{A}, {B}"), files(FILE));
    assert_eq!(shown(&before, "b.example"), (FILE.to_owned(), 0));
    let after = next(&before, Change::Origin(files(CLOSED)), at(1));
    assert_eq!(shown(&after, "b.example"), (CLOSED.to_owned(), 1));
    assert_eq!(timeline(&after, "a.example").since, at(0).now);
    assert!(Arc::ptr_eq(&before.policy, &after.policy));
    // An accepted file is one of its origin, and stays until the origin has another one.
    let accepted = next(&after, Change::Accepted("b.example".to_owned(), file(FILE)), at(2));
    assert_eq!(shown(&accepted, "b.example").0, FILE);
    assert!(is_same_rulebook(&accepted, &next(&accepted, Change::Origin(files(FILE)), at(3))));
    // A file that is no longer known leaves the last edition in force.
    let unknown = next(&accepted, Change::Origin(FilesBySite::new()), at(4));
    assert_eq!(shown(&unknown, "b.example").0, FILE);
}

#[test]
fn after_a_set_back_no_edition_lies_ahead() {
    let before = first(A, FilesBySite::new());
    let before = next(&before, Change::Policy(policy(A_TOO), FilesBySite::new()), at(10));
    let after = next(&before, Change::ClockSetBack, at(5));
    assert!(!is_same_rulebook(&before, &after));
    let timeline = timeline(&after, "a.example");
    assert_eq!(timeline.since, at(5).now);
    assert!(timeline.in_window(Timestamp::MIN).all(|past| past.until <= at(5).now));
    assert_eq!(shown(&after, "a.example"), shown(&before, "a.example"));
}

#[test]
fn editions_of_other_nodes_count_until_they_have_ended() {
    let before = first(A, FilesBySite::new());
    let elsewhere = |until: Option<i64>| {
        let edition = Arc::new(Edition::of_bytes(Bytes::from_static(FILE.as_bytes())));
        let (site, from) = ("a.example".to_owned(), at(-1).now);
        vec![Elsewhere { site, edition, from, until: until.map(|hours| at(hours).now) }]
    };
    assert!(is_same_rulebook(&before, &next(&before, Change::Learned(Vec::new()), at(1))));
    let learned = next(&before, Change::Learned(elsewhere(None)), at(1));
    assert!(!is_same_rulebook(&before, &learned));
    assert!(is_same_rulebook(&learned, &next(&learned, Change::Learned(elsewhere(None)), at(2))));
    let in_force = |state: &InForce| {
        timeline(state, "a.example").in_window(Timestamp::MIN).any(|past| past.is_in_force())
    };
    assert!(in_force(&learned) && shown(&learned, "a.example").1 == 1);
    // Another change keeps it.
    let later = next(&learned, Change::Policy(policy(A_TOO), FilesBySite::new()), at(100));
    assert!(in_force(&later) && shown(&later, "a.example").1 == 2);
    let ended = next(&later, Change::Learned(elsewhere(Some(101))), at(101));
    assert!(!in_force(&ended) && shown(&ended, "a.example").1 == 2);
    assert_eq!(shown(&next(&ended, Change::Learned(Vec::new()), at(102)), "a.example").1, 1);
    // The database keeps only what this node published.
    assert_eq!(learned.rulebook.chronicle.periods().count(), 1);
}

#[test]
fn a_site_that_goes_and_comes_back_keeps_its_editions() {
    let both = first(&format!("{A}, {B}"), files(FILE));
    let without = next(&both, Change::Policy(policy(B), files(FILE)), at(1));
    assert_eq!(both.removed_sites(&without).collect::<Vec<_>>(), ["a.example"]);
    let site = &policy(A).sites[0];
    let known = without.rulebook.chronicle.edition_before(site, at(2).now).expect("it is kept");
    assert_eq!(known.id(), timeline(&both, "a.example").current().id());
    for (sites, since, earlier) in [(A, at(0).now, 0), (A_TOO, at(2).now, 1)] {
        let sites = policy(&format!("{sites}, {B}"));
        let back = next(&without, Change::Policy(sites, files(FILE)), at(2));
        assert_eq!(timeline(&back, "a.example").since, since);
        assert_eq!(shown(&back, "a.example").1, earlier);
    }
}

#[test]
fn editions_of_a_gone_site_expire_after_the_longest_window() {
    let window = i64::try_from(policy::MAX_CACHE_WINDOW.as_secs() / 3_600).expect("some hours");
    let both = first(&format!("{A}, {B}"), files(FILE));
    let without = next(&both, Change::Policy(policy(B), files(FILE)), at(1));
    for (hours, is_kept) in [(window, true), (window + 1, false)] {
        // Any change that compiles forgets them.
        let later = next(&without, Change::Origin(files(CLOSED)), at(hours));
        let site = &policy(A).sites[0];
        let known = later.rulebook.chronicle.edition_before(site, at(hours).now);
        assert_eq!(known.is_some(), is_kept, "after {hours} h");
        let back = Change::Policy(policy(&format!("{A}, {B}")), files(FILE));
        let since = timeline(&next(&later, back, at(hours)), "a.example").since;
        assert_eq!(since, if is_kept { at(0).now } else { at(hours).now });
    }
}

const C: &str = "{ hosts: [c.example], origin: \"http://127.0.0.1:1\", robots_txt: \
                 { groups: [{ user_agents: [\"*\"], disallow: [/a/, /new/] }] } }";

/// The chronicle that the database would give back.
fn stored(steps: &[&str]) -> (InForce, Chronicle) {
    let (first_sites, rest) = steps.split_first().expect("a first one");
    let mut in_force = first(first_sites, FilesBySite::new());
    for (sites, hours) in rest.iter().zip(1..) {
        in_force = next(&in_force, Change::Policy(policy(sites), FilesBySite::new()), at(hours));
    }
    let chronicle = in_force.rulebook.chronicle.clone();
    (in_force, chronicle)
}

#[test]
fn a_host_that_moves_keeps_the_editions_of_its_sites() {
    let moved = C.replace("[c.example]", "[c.example, a.example]");
    for steps in [
        // Between two served sites, at once and after a time without a site.
        &[&format!("{A}, {C}")[..], &moved][..],
        &[&format!("{A}, {C}"), C, &moved],
        // A site that is new.
        &[A, &C.replace("c.example", "a.example")],
    ] {
        let (in_force, _) = stored(steps);
        assert_eq!(shown(&in_force, "a.example").1, 1, "{steps:?}");
    }
    // While the program is down: the next start finds another policy.
    let (_, chronicle) = stored(&[&format!("{A}, {C}")]);
    let start = InForce::first(policy(&moved), FilesBySite::new(), chronicle, at(1));
    assert_eq!(shown(&start, "a.example").1, 1);
    // A host that the site had all the time takes nothing from the others.
    let (in_force, _) = stored(&[&format!("{A}, {C}"), &format!("{A_TOO}, {C}")]);
    assert_eq!((shown(&in_force, "c.example").1, shown(&in_force, "a.example").1), (0, 1));
}

#[test]
fn a_longer_window_uses_older_editions_at_once() {
    let short = |site: &str| site.replace("robots_txt: {", "robots_txt: { cache_window: 1h,");
    let (in_force, _) = stored(&[&short(A), &short(A_TOO)]);
    let later = next(&in_force, Change::Policy(policy(&short(C)), FilesBySite::new()), at(4));
    let later = next(&later, Change::Policy(policy(&short(A_TOO)), FilesBySite::new()), at(5));
    assert_eq!(shown(&later, "a.example").1, 0);
    let longer = Change::Policy(policy(A_TOO), FilesBySite::new());
    assert_eq!(shown(&next(&later, longer, at(6)), "a.example").1, 1);
}
