//! Records as JSON lines in a file or on standard output.

use std::time::Duration;

use crate::records::{
    lines::{LogTarget, Output},
    record::Error,
    violations::{jsonl, queue::Batch, writer::Target},
};

/// How long to wait between calls of [`Target::tend`]; a log has no work there.
const REST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Log {
    output: Output,
    lines: Vec<u8>,
}

impl Log {
    pub(super) fn open(target: &LogTarget) -> Result<Self, Error> {
        Output::open(target).map(Self::to)
    }

    pub(super) const fn to(output: Output) -> Self {
        Self { output, lines: Vec::new() }
    }
}

impl Target for Log {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        if self.lines.is_empty() {
            for record in batch.records.iter() {
                jsonl::push(&mut self.lines, &record.violation);
            }
            for overflow in &batch.overflow {
                jsonl::push_overflow(&mut self.lines, overflow);
            }
        }
        self.output.write(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    fn tend(&mut self) -> Result<Duration, Error> {
        Ok(REST)
    }
}
