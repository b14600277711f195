//! The database: records in bulk, and the counts by hour that belong to them.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

use beadle::{
    base::text::Text,
    records::{
        tally::{
            Claimant, Hour, PeopleCount, PlaceCount, PlaceKind, ReadState, ReferralCount, Rollup,
            Rollups, Series,
        },
        violations::Store,
    },
};
use rusqlite::{Connection, params};

use crate::{
    Result,
    model::{self, CRAWLERS, DAYS, NETWORKS, OPERATORS, PATHS, RULES, Random, SITES, Skew},
};

const HOUR: i64 = 3_600_000;
/// The most places of a kind that an hour tells apart, as the program does.
const MOST_PLACES: usize = 512;
const RECORD: &str = "INSERT INTO violations (schema, id, time, site, client_ip, method, host, \
    path, user_agent, product_token, product_tokens, operator, purpose, standing, evidence, \
    verdict, reason, action, status, robots_edition, robots_line, robots_directive, \
    robots_pattern, robots_group, robots_read_state, robots_read_edition, robots_read_at) VALUES \
    (1, ?, ?, ?, ?, 'GET', ?, ?, ?, ?, ?, ?, ?, ?, ?, 'disallow', 'robots.disallow', ?, ?, ?, ?, \
    'disallow', ?, '[\"*\"]', ?, ?, ?)";

/// What distinguishes the requests of an hour, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    site: usize,
    crawler: usize,
    standing: &'static str,
    action: &'static str,
    reason: &'static str,
    /// `RULES` for none.
    rule: usize,
    read: &'static str,
}

struct Generator {
    random: Random,
    crawlers: Skew,
    paths: Skew,
    networks: Skew,
    path_texts: Vec<String>,
    network_texts: Vec<String>,
    tokens: Vec<String>,
    agents: Vec<String>,
    patterns: Vec<String>,
}

/// Writes a database with so many records, up to the hour that begins at `end`.
pub(crate) fn database(file: &Path, records: u64, end: i64) -> Result<()> {
    let part = file.with_extension("part");
    let remove =
        || ["", "-wal", "-shm"].map(|end| fs::remove_file(format!("{}{end}", part.display())));
    let _ = remove();
    let mut store = Store::open(&part)?;
    let mut bulk = Connection::open(&part)?;
    bulk.execute_batch(
        "PRAGMA synchronous = off; PRAGMA cache_size = -262144; PRAGMA wal_autocheckpoint = 20000",
    )?;
    let mut generator = Generator::new();
    let hours = DAYS * 24;
    let begin = end - hours as i64 * HOUR;
    let all: f64 = (0..hours).map(model::weight).sum();
    let (mut due, mut written) = (0.0, 0);
    let mut rollups = Rollups::default();
    let mut transaction = bulk.transaction()?;
    for hour in 0..hours {
        due += records as f64 * model::weight(hour) / all;
        let count = if hour + 1 == hours { records - written } else { due as u64 - written };
        written += count;
        generator.hour(&transaction, begin, hour, count, &mut rollups)?;
        if hour % 24 == 23 {
            transaction.commit()?;
            store.add_rollups(&std::mem::take(&mut rollups))?;
            eprint!("\rgenerated {written} of {records} records");
            transaction = bulk.transaction()?;
        }
    }
    generator.history(&transaction, begin)?;
    transaction.commit()?;
    drop((bulk, store));
    // The last connection that closes copies the log into the database.
    let tidy = Connection::open(&part)?;
    tidy.execute_batch("PRAGMA wal_checkpoint(truncate)")?;
    drop(tidy);
    fs::rename(&part, file)?;
    let _ = remove();
    eprintln!();
    Ok(())
}

impl Generator {
    fn new() -> Self {
        let tokens: Vec<_> = (0..CRAWLERS).map(model::token).collect();
        Self {
            random: Random(7),
            crawlers: Skew::new(CRAWLERS, 1.1),
            paths: Skew::new(PATHS, 0.9),
            networks: Skew::new(NETWORKS, 0.8),
            path_texts: (0..PATHS).map(model::path).collect(),
            network_texts: (0..NETWORKS).map(model::network).collect(),
            agents: tokens
                .iter()
                .map(|token| {
                    format!(
                        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; {token}/1.2; \
                         +https://bots.example/{token})"
                    )
                })
                .collect(),
            tokens,
            patterns: (0..RULES).map(model::pattern).collect(),
        }
    }

