//! Charts as SVG, drawn here, so that a page needs no script. Colours are placeholders: the style
//! sheet replaces them by the ones of light and dark.

use std::fmt::Display;

use plotters::{
    prelude::{
        ChartBuilder, DrawingAreaErrorKind, IntoDrawingArea, IntoSegmentedCoord, RGBColor,
        Rectangle, SVGBackend, SegmentValue,
    },
    style::Color,
};

use crate::{
    base::escape,
    review::report::number::{grouped, percent},
};

const SIZE: (u32, u32) = (960, 240);
/// Stand for log, throttle, block, limited and pass in `desk.css`.
const COLOURS: [RGBColor; 5] =
    [RGBColor(1, 0, 0), RGBColor(2, 0, 0), RGBColor(3, 0, 0), RGBColor(6, 0, 0), RGBColor(4, 0, 0)];
const UNCOUNTED: RGBColor = RGBColor(5, 0, 0);
const GRID: RGBColor = RGBColor(9, 0, 0);

/// Hatching in place of [`UNCOUNTED`].
const HATCHING: &str = "<defs><pattern id=\"uncounted\" width=\"8\" height=\"8\" \
                        patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
                        <path class=\"hatch\" d=\"M2 0V8\"/></pattern></defs>";
/// The fewest bars that the width is divided by, so that a few are no walls.
const LEAST_BARS: usize = 7;

/// The plot within [`SIZE`]: from left to right.
const PLOT: (usize, usize) = (80, 936);

/// The size of a small chart, in its own units: of one bar, and of all.
const STEP: usize = 4;
const HEIGHT: u64 = 16;

/// Requests in one period, by action: log, throttle, block, limited, pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bar(pub(super) [u64; 5]);

/// A bar of a share.
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

/// Bars side by side, each with its parts on top of each other. The first ones, `uncounted` of them,
/// are no numbers but a hatched area. `label` names the period.
pub(super) fn stacked<L: Display>(
    bars: &[Bar],
    uncounted: usize,
    label: impl Fn(usize) -> L,
) -> String {
    let mut svg = String::new();
    // Drawing into a string can't fail.
    let _ = draw(&mut svg, bars, uncounted, |at| match bars.get(at) {
        Some(_) => label(at).to_string(),
        None => String::new(),
    });
    let svg = svg.replacen("<svg ", "<svg class=\"chart\" aria-hidden=\"true\" ", 1);
    match svg.split_once('>') {
        Some((head, rest)) if uncounted > 0 => format!("{head}>{HATCHING}{rest}"),
        _ => svg,
    }
}

/// The chart with a mark above a bar: a link with a title. The link is in no order of focus, because
/// the chart is hidden from readers of a screen.
pub(super) fn marked(chart: &str, bars: usize, at: usize, link: &str, title: &str) -> String {
    let (left, right) = PLOT;
    let x = left + (2 * at + 1) * (right - left) / (2 * bars.max(LEAST_BARS));
    let (link, title) = (escape::html(link), escape::html(title));
    let mark = format!(
        "<a href=\"{link}\" tabindex=\"-1\"><title>{title}</title>\
         <path class=\"mark\" d=\"M{x} 11l-5-9h10z\"/></a></svg>"
    );
    chart.replacen("</svg>", &mark, 1)
}

fn draw(
    svg: &mut String,
    bars: &[Bar],
    uncounted: usize,
    label: impl Fn(usize) -> String,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let highest = bars.iter().map(|bar| bar.0.iter().sum::<u64>()).max().unwrap_or(0).max(4);
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let count = bars.len().max(LEAST_BARS);
    let top = highest + highest / 20;
    let mut chart = ChartBuilder::on(&area)
        .margin_top(12)
        .margin_right(24)
        .x_label_area_size(28)
        .y_label_area_size(80)
        .build_cartesian_2d((0..count - 1).into_segmented(), 0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(GRID.mix(0.0))
        .axis_style(GRID)
        .x_labels(count.min(12))
        .y_labels(5)
        .x_label_formatter(&|segment| match segment {
            SegmentValue::Exact(at) | SegmentValue::CenterOf(at) => label(*at),
            SegmentValue::Last => String::new(),
        })
        .y_label_formatter(&|value| grouped(*value))
        .label_style(("sans-serif", 13))
        .draw()?;
    if uncounted > 0 {
        let until = SegmentValue::Exact(uncounted.min(bars.len()));
        let area = [(SegmentValue::Exact(0), 0), (until, top)];
        chart.draw_series([Rectangle::new(area, UNCOUNTED.filled())])?;
    }
    for (at, bar) in bars.iter().enumerate() {
        let mut base = 0;
        for (part, colour) in bar.0.iter().zip(COLOURS) {
            if *part > 0 {
                let (from, until) = (SegmentValue::Exact(at), SegmentValue::Exact(at + 1));
                let mut shape =
                    Rectangle::new([(from, base), (until, base + part)], colour.filled());
                shape.set_margin(0, 0, 1, 1);
                chart.draw_series([shape])?;
                base += part;
            }
        }
    }
    area.present()
}
