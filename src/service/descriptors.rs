//! The file descriptors of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Those that are neither of clients nor of origins: files, databases, listeners, pages.
const OWN: u64 = 64;

/// Raises the limit to the highest that the process may set, and returns how many descriptors there are
/// for clients and origins. Service managers keep the soft limit at 1,024 for programs that use select.
pub(super) fn raise() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, highest) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    // `None` is no limit.
    current.map_or(usize::MAX, |count| {
        usize::try_from(count.saturating_sub(OWN)).unwrap_or(usize::MAX)
    })
}
