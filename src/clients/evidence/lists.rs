//! The published address lists of crawlers, compiled into one table.
//!
//! Beadle refuses a list that suddenly lost most of its addresses, or has none of them, but accepts
//! it if it stays so. Some lists confirm claims and contradict none, because the crawler may have
//! other addresses: a list that Beadle could not fetch for two weeks, a list with entries that
//! Beadle cannot read, and a list of one or two addresses until its source has repeated it.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use arc_swap::ArcSwap;

use crate::{
    base::diagnostic::Diagnostic,
    rules::{
        crawlers::{
            Crawler, Evidence, Testimony,
            ranges::{self, Format, List, ListId, Membership, Table},
        },
        policy::{self, Policy},
    },
};

use super::{
    refresh::{Collection, Refusal},
    source::{Content, Copies, Doubt, REPLACEMENT, Suspect, Terms},
};

/// How long a list can contradict claims after its source last had it. Twice the longest refresh.
const FRESH: Duration = Duration::from_secs(14 * 24 * 3_600);

/// The line of a copy whose list has entries that Beadle could not read.
const INCOMPLETE: &str = "# incomplete";

/// The lists in use, swapped whole.
pub(super) type Lists = ArcSwap<Compiled>;

#[derive(Debug, Default)]
pub(super) struct Compiled {
    table: Arc<Table>,
    of_crawler: Arc<OfCrawler>,
    /// The last time at which its source had each list; `None` if the list contradicts no claim.
    seen: Vec<Option<SystemTime>>,
}

type OfCrawler = HashMap<Box<str>, Box<[ListId]>>;

impl Compiled {
    pub(super) fn answer(&self, crawler: &Crawler, address: IpAddr, now: SystemTime) -> Testimony {
        let Some(lists) = self.of_crawler.get(crawler.product_token().key()) else {
            return Testimony::Nothing;
        };
        match self.table.membership(lists, address) {
            Membership::Listed => Testimony::Yes,
            Membership::Unlisted if self.are_complete(lists, now) => Testimony::No,
            Membership::Unlisted | Membership::Undecided => Testimony::NotYet,
        }
    }

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

#[derive(Debug)]
pub(super) struct ListKeeper {
    lists: Arc<Lists>,
    listings: Vec<Listing>,
    of_crawler: Arc<OfCrawler>,
    copies: Copies,
}

#[derive(Debug, Default)]
struct Listing {
    url: String,
    format: Option<Format>,
    list: Option<List>,
    is_complete: bool,
    /// Since when a list of one or two addresses waits for its repetition.
    slight_since: Option<Instant>,
    seen: Option<SystemTime>,
    suspect: Suspect<List>,
}

impl ListKeeper {
    pub(super) fn new(lists: Arc<Lists>, policy: &Policy, settings: &policy::Evidence) -> Self {
        let copies = Copies::new(settings.folder.as_deref(), "ranges");
        let mut listings: Vec<Listing> = Vec::new();
        let mut of_crawler = OfCrawler::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            let format = crawler.entry.ip_format.as_deref().and_then(Format::named);
            let id = |url: &String| {
                let known = listings.iter().position(|list| list.url == *url);
                let number = known.unwrap_or_else(|| {
                    let mut listing = Listing { url: url.clone(), format, ..Listing::default() };
                    if let Some(copy) = copies.read(url) {
                        listing.restore(&copy, copies.modified(url));
                    }
                    listings.push(listing);
                    listings.len() - 1
                });
                ListId(u32::try_from(number).expect("a catalogue has fewer lists"))
            };
            let ids: Box<[ListId]> = crawler.entry.ip_ranges.iter().map(id).collect();
            if !ids.is_empty() {
                of_crawler.insert(crawler.product_token().key().into(), ids);
            }
        }
        let keeper = Self { lists, listings, of_crawler: Arc::new(of_crawler), copies };
        keeper.compile();
        keeper
    }

    fn compile(&self) {
        let present = self.listings.iter().zip(0..);
        let present =
            present.filter_map(|(one, number)| Some((ListId(number), one.list.as_ref()?)));
        self.publish(Arc::new(Table::new(present)));
    }

    fn publish(&self, table: Arc<Table>) {
        let of_crawler = Arc::clone(&self.of_crawler);
        let seen = self.listings.iter().map(Listing::decisive_since).collect();
        self.lists.store(Arc::new(Compiled { table, of_crawler, seen }));
    }
}

