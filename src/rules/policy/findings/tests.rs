use super::*;

#[test]
fn a_misspelling_is_recognised_and_an_unrelated_word_is_not() {
    let known = ["robots_txt", "robots_tag", "enforcement", "hosts"];
    assert_eq!(closest("enforcment", known.into_iter()), Some("enforcement"));
    assert_eq!(closest("robots.txt", known.into_iter()), Some("robots_txt"));
    assert_eq!(closest("upstream", known.into_iter()), None);
    assert_eq!(contained("enforce", &known), Some("enforcement"));
    assert_eq!(contained("robot", &known), Some("robots_txt"));
    assert_eq!(contained("upstream", &known), None);
}

#[test]
fn a_part_of_several_names_suggests_them_all() {
    let known = ["ai-training", "ai-search", "search", "seo"];
    for (text, expected) in [
        ("ai", Some("did you mean one of 'ai-training', 'ai-search'?")),
        ("serch", Some("did you mean 'search'?")),
        ("training", Some("did you mean 'ai-training'?")),
        ("search-engine", Some("did you mean 'search'?")),
        ("x", None),
        ("", None),
    ] {
        assert_eq!(suggestion(text, known.into_iter()).as_deref(), expected, "{text}");
    }
}
