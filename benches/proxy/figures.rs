//! The figures of a run of wrk, as its scripts print them.

use std::time::Duration;

/// The figures of one run.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
    /// What the script counts as failed.
    pub(crate) failures: u64,
    pub(crate) median: Duration,
    pub(crate) percentile_99: Duration,
}

impl Load {
    /// Reads the line that begins with `result`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("result "))?;
        let mut numbers = line.split(' ').map_while(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next();
        Some(Self {
            requests: next()?,
            time: Duration::from_micros(next()?),
            failures: next()?,
            median: Duration::from_micros(next()?),
            percentile_99: Duration::from_micros(next()?),
        })
    }

    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.time.as_secs_f64()
    }
}
