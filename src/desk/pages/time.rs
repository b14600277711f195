//! Times as people read them, in UTC.

use jiff::Timestamp;

/// A time without parts of a second: `2026-11-22 10:31:00`.
pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%F %H:%M:%S").to_string()
}

/// A time as the filter of violations reads it: `2026-11-22T10:00:00Z`.
pub(super) fn exact(at: Timestamp) -> String {
    at.strftime("%FT%H:%M:%SZ").to_string()
}
