//! The answers to the commands of a pipeline, read without a guess: another form is a failure.

use redis::{FromRedisValue, Value, from_redis_value};

use super::failure::Failure;

#[derive(Debug)]
pub(super) struct Replies(std::vec::IntoIter<Value>);

impl Replies {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    pub(super) fn next<T: FromRedisValue>(&mut self) -> Result<T, Failure> {
        match self.0.next() {
            None => Err(Failure::Odd("too few answers".to_owned())),
            Some(Value::ServerError(error)) => Err(Failure::of(&error)),
            Some(value) => from_redis_value(value).map_err(|error| Failure::Odd(error.to_string())),
        }
    }

    /// Takes answers that say no more than that nothing failed.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), Failure> {
        (0..count).try_for_each(|_| self.next::<Value>().map(drop))
    }

    /// The fields of a hash with their values. Fields that another program wrote may be no text: they are
    /// left out.
    pub(super) fn fields(&mut self) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let fields: Vec<(Vec<u8>, Vec<u8>)> = self.next()?;
        let named = |(name, value)| Some((String::from_utf8(name).ok()?, value));
        Ok(fields.into_iter().filter_map(named).collect())
    }

    /// Members with their scores, which are written with a point or an exponent if they are large.
    pub(super) fn scored(&mut self) -> Result<Vec<(Vec<u8>, i64)>, Failure> {
        let members: Vec<(Vec<u8>, f64)> = self.next()?;
        Ok(members.into_iter().map(|(member, score)| (member, score as i64)).collect())
    }

    /// The entries of a stream, each with its id and its only text.
    pub(super) fn entries(&mut self) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        type Entry = (String, Vec<(Vec<u8>, Vec<u8>)>);
        let streams: Vec<(String, Vec<Entry>)> = self.next()?;
        let entries = streams.into_iter().flat_map(|(_, entries)| entries);
        Ok(entries.filter_map(|(id, fields)| Some((id, fields.into_iter().next()?.1))).collect())
    }

    /// Microseconds of the answer to TIME.
    pub(super) fn time(&mut self) -> Result<i64, Failure> {
        let (seconds, micros): (i64, i64) = self.next()?;
        Ok(seconds.saturating_mul(1_000_000).saturating_add(micros))
    }
}
