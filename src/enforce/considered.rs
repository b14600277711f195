//! Which editions were considered for a decision, for whoever wants it explained.

use jiff::Timestamp;

use crate::robots::{Access, Target};

use super::{
    asked::Knowledge, decide::group_in, decision::Decision, edition::EditionId, rulebook::Site,
    timeline::Holding,
};

/// An edition that was in force within the window, and what it says to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Considered {
    /// The edition.
    pub edition: EditionId,
    /// Since when it was in force.
    pub from: Timestamp,
    /// Until when; `None` where it is.
    pub until: Option<Timestamp>,
    /// What it says.
    pub access: Access,
    /// Whether the client may be going by it.
    pub held: bool,
}

/// The editions that count for a decision about `target`, the one in force first.
pub fn considered(
    site: &Site,
    decision: &Decision<'_>,
    target: &Target<'_>,
    knowledge: &impl Knowledge,
) -> Vec<Considered> {
    let start = knowledge.moment().start_of(site.cache_window);
    let name = decision.judgement.and_then(|judgement| judgement.name);
    let holding = match name {
        Some(name) => knowledge.holding(name, decision.standing, start),
        None => Holding::Any,
    };
    let current = Considered {
        edition: site.edition().id(),
        from: site.timeline.since(),
        until: None,
        access: decision.access,
        held: site.timeline.may_hold_current(&holding),
    };
    let past = site.timeline.in_window(start).map(|past| {
        let matcher = past.edition.matcher();
        let group = match name {
            Some(name) => group_in(matcher, &site.enforcement, name),
            None => matcher.star(),
        };
        let verdict = group.map(|group| matcher.verdict(group, target));
        let edition = past.edition.id();
        Considered {
            edition,
            from: past.from,
            until: Some(past.until),
            access: verdict.map_or(Access::Allow, |verdict| verdict.access),
            held: past.may_be_held(&holding),
        }
    });
    std::iter::once(current).chain(past).collect()
}
