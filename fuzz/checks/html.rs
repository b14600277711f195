//! An HTML document: parsing does not panic, in one piece or in two. Its rules survive writing as a
//! field and parsing again.

use beadle::formats::robots_tag::{self, DocumentReader, MAX_BYTES};

pub(crate) fn holds_for(octets: &[u8]) {
    let document = robots_tag::read_html(octets, |_| true);
    for meta in &document.metas {
        assert!(octets[meta.offset..].to_ascii_lowercase().starts_with(b"<meta"));
    }
    let (first, second) = octets.split_at(octets.len() / 2);
    let mut reader = DocumentReader::default();
    reader.feed(first);
    reader.feed(second);
    assert_eq!(reader.finish(|_| true), document);

    let tag = document.tag();
    if tag.field_len() <= MAX_BYTES {
        let field = tag.to_field().unwrap_or_default();
        assert_eq!(robots_tag::read(&[field.as_bytes()]).0, tag, "{field}");
    }
}
