//! The state of the program: policy, records, evidence and origins, and what is wrong with each.

use jiff::{SignedDuration, Timestamp};

use super::{
    facts::{Fact, Group, fact, group},
    link::{self, Link},
    time,
};
use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::shown,
    },
    clients::evidence::{Failed, Verifier},
    desk::admin::Live,
    formats::robots::OriginFile,
    outside::alerts::{self, Refusal, State},
    records::violations::Health as Written,
    review::report::number::{count, grouped},
    rules::{crawlers::Evidence, enforce, policy::Source},
    state::publication::{Handles, OriginReport, ServedSite, Snapshot},
};

/// A failure of an origin is of late for this long.
const LATELY: SignedDuration = SignedDuration::from_mins(5);

/// The group with a button for a test event.
pub(super) const ALERTS: &str = "Alerts";

pub(super) struct Health {
    pub(super) troubles: Vec<Trouble>,
    pub(super) groups: Vec<Group>,
    pub(super) origins: Vec<Origin>,
}

/// Something wrong, in a sentence that names the repair.
pub(super) struct Trouble {
    pub(super) sentence: String,
    pub(super) link: Option<Link>,
}

pub(super) struct Origin {
    pub(super) site: String,
    pub(super) origin: String,
    pub(super) address: String,
    pub(super) failures: String,
    pub(super) last_failure: String,
    pub(super) robots_txt: &'static str,
    pub(super) breaker: &'static str,
}

pub(super) fn health(live: &Live, now: Timestamp) -> Health {
    let published = live.handles.published.load();
    let state = live.handles.state();
    let mut troubles = of_program(&live.handles, &state, now);
    if let Some(connections) = live.few_connections {
        let sentence = format!(
            "Beadle may open few files, so {} of clients are open at a time, and further ones get 503. Raise \
             LimitNOFILE of the service, or 'ulimit -n'.",
            count(connections as u64, "connection")
        );
        troubles.push(Trouble { sentence, link: None });
    }
    let verifier = published.verifier.as_deref();
    troubles.extend(verifier.into_iter().flat_map(of_evidence));
    for (site, replaced) in live.handles.replaced.load().iter() {
        let what = replaced.summary();
        let sentence = format!("{site}: {what}. Write 'source: merge' to keep the origin's rules.");
        troubles.push(Trouble { sentence, link: Some(Link::to(link::robots(site), "Rules")) });
    }
    let sites = || served(&published);
    troubles.extend(sites().flat_map(|(site, served)| {
        let report = live.handles.origin_reports.of(&site.name);
        of_origin(site, served, (&state, &report), now)
    }));
    let evidence = verifier.map_or_else(
        || vec![fact("claims", "not checked: the policy has no section 'evidence'")],
        |verifier| evidence(verifier, &live.handles),
    );
    let receivers = published.policy.policy.alerts.iter();
    let receivers = receivers.map(|one| fact(one.format(), one.shown()));
    let groups = vec![
        group("Policy", policy(live, &published, &state)),
        group("Records", records(&live.handles)),
        group("Evidence", evidence),
        group("People first", sites().filter_map(people_first).collect()),
        group(ALERTS, receivers.collect()),
    ];
    Health {
        troubles,
        groups: groups.into_iter().filter(|group| !group.facts.is_empty()).collect(),
        origins: sites()
            .map(|(site, served)| origin(site, served, &live.handles, &state))
            .collect(),
    }
}

fn served(published: &Snapshot) -> impl Iterator<Item = (&enforce::Site, &ServedSite)> {
    (0..published.rulebook.sites().len()).filter_map(|number| published.site(number))
}

/// What is at the origin of a site where crawlers make room for people.
fn people_first((site, served): (&enforce::Site, &ServedSite)) -> Option<Fact> {
    let rules = site.enforcement.people_first.as_ref()?;
    let load = served.conduct.admission.as_ref()?.load(rules);
    let put_off = if load.is_active { "; some were put off in the last minute" } else { "" };
    let value = format!(
        "{} of crawlers at the origin, {} at most now, {} waiting{put_off}; {} of people",
        count(load.crawlers.into(), "request"),
        load.limit,
        load.waiting,
        load.people
    );
    Some(fact(&site.name, value))
}

