//! The laws of robots tags as properties: reading is total, writing reads back, the union is a union.

use proptest::prelude::*;

use super::*;

fn any_rule() -> impl Strategy<Value = Rule> {
    let text = prop_oneof![
        4 => prop::sample::select(known_rules()).prop_filter_map("takes a value", |known| {
            (known.value == ValueKind::None).then(|| known.name.to_owned())
        }),
        1 => (-1i64..40).prop_map(|n| format!("max-snippet={n}")),
        1 => prop::sample::select(vec!["none", "standard", "large"])
            .prop_map(|word| format!("max-image-preview:{word}")),
        1 => (1..28u8)
            .prop_map(|day| format!("unavailable_after: Fri, {day} Jun 2030 15:00:00 GMT")),
        1 => "[a-z][a-z0-9_.-]{0,6}",
    ];
    text.prop_filter_map("a rule", |text| Rule::new(&text).ok())
}

fn any_scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Any),
        "[a-cA-C0-1_-][a-b1 ._-]{0,2}"
            .prop_filter_map("a token", |text| token(&text).map(Scope::Token)),
    ]
}

prop_compose! {
    fn any_tag()(members in prop::collection::vec((any_scope(), any_rule()), 0..8)) -> RobotsTag {
        let mut tag = RobotsTag::new();
        for (scope, rule) in members {
            tag.add(scope, rule);
        }
        tag
    }
}

/// The crawlers that these tags could distinguish.
fn crawlers(tags: &[&RobotsTag]) -> Vec<Option<ProductToken>> {
    let named = tags.iter().flat_map(|tag| tag.scopes()).filter_map(|(scope, _)| match scope {
        Scope::Any => None,
        Scope::Token(token) => Some(Some(token.clone())),
    });
    named.chain([None, token("somebody-else")]).collect()
}

