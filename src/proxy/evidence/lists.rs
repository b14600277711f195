//! The published lists of addresses: the last good ones in one table, swapped whole.
//!
//! A list that has suddenly lost most of its addresses is not believed at once. One that stays
//! short is, in the end.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;

use crate::{
    crawlers::{
        Answer, Crawler, Evidence,
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

/// What requests ask.
#[derive(Debug, Default)]
pub(super) struct Lists {
    current: ArcSwap<Compiled>,
}

/// The lists of all crawlers, compiled.
#[derive(Debug, Default)]
struct Compiled {
    table: Table,
    of_crawler: Arc<OfCrawler>,
}

/// The lists of each crawler that has any, by its key.
type OfCrawler = HashMap<Box<str>, Box<[ListId]>>;

impl Lists {
    /// What the lists of `crawler` say of an address.
    pub(super) fn answer(&self, crawler: &Crawler, address: IpAddr) -> Answer {
        let current = self.current.load();
        let Some(lists) = current.of_crawler.get(crawler.product_token().key()) else {
            return Answer::Nothing;
        };
        match current.table.membership(lists, address) {
            Membership::Listed => Answer::Yes,
            Membership::Unlisted => Answer::No,
            Membership::Undecided => Answer::NotYet,
        }
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
                        let copy = copies.read(url);
                        let list =
                            copy.and_then(|copy| ranges::read(Some(Format::Rows), &copy).ok());
                        kept.push(Kept { url: url.clone(), format, list, doubted_since: None });
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
        keeper.publish();
        keeper
    }

    /// Compiles what is there for requests to ask.
    fn publish(&self) {
        let present = self
            .kept
            .iter()
            .zip(0..)
            .filter_map(|(kept, number)| kept.list.as_ref().map(|list| (ListId(number), list)));
        let table = Table::new(present);
        let of_crawler = Arc::clone(&self.of_crawler);
        self.lists.current.store(Arc::new(Compiled { table, of_crawler }));
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
        self.publish();
        Ok(())
    }

    fn renew(&mut self, number: usize) {
        if let Some(kept) = self.kept.get_mut(number) {
            kept.doubted_since = None;
        }
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
        let kept = Kept { url: String::new(), format: None, list: None, doubted_since: None };
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
}
