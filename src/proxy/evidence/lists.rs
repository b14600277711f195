//! The published lists of addresses: the last good ones in one table, swapped whole.
//!
//! A list that has suddenly lost most of its addresses is not believed at once. One that stays
//! short is, in the end. One that could not be had for long still confirms, and contradicts nobody:
//! its crawler may have got other addresses since.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use arc_swap::ArcSwap;

use crate::{
    crawlers::{
        Crawler, Evidence, Testimony,
        ranges::{self, Format, List, ListId, Membership, Table},
    },
    policy::{self, Policy},
};

use super::{
    fetch::Terms,
    refresh::{Collection, Copies, Doubt},
};

/// A list that is much shorter than the copy in use is believed when it has stayed so for this long:
/// who publishes half a list by mistake has noticed by then.
const PATIENCE: Duration = Duration::from_secs(3 * 24 * 3_600);

/// For so long after its source last had a list, an address that is not in it is none of its
/// crawler's. Twice the longest refresh.
const COMPLETE: Duration = Duration::from_secs(14 * 24 * 3_600);

/// What requests ask.
#[derive(Debug, Default)]
pub(super) struct Lists {
    current: ArcSwap<Compiled>,
}

/// The lists of all crawlers, compiled.
#[derive(Debug, Default)]
struct Compiled {
    table: Arc<Table>,
    of_crawler: Arc<OfCrawler>,
    /// When the source of each list last had it.
    seen: Vec<Option<SystemTime>>,
}

/// The lists of each crawler that has any, by its key.
type OfCrawler = HashMap<Box<str>, Box<[ListId]>>;

impl Lists {
    /// What the lists of `crawler` say of an address.
    pub(super) fn answer(&self, crawler: &Crawler, address: IpAddr) -> Testimony {
        let current = self.current.load();
        let Some(lists) = current.of_crawler.get(crawler.product_token().key()) else {
            return Testimony::Nothing;
        };
        match current.table.membership(lists, address) {
            Membership::Listed => Testimony::Yes,
            Membership::Unlisted if current.are_complete(lists, SystemTime::now()) => Testimony::No,
            Membership::Unlisted | Membership::Undecided => Testimony::NotYet,
        }
    }
}

impl Compiled {
    /// Whether these lists are new enough to tell who is not in them.
    fn are_complete(&self, lists: &[ListId], now: SystemTime) -> bool {
        lists.iter().all(|list| {
            let seen = self.seen.get(list.0 as usize).copied().flatten();
            // A copy from the future tells of a clock that was set back, not of age.
            let age = |seen| now.duration_since(seen).unwrap_or_default();
            seen.is_some_and(|seen| age(seen) < COMPLETE)
        })
    }
}

/// What keeps the lists up to date.
#[derive(Debug)]
pub(super) struct ListKeeper {
    lists: Arc<Lists>,
    kept: Vec<Kept>,
    of_crawler: Arc<OfCrawler>,
    copies: Copies,
}

/// One list.
#[derive(Debug)]
struct Kept {
    url: String,
    format: Option<Format>,
    list: Option<List>,
    /// When the source last had it.
    seen: Option<SystemTime>,
    /// Since when all that came was too different to be believed at once.
    doubted_since: Option<Instant>,
}

