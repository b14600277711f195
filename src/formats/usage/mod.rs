//! Preferences about the use of content by AI and search: statement → value → text.
//!
//! ```
//! use beadle::formats::usage::{Carrier, Category, Preference};
//!
//! let said = Carrier::ContentUsage.read(b"search=y, train-ai=n;x=1, unknown=z");
//! assert_eq!(said.get(Category::TrainAi), Some(Preference::Disallow));
//! assert_eq!(Carrier::ContentUsage.write(&said).as_deref(), Some("train-ai=n, search=y"));
//! assert_eq!(Carrier::ContentSignal.write(&said).as_deref(), Some("ai-train=no, search=yes"));
//! ```
//!
//! A [`Statement`] gives each [`Category`] a [`Preference`] or none: then the preference is unknown.
//! [`Statement::combine`] joins several, and the stricter one wins for each category. The draft has
//! no hierarchy of categories and no default. A [`Carrier`] is a form in which statements travel:
//!
//! | carrier | form | defined by |
//! |---|---|---|
//! | `Content-Usage` | a Dictionary (RFC 9651): `train-ai=n, search=y` | draft-ietf-aipref-vocab (§ below) |
//! | `Content-Signal` | `ai-train=no, search=yes, ai-input=no` | draft-romm-aipref-contentsignals-00 |
//!
//! A value that can't be read states nothing; no value is an error (§6.5). A line of robots.txt may
//! have a path before the statement ([`split_path`]). [`Matcher::usage`](super::robots::Matcher::usage)
//! finds the lines that apply to a path.
//!
//! May use: text. Must not know: robots.txt, crawlers, policies.

mod statement; // categories with their preferences, and the forms of statements
#[cfg(test)]
mod tests;

pub use statement::{Carrier, Category, Preference, Statement, split_path};
