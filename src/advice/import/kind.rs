//! The formats that can be read, and a guess of the format by content.

/// A format of foreign rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A robots.txt.
    RobotsTxt,
    /// robots.json of ai.robots.txt: an object with a member for each crawler.
    AiRobotsJson,
    /// Bot policies of Anubis.
    Anubis,
    /// `map $http_user_agent` and `if ($http_user_agent …)` of nginx.
    NginxMap,
    /// `SetEnvIf`, `BrowserMatch` and `RewriteCond` of Apache.
    Apache,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::RobotsTxt, Self::AiRobotsJson, Self::Anubis, Self::NginxMap, Self::Apache];

    /// The name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RobotsTxt => "robots-txt",
            Self::AiRobotsJson => "ai-robots-json",
            Self::Anubis => "anubis",
            Self::NginxMap => "nginx-map",
            Self::Apache => "apache",
        }
    }

    /// The source in words.
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
pub fn guess(bytes: &[u8]) -> Kind {
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