impl ListKeeper {
    /// The lists of the policy's crawlers, with the copies that were kept.
    pub(super) fn new(lists: Arc<Lists>, policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), "ranges");
        let mut kept: Vec<Kept> = Vec::new();
        let mut of_crawler = OfCrawler::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let format = crawler.ip_format().and_then(Format::named);
            let ids: Box<[ListId]> = crawler
                .ip_ranges()
                .iter()
                .map(|url| {
                    let known = kept.iter().position(|list| list.url == *url);
                    let number = known.unwrap_or_else(|| {
                        let (list, seen) = (copies.read(url), copies.modified(url));
                        let list =
                            list.and_then(|copy| ranges::read(Some(Format::Rows), &copy).ok());
                        let url = url.clone();
                        kept.push(Kept { url, format, list, seen, doubted_since: None });
                        kept.len() - 1
                    });
                    ListId(u32::try_from(number).expect("a catalogue has fewer lists"))
                })
                .collect();
            if !ids.is_empty() {
                of_crawler.insert(crawler.product_token().key().into(), ids);
            }
        }
        let keeper = Self { lists, kept, of_crawler: Arc::new(of_crawler), copies };
        keeper.compile();
        keeper
    }

    /// Compiles what is there for requests to ask.
    fn compile(&self) {
        let present = self
            .kept
            .iter()
            .zip(0..)
            .filter_map(|(kept, number)| kept.list.as_ref().map(|list| (ListId(number), list)));
        self.publish(Arc::new(Table::new(present)));
    }

    fn publish(&self, table: Arc<Table>) {
        let of_crawler = Arc::clone(&self.of_crawler);
        let seen = self.kept.iter().map(|kept| kept.seen).collect();
        self.lists.current.store(Arc::new(Compiled { table, of_crawler, seen }));
    }
}

impl Collection for ListKeeper {
    const EVIDENCE: Evidence = Evidence::IpRange;
    const TERMS: Terms = Terms { octets: ranges::MAX_OCTETS, redirects: true };
    const OBEYS_MAX_AGE: bool = false;

    fn urls(&self) -> Vec<String> {
        self.kept.iter().map(|kept| kept.url.clone()).collect()
    }

    fn take(&mut self, number: usize, octets: Vec<u8>) -> Result<(), Doubt> {
        let Some(kept) = self.kept.get_mut(number) else { return Ok(()) };
        let doubt = |refusal: ranges::Refusal| (refusal.code(), refusal.to_string());
        let fresh = ranges::read(kept.format, &octets).map_err(doubt)?;
        if let Some(old) = &kept.list
            && let Err(refusal) = ranges::sane_successor(old, &fresh)
        {
            let since = *kept.doubted_since.get_or_insert_with(Instant::now);
            if since.elapsed() < PATIENCE {
                return Err(doubt(refusal));
            }
        }
        kept.doubted_since = None;
        self.copies.write(&kept.url, format!("# {}\n{fresh}", kept.url).as_bytes());
        kept.list = Some(fresh);
        kept.seen = Some(SystemTime::now());
        self.compile();
        Ok(())
    }

    fn renew(&mut self, number: usize) {
        if let Some(kept) = self.kept.get_mut(number) {
            kept.doubted_since = None;
            kept.seen = Some(SystemTime::now());
            self.copies.touch(&kept.url);
        }
        self.publish(Arc::clone(&self.lists.current.load().table));
    }

    fn has_copy(&self, number: usize) -> bool {
        self.kept.get(number).is_some_and(|kept| kept.list.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_list_that_has_shrunk_is_believed_when_it_stays_so() {
        let prefixes = |count: usize| {
            let lines: Vec<String> = (0..count).map(|n| format!("66.{n}.64.0/27")).collect();
            lines.join("\n").into_bytes()
        };
        let (url, format, list, seen) = (String::new(), None, None, None);
        let kept = Kept { url, format, list, seen, doubted_since: None };
        let copies = Copies::new(None, "ranges");
        let (lists, of_crawler) = (Arc::default(), Arc::default());
        let mut keeper = ListKeeper { lists, kept: vec![kept], of_crawler, copies };
        let day = Duration::from_secs(24 * 3_600);
        let pass = |keeper: &mut ListKeeper, time: Duration| {
            for kept in &mut keeper.kept {
                kept.doubted_since = kept.doubted_since.and_then(|since| since.checked_sub(time));
            }
        };
        for (count, after, is_taken) in [
            (100, Duration::ZERO, true),
            // Tried again soon, and a few times: the server may be out of order for an hour.
            (10, day, false),
            (10, Duration::from_secs(60), false),
            (10, Duration::from_secs(120), false),
            (10, day, false),
            // A good one in between begins the time anew.
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
        assert!(keeper.take(0, prefixes(2)).is_err(), "what came before was taken back");
    }

    #[test]
    fn ours_an_old_list_still_confirms_and_contradicts_nobody() {
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
