//! The policy that is written: its groups, line by line, checked by the policy's own reader.
//!
//! Each line remembers the item of the source that it came from. A line with a warning or an error is
//! left out, and becomes a loss with the reader's own words. So the text passes `beadle check`.

use derive_more::Display;
use serde::Serialize;

use crate::{
    base::{diagnostic::Severity, escape, text::words},
    formats::robots::Record,
    rules::policy,
};

/// How often lines are left out before the text is given up.
const MOST_ROUNDS: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Imported {
    pub(crate) policy: String,
    /// The parts that are not carried over, in the order of the source.
    pub(crate) losses: Vec<Loss>,
}

/// A part of the source that is not carried over, or that means something else in a policy.
#[derive(Clone, Debug, Display, PartialEq, Eq, Serialize)]
#[display("{place}: {what}: {why}")]
pub(crate) struct Loss {
    /// The place in the source: `line 12`, or a name.
    pub(crate) place: String,
    pub(crate) what: String,
    pub(crate) why: String,
}

impl Loss {
    pub(super) fn new(
        place: impl Into<String>,
        what: impl AsRef<[u8]>,
        why: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), what: escape::shown(what), why: why.into() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) host: String,
    pub(crate) origin: String,
}

/// A text with its place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) place: String,
}

pub(super) type RecordItem = (String, Item);

#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) user_agents: Vec<Item>,
    pub(super) allow: Vec<Item>,
    pub(super) disallow: Vec<Item>,
    pub(super) crawl_delay: Option<Item>,
    pub(super) records: Vec<RecordItem>,
    pub(super) is_blocked: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) groups: Vec<Group>,
    pub(super) sitemaps: Vec<Item>,
    pub(super) records: Vec<RecordItem>,
    pub(super) losses: Vec<Loss>,
    /// Crawlers that the policy has to declare, because their names are close to known ones.
    own: Vec<Item>,
}

impl Item {
    pub(super) fn new(text: &str, place: &str) -> Self {
        Self { text: text.to_owned(), place: place.to_owned() }
    }

    pub(super) fn of_record(record: &Record, place: &str) -> RecordItem {
        (record.name.clone(), Self::new(&record.value, place))
    }
}

impl Group {
    pub(super) fn of(user_agents: Vec<Item>) -> Self {
        Self { user_agents, ..Self::default() }
    }
}

/// A text, each line with the item that it came from.
#[derive(Default)]
struct Lines {
    text: String,
    items: Vec<Option<Item>>,
}

impl Lines {
    fn add(&mut self, lines: &str) {
        for line in lines.split('\n') {
            self.text.push_str(line);
            self.text.push('\n');
            self.items.push(None);
        }
    }

    fn item(&mut self, line: &str, item: &Item) {
        self.add(line);
        if let Some(last) = self.items.last_mut() {
            *last = Some(item.clone());
        }
    }

    fn list(&mut self, indent: &str, key: &str, items: &[Item]) {
        if items.is_empty() {
            return;
        }
        self.add(&format!("{indent}{key}:"));
        for item in items {
            self.item(&format!("{indent}  - {}", scalar(&item.text)), item);
        }
    }

    fn records(&mut self, indent: &str, records: &[RecordItem]) {
        if records.is_empty() {
            return;
        }
        self.add(&format!("{indent}records:"));
        for (name, item) in records {
            self.item(&format!("{indent}  - {{ {}: {} }}", scalar(name), quoted(&item.text)), item);
        }
    }
}

const ENFORCEMENT: &str = "    enforcement:
      # Record violations. Write 'block' to refuse them.
      mode: log";
const BLOCKED: &str = "      overrides:
        # The crawlers that the source refuses.
        - mode: block";

impl Draft {
    /// The text of the policy, without the lines that its reader finds fault with.
    pub(super) fn finish(mut self, kind: Kind, place: &Place) -> Imported {
        for _ in 0..MOST_ROUNDS {
            self.groups.retain(|group| !group.user_agents.is_empty());
            let lines = self.lines(kind, place);
            let (_, findings) = policy::read("policy", lines.text.as_bytes());
            let mut is_clean = true;
            for finding in findings.iter().filter(|one| one.severity > Severity::Note) {
                let line = finding.place.line.and_then(|line| usize::try_from(line).ok());
                let item = line.and_then(|line| lines.items.get(line.checked_sub(1)?)?.clone());
                let Some(item) = item else { continue };
                is_clean = false;
                if finding.code == "policy.unknown_crawler" && !self.own.contains(&item) {
                    self.own.push(item);
                    continue;
                }
                self.remove(&item);
                self.losses.push(Loss::new(&item.place, &item.text, &finding.message));
            }
            if is_clean {
                break;
            }
        }
        let policy = self.lines(kind, place).text;
        let (mut losses, mut known) = (Vec::new(), std::collections::HashSet::new());
        for loss in self.losses {
            if known.insert((loss.place.clone(), loss.what.clone(), loss.why.clone())) {
                losses.push(loss);
            }
        }
        Imported { policy, losses }
    }

