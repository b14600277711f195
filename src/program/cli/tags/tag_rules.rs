//! The rules for a crawler, with their sources and findings.

use std::{io::Write, path::Path};

use serde::Serialize;

use super::response::{FIELD, OLDER_FIELD, Response};
use crate::{
    base::{diagnostic::Diagnostic, escape, product_token::ProductToken},
    formats::robots_tag::{self, Document, RobotsTag, Rule, Scope},
    program::console::Error,
    rules::policy::built_in_catalogue,
};

const DOCUMENT: &str = "document";

/// The rules for a crawler.
#[derive(Serialize)]
pub(super) struct Report {
    product_token: String,
    rules: Vec<String>,
    sources: Vec<Source>,
    diagnostics: Vec<Finding>,
}

/// A source of rules for the crawler.
#[derive(Serialize)]
struct Source {
    source: &'static str,
    /// The name of a `meta` element.
    name: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    rules: Vec<String>,
}

#[derive(Serialize)]
struct Finding {
    source: &'static str,
    #[serde(flatten)]
    diagnostic: Diagnostic,
}

impl Report {
    /// The rules of a response for the crawler `name`.
    pub(super) fn of(
        response: Response,
        name: &str,
        token: Option<&ProductToken>,
        file: Option<&Path>,
    ) -> Self {
        let field: Vec<&[u8]> = response.field.iter().map(Vec::as_slice).collect();
        let older: Vec<&[u8]> = response.older_field.iter().map(Vec::as_slice).collect();
        let (field, field_findings) = robots_tag::read(&field);
        let (older, older_findings) = robots_tag::read_legacy(&older);
        let catalogue = built_in_catalogue();
        let is_crawler =
            |name: &ProductToken| token == Some(name) || catalogue.find(name.as_str()).is_some();
        let Document { metas, diagnostics } = response.document.finish(is_crawler);
        let file = file.map(|file| file.display().to_string());

        let mut older_tags = vec![&older];
        older_tags.extend(metas.iter().map(|meta| &meta.tag));
        let rules = robots_tag::effective(&field, &older_tags, token);
        let mut sources = Vec::new();
        let header = |source, rules| Source { source, name: None, file: None, line: None, rules };
        sources.push(header(FIELD, rules_of(&field, token, Rule::to_string)));
        sources.push(header(OLDER_FIELD, rules_of(&older, token, Rule::legacy)));
        sources.extend(metas.iter().map(|meta| Source {
            source: DOCUMENT,
            name: Some(match &meta.scope {
                Scope::Any => "robots".to_owned(),
                Scope::Token(token) => escape::text(token.as_str().as_bytes()),
            }),
            file: file.as_deref().map(|file| escape::text(file.as_bytes())),
            line: Some(meta.line),
            rules: rules_of(&meta.tag, token, Rule::legacy),
        }));
        sources.retain(|source| !source.rules.is_empty());

        let found = |source| move |diagnostic| Finding { source, diagnostic };
        let mut findings: Vec<Finding> = field_findings.into_iter().map(found(FIELD)).collect();
        findings.extend(older_findings.into_iter().map(found(OLDER_FIELD)));
        findings.extend(diagnostics.into_iter().map(|finding| {
            found(DOCUMENT)(match &file {
                Some(file) => finding.in_file(file),
                None => finding,
            })
        }));
        let product_token = escape::text(name.as_bytes());
        Self { product_token, rules, sources, diagnostics: findings }
    }

    /// Prints the report for people.
    pub(super) fn print(&self, out: &mut dyn Write) -> Result<(), Error> {
        let listed = |rules: &[String]| escape::text(rules.join(", ").as_bytes());
        let all = if self.rules.is_empty() { "no rule".to_owned() } else { listed(&self.rules) };
        writeln!(out, "{}: {all}", self.product_token)?;
        for source in &self.sources {
            let place = source.file.as_deref().unwrap_or(source.source);
            write!(out, "  {place}")?;
            if let (Some(line), Some(name)) = (source.line, &source.name) {
                write!(out, ":{line}: <meta name=\"{name}\">")?;
            }
            writeln!(out, ": {}", listed(&source.rules))?;
        }
        for Finding { source, diagnostic } in &self.diagnostics {
            let place = &diagnostic.place;
            let gap = if place.line.is_some() { "" } else { " " };
            match place.file {
                Some(_) => writeln!(out, "{diagnostic}")?,
                None => writeln!(out, "{source}:{gap}{diagnostic}")?,
            }
        }
        Ok(())
    }
}

/// The rules of one source for a crawler, sorted, in the spelling of that source.
fn rules_of(
    tag: &RobotsTag,
    token: Option<&ProductToken>,
    spelt: impl Fn(&Rule) -> String,
) -> Vec<String> {
    let rules = tag.restrictions(token).into_iter();
    rules.filter(|rule| rule.is_effective()).map(spelt).collect()
}
