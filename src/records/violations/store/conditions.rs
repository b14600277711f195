//! Conditions of a question in SQL, with the values bound in them.

use rusqlite::types::Value;

/// The text of a `WHERE` clause, empty without a condition, and its values in order.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

impl Conditions {
    /// Adds a condition with one placeholder; nothing without a value.
    pub(super) fn require(&mut self, condition: &'static str, value: Option<Value>) {
        let Some(value) = value else { return };
        self.add(condition);
        self.values.push(value);
    }

    /// Adds a condition without a value.
    pub(super) fn add(&mut self, condition: &str) {
        self.text.push_str(if self.text.is_empty() { " WHERE " } else { " AND " });
        self.text.push_str(condition);
    }
}
