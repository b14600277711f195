//! The scorecard of one crawler: the rules it broke, where it broke them, and the evidence bundle for its
//! operator.

use std::path::Path as File;

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    chart::OverTime,
    conditions::{Asked, Days, OfSite, condition},
    crawlers::{Choice, choices},
    frame::{Answer, Frame, ask, live, notice},
    link::{self, Link},
    sheet::{Fact, Part, fact},
    words::{self, exact},
};
use crate::{
    desk::admin::{View, html},
    records::{
        counts::{Counted, Dimension, Place, Question},
        record::{Error, Violation},
        tally::{Claimant, PlaceKind},
        violations::Store,
    },
    review::report::{
        Cell,
        bundle::{Wanted, file_name, gather, pack},
        review::{RULES_BY, rules},
        score::{Score, document},
        terms::{Names, Refusal},
    },
    rules::{crawlers::Crawler, enforce::Rulebook},
    state::publication::read_policy,
};

const NO_CRAWLER: &str = "No such crawler";

const ROWS: usize = 20;

#[derive(Template)]
#[template(path = "crawler.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    name: String,
    lead: Vec<String>,
    /// The page with this span and site.
    path: String,
    spans: Vec<Link>,
    days: String,
    sites: Vec<Choice>,
    figures: Option<Part>,
    over_time: Option<OverTime>,
    faults: Vec<String>,
    parts: Vec<Part>,
    violations: String,
    /// The violations by its impostors; empty for none.
    impostors: String,
    facts: Vec<Fact>,
    /// What the operator may choose for it, at which sites; empty for clients without a name.
    act_at: Vec<Choice>,
    /// The address of the evidence bundle, and the command that makes it. `None` without a named
    /// crawler, or without a violation.
    bundle: Option<(String, String)>,
}

pub(super) async fn page(
    State(view): State<View>,
    token: Result<Path<String>, PathRejection>,
    Asked(wanted, faults): Asked<OfSite>,
) -> Answer {
    let published = live(&view)?.handles.published.load_full();
    // A name that is no text is the name of nobody.
    let token = token.map(|Path(token)| token).unwrap_or_default();
    let of = view.clone();
    let answer = ask(&view, move |store| {
        let token = match token.as_str() {
            // Counts have no name for clients without one.
            Violation::NAMELESS => String::new(),
            token => match Names::from(&*published.rulebook).counted_token(store, token) {
                Ok(known) => known,
                Err(Refusal::Term(why)) => {
                    let why = words::sentence(&why);
                    return Ok(notice(&of, StatusCode::NOT_FOUND, NO_CRAWLER, &why));
                }
                Err(Refusal::Store(error)) => return Err(error),
            },
        };
        let page = scorecard(&of, store, &published.rulebook, token, &wanted, faults)?;
        Ok(html(&page))
    });
    answer.await
}

fn scorecard(
    view: &View,
    store: &Store,
    rulebook: &Rulebook,
    token: String,
    wanted: &OfSite,
    mut faults: Vec<String>,
) -> Result<Page, Error> {
    let days = Days::wanted(&wanted.days, &mut faults);
    let span = days.until((view.now)());
    let (named, unknown) = words::known_site(store, rulebook, condition(&wanted.site))?;
    faults.extend(unknown);
    let question = Question {
        site: named.clone(),
        product_token: Some(token.clone()),
        claimant: Some(Claimant::Crawler),
        ..span.question()
    };
    let counted = |by: &[Dimension], only_violations| {
        store.counted(&Question { by: by.to_vec(), only_violations, ..question.clone() })
    };
    let times = counted(&[span.period(), Dimension::Action, Dimension::Reason], false)?;
    let rules = counted(&RULES_BY, true)?;
    let paths = store.places(PlaceKind::Path, &question, ROWS)?;
    let networks = store.places(PlaceKind::Network, &question, ROWS)?;
    let facts = rulebook.catalogue().find(&token).map(facts).unwrap_or_default();
    let score = Score::of(store, rulebook.catalogue(), span, named, token)?;
    let (token, site) = (score.product_token.as_str(), wanted.site.as_str());
    let has_name = !token.is_empty();
    let recorded = if has_name { token } else { Violation::NAMELESS };
    let (document, since) = (document(&score), exact(score.span.from));
    let places = places((&rules, &paths, &networks), recorded, site, &since);
    let sites = || rulebook.sites().iter().map(|site| site.name.as_str());
    let act_at = choices(sites().filter(|_| has_name), site, "").into_iter();
    let has_requests = score.now.all.requests > 0;
    let mut sections = document.sections.into_iter();
    let figures = sections.next().filter(|_| has_requests).map(Part::of);
    // The chart says what the section about times says.
    let rest = sections.skip(usize::from(has_requests));
    let list = |conditions: &[(&str, &str)]| {
        let of_crawler = [("crawler", recorded), ("site", site)];
        link::violations(&own(&[&of_crawler, conditions].concat()))
    };
    Ok(Page {
        frame: Frame::new(view, "/crawlers"),
        name: if has_name { token.to_owned() } else { "Clients without a name".to_owned() },
        lead: document.lead,
        path: link::crawler(token, &[]),
        spans: days.links(|days| link::crawler(token, &[("days", days), ("site", site)])),
        days: days.condition(),
        sites: choices(sites(), site, "all sites"),
        act_at: act_at.filter(|one| !one.value.is_empty()).collect(),
        figures,
        over_time: has_requests.then(|| {
            OverTime::of(&score.axis, &times, &[], |since, until| {
                list(&[("since", since), ("until", until)])
            })
        }),
        parts: rest.map(Part::of).chain(places).collect(),
        faults,
        violations: list(&[("since", &since)]),
        impostors: match score.impostors.violations {
            0 => String::new(),
            _ => link::impostors(recorded, site, &since),
        },
        facts,
        bundle: (has_name && score.now.all.violations > 0).then(|| bundle(view, token, days, site)),
    })
}

