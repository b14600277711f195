//! The figures of a run, as wrk's scripts and h2load print them.

use std::time::Duration;

/// The figures of one run.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
    /// Requests without an answer.
    pub(crate) failures: u64,
    /// Answers with a status of 400 or above.
    pub(crate) refusals: u64,
    pub(crate) median: Duration,
    pub(crate) percentile_99: Duration,
}

impl Load {
    /// Reads the line of a script of wrk that begins with `result`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("result "))?;
        let mut numbers = line.split(' ').map_while(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next();
        Some(Self {
            requests: next()?,
            time: Duration::from_micros(next()?),
            failures: next()?,
            refusals: next()?,
            median: Duration::from_micros(next()?),
            percentile_99: Duration::from_micros(next()?),
        })
    }

    /// Reads what h2load prints after a run of this time, and its log: a line for each request with its
    /// start, its status and its time in microseconds.
    pub(crate) fn read_h2load(text: &str, log: &str, time: Duration) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("requests: "))?;
        let count = |name: &str| {
            let of = |part: &str| part.trim().strip_suffix(name)?.trim().parse::<u64>().ok();
            line.split(',').find_map(of)
        };
        let (mut refusals, mut times) = (0, Vec::new());
        for line in log.lines() {
            let mut fields = line.split('\t').skip(1).map(str::parse::<u64>);
            let (status, time) = (fields.next()?.ok()?, fields.next()?.ok()?);
            refusals += u64::from(status >= 400);
            times.push(time);
        }
        times.sort_unstable();
        let percentile = |share: f64| Some(Duration::from_micros(percentile(&times, share)?));
        Some(Self {
            requests: count("done")?,
            time,
            failures: count("failed")? + count("errored")? + count("timeout")?,
            refusals,
            median: percentile(0.5)?,
            percentile_99: percentile(0.99)?,
        })
    }

    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.time.as_secs_f64()
    }
}

/// The value below which this share of the sorted values is.
pub(crate) fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    sorted.get((sorted.len() as f64 * share) as usize).or_else(|| sorted.last()).copied()
}
