//! The values of an answer, read without a guess: what has another form is a failure.

use redis::Value;

use super::failure::Failure;

/// The answers to the commands of a pipeline, in their order.
#[derive(Debug)]
pub(super) struct Replies(std::vec::IntoIter<Value>);

impl Replies {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    /// The next answer.
    pub(super) fn next(&mut self) -> Result<Value, Failure> {
        match self.0.next() {
            None => Err(Failure::Odd("too few answers".to_owned())),
            Some(Value::ServerError(error)) => Err(Failure::of(&error)),
            Some(value) => Ok(value),
        }
    }

    /// Takes answers that say no more than that nothing failed.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), Failure> {
        (0..count).try_for_each(|_| self.next().map(drop))
    }
}

/// The octets of a text.
pub(super) fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        Value::Double(number) => Some(number.to_string().into_bytes()),
        _ => None,
    }
}

pub(super) fn text(value: Value) -> Option<String> {
    String::from_utf8(bytes(value)?).ok()
}

/// A whole number; scores are written with a point or an exponent if they are large.
pub(super) fn number(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        other => {
            let text = text(other)?;
            text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|score| score as i64))
        }
    }
}

/// The items of a list.
pub(super) fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) | Value::Set(items) => items,
        Value::Map(pairs) => pairs.into_iter().flat_map(|(key, value)| [key, value]).collect(),
        _ => Vec::new(),
    }
}

/// The pairs of a list such as the fields of a hash, or members with their scores.
pub(super) fn pairs(value: Value) -> Vec<(Vec<u8>, Value)> {
    let mut items = list(value).into_iter();
    let mut pairs = Vec::new();
    while let (Some(first), Some(second)) = (items.next(), items.next()) {
        if let Some(first) = bytes(first) {
            pairs.push((first, second));
        }
    }
    pairs
}

/// Members with their scores.
pub(super) fn scored(value: Value) -> Vec<(Vec<u8>, i64)> {
    let pairs = pairs(value).into_iter();
    pairs.filter_map(|(member, score)| Some((member, number(score)?))).collect()
}

/// The entries of a stream: position and text.
pub(super) fn entries(value: Value) -> Vec<(String, Vec<u8>)> {
    // [[key, [[id, [field, text]], …]]]
    let streams = list(value).into_iter().map(list);
    let entries = streams.filter_map(|mut stream| stream.pop()).flat_map(list);
    let entry = |value: Value| {
        let mut parts = list(value).into_iter();
        let id = text(parts.next()?)?;
        let fields = pairs(parts.next()?);
        Some((id, fields.into_iter().next().and_then(|(_, text)| bytes(text))?))
    };
    entries.filter_map(entry).collect()
}

/// Microseconds of the answer to TIME.
pub(super) fn time(value: Value) -> Option<i64> {
    let mut parts = list(value).into_iter().filter_map(number);
    let (seconds, micros) = (parts.next()?, parts.next()?);
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}
