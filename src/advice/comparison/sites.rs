//! Two policies: which of their sites belong together, by host, and what changes for the clients of each.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    difference::samples,
    files::{is_pace, records, records_of_file, records_of_scope, without_lines},
    regions::{Region, access, both_disallow, regions},
    row::{Comparison, Row, State, word},
    settings,
    treatments::{Clients, Compared, Meaning, STAR, clients, is_token},
};
use crate::{
    formats::robots::{self, Access, OriginFile, Rule, Scope},
    rules::{
        enforce::{Edition, Rulebook, Site, Treatment, publish_limits},
        policy::{Host, Policy, Source},
    },
};

/// One of two policies, compiled.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its rulebook.
    pub rulebook: &'a Rulebook,
}

/// What changes from one policy to the other, for the hosts that either serves.
///
/// Sites, rules, actions, paces, tags and the settings of sites are compared. `server`,
/// `violations`, `evidence` and `alerts` are not.
pub fn policies(before: Side<'_>, after: Side<'_>) -> Comparison {
    compare(before, after, None)
}

/// As [`policies`], with no more steps than this for the exact searches of all sites together.
/// Beyond them, rules are compared by samples.
pub fn policies_within(before: Side<'_>, after: Side<'_>, steps: usize) -> Comparison {
    compare(before, after, Some(steps))
}

fn compare(before: Side<'_>, after: Side<'_>, mut shared: Option<usize>) -> Comparison {
    let mut comparison = Comparison::default();
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (host, probe) in hosts(before.policy, after.policy) {
        let find = |side: &Side<'_>| side.rulebook.site(probe.as_deref()).map(|(number, _)| number);
        let name = |side: &Side<'_>, number: Option<usize>| {
            let site = number.and_then(|number| side.rulebook.sites().get(number));
            site.map_or(State::None, |site| State::Value(site.name.clone()))
        };
        let (old, new) = (find(&before), find(&after));
        let (from, to) = (name(&before, old), name(&after, new));
        if from != to {
            comparison.add(Row::setting(Some(&Arc::from(host.as_str())), "host", from, to));
        }
        if let (Some(old), Some(new)) = (old, new) {
            pairs.entry((new, old)).or_default().push(host);
        }
    }
    for (&(new, old), hosts) in &pairs {
        let sides = (compared(before, old), compared(after, new));
        let (Some(old), Some(new_site)) = sides else { continue };
        let is_only = pairs.keys().filter(|(other, _)| *other == new).count() == 1;
        let name = match (is_only, hosts.first()) {
            (false, Some(host)) => host.as_str(),
            _ => new_site.site.name.as_str(),
        };
        let name: Arc<str> = Arc::from(name);
        remark(&name, &old, &new_site, &mut comparison);
        let mut work = shared.unwrap_or(MOST_STEPS);
        compare_clients(&name, [&old, &new_site], &mut work, &mut comparison);
        shared = shared.map(|_| work);
        settings::compare_tags(&name, old.section, new_site.section, &mut comparison);
        settings::compare(&name, old.section, new_site.section, &mut comparison);
    }
    comparison
}

/// The hosts of both policies, each with a host that asks for its site; last any other host.
fn hosts(before: &Policy, after: &Policy) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    let hosts = before.sites.iter().chain(&after.sites).flat_map(|site| &site.hosts);
    for host in hosts {
        let one = match host {
            Host::Exact(host) => (host.clone(), Some(host.clone())),
            Host::Below(suffix) => (format!("*{suffix}"), Some(format!("any-other{suffix}"))),
        };
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.push(("any other host".to_owned(), None));
    all
}

