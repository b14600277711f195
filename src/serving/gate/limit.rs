//! Room at the origin: limits of the operator, and people who come first.

use std::time::Duration;

use crate::{
    clients::conduct::{
        self, Full, Limited, Load, Party, Places, PutOff, Stay, Turn, Waiting, Weighed,
    },
    rules::{
        enforce::{Action, Decision},
        policy::PaceMode,
    },
};

use super::{
    Gate,
    passage::{NoRoom, Room},
    request::Answering,
    visit::Visit,
};

const fn refuses(action: Action) -> bool {
    matches!(action, Action::Throttle | Action::Block)
}

impl Gate {
    /// Weighs a decision. If the request would go on to the origin, this looks for room there first: one
    /// without room is neither obedience nor a violation. But a violation that is only logged stays one.
    pub(super) fn weigh<'a>(
        &self,
        visit: &'a Visit<'_>,
        decision: Decision<'a>,
        answering: Answering,
        waiting: &mut Waiting,
    ) -> (Weighed<'a>, Result<Room, NoRoom<'a>>) {
        let may_pass = !refuses(decision.action);
        let found = may_pass.then(|| self.find_room(visit, answering, Some(waiting)));
        if let Some(Err(no_room)) = found
            && (decision.action == Action::Pass || matches!(no_room, NoRoom::Waits))
        {
            let decision = self.without_room(visit, decision, &no_room);
            return (Weighed { decision, early: None, hop: None }, Err(no_room));
        }
        let mut weighed =
            self.handles.conduct.weigh(visit.sighting(), decision, visit, &self.handles.metrics);
        if refuses(weighed.decision.action) {
            return (weighed, Ok(Room::default()));
        }
        // The breaker may let pass what the rules refuse. Such a request has been weighed, so it can't wait.
        let found = found.unwrap_or_else(|| self.find_room(visit, answering, None));
        let room = found.and_then(|(places, stay)| self.count_in(visit, places, stay));
        if let Err(no_room) = &room {
            weighed.hop = None;
            weighed.decision = self.without_room(visit, weighed.decision, no_room);
        }
        (weighed, room)
    }

    /// Looks for room at the origin. The request does not count against the limits yet, unless it waits for
    /// its turn. Without `waiting` it can't.
    fn find_room<'a>(
        &self,
        visit: &'a Visit<'_>,
        answering: Answering,
        mut waiting: Option<&mut Waiting>,
    ) -> Result<(Option<Places<'a>>, Option<Stay>), NoRoom<'a>> {
        let now = || visit.moment().steady;
        let places = self.find_places(visit, answering, waiting.as_deref_mut())?;
        let conduct = &visit.served.conduct;
        let (Some(rules), Some(admission), Answering::Beadle, false) = (
            &visit.site.enforcement.people_first,
            &conduct.admission,
            answering,
            visit.target.is_robots_txt(),
        ) else {
            return Ok((places, None));
        };
        let party = match visit.rank(&rules.order) {
            Some(rank) => Party::Crawler { rank },
            None => Party::Person,
        };
        let request = (visit.request.method.as_str(), visit.request.target);
        let mut none = None;
        let queue = waiting.map(|waiting| (rules.wait, &mut waiting.room));
        let queue = queue.unwrap_or((Duration::ZERO, &mut none));
        let stay = admission.admit(rules, party, request, now(), queue);
        match stay {
            Ok(stay) => Ok((places, Some(stay))),
            Err(Full::PutOff(put_off)) => Err(NoRoom::PutOff(put_off)),
            Err(Full::Waits) => Err(NoRoom::Waits),
        }
    }

    fn find_places<'a>(
        &self,
        visit: &'a Visit<'_>,
        answering: Answering,
        waiting: Option<&mut Waiting>,
    ) -> Result<Option<Places<'a>>, NoRoom<'a>> {
        let (limits, now) = (visit.limits(), || visit.moment().steady);
        if limits.is_empty() {
            return Ok(None);
        }
        let turn = match (&waiting, answering) {
            (Some(waiting), Answering::Beadle) => waiting.turn(),
            // In the past it has waited.
            (_, Answering::Past) => Turn::Later,
            _ => Turn::Now,
        };
        let places =
            self.handles.conduct.reserve(visit.site, visit.client.address, limits, turn, now());
        let places = places.map_err(NoRoom::Limit)?;
        if let (false, Answering::Beadle, Some(waiting)) =
            (places.time_to_turn.is_zero(), answering, waiting)
        {
            *waiting =
                self.handles.conduct.wait(visit.site, &places, now()).map_err(NoRoom::Limit)?;
            return Err(NoRoom::Waits);
        }
        Ok(Some(places))
    }

    fn count_in<'a>(
        &self,
        visit: &Visit<'_>,
        places: Option<Places<'a>>,
        stay: Option<Stay>,
    ) -> Result<Room, NoRoom<'a>> {
        let Some(places) = places else { return Ok(Room { seats: Vec::new(), stay }) };
        let counted = self.handles.conduct.count(places, visit.moment().steady);
        let (seats, logged) = counted.map_err(NoRoom::Limit)?;
        if let Some(limited) = logged {
            self.count_limited(visit, &limited);
        }
        Ok(Room { seats, stay })
    }

    /// The decision about a request without room. A violation keeps its own reason.
    fn without_room<'a>(
        &self,
        visit: &Visit<'_>,
        decision: Decision<'a>,
        no_room: &NoRoom<'_>,
    ) -> Decision<'a> {
        match no_room {
            NoRoom::Limit(limited) => self.count_limited(visit, limited),
            NoRoom::PutOff(put_off) => self.report(visit, &decision, *put_off),
            NoRoom::Waits => {}
        }
        let is_pass = decision.action == Action::Pass;
        let reason = if is_pass { no_room.reason() } else { decision.reason };
        Decision { action: Action::Throttle, reason, ..decision }
    }

    fn count_limited(&self, visit: &Visit<'_>, limited: &Limited<'_>) {
        let label = conduct::label(limited.applied.name);
        let mode: PaceMode = limited.applied.limit.mode;
        self.handles.metrics.limited(&visit.site.name, label, mode.as_str());
    }

    fn report(&self, visit: &Visit<'_>, decision: &Decision<'_>, put_off: PutOff) {
        let site = &visit.site.name;
        let label = conduct::label(visit.counted_name(decision));
        self.handles.metrics.put_off(site, label);
        if put_off.is_first {
            let Load { limit, people, crawlers, .. } = put_off.load;
            tracing::info!(
                code = "people_first.began",
                site,
                product_token = label,
                limit,
                people,
                crawlers,
                "crawlers make room for people"
            );
        }
    }
}
