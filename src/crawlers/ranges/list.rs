//! A list that was read, and whether a fresh copy may take its place.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::diagnostic::Diagnostic;

use super::refusal::Refusal;

/// The prefixes of a published list, merged: sorted, none inside another, neighbours joined. Two
/// copies that hold the same addresses are equal, however they were written.
#[derive(Clone, Debug)]
pub struct List {
    v4: Box<[Ipv4Net]>,
    v6: Box<[Ipv6Net]>,
    findings: Vec<Diagnostic>,
}

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4, and IPv4 in IPv6 form.
    V4,
    /// IPv6.
    V6,
}

/// The families that a list has addresses of. Of the others it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families {
    /// It has IPv4 addresses.
    pub v4: bool,
    /// It has IPv6 addresses.
    pub v6: bool,
}

/// Whether `new` may replace `old`.
///
/// It may not if it has lost a whole family of addresses, or if in one family fewer than half of
/// the old prefixes are still held by new ones *and* there are fewer than half as many new ones.
/// So prefixes may be joined or split, and an operator may move altogether; a list that was cut off
/// or emptied is refused. One that stays short is not judged here again: whether to believe it in
/// the end is up to who fetches it.
///
/// # Errors
///
/// [`Refusal::FamilyGone`] and [`Refusal::Shrunk`].
pub fn sane_successor(old: &List, new: &List) -> Result<(), Refusal> {
    for family in [Family::V4, Family::V6] {
        let (before, after) = (old.spans(family), new.spans(family));
        if before.is_empty() {
            continue;
        }
        if after.is_empty() {
            return Err(Refusal::FamilyGone(family));
        }
        let is_kept = |(first, last): &(u128, u128)| {
            let next = after.partition_point(|(start, _)| start <= first);
            let holder = next.checked_sub(1).and_then(|at| after.get(at));
            holder.is_some_and(|(_, end)| last <= end)
        };
        let kept = before.iter().filter(|span| is_kept(span)).count();
        if kept.max(after.len()) * 2 < before.len() {
            return Err(Refusal::Shrunk { family, old: before.len(), new: after.len() });
        }
    }
    Ok(())
}

impl List {
    /// Merges what was read.
    pub(super) fn new(v4: Vec<Ipv4Net>, v6: Vec<Ipv6Net>, findings: Vec<Diagnostic>) -> Self {
        Self { v4: Ipv4Net::aggregate(&v4).into(), v6: Ipv6Net::aggregate(&v6).into(), findings }
    }

    /// The prefixes, IPv4 first, in ascending order.
    pub fn prefixes(&self) -> impl Iterator<Item = IpNet> + '_ {
        let v4 = self.v4.iter().copied().map(IpNet::V4);
        v4.chain(self.v6.iter().copied().map(IpNet::V6))
    }

    /// How many prefixes there are, merged.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is none. A list that was read has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The families that it has addresses of.
    pub fn families(&self) -> Families {
        Families { v4: !self.v4.is_empty(), v6: !self.v6.is_empty() }
    }

    /// What was dropped or repaired while it was read: at most one finding of each kind, with the
    /// number and the first of them.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// How many IPv4 addresses the list holds.
    pub(super) fn v4_addresses(&self) -> u64 {
        self.v4.iter().map(|prefix| 1_u64 << (32 - prefix.prefix_len())).sum()
    }

    /// The first and last address of each prefix of a family as numbers, ascending.
    pub(super) fn spans(&self, family: Family) -> Vec<(u128, u128)> {
        let v4 = |address: Ipv4Addr| u128::from(u32::from(address));
        match family {
            Family::V4 => self.v4.iter().map(|p| (v4(p.network()), v4(p.broadcast()))).collect(),
            Family::V6 => {
                self.v6.iter().map(|p| (p.network().into(), p.broadcast().into())).collect()
            }
        }
    }
}

/// Whether the same addresses are in both; findings do not count.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.v4 == other.v4 && self.v6 == other.v6
    }
}

impl Eq for List {}

/// One prefix on each line, as [`read`](super::read) takes it: the form in which a good copy is
/// kept.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefixes().try_for_each(|prefix| writeln!(f, "{prefix}"))
    }
}

impl Family {
    /// The family of an address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

impl Families {
    /// Whether the list says anything about addresses of this family.
    pub fn cover(self, family: Family) -> bool {
        match family {
            Family::V4 => self.v4,
            Family::V6 => self.v6,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { v4: self.v4 || other.v4, v6: self.v6 || other.v6 }
    }
}