fn compared(side: Side<'_>, number: usize) -> Option<Compared<'_>> {
    let site = side.rulebook.sites().get(number)?;
    let section = side.policy.sites.get(number)?;
    let Side { policy, rulebook } = side;
    let edition = match is_merged_with_unknown(site) {
        true => {
            let arranged = robots::arrange(&section.robots_txt.file);
            let own = publish_limits(arranged, &section.enforcement, rulebook.catalogue());
            Edition::of_bytes(own.file.to_string().into())
        }
        false => {
            let own = site.edition();
            let copy = Edition::of_bytes(own.bytes().clone());
            if own.is_provisional() { copy.provisional() } else { copy }
        }
    };
    let edition = Arc::new(edition);
    Some(Compared { policy, site, section, catalogue: rulebook.catalogue(), edition })
}

fn is_merged_with_unknown(site: &Site) -> bool {
    site.source == Source::Merge && site.origin_file == OriginFile::Unknown
}

fn remark(name: &str, old: &Compared<'_>, new: &Compared<'_>, comparison: &mut Comparison) {
    let sides = [old, new];
    if sides.iter().any(|side| is_merged_with_unknown(side.site)) {
        comparison.remarks.push(format!(
            "{name}: the robots.txt of the origin is not known here; the policy's own rules are compared"
        ));
    } else if sides.iter().any(|side| side.edition.is_provisional()) {
        comparison.remarks.push(format!(
            "{name}: the robots.txt of the origin is not known here; its rules are not compared"
        ));
    }
}

/// How many steps the exact searches of a site take together: about two seconds.
pub(super) const MOST_STEPS: usize = 100_000_000;

type Sides<'a> = [&'a Compared<'a>; 2];

/// Compares the rules of two sites for every client. `work` is how many steps the exact searches may
/// take.
fn compare_clients(
    site: &Arc<str>,
    sides: Sides<'_>,
    work: &mut usize,
    comparison: &mut Comparison,
) {
    let mut found: HashMap<[Option<Scope>; 2], Option<Vec<Region<'_>>>> = HashMap::new();
    let mut alike: Vec<(Vec<Row>, Vec<String>)> = Vec::new();
    // The clients that obey `*` on both sides, with the place of their changes.
    let mut of_star: Vec<(String, usize)> = Vec::new();
    let all = clients(sides);
    // Without a group for `*`, it stands for the crawlers that no group binds.
    let has_star =
        all.first().is_some_and(|one| one.meanings.iter().any(|one| one.scope.is_some()));
    let is_of_star = |one: &Meaning| if has_star { one.is_star } else { one.scope.is_none() };
    for Clients { meanings, tokens } in all {
        let scopes = [meanings[0].scope, meanings[1].scope];
        let found = found.entry(scopes).or_insert_with(|| regions(rules(sides, scopes), work));
        let differing = found.clone().unwrap_or_else(|| {
            comparison.is_by_sample = true;
            // For two files of one group each.
            samples(&rules(sides, scopes), |side, target| {
                let matcher = sides.get(side)?.edition.matcher();
                matcher.verdict_letter((*scopes.get(side)?)?, target).rule
            })
        });
        let mut rows: Vec<Row> =
            differing.iter().map(|region| of_region(site, region, &meanings)).collect();
        let changed = action(site, sides, &meanings, work);
        rows.extend(changed.or_else(|| mode(site, &differing, &meanings)));
        rows.extend(pace(site, &meanings));
        rows.extend(other_records(site, sides, &meanings));
        let keys: Vec<Row> = rows.iter().map(without_lines).collect();
        let is_same = |(other, _): &(Vec<Row>, Vec<String>)| {
            other.len() == keys.len() && other.iter().map(without_lines).eq(keys.iter().cloned())
        };
        let place = alike.iter().position(is_same).unwrap_or_else(|| {
            alike.push((rows, Vec::new()));
            alike.len() - 1
        });
        if meanings.iter().all(is_of_star) {
            of_star.extend(tokens.iter().map(|token| (token.clone(), place)));
        }
        if let Some((_, all)) = alike.get_mut(place) {
            all.extend(tokens);
        }
    }
    for (place, (rows, tokens)) in alike.into_iter().enumerate() {
        let [tokens, except] = folded(tokens, place, &of_star);
        for row in rows {
            let (product_tokens, except) = (Arc::clone(&tokens), Arc::clone(&except));
            comparison.add(Row { product_tokens, except, ..row });
        }
    }
    let of_file = sides.map(|side| records_of_file(side.edition.file()));
    records(Some(site), &of_file).into_iter().for_each(|row| comparison.add(row));
}

/// The tokens of a row, and the exceptions. If `*` is among them, it stands for all crawlers that obey `*`,
/// and those that change otherwise are exceptions.
fn folded(tokens: Vec<String>, place: usize, of_star: &[(String, usize)]) -> [Arc<[String]>; 2] {
    let obeys = |token: &String| of_star.iter().any(|(other, _)| other == token);
    if !tokens.iter().any(|token| token == STAR) || !obeys(&STAR.to_owned()) {
        return [tokens.into(), Arc::default()];
    }
    let kept =
        tokens.into_iter().filter(|token| token == STAR || !is_token(token) || !obeys(token));
    let except = of_star.iter().filter(|(token, other)| *other != place && is_token(token));
    [kept.collect(), except.map(|(token, _)| token.clone()).collect()]
}

fn rules<'a>(sides: Sides<'a>, scopes: [Option<Scope>; 2]) -> [Vec<&'a Rule>; 2] {
    [0, 1].map(|side| {
        let rules = |scope| sides[side].edition.matcher().rules(scope).collect();
        scopes[side].map(rules).unwrap_or_default()
    })
}

