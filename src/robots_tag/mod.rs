//! Robots tags: what a response lets crawlers do with it (draft-illyes-repext-03, "the draft"
//! below; § are its sections).
//!
//! ```
//! use beadle::{product_token::ProductToken, robots_tag};
//!
//! let (origin, findings) = robots_tag::read(&[b"*;nosnippet, ExampleBot;noindex"]);
//! assert!(findings.is_empty());
//! let example_bot = ProductToken::new("examplebot");
//! assert_eq!(origin.rules_for(example_bot.as_ref()), ["noindex", "nosnippet"]);
//! assert_eq!(origin.rules_for(None), ["nosnippet"]);
//!
//! let (older, _) = robots_tag::read_legacy(&[b"max-snippet:20, examplebot: noarchive"]);
//! let both = origin.union(&older);
//! assert_eq!(
//!     both.to_field().as_deref(),
//!     Some("*;max-snippet=20;nosnippet, ExampleBot;max-snippet=20;noarchive;noindex;nosnippet")
//! );
//! assert_eq!(both.to_legacy(), ["max-snippet:20, nosnippet", "ExampleBot: noarchive, noindex"]);
//! ```
//!
//! A [`RobotsTag`] is a set of [`Rule`]s by [`Scope`]: for all crawlers (`*`) and for single product
//! tokens. All rules restrict and nothing lifts a restriction (§3.1.1, §3.1.2), so two tags are
//! combined by union, and the order of what they say never matters.
//!
//! # Syntax of `Robots-Tag` (§3.1.1)
//!
//! ```text
//! field  = [ member *( OWS "," OWS member ) ]     a List (RFC 9651 §3.1), lines joined with ", "
//! member = ( token / string ) *( ";" *SP rule )   a product token or "*"; its rules are Parameters
//! rule   = key [ "=" item ]                       noindex, max-snippet=20, unavailable_after="…"
//! ```
//!
//! - One octet that is no structured field voids the whole field for a crawler, all its lines: an
//!   upper-case key, a comma or semicolon at the end, a name that begins with a digit, `-` or `_` and
//!   is not quoted. So [`read`] tells what a crawler gets to know, and [`read_leniently`] what an
//!   origin's single line was meant to say, before both are written anew.
//! - The draft cites RFC 8941; what RFC 9651 adds to it (`@1`, `%"a"`) is read as a value, not as an
//!   error. No rule that is known has such a value.
//! - Names compare whole and without case. `noindex, nofollow` is valid and names two crawlers, which
//!   is reported. A member that is an Inner List, a number or no product token restricts nobody.
//! - `key` alone and `key=?1` set a rule, `key=?0` says nothing. Of a key that stands twice in one
//!   member the last counts (RFC 9651 §4.2.3.2); in two members both count.
//! - Values of known rules are compared without case (§3.1.3); rule names are keys, in lower case.
//!   Unknown rules are kept with any value.
//!
//! # What a crawler follows
//!
//! The union of the rules of `*` and of all members that name it (§3.1.1, "MUST apply the union"):
//! [`RobotsTag::restrictions`]. `none` is `noindex` and `nofollow`; `all`, `index` and `follow`
//! say nothing. Of one name the strictest value stands: the smaller number (`-1` is no limit) of
//! `max-snippet` and `max-video-preview`, the first of `none`, `standard`, `large` of
//! `max-image-preview`. Values without an order (dates, unknown rules) stand side by side. A rule
//! that takes no value is ignored where it has one (`noindex=yes`; the draft is silent), and sent on.
//!
//! # Writing
//!
//! [`RobotsTag::to_field`] writes `*` first, then tokens sorted, rules sorted, quoted names where
//! no token can hold them. The draft has two texts of 2026 that differ in whether a crawler that
//! is named follows `*`; so each token gets the rules of `*` as well, and both readings agree.
//! [`RobotsTag::to_legacy`] writes the older field, a line for each scope;
//! [`RobotsTag::unsayable_in_legacy`] names what that has no syntax for: an unknown rule with a
//! value, some dates, and a crawler called like a rule. The structured field can say every rule
//! that can be made. Read again, both are the same tag.
//!
//! # Syntax of `X-Robots-Tag`
//!
//! It has no grammar (§5.3 deprecates the name; parsers SHOULD go on reading it). A line is read as
//! parts between commas, each `rule`, `rule: value` or `name: rule`:
//!
//! - What stands before a colon is a rule if it is one that takes a value (`max-snippet`,
//!   `max-image-preview`, `max-video-preview`, `unavailable_after`), else a crawler's name, for whom
//!   everything up to the next name or the end of the line is.
//! - A part behind `unavailable_after` that begins with a digit and has no colon but in a time
//!   belongs to the date, which may hold commas.
//! - Rules in any case; what is not understood is left out alone. Each line stands for itself.
//!
//! # Syntax in a document (§4)
//!
//! `<meta name="robots" content="noindex">`, or the name of a crawler: the content is a line of the
//! older syntax without names. The elements of the head count ([`read_html`]).
//!
//! # Limits
//!
//! | what | limit | beyond it |
//! |---|---|---|
//! | `Robots-Tag` read | [`MAX_BYTES`], 8 KiB of the combined field (§3.1.1) | the member that it cuts is ignored, a member being whole when a comma or the end follows |
//! | `Robots-Tag` written | the same | rules are left out from the end, what the caller wants kept last |
//! | findings of one reading | 32 | are not listed |
//! | a product token | [`ProductToken::MAX_LENGTH`], 128 octets | is none |
//! | an Integer | 15 digits (RFC 9651 §3.3.1) | voids the field |
//!
//! Of a document [`MAX_DOCUMENT_BYTES`] (1 MiB) and [`MAX_METAS`] (64) elements are read.
//! `X-Robots-Tag` has no limit here. All work is linear in the octets but for sorting.
//!
//! A document is read for the tools alone: on the request path, bodies pass unread.
//!
//! May use: diagnostic, escape, product_token, sfv, html5gum. Must not know: policy, requests,
//! crawlers, HTTP messages beyond the values of these two fields and a document's head.

