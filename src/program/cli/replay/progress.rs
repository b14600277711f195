//! The line on a terminal that tells how far a replay is.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use crate::review::{replay::Progress, report::number::grouped};

const STEP: Duration = Duration::from_millis(200);

/// The progress on standard error, if that is a terminal.
pub(super) struct Bar {
    start: Instant,
    shown: Option<Instant>,
    is_watched: bool,
}

impl Bar {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), shown: None, is_watched: io::stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, progress: Progress, lines: u64) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() > STEP);
        if self.is_watched && is_due {
            self.shown = Some(Instant::now());
            let line = line(progress, lines, self.start.elapsed());
            // A failed write to standard error cannot be reported anywhere.
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }

    pub(super) fn end(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(Progress { read, size }: Progress, lines: u64, passed: Duration) -> String {
    let seconds = passed.as_secs_f64().max(0.001);
    let rate = grouped((lines as f64 / seconds) as u64);
    let lines = grouped(lines);
    if size == 0 || read == 0 {
        return format!("{lines} lines, {rate} lines/s");
    }
    let share = read as f64 / size.max(read) as f64;
    let left = Duration::from_secs_f64(seconds * (1.0 - share) / share).as_secs();
    let (minutes, seconds) = (left / 60, left % 60);
    let percent = (share * 100.0) as u64;
    format!("{percent:>3} %  {lines} lines, {rate} lines/s, {minutes}:{seconds:02} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_rate_and_time_left() {
        let line = |read, size| line(Progress { read, size }, 5_000_000, Duration::from_secs(10));
        assert_eq!(line(1, 4), " 25 %  5,000,000 lines, 500,000 lines/s, 0:30 left");
        assert_eq!(line(4, 4), "100 %  5,000,000 lines, 500,000 lines/s, 0:00 left");
        assert_eq!(line(4, 0), "5,000,000 lines, 500,000 lines/s");
    }
}
