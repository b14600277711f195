//! What `serve` hands to the alerts: the state of the program, and the offenders of earlier runs.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    alerts::{Offender, State, Tally, Trouble},
    crawlers::Outcome,
    enforce::Action,
    metrics,
    policy::Policy,
    publication::Handles,
    violations::{Dimension, Health, Question, Store},
};

/// The state of the program.
pub(in crate::cli) fn state(handles: &Handles) -> State {
    let Handles { metrics, sink, refused, .. } = handles;
    let troubles =
        sink.destinations().into_iter().filter_map(|(destination, health)| match health {
            Health::Ok => None,
            Health::Degraded(reason) => {
                Some(Trouble { destination: destination.to_owned(), reason })
            }
        });
    let tallies = metrics.requests_of_crawlers().into_iter().map(|one| Tally {
        violations: if one.action == Action::Pass.as_str() { 0 } else { one.requests },
        is_impostor: one.standing == Outcome::Contradicted.as_str(),
        site: one.site,
        product_token: one.product_token,
        requests: one.requests,
    });
    State {
        refused: refused.load().as_deref().cloned(),
        quarantined: metrics.robots_in_quarantine(),
        open_breakers: metrics.open_breakers(),
        troubles: troubles.collect(),
        lost: sink.counts().dropped,
        tallies: tallies.collect(),
    }
}

/// The crawlers that violated the rules within the retention of records. Without a readable
/// database there are none: the sink names its failure.
pub(in crate::cli) fn known_offenders(policy: &Policy) -> BTreeSet<Offender> {
    let mut known = BTreeSet::new();
    let Some(database) = &policy.violations.database else { return known };
    let now = Timestamp::now();
    let question = Question {
        since: now.checked_sub(policy.violations.retention).unwrap_or(Timestamp::MIN),
        by: vec![Dimension::Site, Dimension::ProductToken, Dimension::Standing],
        only_violations: true,
        ..Question::default()
    };
    let counted = Store::open_read_only(database).and_then(|store| store.counted(&question));
    for one in counted.unwrap_or_default() {
        let [site, token, standing] = one.key.as_slice() else { continue };
        if *standing == Outcome::Contradicted.as_str() {
            continue;
        }
        let names: &[&str] = match token.as_str() {
            "" => &[metrics::NO_TOKEN],
            token if policy.catalogue.find(token).is_some() => &[token],
            // A name of a site's own groups keeps its name, all others share one.
            token => &[token, metrics::OTHER_TOKEN],
        };
        known.extend(names.iter().map(|name| Offender::new(site, name)));
    }
    known
}
