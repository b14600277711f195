//! The periods of editions in force in a fleet: from the first node that served one until the last that
//! stopped. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::base::text::Text;

/// The moment at which a node began to serve an edition of a site.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Start {
    pub(super) site: Text,
    pub(super) edition: Text,
    pub(super) source: Text,
    pub(super) from_: i64,
    pub(super) node: String,
}

/// A time in which an edition of a site was in force on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) site: Text,
    pub(super) edition: Text,
    pub(super) source: Text,
    pub(super) from: i64,
    /// `None` while it is in force.
    pub(super) until: Option<i64>,
}

/// The periods of a fleet in the order of their start. The starts of each node are in the order in
/// which it published.
pub(super) fn periods(starts: Vec<Start>) -> Vec<Period> {
    let mut nodes: BTreeMap<(String, String), Vec<Period>> = BTreeMap::new();
    for Start { site, edition, source, from_, node } in starts {
        let periods = nodes.entry((site.to_ascii_lowercase(), node)).or_default();
        let mut from = from_;
        if let Some(last) = periods.last_mut() {
            // A start of the program publishes the edition in force once more.
            if last.edition == edition {
                continue;
            }
            // A clock that went back must not end a period before its start.
            from = from.max(last.from);
            last.until = Some(from);
        }
        periods.push(Period { site, edition, source, from, until: None });
    }
    let mut by_edition: BTreeMap<(String, Text), Vec<Period>> = BTreeMap::new();
    for ((site, _), periods) in nodes {
        for period in periods {
            by_edition.entry((site.clone(), period.edition.clone())).or_default().push(period);
        }
    }
    let mut all: Vec<_> = by_edition.into_values().flat_map(joined).collect();
    all.sort_by(|one, other| {
        let key = |period: &Period| (period.from, period.until.unwrap_or(i64::MAX));
        key(one).cmp(&key(other))
    });
    all
}

/// Joins the periods of one edition that overlap or touch.
fn joined(mut periods: Vec<Period>) -> Vec<Period> {
    periods.sort_by_key(|period| period.from);
    let mut joined: Vec<Period> = Vec::new();
    for period in periods {
        match joined.last_mut() {
            Some(last) if last.until.is_none_or(|until| period.from <= until) => {
                last.until = last.until.zip(period.until).map(|(one, other)| one.max(other));
            }
            _ => joined.push(period),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (i64, &'static str, &'static str);
    type Period = (&'static str, i64, Option<i64>);

    #[test]
    fn an_edition_is_in_force_from_the_first_node_until_the_last() {
        let cases: [(&[Row], &[Period]); 7] = [
            (&[], &[]),
            (&[(1, "a", "x")], &[("x", 1, None)]),
            // A start publishes again what is in force.
            (&[(1, "a", "x"), (5, "a", "x"), (9, "a", "y")], &[("x", 1, Some(9)), ("y", 9, None)]),
            // The nodes change one after the other.
            (
                &[(1, "a", "x"), (9, "a", "y"), (2, "b", "x"), (12, "b", "y")],
                &[("x", 1, Some(12)), ("y", 9, None)],
            ),
            // What was replaced and published again was in force twice.
            (
                &[(1, "a", "x"), (5, "a", "y"), (9, "a", "x")],
                &[("x", 1, Some(5)), ("y", 5, Some(9)), ("x", 9, None)],
            ),
            // The other node served it all the time.
            (
                &[(1, "a", "x"), (5, "a", "y"), (9, "a", "x"), (2, "b", "x")],
                &[("x", 1, None), ("y", 5, Some(9))],
            ),
            // The clock went back.
            (&[(9, "a", "x"), (5, "a", "y")], &[("x", 9, Some(9)), ("y", 9, None)]),
        ];
        for (rows, expected) in cases {
            let start = |&(from_, node, edition): &Row| Start {
                site: Text::word("a.example"),
                edition: Text::word(edition),
                source: Text::word("origin"),
                from_,
                node: node.to_owned(),
            };
            let found = periods(rows.iter().map(start).collect());
            let found: Vec<_> =
                found.iter().map(|one| (one.edition.as_str(), one.from, one.until)).collect();
            assert_eq!(found, expected, "{rows:?}");
        }
    }
}
