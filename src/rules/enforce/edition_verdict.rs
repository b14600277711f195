//! The verdicts of all editions that count for a request, for explanations.

use jiff::Timestamp;

use crate::formats::robots::{Access, Target};

use super::{
    decision::Decision,
    edition::{EditionId, KnownEditions},
    group::group_for,
    knowledge::Knowledge,
    site::Site,
};

/// The verdict of one edition that was in force within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditionVerdict {
    /// The edition; of several that are summed up, the last one in force.
    pub edition: EditionId,
    /// The number of editions that are summed up, 1 for one alone. A sum allows what any of them
    /// allows.
    pub(crate) count: usize,
    /// The start of its time in force.
    pub from: Timestamp,
    /// The end of its time in force; `None` for the edition in force, here or at another node of the
    /// fleet.
    pub until: Option<Timestamp>,
    /// Whether it is in force at another node alone.
    pub(crate) is_elsewhere: bool,
    /// Whether it allows the request.
    pub access: Access,
    pub(crate) is_known: bool,
}

/// The verdicts of the editions that count for a request for `target`, the one in force first.
pub fn edition_verdicts(
    site: &Site,
    decision: &Decision<'_>,
    target: &Target<'_>,
    knowledge: &impl Knowledge,
) -> Vec<EditionVerdict> {
    let start = knowledge.moment().start_of(site.cache_window);
    let name = decision.judgement.and_then(|judgement| judgement.name);
    let known = match name {
        Some(name) => knowledge.known_editions(name, decision.standing, start),
        None => KnownEditions::Any,
    };
    let current = EditionVerdict {
        edition: site.edition().id(),
        count: 1,
        from: site.timeline.since,
        until: None,
        is_elsewhere: false,
        access: decision.access,
        is_known: site.timeline.may_know_current(&known),
    };
    let past = site.timeline.in_window(start).map(|past| {
        let matcher = past.matcher();
        let group = match name {
            Some(name) => group_for(matcher, &site.enforcement.star_binds, name),
            None => matcher.star(),
        };
        let verdict = group.map(|group| matcher.verdict_judged(group, target));
        EditionVerdict {
            edition: past.id(),
            count: past.count(),
            from: past.from,
            until: past.ended(),
            is_elsewhere: past.is_in_force(),
            access: verdict.map_or(Access::Allow, |verdict| verdict.access),
            is_known: past.may_be_known(&known),
        }
    });
    std::iter::once(current).chain(past).collect()
}

#[cfg(test)]
mod tests;
