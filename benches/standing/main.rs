//! The time to verify a claim, in process.
//!
//! `cargo bench --bench standing`, some seconds. All cases take turns in one run. The baseline is a
//! look-up of an address in a hash set of the standard library: the least cost of any answer by
//! address. The set has only single addresses, so it could not answer for a prefix.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{
    collections::HashSet,
    fmt::Write,
    hint::black_box,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use beadle::rules::crawlers::ranges::{self, List, ListId, Table};
use ipnet::IpNet;

use turns::{Case, measure};

#[path = "../turns/mod.rs"]
mod turns;

/// The number of lists, and of prefixes in all lists.
const LISTS: u32 = 40;
const PREFIXES: usize = 5_000;
/// The number of different addresses: more than a branch predictor can learn.
const ADDRESSES: usize = 4_096;

fn main() {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench standing`");
        return;
    }
    let published = Published::new();
    println!(
        "{} prefixes in {LISTS} lists\n",
        published.lists.iter().map(|(_, list)| list.len()).sum::<usize>()
    );
    measure(address_cases(&published));
}

/// Lists as operators publish them: most prefixes are /24 to /32, a third is IPv6, mostly /64. One
/// prefix in eight is in two lists.
struct Published {
    lists: Vec<(ListId, List)>,
    table: Table,
}

/// Pseudo-random numbers, the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// An address in the ranges of large clouds, where many crawlers run.
    fn v4(&mut self) -> Ipv4Addr {
        Ipv4Addr::from(0x1100_0000 + (self.next() as u32 & 0x3fff_ffff))
    }

    fn v6(&mut self) -> Ipv6Addr {
        let network = 0x2001_4860_4800_0000 | (self.next() & 0x00ff_ffff);
        Ipv6Addr::from((u128::from(network) << 64) | u128::from(self.next()))
    }
}

impl Published {
    fn new() -> Self {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut texts = vec![String::new(); LISTS as usize];
        for number in 0..PREFIXES {
            let prefix = if number % 3 == 0 {
                format!("{}/{}", numbers.v6(), [48, 56, 64, 64, 64, 64, 123, 128][number % 8])
            } else {
                format!("{}/{}", numbers.v4(), [20, 22, 24, 27, 28, 28, 32, 32][number % 8])
            };
            let copies = if number % 8 == 0 { 2 } else { 1 };
            for _ in 0..copies {
                let list = numbers.next() as usize % texts.len();
                let _ = writeln!(texts[list], "{prefix}"); // writing to a String cannot fail
            }
        }
        let read = |text: &String| ranges::read(None, text.as_bytes()).expect("it is a list");
        let lists: Vec<_> = (0..).map(ListId).zip(texts.iter().map(read)).collect();
        let table = Table::new(lists.iter().map(|(id, list)| (*id, list)));
        Self { lists, table }
    }

    /// Addresses in at least one list.
    fn listed(&self, is_wanted: impl Fn(&IpNet) -> bool) -> Vec<IpAddr> {
        let prefixes: Vec<IpNet> =
            self.lists.iter().flat_map(|(_, list)| list.prefixes()).filter(is_wanted).collect();
        let mut numbers = Numbers(7);
        (0..ADDRESSES)
            .map(|_| {
                let prefix = prefixes[numbers.next() as usize % prefixes.len()];
                if numbers.next().is_multiple_of(2) { prefix.network() } else { prefix.broadcast() }
            })
            .collect()
    }

    /// Addresses near the listed ones, but in no list.
    fn unlisted(&self, next: impl FnMut() -> IpAddr) -> Vec<IpAddr> {
        let addresses = std::iter::repeat_with(next);
        addresses.filter(|one| self.table.lookup(*one).is_empty()).take(ADDRESSES).collect()
    }
}

fn address_cases(published: &Published) -> Vec<Case<'_>> {
    let table = &published.table;
    let (mut v4, mut v6) = (Numbers(11), Numbers(13));
    let look_up = |addresses: Vec<IpAddr>| {
        move |number: usize| {
            let address = black_box(addresses[number % addresses.len()]);
            black_box(table.lookup(address));
        }
    };
    let listed_v4 = published.listed(|prefix| matches!(prefix, IpNet::V4(_)));
    let listed_v6 = published.listed(|prefix| matches!(prefix, IpNet::V6(_)));
    let (hits, set) = (listed_v4.clone(), listed_v4.iter().copied().collect::<HashSet<_>>());
    let in_set = move |number: usize| {
        black_box(set.contains(&black_box(hits[number % hits.len()])));
    };
    let members = listed_v4.clone();
    let look_up_ipv4 = move |number: usize| {
        let lists = black_box([ListId(number as u32 % LISTS), ListId(3)]);
        black_box(table.membership(&lists, black_box(members[number % members.len()])));
    };
    vec![
        Case::new("baseline: address looked up in a `HashSet`", in_set),
        Case::new("IPv4 address in 5,000 prefixes: listed", look_up(listed_v4)),
        Case::new(
            "IPv4 address in 5,000 prefixes: not listed",
            look_up(published.unlisted(|| v4.v4().into())),
        ),
        Case::new("IPv6 address in 5,000 prefixes: listed", look_up(listed_v6)),
        Case::new(
            "IPv6 address in 5,000 prefixes: not listed",
            look_up(published.unlisted(|| v6.v6().into())),
        ),
        Case::new("what an operator's two lists say of an IPv4 address", look_up_ipv4),
    ]
}
