use super::*;

#[test]
fn the_built_in_catalogue_holds_its_invariants() {
    let file = read_file("config/crawlers.yaml", BUILT_IN.as_bytes()).expect("it is sound");
    assert!(file.crawlers.len() >= 1_200);
    assert_eq!(file.version, built_in_version());
    assert_eq!(format!("{file:?}"), format!("{:?}", built_in_file()), "JSON says what YAML says");
    let catalogue = catalogue(file).expect("consistent");
    for (host, operator) in [
        ("chatgpt.com", "OpenAI"),
        ("www.perplexity.ai", "Perplexity"),
        ("www.google.fr", "Google"),
        ("www.bing.com", "Microsoft"),
    ] {
        assert_eq!(catalogue.operator_of(host), Some(operator));
    }
    for name in ["Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "MJ12bot", "curl"] {
        assert!(catalogue.find(name).is_some(), "{name}");
    }
}

#[test]
fn the_built_in_catalogue_is_sorted_in_both_of_its_parts() {
    let known_less_well = BUILT_IN.find("# Known less well").expect("the second part begins");
    let best = BUILT_IN[..known_less_well].matches("- product_token:").count();
    let file = built_in_file();
    let keys: Vec<String> =
        file.crawlers.iter().map(|entry| entry.product_token.to_ascii_lowercase()).collect();
    let (best, others) = keys.split_at(best);
    assert!(!best.is_empty() && !others.is_empty());
    for part in [best, others] {
        for pair in part.windows(2) {
            assert!(pair[0] < pair[1], "{} stands before {}", pair[0], pair[1]);
        }
    }
}

#[test]
fn each_list_of_addresses_names_its_format() {
    for entry in built_in_file().crawlers {
        assert_eq!(
            entry.ip_ranges.is_empty(),
            entry.ip_format.is_none(),
            "{}",
            entry.product_token
        );
    }
}

#[test]
fn a_broken_catalogue_file_is_refused_with_place_and_repair() {
    let whole = |crawlers: &str| format!("version: \"2026-11-01\"\ncrawlers:\n{crawlers}");
    for (text, code, line) in [
        (String::new(), "catalogue.malformed", None),
        ("<!doctype html><title>404</title>".to_owned(), "catalogue.malformed", Some(1)),
        (whole("  - { product_token: A, colour: red }"), "catalogue.malformed", Some(3)),
        (whole("  - { product_token: A, kind: robot }"), "catalogue.malformed", Some(3)),
        (whole("  - { operator: A }"), "catalogue.malformed", Some(3)),
        (whole("  - { product_token: \"*\" }"), "crawlers.bad_token", None),
        (
            whole("  - { product_token: A }\n  - { product_token: a }"),
            "crawlers.duplicate_name",
            None,
        ),
        (whole("  - { product_token: A, falls_back_to: [B] }"), "crawlers.unknown_reference", None),
        (
            whole("  - { product_token: A, user_agent_pattern: \"(\" }"),
            "crawlers.bad_pattern",
            None,
        ),
        (
            whole("  - { product_token: A, reverse_dns: [.amazonaws.com] }"),
            "catalogue.shared_suffix",
            None,
        ),
        ("version: new\ncrawlers: []".to_owned(), "catalogue.bad_version", None),
        (
            "version: \"2026-11-01\"\ncrawlers: []\noperators: [{ name: A, referrers: [a] }]"
                .to_owned(),
            "crawlers.bad_referrer",
            None,
        ),
    ] {
        let findings = read_file("new.yaml", text.as_bytes()).expect_err(&text);
        let first = &findings[0];
        assert_eq!(first.code, code, "{text}: {findings:?}");
        assert_eq!(first.place.file.as_deref(), Some("new.yaml"));
        assert!(first.help.is_some(), "{first}");
        if line.is_some() {
            assert_eq!(first.place.line, line, "{first}");
        }
    }
    assert_eq!(read_file("x", &[0xff]).expect_err("no UTF-8")[0].code, "catalogue.malformed");
    let large = vec![b'#'; MAX_BYTES + 1];
    assert_eq!(read_file("x", &large).expect_err("too large")[0].code, "catalogue.too_large");
}

#[test]
fn findings_about_one_file_are_limited_and_the_rest_is_counted() {
    let crawlers: String =
        (0..500).map(|n| format!("  - {{ product_token: \"a{n}:\" }}\n")).collect();
    let text = format!("version: \"2026-11-01\"\ncrawlers:\n{crawlers}");
    let findings = read_file("new.yaml", text.as_bytes()).expect_err("bad names");
    assert_eq!(findings.len(), MOST_FINDINGS + 1);
    assert_eq!(findings[MOST_FINDINGS].message, "and 480 more findings");
}