mod head;
mod html;
mod known;
#[cfg(test)]
mod laws;
mod legacy;
mod lenient;
mod lint;
mod parse;
mod rules;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Borrow;

use crate::product_token::ProductToken;

pub use html::{Document, DocumentReader, MAX_DOCUMENT_BYTES, MAX_METAS, Meta, read_html};
pub use known::{KnownRule, ValueKind, known_rules};
pub use legacy::{read_legacy, read_legacy_leniently};
pub use lenient::{LineReading, read_leniently};
pub use parse::read;
pub use rules::{InvalidRule, Rule, Value};
pub use write::Field;

/// The most octets of a `Robots-Tag` field that a crawler has to read (§3.1.1): what is behind
/// them may be lost, so no field is written longer than this.
pub const MAX_BYTES: usize = 8192;

/// Whom rules are for. `*` comes before every token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `*`: all crawlers, those with rules of their own included (§3.1.1).
    Any,
    /// The crawler of this product token.
    Token(ProductToken),
}

/// The restrictions of a response, by scope.
///
/// Always in one normal form, so that two tags are equal exactly when they tell every crawler the
/// same: scopes sorted (`*` first), rules sorted, a token has only the rules that `*` doesn't
/// say already, and no scope is without a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RobotsTag {
    scopes: Vec<(Scope, Vec<Rule>)>,
}

impl RobotsTag {
    /// The tag that restricts nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for a scope. `none` is added as `noindex` and `nofollow`; `all`, `index` and
    /// `follow` add nothing.
    pub fn add(&mut self, scope: Scope, rule: Rule) {
        let mut scopes = std::mem::take(&mut self.scopes);
        scopes.push((scope, rule.restrictions().collect()));
        *self = Self::of_members(scopes);
    }

    /// The tag of any scopes and rules in any order.
    fn of_members(mut scopes: Vec<(Scope, Vec<Rule>)>) -> Self {
        scopes.sort_by(|(a, _), (b, _)| a.cmp(b));
        scopes.dedup_by(|(later, rules), (earlier, all)| {
            let same = later == earlier;
            if same {
                all.append(rules);
                // One spelling of a name, whichever came first: a union has one form in writing.
                if let (Scope::Token(one), Scope::Token(other)) = (&*later, &mut *earlier)
                    && one.as_str() < other.as_str()
                {
                    *other = one.clone();
                }
            }
            same
        });
        for (_, rules) in &mut scopes {
            normalise(rules);
        }
        if let [(Scope::Any, any), tokens @ ..] = scopes.as_mut_slice() {
            for (_, rules) in tokens {
                rules.retain(|rule| !is_said(any, rule));
            }
        }
        scopes.retain(|(_, rules)| !rules.is_empty());
        Self { scopes }
    }

    /// The same with every rule as restrictions: `none` as two, what permits left out.
    fn restricting(mut self) -> Self {
        let permits = |rule: &Rule| matches!(rule.name(), "none" | "all" | "index" | "follow");
        if !self.scopes.iter().any(|(_, rules)| rules.iter().any(permits)) {
            return self;
        }
        for (_, rules) in &mut self.scopes {
            *rules = std::mem::take(rules).into_iter().flat_map(Rule::restrictions).collect();
        }
        Self::of_members(self.scopes)
    }

