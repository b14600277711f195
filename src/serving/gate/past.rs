//! Requests of the past: judged as the proxy would have judged them, without an answer.

use crate::{
    clients::conduct::Waiting,
    records::{record::Violation, tally::SeriesKey},
    rules::{
        crawlers::Outcome,
        enforce::{Action, Moment, Reason},
    },
};

use super::{Gate, Refusal, Request, record::Broken, request::Answering, series};

/// A past request, judged.
pub struct Past<'a> {
    /// The site's number in the rulebook.
    pub site: usize,
    /// What is counted about it; `None` for a person's request that breaks no rule.
    pub counted: Option<Counted<'a>>,
}

/// What is counted about a past request.
pub struct Counted<'a> {
    /// Its series in the counts by hour.
    pub key: SeriesKey<'a>,
    /// The action.
    pub action: Action,
    /// The reason.
    pub reason: Reason,
    /// Whether evidence confirms or contradicts the claim.
    pub outcome: Outcome,
    /// Makes its record, without a status.
    record: Option<&'a dyn Fn() -> Violation>,
}

impl Past<'_> {
    /// Whether the client is a person: a browser or an unknown app that no rule is about. So are its
    /// other requests to this site.
    pub const fn is_person(&self) -> bool {
        self.counted.is_none()
    }
}

impl Counted<'_> {
    /// The record of a violation, without a status; `None` for a request that is none.
    pub fn violation(&self) -> Option<Violation> {
        self.record.filter(|_| self.is_violation()).map(|record| record())
    }

    /// Whether the request is against the rules or the pace.
    pub fn is_violation(&self) -> bool {
        self.record.is_some() && self.reason != Reason::Form
    }
}

impl Gate {
    /// Judges a request of the past as [`Self::receive`] does, and gives the outcome to `take`. Its
    /// fetch of robots.txt, its pace and its violations count for later requests. The claim is
    /// examined by the evidence in memory. `status` is the status of the origin's response: a
    /// redirect gives a crawler with a pace a credit. Nothing is answered or recorded.
    ///
    /// Requests must come in the order of time.
    ///
    /// # Errors
    /// The proxy would refuse the request without judging it.
    pub fn replay<T>(
        &self,
        request: &Request<'_>,
        moment: Moment,
        status: u16,
        take: impl FnOnce(Past<'_>) -> T,
    ) -> Result<Option<T>, Refusal> {
        let published = self.handles.published.load();
        let visit = self.imagine(&published, request, moment)?;
        if request.is_about_server() {
            return Ok(None);
        }
        let decision = visit.decide();
        // A log has no load. So people_first puts nothing off.
        let waiting = &mut Waiting::default();
        let (mut weighed, _) = self.weigh(&visit, decision, Answering::Past, waiting);
        if let Some(hop) = weighed.hop.take() {
            self.handles.conduct.responded(hop, status, || moment);
        }
        let decision = &weighed.decision;
        let (action, reason) = (decision.action, decision.reason);
        let outcome = decision.standing.outcome;
        let site = visit.number;
        if let (Some(judgement), Action::Log | Action::Throttle | Action::Block) =
            (&decision.judgement, action)
            && reason != Reason::Limit
        {
            let broken = Broken::of(visit.site, judgement, &weighed);
            let key = series::of_violation(&visit, decision, judgement, &broken);
            let record = || {
                let id = self.recorder.id(visit.now());
                self.recorder.violation(id, &visit, &weighed, judgement, &broken)
            };
            let counted = Some(Counted { key, action, reason, outcome, record: Some(&record) });
            return Ok(Some(take(Past { site, counted })));
        }
        if reason == Reason::RobotsTxt {
            self.note_fetch(&visit);
        }
        let counted = (!visit.is_of_person(decision)).then(|| Counted {
            key: match reason {
                Reason::Limit => series::of_limited(&visit, decision),
                _ => series::of_passed(&visit, decision),
            },
            action,
            reason,
            outcome,
            record: None,
        });
        Ok(Some(take(Past { site, counted })))
    }
}
