//! Requests over time by action: a chart, and the same numbers as a table.

use crate::{
    records::{counts::Counted, record::PolicyEntry, tally},
    review::report::{Axis, number::grouped},
    rules::enforce::{Action, Reason},
};

use super::{
    chart::{self, Bar},
    time::{exact, second},
};

pub(super) struct OverTime {
    pub(super) chart: String,
    /// The length of a bar.
    pub(super) period: String,
    pub(super) parts: Vec<Part>,
    /// Whether the first counts came later than the chart begins.
    pub(super) has_uncounted: bool,
    /// Whether a bar at an end has only a part of its period.
    pub(super) has_partial: bool,
    /// Whether a bar has a mark for another policy.
    pub(super) has_policies: bool,
    /// The numbers of each bar, with its link and its name; `None` before the first counts.
    pub(super) rows: Vec<(String, String, Option<Vec<String>>)>,
}

#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    /// The action, or the reason of a limit.
    code: &'static str,
}

/// From the bottom to the top. Requests that pass come last: they are the most.
const PARTS: [Part; 5] = [
    Part { class: "log", name: "logged", code: Action::Log.as_str() },
    Part { class: "throttle", name: "throttled", code: Action::Throttle.as_str() },
    Part { class: "block", name: "blocked", code: Action::Block.as_str() },
    Part { class: "limited", name: "limited", code: Reason::Limit.as_str() },
    Part { class: "pass", name: "passed", code: Action::Pass.as_str() },
];

impl OverTime {
    /// Counts by time, action and reason. An action that never occurred is no part. `link` makes an
    /// address from the start and the end of a bar. The bars are marked in which one of `policies`, the newest
    /// first, came into force with other bytes.
    pub(super) fn of(
        axis: &Axis,
        counted: &[Counted],
        policies: &[PolicyEntry],
        link: impl Fn(&str, &str) -> String,
    ) -> Self {
        let mut numbers = vec![[0; PARTS.len()]; axis.count()];
        for one in counted {
            let [time, action, _] = one.key.as_slice() else { continue };
            let code = if is_limited(one) { Reason::Limit.as_str() } else { action.as_str() };
            let bar = time.parse().ok().and_then(|time| numbers.get_mut(axis.bar(time)?));
            let part = PARTS.iter().position(|part| part.code == code);
            if let (Some(bar), Some(part)) = (bar, part) {
                bar[part] += one.requests;
            }
        }
        let is_there = |part: &usize| numbers.iter().any(|bar| bar[*part] > 0);
        let parts: Vec<usize> = (0..PARTS.len()).filter(is_there).collect();
        let changes = policies.windows(2).filter_map(|pair| pair.first().zip(pair.last()));
        let changed = changes.filter(|(one, before)| one.sha256 != before.sha256);
        let marks: Vec<_> = changed.filter_map(|(one, _)| Some((axis.bar(one.at)?, one))).collect();
        let mark = |at: usize| {
            let (_, one) = marks.iter().find(|(bar, _)| *bar == at)?;
            let link = format!("/policy/history?before={}#p{}", one.id + 1, one.id);
            Some((link, format!("policy {} by {}, {}", one.id, one.by, second(one.at))))
        };
        let bar = |(at, numbers): (usize, &[u64; PARTS.len()])| {
            let said = parts.iter().filter(|part| numbers[**part] > 0);
            let said =
                said.map(|part| format!("{} {}", grouped(numbers[*part]), PARTS[*part].name));
            let said = said.collect::<Vec<_>>().join(", ");
            let in_part = if axis.is_partial(at) { " (in part)" } else { "" };
            let said = if said.is_empty() { "none" } else { &said };
            Bar {
                parts: PARTS.iter().map(|part| part.class).zip(*numbers).collect(),
                label: axis.short_name(at),
                text: format!("{}{in_part}: {said}", axis.name(at)),
                link: link(&exact(axis.start(at)), &exact(axis.start(at + 1))),
                is_partial: axis.is_partial(at),
                mark: mark(at),
            }
        };
        let bars: Vec<Bar> = numbers.iter().enumerate().map(bar).collect();
        let row = |(at, bar): (usize, &Bar)| {
            let numbers = || parts.iter().map(|part| grouped(bar.parts[*part].1)).collect();
            (bar.link.clone(), axis.name(at), (at >= axis.uncounted()).then(numbers))
        };
        Self {
            chart: chart::stacked(&bars, axis.uncounted()),
            period: axis.period(),
            has_uncounted: axis.uncounted() > 0,
            has_policies: bars.iter().any(|bar| bar.mark.is_some()),
            has_partial: bars.iter().any(|bar| bar.is_partial),
            rows: bars.iter().enumerate().map(row).collect(),
            parts: parts.iter().map(|part| PARTS[*part]).collect(),
        }
    }

    pub(super) fn has_limited(&self) -> bool {
        self.parts.iter().any(|part| part.code == Reason::Limit.as_str())
    }
}

/// Whether counts by time, action and reason are of requests beyond a limit.
pub(super) fn is_limited(counted: &Counted) -> bool {
    counted.key.last().is_some_and(|reason| tally::is_limited(reason))
}
