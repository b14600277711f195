//! Whether a target stays in a folder, however its origin reads it.

use memchr::memmem;

use super::{evasion::drop_invalid_utf8, path::Target};

/// Whether every form of a target lies in `folder`, which ends with a slash: the target begins with
/// it, and has nothing that an origin may read as two dots.
pub fn stays_in(target: &[u8], folder: &str) -> bool {
    if !target.starts_with(folder.as_bytes()) {
        return false;
    }
    let target = Target::letter_of(target);
    let path = target.letter().split(|octet| *octet == b'?').next().unwrap_or_default();
    // One octet that is no percent sign, and nothing that only some decoders take for an escape.
    let is_one_octet = |at: usize| match path.get(at + 1..at + 3) {
        Some(b"25") => false,
        Some(digits) => digits.iter().all(u8::is_ascii_hexdigit),
        None => false,
    };
    // What some decoders drop may stand between two dots.
    let mut valid = Vec::with_capacity(path.len());
    drop_invalid_utf8(path, &mut valid);
    memmem::find(&valid, b"..").is_none() && memchr::memchr_iter(b'%', path).all(is_one_octet)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::robots::{Reading, Steps};

    #[test]
    fn a_target_stays_in_its_folder_if_no_form_can_lead_out() {
        for (target, stays) in [
            ("/docs/a", true),
            ("/docs/", true),
            ("/docs/a//b;c/%2Fd%5C%40?u=../..&%u", true),
            ("/docs/a.b/.c/d./%2e", true),
            ("/docs", false),
            ("/docsx/a", false),
            ("//docs/a", false),
            ("/d%6Fcs/a", false),
            ("/docs/../a", false),
            ("/docs/%2e%2E/a", false),
            ("/docs/..%2Fa", false),
            ("/docs/.%2e;/a", false),
            ("/docs/a..b", false),
            ("/docs/.%E9%2e;/a", false),
            ("/docs/caf%C3%A9.html", true),
            ("/docs/%252e%252e/a", false),
            ("/docs/%u002e%u002e/a", false),
            ("/docs/a%6?/../b", false),
            ("/docs/%2>%2>/a", false),
            ("/docs/%", false),
        ] {
            assert_eq!(stays_in(target.as_bytes(), "/docs/"), stays, "{target}");
        }
    }

    proptest! {
        #[test]
        fn every_form_of_a_target_that_stays_lies_in_the_folder(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "/", "//", "a", ".", ";", "%2f", "%5C", "\\", "%3b", "%2e", "%252e", "%u002e", "%6?",
                    "%0A", "%20", "%E9", "?", "A",
                ]),
                0..9,
            ),
        ) {
            let target = format!("/docs/{}", pieces.concat());
            let steps = Steps::ALL.with(Steps::TRIM_DOTS);
            let reading = Reading { case_insensitive: true, decode_depth: 3, steps };
            let stays = stays_in(target.as_bytes(), "/docs/");
            for form in Target::read_by(target.as_bytes(), reading).evasions() {
                let path = form.split(|octet| *octet == b'?').next().unwrap_or_default();
                let is_in = path == b"/docs" || path.starts_with(b"/docs/");
                prop_assert!(!stays || is_in, "{target}: {}", form.escape_ascii());
            }
        }
    }
}
