//! One verdict, in process: a path and files of every size, beside other crates.
//!
//! `cargo bench --bench matching`, some seconds. The token is known. The path comes as a client
//! sends it, so its normal form is part of the measurement. fast-robots, robotxt and texting_robots
//! judge the same paths in the same run, in turns, after a check that all verdicts agree.
//! fast-robots computes no normal form, but finds the group for each path. Ratios are more portable
//! to other machines than times.

#![expect(clippy::print_stdout, clippy::panic, reason = "a benchmark prints its tables")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use beadle::formats::robots::{self, Access, Matcher, Scope, Target};

use inputs::File;

mod inputs;

const ROUNDS: usize = 15;
/// The time of a case in one round, unless one call takes longer.
const TURN: Duration = Duration::from_millis(4);
/// The approximate time between two clock reads.
const BATCH: Duration = Duration::from_micros(40);
const CRAWLER: &str = "ExampleBot";
const OTHERS: [&str; 3] = ["fast-robots", "robotxt", "texting_robots"];

type Call<'a> = Box<dyn Fn(usize) + 'a>;
/// The maker of a file with a number of rules.
type Make = fn(usize) -> File;

/// A function to measure, called with ascending numbers.
struct Case<'a> {
    call: Call<'a>,
    batch: usize,
    nanoseconds: Vec<f64>,
}

/// A row of the table: Beadle, its aim if there is one, and the other crates if they support it.
struct Row<'a> {
    name: &'static str,
    aim: &'static str,
    ours: Case<'a>,
    others: [Option<Case<'a>>; 3],
}

