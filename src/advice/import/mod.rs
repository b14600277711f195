//! Rules of other programs as a policy, with a report of what could not be carried over.
//!
//! Bytes in one of the `Kind`s go in. An `Imported` comes out: the text of a policy that passes
//! `beadle check` without a warning, and a `Loss` for each part that means something else there, or
//! nothing. Nothing is guessed: a regular expression is carried over only if it is a list of product
//! tokens or of path patterns.
//!
//! ```text
//! robots_txt      a robots.txt, also a managed one of Cloudflare
//! ai_robots_json  robots.json of ai.robots.txt
//! anubis          bot policies of Anubis, YAML or JSON
//! nginx           map and if of nginx
//! apache          SetEnvIf, BrowserMatch and RewriteCond of Apache
//! regex           a regular expression as texts with stars
//! clients, paths  such a text as product tokens, or as path patterns
//! sequence        rules of which the first that matches decides -> groups
//! draft           the groups as the text of a policy, checked; the parts that are not carried over
//! ```
//!
//! May use: robots, crawlers, policy, diagnostic, escape, product_token, text. Must not know: files,
//! clocks, the network, the place that a text goes to.

mod ai_robots_json; // robots.json of ai.robots.txt
mod anubis; // bot policies of Anubis
mod apache; // lists of Apache
mod draft; // the policy that is written
mod kind; // the formats
mod nginx; // lists of nginx
mod paths; // texts of paths -> patterns
mod product_tokens; // texts of User-Agents -> product tokens
mod regex; // regular expressions
mod robots_txt; // robots.txt
mod sequence; // rules of which the first decides

#[cfg(test)]
mod tests;

pub(crate) use self::{
    draft::{Imported, Place},
    kind::{Kind, guess},
};

/// Reads foreign rules as a policy for a site at `place`.
pub(crate) fn import(kind: Kind, bytes: &[u8], place: &Place) -> Result<Imported, String> {
    let draft = match kind {
        Kind::RobotsTxt => robots_txt::read(bytes),
        Kind::AiRobotsJson => ai_robots_json::read(bytes)?,
        Kind::Anubis => anubis::read(bytes)?,
        Kind::NginxMap => nginx::read(bytes)?,
        Kind::Apache => apache::read(bytes)?,
    };
    Ok(draft.finish(kind, place))
}
