//! What records and counts take in the database.

use std::path::Path;

use rusqlite::Connection;

use crate::Result;

/// Tables whose bytes are told for each row, with the words for a row.
const ROWS: [(&str, &str); 6] = [
    ("violations", "a record"),
    ("series", "a series"),
    ("rollups", "its count for an hour"),
    ("rollup_places", "a path or network for an hour"),
    ("record_blocks", "a block of records: names, and those of each record"),
    ("record_block_paths", "its paths, and those of each record"),
];

pub(crate) fn print(database: &Path, connection: &Connection) -> Result<()> {
    // Pages: with `aggregate`, the sums of bytes are cut off at 4 GiB.
    let sql = "SELECT s.tbl_name, sum(d.pageno) * 4096 FROM dbstat AS d JOIN sqlite_schema AS s \
               ON s.name = d.name WHERE d.aggregate = 1 GROUP BY 1";
    let mut statement = connection.prepare(sql)?;
    let bytes: Vec<(String, i64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<std::result::Result<_, _>>()?;
    println!("| row | rows | bytes of one, with indexes | MiB |\n|---|---|---|---|");
    for (table, name) in ROWS {
        let Some((_, bytes)) = bytes.iter().find(|(found, _)| found == table) else { continue };
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        let (each, all) = (*bytes as f64 / count.max(1) as f64, *bytes as f64 / 1_048_576.0);
        println!("| {name} | {count} | **{each:.1}** | {all:.0} |");
    }
    println!("\nthe database has {} MiB\n", database.metadata()?.len() >> 20);
    Ok(())
}
