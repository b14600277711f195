//! A request target: it has one normal form and few evasion forms, all different.

use beadle::formats::robots::{MAX_FORMS, MAX_OCTETS, Reading, Target, path::MAX_LENGTH};

pub(crate) fn holds_for(octets: &[u8]) {
    let target = Target::new(octets);
    let letter = target.letter();
    assert!(letter.starts_with(b"/"));
    assert!(letter.len() <= 3 * MAX_LENGTH + 1, "an octet becomes three at most");
    assert!(!letter.contains(&b'#'));
    assert!(letter.iter().all(u8::is_ascii_graphic));
    // A literal `%` may become a part of an escape: `%%61b` is `%ab`.
    if letter.len() <= MAX_LENGTH && octets.len() <= MAX_LENGTH && !has_stray_percent(octets) {
        assert_eq!(Target::new(letter).letter(), letter, "normal already");
    }

    let evasions = target.evasions();
    for (index, form) in evasions.iter().enumerate() {
        assert!(form.starts_with(b"/") && form != letter);
        assert!(!evasions[..index].contains(form));
    }
    // Up to four letters, four readings at last of each path, four queries, and two cases.
    const KINDS: usize = 4 * 4 * 4 * 2;
    for reading in [
        Reading::default(),
        Reading { case_insensitive: true, ..Reading::default() },
        Reading { decode_depth: 3, ..Reading::default() },
    ] {
        let target = Target::read_by(octets, reading);
        let forms = target.evasions();
        assert!(forms.len() < KINDS * MAX_FORMS);
        let length = MAX_OCTETS.max(letter.len()) + MAX_FORMS * letter.len();
        assert!(forms.iter().map(Vec::len).sum::<usize>() <= KINDS * length);
        assert!(evasions.iter().all(|known| forms.contains(known)) || target.is_cut());
    }
    assert!(Target::of_url(octets).letter().starts_with(b"/"));
}

fn has_stray_percent(octets: &[u8]) -> bool {
    let is_hex = |at: usize| octets.get(at).is_some_and(u8::is_ascii_hexdigit);
    (0..octets.len()).any(|at| octets[at] == b'%' && !(is_hex(at + 1) && is_hex(at + 2)))
}