fn of_program(handles: &Handles, state: &State, now: Timestamp) -> Vec<Trouble> {
    let policy = || Some(Link::to("/policy", "Policy"));
    let mut troubles = Vec::new();
    if let Some(Refusal { at, findings }) = &state.refused {
        let more = match findings.len().saturating_sub(1) {
            0 => String::new(),
            more => format!(" (and {})", count(more as u64, "further error")),
        };
        let first = findings.first().map(shown).unwrap_or_default();
        let sentence = format!(
            "The policy file was refused at {}, so the last good policy stays in force. Repair it, \
             and Beadle reads it again: {first}{more}.",
            time::second(*at)
        );
        troubles.push(Trouble { sentence, link: policy() });
    }
    for (destination, reason) in &state.troubles {
        let sentence = format!("Violations are not written to the {destination}: {reason}");
        troubles.push(Trouble { sentence, link: None });
    }
    for certificate in &state.certificates {
        if let Some(warning) = certificate.warning(now) {
            troubles.push(Trouble { sentence: format!("The {warning}."), link: None });
        }
    }
    for one in &state.not_renewed {
        let sentence = format!("The certificate {} is not renewed: {}.", one.file, one.reason);
        troubles.push(Trouble { sentence, link: None });
    }
    for alerts::ListTrouble { url, reason, .. } in &state.lists {
        let sentence = format!(
            "The list of crawlers at {} changes nothing, and the last good copy stays in use: {}.",
            shown(url),
            shown(reason)
        );
        troubles.push(Trouble { sentence, link: policy() });
    }
    for alerts::Unsent { to, answer, at } in handles.fellowship.alerts.troubles() {
        let sentence = format!(
            "The {} did not arrive at {}: {answer}. Correct the receiver, and try it by 'beadle alerts \
             test'.",
            shown(to),
            time::second(at)
        );
        let link = Some(Link::to("/#alerts", "Send a test event"));
        troubles.push(Trouble { sentence, link });
    }
    for trouble in &state.fronts {
        let sentence = format!("{trouble}. Likely, {}. {}.", trouble.cause(), trouble.repair());
        let link = Some(Link::to(link::robots(&trouble.site), "robots.txt"));
        troubles.push(Trouble { sentence, link });
    }
    if state.lost > 0 {
        let causes: Vec<_> = handles.sink.drops().iter().map(|drop| drop.cause).collect();
        let sentence = format!(
            "{} since the start were counted, but have no record. See the causes in the log: {}.",
            count(state.lost, "violation"),
            causes.join(", ")
        );
        troubles.push(Trouble { sentence, link: None });
    }
    troubles
}

fn of_evidence(verifier: &Verifier) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for sources in verifier.sources() {
        let Some((url, Failed { error, .. })) = sources.failing.first() else { continue };
        let sentence = format!(
            "{} of {} can't be fetched, so Beadle uses earlier copies where it has them. Let it \
             reach the Internet, or limit evidence.user_agents. For example {}: {}.",
            grouped(sources.failing.len() as u64),
            counted(sources.all, sources.evidence),
            shown(url),
            shown(error)
        );
        troubles.push(Trouble { sentence, link: Some(Link::to("/policy", "Policy")) });
    }
    troubles
}

