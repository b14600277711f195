//! The table of parsers: what each misreads in a file as it was written, and in its arrangement.
//!
//! `.ci/long` installs the parsers of PyPI and npm. Those of crates.io are dependencies of the tests.

use std::{
    collections::BTreeMap,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use beadle::formats::robots::{self, Access, Matcher, Target};

use crate::{
    page::{is_update, page, root},
    support::{conditions::do_without, need},
};

/// A file as a policy may have it, with a trap for parsers, and the questions to them.
struct Trap {
    name: &'static str,
    file: &'static str,
    questions: &'static [(&'static str, &'static str)],
}

const TRAPS: [Trap; 8] = [
    Trap {
        name: "a crawler in two groups",
        file: "User-agent: *\nDisallow: /c/\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /a/\n\n\
               User-agent: GPTBot\nDisallow: /b/\n\nUser-agent: *\nDisallow: /d/\n",
        questions: &[
            ("GPTBot", "/a/x"),
            ("GPTBot", "/b/x"),
            ("GPTBot", "/c/x"),
            ("CCBot", "/a/x"),
            ("CCBot", "/b/x"),
            ("bingbot", "/c/x"),
            ("bingbot", "/d/x"),
        ],
    },
    Trap {
        name: "a name before a longer one",
        file: "User-agent: Googlebot\nDisallow: /a/\n\nUser-agent: Googlebot-Image\nDisallow: /b/\n",
        questions: &[
            ("Googlebot", "/a/x"),
            ("Googlebot", "/b/x"),
            ("Googlebot-Image", "/a/x"),
            ("Googlebot-Image", "/b/x"),
        ],
    },
    Trap {
        name: "a last group without rules",
        file: "User-agent: *\nDisallow: /\n\nUser-agent: bingbot\n",
        questions: &[("bingbot", "/"), ("bingbot", "/x"), ("GPTBot", "/x")],
    },
    Trap {
        name: "a short rule before a longer one",
        file: "User-agent: *\nAllow: /\nAllow: /a/b/\nDisallow: /a/\nDisallow: /a/b/c/\n\
               Disallow: /e/\nAllow: /e/\n",
        questions: &[
            ("GPTBot", "/x"),
            ("GPTBot", "/a/x"),
            ("GPTBot", "/a/b/x"),
            ("GPTBot", "/a/b/c/x"),
            ("GPTBot", "/e/x"),
        ],
    },
    Trap {
        name: "another spelling",
        file: "User-agent: *\nDisallow: /%7Eu/\nDisallow: /caf%c3%a9/\nDisallow: /a{b}/\n",
        questions: &[
            ("GPTBot", "/~u/x"),
            ("GPTBot", "/caf%C3%A9/x"),
            ("GPTBot", "/a%7Bb%7D/x"),
            ("GPTBot", "/x"),
        ],
    },
    Trap {
        name: "wildcards",
        file: "User-agent: *\nDisallow: /*.pdf$\nDisallow: /*?sid=\n",
        questions: &[
            ("GPTBot", "/a.pdf"),
            ("GPTBot", "/a.pdfx"),
            ("GPTBot", "/a?sid=1"),
            ("GPTBot", "/a"),
        ],
    },
    Trap {
        name: "a part of another crawler's name",
        file: "User-agent: Google\nDisallow: /a/\n\nUser-agent: *\nDisallow: /b/\n",
        questions: &[("Googlebot", "/a/x"), ("Googlebot", "/b/x")],
    },
    Trap {
        name: "a name with digits",
        file: "User-agent: MJ12bot\nDisallow: /a/\n\nUser-agent: *\nDisallow: /b/\n",
        questions: &[("MJ12bot", "/a/x"), ("MJ12bot", "/b/x")],
    },
];

/// A file, a product token and a path.
type Question = (String, &'static str, &'static str);
type Answers = BTreeMap<String, Vec<bool>>;

fn arranged(file: &str) -> String {
    robots::arrange(&robots::parse(file.as_bytes()).0).file.to_string()
}

fn questions() -> Vec<Question> {
    let files = TRAPS.iter().flat_map(|trap| {
        let files = [trap.file.to_owned(), arranged(trap.file)];
        files.map(|file| (file, trap.questions))
    });
    files
        .flat_map(|(file, questions)| {
            questions.iter().map(move |(crawler, path)| (file.clone(), *crawler, *path))
        })
        .collect()
}

/// The answer of the RFC.
fn is_allowed((file, crawler, path): &Question) -> bool {
    let matcher = Matcher::new(&robots::parse(file.as_bytes()).0);
    let scope = matcher.group(crawler).or_else(|| matcher.star());
    let target = Target::new(path.as_bytes());
    scope.is_none_or(|scope| matcher.verdict_letter(scope, &target).access == Access::Allow)
}

/// The answers of the parsers of crates.io.
fn of_crates(questions: &[Question]) -> Answers {
    let ask = |name: &str, answer: fn(&Question) -> bool| {
        (name.to_owned(), questions.iter().map(answer).collect())
    };
    [
        ask("fast-robots (crates.io)", |(file, crawler, path)| {
            fast_robots::RobotsTxt::parse(file).matcher().is_allowed(crawler, path)
        }),
        ask("robotxt (crates.io)", |(file, crawler, path)| {
            robotxt::Robots::parse(file.as_bytes(), *crawler).is_allowed(path)
        }),
        ask("texting_robots (crates.io)", |(file, crawler, path)| {
            let robot = texting_robots::Robot::new(crawler, file.as_bytes());
            robot.expect("it reads the file").allowed(path)
        }),
    ]
    .into()
}

/// The answers of the parsers that a script asks.
fn of_script(program: PathBuf, arguments: &[PathBuf], questions: &str) -> Answers {
    let mut script = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let mut input = script.stdin.take().expect("it is piped");
    input.write_all(questions.as_bytes()).expect("it reads the questions");
    drop(input);
    let output = script.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}");
    serde_json::from_slice(&output.stdout).expect("it prints its answers")
}

