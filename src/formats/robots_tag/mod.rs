//! Robots tags: the rules of a response for crawlers (draft-illyes-repext-03, "the draft" below; §
//! are its sections).
//!
//! ```
//! use beadle::{base::product_token::ProductToken, formats::robots_tag};
//!
//! let (origin, findings) = robots_tag::read(&[b"*;nosnippet, ExampleBot;noindex"]);
//! assert!(findings.is_empty());
//! let example_bot = ProductToken::new("examplebot");
//! assert_eq!(robots_tag::effective(&origin, &[], example_bot.as_ref()), ["noindex", "nosnippet"]);
//! assert_eq!(robots_tag::effective(&origin, &[], None), ["nosnippet"]);
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
//! tokens. All rules restrict and nothing lifts a restriction (§3.1.1, §3.1.2). So two tags are
//! combined by union, and the order of rules never matters.
//!
//! # Syntax of `Robots-Tag` (§3.1.1)
//!
//! ```text
//! field  = [ member *( OWS "," OWS member ) ]     a List (RFC 9651 §3.1), lines joined with ", "
//! member = ( token / string ) *( ";" *SP rule )   a product token or "*"; its rules are Parameters
//! rule   = key [ "=" item ]                       noindex, max-snippet=20, unavailable_after="…"
//! ```
//!
//! - One invalid octet voids the whole field for a crawler, with all its lines: an upper-case key, a
//!   comma or semicolon at the end, an unquoted name that begins with a digit, `-` or `_`. [`read`]
//!   gives the rules that a crawler reads. [`read_leniently`] gives the rules that the author of an
//!   origin's line probably meant. Beadle writes both anew.
//! - The draft cites RFC 8941. The additions of RFC 9651 (`@1`, `%"a"`) are read as values, not as
//!   errors. No known rule has such a value.
//! - Names are compared whole and without case. `noindex, nofollow` is valid and names two crawlers,
//!   which is reported. A member that is an Inner List, a number or no product token restricts no
//!   crawler.
//! - `key` alone and `key=?1` set a rule, `key=?0` has no effect. Of a key that stands twice in one
//!   member the last counts (RFC 9651 §4.2.3.2); in two members both count.
//! - Values of known rules are compared without case (§3.1.3). Rule names are keys, in lower case.
//!   Unknown rules are kept with any value.
//!
//! # The rules that a crawler follows
//!
//! A crawler follows the union of the rules of `*` and of all members that name it (§3.1.1, "MUST
//! apply the union"): `RobotsTag::restrictions`. `none` is `noindex` and `nofollow`; `all`,
//! `index` and `follow` have no effect. Of several values for one name the strictest counts: the
//! smaller number for `max-snippet` and `max-video-preview` (`-1` is no limit), the first of `none`,
//! `standard`, `large` for `max-image-preview`. Values without an order (dates, unknown rules) all
//! count. A rule that takes no value but has one (`noindex=yes`; the draft is silent) is ignored, and
//! sent on.
//!
//! # Writing
//!
//! [`RobotsTag::to_field`] writes `*` first, then tokens sorted, with rules sorted. Names that are no
//! Token are quoted. The draft has two texts of 2026 that differ in whether a named crawler follows
//! `*`. So each token also gets the rules of `*`, and both readings agree. [`RobotsTag::to_legacy`]
//! writes the older field, one line for each scope. [`RobotsTag::unsayable_in_legacy`] lists the
//! rules that it can't express: an unknown rule with a value, some dates, and the rules for a crawler
//! named like a rule. The structured field can express every rule. Both read back as the same tag.
//!
//! # Syntax of `X-Robots-Tag`
//!
//! It has no grammar (§5.3 deprecates the name; parsers SHOULD go on reading it). A line is read as
//! parts between commas, each `rule`, `rule: value` or `name: rule`:
//!
//! - The word before a colon is a rule if it is one that takes a value (`max-snippet`,
//!   `max-image-preview`, `max-video-preview`, `unavailable_after`). Any other word is a crawler's
//!   name, and the rules up to the next name or the end of the line are for that crawler.
//! - A part after `unavailable_after` belongs to the date, which may contain commas, if the part
//!   begins with a digit and has colons in times only.
//! - Rules may be in any case. A part that can't be understood is left out, and the rest counts. Each
//!   line stands for itself.
//!
//! # Syntax in a document (§4)
//!
//! `<meta name="robots" content="noindex">`, or the name of a crawler. The content is a line of the
//! older syntax without names. The elements of the head count ([`read_html`]).
//!
//! # Limits
//!
//! | what | limit | beyond it |
//! |---|---|---|
//! | `Robots-Tag` read | [`MAX_BYTES`], 8 KiB of the combined field (§3.1.1) | the member that the limit cuts is ignored; a whole member is followed by a comma or the end |
//! | `Robots-Tag` written | [`MAX_BYTES`] | rules are left out from the end, those that the caller keeps last |
//! | findings about one field | 32 | not listed |
//! | a product token | `ProductToken::MAX_LENGTH`, 128 octets | is no product token |
//! | an Integer | 15 digits (RFC 9651 §3.3.1) | voids the field |
//! | a document | [`MAX_DOCUMENT_BYTES`], 1 MiB, and [`MAX_METAS`], 64 elements | ignored |
//!
//! `X-Robots-Tag` has no limit here. All work is linear in the octets, except for sorting. Only tools
//! read documents: on the request path, bodies pass unread.
//!
//! May use: `diagnostic`, `escape`, `product_token`, `text`, `sfv`, `html5gum`. Must not know: policies,
//! requests, crawlers, HTTP messages beyond the values of these two fields and a document's head.

mod emit; // The tag as text.
mod findings; // The findings about a tag.
mod head; // The meta elements of a document, in and outside its head.
mod html; // The rules in a document.
mod known_rules; // The documented rules.
mod legacy; // The older field, line by line.
mod origin_line; // A line of an origin, read leniently.
mod parse; // The strict parser.
mod rule; // One rule.
mod tag; // The rules of a response by scope.

#[cfg(test)]
mod tests;

pub use emit::Field;
pub use html::{Document, DocumentReader, MAX_DOCUMENT_BYTES, MAX_METAS, Meta, read_html};
pub use known_rules::{KnownRule, ValueKind, known_rules};
pub use legacy::read_legacy;
pub use origin_line::{LineReading, read_legacy_leniently, read_leniently};
pub use parse::read;
pub use rule::{InvalidRule, Rule, Value};
pub use tag::{MAX_BYTES, RobotsTag, Scope, effective};
