//! What a form asks for, as a change of the policy file.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    advice::edit,
    base::escape::hex,
    desk::{admin::Live, pages::conditions::condition},
    review::proposal::{self, Act, Current, Declined, Proposal, Request},
    rules::policy::{self, Mode, Policy},
    state::publication::{PolicyRead, read_policy},
};

pub(super) const SECTIONS: [&str; 4] = ["robots_txt", "robots_tag", "enforcement", "preferences"];

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::desk::pages) struct Wanted {
    pub(super) site: String,
    pub(super) crawler: String,
    /// A mode, `limit`, `quiet` or `nothing`.
    pub(super) act: String,
    pub(super) requests: String,
    pub(super) path: String,
    /// How long it lasts from the first look on.
    #[serde(rename = "for")]
    pub(super) within: String,
    pub(super) until: String,
    /// The section whose text is changed, in place of a crawler.
    pub(super) section: String,
    pub(super) text: String,
    /// The hash of the file that the page showed.
    pub(super) file: String,
}

pub(super) struct Prepared {
    pub(super) before: Vec<u8>,
    pub(super) proposal: Proposal,
    pub(super) act: Option<Act>,
}

fn senseless(why: &str) -> Declined {
    Declined::Senseless(why.to_owned())
}

impl Wanted {
    /// Turns a duration from now into an end, so that a second look is at the same change.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let within = policy::duration(self.within.trim());
        let within = within.and_then(|within| SignedDuration::try_from(within).ok());
        let end = within.and_then(|within| now.checked_add(within).ok());
        if let Some(end) = end.and_then(|end| Timestamp::from_second(end.as_second()).ok()) {
            self.until = end.to_string();
            self.within.clear();
        }
    }

    /// The change of the file as it is now. Its policy is in force in all but these sections.
    pub(super) fn prepare(&self, live: &Live) -> Result<Prepared, Declined> {
        let name = live.policy_file.display().to_string();
        let read = read_file(&live.policy_file)?;
        let Some(policy) = &read.policy else { return Err(Declined::Refused(read.findings)) };
        if !self.file.is_empty() && self.file != hash(&read.bytes) {
            return Err(senseless("The policy file changed meanwhile. Look at the change again."));
        }
        let current = Current { file: &live.policy_file, name: &name, bytes: &read.bytes, policy };
        let act = if self.section.is_empty() { Some(self.act()?) } else { None };
        let proposal = match &act {
            Some(act) => {
                let request = Request { site: &self.site, name: &self.crawler, act: act.clone() };
                proposal::propose(current, &request)?
            }
            None => proposal::of_text(current, self.replaced(&read.bytes, policy)?)?,
        };
        let [before, after] =
            [&read.bytes, &proposal.after].map(|one| String::from_utf8_lossy(one));
        if !edit::is_same_beside(&before, &after, &SECTIONS) {
            return Err(senseless("The desk changes no more than these sections of a site."));
        }
        let in_force = live.handles.published.load();
        let findings =
            policy::restart_findings(&in_force.policy.policy, &proposal.policy, &proposal.after);
        if !findings.is_empty() {
            return Err(Declined::Refused(findings));
        }
        Ok(Prepared { before: read.bytes, proposal, act })
    }

    fn act(&self) -> Result<Act, Declined> {
        if self.crawler.trim().is_empty() {
            return Err(senseless("The form names no crawler."));
        }
        let until = condition(&self.until).map(|until| until.parse()).transpose();
        let until = until.map_err(|_| senseless("The end is no time."))?;
        let path = condition(&self.path);
        match self.act.as_str() {
            "nothing" => Ok(Act::Nothing),
            "quiet" => Ok(Act::Quiet { until }),
            "limit" => match condition(&self.requests) {
                None => Err(senseless(
                    "A limit needs a number of requests in a time, for example 60/1m.",
                )),
                Some(requests) => {
                    let paths = path.into_iter().collect();
                    Ok(Act::Limit { requests, burst: None, paths, until })
                }
            },
            word => match Mode::from_word(word) {
                Some(mode) => Ok(Act::Mode { mode, until, path }),
                None => Err(senseless(
                    "The form names no action: off, log, throttle, block, limit, quiet.",
                )),
            },
        }
    }

    fn replaced(&self, bytes: &[u8], policy: &Policy) -> Result<Vec<u8>, Declined> {
        let text = String::from_utf8_lossy(bytes);
        let lines = section_lines(&text, policy, &self.site, &self.section)?;
        // A browser sends both characters, whatever the file has.
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut new: Vec<&str> = self.text.lines().collect();
        while new.last().is_some_and(|line| line.trim().is_empty()) {
            new.pop();
        }
        let new: String = new.iter().map(|line| format!("{line}{end}")).collect();
        let before = text.get(..lines.start).unwrap_or_default();
        let open = if before.is_empty() || before.ends_with('\n') { "" } else { end };
        Ok([before, open, &new, text.get(lines.end..).unwrap_or_default()].concat().into_bytes())
    }
}

pub(super) fn section_lines(
    text: &str,
    policy: &Policy,
    site: &str,
    section: &str,
) -> Result<std::ops::Range<usize>, Declined> {
    if !SECTIONS.contains(&section) {
        return Err(senseless(
            "The desk changes robots_txt, robots_tag, enforcement and preferences.",
        ));
    }
    let site = policy.sites.iter().find(|one| one.name() == site);
    let site = site.ok_or_else(|| senseless("The policy has no such site."))?;
    edit::section(text, (site.at.line, site.at.column), section)
        .map_err(|refusal| Declined::Senseless(format!("Line {}: {}.", refusal.line, refusal.why)))
}

/// The policy file, if it is a file of the operator.
pub(super) fn read_file(file: &Path) -> Result<PolicyRead, Declined> {
    let read = read_policy(file);
    let read =
        read.map_err(|error| Declined::Senseless(format!("The file can't be read: {error}.")))?;
    // A copy of a policy on a server has a line more.
    match std::fs::read(file) {
        Ok(bytes) if bytes == read.bytes => Ok(read),
        _ => Err(senseless("The policy comes from a server: change it there.")),
    }
}

/// The name of the bytes of a file.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).iter().take(12))
}
