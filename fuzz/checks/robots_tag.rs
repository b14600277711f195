//! Lines of `Robots-Tag`: parsing does not panic. The union does not depend on order or repetition,
//! and the parser reads everything that the writer wrote.

use beadle::formats::robots_tag::{self, MAX_BYTES};

pub(crate) fn holds_for(octets: &[u8]) {
    let lines: Vec<&[u8]> = octets.split(|&octet| octet == b'\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let (a, b) = (robots_tag::read(first).0, robots_tag::read(second).0);
    let both = a.union(&b);
    assert_eq!(both, b.union(&a));
    assert_eq!(both.union(&a), both);
    assert_eq!(both.union(&both), both);

    for line in &lines {
        let reading = robots_tag::read_leniently(line);
        assert!(reading.valid || !reading.diagnostics.is_empty());
        let tag = reading.tag;
        match tag.to_field() {
            None => assert!(tag.is_empty()),
            Some(field) => {
                assert!(field.len() <= MAX_BYTES);
                if tag.field_len() <= MAX_BYTES {
                    assert_eq!(robots_tag::read(&[field.as_bytes()]).0, tag, "{field}");
                }
            }
        }
    }
}
