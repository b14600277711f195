//! The room as a whole: the examples of the RFC, and names and forms beyond it.

mod arrange;
mod emit;
mod inclusion;
mod intent;
mod merge;
mod naive_matcher;
mod overlap;
mod parse;
mod records;
mod usage;

use super::*;

/// The file `text`, compiled.
fn matcher(text: &str) -> Matcher {
    Matcher::new(&parse(text.as_bytes()).0)
}

/// Whether `text` allows the crawler `name` to fetch `target`, as sent.
fn allowed(text: &str, name: &str, target: &str) -> bool {
    let matcher = matcher(text);
    let target = Target::of_url(target.as_bytes());
    let scope = matcher.group(name).or_else(|| matcher.star());
    scope.is_none_or(|scope| matcher.verdict_letter(scope, &target).access == Access::Allow)
}

/// The scope of the crawler `name`, which is that of `*` if no group names it.
fn scope(matcher: &Matcher, name: &str) -> Scope {
    matcher.group(name).or_else(|| matcher.star()).expect("the file has a group")
}

#[test]
fn rfc9309_2_2_1_figure_1_the_group_is_found_by_the_product_token() {
    let header = "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)";
    let text = "user-agent: ExampleBot\ndisallow: /\n";
    assert!(header.contains(&parse(text.as_bytes()).0.groups[0].user_agents[0].name));
    assert!(!allowed(text, "ExampleBot", "/x") && !allowed(text, "examplebot", "/x"));
    assert!(allowed(text, "Example", "/x") && allowed(text, "ExampleBotty", "/x"));
}

#[test]
fn rfc9309_2_2_1_figure_2_groups_with_the_same_token_are_merged() {
    let text = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\n\
                user-agent: ExampleBot\ndisallow: /baz\n";
    for path in ["/foo", "/bar", "/baz"] {
        assert!(!allowed(text, "ExampleBot", path), "{path}");
    }
    let shared = "user-agent: a\nuser-agent: b\ndisallow: /ab\nuser-agent: B\ndisallow: /b\n\
                  user-agent: *\ndisallow: /s\nuser-agent: *\ndisallow: /t\n";
    for (name, path, expected) in [
        ("a", "/ab", false),
        ("a", "/b", true),
        ("b", "/ab", false),
        ("b", "/b", false),
        ("c", "/s", false),
        ("c", "/t", false),
        ("b", "/s", true),
    ] {
        assert_eq!(allowed(shared, name, path), expected, "{name} {path}");
    }
    let matcher = matcher(shared);
    assert_eq!(matcher.tokens(scope(&matcher, "b")), ["a", "b"]);
}

#[test]
fn rfc9309_2_2_1_figure_3_without_a_group_of_its_own_the_star_applies() {
    let text =
        "user-agent: *\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: BazBot\ndisallow: /baz\n";
    assert!(!allowed(text, "ExampleBot", "/foo") && allowed(text, "ExampleBot", "/baz"));
    assert!(!allowed(text, "BazBot", "/baz") && allowed(text, "BazBot", "/foo"));
}

#[test]
fn rfc9309_2_2_1_without_any_group_that_applies_no_rules_do() {
    assert!(allowed("user-agent: BazBot\ndisallow: /\n", "ExampleBot", "/"));
    assert!(allowed("", "ExampleBot", "/"));
    // A group without rules replaces those for the star.
    let empty = "user-agent: *\ndisallow: /\nuser-agent: ExampleBot\n";
    assert!(allowed(empty, "ExampleBot", "/") && !allowed(empty, "BazBot", "/"));
}

