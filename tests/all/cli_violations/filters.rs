//! Filters: an unknown name is refused with the nearest one, and an empty list says why it is empty.

use super::made::{Kept, Made, SITES, kinds, told, violation};

const BOTH: [Kept; 2] = [Kept::Database, Kept::Lines];

/// A format for each case: every start of the program costs a test time.
fn formats(kept: Kept) -> impl Iterator<Item = &'static str> {
    ["text", "json", "csv"].into_iter().cycle().skip(usize::from(kept == Kept::Lines))
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, kinds());
        let cases = [
            (["--product-token", "GPTBto"], "no crawler is named 'GPTBto' (did you mean GPTBot?)"),
            (["--product-token", "HouseBit"], "did you mean HouseBot?"),
            (["--product-token", "Google"], "did you mean Googlebot?"),
            (["--product-token", "@SUN"], "did you mean @SUM?"),
            (["--product-token", "zzzz"], "'beadle crawlers list' shows the catalogue"),
            (["--product-token", ""], "no crawler is named ''"),
            (["--product-token", "a\u{1b}[2J"], "named 'a\\x1b[2J'"),
            (
                ["--site", "exmple.com"],
                "no site has the host 'exmple.com' (did you mean example.com?)",
            ),
            (["--site", "unrelated.test"], "the sites are blog.example, example.com, shop.example"),
            (["--site", "' OR 1=1 --"], "no site has the host '' OR 1=1 --'"),
            (
                ["--purpose", "ai-trainin"],
                "no purpose is named 'ai-trainin' (did you mean ai-training?)",
            ),
            (["--purpose", "world peace"], "the purposes are "),
            (["--path", "private"], "'private' is no path pattern"),
            (["--path", ""], "it is empty"),
            (["--rule", "/private/"], "'/private/' is no rule"),
            (["--path", "https://www.example.com/private/"], "write '/private/'"),
            (["--id", "7"], "'7' is no decision id"),
            (["--id", "019aa0c1-0000-7000-8000-00000000000g"], "is no decision id"),
            (["--since", "yesterday"], "'yesterday' is not a time"),
            (["--until", "yesterday"], "'yesterday' is not a time"),
        ];
        for ((args, says), format) in cases.into_iter().zip(formats(kept)) {
            let by: &[&str] =
                if format == "json" && args[0] != "--id" { &["--by", "rule"] } else { &[] };
            let args = [&args[..], &["--format", format], by].concat();
            let (out, err, exit) = told(&made.list(&args));
            assert_eq!((out.as_str(), exit), ("", Some(2)), "{args:?}: {err}");
            assert!(err.contains(says), "{args:?}: {err}");
            assert!(err.lines().count() == 1 && !err.contains('\u{1b}'), "{args:?}: {err}");
        }
        let (_, err, exit) = told(&made.list(&["--since", "2026-11-21", "--until", "2026-11-20"]));
        assert_eq!(exit, Some(2));
        assert!(
            err.contains("--until 2026-11-20T00:00:00Z is not after --since 2026-11-21"),
            "{err}"
        );
    }
}

#[test]
fn a_known_name_without_violations_is_no_error() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, kinds());
        let cases = [
            (&["--product-token", "CCBot"][..], "no violations of CCBot"),
            (
                &["--product-token", "ccbot", "--since", "2026-11-01"],
                "no violations of CCBot since 2026-11-01T00:00:00Z",
            ),
            (&["--product-token", "HouseBot"], "no violations of HouseBot"),
            (&["--purpose", "AI-Search"], "no violations of crawlers for ai-search"),
            (&["--site", "shop.example", "--product-token", "GPTBot"], "of GPTBot on shop.example"),
            (&["--path", "/nothing*"], "no violations at '/nothing*'"),
            (&["--since", "2999-01-01"], "no violations since 2999-01-01T00:00:00Z"),
            (&["--until", "2026-11-20T10:00:00Z"], "no violations before 2026-11-20T10:00:00Z"),
        ];
        for ((args, says), format) in cases.into_iter().zip(formats(kept)) {
            let (out, err, exit) = told(&made.list(&[args, &["--format", format]].concat()));
            assert_eq!(exit, Some(0), "{args:?}: {err}");
            assert!(err.contains(says), "{args:?}: {err}");
            assert_eq!(out.lines().count(), usize::from(format == "csv"), "{args:?}: {out}");
        }
    }
}

#[test]
fn a_site_is_named_by_any_of_its_hosts_and_a_crawler_in_any_case() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, kinds());
        for (args, count) in [
            (["--site", "www.example.com"], 7),
            (["--site", "Example.COM."], 7),
            (["--site", "old.blog.example"], 7),
            (["--site", "*.blog.example"], 7),
            (["--site", "shop.example"], 1),
            (["--product-token", "GPTBOT"], 2),
            (["--product-token", "@sum"], 1),
            (["--product-token", "-"], 1),
            (["--purpose", "AI-TRAINING"], 5),
            (["--action", "throttle"], 1),
            (["--rule", "Crawl-delay: 5"], 1),
            (["--id", "019AA0C1-0000-7000-8000-000000000001"], 1),
            (["--id", "019aa0c1000070008000000000000001"], 1),
            (["--since", "2026-11-20T10:05:00Z"], 3),
            (["--until", "2026-11-20T10:05:00Z"], 5),
            (["--until", "2026-11-21"], 7),
        ] {
            let (out, err, exit) = told(&made.list(&[&args[..], &["--format", "json"]].concat()));
            assert_eq!((out.lines().count(), exit), (count, Some(1)), "{kept:?} {args:?}: {err}");
        }
    }
}

