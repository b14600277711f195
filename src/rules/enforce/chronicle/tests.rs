//! Editions of other nodes as tables.

use jiff::SignedDuration;

use super::*;
use crate::{
    formats::robots::Target,
    rules::{
        crawlers::{Name, Standing},
        enforce::{
            Case, EditionId, Excuse, History, Knowledge, KnownEditions, Moment, Rulebook, decide,
            edition_verdicts,
        },
        policy::Policy,
    },
};

fn at(hours: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
}

/// The hour of a request, the editions that every client may know, and whether the node hears
/// nothing.
struct Known(i64, KnownEditions, bool);

impl Knowledge for Known {
    fn moment(&self) -> Moment {
        Moment::at(at(self.0))
    }

    fn known_editions(&self, _: Name<'_>, _: Standing, _: Timestamp) -> KnownEditions {
        self.1.clone()
    }

    fn may_miss_editions(&self) -> bool {
        self.2
    }
}

fn policy(disallow: &str, grace: &str) -> Policy {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", enforcement: {{ mode: log, \
         grace: {grace} }}, robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [{disallow}] \
         }}] }} }}]"
    );
    text.parse().unwrap()
}

fn edition(disallow: &str) -> Arc<Edition> {
    let book = Rulebook::compile(&policy(disallow, "count"), at(0), None);
    Arc::clone(book.sites()[0].timeline.current())
}

fn id(disallow: &str) -> EditionId {
    edition(disallow).id()
}

/// `/a` from hour 0, `/a` and `/b` from hour 10, and at other nodes what these paths are disallowed
/// by, from one hour until another.
fn rulebook(grace: &str, elsewhere: &[(&str, i64, Option<i64>)]) -> Rulebook {
    let first = Rulebook::compile(&policy("/a", grace), at(0), None);
    let second = Rulebook::compile(&policy("/a, /b", grace), at(10), Some(&first));
    let mut history = History::after(Some(&second), at(15));
    let all = elsewhere.iter().map(|(disallow, from, until)| Elsewhere {
        site: "a.example".to_owned(),
        edition: edition(disallow),
        from: at(*from),
        until: until.map(at),
    });
    assert!(history.chronicle.learn(all.collect()) || elsewhere.is_empty());
    Rulebook::compile_with(&policy("/a, /b", grace), &mut history)
}

/// `reason excuse` of a request for a path.
fn judged(book: &Rulebook, path: &str, known: &Known) -> String {
    let site = &book.sites()[0];
    let claim = book.catalogue().identify(b"bingbot/2.0", &site.names);
    let target = Target::new(path.as_bytes());
    let decision = decide(site, Case { claim: &claim, is_nameless: false, target: &target }, known);
    let excuse = match decision.excuse {
        None => "-",
        Some(Excuse::By(past)) if past.is_in_force() => "in force elsewhere",
        Some(Excuse::By(_)) => "past",
        Some(Excuse::Forgotten) => "forgotten",
        Some(Excuse::Unheard) => "unheard",
    };
    format!("{} {excuse}", decision.reason.as_str())
}

#[test]
fn what_an_edition_in_force_at_any_node_allows_is_no_violation() {
    const GRACE: &str = "robots.disallow.grace";
    let of = |paths: &[&str]| KnownEditions::Of(paths.iter().map(|paths| id(paths)).collect());
    let since = |hours| KnownEditions::OrSince(vec![id("/a, /b")], at(hours));
    let any = || KnownEditions::Any;
    let violation = "robots.disallow -".to_owned();
    let past = format!("{GRACE} past");
    let elsewhere = format!("{GRACE} in force elsewhere");
    for (name, others, hour, known, expected) in [
        ("none", vec![], 20, any(), &past),
        ("none, and the window is over", vec![], 35, any(), &violation),
        ("in force there", vec![("/x", 5, None)], 20, of(&["/a, /b"]), &elsewhere),
        ("in force there for long", vec![("/x", 5, None)], 500, any(), &elsewhere),
        (
            "in force there, disallowing, too",
            vec![("/b", 5, None)],
            20,
            of(&["/a, /b"]),
            &violation,
        ),
        ("ended there", vec![("/x", 5, Some(12))], 35, any(), &past),
        (
            "ended there, known is another",
            vec![("/x", 5, Some(12))],
            20,
            of(&["/a, /b"]),
            &violation,
        ),
        ("ended there, known", vec![("/x", 5, Some(12))], 20, of(&["/x"]), &past),
        ("ended there, the window is over", vec![("/x", 5, Some(12))], 36, any(), &violation),
        ("its own earlier one ended there later", vec![("/a", 5, Some(14))], 37, any(), &past),
        ("fetches unknown since before its end", vec![("/x", 5, Some(12))], 20, since(11), &past),
        ("fetches known until its end", vec![("/x", 5, Some(12))], 20, since(12), &violation),
        ("the same as here", vec![("/a, /b", 5, None)], 35, any(), &violation),
        ("two there", vec![("/b", 5, None), ("/x", 5, None)], 20, of(&["/a, /b"]), &elsewhere),
    ] {
        let book = rulebook("count", &others);
        assert_eq!(&judged(&book, "/b", &Known(hour, known, false)), expected, "{name}");
    }
    // It is no matter of grace: the rules in force allow it.
    let book = rulebook("enforce", &[("/x", 5, None)]);
    assert_eq!(judged(&book, "/b", &Known(20, of(&["/a, /b"]), false)), elsewhere);
    let book = rulebook("enforce", &[("/x", 5, Some(12))]);
    assert_eq!(judged(&book, "/b", &Known(20, any(), false)), "robots.disallow past");
}

