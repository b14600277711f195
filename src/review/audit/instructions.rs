//! Everything that a page and its site tell one crawler.

use serde::Serialize;

use crate::{
    base::{escape, product_token::ProductToken},
    formats::{
        robots::{self, Access, Matcher, Target},
        robots_tag,
    },
    rules::{
        crawlers::{Catalogue, Class, Name},
        enforce,
    },
};

use super::{
    conflicts::{self, Conflict},
    page::{Page, Site},
    said::{self, Said},
    signals::{self, Signal},
    source_rules::{self, RulesOf},
};

/// Everything about one page for one crawler.
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

/// The verdict of robots.txt.
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
            RulesOf::new("Robots-Tag", &field, source_rules::of_field(page, token), token),
            RulesOf::new("X-Robots-Tag", &older, source_rules::of_older_field(page, token), token),
            RulesOf::new("meta", &meta, source_rules::of_document(&document, token), token),
        ];
        let is_some = |source: &RulesOf| !source.rules.is_empty();
        let sources: Vec<RulesOf> = sources.into_iter().filter(is_some).collect();
        let signals = signals::of(&file, &matcher, scope, &target, site, page, &rules);
        let (text, line) = (robots_txt.rule.as_deref(), rule.map(|rule| rule.line));
        let mut said = vec![Said::of_verdict(access, text, line, site.robots_status)];
        said.extend(signals.iter().flat_map(Said::of_signal));
        said.extend(sources.iter().flat_map(Said::of_source));
        said.extend(said::of_control_tokens(catalogue, token, &matcher, &target));
        let conflicts = conflicts::of(access, &sources, &rules, &signals, &said, site);
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