#[test]
fn a_limit_says_how_many_more_there_are() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, (0..30).map(violation).collect());
        let cases = [
            (&["--limit", "12"][..], 12, Some("18 more (list all with --limit 30")),
            (&["--limit", "0"], 0, Some("30 more (list all with --limit 30")),
            (&["--limit", "30"], 30, None),
            (
                &["--limit", "2", "--path", "/private/1"],
                2,
                Some("9 more at '/private/1' (list all with --limit 11"),
            ),
            (
                &["--limit", "2", "--since", "2026-11-20T10:26:00Z"],
                2,
                Some("2 more since 2026-11-20T10:26:00Z"),
            ),
            (&["--limit", "5", "--until", "2026-11-20T10:05:00Z"], 5, None),
            (&["--limit", "7", "--path", "/*7?page=1$"], 3, None),
        ];
        for ((args, listed, says), format) in cases.into_iter().zip(formats(kept)) {
            let (out, err, exit) = told(&made.list(&[args, &["--format", format]].concat()));
            let heading = usize::from(format == "csv" || (format == "text" && listed > 0));
            assert_eq!(out.lines().count(), listed + heading, "{kept:?} {args:?}: {out}");
            assert_eq!(exit, Some(1), "{kept:?} {args:?}: {err}");
            let last = err.lines().last();
            let is_as_expected = match says {
                Some(says) => last.is_some_and(|last| last.contains(says)),
                None => last.is_none(),
            };
            assert!(is_as_expected, "{kept:?} {args:?}: {err}");
        }
    }
}

#[test]
fn an_export_is_whole_and_a_list_for_people_has_a_page() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, (0..2_005).map(violation).collect());
        for (args, listed, says) in [
            (&["--format", "csv"][..], 2_006, None),
            (&["--format", "json"], 2_005, None),
            (&["--format", "json", "--limit", "7"], 7, Some("1998 more")),
            (&["--format", "text"], 101, Some("1905 more")),
            (&["--format", "csv", "--by", "path"], 2_006, None),
        ] {
            let (out, err, exit) = told(&made.list(args));
            assert_eq!((out.lines().count(), exit), (listed, Some(1)), "{kept:?} {args:?}: {err}");
            match says {
                Some(says) => assert!(err.contains(says), "{kept:?} {args:?}: {err}"),
                None => assert_eq!(err, "", "{kept:?} {args:?}"),
            }
        }
    }
}

#[test]
fn an_id_without_a_record_is_explained() {
    for kept in BOTH {
        let made = Made::new(kept, SITES, kinds());
        for (args, says) in [
            (
                &["--id", "019aa0c1-0000-7000-8000-0000000000ff"][..],
                "no record with the id 019aa0c1",
            ),
            (
                &["--id", "01000000-0000-7000-8000-0000000000ff"],
                match kept {
                    Kept::Database => "it is older than 'violations.retention' (90d)",
                    Kept::Lines => "of another server",
                },
            ),
            (&["--id", "7b0e5c4c-2a53-4a1e-8a44-0b2f6e0f6a11"], "UUIDs of version 7"),
            (
                &["--id", "019aa0c1-0000-7000-8000-000000000001", "--action", "log"],
                "does not meet the other filters",
            ),
        ] {
            let (out, err, exit) = told(&made.list(args));
            assert_eq!((out.as_str(), exit), ("", Some(0)), "{args:?}: {err}");
            assert!(err.contains(says), "{kept:?} {args:?}: {err}");
        }
    }
}

#[test]
fn violations_without_a_record_are_never_silent() {
    let made = Made::new(Kept::Database, SITES, kinds());
    made.count(&kinds(), 4);
    let made_only = Made::new(Kept::Database, SITES, Vec::new());
    made_only.count(&kinds(), 4);
    for (made, args, exit, says) in [
        (
            &made,
            &["--product-token", "GPTBot"][..],
            1,
            "8 violations without a record: 8 beyond 'violations.detail' or 'violations.max_size'",
        ),
        (
            &made,
            &["--product-token", "GPTBot", "--action", "block"],
            1,
            "4 violations without a record",
        ),
        (
            &made,
            &["--path", "/private/1", "--product-token", "GPTBot"],
            1,
            "8 violations without a record, on any path",
        ),
        (&made, &["--since", "2026-11-21"], 1, "4 violations without a record"),
        (&made_only, &["--product-token", "GPTBot"], 1, "8 violations without a record"),
        (&made_only, &["--product-token", "-"], 1, "4 violations without a record"),
    ] {
        let (_, err, code) = told(&made.list(args));
        assert!(code == Some(exit) && err.contains(says), "{args:?}: {err}");
        assert!(!err.contains("no violations"), "{args:?}: {err}");
    }
    let (_, err, code) = told(&made.list(&["--product-token", "CCBot"]));
    assert_eq!((code, err.lines().count()), (Some(0), 1), "{err}");
}
