//! The texts of the vocabulary draft, and of the content signals draft, as tables of cases.

use proptest::prelude::*;

use super::*;

fn usage(value: &str) -> String {
    let said = Carrier::ContentUsage.read(value.as_bytes());
    Carrier::ContentUsage.write(&said).unwrap_or_default()
}

#[test]
fn draft_vocab_6_a_dictionary_is_processed() {
    for (value, expected) in [
        ("train-ai=y, search=n", "train-ai=y, search=n"),
        ("search=n,train-ai=y", "train-ai=y, search=n"),
        ("  train-ai=n  ", "train-ai=n"),
        ("train-ai=n \t,\t search=y", "train-ai=n, search=y"),
        ("", ""),
        // §6.1, §6.5.1: labels are case sensitive, and an upper-case key breaks the dictionary.
        ("Train-AI=n", ""),
        ("search=y, TRAIN-AI=n", ""),
        ("train-ai=N, search=y", "search=y"),
        // §6.4: unknown labels are ignored, whatever their values.
        ("ai=n, train-ai=n, x, y=(1 2);z, *.-_=?0", "train-ai=n"),
        ("ai-input=n", ""),
        // §6.5: values that are no Token `y` or `n` are unknown.
        ("train-ai", ""),
        ("train-ai=?1", ""),
        ("train-ai=\"n\", search=n", "search=n"),
        ("train-ai=no", ""),
        ("train-ai=1, search=(n)", ""),
        // §6.5.1: the last value wins.
        ("train-ai=y, train-ai=n", "train-ai=n"),
        ("train-ai=n, train-ai=y", "train-ai=y"),
        ("train-ai=y, train-ai, search=n, search=\"n\"", ""),
        // §6.5.2: parameters say nothing.
        ("train-ai;allow=n, train-ai=y", "train-ai=y"),
        ("train-ai=n;allow=y;x, search=y;n", "train-ai=n, search=y"),
        ("train-ai;has;parameters=\"?\"", ""),
        ("train-ai;has;parameters=\"?\";", ""),
        // A dictionary that fails to parse says nothing at all.
        ("train-ai=n,", ""),
        ("train-ai=n search=y", ""),
        ("train-ai: n", ""),
        ("/a train-ai=n", ""),
        ("\ttrain-ai=n", ""),
        ("train-ai=n, \u{e9}=y", ""),
    ] {
        assert_eq!(usage(value), expected, "{value}");
    }
}

#[test]
fn draft_vocab_5_1_the_stricter_statement_wins_for_each_category() {
    for (one, other, expected) in [
        ("train-ai=y", "train-ai=n", "train-ai=n"),
        ("train-ai=y, search=n", "search=y", "train-ai=y, search=n"),
        ("train-ai=y", "train-ai=y", "train-ai=y"),
        ("", "search=y", "search=y"),
        ("broken,", "search=n", "search=n"),
        ("", "", ""),
    ] {
        let read = |value: &str| Carrier::ContentUsage.read(value.as_bytes());
        for (a, b) in [(one, other), (other, one)] {
            let together = read(a).combine(read(b));
            let text = Carrier::ContentUsage.write(&together).unwrap_or_default();
            assert_eq!(text, expected, "{a} and {b}");
        }
    }
}

#[test]
fn draft_attach_2_field_lines_are_one_dictionary() {
    for (lines, expected) in [
        (&["train-ai=n", "search=y"][..], Some("train-ai=n, search=y")),
        (&["train-ai=n", "", "train-ai=y"], Some("train-ai=y")),
        (&["train-ai=n", "search="], None),
        (&[], None),
    ] {
        let said = Carrier::ContentUsage.read_lines(lines.iter().map(|line| line.as_bytes()));
        assert_eq!(Carrier::ContentUsage.write(&said).as_deref(), expected, "{lines:?}");
    }
}

#[test]
fn draft_attach_3_2_a_path_stands_before_the_statement() {
    for (value, expected) in [
        ("train-ai=n", (None, "train-ai=n")),
        ("/ai-ok/ train-ai=y", (Some("/ai-ok/"), "train-ai=y")),
        ("/a\t \ttrain-ai=y", (Some("/a"), "train-ai=y")),
        ("/ train-ai=n, search=y", (Some("/"), "train-ai=n, search=y")),
        ("/train-ai=n", (Some("/train-ai=n"), "")),
        ("*.gif train-ai=n", (None, "*.gif train-ai=n")),
        ("", (None, "")),
    ] {
        assert_eq!(split_path(value), expected, "{value}");
    }
}

#[test]
fn draft_contentsignals_are_the_same_categories() {
    for (value, expected) in [
        ("search=yes, ai-train=no", Some("ai-train=no, search=yes")),
        ("AI-Train = no,ai-input=yes", Some("ai-train=no, ai-input=yes")),
        ("ai-train=no, use=reference, x=1", Some("ai-train=no")),
        ("ai-train=no, ai-train=yes", Some("ai-train=yes")),
        ("ai-train=maybe", None),
        ("ai-train=n", None),
        ("ai-train=no, broken", None),
        ("train-ai=no", None),
        ("", None),
    ] {
        let said = Carrier::ContentSignal.read(value.as_bytes());
        assert_eq!(Carrier::ContentSignal.write(&said).as_deref(), expected, "{value}");
    }
    let said = Carrier::ContentSignal.read(b"ai-train=no, ai-input=no");
    assert_eq!(Carrier::ContentUsage.write(&said).as_deref(), Some("train-ai=n"));
    assert_eq!(Carrier::named("content-signal"), Some(Carrier::ContentSignal));
    assert_eq!(Carrier::named("Content-Signals"), None);
}

fn any_statement() -> impl Strategy<Value = Statement> {
    let preference =
        || prop::option::of(prop_oneof![Just(Preference::Allow), Just(Preference::Disallow)]);
    (preference(), preference(), preference()).prop_map(|(train, search, input)| {
        Statement::default()
            .with(Category::TrainAi, train)
            .with(Category::Search, search)
            .with(Category::AiInput, input)
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(statement in any_statement()) {
        let text = Carrier::ContentSignal.write(&statement).unwrap_or_default();
        prop_assert_eq!(Carrier::ContentSignal.read(text.as_bytes()), statement);
        prop_assert_eq!(Carrier::ContentSignal.is_valid(&text), !statement.is_empty());
        let known = statement.with(Category::AiInput, None);
        let text = Carrier::ContentUsage.write(&statement).unwrap_or_default();
        prop_assert_eq!(Carrier::ContentUsage.read(text.as_bytes()), known);
        prop_assert_eq!(Carrier::ContentUsage.is_valid(&text), !known.is_empty());
    }

    #[test]
    fn combining_needs_no_order(a in any_statement(), b in any_statement(), c in any_statement()) {
        prop_assert_eq!(a.combine(b), b.combine(a));
        prop_assert_eq!(a.combine(b).combine(c), a.combine(b.combine(c)));
        prop_assert_eq!(a.combine(a), a);
        prop_assert_eq!(a.combine(Statement::default()), a);
    }
}
