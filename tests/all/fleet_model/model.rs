//! An independent judge of a fleet, after "How Beadle judges": it sees every request, and knows when
//! each node served which file.
//!
//! What it can't know to the millisecond has bounds. So it says what must be refused, and what must
//! not. In between, both answers are right.

/// Milliseconds since the start of the run.
pub(super) type Time = u64;

/// The paths that a file may close.
pub(super) const PATHS: usize = 6;

/// A robots.txt, by what it closes for the group of each crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) closed: [[bool; PATHS]; CRAWLERS.len()],
}

/// The crawlers. Each has a group of its own.
pub(super) const CRAWLERS: [&str; 3] = ["AlphaBot", "BetaBot", "GammaBot"];

/// A file at a node, with the bounds of its beginning and its end.
#[derive(Clone, Debug)]
pub(super) struct Serving {
    pub(super) file: usize,
    /// The others heard of it after this time. They count it from then on.
    pub(super) announced: Time,
    /// It was served at the second time, and not before the first.
    pub(super) from: (Time, Time),
    /// It was served until the first time, and not after the second.
    pub(super) until: (Time, Time),
}

/// A crawler's fetch of robots.txt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetch {
    pub(super) crawler: usize,
    pub(super) network: u8,
    pub(super) file: usize,
    /// Sent, and answered.
    pub(super) at: (Time, Time),
}

/// A crawler's request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) crawler: usize,
    pub(super) network: u8,
    pub(super) path: usize,
    pub(super) node: usize,
    /// Sent, and answered.
    pub(super) at: (Time, Time),
    pub(super) is_refused: bool,
}

/// All that happened.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) files: Vec<File>,
    /// By node.
    pub(super) served: Vec<Vec<Serving>>,
    pub(super) fetches: Vec<Fetch>,
    /// By node: when it was away from the others, or had just come back.
    pub(super) away: Vec<Vec<(Time, Time)>>,
}

/// What the model says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    MustPass,
    MustRefuse,
    /// Within the lag, both are right.
    Either,
}

/// How long a crawler may use its copy, and how late a node may know of another's news.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) window: Time,
    pub(super) lag: Time,
}

impl History {
    pub(super) fn judge(&self, ask: &Ask, bounds: Bounds) -> Judgement {
        let closes = |file: &usize| self.files[*file].closed[ask.crawler][ask.path];
        if !self.surely_known(ask, bounds).iter().all(closes) {
            return Judgement::MustPass;
        }
        let is_away =
            self.away[ask.node].iter().any(|(from, until)| *from < ask.at.1 && ask.at.0 < *until);
        let may_pass = !self.possibly_known(ask, bounds).iter().all(closes);
        if is_away || may_pass { Judgement::Either } else { Judgement::MustRefuse }
    }

    /// The files that the crawler may be using, beyond doubt.
    fn surely_known(&self, ask: &Ask, Bounds { window, .. }: Bounds) -> Vec<usize> {
        // A moment for the clock of the node, which is another one.
        const SLACK: Time = 50;
        let (sent, answered) = ask.at;
        // In force at some node all the while.
        let mut known = self.in_force(|one| one.from.1 < sent && answered < one.until.0);
        let recent = |fetch: &&Fetch| fetch.at.1 + window > answered + SLACK;
        let own = self.own(ask).filter(|fetch| fetch.at.0 + window + SLACK > sent);
        match own {
            Some(own) if recent(&own) => {
                known.push(own.file);
                let later = self.of_name(ask).filter(|fetch| fetch.at.0 > own.at.1);
                known.extend(later.filter(recent).map(|fetch| fetch.file));
            }
            // It may be too old just now.
            Some(_) => {}
            None => {
                let start = (answered + SLACK).saturating_sub(window);
                known.extend(self.in_force(|one| {
                    one.until.0 > start && one.from.1 + SLACK < sent && one.from.1 < one.until.0
                }));
            }
        }
        known
    }

    /// All files that a node may take for known, with late news.
    fn possibly_known(&self, ask: &Ask, Bounds { window, lag }: Bounds) -> Vec<usize> {
        let (sent, answered) = ask.at;
        let since =
            |start: Time| self.in_force(move |one| one.until.1 > start && one.announced < answered);
        let mut known = since(sent.saturating_sub(lag));
        let start = sent.saturating_sub(window + lag);
        known.extend(self.of_name(ask).filter(|one| one.at.1 > start).map(|one| one.file));
        let own = self.own(ask);
        let is_heard =
            own.is_some_and(|own| own.at.1 + lag < sent && own.at.0 + window > answered + lag);
        if !is_heard {
            known.extend(since(start));
        }
        known
    }

    /// The last fetch of the client.
    fn own<'a>(&'a self, ask: &'a Ask) -> Option<&'a Fetch> {
        self.of_name(ask).filter(|fetch| fetch.network == ask.network).last()
    }

    /// The fetches in the name of the crawler before the request, by time.
    fn of_name<'a>(&'a self, ask: &'a Ask) -> impl Iterator<Item = &'a Fetch> {
        let is_before = |fetch: &&Fetch| fetch.at.1 <= ask.at.0;
        let fetches = self.fetches.iter().filter(|fetch| fetch.crawler == ask.crawler);
        fetches.filter(is_before)
    }

    fn in_force(&self, is_wanted: impl Fn(&Serving) -> bool) -> Vec<usize> {
        let all = self.served.iter().flatten();
        all.filter(|one| is_wanted(one)).map(|one| one.file).collect()
    }
}
