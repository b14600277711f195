//! A fleet judges as one: an independent model of "How Beadle judges" sees all that happens at three
//! real nodes, and agrees with each of their answers.
//!
//! Behind HAProxy, crawlers fetch at one node and ask at another. Meanwhile nodes publish at different
//! times, end and start again, and lose their line to Redis.

mod model;
mod world;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;

use self::{
    model::{Ask, Bounds, CRAWLERS, Fetch, File, History, Judgement, PATHS, Time},
    world::{NODES, World},
};
use crate::support::{
    clickhouse::ClickHouse, conditions::is_full_size, dice::Dice, need, relay::Line,
    valkey::Valkey, wait_for,
};

/// How long a crawler may use its copy here, so that much becomes too old within the run.
const WINDOW: Time = 10_000;
/// News of one node are known at the others after this time, on a machine that is busy with tests.
const LAG: Time = 2_000;

impl Dice {
    fn file(&mut self) -> File {
        File { closed: [(); CRAWLERS.len()].map(|()| [(); PATHS].map(|()| self.roll(5) > 0)) }
    }
}

#[test]
fn three_nodes_judge_as_one() {
    let (Some(haproxy), Some(valkey), Some(clickhouse)) =
        (need("haproxy"), Valkey::start(), ClickHouse::start())
    else {
        return;
    };
    let wanted = if is_full_size() { 10_000 } else { 2_000 };
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    // Enough files for every publication.
    let files: Vec<File> = (0..400).map(|_| dice.file()).collect();
    let violations = format!(
        "  database: clickhouse://default@127.0.0.1:{}/beadle\n  detail: 1000000\n  \
         clickhouse: {{ local: $DIR/beadle.db, spool: $DIR/spool }}\n",
        clickhouse.port
    );
    let sections = |line: u16, node: usize| {
        format!("fleet: {{ shared: \"redis://127.0.0.1:{line}/0\", node: node{node} }}\n")
    };
    let world = World::start(&haproxy, valkey.port, sections, &violations, (&files[0], WINDOW));
    let (fetches, asks) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (is_over, next) = (AtomicBool::new(false), AtomicU64::new(1));
    std::thread::scope(|scope| {
        for node in 0..NODES {
            let (world, files, is_over, next) = (&world, &files, &is_over, &next);
            scope.spawn(move || {
                let mut dice = Dice(0xD1B5_4A32_D192_ED03 ^ (node as u64 + 1));
                while !is_over.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(1_000 + dice.roll(4_000) as u64));
                    match dice.roll(12) {
                        // Only one node at a time is away for long: the others have to go on.
                        0 if node == 0 => world.part(node, Line::Silent, Duration::from_secs(14)),
                        0 if node == 1 => world.part(node, Line::Cut, Duration::from_secs(3)),
                        1 if node == 2 => {
                            world.restart(node, "KILL", Duration::from_millis(500), files)
                        }
                        2 if node == 1 => {
                            world.restart(node, "TERM", Duration::from_millis(500), files)
                        }
                        _ => {
                            // Others publish the same file soon after, or another one.
                            let newest = next.load(Ordering::Relaxed);
                            let number = match dice.roll(2) {
                                0 => next.fetch_add(1, Ordering::Relaxed),
                                _ => newest.saturating_sub(1),
                            };
                            let number = usize::try_from(number).expect("a small number");
                            world.publish(node, number, &files[number]);
                        }
                    }
                }
            });
        }
        let mut dice = Dice(0x2545_F491_4F6C_DD1D);
        while asks.lock().len() < wanted {
            let (crawler, network) = (dice.roll(CRAWLERS.len()), dice.roll(3) as u8);
            let before = world.now();
            if dice.roll(12) == 0 {
                let (answer, _) = world.send(crawler, network, "/robots.txt");
                let text = answer.text();
                assert_eq!(answer.status, 200, "{text}");
                let number =
                    text.lines().find_map(|line| line.strip_prefix("File: ")?.parse().ok());
                let file = number.expect("each file has its number");
                fetches.lock().push(Fetch { crawler, network, file, at: (before, world.now()) });
            } else {
                let path = dice.roll(PATHS);
                let (answer, node) = world.send(crawler, network, &format!("/p{path}/x"));
                let is_refused = answer.status == 403;
                assert!(is_refused || answer.status == 200, "{}", answer.text());
                let at = (before, world.now());
                asks.lock().push(Ask { crawler, network, path, node, at, is_refused });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, Ordering::Release);
    });
    let history = History {
        files,
        served: world.served(),
        fetches: fetches.into_inner(),
        away: world.away(),
    };
    let asks = asks.into_inner();
    check(&history, &asks);
    check_records(&world, &clickhouse, &asks);
}

/// Each answer is one that the model allows, and the model leaves few of them open.
fn check(history: &History, asks: &[Ask]) {
    let bounds = Bounds { window: WINDOW, lag: LAG };
    let mut counts = [0_usize; 3];
    let mut wrong = Vec::new();
    for ask in asks {
        let judgement = history.judge(ask, bounds);
        counts[judgement as usize] += 1;
        let is_right = match judgement {
            Judgement::MustPass => !ask.is_refused,
            Judgement::MustRefuse => ask.is_refused,
            Judgement::Either => true,
        };
        if !is_right {
            wrong.push((judgement, *ask));
        }
    }
    let [pass, refuse, either] = counts;
    eprintln!(
        "{} decisions: {pass} must pass, {refuse} must be refused, {either} within the lag; {} wrong; \
         {} files served, {} fetches",
        asks.len(),
        wrong.len(),
        history.served.iter().map(Vec::len).sum::<usize>(),
        history.fetches.len()
    );
    assert!(wrong.is_empty(), "{:#?}\n{:#?}", &wrong[..wrong.len().min(5)], history.served);
    assert!(refuse * 10 > asks.len(), "the model says too little: {counts:?}");
}

/// Each refusal is one record in ClickHouse, whatever ended meanwhile.
fn check_records(world: &World, clickhouse: &ClickHouse, asks: &[Ask]) {
    let refused = asks.iter().filter(|ask| ask.is_refused).count() as u64;
    // A node that was killed may have had some on the way.
    let lost = world.unrecorded(asks);
    let count = || clickhouse.number("SELECT uniqExact(id) FROM violations");
    wait_for("the records of all nodes", || (count() + lost >= refused).then_some(()));
    let found = count();
    eprintln!("{refused} refusals, {found} records, {lost} on the way when a node was killed");
    assert!(found <= refused, "{found} records of {refused} refusals");
}
