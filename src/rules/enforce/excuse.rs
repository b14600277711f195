//! The excuse of a client that may know an earlier edition.
//!
//! RFC 9309 §2.4 lets a crawler use what it fetched for 24 hours. If the client may know an edition
//! that allows the target, a request that the edition in force disallows is no violation.

use jiff::Timestamp;

use crate::formats::robots::{Files, Matcher, Rule, Scope};

use super::{edition_id::KnownEditions, past::Past, timeline::Timeline};

/// The reason why a disallowed request is no violation.
#[derive(Clone, Copy, Debug)]
pub enum Excuse<'t> {
    /// This edition allows it. It was in force before, or is in force at another node of the fleet.
    By(&'t Past),
    /// The client may know an edition that is no longer kept.
    Forgotten,
    /// This node hears nothing of the others. One of them may have an edition that allows it.
    Unheard,
}

impl Excuse<'_> {
    /// Whether it counts even where the edition in force applies at once (`grace: enforce`): the
    /// request may be allowed at another node now.
    pub(crate) fn is_of_now(self) -> bool {
        match self {
            Self::By(past) => past.is_in_force(),
            Self::Forgotten => false,
            Self::Unheard => true,
        }
    }
}

/// The past editions that may allow a target which the edition in force disallows.
#[derive(Clone, Copy, Debug)]
pub struct Doubt {
    scope: Scope,
    files: Files,
    /// The editions of `files` in which the crawler may be bound by another group.
    renamed: Files,
    /// Whether there may be editions that are not read yet.
    unread: bool,
}

impl Timeline {
    /// The past editions that may allow a target to a crawler with these names. `rule` of `scope`
    /// disallows it in the edition in force. Usually there are none, and so no [`Self::excuse`].
    pub(crate) fn doubt<'n>(
        &self,
        scope: Scope,
        rule: Option<&Rule>,
        names: impl Iterator<Item = &'n str>,
    ) -> Doubt {
        let renamed = self.common.renamed(names);
        let changed =
            rule.map_or_else(|| self.common.all(), |rule| self.common.in_doubt(scope, rule));
        Doubt { scope, files: changed | renamed, renamed, unread: self.unread.is_some() }
    }

    /// The newest edition that allows the target and that the client may know.
    ///
    /// `start` is the start of the window. `allows` judges the target by a past edition; its second
    /// argument is the group there, if already known. `known_editions` is called only where its
    /// result matters.
    pub(crate) fn excuse(
        &self,
        doubt: Doubt,
        start: Timestamp,
        allows: impl Fn(&Matcher, Option<Scope>) -> bool,
        known_editions: impl FnOnce() -> KnownEditions,
    ) -> Option<Excuse<'_>> {
        let known = |place: usize| {
            let is_renamed = doubt.renamed.contains(place);
            self.common.scope(doubt.scope, place).filter(|_| !is_renamed)
        };
        let in_doubt =
            doubt.files.places().filter_map(|place| Some((place, self.past.get(place)?)));
        let mut lenient = in_doubt
            .filter(|(place, past)| allows(past.matcher(), known(*place)))
            .map(|(_, past)| past)
            .peekable();
        let is_unread = self.is_unread(start);
        if lenient.peek().is_none() && !is_unread {
            return None;
        }
        // The first may be in force at another node. That is a better excuse than any past one.
        if let Some(past) = lenient.next_if(|past| past.is_in_force()) {
            return Some(Excuse::By(past));
        }
        let known = known_editions();
        let (named, since) = known.parts(start);
        let by = lenient.find(|past| past.until > since || past.is_one_of(named)).map(Excuse::By);
        // The client fetched an edition that is no longer kept. It may have allowed anything.
        let is_forgotten = || self.is_unread(since) || !named.iter().all(|id| self.keeps(*id));
        by.or_else(|| is_forgotten().then_some(Excuse::Forgotten))
    }
}

impl Doubt {
    /// Whether every past edition disallows the target for certain.
    pub(crate) const fn is_none(&self) -> bool {
        self.files.is_empty() && !self.unread
    }
}
