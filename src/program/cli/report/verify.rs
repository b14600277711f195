//! An evidence bundle that is verified.

use std::{collections::BTreeMap, io::Write, path::Path};

use serde_json::json;

use crate::{
    base::escape::{self, shown},
    program::console::{Error, Exit, Format, input::read_file, json},
    review::report::bundle::{
        Finding, MAX_ARCHIVE, Status, Verification, unpack, verify as verified,
    },
};

pub(super) fn verify(file: &Path, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let bytes = read_file(file, MAX_ARCHIVE)?;
    let refused = |error| Error::Refused(format!("{}: {error}", escape::path(file)));
    let verification = verified(unpack(&bytes).map_err(refused)?);
    match format {
        Format::Json => print_rows(&verification, out)?,
        Format::Text => print_text(&verification, out)?,
    }
    Ok(if verification.is_verified() { Exit::Fine } else { Exit::Findings })
}

fn print_rows(verification: &Verification, out: &mut dyn Write) -> Result<(), Error> {
    for finding in &verification.findings {
        let Finding { status, file, line, id, what, recorded, recomputed } = finding;
        let row = json!({
            "kind": "finding",
            "status": status.as_str(),
            "file": shown(file),
            "line": line,
            "id": id,
            "what": shown(what),
            "recorded": recorded.as_ref().map(shown),
            "recomputed": recomputed.as_ref().map(shown),
        });
        json(out, &row)?;
    }
    let total = json!({
        "kind": "total",
        "product_token": verification.product_token.as_ref().map(shown),
        "verified": verification.is_verified(),
        "records": verification.records,
        "agreeing": verification.agreeing,
        "differing": verification.differing,
        "not_recomputed": verification.not_recomputed,
    });
    json(out, &total)
}

fn print_text(verification: &Verification, out: &mut dyn Write) -> Result<(), Error> {
    let mut unknown: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for finding in &verification.findings {
        match finding.status {
            Status::Changed | Status::Differs => writeln!(out, "{}", text(finding))?,
            Status::NotRecomputed | Status::Remark => {
                *unknown.entry((finding.status.as_str(), &finding.what)).or_default() += 1;
            }
        }
    }
    for ((status, what), count) in unknown {
        let times = if count > 1 { format!(" ({count} records)") } else { String::new() };
        writeln!(out, "{}: {}{times}", status.replace('-', " "), shown(what))?;
    }
    let Verification { records, agreeing, differing, not_recomputed, .. } = verification;
    let token = verification.product_token.as_ref().map_or_else(|| "-".to_owned(), shown);
    writeln!(
        out,
        "{token}: of {records} verdicts, {agreeing} agree, {differing} differ, and \
         {not_recomputed} can't be judged again from the bundle alone"
    )?;
    let verdict = match verification.is_verified() {
        true => {
            "verified: every hash is right, and every request that can be judged again was a \
                 violation"
        }
        false if verification.is_wrong() => "NOT verified",
        false => "NOT verified: no verdict can be judged again",
    };
    Ok(writeln!(out, "{verdict}")?)
}

fn text(finding: &Finding) -> String {
    let mut text = shown(&finding.file);
    if let Some(line) = finding.line {
        text.push_str(&format!(":{line}"));
    }
    text.push_str(&format!(": {}: {}", finding.status.as_str(), shown(&finding.what)));
    match (&finding.recorded, &finding.recomputed) {
        (Some(recorded), Some(recomputed)) => {
            text.push_str(&format!(" (says {}, is {})", shown(recorded), shown(recomputed)));
        }
        (None, Some(recomputed)) => text.push_str(&format!(" (is {})", shown(recomputed))),
        _ => {}
    }
    if let Some(id) = &finding.id {
        text.push_str(&format!(", record {id}"));
    }
    text
}
