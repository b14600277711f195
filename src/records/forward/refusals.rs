//! Rows that the server refuses for ever, set aside in files that a ClickHouse client can insert.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::records::clickhouse::Insert;

/// The most bytes of such a file. Further rows are only counted.
const LARGEST: u64 = 16 << 20;

/// Appends the row to the file of its table, and returns the file.
pub(super) fn set_aside(folder: &Path, insert: &Insert) -> io::Result<PathBuf> {
    let path = folder.join(format!("refused-{}.jsonl", insert.table.name()));
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(&path)?;
    if file.metadata()?.len() + insert.rows.len() as u64 > LARGEST {
        return Err(io::Error::other("the file of refused rows is full (move it away)"));
    }
    file.write_all(&insert.rows)?;
    file.sync_data()?;
    Ok(path)
}
