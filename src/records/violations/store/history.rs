//! The history that judgements need after a restart, beside editions: hosts, jumps of the clock, fetches.
//! With it, what origins answered about forms of paths, which another process shows (`beadle explain`).
//!
//! Each host has at most one site without an end. Without the jumps of the clock, a restart would take them
//! for time that went by.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::{connection::Store, values};
use crate::records::record::{ClockLeap, Error, Fetch, HostPeriod, Probed, SiteHosts};

/// The most fetches that are read at the start. A client can use any number of networks. A fetch
/// that is left out only makes the judgement milder.
const READ: u64 = 65_536;
/// Whether a new fetch replaces the written one: it is later, or a wrong clock dated the written
/// one ahead of now. Up to a minute ahead may be another machine's clock.
const COUNTS: &str = "(excluded.last >= last OR last > unixepoch('now') * 1000 + 60000)";

impl Store {
    /// The times in which hosts belonged to sites, in the order of their start; those that ended
    /// before `since` are left out.
    pub fn hosts(&self, since: Timestamp) -> Result<Vec<HostPeriod>, Error> {
        let sql = "SELECT host, site, from_, until_ FROM host_periods \
                   WHERE until_ IS NULL OR until_ >= ? ORDER BY from_, sequence";
        self.all(sql, [since.as_millisecond()], |row| {
            Ok(HostPeriod {
                host: row.get(0)?,
                site: row.get(1)?,
                from: values::time(row, 2)?,
                until: values::moment(row, 3)?,
            })
        })
    }

    /// The jumps of the clock since `since`, in order.
    pub fn clock_leaps(&self, since: Timestamp) -> Result<Vec<ClockLeap>, Error> {
        let sql = "SELECT at, by_ FROM clock_leaps WHERE at >= ? ORDER BY at";
        self.all(sql, [since.as_millisecond()], |row| {
            let by = Duration::from_millis(values::count(row, 1)?);
            Ok(ClockLeap { at: values::time(row, 0)?, by })
        })
    }

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

    /// The last answers of the origins of all sites.
    pub fn probed(&self) -> Result<Vec<Probed>, Error> {
        let sql = "SELECT site, question, at, why, taken, not_taken, case_insensitive, decode_depth \
                   FROM probed";
        self.all(sql, [], |row| {
            Ok(Probed {
                site: row.get(0)?,
                question: row.get(1)?,
                at: values::time(row, 2)?,
                why: row.get(3)?,
                taken: row.get(4)?,
                not_taken: row.get(5)?,
                case_insensitive: row.get(6)?,
                decode_depth: row.get(7)?,
            })
        })
    }
}

