//! What the server hands to the alerts: its state, and the offenders of earlier runs; counts in memory for the
//! pages.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    base::metrics,
    outside::alerts::{self, Offender},
    program::console::database::location,
    records::{
        counts::{CountsInMemory, Dimension, Question},
        tally::{Claimant, PlaceKind},
        violations::Location,
    },
    rules::policy::Policy,
    state::publication::Publisher,
};

/// Sends alerts about the state of the server. `policy` is that of the start.
pub(super) fn watch_for_alerts(
    publisher: &Publisher,
    policy: Policy,
    counts: CountsInMemory,
) -> impl Future<Output = ()> + Send + use<> {
    let (receivers, handles) = (publisher.receivers(), publisher.handles());
    async move {
        let known = tokio::task::spawn_blocking(move || known_offenders(&policy, &counts)).await;
        // A query that panicked has no answer.
        let (relay, known) = (&handles.fellowship.alerts, known.unwrap_or_default());
        alerts::run(receivers, known, || handles.state(), relay, &handles.metrics).await;
    }
}

/// The crawlers that violated the rules within the retention of records. Without a readable
/// database there are none: the sink names its failure.
fn known_offenders(policy: &Policy, counts: &CountsInMemory) -> BTreeSet<Offender> {
    let mut known = BTreeSet::new();
    let Ok(Some(database)) = location(policy) else { return known };
    let now = Timestamp::now();
    let question = Question {
        since: now.checked_sub(policy.violations.retention).unwrap_or(Timestamp::MIN),
        by: vec![Dimension::Site, Dimension::ProductToken],
        claimant: Some(Claimant::Crawler),
        only_violations: true,
        ..Question::default()
    };
    let counted = database.open().and_then(|store| store.sharing(counts).counted(&question));
    for one in counted.unwrap_or_default() {
        let [site, token] = one.key.as_slice() else { continue };
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

/// Reads the counts of a database into memory. The pages name a failure.
pub(super) fn read_counts(database: &Location, counts: &CountsInMemory) {
    let Ok(store) = database.open() else { return };
    let (store, all) = (store.sharing(counts), Question::default());
    let _ = store.counted(&all);
    let _ = store.places(PlaceKind::Path, &all, 0);
}
