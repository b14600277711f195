//! Records that are made instead of recorded: their times, ids and addresses are fixed.

use std::process::{Command, Output, Stdio};

use beadle::{
    base::text::Text,
    records::{
        lines::LogTarget,
        record::{Robots, RobotsRead, SCHEMA, Violation},
        tally::{Claimant, Hour, PlaceCount, PlaceKind, ReadState, Rollup, Rollups, Series},
        violations::{Record, Settings, Sink, Store},
    },
};

use crate::support::program::PROGRAM;

/// A folder with a policy and its records.
#[derive(Debug)]
pub(super) struct Made {
    folder: tempfile::TempDir,
}

/// Where the records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Database,
    Lines,
}

pub(super) const SITES: &str = "sites:
  - hosts: [www.example.com, example.com, \"*.blog.example\"]
    origin: http://127.0.0.1:3000
    robots_txt: { groups: [{ user_agents: [\"*\", HouseBot], disallow: [/private/] }] }
  - hosts: [shop.example]
    origin: http://127.0.0.1:3000
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/cart/] }] }
";

/// The first site alone.
pub(super) fn one_site() -> &'static str {
    SITES.split_inclusive("[/private/] }] }\n").next().expect("there is one")
}

/// A record of GPTBot; `number` makes its id and its time, in minutes after ten o'clock.
pub(super) fn violation(number: u64) -> Violation {
    let minutes = jiff::SignedDuration::from_mins(number.cast_signed());
    let begin: jiff::Timestamp = "2026-11-20T10:00:00Z".parse().expect("a time");
    Violation {
        schema: SCHEMA,
        id: format!("019aa0c1-0000-7000-8000-{number:012x}").into(),
        time: begin + minutes,
        site: Text::word("www.example.com"),
        client_ip: Text::word("192.0.2.77"),
        method: Text::word("GET"),
        host: Text::word("www.example.com"),
        path: Text::path(format!("/private/{number}?page=1").as_bytes()),
        user_agent: Text::word("GPTBot/1.2"),
        product_token: Text::word("GPTBot"),
        product_tokens: Text::list(["GPTBot"]),
        operator: Some(Text::word("OpenAI")),
        purpose: Some(Text::word("ai-training")),
        standing: Text::word("confirmed"),
        evidence: Some(Text::word("ip-range")),
        verdict: Text::word("disallow"),
        reason: Text::word("robots.disallow"),
        action: Text::word("log"),
        status: 200,
        robots: Robots {
            edition: Text::word("3f2a91c0d4e5f607"),
            line: Some(7),
            directive: Text::word("disallow"),
            pattern: Text::word("/private/"),
            group: Text::list(["*"]),
        },
        robots_read: RobotsRead { state: ReadState::Never, edition: None, at: None },
    }
}

/// Records of every kind: paces and impostors, IPv6, clients without a name, foreign text.
pub(super) fn kinds() -> Vec<Violation> {
    let word = Text::word;
    let gptbot = violation;
    let read = |state, at: &str| RobotsRead {
        state,
        edition: Some(word("3f2a91c0d4e5f607")),
        at: at.parse().ok(),
    };
    let bytespider = |number| Violation {
        product_token: word("Bytespider"),
        product_tokens: Text::list(["Bytespider"]),
        operator: Some(word("ByteDance")),
        user_agent: word("Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)"),
        standing: word("unverifiable"),
        evidence: None,
        ..gptbot(number)
    };
    let long = format!("/private/{}", "catalogue/".repeat(12));
    vec![
        gptbot(0),
        Violation {
            action: word("block"),
            status: 403,
            robots_read: read(ReadState::Current, "2026-11-20T09:55:00Z"),
            ..gptbot(1)
        },
        Violation { client_ip: word("2001:db8:1:2:3:4:5:6"), ..bytespider(2) },
        Violation { path: Text::path(long.as_bytes()), ..bytespider(3) },
        Violation {
            action: word("throttle"),
            status: 429,
            verdict: word("allow"),
            reason: word("robots.crawl_delay"),
            path: word("/news/"),
            robots: Robots {
                line: Some(4),
                directive: word("crawl-delay"),
                pattern: word("5"),
                ..gptbot(4).robots
            },
            robots_read: read(ReadState::Older, "2026-11-19T22:00:00Z"),
            ..bytespider(4)
        },
        Violation {
            product_token: word("Googlebot"),
            product_tokens: Text::list(["Googlebot"]),
            operator: Some(word("Google")),
            purpose: Some(word("search")),
            standing: word("contradicted"),
            evidence: Some(word("reverse-dns")),
            reason: word("claim.contradicted"),
            action: word("block"),
            status: 403,
            path: word("/"),
            client_ip: word("198.51.100.9"),
            robots: Robots {
                line: None,
                directive: word(""),
                pattern: word(""),
                ..gptbot(5).robots
            },
            ..gptbot(5)
        },
        Violation {
            product_token: word("-"),
            product_tokens: Vec::new(),
            operator: None,
            purpose: None,
            standing: word("unknown"),
            evidence: None,
            user_agent: word(""),
            site: word("shop.example"),
            host: word("shop.example"),
            path: Text::path("/cart/日本語?q=\"a\",b".as_bytes()),
            client_ip: word("203.0.113.5"),
            robots: Robots { pattern: word("/cart/"), line: Some(2), ..gptbot(6).robots },
            ..gptbot(6)
        },
        Violation {
            user_agent: word("=HYPERLINK(\"https://evil.example\")"),
            product_token: word("@SUM"),
            product_tokens: Text::list(["@SUM", "+1", "-1"]),
            operator: Some(word("+cmd|' /C calc'!A0")),
            purpose: None,
            standing: word("unknown"),
            evidence: None,
            time: "2026-11-21T00:00:00.042Z".parse().expect("a time"),
            ..gptbot(7)
        },
    ]
}

