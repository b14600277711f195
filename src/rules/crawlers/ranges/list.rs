//! A list of prefixes, and the check of a fresh copy against the copy in use.

use std::{fmt, net::Ipv4Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::base::diagnostic::Diagnostic;

use super::{
    family::{Families, Family},
    refusal::Refusal,
};

/// The prefixes of a published list, merged: sorted, none inside another, neighbours joined. Two
/// copies with the same addresses are equal, however they are written.
#[derive(Clone, Debug)]
pub struct List {
    v4: Box<[Ipv4Net]>,
    v6: Box<[Ipv6Net]>,
    /// Whether every entry was read. If not, an address that is not in the list may be in an entry
    /// that was not read.
    pub(crate) is_complete: bool,
    /// At most one of each kind about ignored or repaired entries, with the number and the first.
    pub(crate) findings: Vec<Diagnostic>,
}

/// The addresses of a prefix as numbers, the first and the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: u128,
    pub(super) last: u128,
}

/// Checks that `new` may replace `old`.
///
/// It may not if it has lost a whole family of addresses. It may not if, in one family, it contains
/// fewer than half of the old prefixes *and* has fewer than half as many prefixes. So an operator may
/// join, split or move all prefixes, but a truncated list is refused. It may not if it contains no
/// address of the old list: an error message may quote an address, and short lists are easily lost.
/// The caller decides when to accept a list that stays as it is.
///
/// # Errors
///
/// [`Refusal::FamilyGone`], [`Refusal::Shrunk`] and [`Refusal::Unrelated`].
pub fn sane_successor(old: &List, new: &List) -> Result<(), Refusal> {
    let mut is_related = false;
    for family in [Family::V4, Family::V6] {
        let (before, after) = (old.spans(family), new.spans(family));
        if before.is_empty() {
            continue;
        }
        if after.is_empty() {
            return Err(Refusal::FamilyGone(family));
        }
        is_related |= before.iter().any(|span| {
            let next = after.partition_point(|other| other.last < span.first);
            after.get(next).is_some_and(|other| other.first <= span.last)
        });
        let is_kept = |span: &Span| {
            let next = after.partition_point(|other| other.first <= span.first);
            let nearest = next.checked_sub(1).and_then(|at| after.get(at));
            nearest.is_some_and(|other| span.last <= other.last)
        };
        let kept = before.iter().filter(|span| is_kept(span)).count();
        if kept.max(after.len()) * 2 < before.len() {
            return Err(Refusal::Shrunk { family, old: before.len(), new: after.len() });
        }
    }
    if is_related { Ok(()) } else { Err(Refusal::Unrelated) }
}

impl List {
    pub(super) fn new(
        v4: Vec<Ipv4Net>,
        v6: Vec<Ipv6Net>,
        is_complete: bool,
        findings: Vec<Diagnostic>,
    ) -> Self {
        let (v4, v6) = (Ipv4Net::aggregate(&v4).into(), Ipv6Net::aggregate(&v6).into());
        Self { v4, v6, is_complete, findings }
    }

    /// The prefixes, IPv4 first, in ascending order.
    pub fn prefixes(&self) -> impl Iterator<Item = IpNet> + '_ {
        let v4 = self.v4.iter().copied().map(IpNet::V4);
        v4.chain(self.v6.iter().copied().map(IpNet::V6))
    }

    /// The number of merged prefixes.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is no prefix. A list that [`read`](super::read) returns has at least one.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn families(&self) -> Families {
        Families { v4: !self.v4.is_empty(), v6: !self.v6.is_empty() }
    }

    /// Whether it has one or two single addresses, as many as an error message may quote.
    pub(crate) fn is_slight(&self) -> bool {
        u128::from(self.v4_addresses()).saturating_add(self.v6_addresses()) <= 2
    }

    pub(super) fn v4_addresses(&self) -> u64 {
        self.v4.iter().map(|prefix| 1_u64 << (32 - prefix.prefix_len())).sum()
    }

    pub(super) fn v6_addresses(&self) -> u128 {
        let counts =
            self.v6.iter().map(|prefix| 1_u128.checked_shl(128 - u32::from(prefix.prefix_len())));
        counts.fold(0, |sum, count| sum.saturating_add(count.unwrap_or(u128::MAX)))
    }

    /// The spans of the prefixes of a family, ascending.
    pub(super) fn spans(&self, family: Family) -> Vec<Span> {
        let v4 = |address: Ipv4Addr| u128::from(u32::from(address));
        let v4_span = |p: &Ipv4Net| Span { first: v4(p.network()), last: v4(p.broadcast()) };
        let v6_span = |p: &Ipv6Net| Span { first: p.network().into(), last: p.broadcast().into() };
        match family {
            Family::V4 => self.v4.iter().map(v4_span).collect(),
            Family::V6 => self.v6.iter().map(v6_span).collect(),
        }
    }
}

/// Lists are equal if their addresses are; findings do not count.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.v4 == other.v4 && self.v6 == other.v6
    }
}

impl Eq for List {}

/// One prefix on each line, as [`read`](super::read) accepts it: the format of stored copies.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefixes().try_for_each(|prefix| writeln!(f, "{prefix}"))
    }
}
