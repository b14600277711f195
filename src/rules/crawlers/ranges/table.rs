//! One table over all lists, to find the lists that contain an address.
//!
//! Lists overlap, and every list that contains an address counts, not only the one with the longest
//! prefix. So the table does not store prefixes. It cuts the addresses at the ends of all prefixes
//! and stores the set of lists for each piece. A lookup is one binary search over the cuts, which are
//! numbers side by side in memory. It allocates nothing.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
};

use super::list::{Families, Family, List};

/// The number that the owner of the lists gives to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub u32);

/// The result for one address and some lists together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// A list contains it.
    Listed,
    /// No list contains it. All lists are in the table, and one of them has addresses of its family.
    Unlisted,
    /// Unknown: no list has addresses of its family, or a list is not in the table.
    Undecided,
}

/// All lists, compiled once. The default has no lists.
#[derive(Clone, Debug, Default)]
pub struct Table {
    v4: CutsV4,
    v6: CutsV6,
    /// The distinct sets, each sorted; the first is empty.
    sets: Vec<Box<[ListId]>>,
    /// Every list with its families, sorted.
    lists: Vec<(ListId, Families)>,
}

/// The cuts of IPv4 addresses: from `starts[n]` on, the set has the number `sets[n]`.
#[derive(Clone, Debug, Default)]
struct CutsV4 {
    starts: Vec<u32>,
    sets: Vec<u32>,
}

/// The cuts of IPv6 addresses. The upper halves have a vector of their own: the search over them is
/// four times as fast, and prefixes longer than /64 are rare.
#[derive(Clone, Debug, Default)]
struct CutsV6 {
    upper: Vec<u64>,
    starts: Vec<u128>,
    sets: Vec<u32>,
}

/// The beginning of a piece of addresses, and the number of its set.
#[derive(Clone, Copy, Debug)]
struct Cut {
    start: u128,
    set: u32,
}

/// The first address of a prefix (`step` 1), or the one behind its last (-1). Ordered by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    at: u128,
    list: ListId,
    step: i32,
}

struct Sets {
    all: Vec<Box<[ListId]>>,
    numbers: HashMap<Box<[ListId]>, u32>,
}

impl Table {
    /// Compiles the lists. Several lists with one number count as one.
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
        // The cut behind the last IPv4 address does not fit into 32 bits, and no lookup needs it.
        let v4 = v4.into_iter().filter_map(|cut| Some((u32::try_from(cut.start).ok()?, cut.set)));
        let (v4_starts, v4_sets) = v4.unzip();
        Self {
            v4: CutsV4 { starts: v4_starts, sets: v4_sets },
            v6: CutsV6 {
                upper: v6.iter().map(|cut| upper(cut.start)).collect(),
                starts: v6.iter().map(|cut| cut.start).collect(),
                sets: v6.iter().map(|cut| cut.set).collect(),
            },
            sets: sets.all,
            lists: families.into_iter().collect(),
        }
    }

    /// The lists that contain an address, sorted. IPv4 addresses in IPv6 form are IPv4.
    pub fn lookup(&self, address: IpAddr) -> &[ListId] {
        let set = match address.to_canonical() {
            IpAddr::V4(address) => self.v4.set(address.into()),
            IpAddr::V6(address) => self.v6.set(address.into()),
        };
        set.and_then(|set| self.sets.get(set as usize)).map_or(&[], |set| set)
    }

    /// The result for an address and all `lists` of one crawler. A list that is missing from the table
    /// (it was never fetched) may contain the address.
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

    /// The families of a list's addresses; `None` for a list that is not in the table.
    pub(crate) fn families(&self, list: ListId) -> Option<Families> {
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
            // The /64 has cuts behind the address: compare the lower halves too.
            let before = self.starts.get(..at)?;
            at = before.partition_point(|start| *start <= address).checked_sub(1)?;
        }
        self.sets.get(at).copied()
    }
}

fn upper(address: u128) -> u64 {
    (address >> 64) as u64
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

/// The addresses of a family at which the set of lists changes. The last address of all has no cut
/// behind it.
fn cuts(lists: &[(ListId, &List)], family: Family, sets: &mut Sets) -> Vec<Cut> {
    let mut edges = Vec::new();
    for (id, list) in lists {
        for span in list.spans(family) {
            edges.push(Edge { at: *span.start(), list: *id, step: 1 });
            let behind = span.end().checked_add(1);
            edges.extend(behind.map(|at| Edge { at, list: *id, step: -1 }));
        }
    }
    edges.sort_unstable();
    let mut depths: BTreeMap<ListId, i32> = BTreeMap::new();
    let mut cuts: Vec<Cut> = Vec::new();
    for here in edges.chunk_by(|one, other| one.at == other.at) {
        for edge in here {
            *depths.entry(edge.list).or_default() += edge.step;
        }
        depths.retain(|_, depth| *depth > 0);
        let set = sets.number(depths.keys().copied().collect());
        let is_unchanged = cuts.last().map_or(0, |before| before.set) == set;
        if let Some(edge) = here.first().filter(|_| !is_unchanged) {
            cuts.push(Cut { start: edge.at, set });
        }
    }
    cuts
}

#[cfg(test)]
mod tests;
