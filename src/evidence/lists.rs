//! The published address lists of crawlers, compiled into one table.
//!
//! Beadle refuses a list that suddenly lost most of its addresses, but accepts it if it stays
//! short. A list that Beadle could not fetch for two weeks still confirms claims. It no longer
//! contradicts them, because the crawler may have new addresses.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use arc_swap::ArcSwap;
use bytes::Bytes;

use crate::{
    crawlers::{
        Crawler, Evidence, Testimony,
        ranges::{self, Format, List, ListId, Membership, Table},
    },
    policy::{self, Policy},
};

use super::{
    copies::Copies,
    refresh::{Collection, Refusal},
    source::Terms,
};

/// How long a list must stay much shorter than the copy in use before Beadle accepts it. An
/// operator notices a truncated list within this time.
const PATIENCE: Duration = Duration::from_secs(3 * 24 * 3_600);

/// How long a list can contradict claims after its source last had it. Twice the longest refresh.
const FRESH: Duration = Duration::from_secs(14 * 24 * 3_600);

/// The lists in use, swapped whole.
#[derive(Debug, Default)]
pub(super) struct Lists {
    current: ArcSwap<Compiled>,
}

/// The lists of all crawlers, compiled.
#[derive(Debug, Default)]
struct Compiled {
    table: Arc<Table>,
    of_crawler: Arc<OfCrawler>,
    /// The last time at which its source had each list.
    seen: Vec<Option<SystemTime>>,
}

/// The lists of each crawler, by its key.
type OfCrawler = HashMap<Box<str>, Box<[ListId]>>;

impl Lists {
    /// Whether the lists of `crawler` have an address.
    pub(super) fn answer(&self, crawler: &Crawler, address: IpAddr, now: SystemTime) -> Testimony {
        let current = self.current.load();
        let Some(lists) = current.of_crawler.get(crawler.product_token().key()) else {
            return Testimony::Nothing;
        };
        match current.table.membership(lists, address) {
            Membership::Listed => Testimony::Yes,
            Membership::Unlisted if current.are_complete(lists, now) => Testimony::No,
            Membership::Unlisted | Membership::Undecided => Testimony::NotYet,
        }
    }
}

impl Compiled {
    /// Whether all these lists are fresh enough to contradict a claim.
    fn are_complete(&self, lists: &[ListId], now: SystemTime) -> bool {
        lists.iter().all(|list| {
            let seen = self.seen.get(list.0 as usize).copied().flatten();
            // A copy from the future means that the clock was set back, not that the copy is old.
            let age = |seen| now.duration_since(seen).unwrap_or_default();
            seen.is_some_and(|seen| age(seen) < FRESH)
        })
    }
}

/// The lists together with their sources and saved copies.
#[derive(Debug)]
pub(super) struct ListKeeper {
    lists: Arc<Lists>,
    listings: Vec<Listing>,
    of_crawler: Arc<OfCrawler>,
    copies: Copies,
}

/// One list with its source.
#[derive(Debug)]
struct Listing {
    url: String,
    format: Option<Format>,
    list: Option<List>,
    /// The last time at which the source had it.
    seen: Option<SystemTime>,
    /// The first of the implausible responses since the last good one.
    suspect_since: Option<Instant>,
}

impl ListKeeper {
    /// The lists of the policy's crawlers, with their saved copies.
    pub(super) fn new(lists: Arc<Lists>, policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), "ranges");
        let mut listings: Vec<Listing> = Vec::new();
        let mut of_crawler = OfCrawler::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let format = crawler.ip_format().and_then(Format::named);
            let ids: Box<[ListId]> = crawler
                .ip_ranges()
                .iter()
                .map(|url| {
                    let known = listings.iter().position(|list| list.url == *url);
                    let number = known.unwrap_or_else(|| {
                        let (list, seen) = (copies.read(url), copies.modified(url));
                        let list =
                            list.and_then(|copy| ranges::read(Some(Format::Rows), &copy).ok());
                        let url = url.clone();
                        listings.push(Listing { url, format, list, seen, suspect_since: None });
                        listings.len() - 1
                    });
                    ListId(u32::try_from(number).expect("a catalogue has fewer lists"))
                })
                .collect();
            if !ids.is_empty() {
                of_crawler.insert(crawler.product_token().key().into(), ids);
            }
        }
        let keeper = Self { lists, listings, of_crawler: Arc::new(of_crawler), copies };
        keeper.compile();
        keeper
    }

    /// Compiles all lists and publishes the table.
    fn compile(&self) {
        let present = self
            .listings
            .iter()
            .zip(0..)
            .filter_map(|(listing, number)| Some((ListId(number), listing.list.as_ref()?)));
        self.publish(Arc::new(Table::new(present)));
    }

    fn publish(&self, table: Arc<Table>) {
        let of_crawler = Arc::clone(&self.of_crawler);
        let seen = self.listings.iter().map(|listing| listing.seen).collect();
        self.lists.current.store(Arc::new(Compiled { table, of_crawler, seen }));
    }
}

