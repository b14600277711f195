//! The scan of a User-Agent for names: one pass over its bytes, whole words only.
//!
//! `-` and `_` belong to a word, so the longest name wins: `Googlebot-Image` is not `Googlebot`. The
//! scan does not parse the grammar of RFC 9110 §10.1.5. Real crawlers put their names everywhere: in
//! unterminated and nested comments, behind quotes, and behind bytes that are not UTF-8.
//!
//! A client without a name may have a link to the site of a crawler: the catalogue knows some crawlers
//! only by their host.
//!
//! Some words are not names: words in a link or a mail address, words behind something and `/` (a
//! version), `@`, `=`, `?`, `&` or `#`, comparisons (`like Googlebot`), and parts of words with foreign
//! letters.

use super::{
    catalogue::Catalogue,
    claim::{Claim, Class, Name},
    name_table::{find, find_in_version, hash},
    self_description::SelfDescription,
    site_names::SiteNames,
    words::{Word, end_of_engine, end_of_link, extent, next_start},
};

impl Catalogue {
    /// The most bytes of a User-Agent that are scanned. No padding up to 64 KiB hides a name, and
    /// the scan still takes less than a millisecond.
    pub(crate) const MAX_SCAN: usize = 128 * 1024;

    /// The claim of a request's User-Agent. One pass, no allocation.
    pub fn identify<'a>(&'a self, user_agent: &'a [u8], site_names: &'a SiteNames) -> Claim<'a> {
        self.identify_all([user_agent], site_names)
    }

    /// The claim of several User-Agent lines together. A client with two lines claims the names of
    /// both.
    pub fn identify_all<'a>(
        &'a self,
        user_agents: impl IntoIterator<Item = &'a [u8]>,
        site_names: &'a SiteNames,
    ) -> Claim<'a> {
        let mut claim = Claim::empty();
        let mut fallback = Class::None;
        for value in user_agents {
            let class = scan(self, site_names, value, &mut claim);
            let is_matched_whole = self.patterns.find(value, |number| {
                if let Some(crawler) = self.at(number) {
                    claim.add(Name::Known(crawler));
                }
            });
            if !is_matched_whole {
                claim.truncated = true;
            }
            if fallback == Class::None {
                fallback = class;
            }
        }
        claim.settle(fallback);
        claim
    }
}

/// Adds the names in one User-Agent line to the claim. Returns the class of a client without names.
#[inline]
fn scan<'a>(
    catalogue: &'a Catalogue,
    site_names: &'a SiteNames,
    value: &'a [u8],
    claim: &mut Claim<'a>,
) -> Class {
    let text = value.get(..Catalogue::MAX_SCAN).unwrap_or(value);
    if text.len() < value.len() {
        claim.truncated = true;
    }
    let mut scan = Scan { text, at: 0, description: SelfDescription::new(text) };
    let had_names = !claim.is_empty();
    while let Some(start) = next_start(text, scan.at) {
        if let Some(end) = end_of_engine(text, start)
            && !catalogue.names.knows_engine
            && scan.description.note_engine()
        {
            scan.at = end;
            continue;
        }
        let word = scan.word_at(start);
        if scan.passes(&word, claim.is_empty()) {
            continue;
        }
        let mut end = word.end;
        let bytes = word.bytes(text);
        let hash = hash(bytes);
        if word.before(text) == Some(b'/') && word.is_joined(text) {
            if let Some(number) = find_in_version(&catalogue.names, bytes)
                && !word.is_part(text)
                && let Some(crawler) = catalogue.at(number)
            {
                claim.add(Name::Known(crawler));
            }
        } else if word.may_have_version(text)
            || catalogue.names.may_know(bytes, hash)
            || site_names.names.may_contain(hash)
        {
            // Nearly every word is no name and never gets here.
            if let Some(hit) = find(&catalogue.names, text, &word, hash) {
                if scan.is_name_place(&Word { end: hit.end, ..word }) {
                    if let Some(crawler) = catalogue.at(hit.number) {
                        claim.add(Name::Known(crawler));
                    }
                    end = hit.end;
                }
            } else if let Some(hit) = find(&site_names.names, text, &word, hash)
                && scan.is_name_place(&Word { end: hit.end, ..word })
            {
                let token = site_names.token(hit.number);
                if let Some(token) = token.filter(|_| scan.is_own_name(&word)) {
                    claim.add(Name::Site(token));
                }
                end = hit.end;
            }
            if claim.crowded {
                break;
            }
        }
        scan.description.note(&word, text);
        scan.at = end;
    }
    if had_names {
        return Class::None;
    }
    if scan.description.is_behind_app_stack(text) {
        claim.drop_names_of_apps();
    }
    // A bot that names itself is none the less a bot on the HTTP stack of apps.
    if claim.has_apps_only()
        && let Some(name) = scan.description.bot_name(text)
        && (claim.is_empty() || catalogue.find(name).is_none())
    {
        claim.add(Name::Declared(name));
        return Class::Automation;
    }
    if claim.is_empty() {
        if let Some(crawler) = scan.description.host(text).and_then(|host| catalogue.of_host(host))
        {
            claim.add(Name::Known(crawler));
            return Class::None;
        }
        return scan.description.class_without_name();
    }
    Class::None
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    description: SelfDescription,
}

impl Scan<'_> {
    #[inline]
    fn word_at(&self, start: usize) -> Word {
        let extent = extent(self.text.get(start..).unwrap_or_default());
        let (end, ordinal) = (start + extent.length, self.description.words);
        Word { start, end, dotted: extent.dotted, ordinal }
    }

    /// Passes a version or a link. Whether the word is one.
    #[inline]
    fn passes(&mut self, word: &Word, is_nameless: bool) -> bool {
        if word.before(self.text) == Some(b'/')
            && self.text.get(word.start).is_some_and(u8::is_ascii_digit)
        {
            // Versions are half of the words in a browser's User-Agent.
            self.description.words += 1;
            self.at = word.end;
            true
        } else if self.begins_link(word) {
            self.description.note_link(word, self.text, is_nameless);
            self.at = end_of_link(self.text, word.end);
            true
        } else {
            false
        }
    }

    #[inline]
    fn begins_link(&self, word: &Word) -> bool {
        let bytes = word.bytes(self.text);
        match (self.text.get(word.end), bytes) {
            (Some(b':'), _) => {
                let rest = self.text.get(word.end + 1..).unwrap_or_default();
                rest.starts_with(b"//") || bytes.eq_ignore_ascii_case(b"mailto")
            }
            (_, [b'w' | b'W', b'w' | b'W', b'w' | b'W', b'.', ..]) => true,
            _ => false,
        }
    }

    /// Whether a name may stand at the place of this word or phrase.
    #[inline]
    fn is_name_place(&self, name: &Word) -> bool {
        let in_address = matches!(name.before(self.text), Some(b'@' | b'=' | b'?' | b'&' | b'#'))
            && name.is_joined(self.text)
            || name.after(self.text) == Some(b'@');
        !in_address && !name.is_compared(self.text) && !name.is_part(self.text)
    }

    /// Whether a name of the site's groups is the client's own. In a browser's User-Agent it must
    /// stand before a version, because a phone can have any name.
    fn is_own_name(&self, word: &Word) -> bool {
        !self.description.is_browser_form()
            || word.after(self.text) == Some(b'/')
            || self.description.is_behind_compatible(word)
    }
}
