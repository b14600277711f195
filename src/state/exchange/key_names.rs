//! The names of the keys of one fleet. They share a hash tag, so that a cluster keeps them in one
//! slot.

pub(super) const HOUR: i64 = 3_600_000;

#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
    pub(super) news: String,
    /// The beats of all nodes, by name.
    pub(super) beats: String,
    pub(super) fetches: String,
    pub(super) rungs: String,
    pub(super) openings: String,
    pub(super) first: String,
    pub(super) last: String,
    /// A mark that is gone when the server has lost its data.
    pub(super) mark: String,
    /// The alerts that were not sent yet, by their ids.
    pub(super) notices: String,
    /// When reports were sent last, by their keys.
    pub(super) reports: String,
    /// The node that sends the alerts.
    pub(super) lease: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = format!("{{{prefix}}}:");
        let key = |name| format!("{prefix}{name}");
        Self {
            news: key("news"),
            beats: key("beats"),
            fetches: key("fetches"),
            rungs: key("rungs"),
            openings: key("openings"),
            first: key("editions:first"),
            last: key("editions:last"),
            mark: key("mark"),
            notices: key("alerts:waiting"),
            reports: key("reports"),
            lease: key("alerts"),
            prefix,
        }
    }

    pub(super) fn report(&self, node: &str) -> String {
        format!("{}node:{node}", self.prefix)
    }

    /// The counts of ladders of the hour of `at`.
    pub(super) fn ladder(&self, at: i64) -> String {
        format!("{}ladder:{}", self.prefix, at.div_euclid(HOUR))
    }

    pub(super) fn edition(&self, id: &str) -> String {
        format!("{}edition:{id}", self.prefix)
    }
}
