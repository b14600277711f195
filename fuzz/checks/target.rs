//! A request target: it has one normal form and few evasion forms, all different.

use beadle::robots::{Forms, Target, path::MAX_LENGTH};

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

    let evasions: Vec<_> = target.evasions().collect();
    assert!(evasions.len() <= 15);
    for (index, form) in evasions.iter().enumerate() {
        assert!(form.starts_with(b"/") && *form != letter);
        assert!(!evasions[..index].contains(form));
    }
    let alone = Target::with_forms(octets, Forms::NONE);
    assert_eq!((alone.letter(), alone.evasions().count()), (letter, 0));
    assert!(Target::of_url(octets).letter().starts_with(b"/"));
}

fn has_stray_percent(octets: &[u8]) -> bool {
    let is_hex = |at: usize| octets.get(at).is_some_and(u8::is_ascii_hexdigit);
    (0..octets.len()).any(|at| octets[at] == b'%' && !(is_hex(at + 1) && is_hex(at + 2)))
}
