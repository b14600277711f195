//! Times as people read them, in UTC.

use jiff::Timestamp;

/// A time without parts of a second: `2026-11-22 10:31:00`.
pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%F %H:%M:%S").to_string()
}

/// The day of a time: `2026-11-22`.
pub(super) fn day(at: Timestamp) -> String {
    at.strftime("%F").to_string()
}
