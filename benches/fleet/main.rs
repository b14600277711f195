//! The judgement of a fleet by simulation: the real core of each node, with the time passed in.
//!
//! ```text
//! cargo bench --bench fleet                  some minutes
//! cargo bench --bench fleet -- --plots       also draws the plots of the manual anew
//! ```
//! 2, 10 and 100 nodes tell each other what they see, by a log with a lag. News are lost, nodes are cut
//! off, clocks are wrong. Prints tables in Markdown: how much more a flood passes than at one node,
//! beside the bound; how many requests of obedient crawlers are taken for violations, which must be
//! none; and the time until all nodes know a rung. Ends with 1 if a bound is broken.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::{path::Path, process::ExitCode, time::Duration};

use self::{plot::Curve, scenarios::Overshoot, world::Setting};

mod chance; // numbers by chance
mod log; // what the nodes share
mod node; // one node
mod plot; // the plots of the manual
mod scenarios; // what is measured
mod world; // the fleet

/// The sizes of the fleets.
const NODES: [usize; 3] = [2, 10, 100];
/// The lags, in milliseconds.
const LAGS: [u64; 6] = [0, 200, 500, 1_000, 2_000, 5_000];
/// How clocks are set while they run, in milliseconds: back by up to a day, and to the right time.
const SETS: &[i64] = &[-10_000, -30_000, -300_000, -3_600_000, -86_400_000, 0, 0, 300_000];
const NEVER: &[i64] = &[];
/// The folder of the plots.
const IMAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/images");

/// A fleet in which nothing is lost or wrong.
const CALM: Setting = Setting {
    nodes: 2,
    lag: Duration::from_millis(200),
    loss: 0.0,
    has_cuts: false,
    clocks: Duration::ZERO,
    sets: &[],
    seed: 7,
};

fn main() -> ExitCode {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench fleet`");
        return ExitCode::SUCCESS;
    }
    let (paces, keeps_bounds) = paces();
    let are_just = verdicts();
    let rungs = rungs();
    if std::env::args().any(|arg| arg == "--plots") {
        let folder = Path::new(IMAGES);
        let lag = "lag of the exchange in seconds";
        let drawn = plot::draw(
            &folder.join("fleet-pace.svg"),
            (lag, "requests beyond those of one node"),
            &paces,
        )
        .and_then(|()| {
            let up = "seconds until all nodes know a rung";
            plot::draw(&folder.join("fleet-rung.svg"), (lag, up), &rungs)
        });
        if let Err(error) = drawn {
            println!("no plots: {error}");
            return ExitCode::from(2);
        }
    }
    if keeps_bounds && are_just { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn name(nodes: usize) -> String {
    format!("{nodes} nodes")
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1_000.0
}

/// A flood at a pace of a request a second.
fn paces() -> (Vec<Curve>, bool) {
    println!("| nodes | lag | passed at one node in a minute | passed | more | bound |");
    println!("|---|---|---|---|---|---|");
    let mut keeps = true;
    let curves = NODES.map(|nodes| {
        let all = LAGS.map(|lag| {
            let lag = Duration::from_millis(lag);
            let found = scenarios::overshoot(Setting { nodes, lag, ..CALM });
            let Overshoot { alone, passed, bound } = found;
            let more = passed.saturating_sub(alone);
            println!(
                "| {nodes} | {} s | {alone} | {passed} | {more} | {bound} |",
                lag.as_secs_f64()
            );
            keeps &= more <= bound;
            (lag.as_secs_f64(), more as f64, bound as f64)
        });
        Curve {
            name: name(nodes),
            points: all.iter().map(|(lag, more, _)| (*lag, *more)).collect(),
            bound: all.iter().map(|(lag, _, bound)| (*lag, *bound)).collect(),
        }
    });
    println!();
    (curves.into(), keeps)
}

/// Obedient crawlers and others.
fn verdicts() -> bool {
    println!(
        "| nodes | lag | lost | nodes cut off | clocks wrong by | clocks set | requests of obedient crawlers | \
         taken for violations | excused | forbidden requests | found |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut are_just = true;
    let (lag, clocks) = (Duration::from_millis, Duration::from_secs);
    for (lag, loss, has_cuts, clocks, sets) in [
        (lag(200), 0.0, false, clocks(0), NEVER),
        (lag(200), 0.0, false, clocks(60), NEVER),
        (lag(5_000), 0.0, false, clocks(60), NEVER),
        (lag(500), 0.05, false, clocks(60), NEVER),
        (lag(500), 0.05, true, clocks(60), NEVER),
        (lag(500), 0.05, true, clocks(60), SETS),
    ] {
        for nodes in NODES {
            let setting = Setting { nodes, lag, loss, has_cuts, clocks, sets, ..CALM };
            let judged = scenarios::judged(setting, 40, if nodes > 10 { 900 } else { 3_600 });
            let scenarios::Judged { obedient, wronged, excused, forbidden, found } = judged;
            let word = |is: bool| if is { "yes" } else { "no" };
            let percent = 100.0 * loss;
            println!(
                "| {nodes} | {} s | {percent} % | {} | {} s | {} | {obedient} | {wronged} | {excused} | \
                 {forbidden} | {found} |",
                lag.as_secs_f64(),
                word(has_cuts),
                clocks.as_secs(),
                word(!sets.is_empty())
            );
            are_just &= wronged == 0;
        }
    }
    println!();
    are_just
}

/// Crawlers that climb the ladder.
fn rungs() -> Vec<Curve> {
    println!("| nodes | lag | lost | all nodes know a rung after (median) | at most |");
    println!("|---|---|---|---|---|");
    let curves = NODES.map(|nodes| {
        let mut points = Vec::new();
        for (lag, loss) in LAGS.iter().map(|lag| (*lag, 0.0)).chain([(500, 0.05)]) {
            let spread = Setting { nodes, lag: Duration::from_millis(lag), loss, ..CALM };
            let Some((median, longest)) = scenarios::spread(spread, 7).figures() else { continue };
            let percent = 100.0 * loss;
            println!(
                "| {nodes} | {} s | {percent} % | {median:.2} s | {longest:.2} s |",
                seconds(lag)
            );
            if loss == 0.0 {
                points.push((seconds(lag), longest));
            }
        }
        Curve { name: name(nodes), points, bound: Vec::new() }
    });
    println!();
    curves.into()
}
