//! Written files, and their meaning when read again.

use proptest::prelude::*;

use super::*;

#[test]
fn a_file_is_written_in_one_way() {
    let rule = |directive, pattern| Rule::new(directive, pattern).expect("a good pattern");
    let robots = RobotsTxt {
        header: vec!["Published by example.com".into(), "Ask\nus".into()],
        groups: vec![
            Group {
                comment: vec!["everybody".into()],
                user_agents: vec![UserAgent::new("*").expect("a name")],
                rules: vec![
                    rule(Directive::Disallow, "/caf\u{e9} x/"),
                    rule(Directive::Allow, "/*?ok$"),
                ],
                records: vec![Record::new("Crawl-delay", "5").expect("a record")],
            },
            Group { user_agents: vec![UserAgent::new("a").expect("a name")], ..Group::default() },
            Group { user_agents: vec![UserAgent::new("b").expect("a name")], ..Group::default() },
        ],
        records: vec![
            Record::new("License", "https://e.com/l.xml").expect("a record"),
            Record::new("Sitemap", "https://e.com/s.xml").expect("a record"),
        ],
    };
    assert_eq!(
        robots.to_string(),
        "# Published by example.com\n# Ask\n# us\n\nLicense: https://e.com/l.xml\n\n# everybody\n\
         User-agent: *\nDisallow: /caf%C3%A9%20x/\nAllow: /*?ok$\nCrawl-delay: 5\n\n\
         User-agent: a\nDisallow:\n\nUser-agent: b\nDisallow:\n\nSitemap: https://e.com/s.xml\n"
    );
}

#[test]
fn no_value_can_start_a_line() {
    for name in ["", " ", "a\nb", "a#b", "\u{e9}"] {
        assert_eq!(UserAgent::new(name).expect_err("refused").code, "robots.user_agent");
    }
    for (name, value) in
        [("", "x"), ("a:b", "x"), ("Disallow", "/"), ("useragent", "x"), ("a", "b\nc"), ("a", "#b")]
    {
        assert_eq!(Record::new(name, value).expect_err("refused").code, "robots.record");
    }
    assert!(Rule::new(Directive::Allow, "/a\r\nDisallow: /").is_err());
    let hostile = "x\nDisallow: /\r#\u{2028}Disallow: /";
    let robots = RobotsTxt {
        header: vec![hostile.into()],
        groups: vec![Group {
            comment: vec![hostile.into()],
            user_agents: vec![UserAgent { name: hostile.into(), line: 0 }],
            rules: vec![Rule { directive: Directive::Allow, pattern: hostile.into(), line: 0 }],
            records: vec![Record {
                name: hostile.into(),
                value: hostile.into(),
                line: 0,
                ..Record::default()
            }],
        }],
        records: vec![],
    };
    let (read, _) = parse(robots.to_string().as_bytes());
    assert_eq!((read.groups.len(), read.groups[0].rules.len()), (1, 1));
    assert_eq!(read.groups[0].records.len(), 1);
}

#[test]
fn rules_for_no_crawler_are_left_out() {
    let rule = Rule::new(Directive::Disallow, "/").expect("a good pattern");
    let named = Group {
        user_agents: vec![UserAgent::new("a").expect("a name")],
        rules: vec![Rule::new(Directive::Disallow, "/x").expect("a good pattern")],
        ..Group::default()
    };
    let nobody = Group { rules: vec![rule], comment: vec!["x".into()], ..Group::default() };
    let record =
        |name: &str| Record { name: name.into(), value: "*".into(), line: 0, ..Record::default() };
    let robots = RobotsTxt {
        groups: vec![nobody.clone(), named, nobody],
        records: ["user-agent", " Disallow ", "\u{feff}user-agent", "Allow\t"].map(record).to_vec(),
        ..RobotsTxt::default()
    };
    assert_eq!(robots.to_string().trim_start(), "User-agent: a\nDisallow: /x\n");
}

#[test]
fn a_foreign_name_means_the_same_when_written() {
    for line in
        ["user-agent: b\0", "user-agent: b (\0", "user-agent\u{1}: b", "\n\u{feff}user-agent: b"]
    {
        let text = format!("{line}\ndisallow: /\n");
        let written = parse(text.as_bytes()).0.to_string();
        let matcher = Matcher::new(&parse(written.as_bytes()).0);
        assert!(matcher.group("b").is_none(), "{line:?} {written:?}");
    }
}

/// The file as it reads back: without line numbers, with the rule of a group without any.
fn as_read(mut robots: RobotsTxt) -> RobotsTxt {
    robots.records.iter_mut().for_each(|record| record.line = 0);
    for group in &mut robots.groups {
        group.user_agents.iter_mut().for_each(|user_agent| user_agent.line = 0);
        group.rules.iter_mut().for_each(|rule| rule.line = 0);
        group.records.iter_mut().for_each(|record| record.line = 0);
        if group.rules.is_empty() {
            group.rules.push(Rule::new(Directive::Disallow, "").expect("it has no effect"));
        }
    }
    robots
}

