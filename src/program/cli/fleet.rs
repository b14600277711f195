//! `beadle fleet`: the nodes of the fleet, and where they differ.

use std::{collections::BTreeSet, io::Write};

use serde_json::json;

use crate::{
    base::escape,
    program::console::{ConfigFile, Error, Exit, Format, control_runtime, json, load, refuse},
    review::report::{
        Screen,
        grid::{Cell, Colour, Column, Grid},
    },
    state::{
        exchange::{self, Settings},
        fleet::{Beat, Difference, LIVE, Report, differences},
    },
};

/// List the nodes of the fleet, and where they differ.
///
/// Asks the shared server of the policy (fleet.shared), not the nodes. Prints each node with its
/// policy, its editions, its lag and its health. Exits with 1 if policies, programs or editions
/// differ, or if a node is silent.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const COLUMNS: [Column; 7] = [
    Column::text("node", 0, 8),
    Column::text("state", 1, 6),
    Column::text("policy", 2, 12),
    Column::text("version", 5, 7),
    Column::number("lag", 3, 7),
    Column::number("clock", 4, 7),
    Column::text("health", 6, 8),
];

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = args.config.name();
    let (policy, _) = load(&args.config)?;
    let in_file = |finding: crate::base::diagnostic::Diagnostic| {
        Error::Findings(vec![finding.in_file(&file)])
    };
    let Some(settings) = Settings::of(&policy).map_err(in_file)? else {
        return refuse(format!("{file}: no fleet (add the section 'fleet')"));
    };
    let found = control_runtime()?.block_on(exchange::overview(&settings));
    let overview = found.map_err(|failure| {
        let shared = policy.fleet.as_ref().map(|fleet| fleet.shared.to_string());
        Error::Refused(format!("{}: {failure}", shared.unwrap_or_default()))
    })?;
    let age = |beat: &Beat| overview.now.saturating_sub(beat.at).max(0);
    let is_live = |beat: &Beat| age(beat) < LIVE;
    let live = overview.nodes.iter().filter(|(beat, _)| is_live(beat));
    let reports: Vec<&Report> = live.filter_map(|(_, report)| report.as_ref()).collect();
    let differences = differences(&reports);
    match args.format {
        Format::Json => {
            for (beat, report) in &overview.nodes {
                json(out, &node(beat, report.as_ref(), is_live(beat), age(beat)))?;
            }
            for Difference { what, site, values } in &differences {
                let line = json!({
                    "kind": "difference", "what": what, "site": site, "values": values,
                });
                json(out, &line)?;
            }
        }
        Format::Text => {
            let rows: Vec<Vec<Cell>> = overview
                .nodes
                .iter()
                .map(|(beat, report)| cells(beat, report.as_ref(), is_live(beat), age(beat)))
                .collect();
            let grid = Grid::fit(&COLUMNS, &rows, Screen::of_standard_output(), false);
            if !rows.is_empty() {
                write!(out, "{}", grid.text(&rows))?;
            }
            editions(&reports, out)?;
            for one in &differences {
                writeln!(out, "{}", sentence(one))?;
            }
            if overview.nodes.is_empty() {
                writeln!(out, "no node has told the server anything yet")?;
            }
        }
    }
    let is_fine = differences.is_empty() && overview.nodes.iter().all(|(beat, _)| is_live(beat));
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}

fn node(beat: &Beat, report: Option<&Report>, is_live: bool, age: i64) -> serde_json::Value {
    let editions = report.map(|report| {
        let editions = report.serves.editions.iter();
        editions.map(|one| json!({ "site": one.site, "edition": one.edition })).collect::<Vec<_>>()
    });
    json!({
        "kind": "node",
        "node": beat.node,
        "state": if is_live { "live" } else { "silent" },
        "heard_milliseconds_ago": age,
        "policy": report.map(|report| &report.policy),
        "version": report.map(|report| &report.version),
        "lag_milliseconds": report.map(|report| report.lag),
        "clock_offset_milliseconds": report.map(|report| report.offset),
        "degraded": report.map(|report| &report.degraded),
        "editions": editions,
    })
}

fn cells(beat: &Beat, report: Option<&Report>, is_live: bool, age: i64) -> Vec<Cell> {
    let of = |text: fn(&Report) -> String| {
        Cell::from(report.map_or_else(|| "-".to_owned(), |report| escape::shown(text(report))))
    };
    let state = if is_live { "live".to_owned() } else { format!("silent for {} s", age / 1_000) };
    let is_degraded = report.is_some_and(|report| !report.degraded.is_empty());
    let coloured =
        |cell, colour, is: bool| Cell { colour: if is { colour } else { Colour::None }, ..cell };
    let health = of(|report| match report.degraded.as_slice() {
        [] => "ok".to_owned(),
        degraded => degraded.join("; "),
    });
    vec![
        Cell::from(escape::shown(&beat.node)),
        coloured(Cell::from(state), Colour::Red, !is_live),
        of(|report| report.policy.clone()),
        of(|report| report.version.clone()),
        of(|report| format!("{} ms", report.lag)),
        of(|report| format!("{:+} ms", report.offset)),
        coloured(health, Colour::Yellow, is_degraded),
    ]
}

fn editions(reports: &[&Report], out: &mut dyn Write) -> Result<(), Error> {
    let served = reports.iter().flat_map(|report| &report.serves.editions);
    let all: BTreeSet<(&str, &str)> =
        served.map(|one| (one.site.as_str(), one.edition.as_str())).collect();
    if !all.is_empty() {
        writeln!(out)?;
    }
    for (site, edition) in all {
        let serves = |report: &&&Report| {
            let mut editions = report.serves.editions.iter();
            editions.any(|one| one.site == site && one.edition == edition)
        };
        let count = reports.iter().filter(serves).count();
        let (site, edition) = (escape::shown(site), escape::shown(edition));
        let nodes = if count == 1 { "node" } else { "nodes" };
        writeln!(out, "{site}: edition {edition} at {count} {nodes}")?;
    }
    Ok(())
}

fn sentence(Difference { what, site, values }: &Difference) -> String {
    let values = values.iter().map(|(value, nodes)| {
        format!("{} at {}", escape::shown(value), escape::shown(nodes.join(", ")))
    });
    let values: Vec<String> = values.collect();
    let of = site.as_ref().map(|site| format!(" of {}", escape::shown(site)));
    format!("differs: {what}{}: {}", of.unwrap_or_default(), values.join("; "))
}
