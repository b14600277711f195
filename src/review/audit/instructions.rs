//! Everything that a page and its site tell one crawler, and the answers for many crawlers: may each crawl, train
//! and show a page in search.

use serde::Serialize;

use super::{
    page::{Page, Site},
    said::{self, Answer, Conflict, RulesOf, Said, Use},
    signals::{self, Signal},
};
use crate::{
    base::{escape, product_token::ProductToken},
    formats::{
        robots::{self, Access, Matcher, Target},
        robots_tag,
    },
    rules::{
        crawlers::{Catalogue, Class, Kind, Name, Purpose, Status},
        enforce,
    },
};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Audit {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) product_token: String,
    pub(crate) robots_txt: VerdictRow,
    /// The rules of each source, as written.
    pub(crate) sources: Vec<RulesOf>,
    /// The rules that the crawler must follow: the union of all sources.
    pub(crate) rules: Vec<String>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) signals: Vec<Signal>,
    /// What each carrier says about each use, the verdict of robots.txt first.
    #[serde(skip)]
    pub(crate) said: Vec<Said>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictRow {
    /// The status of the file; 0 is no answer.
    pub(crate) status: u16,
    /// `allow` or `disallow`.
    pub(crate) verdict: &'static str,
    /// The rule that decides: `Disallow: /private/ (line 3)`.
    pub(crate) rule: Option<String>,
}

impl Audit {
    /// Reads the answers for the crawler `token`.
    pub(crate) fn of(
        catalogue: &Catalogue,
        token: &ProductToken,
        site: &Site,
        page: &Page,
    ) -> Self {
        let (file, _) = robots::parse(&site.robots_txt);
        let matcher = Matcher::new(&file);
        let name = match catalogue.find(token.as_str()) {
            Some(crawler) => Name::Known(crawler),
            None => Name::Declared(token.as_str()),
        };
        // RFC 9309 §2.2.1 binds each crawler by `*`.
        let scope = enforce::group_for(&matcher, &Class::ALL, name);
        let target = Target::of_url(page.url.as_bytes());
        let verdict = scope.map(|scope| matcher.verdict_letter(scope, &target));
        // RFC 9309 §2.3.1.4: while the file can't be reached, everything is disallowed.
        let is_unreachable = site.robots_status == 0 || site.robots_status >= 500;
        let access = match is_unreachable {
            true => Access::Disallow,
            false => verdict.map_or(Access::Allow, |verdict| verdict.access),
        };
        let rule = verdict.and_then(|verdict| verdict.rule).filter(|_| !is_unreachable);
        let robots_txt = VerdictRow {
            status: site.robots_status,
            verdict: access.as_str(),
            rule: rule.map(|rule| {
                let pattern = escape::shown(&rule.pattern);
                format!("{}: {pattern} (line {})", rule.directive.field_name(), rule.line)
            }),
        };
        let values = |name| page.values(name).collect::<Vec<_>>();
        let (field, _) = robots_tag::read(&values("Robots-Tag"));
        let (older, _) = robots_tag::read_legacy(&values("X-Robots-Tag"));
        let is_crawler =
            |name: &ProductToken| name == token || catalogue.find(name.as_str()).is_some();
        let document = robots_tag::read_html(&page.body, is_crawler);
        let meta = document.tag();
        let rules = robots_tag::effective(&field, &[&older, &meta], Some(token));
        let sources = [
            RulesOf::new("Robots-Tag", &field, said::of_field(page, token), token),
            RulesOf::new("X-Robots-Tag", &older, said::of_older_field(page, token), token),
            RulesOf::new("meta", &meta, said::of_document(&document, token), token),
        ];
        let mut sources = Vec::from(sources);
        sources.retain(|source| !source.rules.is_empty());
        let signals = signals::of(&file, &matcher, scope, &target, site, page, &rules);
        let (text, line) = (robots_txt.rule.as_deref(), rule.map(|rule| rule.line));
        let mut said = vec![Said::of_verdict(access, text, line, site.robots_status)];
        said.extend(signals.iter().flat_map(Said::of_signal));
        said.extend(sources.iter().flat_map(Said::of_source));
        said.extend(said::of_control_tokens(catalogue, token, &matcher, &target));
        let conflicts = said::conflicts(access, &sources, &rules, &signals, &said, site);
        Self {
            url: escape::shown(&page.url),
            status: page.status,
            product_token: token.as_str().to_owned(),
            robots_txt,
            sources,
            rules,
            conflicts,
            signals,
            said,
        }
    }
}

