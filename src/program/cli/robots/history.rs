//! The editions that were published, with their periods in force.

use std::io::Write;

use crate::{
    advice::edit::patch,
    base::escape,
    program::console::{Error, Format, json, site::store},
    records::record::Edition,
    review::report::EditionRow,
    rules::{enforce::Site, policy::Policy},
};

/// The most changed lines of an edition.
const MOST_LINES: usize = 20;

/// Prints the editions of a site, or of all sites.
pub(super) fn print(
    policy: &Policy,
    site: Option<&Site>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let store = store(policy)?;
    let name = site.map(|site| site.name.as_str());
    let editions = store.editions(name, None)?;
    if format == Format::Text {
        if editions.is_empty() {
            writeln!(out, "the database has no edition yet")?;
            return Ok(());
        }
        writeln!(
            out,
            "{:<17} {:<20} {:<20} {:<7} {:>6} {:>8}  SITE",
            "EDITION", "FROM", "UNTIL", "SOURCE", "RULES", "BYTES"
        )?;
    }
    for (at, edition) in editions.iter().enumerate() {
        let row = EditionRow::of(edition);
        match format {
            Format::Json => json(out, &row)?,
            Format::Text => writeln!(
                out,
                "{:<17} {:<20} {:<20} {:<7} {:>6} {:>8}  {}",
                row.edition,
                row.from,
                row.until.as_deref().unwrap_or("in force"),
                row.source,
                row.rules,
                row.bytes,
                row.site
            )?,
        }
        if format == Format::Text {
            let earlier = editions.iter().take(at).rfind(|one| one.site == edition.site);
            changes(earlier, edition, out)?;
        }
    }
    Ok(())
}

/// The lines that an edition has and the one before it has not, and those that went.
fn changes(before: Option<&Edition>, edition: &Edition, out: &mut dyn Write) -> Result<(), Error> {
    let Some(before) = before else { return Ok(()) };
    let [before, after] = [before, edition].map(|one| String::from_utf8_lossy(&one.bytes));
    let patch = patch("", &before, &after);
    // The first two lines name the files.
    let lines: Vec<&str> =
        patch.lines().skip(2).filter(|one| one.len() > 1 && one.starts_with(['+', '-'])).collect();
    for line in lines.iter().take(MOST_LINES) {
        writeln!(out, "  {}", escape::text(line.as_bytes()))?;
    }
    match lines.len().saturating_sub(MOST_LINES) {
        0 => Ok(()),
        more => Ok(writeln!(out, "  and {more} more: 'beadle robots --edition' shows the file")?),
    }
}
