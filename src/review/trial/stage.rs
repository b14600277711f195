//! The policy as if it were served: the rules of the policy came into force at a known time.

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

/// The age of the rules in a test that names none: no crawler uses anything older.
const SETTLED: Duration = policy::MAX_CACHE_WINDOW.saturating_mul(2);

/// How long the file without rules was in force before.
const BEFORE: Duration = policy::MAX_CACHE_WINDOW.saturating_mul(2);

/// The time at which the rules came into force. Any time would do.
const CHANGE: Timestamp = Timestamp::constant(946_684_800, 0);

/// The policy as if it were served.
pub(super) struct Stage {
    gate: Gate,
    published: Arc<Snapshot>,
}

impl Stage {
    pub(super) fn of(policy: &Policy) -> Result<Self, Error> {
        let has_address = policy.tests.iter().any(|test| matches!(test.client, Client::Address(_)));
        let memory = Memory::default();
        let handles = Handles::imagined(policy, rulebook(policy), &memory, has_address, CHANGE)?;
        let gate = Gate::new(&handles, policy);
        Ok(Self { published: gate.published(), gate })
    }

    /// The decision about the request of a test.
    pub(super) fn explain(&self, test: &Test) -> Result<Explanation, Fault> {
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
