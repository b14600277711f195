//! The file descriptors of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::rules::policy::Limits;

/// Those that are neither of clients nor of origins: files, databases, listeners, pages.
const OWN: u64 = 64;

/// So many connections are few, even for a small site.
const FEW: usize = 1_024;

/// Raises the limit to the highest that the process may set, and returns how many descriptors there are
/// for clients and origins: half of them, if they are few. Service managers keep the soft limit at 1,024
/// for programs that use select.
pub(super) fn raise() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, highest) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    // `None` is no limit.
    current.map_or(usize::MAX, |count| {
        usize::try_from(count.saturating_sub(OWN).max(count / 2)).unwrap_or(usize::MAX)
    })
}

/// Lowers the limits to what so many descriptors allow, so that a request which is accepted has one
/// for its origin. Returns the connections if they are fewer than the policy's.
pub(super) fn fit(limits: &mut Limits, descriptors: usize) -> Option<usize> {
    let wanted = limits.connections;
    let requests = limits.requests.unwrap_or(wanted).min(descriptors / 2).max(1);
    limits.requests = Some(requests);
    limits.connections = wanted.min(descriptors.saturating_sub(requests)).max(1);
    (limits.connections < wanted).then_some(limits.connections)
}

/// Logs that there are fewer connections than the policy allows. The default is more than most sites
/// need, so only few of them are a warning.
pub(super) fn report(connections: Option<usize>) {
    match connections {
        Some(connections) if connections < FEW => tracing::warn!(
            connections,
            "few open files: fewer connections than server.limits.connections (raise LimitNOFILE or \
             ulimit -n)"
        ),
        Some(connections) => {
            tracing::info!(connections, "open files allow fewer than server.limits.connections");
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_descriptors_for_origins() {
        for (requests, descriptors, expected, few) in [
            (None, usize::MAX, (20_000, 20_000), None),
            (None, 65_472, (20_000, 20_000), None),
            (None, 30_000, (15_000, 15_000), Some(15_000)),
            (Some(100), 30_000, (20_000, 100), None),
            (Some(30_000), 32, (16, 16), Some(16)),
            (Some(2), 32, (30, 2), Some(30)),
            (None, 0, (1, 1), Some(1)),
        ] {
            let mut limits = Limits { requests, ..Limits::default() };
            assert_eq!(fit(&mut limits, descriptors), few, "{descriptors}");
            assert_eq!((limits.connections, limits.requests), (expected.0, Some(expected.1)));
        }
    }
}