/// Writes the hosts of sites. A host without a site stays with its last one, unless that is among
/// them: another instance may serve it.
pub(super) fn follow_hosts<'a>(
    connection: &Connection,
    sites: impl Iterator<Item = &'a SiteHosts>,
) -> rusqlite::Result<()> {
    let mut all = connection
        .prepare_cached("SELECT host FROM host_periods WHERE site = ? AND until_ IS NULL")?;
    let mut of_host = connection
        .prepare_cached("SELECT site FROM host_periods WHERE host = ? AND until_ IS NULL")?;
    let mut end = connection.prepare_cached(
        "UPDATE host_periods SET until_ = max(from_, ?) WHERE host = ? AND until_ IS NULL",
    )?;
    let mut begin = connection
        .prepare_cached("INSERT INTO host_periods (host, site, from_) VALUES (?, ?, ?)")?;
    for SiteHosts { site, hosts, at } in sites {
        let known: Vec<String> =
            all.query_map([site], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let has_left = |host: &&String| {
            !hosts.iter().any(|(other, _)| other.as_str().eq_ignore_ascii_case(host))
        };
        for host in known.iter().filter(has_left) {
            end.execute(params![at.as_millisecond(), host])?;
        }
        for (host, since) in hosts {
            let before: Option<String> = of_host.query_row([host], |row| row.get(0)).optional()?;
            if before.is_some_and(|before| before.eq_ignore_ascii_case(site.as_str())) {
                continue;
            }
            end.execute(params![since.as_millisecond(), host])?;
            begin.execute(params![host, site, since.as_millisecond()])?;
        }
    }
    Ok(())
}

/// Writes a history: the periods that are not written yet, and the ends of those that have none.
pub(super) fn restore_hosts(connection: &Connection, hosts: &[HostPeriod]) -> rusqlite::Result<()> {
    let mut end = connection.prepare_cached(
        "UPDATE host_periods SET until_ = max(from_, ?4) \
         WHERE host = ?1 AND site = ?2 AND from_ = ?3 AND until_ IS NULL",
    )?;
    let mut leave = connection.prepare_cached(
        "UPDATE host_periods SET until_ = max(from_, ?3) \
         WHERE host = ?1 AND site <> ?2 AND until_ IS NULL",
    )?;
    let mut begin = connection.prepare_cached(
        "INSERT INTO host_periods (host, site, from_, until_) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS \
         (SELECT 1 FROM host_periods WHERE host = ?1 AND site = ?2 \
         AND iif(?4 IS NULL, until_ IS NULL, from_ = ?3))",
    )?;
    for HostPeriod { host, site, from, until } in hosts {
        let from = from.as_millisecond();
        let until = until.map(Timestamp::as_millisecond);
        match until {
            Some(until) => end.execute(params![host, site, from, until])?,
            None => leave.execute(params![host, site, from])?,
        };
        begin.execute(params![host, site, from, until])?;
    }
    Ok(())
}

/// Writes jumps. Those that are written already stay.
pub(super) fn add_leaps(connection: &Connection, leaps: &[ClockLeap]) -> rusqlite::Result<()> {
    let mut insert = connection
        .prepare_cached("INSERT INTO clock_leaps VALUES (?, ?) ON CONFLICT DO NOTHING")?;
    for leap in leaps {
        let by = i64::try_from(leap.by.as_millis()).unwrap_or(i64::MAX);
        insert.execute(params![leap.at.as_millisecond(), by])?;
    }
    Ok(())
}

/// Writes the fetches. Of two states the later one counts, and the earlier first time stays.
pub(super) fn add_fetches<'a>(
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

pub(super) fn add_probed<'a>(
    connection: &Connection,
    answers: impl Iterator<Item = &'a Probed>,
) -> rusqlite::Result<()> {
    let mut replace = connection
        .prepare_cached("INSERT OR REPLACE INTO probed VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    for one in answers {
        replace.execute(params![
            one.site,
            one.question,
            one.at.as_millisecond(),
            one.why,
            one.taken,
            one.not_taken,
            one.case_insensitive,
            one.decode_depth,
        ])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::text::Text, records::violations::notes::Notes};

    #[test]
    fn a_host_belongs_to_one_site_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut serve = |site: &'static str, hosts: &[(&'static str, i64)], second: i64| {
            let mut notes = Notes::default();
            let hosts = hosts.iter().map(|(host, since)| (Text::word(host), at(*since)));
            notes.take(SiteHosts {
                site: Text::word(site),
                hosts: hosts.collect(),
                at: at(second),
            });
            store.add([], &notes, &[]).expect("written");
        };
        serve("a", &[("a", 0), ("m", 0)], 0);
        serve("a", &[("a", 0), ("m", 0)], 5);
        serve("b", &[("b", 10), ("m", 10)], 10);
        serve("a", &[("a", 0)], 10);
        serve("b", &[], 20);
        let shown = |since: i64| {
            let rows = store.hosts(at(since)).expect("rows").into_iter().map(|row| {
                let until = row.until.map_or(-1, Timestamp::as_second);
                format!("{} {} {} {until}", row.host, row.site, row.from.as_second())
            });
            rows.collect::<Vec<_>>()
        };
        assert_eq!(shown(0), ["a a 0 -1", "m a 0 10", "b b 10 20", "m b 10 20"]);
        assert_eq!(shown(15), ["a a 0 -1", "b b 10 20", "m b 10 20"]);
    }
}