fn of_origin(
    site: &enforce::Site,
    served: &ServedSite,
    (state, report): (&State, &OriginReport),
    now: Timestamp,
) -> Vec<Trouble> {
    let (name, origin) = (&site.name, served.backend.urls());
    let mut troubles = Vec::new();
    let mut add = |sentence, link| troubles.push(Trouble { sentence, link });
    let mut has_address = false;
    for server in &served.servers.all {
        let (host, addresses) = (&server.origin.host, &server.addresses);
        let failures = addresses.failures();
        if addresses.known().is_empty() {
            let sentence = format!(
                "{name}: the name {host} has no address, so requests get 503. Correct its DNS \
                 entry, or the site's 'origin'."
            );
            add(sentence, Some(Link::to("/policy", "Policy")));
            continue;
        }
        has_address = true;
        if failures > 0 {
            let sentence = format!(
                "{name}: the name {host} could not be looked up {} in a row, so Beadle uses its \
                 last addresses. Check the name servers of this machine.",
                count(failures as u64, "time")
            );
            add(sentence, None);
        }
        if server.is_down() && served.servers.are_several() {
            let origin = &server.origin;
            let sentence = format!(
                "{name}: {origin} is down, so the other origins get its requests. See whether the \
                 server runs there."
            );
            add(sentence, Some(Link::to("/#origins", "Origins")));
        }
    }
    let is_recent = |last: &Timestamp| has_address && now.duration_since(*last) < LATELY;
    if let Some(last) = served.last_origin_failure().filter(is_recent) {
        let sentence = format!(
            "{name}: {origin} did not answer a request at {}. See whether the server runs there.",
            time::second(last)
        );
        add(sentence, Some(Link::to("/#origins", "Origins")));
    }
    if let Some((_, reason)) = state.quarantined.iter().find(|(held, _)| held == name) {
        let sentence = format!(
            "{name}: the origin's new robots.txt is in quarantine, because {reason}. The one before \
             stays in force. Correct it, accept it, or discard it."
        );
        add(sentence, Some(Link::to(link::quarantine(name), "Compare and decide")));
    }
    if site.is_withheld {
        let sentence = format!(
            "{name}: the origin has not answered for its robots.txt, so crawlers get 503 for it and \
             no request is judged. See whether the server runs there."
        );
        add(sentence, Some(Link::to(link::robots(name), "robots.txt")));
    }
    let findings = report.findings.iter().chain(&site.finding);
    let errors = findings.filter(|one| one.severity == Severity::Error);
    for Diagnostic { message, .. } in errors {
        let sentence = format!("{name}: robots.txt of the origin: {}.", shown(message));
        add(sentence, Some(Link::to(link::robots(name), "robots.txt")));
    }
    if state.open_breakers.contains(name) {
        let sentence = format!(
            "{name}: the breaker is open, because Beadle refused unusually much. It refuses nothing \
             until the breaker closes. See whether the rules are right."
        );
        add(sentence, Some(Link::to(link::violations(&[("site", name)]), "Violations")));
    }
    troubles
}

fn policy(live: &Live, published: &Snapshot, state: &State) -> Vec<Fact> {
    let read = Timestamp::from_second(live.handles.metrics.policy_read());
    let read =
        read.ok().filter(|at| at.as_second() > 0).map_or_else(|| "-".to_owned(), time::second);
    let as_it_is = match &state.refused {
        None => fact("file on disk", "in force"),
        Some(refusal) => {
            fact("file on disk", format!("refused at {}", time::second(refusal.at))).bad_if(true)
        }
    };
    vec![
        fact("file", live.policy_file.display().to_string()),
        as_it_is,
        fact("last read without errors", read),
        fact("fingerprint", published.rulebook.fingerprint()),
        fact("sites", grouped(published.rulebook.sites().len() as u64)),
    ]
}

fn records(handles: &Handles) -> Vec<Fact> {
    let sink = &handles.sink;
    let mut facts: Vec<_> = sink
        .destinations()
        .into_iter()
        .map(|(name, health)| match health {
            Written::Ok => fact(name, "written"),
            Written::Degraded(_) => fact(name, "not written").bad_if(true),
        })
        .collect();
    let logs = handles.metrics.unwritten_logs().into_iter();
    facts.extend(logs.map(|(log, reason)| fact(log, reason).bad_if(true)));
    if facts.is_empty() {
        facts.push(fact("destination", "none: the policy keeps no records"));
    }
    let (counts, lost) = (sink.counts(), sink.lost());
    for (name, number) in [
        ("violations", counts.seen),
        ("stored", counts.stored),
        ("folded", counts.folded),
        ("dropped", counts.dropped),
        ("queued", counts.queued),
    ] {
        let is_bad = name == "dropped" && number > 0;
        facts.push(fact(name, grouped(number)).bad_if(is_bad));
    }
    if let Some(status) = sink.forwarded() {
        let mebibytes = status.bytes.div_ceil(1 << 20);
        let waiting = format!("{} violations, {mebibytes} MiB", grouped(status.waiting));
        facts.push(fact("in the spool", waiting));
        facts.push(fact("taken by ClickHouse", grouped(status.sent)));
        for (name, number) in
            [("refused by ClickHouse", status.refused), ("lost in the spool", status.lost)]
        {
            facts.extend((number > 0).then(|| fact(name, grouped(number)).bad_if(true)));
        }
    }
    let history = [lost.editions, lost.fetches, lost.hosts, lost.clock_leaps, lost.quarantine];
    let lost = history.iter().sum::<u64>() + sink.lost_requests();
    let lost = (lost > 0).then(|| fact("lost parts of the history", grouped(lost)).bad_if(true));
    facts.extend(lost);
    facts
}

