//! The names of the keys of one fleet. They share a hash tag, so that a cluster keeps them in one
//! slot.

/// The milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// The keys of one fleet.
#[derive(Clone, Debug)]
pub(super) struct Keys(String);

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        Self(format!("{{{prefix}}}:"))
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// The stream of messages.
    pub(super) fn news(&self) -> String {
        self.key("news")
    }

    /// The beats of all nodes, by name.
    pub(super) fn beats(&self) -> String {
        self.key("beats")
    }

    pub(super) fn report(&self, node: &str) -> String {
        self.key(&format!("node:{node}"))
    }

    /// The fetches, by time.
    pub(super) fn fetches(&self) -> String {
        self.key("fetches")
    }

    /// The rungs, by time.
    pub(super) fn rungs(&self) -> String {
        self.key("rungs")
    }

    /// The openings of breakers, by time.
    pub(super) fn openings(&self) -> String {
        self.key("openings")
    }

    /// The counts of ladders of the hour of `at`.
    pub(super) fn ladder(&self, at: i64) -> String {
        self.key(&format!("ladder:{}", at.div_euclid(HOUR)))
    }

    /// The same of the hour before.
    pub(super) fn ladder_before(&self, at: i64) -> String {
        self.ladder(at.saturating_sub(HOUR))
    }

    /// The first times of editions.
    pub(super) fn first(&self) -> String {
        self.key("editions:first")
    }

    /// The last times of editions.
    pub(super) fn last(&self) -> String {
        self.key("editions:last")
    }

    /// The bytes of an edition.
    pub(super) fn edition(&self, id: &str) -> String {
        self.key(&format!("edition:{id}"))
    }

    /// A mark that is gone when the server has lost its data.
    pub(super) fn mark(&self) -> String {
        self.key("mark")
    }

    /// The alerts that were not sent yet, by their ids.
    pub(super) fn notices(&self) -> String {
        self.key("alerts:waiting")
    }

    /// When reports were sent last, by their keys.
    pub(super) fn reports(&self) -> String {
        self.key("reports")
    }

    /// The node that sends the alerts.
    pub(super) fn lease(&self) -> String {
        self.key("alerts")
    }
}
