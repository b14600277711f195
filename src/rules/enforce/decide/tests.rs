//! The verdicts that explanations show, as tables.

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::rules::{
    crawlers::{Name, Standing},
    enforce::{Case, Moment, Rulebook, decide},
    policy::Policy,
};

fn at(hours: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
}

/// The hour of a request, and the editions that every client may know.
struct Known(i64, KnownEditions);

impl Knowledge for Known {
    fn moment(&self) -> Moment {
        Moment::at(at(self.0))
    }

    fn known_editions(&self, _: Name<'_>, _: Standing, _: Timestamp) -> KnownEditions {
        self.1.clone()
    }
}

/// A site whose edition of each hour disallows these paths. A sitemap changes the file, not the
/// rules.
fn rulebook(editions: &[(&str, &str)]) -> Rulebook {
    let policy = |paths: &str, sitemaps: &str| {
        let text = format!(
            "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: {{ \
             sitemaps: [{sitemaps}], groups: [{{ user_agents: [\"*\"], disallow: [{paths}] }}] }} }}]"
        );
        text.parse::<Policy>().unwrap()
    };
    let mut rulebook: Option<Rulebook> = None;
    for ((paths, sitemaps), hour) in editions.iter().zip(0..) {
        rulebook = Some(Rulebook::compile(&policy(paths, sitemaps), at(hour), rulebook.as_ref()));
    }
    rulebook.expect("an edition")
}

/// `from until verdict` of each edition, with `known` where the client may know it.
fn shown(rulebook: &Rulebook, user_agent: &str, known: &Known) -> String {
    let site = &rulebook.sites()[0];
    let claim = rulebook.catalogue().identify(user_agent.as_bytes(), &site.names);
    let target = Target::new(b"/x/");
    let case = Case { claim: &claim, is_nameless: user_agent.is_empty(), target: &target };
    let decision = decide(site, case, known);
    let verdicts = edition_verdicts(site, &decision, &target, known);
    let hour = |time: Timestamp| time.as_second() / 3_600;
    let shown = verdicts.iter().map(|one| {
        let until = one.until.map_or_else(|| "now".to_owned(), |until| hour(until).to_string());
        let known = if one.is_known { " known" } else { "" };
        format!("{} {until} {}{known}", hour(one.from), one.access.as_str())
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_edition_of_the_window_has_its_verdict_the_one_in_force_first() {
    let editions = [("/", ""), ("/x/", ""), ("/y/", ""), ("/x/", "https://a.example/sitemap.xml")];
    let all = rulebook(&editions);
    let of = |counts: &[usize]| {
        let id = |count: &usize| rulebook(&editions[..*count]).sites()[0].edition().id();
        KnownEditions::Of(counts.iter().map(id).collect())
    };
    let any = "3 now disallow known, 2 3 allow known, 0 1 disallow known";
    for (user_agent, hour, known, expected) in [
        ("bingbot/2.0", 4, KnownEditions::Any, any),
        ("bingbot/2.0", 4, of(&[4]), "3 now disallow known, 2 3 allow, 0 1 disallow"),
        ("bingbot/2.0", 4, of(&[3, 1]), "3 now disallow, 2 3 allow known, 0 1 disallow known"),
        // Only its sitemap differs from that of the edition in force.
        ("bingbot/2.0", 4, of(&[2]), "3 now disallow known, 2 3 allow, 0 1 disallow"),
        // A client without a name may know any.
        ("", 4, of(&[4]), any),
        // Those that ended before the window are left out.
        ("bingbot/2.0", 25, KnownEditions::Any, "3 now disallow known, 2 3 allow known"),
        ("bingbot/2.0", 27, KnownEditions::Any, "3 now disallow known"),
    ] {
        let known = Known(hour, known);
        assert_eq!(shown(&all, user_agent, &known), expected, "{user_agent} {hour} {:?}", known.1);
    }
}
