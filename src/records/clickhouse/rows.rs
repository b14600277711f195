//! Values as rows: a JSON object for each, on a line of its own.

use jiff::{Timestamp, tz::Offset};
use serde::Serialize;

use crate::{
    base::text::Text,
    records::{
        record::{Edition, Overflow, Violation},
        tally::{Hour, PeopleCount, PlaceCount, ReadState, ReferralCount, Rollup},
    },
};

use super::origin::Origin;

/// The columns of a record, in the order of its fields.
pub(super) const RECORD: &str = "day, sequence, schema, id, time, site, client_ip, method, host, \
    path, user_agent, product_token, product_tokens, operator, purpose, standing, evidence, verdict, \
    reason, action, status, robots_edition, robots_line, robots_directive, robots_pattern, \
    robots_group, robots_read_state, robots_read_edition, robots_read_at";

/// The bits of a sequence number below the time.
pub(super) const BELOW_TIME: u32 = 22;

/// The day of UTC as a number: 20261123. Times before 1970 are of its first day, and those beyond every
/// date of the last one.
pub(super) fn day(millisecond: i64) -> u32 {
    let time = Timestamp::from_millisecond(millisecond.max(0)).unwrap_or(Timestamp::MAX);
    let date = Offset::UTC.to_datetime(time).date();
    let [year, month, day] = [date.year(), date.month().into(), date.day().into()];
    u32::from(year.unsigned_abs()) * 10_000 + u32::from((month * 100 + day).unsigned_abs())
}

/// The sequence number of a record: its time, then what its id has behind the time. So the order by
/// sequence is the order of decisions, also within a millisecond of one node.
pub(super) fn sequence(violation: &Violation) -> u64 {
    let millisecond = violation.time.as_millisecond().max(0).unsigned_abs();
    let most = (1 << (u64::BITS - BELOW_TIME)) - 1;
    millisecond.min(most) << BELOW_TIME | behind_time(&violation.id)
}

/// The first 22 bits behind the time and the version of a UUIDv7 (RFC 9562 §5.7); of another id, a sum
/// of its bytes.
fn behind_time(id: &str) -> u64 {
    let digits = |range| id.get(range).and_then(|part| u64::from_str_radix(part, 16).ok());
    let is_uuid = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7');
    let bits = digits(15..18).zip(digits(19..22)).filter(|_| is_uuid);
    let bits = bits.map(|(first, second)| first << 10 | (second & 0x3ff));
    bits.unwrap_or_else(|| {
        let fold = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        id.bytes().fold(0xcbf2_9ce4_8422_2325, fold) & ((1 << BELOW_TIME) - 1)
    })
}

#[derive(Serialize)]
pub(super) struct Record<'a> {
    day: u32,
    sequence: u64,
    schema: u32,
    id: &'a str,
    time: i64,
    site: &'a str,
    client_ip: &'a str,
    method: &'a str,
    host: &'a str,
    path: &'a str,
    user_agent: &'a str,
    product_token: &'a str,
    product_tokens: &'a [Text],
    operator: Option<&'a str>,
    purpose: Option<&'a str>,
    standing: &'a str,
    evidence: Option<&'a str>,
    verdict: &'a str,
    reason: &'a str,
    action: &'a str,
    status: u16,
    robots_edition: &'a str,
    robots_line: Option<u32>,
    robots_directive: &'a str,
    robots_pattern: &'a str,
    robots_group: &'a [Text],
    robots_read_state: &'a str,
    robots_read_edition: Option<&'a str>,
    robots_read_at: Option<i64>,
}

