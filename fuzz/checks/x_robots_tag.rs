//! Lines of `X-Robots-Tag`: parsing does not panic. The parser reads the same rules from either
//! field, as far as the field can express them.

use beadle::formats::robots_tag::{self, MAX_BYTES};

pub(crate) fn holds_for(octets: &[u8]) {
    let lines: Vec<&[u8]> = octets.split(|&octet| octet == b'\n').collect();
    let (tag, _) = robots_tag::read_legacy(&lines);
    assert_eq!(tag.union(&tag), tag);

    if tag.unsayable_in_legacy().is_empty() {
        let written = tag.to_legacy();
        let written: Vec<&[u8]> = written.iter().map(String::as_bytes).collect();
        assert_eq!(robots_tag::read_legacy(&written).0, tag);
    }
    if tag.field_len() <= MAX_BYTES {
        let field = tag.to_field();
        assert_eq!(field.is_none(), tag.is_empty());
        let field = field.unwrap_or_default();
        assert_eq!(robots_tag::read(&[field.as_bytes()]).0, tag, "{field}");
    }
    let _ = robots_tag::read_legacy_leniently(&lines);
}
