//! The decision about a request: each of its names is judged, and the strictest decision counts. And the
//! verdicts of all editions that count for it, for explanations.

use jiff::Timestamp;

use crate::{
    formats::robots::{Access, Target},
    rules::crawlers::{Name, Standing},
};

use super::{
    court::{Claimant, Court, pass},
    decision::{Action, Case, Decision, Knowledge, Reason},
    edition::{EditionId, KnownEditions},
    overrides::group_for,
    pace::keeps_paces,
    rulebook::Site,
};

/// Judges a request by every product token of its claim. The strictest decision counts, so a client
/// can't choose a laxer group by sending two names. A claim that may hide names is judged by every
/// group. Another form of a path, which is no violation, hides no violation by another name.
pub fn decide<'r>(site: &'r Site, case: Case<'r, '_>, knowledge: &impl Knowledge) -> Decision<'r> {
    let claim = case.claim;
    let of_name = |name: Name<'r>| Claimant { name, standing: case.standing(name, knowledge) };
    if site.is_withheld || case.target.is_robots_txt() {
        // Evidence about a crawler is collected from its first request, which is often this one.
        let standing =
            claim.primary().map_or(Standing::UNVERIFIABLE, |name| of_name(name).standing);
        return pass(if site.is_withheld { Reason::Unknown } else { Reason::RobotsTxt }, standing);
    }
    let court = Court { site, target: case.target, knowledge };
    let by_tokens = claim.tokens().map(|name| court.judge_name(of_name(name)));
    // The program that a crawler uses matters only where the site has rules for the program.
    let by_programs = claim.programs().filter_map(|program| court.judge_program(of_name(program)));
    let by_all = claim
        .may_hide_names()
        .then(|| court.judge_by_all(claim.primary().map(of_name)))
        .into_iter()
        .flatten();
    let (mut strictest, mut violation) = (None, None);
    by_tokens.chain(by_programs).chain(by_all).for_each(|decision| {
        if decision.is_violation() {
            violation = Some(stricter(violation, decision));
        }
        strictest = Some(stricter(strictest, decision));
    });
    match strictest {
        Some(form) if form.reason == Reason::Form => match violation {
            Some(violation) => refused_for_form(violation, form.action),
            None => form,
        },
        Some(decision) => decision,
        None => match case.nameless() {
            Some(class) => court.judge_nameless(class),
            None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
        },
    }
}

/// The stricter of two decisions; of equal ones the first.
fn stricter<'r>(first: Option<Decision<'r>>, other: Decision<'r>) -> Decision<'r> {
    let is_milder = |first: &Decision<'_>| strictness(&other) <= strictness(first);
    first.filter(is_milder).unwrap_or(other)
}

/// A violation by one name, with the stricter action for another name's form of the path.
fn refused_for_form(violation: Decision<'_>, action: Action) -> Decision<'_> {
    let reason = match violation.reason {
        Reason::Spared => Reason::Disallow,
        reason => reason,
    };
    Decision { action, reason, ..violation }
}

/// Whether a User-Agent is empty, white space, or the `-` that some clients send.
pub fn is_blank(user_agent: &[u8]) -> bool {
    matches!(user_agent.trim_ascii(), b"" | b"-")
}

/// How strict a decision is, the weightiest part first. The action comes before the verdict: an
/// impostor is blocked where the rules allow, and no rule that is only logged may prevent that.
fn strictness(decision: &Decision<'_>) -> impl Ord + use<> {
    let name = decision.judgement.and_then(|judgement| judgement.name);
    let (is_disallow, is_bound) =
        (decision.access == Access::Disallow, decision.judgement.is_some());
    (decision.action, is_disallow, is_bound, decision.mode, name.is_some_and(keeps_paces))
}

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
