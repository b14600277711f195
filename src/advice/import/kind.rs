//! The formats that can be read, and a guess of the format by content.

use crate::base::text::words;

words! {
    /// A format of foreign rules.
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
