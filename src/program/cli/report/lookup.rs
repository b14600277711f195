//! The names and times that the options mean.

use jiff::Timestamp;

use crate::{
    program::console::{Error, database},
    records::{record::Violation, violations::Store},
    review::report::terms::{Names, Refusal, time},
    rules::policy::Policy,
};

pub(in crate::program::cli) fn database(policy: &Policy) -> Result<Store, Error> {
    let location = database::location(policy)?.ok_or_else(|| {
        Error::Refused("the policy names no database (set 'violations.database')".to_owned())
    })?;
    database::open(&location)
}

/// The product token of one crawler in records and counts.
pub(in crate::program::cli) fn crawler(
    policy: &Policy,
    store: &Store,
    text: &str,
) -> Result<String, Error> {
    if text == Violation::NAMELESS {
        let message =
            "clients without a name are no crawler, and have no operator (name a crawler)";
        return Err(Error::Refused(message.to_owned()));
    }
    Ok(Names::from(policy).counted_token(store, text)?)
}

/// The site that records name.
pub(in crate::program::cli) fn site(
    policy: &Policy,
    store: &Store,
    text: &str,
) -> Result<String, Refusal> {
    Names::from(policy).site(store, text)
}

/// The start and the end of a span.
pub(in crate::program::cli) fn span(
    since: &str,
    until: Option<&str>,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), Error> {
    let (since, until) = (time(since, now)?, until.map_or(Ok(now), |text| time(text, now))?);
    if since < until {
        return Ok((since, until));
    }
    Err(Error::Refused(format!(
        "the span is empty: --until {until:.0} is not after --since {since:.0} (name a later end)"
    )))
}
