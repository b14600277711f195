//! Sites with a robots.txt that changes in each edition, and paths that show the differences.

use crate::EDITIONS;

/// Crawlers of the judged group.
pub(crate) const USER_AGENTS: [&str; 3] = [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
];

/// Names with a group in some editions only.
const OTHERS: [&str; EDITIONS as usize] = [
    "Bytespider",
    "Amazonbot",
    "bingbot",
    "YandexBot",
    "AhrefsBot",
    "SemrushBot",
    "DotBot",
    "MJ12bot",
    "PetalBot",
    "Applebot",
];

/// The difference between two editions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Rules of the judged group.
    Rule,
    /// Another crawler gets a group.
    GroupAdded,
    /// Another crawler loses its group.
    GroupRemoved,
}

impl Change {
    pub(crate) const ALL: [Self; 3] = [Self::Rule, Self::GroupAdded, Self::GroupRemoved];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rule => "some rules change",
            Self::GroupAdded => "groups are added",
            Self::GroupRemoved => "groups are removed",
        }
    }
}

/// A file with a number of rules, a tenth of them with stars: half for `*`, half for the judged
/// crawlers.
#[derive(Clone, Copy)]
pub(crate) struct File {
    pub(crate) rules: u32,
    pub(crate) change: Change,
}

impl File {
    fn rule(number: u32) -> String {
        match number % 10 {
            0 => format!("/section-{number}/*/draft-{number}$"),
            _ => format!("/section-{number}/"),
        }
    }

    fn half(self) -> u32 {
        self.rules / 2
    }

    /// Paths that every edition allows.
    pub(crate) fn allowed(self) -> Vec<String> {
        (0..23).map(|number| format!("/blog/2026/{number:02}/why-the-sea-is-salt")).collect()
    }

    /// Paths that every edition disallows by the same rule.
    pub(crate) fn disallowed(self) -> Vec<String> {
        let numbers = (0..self.half()).filter(|number| number % 10 != 0).take(23);
        numbers.map(|number| format!("{}page.html", Self::rule(number))).collect()
    }

    /// Paths that only the first edition allows.
    pub(crate) fn allowed_once(self) -> Vec<String> {
        (0..23).map(|number| format!("/once/{number:02}.html")).collect()
    }

    /// Paths that only the edition in force disallows.
    pub(crate) fn disallowed_now(self) -> Vec<String> {
        (0..23).map(|number| format!("/added-{}/{number:02}.html", EDITIONS - 1)).collect()
    }

    /// Paths that each edition disallows by a different rule.
    pub(crate) fn narrowed(self) -> Vec<String> {
        (0..23).map(|number| format!("/narrow/xxxxxxxxxxxx/{number:02}.html")).collect()
    }
}

/// The policy that publishes this edition of the file.
pub(crate) fn policy_text(file: File, number: u32) -> String {
    let quoted = |rules: Vec<String>| {
        rules.iter().map(|rule| format!("{rule:?}")).collect::<Vec<_>>().join(", ")
    };
    let mut judged: Vec<String> = (0..file.half()).map(File::rule).collect();
    if file.change == Change::Rule {
        judged.extend((0..=number).map(|number| format!("/added-{number}/")));
        judged.extend((number > 0).then(|| "/once/".to_owned()));
        judged.push(format!("/narrow/{}", "x".repeat(1 + number as usize)));
    }
    let star: Vec<String> = (file.half()..file.rules).map(File::rule).collect();
    let others = match file.change {
        Change::Rule => 0..1,
        Change::GroupAdded => 0..1 + number,
        Change::GroupRemoved => number..EDITIONS,
    };
    let others: Vec<String> = others
        .filter_map(|other| OTHERS.get(other as usize))
        .map(|name| format!("        - {{ user_agents: [{name}], disallow: [\"/reports/\"] }}\n"))
        .collect();
    format!(
        "sites:\n  - hosts: [www.example.com]\n    origin: http://127.0.0.1:3000\n    robots_txt:\n      \
         groups:\n        - {{ user_agents: [\"*\"], disallow: [{}] }}\n        - {{ user_agents: \
         [GPTBot, ClaudeBot, CCBot], disallow: [{}] }}\n{}",
        quoted(star),
        quoted(judged),
        others.concat()
    )
}
