//! The crawlers that a followed list adds to the catalogue.
//!
//! A foreign list may be wrong, or in other hands tomorrow. So it adds names and nothing else: it
//! never changes an entry that is known, and a list that is not plausible changes nothing at all.
//! Requests with a new name are recorded and never refused, until the operator accepts the name.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::base::{escape::shown, product_token::ProductToken};

use super::{
    catalogue::Catalogue,
    claim::Name,
    crawler::Crawler,
    entry::{Entry, Kind, Match, Purpose, Source},
    foreign_list::Listed,
    site_names::{SiteNames, is_findable},
};

const MOST_NEW: usize = 20;
const MOST_NAMES: usize = 5_000;
/// The fewest octets of a name that distinguishes a crawler.
const SHORTEST: usize = 3;

/// User-Agents of people whose words look like the names of crawlers. A list with such a name would
/// judge people.
const PEOPLE: [&str; 14] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1 GSA/390.0",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 9; CUBOT X19; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0 Mobile Safari/537.36 [FBAN/EMA;FBAV/400.0;]",
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; SLCC2; .NET CLR 2.0.50727; Media Center PC 6.0; InfoPath.3)",
    "Opera/9.80 (Android; Opera Mini/62.2/191.306; U; en) Presto/2.12.423 Version/12.16",
    "Mozilla/5.0 (Linux; Android 13; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/122.2 like Chrome/122.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Instagram 334.0 [Pinterest/iOS] Snapchat/12.90",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 YaBrowser/24.12 Yowser/2.5 Safari/537.36 OPR/115.0 Vivaldi/7.0",
    "Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 coc_coc_browser/120.0 Chrome/114.0 Safari/537.36 Brave/1.60 DuckDuckGo/7 Ddg/17",
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36 Version/7.0 TV Safari/537.36 Web0S NetCast HbbTV/1.6 CrKey/1.56 PlayStation Xbox",
    "Mozilla/5.0 (Linux; Android 12; M2101K6G; HUAWEI; Redmi; Nokia; Pixel 9; moto g; vivo; OPPO) MicroMessenger/8.0 NetType/WIFI Language/en UCBrowser/13 MiuiBrowser/17 MQQBrowser/15",
];

/// Editors that people use, and what they are built on. In lower case.
const PROGRAMS: [&str; 7] = ["code", "codium", "cursor", "electron", "kiro", "windsurf", "zed"];

/// What a followed list has added, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Followed {
    /// How many names the last good list had.
    pub names: usize,
    /// The crawlers, in the order in which they came.
    pub crawlers: Vec<Listed>,
}

/// What a list has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListUpdate {
    /// The names that it adds.
    pub new: Vec<String>,
    /// The names that it no longer has, and that were not accepted.
    pub(crate) gone: Vec<String>,
    /// The names that are left out, because they also name something else.
    pub(crate) left_out: Vec<String>,
    /// How many more names it has. They come with the next fetches.
    pub(crate) waiting: usize,
}

/// The names in a file of accepted ones, a line for each; in lower case.
pub fn accepted_names(bytes: &[u8]) -> HashSet<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(|line| line.trim().to_ascii_lowercase()).collect()
}

