//! Any octets are a target; its letter is in normal form and its evasion forms are few, different
//! from it and from each other.

#![no_main]

use beadle::robots::{Forms, Target, path::MAX_LENGTH};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let target = Target::new(octets);
    let letter = target.letter();
    assert!(letter.starts_with(b"/"));
    assert!(letter.len() <= 3 * MAX_LENGTH + 1, "an octet becomes three at most");
    assert!(!letter.contains(&b'#'));
    assert!(letter.iter().all(u8::is_ascii_graphic));
    if letter.len() <= MAX_LENGTH {
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
});