#[test]
fn rfc9309_2_2_2_figure_4_percent_encoded_octets() {
    // The table's second row folds reserved characters, which its own text, Google and the
    // errata contest; here the reserved character and its encoded form are distinct.
    for (rule, target) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a%2f%2ffoo.bar"),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
    ] {
        let text = format!("user-agent: *\ndisallow: {rule}\n");
        assert!(!allowed(&text, "a", target), "{rule} {target}");
    }
    let row_two = "user-agent: *\ndisallow: /foo/bar?baz=https://foo.bar\n";
    assert!(allowed(row_two, "a", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"));
}

#[test]
fn rfc9309_2_2_2_the_most_octets_decide_and_allow_wins_ties() {
    for (rules, target, expected) in [
        ("allow: /p\ndisallow: /", "/page", true),
        ("allow: /folder\ndisallow: /folder", "/folder/page", true),
        ("disallow: /folder\nallow: /folder", "/folder/page", true),
        ("allow: /page\ndisallow: /*.htm", "/page.htm", false),
        ("allow: /page\ndisallow: /*.ph", "/page.php5", true),
        ("allow: /$\ndisallow: /", "/", true),
        ("allow: /$\ndisallow: /", "/page.htm", false),
        ("allow: /x\ndisallow:", "/y", true),
        ("disallow: /\nallow:", "/y", false),
        ("disallow: /a%2Fb\nallow: /a%2", "/a%2Fb", false),
    ] {
        let text = format!("user-agent: *\n{rules}\n");
        assert_eq!(allowed(&text, "a", target), expected, "{rules} {target}");
    }
}

#[test]
fn rfc9309_2_2_2_robots_txt_is_implicitly_allowed() {
    let matcher = matcher("user-agent: *\ndisallow: /\ndisallow: /robots.txt\n");
    for (target, access) in [
        ("/robots.txt", Access::Allow),
        ("/robots.txt?x=/../y", Access::Allow),
        ("/%72obots.txt", Access::Allow),
        ("/robots.txt/", Access::Disallow),
        ("/robots.txt.bak", Access::Disallow),
        ("/ROBOTS.TXT", Access::Disallow),
        ("//robots.txt", Access::Disallow),
    ] {
        let target = Target::new(target.as_bytes());
        let verdict = matcher.verdict(scope(&matcher, "a"), &target);
        assert_eq!(verdict.access, access, "{target:?}");
        assert_eq!(verdict.rule.is_none(), access == Access::Allow);
    }
}

#[test]
fn rfc9309_2_2_3_figure_5_special_characters_in_a_file() {
    let text = "user-agent: *\nallow: / # comment in line\n# comment on its own line\n\
                allow: /this/path/exactly$\nallow: /this/*/exactly\ndisallow: /this\n";
    let patterns: Vec<String> =
        parse(text.as_bytes()).0.groups[0].rules.iter().map(|rule| rule.pattern.clone()).collect();
    assert_eq!(patterns, ["/", "/this/path/exactly$", "/this/*/exactly", "/this"]);
    for (target, expected) in [
        ("/other", true),
        ("/this/path/exactly", true),
        ("/this/path/exactly/not", true), // by the third rule, whose star also takes "path"
        ("/this/or/that/exactly", true),
        ("/this//exactly", true),
        ("/this/exactly", false),
        ("/this/path", false),
    ] {
        assert_eq!(allowed(text, "a", target), expected, "{target}");
    }
    let exactly = "user-agent: *\nallow: /this/path/exactly$\ndisallow: /\n";
    assert!(allowed(exactly, "a", "/this/path/exactly"));
    assert!(!allowed(exactly, "a", "/this/path/exactly/not"));
}

#[test]
fn rfc9309_2_2_3_figure_6_special_characters_taken_verbatim() {
    let text = "user-agent: *\ndisallow: /path/file-with-a-%2A.html\ndisallow: /path/foo-%24\n";
    assert!(!allowed(text, "a", "https://www.example.com/path/file-with-a-*.html"));
    assert!(!allowed(text, "a", "https://www.example.com/path/foo-$"));
    assert!(allowed(text, "a", "https://www.example.com/path/file-with-a-x.html"));
}

#[test]
fn rfc9309_2_2_4_other_records_interfere_with_nothing() {
    let text = "user-agent: a\nsitemap: https://e.com/s\ncrawl-delay: 5\nuser-agent: b\n\
                disallow: /x\nSitemaps: https://e.com/t\ndisallow: /y\n";
    for (name, path) in [("a", "/x"), ("a", "/y"), ("b", "/x"), ("b", "/y")] {
        assert!(!allowed(text, name, path), "{name} {path}");
    }
}

#[test]
fn rfc9309_2_3_the_uri_of_the_file() {
    for uri in ["https://www.example.com/robots.txt", "ftp://ftp.example.com/robots.txt"] {
        assert!(Target::of_url(uri.as_bytes()).is_robots_txt(), "{uri}");
    }
    // "All lowercase", "in the top-level path".
    for uri in ["https://www.example.com/Robots.txt", "https://www.example.com/a/robots.txt"] {
        assert!(!Target::of_url(uri.as_bytes()).is_robots_txt(), "{uri}");
    }
}

#[test]
fn rfc9309_5_1_simple_example() {
    // As printed: indented, and with "EOF" at the end.
    let text = "
            User-Agent: *
            Disallow: *.gif$
            Disallow: /example/
            Allow: /publications/

            User-Agent: foobot
            Disallow:/
            Allow:/example/page.html
            Allow:/example/allowed.gif

            User-Agent: barbot
            User-Agent: bazbot
            Disallow: /example/page.html

            User-Agent: quxbot

            EOF
";
    let (_, findings) = parse(text.as_bytes());
    assert_eq!(findings.iter().map(|f| f.code).collect::<Vec<_>>(), ["robots.no_colon"]);
    for (name, path, expected) in [
        ("other", "/publications/x", true),
        ("other", "/example/x", false),
        ("other", "/x.gif", false),
        ("other", "/publications/x.gif", true),
        ("foobot", "/publications/x", false),
        ("foobot", "/example/page.html", true),
        ("foobot", "/example/allowed.gif", true),
        ("barbot", "/example/page.html", false),
        ("bazbot", "/example/page.html", false),
        ("bazbot", "/example/x.gif", true),
        ("quxbot", "/example/page.html", true),
    ] {
        assert_eq!(allowed(text, name, path), expected, "{name} {path}");
    }
}

#[test]
fn rfc9309_5_2_longest_match() {
    let matcher = matcher(
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
    );
    let target = Target::of_url(b"example.com/example/page/disallowed.gif");
    let found = matcher.explain(scope(&matcher, "foobot"), &target);
    let shown =
        |found: &Match<'_>| (found.rule.pattern.clone(), found.rule.line, found.specificity);
    assert_eq!(
        found.matches.iter().map(shown).collect::<Vec<_>>(),
        [("/example/page/disallowed.gif".to_owned(), 3, 28), ("/example/page/".to_owned(), 2, 14)]
    );
    assert_eq!(found.verdict.rule, Some(found.matches[0].rule));
    assert_eq!(found.verdict.access, Access::Disallow);
    // The text names another URI than the rule (erratum 7124), which the rule doesn't match.
    let printed = Target::of_url(b"example.com/example/page/disallow.gif");
    let verdict = matcher.verdict(scope(&matcher, "foobot"), &printed);
    assert_eq!(verdict.rule.map(|rule| rule.pattern.as_str()), Some("/example/page/"));
}

#[test]
fn the_letter_has_its_dot_segments_resolved_and_other_forms_are_told_apart() {
    let matcher = matcher("user-agent: *\ndisallow: /private/\nallow: /\n");
    for (target, access, form) in [
        ("/private/x", Access::Disallow, Form::Letter),
        ("/%70rivate/x", Access::Disallow, Form::Letter),
        ("/private", Access::Allow, Form::Letter),
        ("/PRIVATE/x", Access::Allow, Form::Letter),
        ("//private/x", Access::Disallow, Form::Other),
        ("/x/%2e%2e/private/x", Access::Disallow, Form::Letter),
        ("/private%2fx", Access::Disallow, Form::Other),
        ("/private%5Cx", Access::Disallow, Form::Other),
        ("/private;j=1/x", Access::Disallow, Form::Other),
        ("/x;y/..;z/%2fprivate\\x", Access::Disallow, Form::Other),
        ("/%c0%afprivate/x", Access::Disallow, Form::Other),
        ("/?u=/../private/", Access::Allow, Form::Letter),
        ("/private/../x", Access::Disallow, Form::Other),
    ] {
        let verdict = matcher.verdict(scope(&matcher, "a"), &Target::new(target.as_bytes()));
        assert_eq!((verdict.access, verdict.form), (access, form), "{target}");
    }
    let target = Target::new(b"//private/x");
    let found = matcher.explain(scope(&matcher, "a"), &target);
    assert_eq!(found.path, b"/private/x");
    assert_eq!(found.matches.len(), 2);
    let letter = matcher.verdict_letter(scope(&matcher, "a"), &target);
    assert_eq!(letter.access, Access::Allow);
}

#[test]
fn names_outside_the_grammar_bind_the_crawlers_that_they_name() {
    for (line, name, bound) in [
        ("MJ12bot", "mj12bot", true),
        ("MJ12bot", "MJ", false),
        ("360Spider", "360spider", true),
        ("Yahoo! Slurp", "yahoo! slurp", true),
        ("Sogou web spider", "Sogou web spider/4.0", true),
        ("Brightbot 1.0", "Brightbot", true),
        ("Brightbot 1.0", "Brightbot 1.0", true),
        ("Brightbot", "Brightbot 1.0", true),
        ("iaskspider/2.0", "iaskspider", true),
        ("Googlebot*", "Googlebot", true),
        ("Googlebot*", "Googlebot-Image", false),
        ("Mediapartners-Google (x)", "mediapartners-google", true),
        ("W3C_Validator", "W", false),
        ("One, Two", "One", false),
        ("/1.0", "", false),
        ("008", "", false),
    ] {
        let matcher = matcher(&format!("user-agent: {line}\ndisallow: /\n"));
        assert_eq!(matcher.group(name).is_some(), bound, "{line} {name}");
    }
    let ordered = matcher("user-agent: a*\ndisallow: /star\nuser-agent: a\ndisallow: /own\n");
    assert_eq!(ordered.tokens(scope(&ordered, "a")), ["a"], "the most faithful form only");
}

#[test]
fn a_list_in_one_line_binds_no_crawler_and_is_known_for_those_that_read_it() {
    let text = "user-agent: One, Two\nallow: /x\n\nuser-agent: one\ndisallow: /x\ndisallow: /y\n";
    let matcher = matcher(text);
    let access = |scope: Scope, target: &str| {
        matcher.verdict_letter(scope, &Target::new(target.as_bytes())).access
    };
    let one = matcher.listed("ONE").expect("it is in the list");
    assert_eq!((access(one, "/x"), access(one, "/y")), (Access::Allow, Access::Disallow));
    assert_eq!(access(scope(&matcher, "one"), "/x"), Access::Disallow);
    let two = matcher.listed("Two/1.0").expect("it is in the list");
    assert_eq!(
        (access(two, "/y"), matcher.group("two"), matcher.listed("x")),
        (Access::Allow, None, None)
    );
    let many: String = (0..9_999).map(|n| format!("b{n},")).collect();
    let many = self::matcher(&format!("user-agent: {many}\n"));
    assert!(many.listed("b999").is_some() && many.listed("b9998").is_none());
}

#[test]
fn the_star_is_no_crawler_s_own_group() {
    let matcher = matcher("user-agent: * # all\ndisallow: /\nuser-agent: * too\ndisallow: /x\n");
    assert!(matcher.group("*").is_none() && matcher.group("a").is_none());
    let star = matcher.star().expect("there are two");
    assert_eq!(matcher.tokens(star), ["*", "* too"]);
}
