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
        assert_eq!(parse(text), expected.map(Duration::from_millis), "{text:?}");
    }
}
