//! The fetches of each site's robots.txt by each crawler and network.

use std::time::Duration;

use rusqlite::{Connection, Params, params};

use super::{connection::Store, values};
use crate::records::record::{Error, Fetch};

/// The most fetches that are read at the start. A client can use any number of networks. A fetch
/// that is left out only makes the judgement milder.
const READ: u64 = 65_536;

impl Store {
    /// The latest fetches of each site, crawler and network, up to 65,536, the latest last.
    pub fn fetches(&self) -> Result<Vec<Fetch>, Error> {
        self.latest_fetches("", [READ.cast_signed()])
    }

    /// The same for crawlers with one of these product tokens.
    pub fn fetches_of(&self, product_tokens: &[String]) -> Result<Vec<Fetch>, Error> {
        let product_tokens: String = serde_json::json!(product_tokens).to_string();
        let is_of = "WHERE product_token IN (SELECT value FROM json_each(?))";
        self.latest_fetches(is_of, params![product_tokens, READ.cast_signed()])
    }

    fn latest_fetches(&self, condition: &str, bound: impl Params) -> Result<Vec<Fetch>, Error> {
        let sql = format!(
            "SELECT site, product_token, network, standing, edition, first, last, count, interval \
             FROM (SELECT * FROM fetches {condition} ORDER BY last DESC LIMIT ?) ORDER BY last"
        );
        self.all(&sql, bound, |row| {
            let interval: Option<i64> = row.get(8)?;
            Ok(Fetch {
                site: row.get(0)?,
                product_token: row.get(1)?,
                network: row.get(2)?,
                standing: row.get(3)?,
                edition: row.get(4)?,
                first: values::time(row, 5)?,
                last: values::time(row, 6)?,
                count: values::count(row, 7)?,
                interval: interval.map(|seconds| Duration::from_secs(seconds.unsigned_abs())),
            })
        })
    }
}

/// Whether a new fetch replaces the written one: it is later, or a wrong clock dated the written
/// one ahead of now. Up to a minute ahead may be another machine's clock.
const COUNTS: &str = "(excluded.last >= last OR last > unixepoch('now') * 1000 + 60000)";

/// Writes the fetches. Of two states the later one counts, and the earlier first time stays.
pub(super) fn add<'a>(
    connection: &Connection,
    fetches: impl Iterator<Item = &'a Fetch>,
) -> rusqlite::Result<()> {
    let mut upsert = connection.prepare_cached(&format!(
        "INSERT INTO fetches (site, product_token, network, standing, edition, first, last, \
         count, interval) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
         ON CONFLICT (site, product_token, network) DO UPDATE \
         SET first = min(first, excluded.first), \
         last = iif({COUNTS}, excluded.last, last), \
         standing = iif({COUNTS}, excluded.standing, standing), \
         edition = iif({COUNTS}, excluded.edition, edition), \
         count = iif({COUNTS}, excluded.count, count), \
         interval = iif({COUNTS}, excluded.interval, interval)",
    ))?;
    for fetch in fetches {
        upsert.execute(params![
            fetch.site,
            fetch.product_token,
            fetch.network,
            fetch.standing,
            fetch.edition,
            fetch.first.as_millisecond(),
            fetch.last.as_millisecond(),
            i64::try_from(fetch.count).unwrap_or(i64::MAX),
            fetch.interval.map(|interval| i64::try_from(interval.as_secs()).unwrap_or(i64::MAX)),
        ])?;
    }
    Ok(())
}
