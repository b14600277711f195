//! One table over all lists: which of them hold an address.
//!
//! Lists overlap, and every list that holds an address counts, not only the one with the longest
//! prefix. So the table is not one of prefixes: the addresses are cut wherever any list begins or
//! ends, and each piece knows the set of lists that hold it. A lookup is one binary search over the
//! cuts, numbers side by side in memory, and allocates nothing.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
};

use super::list::{Families, Family, List};

/// The number by which the owner of the lists calls one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub u32);

/// What some lists together say of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// One of them holds it.
    Listed,
    /// They are all there, one of them has addresses of this family, and none holds this one.
    Unlisted,
    /// Nothing can be said: none of them has addresses of this family, or one that could hold it is
    /// not in the table.
    Undecided,
}

/// All lists, compiled once. The default is a table without lists.
#[derive(Clone, Debug, Default)]
pub struct Table {
    v4: CutsV4,
    v6: CutsV6,
    /// The distinct sets, each sorted; the first is empty.
    sets: Vec<Box<[ListId]>>,
    /// Every list with its families, sorted.
    lists: Vec<(ListId, Families)>,
}

/// Where the set changes: from `starts[n]` on it is that of number `sets[n]`.
#[derive(Clone, Debug, Default)]
struct CutsV4 {
    starts: Vec<u32>,
    sets: Vec<u32>,
}

/// The same of 128 bits. The upper halves stand by themselves, for the search over them is four
/// times as fast, and prefixes longer than /64 are rare.
#[derive(Clone, Debug, Default)]
struct CutsV6 {
    upper: Vec<u64>,
    starts: Vec<u128>,
    sets: Vec<u32>,
}

impl Table {
    /// Compiles the lists. Several lists of one number count as one.
    pub fn new<'a>(lists: impl IntoIterator<Item = (ListId, &'a List)>) -> Self {
        let lists: Vec<_> = lists.into_iter().collect();
        let mut families = BTreeMap::new();
        for (id, list) in &lists {
            let known: &mut Families = families.entry(*id).or_default();
            *known = known.and(list.families());
        }
        let mut sets = Sets::new();
        let v4 = cuts(&lists, Family::V4, &mut sets);
        let v6 = cuts(&lists, Family::V6, &mut sets);
        // The cut behind the last IPv4 address of all has no place, and nothing would look there.
        let v4 = v4.into_iter().filter_map(|(start, set)| Some((u32::try_from(start).ok()?, set)));
        let (starts, v4_sets) = v4.unzip();
        let (v6_starts, v6_sets): (Vec<u128>, _) = v6.into_iter().unzip();
        let upper = v6_starts.iter().map(|start| upper(*start)).collect();
        Self {
            v4: CutsV4 { starts, sets: v4_sets },
            v6: CutsV6 { upper, starts: v6_starts, sets: v6_sets },
            sets: sets.all,
            lists: families.into_iter().collect(),
        }
    }

    /// The lists that hold an address, sorted. IPv4 addresses in IPv6 form are IPv4.
    pub fn lookup(&self, address: IpAddr) -> &[ListId] {
        let set = match address.to_canonical() {
            IpAddr::V4(address) => self.v4.set(address.into()),
            IpAddr::V6(address) => self.v6.set(address.into()),
        };
        set.and_then(|set| self.sets.get(set as usize)).map_or(&[], |set| set)
    }

    /// What `lists`, which together are all that one crawler's operator publishes for it, say of an
    /// address. One that is missing from the table (it could never be fetched) leaves open what it
    /// would have said.
    pub fn membership(&self, lists: &[ListId], address: IpAddr) -> Membership {
        let holders = self.lookup(address);
        if lists.iter().any(|list| holders.contains(list)) {
            return Membership::Listed;
        }
        let family = Family::of(address);
        let mut covers = false;
        for list in lists {
            match self.families(*list) {
                None => return Membership::Undecided,
                Some(families) => covers |= families.cover(family),
            }
        }
        if covers { Membership::Unlisted } else { Membership::Undecided }
    }

    /// The families that a list has addresses of; `None` for one that is not in the table.
    pub fn families(&self, list: ListId) -> Option<Families> {
        let at = self.lists.binary_search_by_key(&list, |(id, _)| *id).ok()?;
        self.lists.get(at).map(|(_, families)| *families)
    }
}

impl CutsV4 {
    fn set(&self, address: u32) -> Option<u32> {
        let next = self.starts.partition_point(|start| *start <= address);
        self.sets.get(next.checked_sub(1)?).copied()
    }
}