impl Listing {
    fn restore(&mut self, copy: &[u8], seen: Option<SystemTime>) {
        let Ok(list) = ranges::read(Some(Format::Rows), copy) else { return };
        self.is_complete =
            !copy.split(|octet| *octet == b'\n').any(|line| line == INCOMPLETE.as_bytes());
        self.slight_since = list.is_slight().then(Instant::now);
        (self.list, self.seen) = (Some(list), seen);
    }

    fn copy(&self, list: &List) -> String {
        let incomplete = if list.is_complete { "" } else { INCOMPLETE };
        format!("# {}\n{incomplete}\n{list}", self.url)
    }

    fn check(&mut self, fresh: &List) -> Result<(), Diagnostic> {
        let Some(old) = &self.list else {
            self.slight_since = fresh.is_slight().then(Instant::now);
            return Ok(());
        };
        if let Err(refusal) = ranges::sane_successor(old, fresh) {
            let doubt = match refusal.code {
                ranges::UNRELATED => Doubt::Replacement,
                _ => Doubt::Loss,
            };
            if !self.suspect.is_believed(fresh, doubt) {
                return Err(refusal);
            }
            self.slight_since = None;
        }
        Ok(())
    }

    fn note_seen(&mut self) {
        self.suspect.clear();
        self.seen = Some(SystemTime::now());
        self.slight_since = self.slight_since.filter(|since| since.elapsed() < REPLACEMENT);
    }

    /// The last time at which its source had the list; `None` if the list contradicts no claim.
    fn decisive_since(&self) -> Option<SystemTime> {
        self.seen.filter(|_| self.is_complete && self.slight_since.is_none())
    }
}

impl Collection for ListKeeper {
    const EVIDENCE: Evidence = Evidence::IpRange;
    const TERMS: Terms = Terms { octets: ranges::MAX_OCTETS, redirects: true };
    const OBEYS_MAX_AGE: bool = false;

    fn urls(&self) -> Vec<String> {
        self.listings.iter().map(|listing| listing.url.clone()).collect()
    }

    fn take(&mut self, number: usize, content: &Content) -> Result<Vec<Diagnostic>, Refusal> {
        let Some(listing) = self.listings.get_mut(number) else { return Ok(Vec::new()) };
        let refused = |refusal: Diagnostic| Refusal { code: refusal.code, reason: refusal.message };
        let fresh = ranges::read(listing.format, &content.octets).map_err(refused)?;
        listing.check(&fresh).map_err(refused)?;
        listing.note_seen();
        listing.is_complete = fresh.is_complete;
        self.copies.write(&listing.url, listing.copy(&fresh).as_bytes());
        let findings = fresh.findings.clone();
        listing.list = Some(fresh);
        self.compile();
        Ok(findings)
    }

    fn renew(&mut self, number: usize) {
        if let Some(listing) = self.listings.get_mut(number) {
            listing.note_seen();
            self.copies.touch(&listing.url);
        }
        self.publish(Arc::clone(&self.lists.load().table));
    }

    fn has_copy(&self, number: usize) -> bool {
        self.listings.get(number).is_some_and(|listing| listing.list.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3_600);
    const HOUR: Duration = Duration::from_secs(3_600);

    fn keeper() -> ListKeeper {
        let (lists, of_crawler) = (Arc::default(), Arc::default());
        let (listings, copies) = (vec![Listing::default()], Copies::new(None, "ranges"));
        ListKeeper { lists, listings, of_crawler, copies }
    }

    fn pass(keeper: &mut ListKeeper, time: Duration) {
        for listing in &mut keeper.listings {
            listing.suspect.pass(time);
            let earlier = |since: Instant| since.checked_sub(time).expect("the clock runs longer");
            listing.slight_since = listing.slight_since.map(earlier);
        }
    }

    /// The code of the refusal, or nothing.
    fn code(keeper: &mut ListKeeper, text: &str) -> &'static str {
        keeper.take(0, &Content::from(text)).err().map_or("", |refusal| refusal.code)
    }

    #[test]
    fn a_much_shorter_list_is_accepted_if_it_stays_short() {
        let prefixes = |count: usize| {
            let lines: Vec<String> = (0..count).map(|n| format!("66.{n}.64.0/27")).collect();
            lines.join("\n")
        };
        let mut keeper = keeper();
        for (count, after, refusal) in [
            (100, Duration::ZERO, ""),
            // A few retries: the server may have a fault for an hour.
            (10, DAY, "ranges.shrunk"),
            (10, Duration::from_secs(60), "ranges.shrunk"),
            (10, Duration::from_secs(120), "ranges.shrunk"),
            (10, DAY, "ranges.shrunk"),
            // A good list in between starts the time again.
            (100, DAY, ""),
            (10, 9 * DAY, "ranges.shrunk"),
            (10, 2 * DAY, "ranges.shrunk"),
            (10, DAY, ""),
        ] {
            pass(&mut keeper, after);
            assert_eq!(code(&mut keeper, &prefixes(count)), refusal, "{count} {after:?}");
        }
        assert_eq!(code(&mut keeper, &prefixes(2)), "ranges.shrunk");
        keeper.renew(0);
        pass(&mut keeper, 9 * DAY);
        let withdrawn = "the source withdrew the short list";
        assert_eq!(code(&mut keeper, &prefixes(2)), "ranges.shrunk", "{withdrawn}");
    }