/// A known record with a valid or invalid value, or an unknown one.
fn record(names: &'static [&'static str]) -> impl Strategy<Value = Record> {
    let name = prop_oneof![
        4 => prop::sample::select(names).prop_map(str::to_owned),
        1 => "[!-\"$-9;-~]([ -\"$-9;-~]{0,6}[!-\"$-9;-~])?",
    ];
    let value = prop_oneof![
        prop::sample::select(
            &[
                "https://www.example.com/a?b=c&d:e",
                "5",
                "1/5s 0600-0845",
                "0600-0845",
                "sid&ref /forum/",
                "search=yes, ai-train=no",
                "/a/ train-ai=n;x=\"y\", search=y",
                "",
            ][..]
        )
        .prop_map(str::to_owned),
        "[!-\"$-~\u{e9}\u{a0}\u{feff}]{0,9}",
    ];
    (name, value).prop_filter_map("a record", |(name, value)| Record::new(&name, &value).ok())
}

const IN_GROUPS: &[&str] = &[
    "Crawl-delay",
    "Request-rate",
    "Visit-time",
    "Content-Signal",
    "Content-Usage",
    "Unicorns",
    "Noindex",
];
const OUTSIDE: &[&str] = &[
    "Sitemap",
    "SITE-MAP",
    "License",
    "Host",
    "Clean-param",
    "Crawl-delay",
    "Content-Usage",
    "Archive-Embargo",
];

fn robots_txt() -> impl Strategy<Value = RobotsTxt> {
    let comment = || prop::collection::vec("([ -~\u{e9}]{0,6}[!-~])?", 0..3);
    let user_agent = "[!-\"$-~]([ -\"$-~]{0,8}[!-\"$-~])?"
        .prop_map(|name| UserAgent::new(&name).expect("the strategy makes good ones"));
    let rule = (any::<bool>(), "([/*][ -\"$-~\u{30c4}]{0,8})?").prop_map(|(allow, pattern)| {
        let directive = if allow { Directive::Allow } else { Directive::Disallow };
        Rule::new(directive, &pattern).expect("the strategy makes good ones")
    });
    let of_group = record(IN_GROUPS).prop_filter("for a group", |record| !record.is_global());
    let group = (
        comment(),
        prop::collection::vec(user_agent, 1..4),
        prop::collection::vec(rule, 0..5),
        prop::collection::vec(of_group, 0..4),
    );
    let group = group.prop_map(|(comment, user_agents, rules, records)| Group {
        comment,
        user_agents,
        rules,
        records,
    });
    let records = prop::collection::vec(record(OUTSIDE), 0..5);
    (comment(), prop::collection::vec(group, 0..4), records)
        .prop_map(|(header, groups, records)| RobotsTxt { header, groups, records })
}

/// The meaning of a file: for each group the names, in all forms, and the rules. A name with `%` is
/// left out: it is the written form of a name that matches no crawler.
fn meaning(robots: &RobotsTxt) -> Vec<String> {
    let names = |ua: &UserAgent| {
        name::forms(&ua.name).map(|form| form.filter(|form| !form.contains('%')).map(str::to_owned))
    };
    let rules = |group: &Group| -> Vec<(Directive, String)> {
        let rules = group.rules.iter().filter(|rule| !rule.pattern.is_empty());
        rules.map(|rule| (rule.directive, ascii(rule.pattern.as_bytes()))).collect()
    };
    let group = |group: &Group| {
        let names: Vec<_> = group.user_agents.iter().map(names).collect();
        format!("{names:?}: {:?}", rules(group))
    };
    robots.groups.iter().map(group).collect()
}

proptest! {
    #[test]
    fn a_written_file_reads_back(robots in robots_txt()) {
        let written = robots.to_string();
        let (read, _) = parse(written.as_bytes());
        prop_assert_eq!(as_read(read), as_read(robots), "{}", written);
    }

    #[test]
    fn no_bytes_stop_the_parser_and_writing_keeps_the_meaning(
        lines in prop::collection::vec(foreign_line(), 0..12),
        lenient: bool,
    ) {
        let (robots, _) = parse_with(&lines.concat(), ReadOptions { lenient });
        let _ = Matcher::new(&robots);
        let written = robots.to_string();
        let (read, _) = parse(written.as_bytes());
        prop_assert_eq!(meaning(&read), meaning(&robots), "{}", written);
        let again = read.to_string();
        prop_assert_eq!(parse(again.as_bytes()).0.to_string(), again);
    }
}

/// Bytes near a line, and far from any.
fn foreign_line() -> impl Strategy<Value = Vec<u8>> {
    let name = "(\u{feff})?((user-agent|allow|disallow|Sitemap|x)[\u{0}\u{1}\u{b} \t]?(:|: | )|#)?";
    let value = prop::collection::vec(any::<u8>(), 0..6);
    let line = (name, "[/*$a#( \u{a0}\u{b}]{0,6}", value, "(\n|\r|\r\n)");
    line.prop_map(|(name, pattern, value, end)| {
        [name.as_bytes(), pattern.as_bytes(), &value, end.as_bytes()].concat()
    })
}
