//! Requests beyond a limit of the operator.

use crate::{
    clients::conduct::{self, Limited, Seat, Weighed},
    rules::{
        enforce::{Action, Decision, Reason},
        policy::PaceMode,
    },
};

use super::{Gate, visit::Visit};

impl Gate {
    /// Counts a request that would go on to the origin against the limits of the operator. Returns its
    /// places there, and the limit that it is beyond, if that refuses it. A violation stays one.
    pub(super) fn limit<'a>(
        &self,
        visit: &'a Visit<'_>,
        weighed: &mut Weighed<'a>,
    ) -> (Vec<Seat>, Option<Limited<'a>>) {
        if matches!(weighed.decision.action, Action::Throttle | Action::Block) {
            return (Vec::new(), None);
        }
        let limits = visit.limits();
        if limits.is_empty() {
            return (Vec::new(), None);
        }
        let (address, now) = (visit.client.address, visit.moment().steady);
        let (seats, limited) = self.conduct.limit(visit.site, address, &limits, now);
        let Some(limited) = limited else { return (seats, None) };
        let label = conduct::label(limited.applied.name);
        let mode = limited.applied.limit.mode;
        self.metrics.limited(&visit.site.name, label, mode.as_str());
        if mode == PaceMode::Log {
            return (seats, None);
        }
        // Nothing comes back from the origin.
        weighed.hop = None;
        if weighed.decision.action == Action::Pass {
            weighed.decision =
                Decision { action: Action::Throttle, reason: Reason::Limit, ..weighed.decision };
        }
        (Vec::new(), Some(limited))
    }
}
