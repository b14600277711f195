use super::*;

#[test]
fn durations_have_a_unit() {
    for (text, expected) in [
        ("500ms", Some(500)),
        ("30s", Some(30_000)),
        ("5 m", Some(300_000)),
        ("90d", Some(7_776_000_000)),
        ("30", None),
        ("-1s", None),
        ("1e9d", None),
        ("", None),
        ("s", None),
        ("99999999999999999999d", None),
    ] {
        assert_eq!(duration(text), expected.map(Duration::from_millis), "{text:?}");
    }
}

#[test]
fn sizes_have_a_unit() {
    for (text, expected) in [
        ("500MiB", Some(500 << 20)),
        ("2 GiB", Some(2 << 30)),
        ("1GB", Some(1_000_000_000)),
        ("20000kB", Some(20_000_000)),
        ("16384KiB", Some(16 << 20)),
        ("1TiB", Some(1 << 40)),
        ("2", None),
        ("-2GiB", None),
        ("1.5GiB", None),
        ("2G", None),
        ("2gib", None),
        ("", None),
        ("GiB", None),
        ("99999999999TiB", None),
    ] {
        assert_eq!(size(text), expected, "{text:?}");
    }
}

#[test]
fn a_size_is_written_in_the_largest_exact_unit() {
    for written in ["2GiB", "16MiB", "500MB", "3TB", "1025KiB"] {
        assert_eq!(size_text(size(written).expect("a size")), written);
    }
    assert_eq!((size_text(1 << 41), size_text(7)), ("2TiB".to_owned(), "7".to_owned()));
}