impl CutsV6 {
    fn set(&self, address: u128) -> Option<u32> {
        let half = upper(address);
        let next = self.upper.partition_point(|upper| *upper <= half);
        let mut at = next.checked_sub(1)?;
        if self.starts.get(at).is_some_and(|start| *start > address) {
            // Cuts inside this /64, beyond the address: the lower halves decide.
            let before = self.starts.get(..at)?;
            at = before.partition_point(|start| *start <= address).checked_sub(1)?;
        }
        self.sets.get(at).copied()
    }
}

fn upper(address: u128) -> u64 {
    (address >> 64) as u64
}

/// The sets of lists, each kept once.
struct Sets {
    all: Vec<Box<[ListId]>>,
    numbers: HashMap<Box<[ListId]>, u32>,
}

impl Sets {
    fn new() -> Self {
        Self { all: vec![Box::default()], numbers: HashMap::from([(Box::default(), 0)]) }
    }

    fn number(&mut self, set: Box<[ListId]>) -> u32 {
        let next = u32::try_from(self.all.len()).expect("there are fewer sets than prefixes");
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.all.push(set);
        }
        number
    }
}

/// Where in a family the set of lists changes, and the number of the set from there on. The last
/// address of all has no cut behind it.
fn cuts(lists: &[(ListId, &List)], family: Family, sets: &mut Sets) -> Vec<(u128, u32)> {
    let mut changes = Vec::new();
    for (id, list) in lists {
        for (first, last) in list.spans(family) {
            changes.push((first, *id, 1));
            changes.extend(last.checked_add(1).map(|next| (next, *id, -1)));
        }
    }
    changes.sort_unstable();
    let mut holders: BTreeMap<ListId, i32> = BTreeMap::new();
    let mut cuts: Vec<(u128, u32)> = Vec::new();
    for here in changes.chunk_by(|(one, ..), (other, ..)| one == other) {
        for (_, id, change) in here {
            *holders.entry(*id).or_default() += change;
        }
        holders.retain(|_, times| *times > 0);
        let number = sets.number(holders.keys().copied().collect());
        let unchanged = cuts.last().map_or(0, |(_, before)| *before) == number;
        if let Some((start, ..)) = here.first().filter(|_| !unchanged) {
            cuts.push((*start, number));
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::{super::read, *};

    fn list(text: &str) -> List {
        read(None, text.as_bytes()).expect("the list of a test is one")
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("the address of a test is one")
    }

    #[test]
    fn ours_every_list_that_holds_an_address_counts() {
        let lists = [
            list("8.8.0.0/16\n2a02:6b8::/32"),
            list("8.8.8.0/24\n8.8.9.0/24\n8.8.10.0/25"),
            list("8.8.8.8\n2a02:6b8::/64\n2a02:6b8::1:0:0:1"),
        ];
        let table = Table::new((0..).map(ListId).zip(&lists));
        for (asked, expected) in [
            ("8.8.8.8", &[0, 1, 2][..]),
            ("::ffff:8.8.8.8", &[0, 1, 2]),
            ("8.8.8.9", &[0, 1]),
            ("8.8.10.127", &[0, 1]),
            ("8.8.10.128", &[0]),
            ("8.7.255.255", &[]),
            ("8.8.0.0", &[0]),
            ("8.8.255.255", &[0]),
            ("8.9.0.0", &[]),
            ("0.0.0.0", &[]),
            ("255.255.255.255", &[]),
            ("2a02:6b8::", &[0, 2]),
            ("2a02:6b8::1", &[0, 2]),
            ("2a02:6b8:0:0:ffff:ffff:ffff:ffff", &[0, 2]),
            ("2a02:6b8:0:1::", &[0]),
            ("2a02:6b8::1:0:0:1", &[0, 2]),
            ("2a02:6b9::", &[]),
            ("::", &[]),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", &[]),
        ] {
            let holders: Vec<u32> = table.lookup(address(asked)).iter().map(|id| id.0).collect();
            assert_eq!(holders, expected, "{asked}");
        }
        assert!(Table::default().lookup(address("8.8.8.8")).is_empty());
        assert!(Table::new([]).lookup(address("8.8.8.8")).is_empty());
    }

    #[test]
    fn ours_of_a_family_without_addresses_a_list_says_nothing() {
        use Membership::{Listed, Undecided, Unlisted};
        let lists = [list("8.8.8.0/24"), list("2a02:6b8::/32"), list("9.9.9.9\n2a02:6b8::1")];
        let table = Table::new((0..).map(ListId).zip(&lists));
        let (v4, v6, both, missing) = (ListId(0), ListId(1), ListId(2), ListId(7));
        for (asked, of, expected) in [
            ("8.8.8.8", &[v4][..], Listed),
            ("8.8.9.8", &[v4], Unlisted),
            ("::ffff:8.8.9.8", &[v4], Unlisted),
            ("2a02:6b8::1", &[v4], Undecided),
            ("8.8.8.8", &[v6], Undecided),
            ("2a02:6b9::1", &[v6], Unlisted),
            // One operator, a file for each family.
            ("8.8.9.8", &[v4, v6], Unlisted),
            ("2a02:6b9::1", &[v6, v4], Unlisted),
            ("9.9.9.9", &[v4, both], Listed),
            ("8.8.9.8", &[v4, both], Unlisted),
            // What could not be fetched might hold it.
            ("8.8.8.8", &[missing, v4], Listed),
            ("8.8.9.8", &[v4, missing], Undecided),
            ("8.8.8.8", &[], Undecided),
        ] {
            assert_eq!(table.membership(of, address(asked)), expected, "{asked} {of:?}");
        }
        assert_eq!(table.families(v4), Some(Families { v4: true, v6: false }));
        assert_eq!(table.families(missing), None);
    }

    #[test]
    fn ours_lists_of_one_number_are_one() {
        let (one, two) = (list("8.8.8.0/24"), list("8.8.8.8\n9.9.9.9\n2a02:6b8::1"));
        let table = Table::new([(ListId(3), &one), (ListId(3), &two)]);
        for asked in ["8.8.8.8", "8.8.8.9", "9.9.9.9", "2a02:6b8::1"] {
            assert_eq!(table.lookup(address(asked)), [ListId(3)], "{asked}");
        }
        assert_eq!(table.families(ListId(3)), Some(Families { v4: true, v6: true }));
    }

    /// Prefixes so near to each other that many overlap and touch, in both families.
    fn prefix() -> impl Strategy<Value = String> {
        let near = prop_oneof![Just(0_u32), Just(0xff), any::<u32>()];
        let v4 = (near.clone(), 20..=32_u8).prop_map(|(bits, length)| {
            format!("8.8.{}.{}/{length}", bits >> 8 & 0xff, bits & 0xff)
        });
        let v6 = (0..4_u16, near, prop_oneof![32..=64_u8, 120..=128_u8]).prop_map(
            |(network, bits, length)| {
                format!("2a02:6b8:0:{network:x}::{:x}/{length}", bits & 0x1ff)
            },
        );
        prop_oneof![v4, v6]
    }

    proptest! {
        #[test]
        fn the_table_says_what_a_look_at_every_prefix_says(
            texts in prop::collection::vec(prop::collection::vec(prefix(), 1..20), 1..8),
        ) {
            let lists: Vec<List> = texts.iter().map(|lines| list(&lines.join("\n"))).collect();
            let table = Table::new((0..).map(ListId).zip(&lists));
            let parsed = |lines: &Vec<String>| -> Vec<ipnet::IpNet> {
                lines.iter().map(|text| text.parse().expect("it is one")).collect()
            };
            let prefixes: Vec<Vec<ipnet::IpNet>> = texts.iter().map(parsed).collect();
            let near = |address: IpAddr| match address {
                IpAddr::V4(one) => {
                    let bits = u32::from(one);
                    [bits - 1, bits, bits + 1].map(|bits| IpAddr::V4(bits.into()))
                }
                IpAddr::V6(one) => {
                    let bits = u128::from(one);
                    [bits - 1, bits, bits + 1].map(|bits| IpAddr::V6(bits.into()))
                }
            };
            for prefix in prefixes.iter().flatten() {
                for asked in [prefix.network(), prefix.addr(), prefix.broadcast()] {
                    for asked in near(asked) {
                        let scanned: Vec<ListId> = (0..)
                            .map(ListId)
                            .zip(&prefixes)
                            .filter(|(_, list)| list.iter().any(|one| one.contains(&asked)))
                            .map(|(id, _)| id)
                            .collect();
                        prop_assert_eq!(table.lookup(asked), scanned, "{}", asked);
                    }
                }
            }
        }

        #[test]
        fn a_list_is_read_again_as_it_was_written(lines in prop::collection::vec(prefix(), 1..50)) {
            let read_first = list(&lines.join("\n"));
            let mut text = String::from("# kept\n");
            write!(text, "{read_first}").expect("memory takes all");
            prop_assert_eq!(list(&text), read_first);
        }

        #[test]
        fn whatever_comes_is_read_or_refused(
            octets in prop::collection::vec(any::<u8>(), 0..200),
            text in "[<>/a-z!&;\"'\\{\\}\\[\\]:,.0-9# \n-]{0,200}",
        ) {
            use super::super::Format;
            for format in [None, Some(Format::Json), Some(Format::Rows), Some(Format::Html)] {
                for octets in [&octets[..], text.as_bytes()] {
                    if let Err(refusal) = read(format, octets) {
                        prop_assert!(refusal.code().starts_with("ranges."));
                    }
                }
            }
        }
    }
}
