//! What the server wrote down, for the verbs that explain and compare.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    cli::exit::Error,
    enforce::{History, Moment, Rulebook},
    policy::Policy,
    proxy::Remembered,
    violations::{Obstacle, Store},
};

/// What the policy's database keeps; nothing where there is none yet.
pub(super) fn read(policy: &Policy) -> Result<Remembered, Error> {
    let Some(file) = &policy.violations.database else { return Ok(Remembered::default()) };
    let start = start(policy, Timestamp::now());
    let read = Store::open_read_only(file).and_then(|store| Remembered::read(&store, start));
    match read {
        Err(error) if matches!(error.obstacle, Obstacle::NoFile | Obstacle::NoFolder) => {
            Ok(Remembered::default())
        }
        read => read.map_err(|error| Error::Refused(error.to_string())),
    }
}

/// Editions that came this shortly before matter for the dates of those after them, even where
/// nobody is excused.
const LATELY: Duration = Duration::from_secs(60);

/// When the longest window of any site begins.
pub(super) fn start(policy: &Policy, now: Timestamp) -> Timestamp {
    Moment::at(now).start_of(longest_window(policy).max(LATELY))
}

/// The longest time for which crawlers may go by what they fetched.
pub(super) fn longest_window(policy: &Policy) -> Duration {
    let windows = policy.sites.iter().map(|site| site.robots_txt.cache_window);
    windows.max().unwrap_or_default()
}

/// The policy as a server would serve it now.
pub(super) fn rulebook(policy: &Policy, memory: &Remembered) -> Rulebook {
    let mut history = History::after(None, Timestamp::now());
    history.periods = memory.periods();
    Rulebook::compile_with(policy, &mut history)
}
