//! Values as rows: those of the columns of a table, in their order.

use jiff::{Timestamp, tz::Offset};

use crate::records::{
    record::{Edition, Overflow, Value, Violation, of_series},
    tally::{Hour, PeopleCount, PlaceCount, ReferralCount, Rollup},
};

/// The source of rows. It is a part of their keys.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The node, by the name that the operator gives it.
    pub node: &'a str,
    /// The run of the program, by a UUIDv7: a later run has a greater one.
    pub run: &'a str,
    /// The number of the batch in this run; a later batch has a greater one.
    pub batch: u64,
}

impl<'a> Origin<'a> {
    pub(super) const fn values(self) -> [Value<'a>; 3] {
        [Value::Word(self.node), Value::Word(self.run), Value::Count(self.batch)]
    }
}

pub(super) type Row<'a> = Vec<Value<'a>>;

/// The bits of a sequence number below the time.
pub(super) const BELOW_TIME: u32 = 22;

/// The day of UTC as a number: 20261123. Times before 1970 are of its first day, and those beyond every
/// date of the last one.
pub(crate) fn day(millisecond: i64) -> u32 {
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

pub(super) fn record(violation: &Violation) -> Row<'_> {
    let day = day(violation.time.as_millisecond());
    let key = [Value::Number(day.into()), Value::Count(sequence(violation))];
    key.into_iter().chain(violation.values()).collect()
}

pub(super) fn count<'a>(rollup: &'a Rollup, origin: Origin<'a>) -> Row<'a> {
    let Rollup { hour, series, requests, folded, dropped } = rollup;
    of_hour(*hour, &of_series(series), origin, &[*requests, *folded, *dropped])
}

pub(super) fn place<'a>(place: &'a PlaceCount, origin: Origin<'a>) -> Row<'a> {
    let PlaceCount { hour, kind, site, product_token, claimant, place, violations } = place;
    let key = [kind.word(*claimant), site, product_token, place].map(Value::Word);
    of_hour(*hour, &key, origin, &[*violations])
}

pub(super) fn people<'a>(people: &'a PeopleCount, origin: Origin<'a>) -> Row<'a> {
    of_hour(people.hour, &[Value::Word(&people.site)], origin, &[people.requests])
}

pub(super) fn visits<'a>(referral: &'a ReferralCount, origin: Origin<'a>) -> Row<'a> {
    let ReferralCount { hour, site, operator, visits } = referral;
    of_hour(*hour, &[site, operator].map(|name| Value::Word(name)), origin, &[*visits])
}

pub(super) fn counted_hour(hour: Hour, origin: Origin<'_>) -> Row<'_> {
    of_hour(hour, &[], origin, &[])
}

pub(super) fn missing<'a>(overflow: &'a Overflow, origin: Origin<'a>) -> Row<'a> {
    let Overflow { site, product_token, rule, count, first, last } = overflow;
    let day = Value::Number(day(last.as_millisecond()).into());
    let names = [site, product_token, rule].map(|name| Value::Word(name));
    let counts = [Value::Count(*count), Value::Time(*first), Value::Time(*last)];
    [day].into_iter().chain(names).chain(origin.values()).chain(counts).collect()
}

pub(super) fn edition<'a>(edition: &'a Edition, hex: &'a str) -> Row<'a> {
    [&edition.id, &edition.sha256, hex].map(Value::Word).into()
}

pub(super) fn publication<'a>(edition: &'a Edition, origin: Origin<'a>, place: u32) -> Row<'a> {
    let Edition { site, id, source, from, .. } = edition;
    let names = [site, id, source].map(|name| Value::Word(name));
    let (from, place) = (Value::Time(*from), Value::Number(place.into()));
    names.into_iter().chain([from]).chain(origin.values()).chain([place]).collect()
}

fn of_hour<'a>(hour: Hour, key: &[Value<'a>], origin: Origin<'a>, counts: &[u64]) -> Row<'a> {
    let hour = hour.as_millisecond();
    let times = [Value::Number(day(hour).into()), Value::Number(hour)];
    let key = times.into_iter().chain(key.iter().copied()).chain(origin.values());
    key.chain(counts.iter().map(|count| Value::Count(*count))).collect()
}
