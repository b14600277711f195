//! The examples of draft-illyes-repext-03, and the sentences around them.

use super::*;

#[test]
fn draft_3_1_1_the_example_reads_as_the_draft_says() {
    let line = "*;nosnippet, ExampleBot;noindex";
    assert_eq!(strict_rules(&[line], "AnyBot"), ["nosnippet"]);
    assert_eq!(strict_rules(&[line], "ExampleBot"), ["noindex", "nosnippet"]);
    assert!(read(&[line.as_bytes()]).1.is_empty());
    // The deserialised objects: the specific one has the global rules too.
    let (tag, _) = read(&[line.as_bytes()]);
    let scopes: Vec<_> = tag.scopes().map(|(scope, _)| scope.clone()).collect();
    assert_eq!(scopes, [Scope::Any, Scope::Token(token("ExampleBot").expect("a token"))]);
    let flags = tag.restrictions(token("ExampleBot").as_ref());
    assert!(flags.iter().all(|rule| rule.value().is_none()), "each is true");
}

#[test]
fn draft_3_1_1_a_token_stands_more_than_once_and_rules_are_united() {
    // "both a specific product token and the global": "MUST apply the union".
    for lines in [
        &["*;nosnippet, ExampleBot;noindex"][..],
        &["ExampleBot;noindex, *;nosnippet"],
        &["ExampleBot;noindex", "*;nosnippet, ExampleBot"],
        &["examplebot;noindex, EXAMPLEBOT;nosnippet, other;noarchive"],
    ] {
        assert_eq!(strict_rules(lines, "ExampleBot"), ["noindex", "nosnippet"], "{lines:?}");
    }
    // "The absence of a rule … constitutes as no instruction."
    assert_eq!(strict_rules(&["ExampleBot"], "ExampleBot"), [""; 0]);
    assert_eq!(strict_rules(&["ExampleBot;noindex"], "OtherBot"), [""; 0]);
}

#[test]
fn draft_3_1_1_the_example_says_the_same_under_the_older_name() {
    let (new, _) = read(&[b"*;nosnippet, ExampleBot;noindex"]);
    let (old, _) = read_legacy(&[b"nosnippet", b"ExampleBot: noindex"]);
    assert_eq!(old, new);
    assert_eq!(new.to_legacy(), ["nosnippet", "ExampleBot: noindex"]);
}

#[test]
fn draft_3_1_2_the_field_can_express_the_rules_of_the_meta_example() {
    // <meta name="robots" content="noindex"> and <meta name="examplebot" content="nosnippet">
    let tag = tag(&[("*", &["noindex"]), ("examplebot", &["nosnippet"])]);
    assert_eq!(tag.to_field().as_deref(), Some("*;noindex, examplebot;noindex;nosnippet"));
    assert_eq!(tag.to_legacy(), ["noindex", "examplebot: nosnippet"]);
}

#[test]
fn draft_3_1_3_the_values_are_case_insensitive() {
    // A key in upper case is no structured field; a value is compared without case.
    assert_eq!(strict_rules(&["*;max-image-preview=LARGE"], "a"), ["max-image-preview=large"]);
    assert_eq!(strict_rules(&["*;NoIndex"], "a"), [""; 0]);
    assert_eq!(codes(&read(&[b"*;NoIndex"]).1), ["robots_tag.upper_case_key"]);
    assert_eq!(read_leniently(b"*;NoIndex").tag, tag(&[("*", &["noindex"])]));
}

#[test]
fn draft_3_1_2_a_named_crawler_still_follows_the_star() {
    let named = tag(&[("*", &["noindex"]), ("examplebot", &["nosnippet", "all", "index"])]);
    assert_eq!(effective(&named, &[], token("ExampleBot").as_ref()), ["noindex", "nosnippet"]);
    assert_eq!(strict_rules(&["*;noindex, examplebot;noindex=?0"], "examplebot"), ["noindex"]);
    // In the older field as well, where `all` is a rule of its own.
    assert_eq!(legacy_rules(&["noindex", "examplebot: all"], "examplebot"), ["noindex"]);
}

#[test]
fn draft_5_2_the_registry_has_two_rules() {
    let registered = known_rules().iter().filter(|rule| rule.registered).map(|rule| rule.name);
    assert_eq!(registered.collect::<Vec<_>>(), ["noindex", "nosnippet"]);
}