/// A source of one kind of evidence, and several of them.
fn kind(evidence: &str) -> (&'static str, &'static str) {
    match evidence {
        one if one == Evidence::IpRange.as_str() => ("address list", "address lists"),
        _ => ("key directory", "key directories"),
    }
}

/// `1 key directory`, `2 key directories`.
fn counted(number: usize, evidence: &str) -> String {
    let (one, several) = kind(evidence);
    format!("{} {}", grouped(number as u64), if number == 1 { one } else { several })
}

fn evidence(verifier: &Verifier, handles: &Handles) -> Vec<Fact> {
    let mut facts: Vec<_> = verifier
        .sources()
        .into_iter()
        .map(|sources| {
            let failing = sources.failing.len();
            let without_copy = sources.failing.iter().filter(|(_, one)| !one.has_copy).count();
            let value = match (sources.all, failing, sources.is_fetching) {
                (0, ..) => "none".to_owned(),
                (all, 0, true) => format!("{all}, being fetched"),
                (all, 0, false) => format!("{all}, all fetched"),
                (all, failing, _) => {
                    format!(
                        "{failing} of {all} failed the last time, {without_copy} without a copy"
                    )
                }
            };
            fact(kind(sources.evidence).1, value).bad_if(failing > 0)
        })
        .collect();
    let lookups = handles.metrics.lookups();
    let lookups: Vec<_> = lookups
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(outcome, number)| format!("{} {outcome}", grouped(*number)))
        .collect();
    let names = match (verifier.looks_up_names(), lookups.is_empty()) {
        (false, _) => "not looked up: the policy switches it off".to_owned(),
        (true, true) => "none looked up yet".to_owned(),
        (true, false) => lookups.join(", "),
    };
    facts.push(fact("reverse DNS", names));
    facts
}

fn origin(site: &enforce::Site, served: &ServedSite, handles: &Handles, state: &State) -> Origin {
    let servers = served.servers.all.as_slice();
    let down = servers.iter().filter(|server| server.is_down()).count();
    let addresses: Vec<_> =
        servers.iter().flat_map(|server| server.addresses.known().to_vec()).collect();
    let address = match addresses.as_slice() {
        [] => "none".to_owned(),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    };
    let origin = match servers {
        several @ [_, _, ..] => {
            format!("{}; {} of {} up", served.backend.urls(), several.len() - down, several.len())
        }
        _ => served.backend.urls(),
    };
    let robots_txt = match (site.source, &site.origin_file) {
        (Source::Policy, _) => "of the policy",
        _ if state.quarantined.iter().any(|(held, _)| *held == site.name) => "in quarantine",
        _ if site.edition().is_provisional() => "not fetched yet",
        (Source::Merge, OriginFile::Unknown) => "not fetched yet",
        (Source::Merge, OriginFile::Absent) => "the origin has none",
        (Source::Origin | Source::Merge, _) => "fetched",
    };
    let breaker = match (state.open_breakers.contains(&site.name), site.enforcement.breaker) {
        (true, _) => "open",
        (false, Some(_)) => "closed",
        (false, None) => "off",
    };
    Origin {
        site: site.name.clone(),
        origin,
        address,
        failures: grouped(handles.metrics.origin_failures(&site.name).get()),
        last_failure: served.last_origin_failure().map_or_else(|| "-".to_owned(), time::second),
        robots_txt,
        breaker,
    }
}