#[test]
fn the_arrangement_gives_the_answers_of_the_rfc() {
    for trap in &TRAPS {
        let after = arranged(trap.file);
        for (crawler, path) in trap.questions {
            let [before, after] = [trap.file.to_owned(), after.clone()]
                .map(|file| is_allowed(&(file, *crawler, *path)));
            assert_eq!(before, after, "{} {crawler} {path}", trap.name);
        }
    }
}

/// The findings of `beadle check` name the parsers that misread a file as it is written.
#[test]
fn the_findings_name_the_parsers_of_the_table() {
    let page = page("robots-txt.md");
    let rows = page.text.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &str| {
        row.trim_matches('|').split('|').map(|one| one.trim().to_owned()).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = rows.map(cells).skip_while(|row| row[0] != "parser").collect();
    for (kind, parsers) in beadle::advice::lint::MISREADERS {
        let column = rows[0].iter().position(|heading| heading.starts_with(kind));
        let column = column.unwrap_or_else(|| panic!("no column for {kind}"));
        let wrong = rows.iter().skip(2).take_while(|row| row.len() == rows[0].len());
        let wrong: Vec<&str> =
            wrong.filter(|row| row[column] != "0").map(|row| row[0].as_str()).collect();
        assert_eq!(wrong.len(), parsers.len(), "{kind}: {wrong:?}");
        for (row, parser) in wrong.iter().zip(parsers) {
            assert!(row.starts_with(parser), "{kind}: {row} {parser}");
        }
    }
}

#[test]
fn no_parser_misreads_more_of_an_arranged_file() {
    let Some(folder) = std::env::var_os("BEADLE_PARSERS").map(PathBuf::from) else {
        return do_without("a folder BEADLE_PARSERS with parsers of robots.txt");
    };
    let Some(node) = need("node") else { return };
    let questions = questions();
    let text = serde_json::to_string(&questions).expect("it has a JSON form");
    let script = |name: &str| root().join(".ci/parsers").join(name);
    let mut answers = of_crates(&questions);
    answers.extend(of_script(folder.join("venv/bin/python"), &[script("read.py")], &text));
    answers.extend(of_script(node, &[script("read.js"), folder], &text));

    let right: Vec<bool> = questions.iter().map(is_allowed).collect();
    let mut rows = vec!["| parser |".to_owned(), "|---|".to_owned()];
    for trap in &TRAPS {
        rows[0] += &format!(" {} ({}) |", trap.name, trap.questions.len());
        rows[1] += "---|";
    }
    for (parser, answers) in &answers {
        let wrong: Vec<bool> =
            answers.iter().zip(&right).map(|(one, right)| one != right).collect();
        let (mut wrong, mut row) = (&*wrong, format!("| {parser} |"));
        for trap in &TRAPS {
            let [before, after] = [(); 2].map(|()| {
                let (these, rest) = wrong.split_at(trap.questions.len());
                wrong = rest;
                these.iter().filter(|is_wrong| **is_wrong).count()
            });
            assert!(after <= before, "{parser}: {} {before} {after}", trap.name);
            row += &match (before, after) {
                (0, 0) => " 0 |".to_owned(),
                _ => format!(" {before} → {after} |"),
            };
        }
        rows.push(row);
    }
    check_table(&rows);
}

/// Whether the page has these rows. That of Python's own parser depends on the version of Python.
fn check_table(rows: &[String]) {
    let page = page("robots-txt.md");
    let table: Vec<&str> =
        page.text.lines().skip_while(|line| !line.starts_with("| parser |")).collect();
    let table: Vec<&str> = table.into_iter().take_while(|line| line.starts_with('|')).collect();
    if is_update() {
        let text = page.text.replace(&table.join("\n"), &rows.join("\n"));
        return std::fs::write(&page.path, text).expect("the page is writable");
    }
    let is_own = |row: &&str| !row.starts_with("| urllib");
    let expected: Vec<&str> = table.into_iter().filter(is_own).collect();
    let found: Vec<&str> = rows.iter().map(String::as_str).filter(is_own).collect();
    assert_eq!(expected, found, "BEADLE_UPDATE=1 rewrites {}", page.name());
}