fn bundle(view: &View, token: &str, days: Days, site: &str) -> (String, String) {
    let condition = days.condition();
    let conditions = [("days", condition.as_str()), ("site", site)];
    let mut command =
        format!("beadle report --evidence {} --since {}d", quoted(token), days.number());
    if !site.is_empty() {
        command.push_str(&format!(" --site {}", quoted(site)));
    }
    if let Some(live) = view.live.get() {
        let file = quoted(&live.policy_file.display().to_string());
        command.push_str(&format!(" --config {file}"));
    }
    (link::below_crawler(token, "/evidence.zip", &conditions), command)
}

fn places(
    (broken, paths, networks): (&[Counted], &[Place], &[Place]),
    token: &str,
    site: &str,
    since: &str,
) -> Vec<Part> {
    let place = |one: &Place, link: String| -> (String, [Cell; 2]) {
        let name = match one.key.as_str() {
            "…" => "others",
            key => key,
        };
        (link, [Cell::code(name), one.violations.into()])
    };
    let with = |site: &str, condition: (&'static str, &str)| {
        let conditions = [("crawler", token), ("site", site), condition, ("since", since)];
        link::violations(&own(&conditions))
    };
    let rules = rules(broken, &[]).into_iter().take(ROWS).map(|row| -> (_, [Cell; 2]) {
        let text = row.text();
        let link = with(&row.site, ("rule", &text));
        let name = if site.is_empty() { format!("{text} ({})", row.site) } else { text };
        (link, [Cell::Code(name), row.now.violations.into()])
    });
    let paths = paths.iter().map(|one| {
        let link = match one.key.as_str() {
            "…" => String::new(),
            path => with(site, ("exact_path", path)),
        };
        place(one, link)
    });
    let networks = networks.iter().map(|one| place(one, String::new()));
    let parts: [(_, _, Vec<_>); 3] = [
        ("Rules broken", "rule", rules.collect()),
        ("Paths", "path", paths.collect()),
        ("Networks", "network", networks.collect()),
    ];
    let parts = parts.into_iter().filter(|(.., rows)| !rows.is_empty());
    let part = |(heading, column, rows): (_, _, Vec<_>)| {
        Part::of_rows(heading, [column, "violations"], ROWS, rows.into_iter(), "")
    };
    parts.map(part).collect()
}

fn own<'a>(conditions: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let [without, _] = Claimant::WORDS;
    [conditions, &[("impostors", without)]].concat()
}

