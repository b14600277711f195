//! Who is not where this node is: a namesake hides, and nodes at another server are not heard.

use std::time::Duration;

use crate::state::{
    fleet::{Beat, LIVE, RECENT, Roster},
    publication::Handles,
};

/// How long a start waits for the nodes that it found.
const JOIN: Duration = Duration::from_millis(1_500);

#[derive(Debug)]
pub(super) struct Absence {
    has_past: bool,
    /// The time of the steady clock at which the server answered first.
    first: Option<Duration>,
    /// The time of the fleet until which others may not have come to a new server.
    moving_until: i64,
    /// The time of the steady clock until which another run counts that has the name of this node.
    rival_until: Duration,
}

impl Absence {
    pub(super) fn of(handles: &Handles) -> Self {
        let moment = handles.clock.moment();
        let start = moment.now.checked_sub(moment.steady).unwrap_or(moment.now);
        let published = handles.published.load();
        let mut sites = published.rulebook.sites().iter().map(|site| &site.timeline);
        let has_past = sites.any(|timeline| !timeline.is_single() || timeline.since < start);
        Self { has_past, first: None, moving_until: i64::MIN, rival_until: Duration::ZERO }
    }

    /// Notes the mark of the server at the first answer, and whether this node was there with all others
    /// before. If not, a young server may be a new one, to which the others have not come yet.
    pub(super) fn note_first(&mut self, mark: Option<&str>, was_here: bool, steady: Duration) {
        let is_first = self.first.replace(self.first.unwrap_or(steady)).is_none();
        if is_first && self.has_past && !was_here {
            let made = mark.and_then(|mark| mark.rsplit_once('-')?.1.parse::<i64>().ok());
            self.moving_until = made.map_or(i64::MIN, |made| made.saturating_add(RECENT));
        }
    }

    /// Notes the beats that were read before this run wrote its own. Returns whether there is a
    /// namesake that was not there before.
    pub(super) fn note_beats(&mut self, own: &Beat, beats: &[Beat], steady: Duration) -> bool {
        let is_live = |beat: &&Beat| own.at.saturating_sub(beat.at) < LIVE && !beat.gone;
        let mut namesakes = beats.iter().filter(|beat| beat.node == own.node);
        let is_found = namesakes.any(|beat| beat.run != own.run && is_live(&beat));
        let had_rival = self.has_rival(steady);
        if is_found {
            // At the first look, it may be the run before this one. Then it does not write again.
            let is_first = self.first.is_none();
            let silence = Duration::from_millis(LIVE.unsigned_abs());
            let until = if is_first { Duration::from_nanos(1) } else { silence };
            self.rival_until = steady.saturating_add(until);
        }
        is_found && !had_rival
    }

    pub(super) fn has_rival(&self, steady: Duration) -> bool {
        steady < self.rival_until
    }

    pub(super) fn waits(&self, steady: Duration) -> bool {
        self.first.is_none_or(|first| steady < first.saturating_add(JOIN))
    }

    /// Why this node can't judge by what it hears; nothing if it hears all.
    pub(super) fn reasons(
        &self,
        own: &str,
        (now, steady): (i64, Duration),
        roster: &Roster,
    ) -> Vec<String> {
        let rival = self.has_rival(steady).then(|| format!("another node has the name '{own}'"));
        let moving = (now < self.moving_until)
            .then(|| "the fleet's server is new: other nodes may not have come yet".to_owned());
        let missed = roster.missed(now);
        let missed = missed.map(|node| format!("'{node}' was not seen since the last connection"));
        rival.into_iter().chain(moving).chain(missed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fleet::{Position, VERSION};

    fn beat(run: &str, at: i64) -> Beat {
        let (node, run) = ("me".to_owned(), run.to_owned());
        let read = Position::default();
        Beat { v: VERSION, node, run, at, seq: 0, read, gone: false, apart: false }
    }

    fn absence(has_past: bool) -> Absence {
        Absence { has_past, first: None, moving_until: i64::MIN, rival_until: Duration::ZERO }
    }

    #[test]
    fn a_namesake_that_writes_again_counts_until_it_was_silent_for_long() {
        let (mut one, second) = (absence(true), Duration::from_secs);
        let mut look = |at: u64, run: &str, beat_at: i64| {
            let now = i64::try_from(1_000 * at).unwrap();
            let found = one.note_beats(&beat("own", now), &[beat(run, beat_at)], second(at));
            one.note_first(None, false, second(at));
            (found, one.has_rival(second(at)), one.has_rival(second(at + 1)))
        };
        // The run before this one was killed.
        assert_eq!(look(20, "before", 19_000), (true, true, false));
        assert_eq!(look(21, "own", 20_000), (false, false, false));
        assert_eq!(look(22, "rival", 21_900), (true, true, true));
        assert_eq!(look(23, "own", 22_000), (false, true, true));
        assert_eq!(look(33, "own", 32_000), (false, false, false));
    }

    #[test]
    fn a_server_that_is_younger_than_the_node_may_miss_others_for_ten_minutes() {
        for (has_past, was_here, mark, until) in [
            (true, false, "run-1000", 1_000 + RECENT),
            (false, false, "run-1000", i64::MIN),
            (true, true, "run-1000", i64::MIN),
            (true, false, "of somebody else", i64::MIN),
        ] {
            let mut one = absence(has_past);
            one.note_first(Some(mark), was_here, Duration::ZERO);
            one.note_first(Some("another-5000"), false, Duration::ZERO);
            assert_eq!(one.moving_until, until, "{has_past} {was_here} {mark}");
        }
    }
}
