//! The editions that were published, with their periods in force.

use std::io::Write;

use crate::{
    program::console::{
        exit::Error,
        output::{Format, json},
        site::store,
    },
    review::report::EditionRow,
    rules::{enforce::Site, policy::Policy},
};

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
    for edition in &editions {
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
    }
    Ok(())
}
