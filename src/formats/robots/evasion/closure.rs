//! The paths that the steps make of one path, in any order.

use super::{
    decoding,
    mark::Decoded,
    paths::Paths,
    reading::Reading,
    step::{self, STEPS},
    steps::Steps,
};

/// The most paths that are made of one letter.
pub const MAX_FORMS: usize = 32;

/// The most octets in these paths together, each with the query, unless the letter alone has more.
pub const MAX_OCTETS: usize = 256 * 1024;

/// The most paths with what is done to each at last.
const MAX_PATHS: usize = 4 * MAX_FORMS;

/// What is left of a path without something at its end.
type Trim = fn(&[u8]) -> Option<&[u8]>;

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
    let mut made = Vec::with_capacity(path.len());
    let mut add = |found: &mut Paths, made: &[u8]| {
        is_cut |= !found.add(made, |count| count < MAX_PATHS);
    };
    if takes(Steps::DROP_PARAMETERS) && memchr::memchr(b';', path).is_some() {
        for at in 0..found.len() {
            made.clear();
            if step::drop_last_parameter(found.get(at), &mut made) {
                add(&mut found, &made);
            }
        }
    }
    let has_escapes = memchr::memchr(b'%', path).is_some();
    if takes(Steps::DECODE_RESERVED) && has_escapes {
        for at in 0..found.len() {
            made.clear();
            if decoding::decode_reserved(found.get(at), &mut made, decoded) {
                add(&mut found, &made);
            }
        }
    }
    let reads_latin_1 = takes(Steps::DECODE_LATIN_1);
    let drops_invalid = takes(Steps::DROP_INVALID_UTF8);
    if (reads_latin_1 || drops_invalid) && has_escapes {
        for at in 0..found.len() {
            made.clear();
            // What is UTF-8 is read in one way.
            if !decoding::read_latin_1(found.get(at), &mut made) {
                continue;
            }
            if reads_latin_1 {
                add(&mut found, &made);
            }
            if drops_invalid {
                made.clear();
                decoding::drop_invalid_utf8(found.get(at), &mut made);
                add(&mut found, &made);
            }
        }
    }
    let may_end_sooner = !step::has_plain_end(path);
    let ends: [(bool, Trim); 3] = [
        (takes(Steps::TRIM_LINE_FEED), step::without_line_feed),
        (takes(Steps::TRIM_SLASHES) && may_end_sooner, step::without_last_slashes),
        (takes(Steps::TRIM_DOTS), step::dotless),
    ];
    for (_, trim) in ends.into_iter().filter(|(is_taken, _)| *is_taken) {
        for at in 0..found.len() {
            if let Some(kept) = trim(found.get(at)) {
                made.clear();
                made.extend_from_slice(kept);
                add(&mut found, &made);
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
            let due = reading.steps.among(step::due(found.get(next)));
            for (kind, step) in STEPS {
                if due & kind == 0 {
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