fn main() {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench matching`");
        return;
    }
    let large = File::large(10_000, 10);
    let prefixes = File::large(10_000, 0);
    println!(
        "10,000 prefix rules: {} octets; 10,000 rules of which a tenth wild: {} octets\n",
        prefixes.text.len(),
        large.text.len()
    );
    let small = Judges::of(File::small());
    let large = Judges::of(large);
    let mut rows = vec![
        small.row("21 rules, 6 wild", "100 ns"),
        Judges::of(prefixes).row("10,000 prefix rules", "150 ns"),
        large.row("10,000 rules, a tenth wild", "400 ns"),
        Judges::of(File::slashes(1000)).row("1,000 rules `/*/*/*/word$`", "5 µs"),
    ];
    rows.extend(small.forms());
    // The path has no `c`, which is easy to see. Only a search shows that it has no `aa`.
    for (name, aim, file, path) in [
        ("100 stars, then `c`; 8 KiB of `ab`", "20 µs", File::letters(1, 100, "c"), 8),
        ("100 stars, then `aa`; 8 KiB of `ab`", "20 µs", File::letters(1, 100, "aa"), 8),
        ("2,000 × 120 stars, then `c`; 2 KiB of `ab`", "1 ms", File::letters(2000, 120, "c"), 2),
        ("2,000 × 120 stars, then `aa`; 2 KiB of `ab`", "1 ms", File::letters(2000, 120, "aa"), 2),
    ] {
        rows.push(Judges::with_paths(file, vec![octets(path)]).row(name, aim));
    }
    rows.extend(large.reading());
    take_turns(&mut rows);
    print(&mut rows);
    growth();
}

fn octets(kibibytes: usize) -> String {
    inputs::octets("ab", kibibytes * 1024)
}

/// A file for all crates, and paths to judge. It stays until the program ends: fast-robots borrows.
struct Judges {
    text: &'static str,
    paths: Vec<String>,
    matcher: Matcher,
    fast: fast_robots::RobotsMatcher<'static>,
    robotxt: robotxt::Robots,
    /// `None` if the crate refuses the file because of one long rule.
    texting: Option<texting_robots::Robot>,
}

impl Judges {
    fn of(file: File) -> &'static Self {
        let matcher = read(&file.text);
        let paths = paths(&file, &matcher);
        Self::with_paths(file, paths)
    }

    fn with_paths(file: File, paths: Vec<String>) -> &'static Self {
        let text: &'static str = file.text.leak();
        let fast = Box::leak(Box::new(fast_robots::RobotsTxt::parse(text)));
        let judges = Box::leak(Box::new(Self {
            text,
            paths,
            matcher: read(text),
            fast: fast.matcher(),
            robotxt: robotxt::Robots::parse(text.as_bytes(), CRAWLER),
            texting: texting_robots::Robot::new(CRAWLER, text.as_bytes()).ok(),
        }));
        judges.agree();
        judges
    }

    /// Checks that all crates decide alike. Otherwise their times are not comparable.
    fn agree(&self) {
        for path in &self.paths {
            let ours = self.allows(path);
            let shown = path.get(..100).unwrap_or(path);
            assert_eq!(self.fast.is_allowed(CRAWLER, path), ours, "fast-robots: {shown}");
            assert_eq!(self.robotxt.is_allowed(path), ours, "robotxt: {shown}");
            let texting = self.texting.as_ref().map(|robot| robot.allowed(path));
            assert_eq!(texting.unwrap_or(ours), ours, "texting_robots: {shown}");
        }
    }

    fn allows(&self, path: &str) -> bool {
        let target = Target::new(path.as_bytes());
        self.matcher.verdict_letter(star(&self.matcher), &target).access == Access::Allow
    }

    fn row(&'static self, name: &'static str, aim: &'static str) -> Row<'static> {
        let ours = each(&self.paths, |path| self.allows(path));
        let fast = each(&self.paths, |path| self.fast.is_allowed(CRAWLER, path));
        let robotxt = each(&self.paths, |path| self.robotxt.is_allowed(path));
        let texting = self
            .texting
            .as_ref()
            .map(|robot| Case::new(each(&self.paths, |path| robot.allowed(path))));
        let others = [Some(Case::new(fast)), Some(Case::new(robotxt)), texting];
        Row { name, aim, ours: Case::new(ours), others }
    }

    /// The rows of Beadle alone: verdicts over all forms in which an origin may read a path.
    fn forms(&'static self) -> [Row<'static>; 3] {
        let verdict = |path: &str| {
            let target = Target::new(path.as_bytes());
            self.matcher.verdict(star(&self.matcher), &target).access == Access::Allow
        };
        let encoded = self.paths.iter().map(|path| inputs::encoded(path)).collect();
        let evading = (0..).zip(&self.paths).map(|(number, path)| inputs::evasion(path, number));
        [
            ("21 rules, all forms judged", self.paths.clone()),
            ("21 rules, all forms, `%61` and `%6f` in the paths", encoded),
            ("21 rules, all forms, evading paths", evading.collect()),
        ]
        .map(|(name, paths)| {
            let paths: &'static [String] = paths.leak();
            let ours = Case::new(each(paths, verdict));
            Row { name, aim: "", ours, others: [None, None, None] }
        })
    }

    /// The rows for parsing and indexing a file.
    fn reading(&'static self) -> [Row<'static>; 3] {
        let octets = self.text.as_bytes();
        let (robots, _) = robots::parse(octets);
        let read = |_| drop(black_box(robots::parse(black_box(octets))));
        let fast_read = |_| drop(black_box(fast_robots::RobotsTxt::parse(black_box(self.text))));
        let build = move |_| drop(black_box(Matcher::new(black_box(&robots))));
        let fast = fast_robots::RobotsTxt::parse(self.text);
        let fast: &'static _ = Box::leak(Box::new(fast));
        let fast_build = move |_| drop(black_box(black_box(fast).matcher()));
        let both = |_| drop(black_box(Matcher::new(&robots::parse(black_box(octets)).0)));
        let fast_both = |_| {
            let fast = fast_robots::RobotsTxt::parse(black_box(self.text));
            drop(black_box(fast.matcher()));
        };
        let robotxt = |_| drop(black_box(robotxt::Robots::parse(black_box(octets), CRAWLER)));
        let texting =
            |_| drop(black_box(texting_robots::Robot::new(CRAWLER, black_box(octets)).ok()));
        let case = |call: Call<'static>| Some(Case::new(call));
        [
            Row {
                name: "reading 10,000 rules, a tenth wild",
                aim: "2 ms",
                ours: Case::new(read),
                others: [case(Box::new(fast_read)), None, None],
            },
            Row {
                name: "building the index of them",
                aim: "10 ms",
                ours: Case::new(build),
                others: [case(Box::new(fast_build)), None, None],
            },
            Row {
                name: "both",
                aim: "",
                ours: Case::new(both),
                others: [
                    case(Box::new(fast_both)),
                    case(Box::new(robotxt)),
                    case(Box::new(texting)),
                ],
            },
        ]
    }
}

fn read(text: &str) -> Matcher {
    Matcher::new(&robots::parse(text.as_bytes()).0)
}

/// Mixed paths; three in ten match a rule.
fn paths(file: &File, matcher: &Matcher) -> Vec<String> {
    file.paths(|path| {
        let target = Target::new(path.as_bytes());
        matcher.verdict_letter(star(matcher), &target).rule.is_some()
    })
}

fn star(matcher: &Matcher) -> Scope {
    matcher.star().unwrap_or_else(|| panic!("every file here has a group for `*`"))
}

/// A function that judges one path after the other.
fn each<'a>(paths: &'a [String], decide: impl Fn(&str) -> bool + 'a) -> Call<'a> {
    Box::new(move |number| {
        black_box(decide(black_box(&paths[number % paths.len()])));
    })
}

impl<'a> Case<'a> {
    fn new(call: impl Fn(usize) + 'a) -> Self {
        let start = Instant::now();
        (0..8).for_each(&call);
        let once = start.elapsed() / 8;
        let batch = (BATCH.as_nanos() / once.as_nanos().max(1)).clamp(1, 1000) as usize;
        Self { call: Box::new(call), batch, nanoseconds: Vec::with_capacity(ROUNDS) }
    }

    fn take_a_turn(&mut self) {
        let start = Instant::now();
        let mut calls = 0;
        while start.elapsed() < TURN {
            (calls..calls + self.batch).for_each(&self.call);
            calls += self.batch;
        }
        self.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / calls as f64);
    }

    /// The least, the median and the greatest time of a call.
    fn times(&mut self) -> [f64; 3] {
        self.nanoseconds.sort_by(f64::total_cmp);
        let last = self.nanoseconds.len() - 1;
        [0, last / 2, last].map(|index| self.nanoseconds[index])
    }
}

fn take_turns(rows: &mut [Row<'_>]) {
    for _ in 0..ROUNDS {
        for row in &mut *rows {
            row.ours.take_a_turn();
            row.others.iter_mut().flatten().for_each(Case::take_a_turn);
        }
    }
}

fn print(rows: &mut [Row<'_>]) {
    println!(
        "| per request, or per file | aim | Beadle: median (min..max) | {} |\n|---|---|---|{}",
        OTHERS.map(|name| format!("{name} (× Beadle)")).join(" | "),
        "---|".repeat(OTHERS.len())
    );
    for row in rows {
        let [least, median, greatest] = row.ours.times();
        let others = row.others.each_mut().map(|case| {
            case.as_mut().map_or_else(
                || "–".to_owned(),
                |case| {
                    let [_, other, _] = case.times();
                    format!("{} ({:.1})", shown(other), other / median)
                },
            )
        });
        println!(
            "| {} | {} | **{}** ({}..{}) | {} |",
            row.name,
            row.aim,
            shown(median),
            shown(least),
            shown(greatest),
            others.join(" | ")
        );
    }
}

/// The growth of Beadle's time with the length of the path and the number of rules.
fn growth() {
    let lengths = [64, 256, 1024, 4096, 16 * 1024, 64 * 1024];
    println!("\n| a path of so many octets | {} |", lengths.map(|n| n.to_string()).join(" | "));
    println!("|---|{}", "---|".repeat(lengths.len()));
    for (name, file, path) in [
        ("21 rules", File::small(), None),
        ("10,000 prefix rules", File::large(10_000, 0), None),
        ("10,000 rules, a tenth wild", File::large(10_000, 10), None),
        ("1,000 rules `/*/*/*/word$`", File::slashes(1000), None),
        ("100 stars, then `aa`; path of `ab`", File::letters(1, 100, "aa"), Some("ab")),
        ("2,000 × 120 stars, then `aa`; path of `ab`", File::letters(2000, 120, "aa"), Some("ab")),
    ] {
        let matcher = read(&file.text);
        let times = lengths.map(|length| {
            let path = path
                .map_or_else(|| inputs::long(length), |text: &str| inputs::octets(text, length));
            time(&matcher, &[path])
        });
        println!("| {name} | {} |", times.map(shown).join(" | "));
    }

    let counts = [10, 100, 1000, 10_000];
    println!("\n| so many rules | {} |", counts.map(|n| n.to_string()).join(" | "));
    println!("|---|{}", "---|".repeat(counts.len()));
    let kinds: [(_, Make, _); 4] = [
        ("prefixes, 1,000 paths", |count| File::large(count, 0), None),
        ("a tenth wild, 1,000 paths", |count| File::large(count, 10), None),
        ("`/*/*/*/word$`, 1,000 paths", File::slashes, None),
        ("24 stars, then `aa`; 2 KiB of `ab`", |count| File::letters(count, 24, "aa"), Some("ab")),
    ];
    for (name, file, path) in kinds {
        let times = counts.map(|count| {
            let file = file(count);
            let matcher = read(&file.text);
            let paths = match path {
                Some(text) => vec![inputs::octets(text, 2048)],
                None => paths(&file, &matcher),
            };
            time(&matcher, &paths)
        });
        println!("| {name} | {} |", times.map(shown).join(" | "));
    }
}

/// The median time of a verdict about these paths.
fn time(matcher: &Matcher, paths: &[String]) -> f64 {
    let scope = star(matcher);
    let mut case = Case::new(each(paths, |path| {
        let target = Target::new(path.as_bytes());
        matcher.verdict_letter(scope, &target).access == Access::Allow
    }));
    (0..5).for_each(|_| case.take_a_turn());
    case.times()[1]
}

/// Nanoseconds in a suitable unit.
fn shown(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e4 => format!("{nanoseconds:.0} ns"),
        ..1e6 => format!("{:.1} µs", nanoseconds / 1e3),
        _ => format!("{:.2} ms", nanoseconds / 1e6),
    }
}