fn facts(entry: &Crawler) -> Vec<Fact> {
    let fact = |name, value: &str| Fact { link: target(value), ..fact(name, value) };
    let groups: Vec<_> = entry.groups().map(|name| name.as_str()).collect();
    let mut facts = vec![
        fact("operator", entry.operator().unwrap_or("unknown")),
        fact("purpose", entry.purpose().as_str()),
        fact("contact", entry.entry.contact.as_deref().unwrap_or("none published")),
        fact("described at", entry.entry.documentation.as_deref().unwrap_or("none known")),
        fact("groups in robots.txt", &groups.join(", ")),
    ];
    facts.extend(entry.list_in_words().map(|list| fact("from", &list)));
    let evidence = [
        (!entry.entry.ip_ranges.is_empty()).then_some("addresses"),
        (!entry.entry.reverse_dns.is_empty()).then_some("reverse DNS"),
        entry.entry.signature_agent.as_ref().map(|_| "signatures"),
    ];
    let evidence: Vec<_> = evidence.into_iter().flatten().collect();
    let none = "none, so its name can't be checked".to_owned();
    let evidence = if evidence.is_empty() { none } else { evidence.join(", ") };
    facts.push(fact("published evidence", &evidence));
    facts
}

/// Where a link to a contact or a page leads; empty for anything else.
fn target(value: &str) -> String {
    let is_mail = value.contains('@') && !value.contains([' ', ':', '/', '?']);
    match value {
        url if url.starts_with("https://") || url.starts_with("http://") => url.to_owned(),
        mail if is_mail => format!("mailto:{mail}"),
        _ => String::new(),
    }
}

/// A word of a command line. Whatever is no plain word is quoted.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+/".contains(c);
    let rest = |c: char| is_plain(c) || c == '-';
    if word.starts_with(is_plain) && word.chars().all(rest) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) async fn download(
    State(view): State<View>,
    token: Result<Path<String>, PathRejection>,
    Asked(wanted, mut faults): Asked<OfSite>,
) -> Answer {
    let live = live(&view)?;
    let token = token.map(|Path(token)| token).unwrap_or_default();
    let file = live.policy_file.clone();
    let days = Days::wanted(&wanted.days, &mut faults);
    // No bundle of another span than the one that was meant goes to an operator.
    if !faults.is_empty() {
        return Ok(notice(&view, StatusCode::BAD_REQUEST, "No bundle", &faults.join(" ")));
    }
    let (of, site) = (view.clone(), condition(&wanted.site));
    ask(&view, move |store| packed(&of, store, &file, &token, site.as_deref(), days)).await
}

/// The zip, or why there is none.
fn packed(
    view: &View,
    store: &Store,
    file: &File,
    token: &str,
    site: Option<&str>,
    days: Days,
) -> Result<Response, Error> {
    let refused = |status, title, text: &str| Ok(notice(view, status, title, text));
    let no_policy = |why: String| {
        let text = format!("The bundle needs the settings of the policy file. {why}");
        refused(StatusCode::SERVICE_UNAVAILABLE, "The policy file can't be used", &text)
    };
    let unknown = |title, why: &str| refused(StatusCode::NOT_FOUND, title, &words::sentence(why));
    // The rules in force have no form to judge records by; the file has.
    let read = match read_policy(file) {
        Ok(read) => read,
        Err(error) => return no_policy(format!("{}: {error}.", file.display())),
    };
    let Some(policy) = read.policy else {
        return no_policy(format!("Repair {}.", file.display()));
    };
    if token == Violation::NAMELESS {
        let why = "clients without a name have no operator to send evidence to (name a crawler)";
        return unknown(NO_CRAWLER, why);
    }
    let names = Names::from(&policy);
    let token = names.product_token(store, token).map_err(|refusal| (NO_CRAWLER, refusal));
    let site = || site.map(|site| names.site(store, site)).transpose();
    let named = token.and_then(|token| Ok((token, site().map_err(|why| ("No such site", why))?)));
    let (product_token, site) = match named {
        Ok(named) => named,
        Err((title, Refusal::Term(why))) => return unknown(title, &why),
        Err((_, Refusal::Store(error))) => return Err(error),
    };
    let now = (view.now)();
    let span = days.until(now);
    let wanted = Wanted {
        product_token: &product_token,
        site: site.as_deref(),
        claimant: Claimant::Crawler,
        since: span.from,
        until: span.until,
        made: now,
    };
    let Some(made) = gather(store, &policy, &wanted)? else {
        let text = "No violation of this crawler is recorded in this time, so there is nothing to \
                    prove. Choose a longer span.";
        return refused(StatusCode::NOT_FOUND, "No violations", text);
    };
    let name = format!("attachment; filename=\"{}\"", file_name(&product_token));
    let kind = "application/zip".to_owned();
    let fields = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)];
    Ok((fields, pack(&made.files)).into_response())
}