proptest! {
    #[test]
    fn a_written_field_reads_back(tag in any_tag()) {
        let field = tag.to_field();
        let lines: Vec<&[u8]> = field.iter().map(String::as_bytes).collect();
        let (read, findings) = read(&lines);
        prop_assert!(findings.iter().all(|f| f.severity == Severity::Note), "{:?}", findings);
        prop_assert_eq!(&read, &tag);
        prop_assert_eq!(tag.field_len(), field.map_or(0, |field| field.len()));
    }

    #[test]
    fn both_syntaxes_mean_the_same(tag in any_tag()) {
        let legacy = tag.to_legacy();
        let lines: Vec<&[u8]> = legacy.iter().map(String::as_bytes).collect();
        prop_assert!(tag.unsayable_in_legacy().is_empty());
        prop_assert_eq!(&read_legacy(&lines).0, &tag);
        prop_assert!(read_legacy_leniently(&lines).valid);
    }

    #[test]
    fn the_older_syntax_adds_nothing_and_reports_what_it_leaves_out(line in foreign()) {
        let tag = read_leniently(&line).tag;
        let legacy = tag.to_legacy();
        let lines: Vec<&[u8]> = legacy.iter().map(String::as_bytes).collect();
        let (read, _) = read_legacy(&lines);
        prop_assert_eq!(&read.union(&tag), &tag, "{:?}", legacy);
        prop_assert_eq!(read == tag, tag.unsayable_in_legacy().is_empty(), "{:?}", legacy);
    }

    #[test]
    fn a_crawler_that_follows_only_its_own_member_has_all_rules(tag in any_tag()) {
        // The other reading of the draft: a token's rules replace those of `*`.
        let Some(field) = tag.to_field() else { return Ok(()) };
        for crawler in crawlers(&[&tag]).into_iter().flatten() {
            let own: Vec<&str> = field
                .split(", ")
                .filter(|member| {
                    let name = member.split(';').next().unwrap_or_default().trim_matches('"');
                    name.eq_ignore_ascii_case(crawler.as_str())
                })
                .collect();
            if !own.is_empty() && !field.contains("unavailable") {
                let alone = read(&[own.join(", ").as_bytes()]).0;
                let crawler = Some(&crawler);
                prop_assert_eq!(effective(&alone, &[], crawler), effective(&tag, &[], crawler));
            }
        }
    }

    #[test]
    fn the_union_has_its_laws(a in any_tag(), b in any_tag(), c in any_tag()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(&a.union(&a), &a);
        prop_assert_eq!(&a.union(&a.union(&b)), &a.union(&b));
        prop_assert_eq!(&a.union(&RobotsTag::new()), &a);
        // To the octet, although names in another case are equal.
        prop_assert_eq!(a.union(&b).to_field(), b.union(&a).to_field());
        prop_assert_eq!(a.union(&b).to_legacy(), b.union(&a).to_legacy());
    }

    #[test]
    fn the_union_has_the_rules_of_both(a in any_tag(), b in any_tag()) {
        let both = a.union(&b);
        for crawler in crawlers(&[&a, &b]) {
            let crawler = crawler.as_ref();
            let mut naive: Vec<Rule> =
                [&a, &b].into_iter().flat_map(|tag| tag.restrictions(crawler)).cloned().collect();
            naive.sort();
            naive.dedup();
            // Quadratic on purpose: a rule counts unless there is a stricter one of its name.
            let all = naive.clone();
            naive.retain(|rule| {
                !all.iter().any(|other| {
                    let ranks = other.rank().zip(rule.rank());
                    other.name() == rule.name() && ranks.is_some_and(|(a, b)| a < b)
                })
            });
            let found: Vec<Rule> = both.restrictions(crawler).into_iter().cloned().collect();
            prop_assert_eq!(found, naive);
        }
    }

    #[test]
    fn a_merge_is_one_valid_field_that_repeats_nothing(a in any_tag(), b in any_tag()) {
        let merged = a.union(&b);
        let field = merged.to_field_keeping(&a);
        prop_assert!(field.complete);
        let value = field.value.unwrap_or_default();
        let (again, findings) = read(&[value.as_bytes()]);
        prop_assert_eq!(again, merged);
        prop_assert!(findings.iter().all(|f| f.code != "robots_tag.repeated_rule"));
    }

    #[test]
    fn reading_never_panics_and_lenient_reading_loses_no_valid_rule(bytes in foreign()) {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let (strict, findings) = read(&bytes.split(|byte| *byte == 0).collect::<Vec<_>>());
        let _ = (strict.to_field(), strict.to_legacy(), strict.unsayable_in_legacy(), findings);
        let (legacy, _) = read_legacy(&lines);
        let lenient = read_legacy_leniently(&lines);
        let _ = (legacy.to_field(), legacy.to_legacy(), lenient.tag.to_field());
        for line in lines {
            let (strict, _) = read(&[line]);
            let reading = read_leniently(line);
            if reading.valid {
                prop_assert_eq!(strict.restricting(), reading.tag.clone());
            } else {
                prop_assert!(strict.is_empty());
            }
            // All that was understood can be written as a valid field.
            let written = reading.tag.to_field();
            let again: Vec<&[u8]> = written.iter().map(String::as_bytes).collect();
            prop_assert_eq!(read(&again).0, reading.tag);
        }
        let (field, older) = (read(&[&bytes]).0, read_legacy(&[&bytes]).0);
        let _ = effective(&field, &[&older], token("a").as_ref());
    }
}

/// Bytes near enough to a field to reach every branch.
fn foreign() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        8 => prop::sample::select(vec![
            "*", ";", ",", ":", "=", " ", "\"", "\\", "(", ")", "?0", "?1", "\n", "\0",
            "noindex", "NoIndex", "all", "none", "max-snippet", "20", "-1",
            "unavailable_after", "Fri, 1 Jan 2030 15:00", "googlebot", "_b", "3", "@1",
            ":YQ==:", "1.5", "max-image-preview", "large", "%\"a\"", "\t", "; ", ", ", ": ",
            "a b",
            "noodp", "x-y", "max-snippet;", "Googlebot", "unavailable_after=\"1 May, 15:00\"",
        ]).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}
