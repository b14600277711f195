//! The paths that the steps make of one path, in any order.

use super::{
    decoding::{self, drop_invalid_utf8},
    mark::Decoded,
    paths::Paths,
    step::{self, STEPS, Step},
    steps::{Reading, Steps},
};

/// The most paths that are made of one letter.
pub const MAX_FORMS: usize = 32;

/// The most octets in these paths together, each with the query, unless the letter alone has more.
pub const MAX_OCTETS: usize = 256 * 1024;

/// The most paths with what is done to each at last.
const MAX_PATHS: usize = 4 * MAX_FORMS;

/// The path and all that origins make of it, and whether there is more.
///
/// Each path is followed by a query of `query` octets.
pub(super) fn paths(
    path: &[u8],
    query: usize,
    reading: Reading,
    decoded: Decoded,
) -> (Paths, bool) {
    let (mut found, mut is_cut) = closure(path, query, reading, decoded);
    let takes = |step| reading.steps.has(step);
    let has = |octet| memchr::memchr(octet, path).is_some();
    let has_escapes = has(b'%');
    let may_end_sooner = !step::has_plain_end(path);
    // Those of a row are taken on each path in turn.
    let rows: [&[(bool, Step)]; 6] = [
        &[(takes(Steps::DROP_PARAMETERS) && has(b';'), step::drop_last_parameter)],
        &[(takes(Steps::DECODE_RESERVED) && has_escapes, decoding::decode_reserved)],
        &[
            (takes(Steps::DECODE_LATIN_1) && has_escapes, |path, out, _| {
                decoding::read_latin_1(path, out)
            }),
            (takes(Steps::DROP_INVALID_UTF8) && has_escapes, |path, out, _| {
                drop_invalid_utf8(path, out)
            }),
        ],
        &[(takes(Steps::TRIM_LINE_FEED), step::trim_line_feed)],
        &[(takes(Steps::TRIM_SLASHES) && may_end_sooner, step::trim_slashes)],
        &[(takes(Steps::TRIM_DOTS), step::trim_dots)],
    ];
    let mut made = Vec::with_capacity(path.len());
    for row in rows {
        for at in 0..found.len() {
            for (_, step) in row.iter().filter(|(is_taken, _)| *is_taken) {
                made.clear();
                if step(found.get(at), &mut made, decoded) {
                    is_cut |= !found.add(&made, |count| count < MAX_PATHS);
                }
            }
        }
    }
    (found, is_cut)
}

fn closure(path: &[u8], query: usize, reading: Reading, decoded: Decoded) -> (Paths, bool) {
    let mut found = Paths::of(path);
    let mut octets = path.len() + query;
    let limit = MAX_OCTETS.max(octets);
    let mut add = |found: &mut Paths, path: &[u8]| {
        found.add(path, |count| {
            octets += path.len() + query;
            count < MAX_FORMS && octets <= limit
        })
    };
    let mut made = Vec::with_capacity(path.len());
    let mut next = 0;
    for times_decoded in 1..=reading.decode_depth.max(1) {
        if times_decoded > 1 {
            for known in 0..found.len() {
                for path in decoding::decode_again(found.get(known)) {
                    if !add(&mut found, &path) {
                        return (found, true);
                    }
                }
            }
        }
        while next < found.len() {
            let due = reading.steps.common(step::due(found.get(next)));
            for (kind, step) in STEPS {
                if !due.has(kind) {
                    continue;
                }
                made.clear();
                if step(found.get(next), &mut made, decoded) && !add(&mut found, &made) {
                    return (found, true);
                }
            }
            next += 1;
        }
    }
    (found, false)
}