    fn remove(&mut self, item: &Item) {
        let is_other = |other: &Item| other != item;
        self.own.retain(is_other);
        self.sitemaps.retain(is_other);
        self.records.retain(|(_, item)| is_other(item));
        for group in &mut self.groups {
            group.user_agents.retain(is_other);
            group.allow.retain(is_other);
            group.disallow.retain(is_other);
            group.records.retain(|(_, item)| is_other(item));
            group.crawl_delay = group.crawl_delay.take().filter(is_other);
        }
    }

    fn lines(&self, kind: Kind, place: &Place) -> Lines {
        let mut lines = Lines::default();
        lines.add(&format!(
            "# Made from {} by 'beadle import'. Violations are recorded, and",
            kind.words()
        ));
        lines.add(match self.groups.iter().any(|group| group.is_blocked) {
            true => {
                "# crawlers that the source refuses are blocked. 'beadle check' reads this file."
            }
            false => {
                "# nothing is refused yet: see enforcement.mode. 'beadle check' reads this file."
            }
        });
        lines.add("\nviolations:\n  database: violations.db\n");
        if !self.own.is_empty() {
            lines.add("# Crawlers that no catalogue has, although similar names are known.");
            lines.add("crawlers:");
            for item in &self.own {
                lines.item(&format!("  - product_token: {}", scalar(&item.text)), item);
            }
            lines.add("");
        }
        lines.add("sites:");
        lines.add(&format!("  - hosts: [{}]", quoted(&place.host)));
        lines.add("    # The server behind Beadle.");
        lines.add(&format!("    origin: {}", scalar(&place.origin)));
        lines.add("    robots_txt:\n      groups:");
        for group in &self.groups {
            group.write(&mut lines);
        }
        if self.groups.is_empty() {
            lines.add("        # Everything is allowed.\n        - user_agents: [\"*\"]");
        }
        lines.list("      ", "sitemaps", &self.sitemaps);
        lines.records("      ", &self.records);
        lines.add(ENFORCEMENT);
        let blocked = self.groups.iter().filter(|group| group.is_blocked);
        let blocked: Vec<Item> = blocked.flat_map(|group| group.user_agents.clone()).collect();
        if !blocked.is_empty() {
            lines.add(BLOCKED);
            lines.list("          ", "user_agents", &blocked);
        }
        lines
    }
}

impl Group {
    fn write(&self, lines: &mut Lines) {
        lines.add("        - user_agents:");
        for item in &self.user_agents {
            lines.item(&format!("            - {}", scalar(&item.text)), item);
        }
        lines.list("          ", "allow", &self.allow);
        lines.list("          ", "disallow", &self.disallow);
        let has_rules = !(self.allow.is_empty() && self.disallow.is_empty());
        if !has_rules && self.user_agents.iter().any(|item| item.text != "*") {
            lines.add("          allow: [/]");
        }
        if let Some(item) = &self.crawl_delay {
            lines.item(&format!("          crawl_delay: {}", item.text), item);
        }
        lines.records("          ", &self.records);
    }
}

/// A text as YAML, quoted unless it is plain.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_.-:".contains(&b))
        && !text.ends_with(':')
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word));
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Kind {
        RobotsTxt = "robots-txt",
        /// robots.json of ai.robots.txt: an object with a member for each crawler.
        AiRobotsJson = "ai-robots-json",
        Anubis = "anubis",
        /// `map $http_user_agent` and `if ($http_user_agent …)` of nginx.
        NginxMap = "nginx-map",
        /// `SetEnvIf`, `BrowserMatch` and `RewriteCond` of Apache.
        Apache = "apache",
    }
}

impl Kind {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::RobotsTxt => "a robots.txt",
            Self::AiRobotsJson => "a list of ai.robots.txt",
            Self::Anubis => "bot policies of Anubis",
            Self::NginxMap => "rules of nginx",
            Self::Apache => "rules of Apache",
        }
    }
}

/// The kind that the content most probably has.
pub(crate) fn guess(bytes: &[u8]) -> Kind {
    let text = String::from_utf8_lossy(bytes);
    let starts = |line: &str, word: &str| {
        line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let lines = || text.lines().map(str::trim_start);
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if text.contains("$http_user_agent") {
        Kind::NginxMap
    } else if text.contains("%{HTTP_USER_AGENT}")
        || lines().any(|line| starts(line, "SetEnvIf") || starts(line, "BrowserMatch"))
    {
        Kind::Apache
    } else if lines().any(|line| starts(line, "user-agent:")) {
        Kind::RobotsTxt
    } else if first.starts_with(['{', '['])
        && !["\"bots\"", "\"action\"", "\"import\""].iter().any(|key| text.contains(key))
    {
        Kind::AiRobotsJson
    } else if first.starts_with(['{', '['])
        || lines().any(|line| {
            let line = line.trim_start_matches(['-', ' ']);
            ["bots:", "action:", "import:", "user_agent_regex:"].iter().any(|key| starts(line, key))
        })
    {
        Kind::Anubis
    } else {
        Kind::RobotsTxt
    }
}
