//! A list of prefixes, the families of its addresses, and the check of a fresh copy against the copy in use.

use std::{fmt, net::IpAddr, ops::RangeInclusive};

use derive_more::Display;
use ipnet::IpNet;

use crate::base::diagnostic::Diagnostic;

/// The prefixes of a published list, merged: sorted, none inside another, neighbours joined. Two
/// copies with the same addresses are equal, however they are written.
#[derive(Clone, Debug)]
pub struct List {
    /// IPv4 first.
    prefixes: Vec<IpNet>,
    /// Whether every entry was read. If not, an address that is not in the list may be in an entry
    /// that was not read.
    pub(crate) is_complete: bool,
    /// At most one of each kind about ignored or repaired entries, with the number and the first.
    pub(crate) findings: Vec<Diagnostic>,
}

pub(crate) const UNRELATED: &str = "ranges.unrelated";

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
/// `ranges.family_gone`, `ranges.shrunk` and `ranges.unrelated`.
pub fn sane_successor(old: &List, new: &List) -> Result<(), Diagnostic> {
    let mut is_related = false;
    for family in [Family::V4, Family::V6] {
        let (before, after) = (old.spans(family), new.spans(family));
        if before.is_empty() {
            continue;
        }
        if after.is_empty() {
            let message = format!("the fresh copy has lost all {family} addresses");
            return Err(Diagnostic::error("ranges.family_gone", message));
        }
        is_related |= before.iter().any(|span| {
            let next = after.partition_point(|other| other.end() < span.start());
            after.get(next).is_some_and(|other| other.start() <= span.end())
        });
        let is_kept = |span: &RangeInclusive<u128>| {
            let next = after.partition_point(|other| other.start() <= span.start());
            let nearest = next.checked_sub(1).and_then(|at| after.get(at));
            nearest.is_some_and(|other| span.end() <= other.end())
        };
        let kept = before.iter().filter(|span| is_kept(span)).count();
        if kept.max(after.len()) * 2 < before.len() {
            let message = format!(
                "the fresh copy has {} {family} prefixes instead of {}, less than half (if this is \
                 right, delete the copy in use)",
                after.len(),
                before.len()
            );
            return Err(Diagnostic::error("ranges.shrunk", message));
        }
    }
    if is_related {
        return Ok(());
    }
    let message = "the fresh copy contains no address of the copy in use (it is accepted if the source \
                   still has it an hour later)";
    Err(Diagnostic::error(UNRELATED, message))
}

impl List {
    pub(super) fn new(all: Vec<IpNet>, is_complete: bool, findings: Vec<Diagnostic>) -> Self {
        Self { prefixes: IpNet::aggregate(&all), is_complete, findings }
    }

    /// The prefixes, IPv4 first, in ascending order.
    pub fn prefixes(&self) -> impl Iterator<Item = IpNet> + '_ {
        self.prefixes.iter().copied()
    }

    /// The number of merged prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether there is no prefix. A list that [`read`](super::read) returns has at least one.
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    pub(crate) fn families(&self) -> Families {
        let has = |family| self.of(family).next().is_some();
        Families { v4: has(Family::V4), v6: has(Family::V6) }
    }

    /// Whether it has one or two single addresses, as many as an error message may quote.
    pub(crate) fn is_slight(&self) -> bool {
        self.addresses(Family::V4).saturating_add(self.addresses(Family::V6)) <= 2
    }

    pub(super) fn addresses(&self, family: Family) -> u128 {
        let counts = self.of(family).map(|prefix| {
            let bits = prefix.max_prefix_len() - prefix.prefix_len();
            1_u128.checked_shl(bits.into()).unwrap_or(u128::MAX)
        });
        counts.fold(0, u128::saturating_add)
    }

    /// The addresses of each prefix of a family as numbers, ascending.
    pub(super) fn spans(&self, family: Family) -> Vec<RangeInclusive<u128>> {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => u128::from(u32::from(address)),
            IpAddr::V6(address) => address.into(),
        };
        let span = |p: &IpNet| number(p.network())..=number(p.broadcast());
        self.of(family).map(span).collect()
    }

    fn of(&self, family: Family) -> impl Iterator<Item = &IpNet> {
        self.prefixes.iter().filter(move |prefix| prefix.addr().is_ipv4() == (family == Family::V4))
    }
}

/// Lists are equal if their addresses are; findings do not count.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.prefixes == other.prefixes
    }
}

impl Eq for List {}

/// One prefix on each line, as [`read`](super::read) accepts it: the format of stored copies.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefixes().try_for_each(|prefix| writeln!(f, "{prefix}"))
    }
}

/// A family of addresses.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4, and IPv4 in IPv6 form.
    #[display("IPv4")]
    V4,
    /// IPv6.
    #[display("IPv6")]
    V6,
}

/// The families of a list's addresses. The list says nothing about other families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Families {
    pub(crate) v4: bool,
    pub(crate) v6: bool,
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

impl Families {
    pub(crate) fn cover(self, family: Family) -> bool {
        match family {
            Family::V4 => self.v4,
            Family::V6 => self.v6,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { v4: self.v4 || other.v4, v6: self.v6 || other.v6 }
    }
}