#[test]
fn a_node_that_hears_nothing_excuses_what_its_rules_disallow() {
    for grace in ["count", "enforce"] {
        let book = rulebook(grace, &[]);
        let known = |is_alone| Known(100, KnownEditions::Any, is_alone);
        assert_eq!(judged(&book, "/b", &known(false)), "robots.disallow -");
        assert_eq!(judged(&book, "/b", &known(true)), "robots.disallow.grace unheard");
        assert_eq!(judged(&book, "/c", &known(true)), "robots.allow -");
    }
}

#[test]
fn an_edition_of_another_node_has_no_end_while_it_is_in_force() {
    let book = rulebook("count", &[("/x", 5, None), ("/y", 6, Some(12)), ("/z", 1, Some(9))]);
    let site = &book.sites()[0];
    let claim = book.catalogue().identify(b"bingbot/2.0", &site.names);
    let (target, known) = (Target::new(b"/b"), Known(20, KnownEditions::Of(Vec::new()), false));
    let case = Case { claim: &claim, is_nameless: false, target: &target };
    let rows = edition_verdicts(site, &decide(site, case, &known), &target, &known);
    let hour = |time: Timestamp| time.as_second() / 3_600;
    let shown: Vec<_> = rows
        .iter()
        .map(|one| (hour(one.from), one.until.map(hour), one.is_elsewhere, one.is_known))
        .collect();
    let expected = [
        (10, None, false, false),
        (5, None, true, true),
        (6, Some(12), false, false),
        (0, Some(10), false, false),
        (1, Some(9), false, false),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn many_editions_at_other_nodes_are_summed_up_apart_from_those_in_force() {
    let paths: Vec<String> = (0..140).map(|number| format!("/b, /{number}")).collect();
    let until = |number: i64| (number % 2 == 0).then_some(12);
    let others: Vec<(&str, i64, Option<i64>)> =
        (0..).zip(&paths).map(|(number, paths)| (paths.as_str(), 5, until(number))).collect();
    let book = rulebook("count", &others);
    let known = Known(40, KnownEditions::Any, false);
    assert_eq!(judged(&book, "/b", &known), "robots.disallow -", "all of them disallow it");
    assert_eq!(judged(&book, "/a", &known), "robots.disallow.grace in force elsewhere");
    // What ended long ago does not come back with those in force.
    let only_ended = Known(40, KnownEditions::Of(vec![id("/a, /b")]), false);
    assert_eq!(
        judged(&rulebook("count", &[("/x", 5, Some(12))]), "/b", &only_ended),
        "robots.disallow -"
    );
}

#[test]
fn an_edition_of_another_site_counts_for_the_hosts_that_it_had() {
    let two = |hosts: [&str; 2]| {
        let site = |hosts: &str, disallow: &str| {
            format!(
                "{{ hosts: [{hosts}], origin: \"http://127.0.0.1:1\", robots_txt: {{ groups: [{{ \
                 user_agents: [\"*\"], disallow: [{disallow}] }}] }} }}"
            )
        };
        let text = format!("sites: [{}, {}]", site(hosts[0], "/a"), site(hosts[1], "/b"));
        text.parse::<Policy>().unwrap()
    };
    let before = Rulebook::compile(&two(["x.example, y.example", "z.example"]), at(0), None);
    let mut history = History::after(Some(&before), at(10));
    history.chronicle.learn(vec![Elsewhere {
        site: "x.example".to_owned(),
        edition: edition("/c"),
        from: at(2),
        until: None,
    }]);
    let book = Rulebook::compile_with(&two(["x.example", "z.example, y.example"]), &mut history);
    let ends = |site: usize| -> Vec<Option<i64>> {
        let past = book.sites()[site].timeline.in_window(Timestamp::MIN);
        past.map(|one| one.ended().map(|ended| ended.as_second() / 3_600)).collect()
    };
    assert_eq!((ends(0), ends(1)), (vec![None], vec![Some(10), Some(10)]));
}