    /// Whether nobody is restricted.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// The scopes that have rules, `*` first, then by token; each with its rules sorted. What `*`
    /// says is not repeated with the tokens.
    pub fn scopes(&self) -> impl Iterator<Item = (&Scope, &[Rule])> {
        self.scopes.iter().map(|(scope, rules)| (scope, rules.as_slice()))
    }

    /// Everything that both say: commutative, associative and idempotent. Of a name that they
    /// spell in different cases, the spelling that sorts first is kept.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        self.clone().merge(other.clone())
    }

    /// [`Self::union`] of values that are no longer needed.
    #[must_use]
    pub fn merge(mut self, mut other: Self) -> Self {
        if other.is_empty() {
            return self;
        }
        if self.is_empty() {
            return other;
        }
        self.scopes.append(&mut other.scopes);
        Self::of_members(self.scopes)
    }

    /// The rules that the crawler of `token` has to follow, sorted: those of `*` and its own
    /// (§3.1.1: "MUST apply the union of all restrictive rules"). `None` asks for a crawler that
    /// isn't named. Names compare whole and without case.
    pub fn restrictions(&self, token: Option<&ProductToken>) -> Vec<&Rule> {
        let any = self.rules_of(&Scope::Any);
        let own = token.map_or(&[][..], |token| {
            let at = self.scopes.binary_search_by(|(scope, _)| match scope {
                Scope::Any => std::cmp::Ordering::Less,
                Scope::Token(other) => other.cmp(token),
            });
            at.ok().and_then(|at| self.scopes.get(at)).map_or(&[], |(_, rules)| rules)
        });
        let mut all: Vec<&Rule> = any.iter().chain(own).collect();
        if !own.is_empty() {
            normalise(&mut all);
        }
        all
    }

    /// [`Self::restrictions`] as sorted texts (`max-snippet=20`), without those that a crawler
    /// ignores ([`Rule::is_effective`]).
    pub fn rules_for(&self, token: Option<&ProductToken>) -> Vec<String> {
        let rules = self.restrictions(token);
        rules.into_iter().filter(|rule| rule.is_effective()).map(Rule::to_string).collect()
    }

    /// The rules that stand with this scope alone.
    fn rules_of(&self, scope: &Scope) -> &[Rule] {
        let at = self.scopes.binary_search_by(|(other, _)| other.cmp(scope));
        at.ok().and_then(|at| self.scopes.get(at)).map_or(&[], |(_, rules)| rules)
    }
}

/// What a response tells the crawler of `token` altogether, sorted: the union of `field`
/// (`Robots-Tag`) and of what stands in the older syntax (`X-Robots-Tag`, the document's head).
/// A rule is spelt as where it stands: `max-snippet=20` in `Robots-Tag`, else `max-snippet:20`.
pub fn effective(
    field: &RobotsTag,
    older: &[&RobotsTag],
    token: Option<&ProductToken>,
) -> Vec<String> {
    let said: Vec<&Rule> = field.restrictions(token);
    let all = older.iter().fold(field.clone(), |all, tag| all.union(tag));
    let rules = all.restrictions(token).into_iter().filter(|rule| rule.is_effective());
    let mut texts: Vec<String> = rules
        .map(
            |rule| if said.binary_search(&rule).is_ok() { rule.to_string() } else { rule.legacy() },
        )
        .collect();
    texts.sort_unstable();
    texts
}

/// Sorts rules, drops repetitions, and of those that have an order of strictness all but the
/// strictest.
fn normalise<R: Borrow<Rule> + Ord>(rules: &mut Vec<R>) {
    rules.sort_unstable();
    rules.dedup();
    if rules.windows(2).all(|pair| name(&pair[0]) != name(&pair[1])) {
        return;
    }
    let mut kept: Vec<R> = Vec::with_capacity(rules.len());
    let mut rest = std::mem::take(rules).into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut run = vec![first];
        while let Some(next) = rest.next_if(|next| name(next) == name(&run[0])) {
            run.push(next);
        }
        let strictest = run.iter().filter_map(|rule| rule.borrow().rank()).min();
        kept.extend(run.into_iter().filter(|rule| {
            let rank = rule.borrow().rank();
            rank.is_none() || rank == strictest
        }));
    }
    *rules = kept;
}

/// Whether sorted rules say this one or, in the order of its name, a stricter one.
fn is_said(rules: &[Rule], rule: &Rule) -> bool {
    if rules.binary_search(rule).is_ok() {
        return true;
    }
    let Some(rank) = rule.rank() else { return false };
    let from = rules.partition_point(|other| other.name() < rule.name());
    let same_name = rules.iter().skip(from).take_while(|other| other.name() == rule.name());
    same_name.filter_map(Rule::rank).any(|other| other < rank)
}

fn name<R: Borrow<Rule>>(rule: &R) -> &str {
    rule.borrow().name()
}
