//! The requests through a front, each with the client whose name it uses.

use derive_more::Display;

use crate::formats::robots::{Directive, RobotsTxt};

/// The crawlers that most sites want to know about.
const USUAL: [&str; 4] = ["Googlebot", "bingbot", "GPTBot", "ClaudeBot"];
/// The most crawlers that a site's groups add to them: each waits for its turn.
const MOST_NAMED: usize = 4;
/// The most rules that are tried to find a refused page.
const MOST_TRIED: usize = 100;

/// The name in whose place a request is sent.
#[derive(Clone, Debug, Display, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asker {
    #[display("a browser")]
    Browser,
    Crawler(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) asker: Asker,
    pub(crate) target: String,
}

impl Asker {
    /// The `User-Agent`. That of a crawler names `product`, too, so that logs of fronts tell who asked.
    pub(crate) fn user_agent(&self, product: &str) -> String {
        match self {
            Self::Browser => {
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                              Chrome/142.0.0.0 Safari/537.36"
                    .to_owned()
            }
            Self::Crawler(token) => format!("Mozilla/5.0 (compatible; {token}/1.0; {product})"),
        }
    }
}

impl Question {
    pub(crate) fn is_robots_txt(&self) -> bool {
        self.target == "/robots.txt"
    }
}

/// The crawlers to ask as, one each time: the `wanted` ones, else the usual ones and the first that
/// groups name.
pub(crate) fn crawlers<'a>(
    wanted: impl Iterator<Item = &'a str>,
    named: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut all: Vec<String> = wanted.map(str::to_owned).collect();
    if all.is_empty() {
        all.extend(USUAL.map(str::to_owned));
        for name in named {
            let is_full = all.len() >= USUAL.len() + MOST_NAMED;
            if !is_full && !all.iter().any(|one| one.eq_ignore_ascii_case(name)) {
                all.push(name.to_owned());
            }
        }
    }
    all
}

/// The questions of one round: robots.txt and the pages, first as a browser, which fills caches, then as
/// a crawler. Without `pages`, they are `/` and the first path of a rule that is refused to the crawler.
pub(crate) fn questions(
    crawler: &str,
    pages: &[String],
    rules: &RobotsTxt,
    is_refused: impl Fn(&str) -> bool,
) -> Vec<Question> {
    let mut targets = vec!["/robots.txt".to_owned()];
    targets.extend_from_slice(pages);
    if pages.is_empty() {
        targets.push("/".to_owned());
        let rules = rules.groups.iter().flat_map(|group| &group.rules);
        let closed = rules.filter(|rule| rule.directive == Directive::Disallow).take(MOST_TRIED);
        let mut paths = closed.filter_map(|rule| {
            let path = rule.pattern.trim_end_matches('$');
            (path.starts_with('/') && !path.contains('*')).then_some(path)
        });
        targets.extend(paths.find(|path| *path != "/" && is_refused(path)).map(str::to_owned));
    }
    let askers = [Asker::Browser, Asker::Crawler(crawler.to_owned())];
    let of = |asker: Asker| {
        targets.iter().map(move |target| Question { asker: asker.clone(), target: target.clone() })
    };
    askers.into_iter().flat_map(of).collect()
}