impl Made {
    /// The records in a database or in JSON lines.
    pub(super) fn new(kept: Kept, sites: &str, records: Vec<Violation>) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (database, log) = (folder.path().join("beadle.db"), folder.path().join("lines.jsonl"));
        let settings = match kept {
            Kept::Database => Settings { database: Some(database), ..Settings::default() },
            Kept::Lines => Settings { log: Some(LogTarget::File(log)), ..Settings::default() },
        };
        let sink = Sink::start(settings).expect("the folder is ours");
        let count = records.len() as u64;
        records.into_iter().for_each(|violation| sink.record(Record { violation, tallied: None }));
        let counts = sink.close(crate::support::PATIENCE);
        assert_eq!(counts.stored, count);
        let file = match kept {
            Kept::Database => "database: beadle.db",
            Kept::Lines => "log: lines.jsonl",
        };
        let policy = format!("strict: false\nviolations: {{ {file} }}\n{sites}");
        std::fs::write(folder.path().join("beadle.yaml"), policy).expect("the folder is ours");
        Self { folder }
    }

    /// Adds counts by hour for the records, as if an hour had `more` of each, without a record.
    pub(super) fn count(&self, records: &[Violation], more: u64) {
        let mut store = Store::open(&self.folder.path().join("beadle.db")).expect("a database");
        for violation in records {
            let hour = Hour::of(violation.time);
            let series = Series::of(violation, "crawler");
            let allowed = Series {
                action: Text::word("pass"),
                verdict: Text::word("allow"),
                reason: Text::word("robots.no_rule"),
                directive: Text::word(""),
                pattern: Text::word(""),
                line: 0,
                read: None,
                ..series.clone()
            };
            let rollup =
                |series, requests, folded| Rollup { hour, series, requests, folded, dropped: 0 };
            let path = violation.path.split('?').next().unwrap_or_default();
            let network = match violation.client_ip.contains(':') {
                true => "2001:db8:1::/48".to_owned(),
                false => {
                    violation.client_ip.rsplit_once('.').expect("a dot").0.to_owned() + ".0/24"
                }
            };
            let place = |kind, place: &str| PlaceCount {
                hour,
                kind,
                site: violation.site.clone(),
                product_token: violation.product_token.clone(),
                claimant: Claimant::of(&violation.standing),
                place: Text::path(place.as_bytes()),
                violations: 1 + more,
            };
            let rollups = Rollups {
                series: vec![rollup(series, 1 + more, more), rollup(allowed, 10, 0)],
                places: vec![place(PlaceKind::Path, path), place(PlaceKind::Network, &network)],
                ..Rollups::default()
            };
            store.add_rollups(&rollups).expect("the database is ours");
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_remove("BEADLE_CONFIG")
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        command
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Runs `beadle violations` with these arguments.
    pub(super) fn list(&self, args: &[&str]) -> Output {
        let mut command = self.command(PROGRAM);
        command.arg("violations").args(args).output().expect("the program can be started")
    }

    /// Runs `beadle violations` on a terminal, with these variables; returns what it shows.
    pub(super) fn show(&self, variables: &[(&str, &str)], args: &[&str]) -> String {
        let quoted = args.iter().map(|arg| format!("'{arg}'")).collect::<Vec<_>>().join(" ");
        let line = format!("'{PROGRAM}' violations {quoted}");
        let output = self
            .command("script")
            .args(["-q", "-e", "-c", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .envs(variables.iter().copied())
            .output()
            .expect("the program can be started");
        String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
    }
}

/// Standard output and standard error as text, and the exit code.
pub(super) fn told(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}