impl Followed {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("texts and numbers are JSON")
    }

    /// Takes over a list: the first twenty names that are neither known nor followed. A list that is not
    /// plausible changes nothing.
    pub(crate) fn update(
        &mut self,
        list: &[Listed],
        known: &Catalogue,
        accepted: &HashSet<String>,
    ) -> Result<ListUpdate, String> {
        let left_out = self.check(list, known)?;
        let mut update = ListUpdate::default();
        let is_kept = |one: &Listed| {
            accepted.contains(&one.product_token.to_ascii_lowercase())
                || list.iter().any(|other| one.is_same(&other.product_token))
        };
        let gone = self.crawlers.extract_if(.., |one| !is_kept(one));
        update.gone = gone.map(|one| one.product_token).collect();
        for one in list {
            let name = &one.product_token;
            let is_here = self.crawlers.iter().any(|other| other.is_same(name));
            if is_here || is_known(known, name) || left_out.contains(name) {
                continue;
            }
            if update.new.len() == MOST_NEW {
                update.waiting += 1;
                continue;
            }
            update.new.push(name.clone());
            self.crawlers.push(one.clone());
        }
        self.names = list.len();
        Ok(ListUpdate { left_out, ..update })
    }

    /// Checks whether a list is plausible. Returns the names to leave out.
    fn check(&self, list: &[Listed], known: &Catalogue) -> Result<Vec<String>, String> {
        if list.len() > MOST_NAMES {
            return Err(format!("it has {} names, more than {MOST_NAMES}", list.len()));
        }
        if list.len() * 2 < self.names {
            return Err(format!("it has {} names, and {} before", list.len(), self.names));
        }
        let (mut names, mut left_out): (Vec<&str>, Vec<String>) = Default::default();
        for Listed { product_token: name, .. } in list {
            if is_known(known, name) {
                continue;
            }
            if ProductToken::new(name).is_none() {
                return Err(format!("'{}' is no name of a crawler", shown(name)));
            }
            if name.len() >= SHORTEST && !is_findable(name) {
                return Err(format!("'{}' can't tell a crawler from a browser", shown(name)));
            }
            let is_program = PROGRAMS.contains(&name.to_ascii_lowercase().as_str());
            if name.len() < SHORTEST || is_program {
                left_out.push(name.clone());
            } else if !names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                names.push(name);
            }
        }
        let entries = names.iter().map(|name| entry(name));
        let new = Catalogue::new(entries).map_err(|findings| {
            findings.into_iter().next().map_or_else(String::new, |finding| finding.message)
        })?;
        let site_names = SiteNames::default();
        let hits = |user_agent: &str| -> Vec<String> {
            let claim = new.identify(user_agent.as_bytes(), &site_names);
            let names = claim.tokens().filter_map(Name::known);
            names.map(|crawler| crawler.product_token().to_string()).collect()
        };
        for person in PEOPLE {
            if let Some(name) = hits(person).first() {
                return Err(format!("'{}' stands in User-Agents of people", shown(name)));
            }
        }
        // A word such as Spider, which is a part of the names of others.
        for other in known.iter().filter(|one| one.list().is_none()).flat_map(Crawler::names) {
            left_out.extend(hits(&format!("{other}/1.0")));
        }
        left_out.sort_unstable();
        left_out.dedup();
        Ok(left_out)
    }

    /// The entries for a catalogue that does not know them; `url` is that of the list.
    pub(crate) fn entries(
        &self,
        known: &Catalogue,
        url: &str,
        accepted: &HashSet<String>,
    ) -> Vec<Entry> {
        let new = self.crawlers.iter().filter(|one| known.find(&one.product_token).is_none());
        let entry_of = |one: &Listed| Entry {
            operator: one.operator.clone(),
            purpose: one.purpose,
            kind: match one.purpose {
                Purpose::AiUser | Purpose::AiAgent => Kind::UserTriggered,
                _ => Kind::Crawler,
            },
            source: Some(Source {
                url: url.to_owned(),
                is_accepted: accepted.contains(&one.product_token.to_ascii_lowercase()),
            }),
            ..entry(&one.product_token)
        };
        new.map(entry_of).collect()
    }
}

/// An entry of a foreign name. It may be an everyday word, so it counts as a product's name only.
fn entry(name: &str) -> Entry {
    Entry { product_token: name.to_owned(), matching: Match::Named, ..Entry::default() }
}

