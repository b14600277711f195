//! The source of rows.

use crate::records::record::Value;

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
