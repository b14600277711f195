//! What changes for the clients of two sites.

use std::{collections::HashMap, sync::Arc};

use crate::{
    formats::robots::{self, Access, Rule, Scope},
    rules::enforce::Treatment,
};

use super::{
    files::{is_pace, list, records_of_file, records_of_scope, without_lines},
    regions::{Region, access},
    row::{Comparison, Row, State, word},
    treatments::{Clients, Compared, Meaning, STAR, clients, is_token},
};

/// How many steps the exact searches of a site take together: about two seconds.
pub(super) const MOST_STEPS: usize = 100_000_000;

/// The regions of two groups. `None` if the search is too long.
type Regions<'a> = Option<Vec<Region<'a>>>;

/// Compares the rules of two sites for every client. `work` is how many steps the exact searches may
/// take.
pub(super) fn compare(
    site: &Arc<str>,
    (before, after): (&Compared<'_>, &Compared<'_>),
    work: &mut usize,
    comparison: &mut Comparison,
) {
    let mut regions: HashMap<[Option<Scope>; 2], Regions<'_>> = HashMap::new();
    let mut alike: Vec<(Vec<Row>, Vec<String>)> = Vec::new();
    // The clients that obey `*` on both sides, with the place of their changes.
    let mut of_star: Vec<(String, usize)> = Vec::new();
    let all = clients(before, after);
    // Without a group for `*`, it stands for the crawlers that no group binds.
    let has_star =
        all.first().is_some_and(|one| one.meanings.iter().any(|one| one.scope.is_some()));
    let is_of_star = |one: &Meaning| if has_star { one.is_star } else { one.scope.is_none() };
    for Clients { meanings, tokens } in all {
        let scopes = [meanings[0].scope, meanings[1].scope];
        let found = regions.entry(scopes).or_insert_with(|| {
            super::regions::regions(rules(before, scopes[0]), rules(after, scopes[1]), work)
        });
        let differing = found.clone().unwrap_or_else(|| {
            comparison.is_by_sample = true;
            sampled(before, after, scopes)
        });
        let mut rows: Vec<Row> =
            differing.iter().map(|region| of_region(site, region, &meanings)).collect();
        let changed = action(site, (before, after), &meanings, work);
        rows.extend(changed.or_else(|| mode(site, &differing, &meanings)));
        rows.extend(pace(site, &meanings));
        rows.extend(records_row(site, (before, after), &meanings));
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
        if rows.is_empty() {
            continue;
        }
        let (tokens, except) = folded(tokens, place, &of_star);
        for row in rows {
            let (product_tokens, except) = (Arc::clone(&tokens), Arc::clone(&except));
            comparison.add(Row { product_tokens, except, ..row });
        }
    }
    let (old, new) =
        (records_of_file(before.edition.file()), records_of_file(after.edition.file()));
    if old != new {
        let row = Row::setting(Some(site), "records", list(&old, &new), list(&new, &old));
        comparison.add(row);
    }
}

/// The tokens of a row. If `*` is among them, it stands for all crawlers that obey `*`, and those that
/// change otherwise are exceptions.
fn folded(
    tokens: Vec<String>,
    place: usize,
    of_star: &[(String, usize)],
) -> (Arc<[String]>, Arc<[String]>) {
    let obeys = |token: &String| of_star.iter().any(|(other, _)| other == token);
    if !tokens.iter().any(|token| token == STAR) || !obeys(&STAR.to_owned()) {
        return (tokens.into(), Arc::default());
    }
    let kept =
        tokens.into_iter().filter(|token| token == STAR || !is_token(token) || !obeys(token));
    let except = of_star.iter().filter(|(token, other)| *other != place && is_token(token));
    let except: Vec<String> = except.map(|(token, _)| token.clone()).collect();
    (kept.collect(), except.into())
}

fn rules<'a>(side: &'a Compared<'_>, scope: Option<Scope>) -> impl Iterator<Item = &'a Rule> {
    scope.into_iter().flat_map(|scope| side.edition.matcher().rules(scope))
}

/// The differences that sample paths show, for two files of one group each.
fn sampled<'a>(
    before: &'a Compared<'_>,
    after: &'a Compared<'_>,
    scopes: [Option<Scope>; 2],
) -> Vec<Region<'a>> {
    let matchers = [before.edition.matcher(), after.edition.matcher()];
    super::difference::samples(rules(before, scopes[0]), rules(after, scopes[1]), |side, target| {
        let matcher = matchers.get(usize::from(side))?;
        let scope = (*scopes.get(usize::from(side))?)?;
        matcher.verdict_letter(scope, target).rule
    })
}

fn of_region(site: &Arc<str>, region: &Region<'_>, meanings: &[Meaning; 2]) -> Row {
    let state = |rule: Option<&Rule>, meaning: &Meaning| {
        State::verdict(access(rule), rule, Some(&meaning.action))
    };
    let [old, new] = meanings;
    Row {
        path: Some(region.pattern().to_owned()),
        example: Some(region.path.clone()),
        ..Row::setting(
            Some(site),
            word(access(region.after)),
            state(region.before, old),
            state(region.after, new),
        )
    }
}

/// The change of what happens to a request that both sides disallow. Where the rules of the origin
/// are not known, any request may be one.
fn action(
    site: &Arc<str>,
    (before, after): (&Compared<'_>, &Compared<'_>),
    meanings: &[Meaning; 2],
    work: &mut usize,
) -> Option<Row> {
    let [old, new] = meanings;
    if old.action == new.action {
        return None;
    }
    let is_unknown = before.edition.is_provisional() || after.edition.is_provisional();
    let all = (rules(before, old.scope), rules(after, new.scope));
    if !is_unknown && super::regions::both_disallow(all.0, all.1, work) == Some(false) {
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
fn mode(site: &Arc<str>, rules: &[Region<'_>], meanings: &[Meaning; 2]) -> Option<Row> {
    let [old, new] = meanings.each_ref().map(|meaning| meaning.action.clone());
    let is_shown = rules.iter().any(|region| access(region.after) == Access::Disallow);
    let row = |(old, new)| Row::setting(Some(site), "mode", State::of(old), State::of(new));
    (old != new && !is_shown).then_some((old, new)).map(row)
}

fn pace(site: &Arc<str>, meanings: &[Meaning; 2]) -> Option<Row> {
    let [old, new] = meanings;
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
fn records_row(
    site: &Arc<str>,
    sides: (&Compared<'_>, &Compared<'_>),
    meanings: &[Meaning; 2],
) -> Option<Row> {
    let of = |side: &Compared<'_>, meaning: &Meaning| {
        let (file, matcher) = (side.edition.file(), side.edition.matcher());
        let counts = |record: &robots::Record| !(meaning.keeps_paces && is_pace(record));
        let scope = meaning.scope;
        scope.map(|scope| records_of_scope(file, matcher, scope, counts)).unwrap_or_default()
    };
    let (old, new) = (of(sides.0, &meanings[0]), of(sides.1, &meanings[1]));
    (old != new).then(|| Row::setting(Some(site), "records", list(&old, &new), list(&new, &old)))
}
