//! Charts as SVG, drawn here, so that a page needs no script. The style sheet colours their classes.

use super::words::{exact, second};
use crate::{
    base::escape,
    records::{counts::Counted, record::PolicyEntry, tally},
    review::report::{
        Axis,
        number::{grouped, percent},
    },
    rules::enforce::{Action, Reason},
};

/// The fewest bars that the width is divided by, so that a few are no walls.
const LEAST_BARS: usize = 7;
/// The room above, to the right, and below for labels.
const TOP: f64 = 12.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 30.0;

/// A chart for a wide screen, and one for a phone.
const SIZES: [Size; 2] = [
    Size { class: "wide", width: 960.0, height: 240.0, left: 80.0, labels: 12 },
    Size { class: "narrow", width: 480.0, height: 300.0, left: 88.0, labels: 4 },
];

/// The size of a small chart, in its own units: of one bar, and of all.
const STEP: usize = 4;
const HEIGHT: u64 = 16;

struct Bar {
    /// Numbers from the bottom to the top, with their classes.
    parts: Vec<(&'static str, u64)>,
    label: String,
    /// What is told about the bar that is pointed at.
    text: String,
    link: String,
    /// Whether it has only a part of its period.
    is_partial: bool,
    /// A mark above it: where it leads, and what is told about it.
    mark: Option<(String, String)>,
}

struct Size {
    class: &'static str,
    width: f64,
    height: f64,
    /// The room for numbers.
    left: f64,
    /// The most labels below.
    labels: usize,
}

pub(super) fn bar(part: u64, whole: u64) -> String {
    let percent = percent(part, whole);
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect width=\"{percent}\" height=\"8\"/></svg>"
    )
}

/// Small bars side by side, each as high as its share of the largest.
pub(super) fn trend(numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or(0);
    let width = numbers.len() * STEP;
    let mut svg = format!(
        "<svg class=\"trend\" viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" \
         height=\"{HEIGHT}\" aria-hidden=\"true\">"
    );
    for (at, number) in numbers.iter().enumerate() {
        let height = (percent(*number, most) * HEIGHT).div_ceil(100);
        if height > 0 {
            let (x, y) = (at * STEP, HEIGHT - height);
            svg.push_str(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"3\" height=\"{height}\"/>"));
        }
    }
    svg + "</svg>"
}

/// Bars side by side, each with its parts on top of each other, once for each size of screen. The
/// first ones, `uncounted` of them, are no numbers but a hatched area.
fn stacked(bars: &[Bar], uncounted: usize) -> String {
    SIZES.iter().map(|size| size.draw(bars, uncounted)).collect()
}

impl Size {
    fn draw(&self, bars: &[Bar], uncounted: usize) -> String {
        let Self { class, width, height, left, labels } = *self;
        let sum = |bar: &Bar| bar.parts.iter().map(|(_, number)| number).sum::<u64>();
        let most = bars.iter().map(sum).max().unwrap_or(0).max(4);
        let (low, step) =
            (height - BELOW, (width - left - RIGHT) / bars.len().max(LEAST_BARS) as f64);
        let x = |at: usize| left + step * at as f64;
        let y = |number: u64| low - number as f64 / most as f64 * (low - TOP);
        let area = |class, at: usize, bars: usize| {
            let (x, width, height) = (x(at), step * bars as f64, low - TOP);
            format!(
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height}\"/>"
            )
        };
        // A table has the same numbers, for readers of a screen and for a keyboard.
        let mut svg = format!(
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">\
             <defs><pattern id=\"uncounted-{class}\" width=\"8\" height=\"8\" \
             patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <path class=\"hatch\" d=\"M2 0V8\"/></pattern></defs>"
        );
        let mut ticks = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        let tick = ticks.find(|tick| most / tick <= 5).unwrap_or(most);
        for number in (0..=most / tick).map(|at| at * tick) {
            let (y, end) = (y(number), width - RIGHT);
            svg.push_str(&format!("<path class=\"grid\" d=\"M{left} {y:.1}H{end}\"/>"));
            let (x, y, number) = (left - 8.0, y + 4.0, grouped(number));
            svg.push_str(&format!("<text class=\"at\" x=\"{x}\" y=\"{y:.1}\">{number}</text>"));
        }
        if uncounted > 0 {
            svg.push_str(&area("uncounted", 0, uncounted.min(bars.len())));
        }
        let every = bars.len().div_ceil(labels).max(1);
        for (at, bar) in bars.iter().enumerate() {
            let (link, text) = (escape::html(&bar.link), escape::html(&bar.text));
            let class = if bar.is_partial { " class=\"partial\"" } else { "" };
            svg.push_str(&format!(
                "<a href=\"{link}\" tabindex=\"-1\"{class}><title>{text}</title>"
            ));
            svg.push_str(&area("area", at, 1));
            let mut base = 0;
            for (class, number) in bar.parts.iter().filter(|(_, number)| *number > 0) {
                base += number;
                let (x, y, width, height) =
                    (x(at) + 1.0, y(base), step - 2.0, y(base - number) - y(base));
                svg.push_str(&format!(
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
                ));
            }
            svg.push_str("</a>");
            if let Some((link, title)) = &bar.mark {
                let (x, link, title) =
                    (x(at) + step / 2.0, escape::html(link), escape::html(title));
                svg.push_str(&format!(
                    "<a href=\"{link}\" tabindex=\"-1\"><title>{title}</title>\
                     <path class=\"mark\" d=\"M{x:.1} 11l-5-9h10z\"/></a>"
                ));
            }
            if at % every == 0 {
                let (x, y, label) = (x(at) + step / 2.0, height - 8.0, escape::html(&bar.label));
                svg.push_str(&format!(
                    "<text class=\"below\" x=\"{x:.1}\" y=\"{y}\">{label}</text>"
                ));
            }
        }
        svg + "</svg>"
    }
}

/// Requests over time by action: a chart, and the same numbers as a table.
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
            chart: stacked(&bars, axis.uncounted()),
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