impl<'a> Record<'a> {
    pub(super) fn of(violation: &'a Violation) -> Self {
        let Violation { robots, robots_read, .. } = violation;
        Self {
            day: day(violation.time.as_millisecond()),
            sequence: sequence(violation),
            schema: violation.schema,
            id: &violation.id,
            time: violation.time.as_millisecond(),
            site: &violation.site,
            client_ip: &violation.client_ip,
            method: &violation.method,
            host: &violation.host,
            path: &violation.path,
            user_agent: &violation.user_agent,
            product_token: &violation.product_token,
            product_tokens: &violation.product_tokens,
            operator: violation.operator.as_deref(),
            purpose: violation.purpose.as_deref(),
            standing: &violation.standing,
            evidence: violation.evidence.as_deref(),
            verdict: &violation.verdict,
            reason: &violation.reason,
            action: &violation.action,
            status: violation.status,
            robots_edition: &robots.edition,
            robots_line: robots.line,
            robots_directive: &robots.directive,
            robots_pattern: &robots.pattern,
            robots_group: &robots.group,
            robots_read_state: robots_read.state.as_str(),
            robots_read_edition: robots_read.edition.as_deref(),
            robots_read_at: robots_read.at.map(Timestamp::as_millisecond),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Count<'a> {
    day: u32,
    hour: i64,
    site: &'a str,
    class: &'a str,
    product_token: &'a str,
    purpose: &'a str,
    standing: &'a str,
    verdict: &'a str,
    action: &'a str,
    reason: &'a str,
    robots_edition: &'a str,
    robots_line: u32,
    robots_directive: &'a str,
    robots_pattern: &'a str,
    read_state: &'a str,
    #[serde(flatten)]
    origin: Origin<'a>,
    requests: u64,
    folded: u64,
    dropped: u64,
}

impl<'a> Count<'a> {
    pub(super) fn of(rollup: &'a Rollup, origin: Origin<'a>) -> Self {
        let series = &rollup.series;
        Self {
            day: day(rollup.hour.as_millisecond()),
            hour: rollup.hour.as_millisecond(),
            site: &series.site,
            class: &series.class,
            product_token: &series.product_token,
            purpose: &series.purpose,
            standing: &series.standing,
            verdict: &series.verdict,
            action: &series.action,
            reason: &series.reason,
            robots_edition: &series.edition,
            robots_line: series.line,
            robots_directive: &series.directive,
            robots_pattern: &series.pattern,
            read_state: series.read.map_or("", ReadState::as_str),
            origin,
            requests: rollup.requests,
            folded: rollup.folded,
            dropped: rollup.dropped,
        }
    }
}

#[derive(Serialize)]
pub(super) struct PlaceRow<'a> {
    day: u32,
    hour: i64,
    kind: &'a str,
    site: &'a str,
    product_token: &'a str,
    place: &'a str,
    #[serde(flatten)]
    origin: Origin<'a>,
    violations: u64,
}

impl<'a> PlaceRow<'a> {
    pub(super) fn of(place: &'a PlaceCount, origin: Origin<'a>) -> Self {
        Self {
            day: day(place.hour.as_millisecond()),
            hour: place.hour.as_millisecond(),
            kind: place.kind.word(place.claimant),
            site: &place.site,
            product_token: &place.product_token,
            place: &place.place,
            origin,
            violations: place.violations,
        }
    }
}

#[derive(Serialize)]
pub(super) struct People<'a> {
    day: u32,
    hour: i64,
    site: &'a str,
    #[serde(flatten)]
    origin: Origin<'a>,
    requests: u64,
}

impl<'a> People<'a> {
    pub(super) fn of(people: &'a PeopleCount, origin: Origin<'a>) -> Self {
        let hour = people.hour.as_millisecond();
        Self { day: day(hour), hour, site: &people.site, origin, requests: people.requests }
    }
}

#[derive(Serialize)]
pub(super) struct Visits<'a> {
    day: u32,
    hour: i64,
    site: &'a str,
    operator: &'a str,
    #[serde(flatten)]
    origin: Origin<'a>,
    visits: u64,
}

impl<'a> Visits<'a> {
    pub(super) fn of(referral: &'a ReferralCount, origin: Origin<'a>) -> Self {
        let hour = referral.hour.as_millisecond();
        let ReferralCount { site, operator, visits, .. } = referral;
        Self { day: day(hour), hour, site, operator, origin, visits: *visits }
    }
}

#[derive(Serialize)]
pub(super) struct Missing<'a> {
    day: u32,
    site: &'a str,
    product_token: &'a str,
    rule: &'a str,
    #[serde(flatten)]
    origin: Origin<'a>,
    count: u64,
    first: i64,
    last: i64,
}

impl<'a> Missing<'a> {
    pub(super) fn of(overflow: &'a Overflow, origin: Origin<'a>) -> Self {
        let (first, last) = (overflow.first.as_millisecond(), overflow.last.as_millisecond());
        let Overflow { site, product_token, rule, count, .. } = overflow;
        Self { day: day(last), site, product_token, rule, origin, count: *count, first, last }
    }
}

#[derive(Serialize)]
pub(super) struct CountedHour<'a> {
    day: u32,
    hour: i64,
    #[serde(flatten)]
    origin: Origin<'a>,
}

impl<'a> CountedHour<'a> {
    pub(super) fn of(hour: Hour, origin: Origin<'a>) -> Self {
        let hour = hour.as_millisecond();
        Self { day: day(hour), hour, origin }
    }
}

#[derive(Serialize)]
pub(super) struct EditionBytes<'a> {
    id: &'a str,
    sha256: &'a str,
    hex: String,
}

impl<'a> EditionBytes<'a> {
    pub(super) fn of(edition: &'a Edition) -> Self {
        Self { id: &edition.id, sha256: &edition.sha256, hex: hex(&edition.bytes) }
    }
}

#[derive(Serialize)]
pub(super) struct Publication<'a> {
    site: &'a str,
    edition: &'a str,
    source: &'a str,
    from_: i64,
    #[serde(flatten)]
    origin: Origin<'a>,
    place: u32,
}

impl<'a> Publication<'a> {
    pub(super) fn of(edition: &'a Edition, origin: Origin<'a>, place: u32) -> Self {
        let Edition { site, id, source, from, .. } = edition;
        Self { site, edition: id, source, from_: from.as_millisecond(), origin, place }
    }
}

#[derive(Serialize)]
pub(super) struct Day {
    pub(super) day: u32,
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
