//! The answers for many crawlers: may each crawl, train and show a page in search.

use serde::Serialize;

use crate::{
    base::product_token::ProductToken,
    rules::crawlers::{Catalogue, Kind, Purpose, Status},
};

use super::{
    conflicts::{self, Conflict},
    instructions::Audit,
    page::{Page, Site},
    said::{Answer, Said, Use},
};

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

/// The answers for one crawler and one page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) product_token: String,
    /// Its purpose, if it is in the catalogue.
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
        conflicts.retain(|one| fetches || one.code == conflicts::TRAINING);
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
        let carried = said.iter().enumerate();
        let carriers =
            carried.map(|(at, one)| Carried { said: one.clone(), decides: decides(at, one) });
        Self {
            url: audit.url,
            product_token: audit.product_token,
            purpose: crawler.map(|crawler| crawler.purpose()),
            crawl: fetches.then_some(crawl),
            train_ai,
            search: fetches.then_some(search),
            carriers: carriers.collect(),
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
