//! The forms of a path that are judged, against the models of all origins: random rules, hostile and
//! canonical targets.
//!
//! `BEADLE_FORMS=10000000 cargo test --test all forms::` runs that many cases.

use crate::{
    fuzz_corpora::forms::Judge,
    support::{conditions::is_full_size, hostile},
};

const SEED: u64 = 9_309;
/// How many targets are judged by the same rules.
const BY_SAME_RULES: usize = 64;

fn cases() -> usize {
    let number = std::env::var("BEADLE_FORMS").ok().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| if is_full_size() { 300_000 } else { 6_000 })
}

/// Runs the cases on two threads. `check` gets the rules, compiled and as text, and the choices.
fn for_all(check: impl Fn(&Judge, &[String], hostile::Choose<'_>) + Sync) {
    let threads = 2;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let check = &check;
            scope.spawn(move || {
                let mut choose = hostile::choices(SEED + thread);
                for _ in 0..cases() / BY_SAME_RULES / threads as usize + 1 {
                    let rules = rules(&mut choose);
                    let judge = Judge::new(&rules);
                    for _ in 0..BY_SAME_RULES {
                        check(&judge, &rules, &mut choose);
                    }
                }
            });
        }
    });
}

#[test]
fn what_an_origin_resolves_to_a_disallowed_path_is_judged_disallowed() {
    for_all(|judge, rules, choose| {
        let target = hostile::target(choose);
        if judge.evader(&target).is_some() {
            let (rules, target) = smallest(rules.to_vec(), target);
            let model = Judge::new(&rules).evader(&target).map(|model| model.name);
            panic!("{} evades {rules:?} at {model:?}", target.escape_ascii());
        }
    });
}

/// The twin: the forms cost nothing to a client that writes paths in the usual way.
#[test]
fn a_canonical_request_has_no_more_disallows_than_by_the_letter() {
    for_all(|judge, rules, choose| {
        let target = canonical(choose);
        // Where reserved octets are encoded, an allow rule spells each of them, and no longer rule
        // disallows what they encode.
        let count = |text: &str| ["%2B", "%40"].map(|octet| text.matches(octet).count());
        let text = std::str::from_utf8(&target).expect("ASCII");
        let encoded = count(text);
        let literal = text.replace("%2B", "+").replace("%40", "@").into_bytes();
        let allows_so = || {
            judge.rule(&target).is_some_and(|rule| {
                rules.contains(&format!("+{}", rule.pattern))
                    && count(&rule.pattern) == encoded
                    && !judge.disallows_more_specifically(&literal, rule)
            })
        };
        if encoded == [0, 0] || allows_so() {
            assert!(!judge.is_evasion(&target), "{} by {rules:?}", target.escape_ascii());
        }
    });
}

/// Up to four rules, from prefixes, wildcards and end marks.
fn rules(choose: hostile::Choose<'_>) -> Vec<String> {
    let count = 1 + choose(4);
    let mut rules: Vec<String> = (0..count).map(|_| rule(choose)).collect();
    if choose(4) == 0 {
        rules.push("/".to_owned());
    }
    rules
}

fn rule(choose: hostile::Choose<'_>) -> String {
    let mut rule = ["", "", "+"][choose(3)].to_owned();
    let names: Vec<_> = NAMES.iter().chain(["*", "%C3%A9", "a;b", "x;y"].iter()).collect();
    let is_allow = rule == "+";
    for _ in 0..1 + choose(3) {
        rule.push('/');
        rule.push_str(names[choose(names.len())]);
        if choose(6) == 0 {
            rule.push('*');
        }
    }
    rule.push_str(["", "", "/", "$", "$", "*.pdf$", "?", "*?a=", "?a[b]", "*/"][choose(10)]);
    // Only where it allows does a rule mean the encoded octet.
    if is_allow && choose(4) == 0 {
        rule = rule.replace('+', "%2B").replace('@', "%40");
        rule = rule.replacen("%2B", "+", 1);
    }
    if is_allow && choose(4) == 0 {
        // All slashes but the first.
        rule = rule.replace('/', "%2F").replacen("%2F", "/", 1);
    }
    rule
}

/// Names whose octets are all written literally.
const NAMES: [&str; 14] = [
    "a",
    "private",
    "x",
    "X",
    "PRIVATE",
    "public",
    "b.",
    "...",
    "@admin",
    "a+b",
    "Special:",
    "secret.html",
    "doc.pdf",
    ".h",
];

/// A path without dot or empty segments, each octet as rules write it.
fn canonical(choose: hostile::Choose<'_>) -> Vec<u8> {
    let encoded = ["%C3%A9", "c%20c", "x%3Fy", "x%23", "x%2570", "a%2Bb", "%40admin"];
    let names: Vec<_> = NAMES.iter().chain(&encoded).collect();
    let mut target = String::new();
    for _ in 0..1 + choose(4) {
        target.push('/');
        target.push_str(names[choose(names.len())]);
    }
    target.push_str(["", "", "/"][choose(3)]);
    target.push_str(["", "", "?a", "?a=b", "?a[b]=/x", "?u=http://q/../x;y"][choose(6)]);
    target.into_bytes()
}

/// The case without the rules and octets that it doesn't need.
fn smallest(mut rules: Vec<String>, mut target: Vec<u8>) -> (Vec<String>, Vec<u8>) {
    let evades = |rules: &[String], target: &[u8]| {
        target.starts_with(b"/") && Judge::new(rules).evader(target).is_some()
    };
    loop {
        let before = (rules.len(), target.len());
        for at in (0..rules.len()).rev() {
            let mut fewer = rules.clone();
            fewer.remove(at);
            if evades(&fewer, &target) {
                rules = fewer;
            }
        }
        for length in (1..=6).rev() {
            for at in (0..target.len()).rev() {
                let mut shorter = target.clone();
                shorter.drain(at..(at + length).min(target.len()));
                if evades(&rules, &shorter) {
                    target = shorter;
                }
            }
        }
        if (rules.len(), target.len()) == before {
            return (rules, target);
        }
    }
}
