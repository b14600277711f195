//! A full ledger of fetches: a hundred thousand pairs of crawler and network.

use std::{collections::HashMap, hint::black_box};

use beadle::{
    clients::conduct::{Ledger, Network, Reader},
    rules::{
        crawlers::{Name, Outcome},
        enforce::Rulebook,
    },
};
use jiff::{SignedDuration, Timestamp};

use crate::turns::Case;

const PAIRS: u32 = 100_000;

/// A ledger that crawlers of the catalogue fill from many networks. They fetch the editions of
/// `books` in turn.
pub(crate) fn cases<'a>(books: &[&'a Rulebook], now: Timestamp) -> Vec<Case<'a>> {
    let last = *books.last().expect("there is a rulebook");
    let site = &last.sites()[0];
    let names: Vec<Name<'_>> = last.catalogue().iter().map(Name::Known).collect();
    // In a mixed order, as in real traffic. The step and the number of pairs have no common
    // divisor.
    let pair = move |number: usize| {
        let number = (number * 7_919) as u32 % PAIRS;
        let network =
            Network::of(((number / names.len() as u32 * 2_557) << 8).to_be_bytes().into());
        (names[number as usize % names.len()], Reader { network, outcome: Outcome::Unknown })
    };
    let full = || {
        let ledger = Ledger::default();
        for number in 0..PAIRS as usize {
            let (name, reader) = pair(number);
            let site = &books[number % books.len()].sites()[0];
            let at = now - SignedDuration::from_millis(i64::from(PAIRS) - number as i64);
            ledger.note(site, name, reader, at);
        }
        ledger
    };
    let plain: HashMap<(&str, Network), Timestamp> = (0..PAIRS as usize)
        .map(&pair)
        .map(|(name, of)| ((name.as_str(), of.network), now))
        .collect();
    let look_up = {
        let pair = pair.clone();
        move |number: usize| {
            let (name, reader) = pair(number);
            black_box(plain.get(&(name.as_str(), reader.network)));
        }
    };
    let note = {
        let (ledger, pair) = (full(), pair.clone());
        move |number: usize| {
            let (name, reader) = pair(number);
            black_box(ledger.note(site, name, reader, now));
        }
    };
    let note_new = {
        let (ledger, pair) = (full(), pair.clone());
        let come = std::cell::Cell::new(0_u32);
        move |number: usize| {
            come.set(come.get() + 1);
            let network = Network::of((u128::from(come.get()) << 80).to_be_bytes().into());
            let reader = Reader { network, outcome: Outcome::Unknown };
            let at = now + SignedDuration::from_millis(come.get().into());
            black_box(ledger.note(site, pair(number).0, reader, at));
        }
    };
    let known = {
        let (ledger, pair) = (full(), pair.clone());
        let start = now - SignedDuration::from_hours(24);
        move |number: usize| {
            let (name, reader) = pair(number);
            black_box(ledger.readings(site, name, reader).known_editions(start));
        }
    };
    let last = {
        let (ledger, pair) = (full(), pair.clone());
        move |number: usize| {
            let (name, reader) = pair(number);
            black_box(ledger.readings(site, name, reader).last());
        }
    };
    vec![
        Case::new("baseline: the pair looked up in a `HashMap`", look_up),
        Case::new("a fetch noted", note),
        Case::new("a fetch from a new network noted, the oldest forgotten", note_new),
        Case::new("the editions that a crawler may know", known),
        Case::new("its last fetch, for a record", last),
    ]
}
