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
    policy::Policy,
    report::difference::{Change, crawlers, remark},
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
                    writeln!(out, "{}", crawlers(&row.tokens))?;
                }
                tokens = Some(&row.tokens);
                print_row(row, out)?;
            }
        }
    }
    if format == Format::Text
        && let Some(remark) = remark(&differences)
    {
        writeln!(out, "{remark}")?;
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
    let Change { path, verdicts, before, after } = Change::of(row);
    writeln!(out, "  {path:<28} {verdicts}")?;
    writeln!(out, "      before {before}, after {after}")?;
    Ok(())
}
