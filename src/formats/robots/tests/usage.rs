//! `Content-Usage` and `Content-Signal` in groups (draft-ietf-aipref-attach §3).

use super::*;
use crate::formats::usage::{Carrier, Category};

/// What the file says to a crawler about a path, and the lines that say it.
fn usage_by(carrier: Carrier, text: &str, name: &str, path: &str) -> (String, Vec<u32>) {
    let matcher = Matcher::new(&parse(text.as_bytes()).0);
    let Some(scope) = matcher.group(name).or_else(|| matcher.star()) else {
        return Default::default();
    };
    let usage = matcher.usage(scope, carrier, &Target::new(path.as_bytes()));
    let lines = usage.records.iter().map(|one| one.record.line).collect();
    (carrier.write(&usage.statement).unwrap_or_default(), lines)
}

fn usage(text: &str, name: &str, path: &str) -> (String, Vec<u32>) {
    usage_by(Carrier::ContentUsage, text, name, path)
}

#[test]
fn draft_attach_3_4_the_example() {
    let text = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n\
                Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\n\
                Content-Usage: train-ai=y\n";
    for (name, path, statement, line) in [
        ("AnyBot", "/test", "train-ai=n", Some(4)),
        ("AnyBot", "/never/test", "", None),
        ("AnyBot", "/ai-ok/test", "train-ai=y", Some(5)),
        ("examplebot", "/never/test", "train-ai=y", Some(9)),
    ] {
        let expected = (statement.to_owned(), line.into_iter().collect());
        assert_eq!(usage(text, name, path), expected, "{name} {path}");
    }
}

#[test]
fn draft_attach_3_1_the_longest_path_decides_alone() {
    for (lines, path, statement, deciding) in [
        // A longer path replaces the statement as a whole.
        (
            "Content-Usage: train-ai=n, search=y\nContent-Usage: /a train-ai=y",
            "/a",
            "train-ai=y",
            &[3][..],
        ),
        ("Content-Usage: /a train-ai=y\nContent-Usage: train-ai=n", "/b", "train-ai=n", &[3]),
        ("Content-Usage: train-ai=n\nContent-Usage: / train-ai=y", "/b", "train-ai=y", &[3]),
        ("Content-Usage: /a train-ai=y", "/b", "", &[]),
        // A statement that can't be read still belongs to its path.
        ("Content-Usage: train-ai=n\nContent-Usage: /a train-ai=yes", "/a", "", &[3]),
        ("Content-Usage: train-ai=n\nContent-Usage: /a", "/a", "", &[3]),
        // Paths are patterns as in rules, encoded as in rules.
        ("Content-Usage: /*.gif$ train-ai=n", "/x.gif", "train-ai=n", &[2]),
        ("Content-Usage: /*.gif$ train-ai=n", "/x.gif?y", "", &[]),
        ("Content-Usage: /%61%20b train-ai=n", "/a%20b", "train-ai=n", &[2]),
        ("Content-Usage: /A train-ai=n", "/a", "", &[]),
        // Identical paths combine, without regard to their order.
        (
            "Content-Usage: /a train-ai=y, search=y\nContent-Usage: /a train-ai=n",
            "/a",
            "train-ai=n, search=y",
            &[2, 3],
        ),
        ("Content-Usage: train-ai=n\nContent-Usage: train-ai=y", "/a", "train-ai=n", &[2, 3]),
        (
            "Content-Usage: /%61 train-ai=n\nContent-Usage: /a train-ai=y",
            "/a",
            "train-ai=n",
            &[2, 3],
        ),
        // Rules and preferences may be mixed; an allowed path has its preferences.
        ("Content-Usage: train-ai=n\nDisallow: /a\nAllow: /a/b", "/a/b", "train-ai=n", &[2]),
        ("Content-Usage: /a/b train-ai=n\nDisallow: /a", "/a/b", "", &[]),
    ] {
        let text = format!("User-agent: *\n{lines}\nAllow: /robots\n");
        assert_eq!(usage(&text, "X", path), (statement.to_owned(), deciding.to_vec()), "{lines}");
    }
}

#[test]
fn draft_attach_3_2_lines_are_read_with_their_spaces_and_comments() {
    for (line, statement) in [
        ("Content-Usage: train-ai=n", "train-ai=n"),
        ("content-usage:train-ai=n", "train-ai=n"),
        (" \tCONTENT-USAGE\t : \ttrain-ai=n \t", "train-ai=n"),
        ("Content-Usage: train-ai=n # as ever, search=y", "train-ai=n"),
        ("Content-Usage: train-ai=n#", "train-ai=n"),
        ("Content-Usage: /p\ttrain-ai=n", "train-ai=n"),
        ("Content-Usage: /p#x train-ai=n", ""),
        ("Content-Usage: *p train-ai=n", ""),
        ("Content-Usage: # train-ai=n", ""),
        ("Content_Usage: train-ai=n", ""),
        ("Content-Usage: Train-AI=n", ""),
    ] {
        let text = format!("User-agent: *\r\n{line}\r\nAllow: /\r\n");
        assert_eq!(usage(&text, "X", "/p").0, statement, "{line}");
    }
}

#[test]
fn draft_attach_3_groups_are_those_of_crawling() {
    let text = "Content-Usage: search=n\nUser-agent: *\nContent-Usage: train-ai=n\nDisallow: /x\n\
                User-agent: A\nContent-Usage: train-ai=y\nDisallow:\nUser-agent: B\nDisallow: /y\n\
                User-agent: a\nContent-Usage: search=y\nDisallow: /z\n";
    for (name, statement, lines) in
        [("Other", "train-ai=n", &[3][..]), ("A", "train-ai=y, search=y", &[6, 11]), ("B", "", &[])]
    {
        assert_eq!(usage(text, name, "/"), (statement.to_owned(), lines.to_vec()), "{name}");
    }
    // RFC 9309 reads one group here; the draft would read two.
    let text = "User-agent: A\nContent-Usage: train-ai=n\nUser-agent: B\nDisallow: /y\n";
    assert_eq!(usage(text, "B", "/").0, "train-ai=n");
    assert_eq!(usage("Content-Usage: train-ai=n\n", "A", "/").0, "");
}

#[test]
fn content_signals_stand_beside_content_usage() {
    let text = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Signal: /a ai-input=no\n\
                Content-Usage: train-ai=y\nAllow: /\n";
    let signal = |path: &str| usage_by(Carrier::ContentSignal, text, "X", path);
    assert_eq!(signal("/"), ("ai-train=no, search=yes".to_owned(), vec![2]));
    assert_eq!(signal("/a"), ("ai-input=no".to_owned(), vec![3]));
    assert_eq!(usage(text, "X", "/a"), ("train-ai=y".to_owned(), vec![4]));
}

#[test]
fn the_line_that_says_a_category_is_named() {
    let text = "User-agent: *\nDisallow: /\nContent-Usage: train-ai=y, search=y\nContent-Usage: train-ai=n\n";
    let matcher = Matcher::new(&parse(text.as_bytes()).0);
    let star = matcher.star().expect("a group");
    let usage = matcher.usage_as_written(star, Carrier::ContentUsage, &Target::new(b"/"));
    let line = |category| usage.decider(category).map(|record| record.line);
    assert_eq!(
        (line(Category::TrainAi), line(Category::Search), line(Category::AiInput)),
        (Some(4), Some(3), None)
    );
    assert!(matcher.usage(star, Carrier::ContentUsage, &Target::new(b"/")).statement.is_empty());
}