    fn hour(
        &mut self,
        bulk: &Connection,
        begin: i64,
        hour: u64,
        count: u64,
        rollups: &mut Rollups,
    ) -> Result<()> {
        let first = begin + hour as i64 * HOUR;
        let mut kinds: HashMap<Kind, u64> = HashMap::new();
        let mut places: HashMap<(PlaceKind, usize, usize, usize), u64> = HashMap::new();
        let mut known: [HashSet<(usize, usize, usize)>; 2] = Default::default();
        let mut insert = bulk.prepare_cached(RECORD)?;
        for number in 0..count {
            let time = first + (number * HOUR as u64 / count) as i64;
            let site = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2][self.random.below(10) as usize];
            let crawler = self.crawlers.draw(&mut self.random);
            let path = self.paths.draw(&mut self.random);
            let network = (self.networks.draw(&mut self.random) + crawler * 37) % NETWORKS;
            let kind = Kind {
                site,
                crawler,
                standing: model::standing(crawler, &mut self.random),
                action: model::action(crawler, &mut self.random),
                reason: "robots.disallow",
                rule: model::rule(path),
                read: model::read(crawler, &mut self.random),
            };
            self.record(&mut insert, time, &kind, path, network, hour)?;
            *kinds.entry(kind).or_default() += 1;
            for (at, kind, place) in [(0, PlaceKind::Path, path), (1, PlaceKind::Network, network)]
            {
                let known = &mut known[at];
                let name = (site, crawler, place);
                let is_apart = known.contains(&name) || known.len() < MOST_PLACES;
                let place = if is_apart { place } else { usize::MAX };
                if is_apart {
                    known.insert(name);
                }
                *places.entry((kind, site, crawler, place)).or_default() += 1;
            }
        }
        self.others(hour, count, &mut kinds);
        let hour_of_day = Hour::from_millisecond(first);
        rollups.series.extend(kinds.into_iter().map(|(kind, requests)| Rollup {
            hour: hour_of_day,
            series: self.series(&kind, hour),
            requests,
            folded: 0,
            dropped: 0,
        }));
        rollups.places.extend(places.into_iter().map(
            |((kind, site, crawler, place), violations)| {
                let texts =
                    if kind == PlaceKind::Path { &self.path_texts } else { &self.network_texts };
                PlaceCount {
                    hour: hour_of_day,
                    kind,
                    site: Text::word(SITES[site]),
                    product_token: self.tokens[crawler].clone().into(),
                    claimant: Claimant::Crawler,
                    place: texts.get(place).map_or(PlaceCount::REST, |text| text.clone().into()),
                    violations,
                }
            },
        ));
        for site in SITES {
            let site = Text::word(site);
            rollups.people.push(PeopleCount {
                hour: hour_of_day,
                site: site.clone(),
                requests: count * 3 + self.random.below(500),
            });
            rollups.referrals.extend(OPERATORS.iter().map(|operator| ReferralCount {
                hour: hour_of_day,
                site: site.clone(),
                operator: Text::word(operator),
                visits: 1 + self.random.below(40),
            }));
        }
        Ok(())
    }

    /// Requests that no rule disallows, and fetches of robots.txt.
    fn others(&mut self, hour: u64, count: u64, kinds: &mut HashMap<Kind, u64>) {
        for crawler in 0..CRAWLERS {
            for (site, share) in [0.6, 0.3, 0.1].into_iter().enumerate() {
                let expected = self.crawlers.share(crawler) * share * count as f64 * 3.0;
                let requests = (expected * (0.5 + self.random.fraction())).round() as u64;
                let mut add = |reason, requests| {
                    if requests > 0 {
                        let standing = model::standing(crawler, &mut self.random);
                        let kind = Kind {
                            site,
                            crawler,
                            standing,
                            action: "pass",
                            reason,
                            rule: RULES,
                            read: "",
                        };
                        *kinds.entry(kind).or_default() += requests;
                    }
                };
                add("robots.allow", requests);
                let fetches =
                    requests.min(1) * u64::from((hour as usize + crawler).is_multiple_of(6));
                add("robots.robots_txt", fetches);
            }
        }
    }

    fn series(&self, kind: &Kind, hour: u64) -> Series {
        let is_violation = kind.action != "pass";
        Series {
            site: Text::word(SITES[kind.site]),
            class: Text::word(model::class(kind.crawler)),
            product_token: self.tokens[kind.crawler].clone().into(),
            purpose: Text::word(model::purpose(kind.crawler).unwrap_or_default()),
            standing: Text::word(kind.standing),
            verdict: Text::word(if is_violation { "disallow" } else { "allow" }),
            action: Text::word(kind.action),
            reason: Text::word(kind.reason),
            edition: model::edition(kind.site, hour).into(),
            line: if is_violation { kind.rule as u32 + 3 } else { 0 },
            directive: Text::word(if is_violation { "disallow" } else { "" }),
            pattern: self.patterns.get(kind.rule).cloned().unwrap_or_default().into(),
            read: ReadState::from_word(kind.read),
        }
    }

    fn record(
        &mut self,
        insert: &mut rusqlite::CachedStatement<'_>,
        time: i64,
        kind: &Kind,
        path: usize,
        network: usize,
        hour: u64,
    ) -> Result<()> {
        let (high, low) = (self.random.next(), self.random.next());
        let id = format!(
            "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
            time >> 16,
            time & 0xffff,
            high & 0xfff,
            0x8000 | (high >> 16) & 0x3fff,
            low >> 16
        );
        let client =
            format!("{}{}", self.network_texts[network].trim_end_matches("0/24"), high >> 56);
        // One in twelve has a query, one in a hundred one of its own.
        let path = match low % 100 {
            0 => format!("{}?q={:06x}", self.path_texts[path], high & 0xff_ffff),
            1..=8 => format!("{}?page={}", self.path_texts[path], high % 20),
            _ => self.path_texts[path].clone(),
        };
        let token = &self.tokens[kind.crawler];
        let edition = model::edition(kind.site, hour);
        let status = match kind.action {
            "block" => 403,
            "throttle" => 429,
            _ => 200,
        };
        let evidence = (kind.standing == "confirmed").then_some("ip-range");
        let (read, at) = match kind.read {
            "never" => (None, None),
            "older" => {
                (Some(model::edition(kind.site, hour.saturating_sub(168))), Some(time - 9_000_000))
            }
            _ => (Some(edition.clone()), Some(time - 5_000_000)),
        };
        insert.execute(params![
            id,
            time,
            SITES[kind.site],
            client,
            SITES[kind.site],
            path,
            self.agents[kind.crawler],
            token,
            format!("[\"{token}\"]"),
            (kind.crawler < 20).then_some("An operator of crawlers"),
            model::purpose(kind.crawler),
            kind.standing,
            evidence,
            kind.action,
            status,
            edition,
            kind.rule as i64 + 3,
            self.patterns[kind.rule],
            kind.read,
            read,
            at,
        ])?;
        Ok(())
    }

    /// Editions of robots.txt, and who fetched them.
    fn history(&mut self, bulk: &Connection, begin: i64) -> Result<()> {
        let weeks = DAYS.div_ceil(7);
        for (site, name) in SITES.iter().enumerate() {
            for week in 0..weeks {
                let id = model::edition(site, week * 168);
                let from = begin + (week * 168) as i64 * HOUR;
                let until = from + 168 * HOUR;
                bulk.execute(
                    "INSERT INTO editions VALUES (?1, ?1, ?2)",
                    params![id, model::robots_txt(site, week).into_bytes()],
                )?;
                bulk.execute(
                    "INSERT INTO edition_periods (site, edition, source, from_, until_) \
                     VALUES (?, ?, 'policy', ?, ?)",
                    params![name, id, from, (week + 1 < weeks).then_some(until)],
                )?;
                bulk.execute("INSERT INTO edition_mentions VALUES (?, ?)", params![id, until])?;
            }
        }
        let last = begin + (DAYS * 24 - 1) as i64 * HOUR;
        for crawler in 0..CRAWLERS {
            for number in 0..10 {
                let site = number % SITES.len();
                bulk.execute(
                    "INSERT OR IGNORE INTO fetches VALUES (?, ?, ?, 'unknown', ?, ?, ?, 500, 21600)",
                    params![
                        SITES[site],
                        self.tokens[crawler],
                        self.network_texts[(crawler * 37 + number) % NETWORKS],
                        model::edition(site, DAYS * 24 - 1),
                        begin,
                        last - self.random.below(6) as i64 * HOUR,
                    ],
                )?;
            }
        }
        Ok(())
    }
}
