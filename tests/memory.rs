//! What is allocated: nothing on the usual request path, and a bounded multiple of a file's size
//! for a robots.txt that was read and compiled.

#![allow(clippy::print_stderr, reason = "a test says how much it was")]

use allocation_counter::{AllocationInfo, measure};
use beadle::{
    enforce::{self, Moment, Rulebook},
    policy,
    robots::{self, Matcher, Target},
};
use jiff::Timestamp;

#[allow(dead_code, reason = "the benchmark needs more of it")]
#[path = "../benches/matching/inputs.rs"]
mod inputs;
#[allow(dead_code, reason = "the benchmarks need more of it")]
#[path = "../benches/traffic/mod.rs"]
mod traffic;

/// How often `call` allocates, after it was called once.
fn allocations(call: impl Fn()) -> u64 {
    call();
    measure(call).count_total
}

#[test]
fn ours_a_usual_request_is_identified_judged_and_tagged_without_allocating() {
    let text = traffic::policy("127.0.0.1:8080", "violations.db", "http://127.0.0.1:3000");
    let policy = policy::read("policy", text.as_bytes()).0.expect("it is a policy");
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    let (_, site) = rulebook.site(Some(traffic::HOST)).expect("the policy has this host");
    let user_agents = traffic::user_agents::mixed();
    for (number, user_agent) in user_agents.iter().enumerate() {
        let target = traffic::TARGETS[number % traffic::TARGETS.len()];
        if target.contains('%') {
            continue; // Its normal form may have to be written down.
        }
        let user_agent = user_agent.as_bytes();
        let count = allocations(|| {
            let claim = rulebook.catalogue().identify(user_agent, &site.names);
            let target = Target::new(target.as_bytes());
            let is_blank = enforce::is_blank(user_agent);
            let asked = enforce::Asked { claim: &claim, is_nameless: is_blank, target: &target };
            enforce::decide(site, asked, &Moment::at(Timestamp::UNIX_EPOCH));
            site.tags.select(target.letter(), 200, Some(b"text/html"));
        });
        assert_eq!(count, 0, "{} {target}", user_agent.escape_ascii());
    }
}

#[test]
fn ours_a_verdict_allocates_nothing_however_many_rules_there_are() {
    for file in [
        inputs::File::small(),
        inputs::File::large(10_000, 0),
        inputs::File::large(10_000, 10),
        inputs::File::slashes(1000),
        inputs::File::letters(2000, 120, "aa"),
    ] {
        let matcher = Matcher::new(&robots::parse(file.text.as_bytes()).0);
        let scope = matcher.star().expect("every file has a group for all");
        for path in [inputs::long(40), inputs::long(8192), inputs::octets("ab", 2048)] {
            let judge = || {
                matcher.verdict(scope, &Target::new(path.as_bytes()));
            };
            assert_eq!(allocations(judge), 0, "{}", path.get(..40).unwrap_or(&path));
        }
    }
}

#[test]
fn ours_a_large_file_takes_at_most_twelve_times_its_size() {
    for file in [inputs::File::large(10_000, 0), inputs::File::large(10_000, 10)] {
        let size = file.text.len() as u64;
        let mut kept = None;
        let AllocationInfo { bytes_max, bytes_current, .. } = measure(|| {
            let (robots, _) = robots::parse(file.text.as_bytes());
            kept = Some((Matcher::new(&robots), robots));
        });
        eprintln!("{size} octets: at most {bytes_max} at a time, then {bytes_current}");
        assert!(bytes_max <= 12 * size, "at most {bytes_max} for {size}");
        assert!(bytes_current <= 8 * size as i64, "{bytes_current} are kept for {size}");
    }
}
