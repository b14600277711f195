//! The trial of a policy: its own tests, each judged as a request would be.
//!
//! ```text
//! policy ─▶ Stage: the policy in force long after a change ─▶ run: each test explained ─▶ Trial
//!                                                              findings: each failure as a finding
//! ```
//! A trial fetches, reads and stores nothing but the saved copies of evidence, and those only for a
//! test with an address. So the same policy has the same outcomes everywhere:
//!
//! - Without `after`, robots.txt is in force for longer than any crawler remembers.
//! - With `after`, it came into force that long ago. Before, the site had a file without rules, and
//!   no crawler is known to have read robots.txt since. So a crawler may still use that file.
//! - The file of an origin is unknown: the policy's own rules count alone.
//! - On the ladder, every crawler is on the lowest rung.
//!
//! May use: explanation, gate, publication, enforce, policy, robots, diagnostic, escape, record.
//! Must not know: proxy, admin, desk, api, cli, any clock, any socket.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    formats::robots::{self, OriginFile},
    records::record::Error,
    review::explanation::{self, Explanation, Fault, Question, Rungs},
    rules::{
        enforce::{History, Moment, Rulebook},
        policy::{self, Client, Policy, Source, Test},
    },
    serving::gate::Gate,
    state::publication::{Handles, Memory, Snapshot},
};

pub(crate) use self::{
    failures::findings,
    outcome::{Found, Trial},
};

mod failures; // failures as findings
mod outcome; // one test, and what was found

#[cfg(test)]
mod tests;

/// The outcomes of all tests of a policy, in its order.
pub(crate) fn run(policy: &Policy) -> Result<Vec<Trial>, Error> {
    if policy.tests.is_empty() {
        return Ok(Vec::new());
    }
    let stage = Stage::of(policy)?;
    Ok(policy.tests.iter().map(|test| Trial::of(test, stage.explain(test))).collect())
}

/// The age of the rules in a test that names none: no crawler uses anything older.
const SETTLED: Duration = policy::MAX_CACHE_WINDOW.saturating_mul(2);

/// How long the file without rules was in force before.
const BEFORE: Duration = policy::MAX_CACHE_WINDOW.saturating_mul(2);

/// The time at which the rules came into force. Any time would do.
const CHANGE: Timestamp = Timestamp::constant(946_684_800, 0);

struct Stage {
    gate: Gate,
    published: Arc<Snapshot>,
}

impl Stage {
    fn of(policy: &Policy) -> Result<Self, Error> {
        let has_address = policy.tests.iter().any(|test| matches!(test.client, Client::Address(_)));
        let memory = Memory::default();
        let handles = Handles::imagined(policy, rulebook(policy), &memory, has_address, CHANGE)?;
        let gate = Gate::new(&handles, policy);
        Ok(Self { published: gate.published(), gate })
    }

    fn explain(&self, test: &Test) -> Result<Explanation, Fault> {
        let (address, standing) = match test.client {
            Client::Anonymous => (None, None),
            Client::Address(address) => (Some(address), None),
            Client::Standing(outcome) => (None, Some(outcome)),
        };
        let question = Question {
            target: &test.target,
            user_agent: &test.user_agent,
            address,
            standing,
            site: test.site.as_deref(),
        };
        let moment = Moment::at(after(CHANGE, test.after.unwrap_or(SETTLED)));
        explanation::explain(&self.gate, &self.published, &question, moment, Rungs::AtStart)
    }
}

/// The policy in force since [`CHANGE`], after a time without rules.
fn rulebook(policy: &Policy) -> Rulebook {
    let mut bare = policy.clone();
    for site in &mut bare.sites {
        let own = &mut site.robots_txt;
        own.source = Source::Policy;
        own.file = robots::RobotsTxt::default();
        own.places.clear();
        own.overriding.clear();
    }
    let before = Rulebook::compile(&bare, CHANGE - BEFORE, None);
    let names = policy.sites.iter().map(|site| (site.name().to_owned(), OriginFile::Absent));
    let origins: HashMap<_, _> = names.collect();
    let mut history = History { origins, ..History::after(Some(&before), CHANGE) };
    Rulebook::compile_with(policy, &mut history)
}

fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(time)
}
