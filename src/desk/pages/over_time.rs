//! Requests over time by action: a chart, and the same numbers as a table.

use crate::{
    records::{counts::Counted, record::PolicyEntry, tally},
    review::report::{Axis, number::grouped},
    rules::enforce::{Action, Reason},
};

use super::{
    chart::{self, Bar},
    time::second,
};

/// Requests over time by action.
pub(super) struct OverTime {
    /// An SVG.
    pub(super) chart: String,
    /// The length of a bar.
    pub(super) period: String,
    /// The names of the parts, with their classes in the style sheet.
    pub(super) parts: Vec<Part>,
    /// Whether the first counts came later than the chart begins.
    pub(super) has_uncounted: bool,
    /// The number of policies that are marked.
    pub(super) policies: u64,
    pub(super) rows: Vec<Row>,
}

/// A part of each bar.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    /// The action, or the reason of a limit.
    code: &'static str,
}

/// The numbers of one bar.
pub(super) struct Row {
    pub(super) name: String,
    /// `None` before the first counts.
    pub(super) parts: Option<Vec<String>>,
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
    /// Counts by time, action and reason. An action that never occurred is no part.
    pub(super) fn of(axis: &Axis, counted: &[Counted]) -> Self {
        let mut bars = vec![Bar::default(); axis.count()];
        for one in counted {
            let [time, action, _] = one.key.as_slice() else { continue };
            let code = if is_limited(one) { Reason::Limit.as_str() } else { action.as_str() };
            let bar = time.parse().ok().and_then(|time| bars.get_mut(axis.bar(time)?));
            let part = PARTS.iter().position(|part| part.code == code);
            if let (Some(bar), Some(part)) = (bar, part) {
                bar.0[part] += one.requests;
            }
        }
        let is_there = |part: &usize| bars.iter().any(|bar| bar.0[*part] > 0);
        let parts: Vec<usize> = (0..PARTS.len()).filter(is_there).collect();
        let row = |(at, bar): (usize, &Bar)| Row {
            name: axis.name(at),
            parts: (at >= axis.uncounted())
                .then(|| parts.iter().map(|part| grouped(bar.0[*part])).collect()),
        };
        Self {
            chart: chart::stacked(&bars, axis.uncounted(), |at| axis.short_name(at)),
            period: axis.period(),
            has_uncounted: axis.uncounted() > 0,
            policies: 0,
            rows: bars.iter().enumerate().map(row).collect(),
            parts: parts.iter().map(|part| PARTS[*part]).collect(),
        }
    }

    /// Marks the bars in which other policies came into force. The newest comes first.
    pub(super) fn mark(&mut self, axis: &Axis, policies: &[PolicyEntry]) {
        let changes = policies.windows(2).filter_map(|pair| pair.first().zip(pair.last()));
        let changed = changes.filter(|(one, before)| one.sha256 != before.sha256);
        for (one, _) in changed.rev() {
            let Some(at) = axis.bar(one.at).filter(|_| !self.parts.is_empty()) else { continue };
            let title = format!("policy {} by {}, {}", one.id, one.by, second(one.at));
            let link = format!("/policy/history?before={}#p{}", one.id + 1, one.id);
            self.chart = chart::marked(&self.chart, axis.count(), at, &link, &title);
            self.policies += 1;
        }
    }

    /// Whether some requests are beyond a limit.
    pub(super) fn has_limited(&self) -> bool {
        self.parts.iter().any(|part| part.code == Reason::Limit.as_str())
    }
}

/// Whether counts by time, action and reason are of requests beyond a limit.
pub(super) fn is_limited(counted: &Counted) -> bool {
    counted.key.last().is_some_and(|reason| tally::is_limited(reason))
}