/// The crawlers of a matrix without names: the search engines with the most users, the operators that
/// train the best known models, their searches and fetches for people, and the control tokens of
/// search engines.
pub(crate) const CRAWLERS: [&str; 20] = [
    // Search.
    "Googlebot",
    "bingbot",
    "YandexBot",
    "Baiduspider",
    "DuckDuckBot",
    "Applebot",
    // Training.
    "GPTBot",
    "ClaudeBot",
    "CCBot",
    "meta-externalagent",
    "Bytespider",
    "Amazonbot",
    // Answers.
    "OAI-SearchBot",
    "ChatGPT-User",
    "Claude-SearchBot",
    "Claude-User",
    "PerplexityBot",
    "Perplexity-User",
    // Control tokens: they fetch nothing.
    "Google-Extended",
    "Applebot-Extended",
];

/// The crawlers of a matrix: those named, those of the purposes, or the well-known ones.
pub(crate) fn crawlers(
    catalogue: &Catalogue,
    mut tokens: Vec<ProductToken>,
    purposes: &[Purpose],
) -> Vec<ProductToken> {
    for purpose in purposes {
        let active =
            catalogue.by_purpose(*purpose).filter(|one| one.entry.status == Status::Active);
        tokens.extend(active.map(|one| one.product_token().clone()));
    }
    if tokens.is_empty() && purposes.is_empty() {
        tokens.extend(CRAWLERS.iter().filter_map(|name| ProductToken::new(name)));
    }
    tokens
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) product_token: String,
    pub(crate) purpose: Option<Purpose>,
    /// Whether it may fetch the page; `None` for control tokens.
    pub(crate) crawl: Option<Answer>,
    pub(crate) train_ai: Answer,
    /// Whether it may show it in a search; `None` for control tokens.
    pub(crate) search: Option<Answer>,
    pub(crate) carriers: Vec<Carried>,
    pub(crate) conflicts: Vec<Conflict>,
}

/// What a carrier says, and whether that is the answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Carried {
    #[serde(flatten)]
    pub(crate) said: Said,
    /// Whether it is the first carrier with the answer about its use. What may not be fetched is not
    /// used, so the rule of robots.txt decides then.
    pub(crate) decides: bool,
}

impl Row {
    /// The answers of a page and its site for the crawler `token`.
    pub(crate) fn of(
        catalogue: &Catalogue,
        token: &ProductToken,
        site: &Site,
        page: &Page,
    ) -> Self {
        let audit = Audit::of(catalogue, token, site, page);
        let crawler = catalogue.find(token.as_str());
        let fetches = crawler.is_none_or(|crawler| crawler.kind() != Kind::Control);
        // A control token sees no page, so only what governs training can contradict its rules.
        let mut conflicts = audit.conflicts;
        conflicts.retain(|one| fetches || one.code == said::TRAINING);
        let mut said = audit.said;
        said.retain(|one| fetches || !matches!(one.about, Use::Crawl | Use::Search));
        // Of all that is said about a use, the strictest is the answer.
        let strictest = |about: Use| {
            let about = said.iter().filter(|one| one.about == about);
            about.map(|one| one.says).max().unwrap_or(Answer::Unsaid)
        };
        let is_closed = strictest(Use::Crawl) == Answer::No;
        let of = |about| if is_closed { Answer::No } else { strictest(about) };
        let (crawl, train_ai, search) = (of(Use::Crawl), of(Use::TrainAi), of(Use::Search));
        let decides = |at: usize, one: &Said| {
            let is_first =
                said.iter().position(|other| (other.about, other.says) == (one.about, one.says));
            let is_answer = one.says == strictest(one.about) && is_first == Some(at);
            is_answer && (one.about == Use::Crawl || !is_closed)
        };
        let carried =
            |(at, one): (usize, &Said)| Carried { said: one.clone(), decides: decides(at, one) };
        Self {
            url: audit.url,
            product_token: audit.product_token,
            purpose: crawler.map(|crawler| crawler.purpose()),
            crawl: fetches.then_some(crawl),
            train_ai,
            search: fetches.then_some(search),
            carriers: said.iter().enumerate().map(carried).collect(),
            conflicts,
        }
    }

    /// The answer about a use, and the carrier that decides: `no, Content-Usage line 3`.
    pub(crate) fn shown(&self, about: Use) -> String {
        let answer = match about {
            Use::Crawl => self.crawl,
            Use::TrainAi => Some(self.train_ai),
            Use::Search => self.search,
            Use::AiInput => None,
        };
        let Some(answer) = answer else { return "-".to_owned() };
        let decider =
            |about: Use| self.carriers.iter().find(|one| one.decides && one.said.about == about);
        let closed = decider(Use::Crawl).filter(|one| one.said.says == Answer::No);
        let mut parts = vec![answer.as_str().to_owned()];
        if let Some(Carried { said, .. }) = closed.or_else(|| decider(about)) {
            let is_rule = said.about == Use::Crawl;
            let carrier = (!is_rule).then(|| said.carrier.clone());
            let line = said.line.map(|line| format!("line {line}"));
            let by: Vec<String> = carrier.into_iter().chain(line).collect();
            parts.extend((!by.is_empty()).then(|| by.join(" ")));
        }
        parts.join(", ")
    }
}
