use super::*;

#[test]
fn a_share_is_a_percentage() {
    for (text, expected) in [
        ("10%", Some("10%")),
        ("2.5 %", Some("2.5%")),
        ("100%", Some("100%")),
        ("0.1%", Some("0.1%")),
        ("0%", None),
        ("100.1%", None),
        ("0.05%", None),
        ("10", None),
        ("-1%", None),
        ("%", None),
        (".5%", None),
        ("99999%", None),
        ("", None),
    ] {
        let found = Share::parse(text).map(|share| share.to_string());
        assert_eq!(found.as_deref(), expected, "{text:?}");
    }
    let tenth = Share(100);
    for (part, whole, is_reached) in
        [(1, 10, true), (9, 91, false), (0, 1, false), (0, 0, true), (u64::MAX, u64::MAX, true)]
    {
        assert_eq!(tenth.is_reached(part, whole), is_reached, "{part} of {whole}");
    }
}