/// Whether a catalogue has a name from elsewhere than a followed list.
fn is_known(known: &Catalogue, name: &str) -> bool {
    known.find(name).is_some_and(|one| one.list().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://list.example/robots.json";

    fn known() -> Catalogue {
        let entry = |name: &str, aliases: &[&str]| Entry {
            product_token: name.to_owned(),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            purpose: Purpose::Search,
            ..Entry::default()
        };
        let entries = [entry("KnownBot", &["OtherName"]), entry("Screaming SEO Spider", &[])];
        Catalogue::new(entries).expect("sound")
    }

    fn list(names: &[&str]) -> Vec<Listed> {
        let listed = |name: &&str| Listed {
            name: (*name).to_owned(),
            product_token: (*name).to_owned(),
            operator: Some("Acme".to_owned()),
            purpose: Purpose::AiTraining,
        };
        names.iter().map(listed).collect()
    }

    fn update(followed: &mut Followed, names: &[&str]) -> Result<ListUpdate, String> {
        followed.update(&list(names), &known(), &accepted_names(b"FIRSTBOT\n"))
    }

    fn names(followed: &Followed) -> Vec<&str> {
        followed.crawlers.iter().map(|one| &*one.product_token).collect()
    }

    #[test]
    fn new_names_are_added_and_known_ones_stay_as_they_are() {
        let (known, mut followed) = (known(), Followed::default());
        let first = ["knownbot", "OTHERNAME", "FirstBot", "Second Crawler", "firstbot"];
        let found = update(&mut followed, &first).expect("plausible");
        assert_eq!(found.new, ["FirstBot", "Second Crawler"]);
        let entries = followed.entries(&known, URL, &accepted_names(b" FirstBot"));
        let more = known.with_entries(entries).expect("sound");
        for (name, list, is_pending) in [
            ("KnownBot", None, false),
            ("FirstBot", Some(URL), false),
            ("second crawler", Some(URL), true),
        ] {
            let crawler = more.find(name).expect("it is there");
            assert_eq!((crawler.list(), crawler.is_pending()), (list, is_pending), "{name}");
        }
        // Its own names are no known ones.
        let again = followed.update(&list(&first), &more, &HashSet::new());
        assert_eq!(again, Ok(ListUpdate::default()));
        // An accepted name stays when the list drops it, another one goes.
        let found = update(&mut followed, &["a-bot", "b-bot", "c-bot"]).expect("plausible");
        assert_eq!((found.gone, found.new.len()), (vec!["Second Crawler".to_owned()], 3));
        assert_eq!(names(&followed), ["FirstBot", "a-bot", "b-bot", "c-bot"]);
        // A name that the catalogue knows by now has its entry there.
        let later =
            Catalogue::new([Entry { product_token: "A-Bot".to_owned(), ..Entry::default() }]);
        assert_eq!(followed.entries(&later.expect("sound"), "", &HashSet::new()).len(), 3);
        assert_eq!(Followed::read(&followed.bytes()), Ok(followed));
        assert!(Followed::read(b"{}").is_err());
    }

    #[test]
    fn a_fetch_adds_a_few_names_and_the_others_come_later() {
        let mut followed = Followed::default();
        let many: Vec<String> = (10..55).map(|number| format!("New{number}Bot")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for expected in [(MOST_NEW, 25), (MOST_NEW, 5), (5, 0), (0, 0)] {
            let found = update(&mut followed, &many).expect("plausible");
            assert_eq!((found.new.len(), found.waiting), expected);
        }
    }

    #[test]
    fn a_name_that_also_stands_for_other_programs_is_left_out() {
        let mut followed = Followed::default();
        let found = update(&mut followed, &["Code", "cursor", "Spider", "AI", "TrueBot"]);
        let found = found.expect("plausible");
        assert_eq!(found.left_out, ["AI", "Code", "Spider", "cursor"]);
        assert_eq!((found.new, found.waiting), (vec!["TrueBot".to_owned()], 0));
    }

    #[test]
    fn a_list_that_is_not_plausible_changes_nothing() {
        let mut followed = Followed::default();
        update(&mut followed, &["OneBot", "TwoBot", "ThreeBot"]).expect("plausible");
        let before = followed.clone();
        for (name, why) in [
            ("Chrome", "'Chrome' can't tell a crawler from a browser"),
            ("mozilla", "'mozilla' can't tell a crawler from a browser"),
            ("*", "'*' is no name of a crawler"),
            ("a#b", "'a#b' is no name of a crawler"),
            ("x\ny", "'x\\ny' is no name of a crawler"),
            ("", "'' is no name of a crawler"),
            ("Silk", "'Silk' stands in User-Agents of people"),
            ("ucbrowser", "'ucbrowser' stands in User-Agents of people"),
        ] {
            let found = update(&mut followed, &["OneBot", "TwoBot", name]);
            assert_eq!(found, Err(why.to_owned()), "{name}");
            assert_eq!(followed, before);
        }
        let found = update(&mut followed, &["OneBot"]);
        assert_eq!(found, Err("it has 1 names, and 3 before".to_owned()));
        let many: Vec<String> = (0..5_001).map(|number| format!("N{number}Bot")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(update(&mut followed, &many).is_err());
        assert_eq!(followed, before);
    }
}