fn of_region(site: &Arc<str>, region: &Region<'_>, [old, new]: &[Meaning; 2]) -> Row {
    let state = |rule: Option<&Rule>, meaning: &Meaning| {
        State::verdict(access(rule), rule, Some(&meaning.action))
    };
    let (before, after) = (state(region.before, old), state(region.after, new));
    Row {
        path: Some(region.pattern().to_owned()),
        example: Some(region.path.clone()),
        ..Row::setting(Some(site), word(access(region.after)), before, after)
    }
}

/// The change of what happens to a request that both sides disallow. Where the rules of the origin
/// are not known, any request may be one.
fn action(
    site: &Arc<str>,
    sides: Sides<'_>,
    [old, new]: &[Meaning; 2],
    work: &mut usize,
) -> Option<Row> {
    if old.action == new.action {
        return None;
    }
    let is_unknown = sides.iter().any(|side| side.edition.is_provisional());
    let rules = || rules(sides, [old.scope, new.scope]);
    if !is_unknown && both_disallow(rules(), work) == Some(false) {
        return None;
    }
    let what = match new.strictest {
        Treatment::Pass => "not judged",
        Treatment::Log => "logged",
        Treatment::Throttle => "throttled",
        Treatment::Ladder => "on the ladder",
        Treatment::Block => "blocked",
    };
    let value = |meaning: &Meaning| State::of(meaning.action.clone());
    let row = Row::setting(Some(site), what, value(old), value(new));
    Some(Row { path: Some("*".to_owned()), ..row })
}

/// The change of what would happen to a request that the rules disallow, where no other row has it.
fn mode(site: &Arc<str>, rules: &[Region<'_>], [old, new]: &[Meaning; 2]) -> Option<Row> {
    let is_shown = rules.iter().any(|region| access(region.after) == Access::Disallow);
    let value = |meaning: &Meaning| State::of(meaning.action.clone());
    let row = || Row::setting(Some(site), "mode", value(old), value(new));
    (old.action != new.action && !is_shown).then(row)
}

fn pace(site: &Arc<str>, [old, new]: &[Meaning; 2]) -> Option<Row> {
    let text = |meaning: &Meaning| {
        let is_all_day = meaning.paces.len() == 1 && meaning.paces.iter().all(|(at, _)| *at == 0);
        let each = meaning.paces.iter().map(|(minute, pace)| match is_all_day {
            true => pace.clone(),
            false => {
                let pace = if pace.is_empty() { "none" } else { pace };
                format!("from {:02}:{:02} UTC {pace}", minute / 60, minute % 60)
            }
        });
        State::of(each.collect::<Vec<_>>().join("; "))
    };
    (old.paces != new.paces).then(|| Row {
        path: Some("*".to_owned()),
        ..Row::setting(Some(site), "paced", text(old), text(new))
    })
}

/// The change of the other records in the groups. A pace that the crawler keeps is told apart.
fn other_records(site: &Arc<str>, sides: Sides<'_>, meanings: &[Meaning; 2]) -> Option<Row> {
    let of = |side: usize| {
        let (edition, meaning) = (&sides[side].edition, &meanings[side]);
        let counts = |record: &robots::Record| !(meaning.keeps_paces && is_pace(record));
        let of_scope = |scope| records_of_scope(edition.file(), edition.matcher(), scope, counts);
        meaning.scope.map(of_scope).unwrap_or_default()
    };
    records(Some(site), &[0, 1].map(of))
}