impl Collection for ListKeeper {
    const EVIDENCE: Evidence = Evidence::IpRange;
    const TERMS: Terms = Terms { octets: ranges::MAX_OCTETS, redirects: true };
    const OBEYS_MAX_AGE: bool = false;

    fn urls(&self) -> Vec<String> {
        self.listings.iter().map(|listing| listing.url.clone()).collect()
    }

    fn take(&mut self, number: usize, octets: Bytes) -> Result<(), Refusal> {
        let Some(listing) = self.listings.get_mut(number) else { return Ok(()) };
        let refused = |refusal: ranges::Refusal| Refusal {
            code: refusal.code(),
            reason: refusal.to_string(),
        };
        let fresh = ranges::read(listing.format, &octets).map_err(refused)?;
        if let Some(old) = &listing.list
            && let Err(refusal) = ranges::sane_successor(old, &fresh)
        {
            let since = *listing.suspect_since.get_or_insert_with(Instant::now);
            if since.elapsed() < PATIENCE {
                return Err(refused(refusal));
            }
        }
        listing.suspect_since = None;
        self.copies.write(&listing.url, format!("# {}\n{fresh}", listing.url).as_bytes());
        listing.list = Some(fresh);
        listing.seen = Some(SystemTime::now());
        self.compile();
        Ok(())
    }

    fn renew(&mut self, number: usize) {
        if let Some(listing) = self.listings.get_mut(number) {
            listing.suspect_since = None;
            listing.seen = Some(SystemTime::now());
            self.copies.touch(&listing.url);
        }
        self.publish(Arc::clone(&self.lists.current.load().table));
    }

    fn has_copy(&self, number: usize) -> bool {
        self.listings.get(number).is_some_and(|listing| listing.list.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_much_shorter_list_is_accepted_if_it_stays_short() {
        let prefixes = |count: usize| {
            let lines: Vec<String> = (0..count).map(|n| format!("66.{n}.64.0/27")).collect();
            Bytes::from(lines.join("\n"))
        };
        let (url, format, list, seen) = (String::new(), None, None, None);
        let listing = Listing { url, format, list, seen, suspect_since: None };
        let copies = Copies::new(None, "ranges");
        let (lists, of_crawler) = (Arc::default(), Arc::default());
        let mut keeper = ListKeeper { lists, listings: vec![listing], of_crawler, copies };
        let day = Duration::from_secs(24 * 3_600);
        let pass = |keeper: &mut ListKeeper, time: Duration| {
            for listing in &mut keeper.listings {
                listing.suspect_since =
                    listing.suspect_since.and_then(|since| since.checked_sub(time));
            }
        };
        for (count, after, is_taken) in [
            (100, Duration::ZERO, true),
            // A few retries: the server may have a fault for an hour.
            (10, day, false),
            (10, Duration::from_secs(60), false),
            (10, Duration::from_secs(120), false),
            (10, day, false),
            // A good list in between starts the time again.
            (100, day, true),
            (10, 9 * day, false),
            (10, 2 * day, false),
            (10, day, true),
        ] {
            pass(&mut keeper, after);
            assert_eq!(keeper.take(0, prefixes(count)).is_ok(), is_taken, "{count} {after:?}");
        }
        assert!(keeper.take(0, prefixes(2)).is_err());
        keeper.renew(0);
        pass(&mut keeper, 9 * day);
        assert!(keeper.take(0, prefixes(2)).is_err(), "the source withdrew the short list");
    }

    #[test]
    fn an_old_list_no_longer_contradicts_a_claim() {
        let day = Duration::from_secs(24 * 3_600);
        let now = SystemTime::UNIX_EPOCH + 1_000 * day;
        let seen =
            vec![Some(now), Some(now - 13 * day), Some(now - 15 * day), None, Some(now + day)];
        let compiled = Compiled { seen, ..Compiled::default() };
        for (lists, is_complete) in [
            (&[0_u32, 1][..], true),
            (&[4], true),
            (&[2], false),
            (&[0, 2], false),
            (&[3], false),
            (&[9], false),
        ] {
            let lists: Vec<ListId> = lists.iter().copied().map(ListId).collect();
            assert_eq!(compiled.are_complete(&lists, now), is_complete, "{lists:?}");
        }
    }
}
