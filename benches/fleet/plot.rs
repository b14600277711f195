//! The plots for the manual, as SVG.

use std::{fs, path::Path};

use plotters::{
    prelude::{
        ChartBuilder, Circle, EmptyElement, IntoDrawingArea, PathElement, RGBColor, SVGBackend,
        Text,
    },
    style::{Color, IntoFont},
};

const SIZE: (u32, u32) = (720, 360);
const COLOURS: [RGBColor; 3] =
    [RGBColor(31, 119, 180), RGBColor(214, 39, 40), RGBColor(44, 120, 44)];
const GRID: RGBColor = RGBColor(200, 200, 200);

/// A line with its name, and a thin one for its bound.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) bound: Vec<(f64, f64)>,
}

/// Draws curves into a file.
///
/// # Errors
/// The file can't be written.
pub(crate) fn draw(
    file: &Path,
    (across, up): (&str, &str),
    curves: &[Curve],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().chain(&curve.bound));
    let widest = points().map(|(x, _)| *x).fold(0.0, f64::max);
    let highest = points().map(|(_, y)| *y).fold(1.0, f64::max);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&RGBColor(255, 255, 255))?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .margin_right(120)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..widest * 1.02, 0.0..highest * 1.05)?;
        chart
            .configure_mesh()
            .light_line_style(GRID.mix(0.0))
            .bold_line_style(GRID)
            .axis_style(GRID)
            .x_desc(across)
            .y_desc(up)
            .label_style(("sans-serif", 13))
            .draw()?;
        let mut labels = Vec::new();
        for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
            let line = colour.stroke_width(2);
            let thin = colour.mix(0.4).stroke_width(1);
            let bound = Some(curve.bound.clone()).filter(|bound| !bound.is_empty());
            chart.draw_series(bound.map(|bound| PathElement::new(bound, thin)))?;
            chart.draw_series([PathElement::new(curve.points.clone(), line)])?;
            let dots = curve.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(dots)?;
            let (name, bound) = (curve.name.clone(), format!("{}, bound", curve.name));
            labels.extend(curve.points.last().map(|at| (*at, name, colour)));
            labels.extend(curve.bound.last().map(|at| (*at, bound, colour)));
        }
        // Those of curves that end close to each other stand one above the other.
        labels.sort_by(|((_, one), ..), ((_, other), ..)| one.total_cmp(other));
        let mut least = f64::NEG_INFINITY;
        for ((x, y), text, colour) in labels {
            let y = y.max(least);
            least = y + highest * 0.055;
            let font = ("sans-serif", 13).into_font().color(colour);
            let label = EmptyElement::at((x, y)) + Text::new(text, (8, -6), font);
            chart.draw_series([label])?;
        }
        area.present()?;
    }
    svg.push('\n');
    fs::write(file, svg)?;
    Ok(())
}
