//! Charts as SVG, drawn here, so that a page needs no script. The style sheet colours their classes.

use crate::{
    base::escape,
    review::report::number::{grouped, percent},
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

pub(super) struct Bar {
    /// Numbers from the bottom to the top, with their classes.
    pub(super) parts: Vec<(&'static str, u64)>,
    pub(super) label: String,
    /// What is told about the bar that is pointed at.
    pub(super) text: String,
    pub(super) link: String,
    /// Whether it has only a part of its period.
    pub(super) is_partial: bool,
    /// A mark above it: where it leads, and what is told about it.
    pub(super) mark: Option<(String, String)>,
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
pub(super) fn stacked(bars: &[Bar], uncounted: usize) -> String {
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
