//! Rules of other programs as a policy, with a report of what could not be carried over.
//!
//! Bytes in one of the `Kind`s go in. An `Imported` comes out: the text of a policy that passes
//! `beadle check` without a warning, and a `Loss` for each part that means something else there, or
//! nothing. Nothing is guessed: a regular expression is carried over only if it is a list of product
//! tokens or of path patterns.
//!
//! May use: robots, crawlers, policy, diagnostic, escape, product_token, text. Must not know: files,
//! clocks, the network, the place that a text goes to.

mod anubis; // bot policies of Anubis, YAML or JSON
mod apache; // SetEnvIf, BrowserMatch and RewriteCond of Apache
mod draft; // the groups as the text of a policy, checked; the formats
mod nginx; // map and if of nginx
mod regex; // a regular expression as texts with stars
mod robots_txt; // a robots.txt, robots.json of ai.robots.txt
mod sequence; // rules of which the first that matches decides -> groups

#[cfg(test)]
mod tests;

pub(crate) use self::draft::{Imported, Kind, Place, guess};

/// Reads foreign rules as a policy for a site at `place`.
pub(crate) fn import(kind: Kind, bytes: &[u8], place: &Place) -> Result<Imported, String> {
    let draft = match kind {
        Kind::RobotsTxt => robots_txt::read(bytes),
        Kind::AiRobotsJson => robots_txt::read_names(bytes)?,
        Kind::Anubis => anubis::read(bytes)?,
        Kind::NginxMap => nginx::read(bytes)?,
        Kind::Apache => apache::read(bytes)?,
    };
    Ok(draft.finish(kind, place))
}