    #[test]
    fn a_list_without_any_old_address_is_accepted_if_it_says_the_same_an_hour_later() {
        let minute = Duration::from_secs(60);
        let mut keeper = keeper();
        for (text, after, refusal) in [
            ("8.8.8.0/27\n9.9.9.0/24", Duration::ZERO, ""),
            ("8.8.9.9", DAY, "ranges.unrelated"),
            ("8.8.9.9", 59 * minute, "ranges.unrelated"),
            // Another error, about another address.
            ("8.8.9.7", 5 * minute, "ranges.unrelated"),
            ("8.8.9.9", 5 * minute, "ranges.unrelated"),
            // A good list in between starts the time again.
            ("8.8.8.0/27\n9.9.9.0/24", 50 * minute, ""),
            ("7.7.7.0/24", 50 * minute, "ranges.unrelated"),
            ("7.7.7.0/24", 30 * minute, "ranges.unrelated"),
            ("7.7.7.0/24", 30 * minute, ""),
        ] {
            pass(&mut keeper, after);
            assert_eq!(code(&mut keeper, text), refusal, "{text} {after:?}");
        }
        assert!(keeper.listings[0].decisive_since().is_some());
    }

    #[test]
    fn a_list_contradicts_claims_if_it_is_complete_and_more_than_an_error_may_quote() {
        let is_decisive = |keeper: &ListKeeper| keeper.listings[0].decisive_since().is_some();
        for (text, at_once) in [
            ("8.8.8.8\n9.9.9.0/24", true),
            ("8.8.8.8\n1.1.1.1\n9.9.9.9", true),
            ("8.8.8.8\n1.1.1.1", false),
            (r#"[{"ip":"8.8.9.9","message":"denied"}]"#, false),
        ] {
            for is_unchanged in [true, false] {
                let mut keeper = keeper();
                assert_eq!(code(&mut keeper, text), "");
                assert_eq!(is_decisive(&keeper), at_once, "{text}");
                let repeat = |after, keeper: &mut ListKeeper| {
                    pass(keeper, after);
                    if is_unchanged { keeper.renew(0) } else { assert_eq!(code(keeper, text), "") }
                };
                repeat(HOUR / 2, &mut keeper);
                assert_eq!(is_decisive(&keeper), at_once, "{text}");
                repeat(HOUR / 2, &mut keeper);
                assert!(is_decisive(&keeper), "the source repeated it: {text}");
            }
        }
        let mut keeper = keeper();
        let partly = "8.8.8.8\n1.1.1.1\n9.9.9.9\n4.4.4.4\n5.5.5.0/33\n";
        let findings = keeper.take(0, &Content::from(partly)).expect("most of it was read");
        assert_eq!(
            findings.iter().map(|one| one.code).collect::<Vec<_>>(),
            ["ranges.unread_entry"]
        );
        pass(&mut keeper, DAY);
        keeper.renew(0);
        assert!(!is_decisive(&keeper));
        assert_eq!(code(&mut keeper, "8.8.8.8\n1.1.1.1\n9.9.9.9\n5.5.5.0/24"), "");
        assert!(is_decisive(&keeper));
    }

    #[test]
    fn a_saved_copy_contradicts_no_more_than_the_list_did() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (text, is_decisive) in [
            ("8.8.8.8\n1.1.1.1\n9.9.9.9\n4.4.4.4\n", true),
            ("8.8.8.8\n1.1.1.1\n9.9.9.9\n4.4.4.4\n5.5.5.0/33", false),
            ("8.8.8.8", false),
        ] {
            let copies = Copies::new(Some(folder.path()), "ranges");
            let mut keeper = ListKeeper { copies: copies.clone(), ..keeper() };
            keeper.listings[0].url = text.to_owned();
            assert_eq!(code(&mut keeper, text), "");
            let mut restored = Listing::default();
            restored.restore(&copies.read(text).expect("it was saved"), Some(now));
            assert_eq!(restored.list, keeper.listings[0].list);
            assert_eq!(restored.decisive_since().is_some(), is_decisive, "{text}");
        }
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
