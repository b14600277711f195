//! Who has read which robots.txt: the last edition that each crawler fetched of each site.
//!
//! Kept in memory and, through the violations room, in the database, so that it survives a
//! restart. It is kept by claim: nobody proves here that a fetch came from whom it says. Names that
//! only clients make up are kept apart and in memory only, so that they can't crowd out the others.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use jiff::Timestamp;

use crate::{
    crawlers::Name,
    enforce::Site,
    violations::{Fetch, ReadState, RobotsRead, Text},
};

/// How many made-up names are remembered. When there are more, all of them are forgotten.
const MAX_DECLARED: usize = 4_096;

/// Site and name, in lower case, with what was fetched last and when.
type Fetches = HashMap<(String, String), (String, Timestamp)>;

/// The fetches seen so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Of crawlers that the catalogue or the site names: there are only so many.
    named: RwLock<Fetches>,
    /// Of names that only clients give themselves.
    declared: RwLock<Fetches>,
}

impl Ledger {
    /// What was seen before a restart.
    pub(super) fn remembering(fetches: Vec<Fetch>) -> Self {
        let entry = |fetch: Fetch| {
            let key = key(&fetch.site, &fetch.product_token);
            (key, (fetch.edition.to_string(), fetch.last))
        };
        let named = RwLock::new(fetches.into_iter().map(entry).collect());
        Self { named, declared: RwLock::default() }
    }

    /// Notes that somebody fetched a site's robots.txt; returns the note where it is to be kept.
    pub(super) fn note(&self, site: &Site, name: Name<'_>, at: Timestamp) -> Option<Fetch> {
        let (token, edition) = (name.as_str(), site.edition.id());
        let is_made_up = matches!(name, Name::Declared(_));
        let fetches = if is_made_up { &self.declared } else { &self.named };
        let mut fetches = fetches.write().unwrap_or_else(PoisonError::into_inner);
        if is_made_up && fetches.len() >= MAX_DECLARED {
            fetches.clear();
        }
        fetches.insert(key(&site.name, token), (edition.to_owned(), at));
        (!is_made_up).then(|| Fetch {
            site: site.name.as_str().into(),
            product_token: token.into(),
            network: Text::word("-"),
            standing: Text::word("unknown"),
            edition: edition.into(),
            first: at,
            last: at,
            count: 1,
            interval: None,
        })
    }

    /// What a crawler had read when it came for a page. A family fetches the file under one of its
    /// names, so those that it goes by in robots.txt count too; the latest fetch is told.
    pub(super) fn read_by(&self, site: &Site, name: Option<Name<'_>>) -> RobotsRead {
        let last = match name {
            None => None,
            Some(Name::Known(crawler)) => {
                let names = crawler.groups().map(|token| token.as_str());
                names
                    .filter_map(|name| last(&self.named, &site.name, name))
                    .max_by_key(|(_, at)| *at)
            }
            Some(Name::Site(token)) => last(&self.named, &site.name, token.as_str()),
            Some(Name::Declared(text)) => last(&self.declared, &site.name, text),
        };
        match last {
            None => RobotsRead { state: ReadState::Never, edition: None, at: None },
            Some((edition, at)) => RobotsRead {
                state: if edition == site.edition.id() {
                    ReadState::Current
                } else {
                    ReadState::Older
                },
                edition: Some(Text::from(edition.as_str())),
                at: Some(at),
            },
        }
    }
}

fn last(fetches: &RwLock<Fetches>, site: &str, name: &str) -> Option<(String, Timestamp)> {
    let fetches = fetches.read().unwrap_or_else(PoisonError::into_inner);
    fetches.get(&key(site, name)).cloned()
}

fn key(site: &str, token: &str) -> (String, String) {
    (site.to_owned(), token.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{enforce::Rulebook, policy};

    fn rulebook(rule: &str, previous: Option<&Rulebook>) -> Rulebook {
        let text = format!(
            "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{rule}] }}] }} }}]"
        );
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        let policy = policy.unwrap_or_else(|| panic!("{findings:?}"));
        Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, previous)
    }

    #[test]
    fn a_crawler_has_read_never_an_older_or_the_current_edition() {
        let (old, ledger) = (rulebook("/a", None), Ledger::default());
        let new = rulebook("/b", Some(&old));
        let known = |name| Name::Known(old.catalogue().find(name).expect(name));
        let state = |ledger: &Ledger, book: &Rulebook, name| {
            ledger.read_by(&book.sites()[0], Some(name)).state
        };
        assert_eq!(state(&ledger, &old, known("GPTBot")), ReadState::Never);
        let fetch = ledger.note(&old.sites()[0], known("Googlebot"), Timestamp::UNIX_EPOCH);
        assert_eq!(state(&ledger, &old, known("Googlebot")), ReadState::Current);
        assert_eq!(state(&ledger, &old, known("Googlebot-Image")), ReadState::Current);
        assert_eq!(state(&ledger, &new, known("Googlebot")), ReadState::Older);
        assert_eq!(state(&ledger, &old, known("GPTBot")), ReadState::Never);
        let after_restart = Ledger::remembering(fetch.into_iter().collect());
        assert_eq!(state(&after_restart, &old, known("Googlebot")), ReadState::Current);
    }

    #[test]
    fn ours_made_up_names_crowd_out_nobody() {
        let (book, ledger) = (rulebook("/a", None), Ledger::default());
        let site = &book.sites()[0];
        let gptbot = Name::Known(book.catalogue().find("GPTBot").expect("a known crawler"));
        assert!(ledger.note(site, gptbot, Timestamp::UNIX_EPOCH).is_some());
        for number in 0..2 * MAX_DECLARED {
            let name = format!("x{number}bot");
            assert!(ledger.note(site, Name::Declared(&name), Timestamp::UNIX_EPOCH).is_none());
        }
        assert!(ledger.declared.read().unwrap().len() <= MAX_DECLARED);
        assert_eq!(ledger.read_by(site, Some(gptbot)).state, ReadState::Current);
    }
}
