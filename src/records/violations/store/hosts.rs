//! The times in which each host belonged to a site. Each host has at most one without an end.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{connection::Store, values};
use crate::records::record::{Error, HostPeriod, SiteHosts};

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
}

/// Writes the hosts of sites. A host without a site stays with its last one, unless that is among
/// them: another instance may serve it.
pub(super) fn follow<'a>(
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
pub(super) fn restore(connection: &Connection, hosts: &[HostPeriod]) -> rusqlite::Result<()> {
    let mut end = connection.prepare_cached(
        "UPDATE host_periods SET until_ = max(from_, ?3) \
         WHERE host = ?1 AND site = ?2 AND from_ = ?4 AND until_ IS NULL",
    )?;
    let mut leave = connection.prepare_cached(
        "UPDATE host_periods SET until_ = max(from_, ?3) \
         WHERE host = ?1 AND site <> ?2 AND until_ IS NULL",
    )?;
    let mut is_written = connection
        .prepare_cached("SELECT 1 FROM host_periods WHERE host = ? AND site = ? AND from_ = ?")?;
    let mut is_open = connection.prepare_cached(
        "SELECT 1 FROM host_periods WHERE host = ? AND site = ? AND until_ IS NULL",
    )?;
    let mut begin = connection.prepare_cached(
        "INSERT INTO host_periods (host, site, from_, until_) VALUES (?, ?, ?, ?)",
    )?;
    for HostPeriod { host, site, from, until } in hosts {
        let from = from.as_millisecond();
        let until = until.map(Timestamp::as_millisecond);
        let is_there = match until {
            Some(until) => {
                end.execute(params![host, site, until, from])?;
                is_written.exists(params![host, site, from])?
            }
            None => {
                leave.execute(params![host, site, from])?;
                is_open.exists(params![host, site])?
            }
        };
        if !is_there {
            begin.execute(params![host, site, from, until])?;
        }
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
            notes.served(SiteHosts {
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
