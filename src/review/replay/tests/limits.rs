//! Rate limits: what replay says is limited is what the proxy limits at the logged times.

use std::{cell::Cell, collections::BTreeMap};

use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::records::{
    counts::{Dimension, Question},
    tally::Claimant,
    violations::Store,
};

const CLIENTS: [&str; 10] = [
    USER_AGENTS[0],
    USER_AGENTS[1],
    USER_AGENTS[3],
    "AcmeBot/1.0 (+https://acme.example/bot)",
    "ListBot/1.0 (+https://lists.example/bot)",
    "Mozilla/5.0 AppleWebKit/537.36 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
    "curl/8.5.0",
    "FeedApp/1.2 CFNetwork/1408 Darwin/22.5.0",
    USER_AGENTS[4],
    "",
];

/// A list of limits, as the policy has it.
fn limits() -> impl Strategy<Value = String> {
    let names = prop::sample::subsequence(
        vec![
            "\"*\"",
            "GPTBot",
            "bingbot",
            "AcmeBot",
            "ListBot",
            "ChatGPT-User",
            "curl",
            "FeedApp",
            "\"purpose:ai-training\"",
        ],
        2..7,
    );
    let words = |words: &[&'static str]| prop::sample::select(words.to_vec());
    let one = (
        names,
        words(&["1/10s", "3/10s", "1/1m", "10/1m", "60/1h"]),
        1..5_u32,
        any::<bool>(),
        words(&["", ", paths: [/search]", ", paths: [/private, \"/*.pdf$\"]"]),
        prop_oneof![4 => Just("throttle"), 1 => Just("log")],
    );
    let one = one.prop_map(|(names, requests, burst, together, paths, mode)| {
        let names = names.join(", ");
        format!(
            "        - {{ user_agents: [{names}], requests: {requests}, burst: {burst}, together: \
             {together}, mode: {mode}{paths} }}\n"
        )
    });
    prop::collection::vec(one, 1..4).prop_map(|all| all.concat())
}

fn limited_policy(limits: &str, mode: &str, folder: &Path) -> Policy {
    let sites: String = [("www", "true"), ("shop", "false")]
        .map(|(name, default)| {
            format!(
                "  - hosts: [{name}.example.com]
    default: {default}
    origin: http://127.0.0.1:3000
    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/cart] }}, {{ user_agents: [bingbot], crawl_delay: 5 }}] }}
    enforcement:
      mode: {mode}
      overrides: [{{ user_agents: [CCBot], mode: \"off\" }}]
      rate_limits:
{limits}"
            )
        })
        .concat();
    policy(&format!(
        "strict: false
crawlers: [{{ product_token: ListBot, operator: Lists, purpose: search, ip_ranges: ['http://lists.example/list.json'] }}]
evidence: {{ folder: {0} }}
violations: {{ database: {0}/beadle.db }}
sites:\n{sites}",
        folder.display()
    ))
}

/// The requests and those beyond a limit, by site, name and whether the claim is contradicted.
type Limited = BTreeMap<(String, String, Option<&'static str>), (u64, u64)>;

/// What the proxy counted by hour.
fn counted(database: &Path) -> Limited {
    let store = Store::open_read_only(database).expect("it can be read");
    let by = [Dimension::Site, Dimension::ProductToken, Dimension::Standing, Dimension::Reason];
    let question = Question { by: by.to_vec(), ..Question::default() };
    let mut limited = Limited::new();
    for row in store.counted(&question).expect("rows") {
        let [site, name, standing, reason] = &row.key[..] else { panic!("{row:?}") };
        let standing = Claimant::of(standing).standing();
        let sums = limited.entry((site.to_string(), name.to_string(), standing)).or_default();
        sums.0 += row.requests;
        sums.1 += if reason == "limit" { row.requests } else { 0 };
    }
    limited
}

#[test]
fn requests_beyond_limits_are_those_of_the_proxy_at_the_logged_times() {
    let request = (0..200_i64, 0..CLIENTS.len(), 0..PATHS.len(), 0..4_u8, any::<(bool, bool)>());
    let requests = prop::collection::vec(request, 50..200);
    let cases = (limits(), prop::sample::select(vec!["log", "block"]), requests);
    let sums = Cell::new((0, 0));
    let few = ProptestConfig::default().cases / 32;
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(few) };
    // The same few policies each time: of random ones, some hardly limit anything.
    let dice = TestRng::deterministic_rng(RngAlgorithm::default());
    let mut runner = TestRunner::new_with_rng(config, dice);
    let outcome = runner.run(&cases, |(limits, mode, requests)| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(LIST.0), LIST.1).expect("a copy");
        let mut time: Timestamp = "2026-11-01T00:00:00Z".parse().expect("a time");
        let samples: Vec<Sample> = requests
            .into_iter()
            .map(|(later, client, path, last, (is_listed, is_shop))| {
                time += SignedDuration::from_millis(later);
                Sample {
                    time,
                    client: if is_listed { [66, 249, 64, last] } else { [9, 9, last, 9] },
                    host: if is_shop { "shop.example.com" } else { "www.example.com" },
                    path: PATHS[path],
                    user_agent: CLIENTS[client],
                    status: if last == 3 { 301 } else { 200 },
                }
            })
            .collect();
        let policy = || limited_policy(&limits, mode, folder.path());
        let expected_records = proxied(&policy(), &samples, folder.path());
        let expected = counted(&folder.path().join("beadle.db"));
        let file = folder.path().join("access.log");
        fs::write(&file, log(&samples)).expect("a log");
        let basis = Basis::of(policy(), None);
        let (records, tally, _) = replayed(basis, None, &[&file], Some(FORMAT), 1);
        prop_assert_eq!(records, expected_records);
        let found = tally.crawlers().into_iter().map(|(site, client, one)| {
            let key = (site.to_owned(), client.name.to_owned(), client.claimant.standing());
            (key, (one.requests, one.of(Verdict::Limit)))
        });
        prop_assert_eq!(&found.collect::<Limited>(), &expected);
        for (requests, limited) in expected.values() {
            sums.set((sums.get().0 + requests, sums.get().1 + limited));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (requests, limited) = sums.get();
    assert!(limited > requests / 20, "{limited} of {requests}");
}
