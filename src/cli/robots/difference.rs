//! The differences between two editions: crawlers, path, verdict before and after.

use std::io::Write;

use serde::Serialize;

use super::{kept, site::known_edition};
use crate::{
    cli::{
        exit::Error,
        output::{Format, json},
    },
    enforce::Site,
    escape,
    policy::Policy,
    robots::{self, Difference, Judged},
};

#[derive(Serialize)]
struct DifferenceRow<'a> {
    product_tokens: &'a [String],
    path: &'a str,
    before: JudgedRow<'a>,
    after: JudgedRow<'a>,
}

#[derive(Serialize)]
struct JudgedRow<'a> {
    verdict: &'static str,
    directive: Option<&'static str>,
    pattern: Option<&'a str>,
    line: Option<u32>,
}

/// Prints the differences between a pair of editions.
pub(super) fn print(
    policy: &Policy,
    site: Option<&Site>,
    pair: &[String],
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let [before, after] = pair else { return Ok(()) };
    let (before, after) = (named(policy, site, before)?, named(policy, site, after)?);
    let differences = robots::differences(&before, &after);
    let mut tokens: Option<&[String]> = None;
    for row in &differences.rows {
        match format {
            Format::Json => json(
                out,
                &DifferenceRow {
                    product_tokens: &row.tokens,
                    path: &row.path,
                    before: judged(&row.before),
                    after: judged(&row.after),
                },
            )?,
            Format::Text => {
                if tokens != Some(&row.tokens) {
                    writeln!(out, "{}", shown_tokens(&row.tokens))?;
                }
                tokens = Some(&row.tokens);
                print_row(row, out)?;
            }
        }
    }
    if format == Format::Text {
        match (differences.rows.len(), differences.omitted) {
            (0, _) => writeln!(out, "no path is judged differently (paces are not compared)")?,
            (_, 0) => {}
            (_, more) => writeln!(out, "and {more} more")?,
        }
    }
    Ok(())
}

/// The file of an edition, named by the first digits of its hash or as `policy`.
fn named(policy: &Policy, site: Option<&Site>, name: &str) -> Result<robots::RobotsTxt, Error> {
    if name == "policy" {
        let site = site.ok_or_else(|| Error::Refused("name the site with --site".to_owned()))?;
        return Ok(known_edition(site)?.file().clone());
    }
    Ok(robots::parse(&kept::edition(policy, site, name)?.bytes).0)
}

fn judged(judged: &Judged) -> JudgedRow<'_> {
    let rule = judged.rule.as_ref();
    JudgedRow {
        verdict: judged.access.as_str(),
        directive: rule.map(|rule| rule.directive.as_str()),
        pattern: rule.map(|rule| rule.pattern.as_str()),
        line: rule.map(|rule| rule.line),
    }
}

fn print_row(row: &Difference, out: &mut dyn Write) -> Result<(), Error> {
    let change = format!("{} -> {}", row.before.access.as_str(), row.after.access.as_str());
    let rule = |side: &str, judged: &Judged| match &judged.rule {
        Some(rule) => {
            let directive = rule.directive.field_name();
            let pattern = escape::shown(&rule.pattern);
            format!("{side} by '{directive}: {pattern}' (line {})", rule.line)
        }
        None => format!("{side} by no rule"),
    };
    let path = escape::shown(&row.path);
    writeln!(out, "  {path:<28} {change}")?;
    writeln!(out, "      {}, {}", rule("before", &row.before), rule("after", &row.after))?;
    Ok(())
}

fn shown_tokens(tokens: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = tokens.iter().take(SHOWN).map(|token| escape::bounded(token.as_bytes(), 80));
    let mut text = text.by_ref().collect::<Vec<_>>().join(", ");
    if tokens.len() > SHOWN {
        text.push_str(&format!(" and {} more", tokens.len() - SHOWN));
    }
    text
}
