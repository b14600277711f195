//! The scan of a User-Agent for names: one pass over its bytes, whole words only.
//!
//! Because `-` and `_` belong to a word, the longest name wins by itself: `Googlebot-Image` is no
//! `Googlebot`. The grammar of RFC 9110 §10.1.5 is not parsed: real crawlers stand in every place of
//! it, in unterminated and nested comments, behind quotes and bytes that are no UTF-8.
//!
//! Not names, although the same letters: what stands in a link or a mail address, behind `/` (a
//! version), `@`, `=`, `?`, `&`, `#`, and what is only compared with (`like Googlebot`).

use super::{
    catalogue::Catalogue,
    claim::{Claim, Class, Name},
    lookup::{find, find_in_version},
    names::hash,
    self_named::SelfNamed,
    site_names::SiteNames,
    words::{Word, extent, next_start},
};

/// Looks for names in one value of the User-Agent field and adds them to the claim. Returns the
/// class of the client in case no name is found in any value.
#[inline]
pub(super) fn scan<'a>(
    catalogue: &'a Catalogue,
    site_names: &'a SiteNames,
    value: &'a [u8],
    claim: &mut Claim<'a>,
) -> Class {
    let text = value.get(..Catalogue::MAX_SCAN).unwrap_or(value);
    if text.len() < value.len() {
        claim.mark_truncated();
    }
    let mut scan = Scan { text, at: 0, previous: &[], self_named: SelfNamed::new(text) };
    let had_names = !claim.is_empty();
    while let Some(word) = scan.next_word() {
        let mut end = word.end;
        let bytes = word.bytes(text);
        let hash = hash(bytes);
        if word.before(text) == Some(b'/') {
            if let Some(number) = find_in_version(catalogue.names(), bytes)
                && let Some(crawler) = catalogue.at(number)
            {
                claim.add(Name::Known(crawler));
            }
        } else if word.may_have_version(text)
            || catalogue.names().may_know(bytes, hash)
            || site_names.names.may_know(bytes, hash)
        {
            // Nearly every word is nobody's name and has been seen off by now.
            if let Some((number, after)) = find(catalogue.names(), text, &word, hash) {
                if scan.is_name_place(&word) {
                    if let Some(crawler) = catalogue.at(number) {
                        claim.add(Name::Known(crawler));
                    }
                    end = after;
                }
            } else if let Some((number, after)) = find(&site_names.names, text, &word, hash)
                && scan.is_name_place(&word)
            {
                if let Some(token) = site_names.token(number).filter(|_| scan.is_own_name(&word)) {
                    claim.add(Name::Site(token));
                }
                end = after;
            }
            if claim.is_crowded() {
                break;
            }
        }
        scan.self_named.see(&word, text);
        scan.pass(&word, end);
    }
    if claim.is_empty() && !had_names {
        let (name, class) = scan.self_named.settle(text);
        if let Some(name) = name {
            claim.add(Name::Declared(name));
        }
        return class;
    }
    Class::None
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// The word before, empty where a link stood there.
    previous: &'a [u8],
    self_named: SelfNamed,
}

impl<'a> Scan<'a> {
    /// The next word that is neither a link nor part of one.
    #[inline]
    fn next_word(&mut self) -> Option<Word> {
        loop {
            let start = next_start(self.text, self.at)?;
            let (length, dotted) = extent(self.text.get(start..)?);
            let end = start + length;
            let word = Word { start, end, dotted, ordinal: self.self_named.words };
            if word.before(self.text) == Some(b'/')
                && self.text.get(start).is_some_and(u8::is_ascii_digit)
            {
                // A version is half of what a browser's User-Agent consists of.
                self.self_named.words += 1;
                self.pass(&word, end);
                continue;
            }
            if self.begins_link(&word) {
                self.self_named.see_link(&word, self.text);
                self.previous = &[];
                self.at = self.end_of_link(end);
                continue;
            }
            return Some(word);
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

    fn end_of_link(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let is_end = |b: &u8| b" \t;,)]>\"'".contains(b);
        rest.iter().position(is_end).map_or(self.text.len(), |length| from + length)
    }

    /// Whether a word stands where a name may stand.
    #[inline]
    fn is_name_place(&self, word: &Word) -> bool {
        let in_address = matches!(word.before(self.text), Some(b'@' | b'=' | b'?' | b'&' | b'#'))
            || word.after(self.text) == Some(b'@');
        !in_address && !self.is_compared()
    }

    /// Whether the word before says that what follows is somebody else's name.
    #[inline]
    fn is_compared(&self) -> bool {
        let previous = self.previous;
        match previous.len() {
            // `compatible with Googlebot`; but `compatible; Googlebot` is a name.
            4 => previous.eq_ignore_ascii_case(b"like") || previous.eq_ignore_ascii_case(b"with"),
            9 => previous.eq_ignore_ascii_case(b"following"),
            _ => false,
        }
    }

    /// Whether a word that only the site knows is the client's own name: in a browser's
    /// User-Agent it must stand before a version, because a phone may be called anything.
    fn is_own_name(&self, word: &Word) -> bool {
        !self.self_named.is_browser_form()
            || word.after(self.text) == Some(b'/')
            || self.self_named.is_behind_compatible(word)
    }

    #[inline]
    fn pass(&mut self, word: &Word, end: usize) {
        self.previous = word.bytes(self.text);
        self.at = end.max(word.end);
    }
}
