//! Whether a server is down, by the requests and checks that it answered or failed to.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use crate::{base::text::words, rules::policy};

/// The health of one server. Times are those of the steady clock.
#[derive(Debug, Default)]
pub(super) struct Health {
    pub(super) in_progress: AtomicUsize,
    failed_requests: AtomicU32,
    failed_checks: AtomicU32,
    /// The millisecond, plus one, from which a request may try the server again; 0 while it is up.
    down_until: AtomicU64,
    next_check: AtomicU64,
}

words! {
    /// A failure of a server.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// Occurs when the server takes no connection.
        Connection = "connection",
        /// Occurs when a connection ends or a time limit is over before the head of a response.
        Response = "response",
        /// Occurs when a check has no response, or another status than 200 to 399.
        Check = "check",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Success {
    Request,
    Check,
}

impl Health {
    pub(super) fn is_down(&self) -> bool {
        self.down_until.load(Ordering::Acquire) > 0
    }

    pub(super) fn pause_left(&self, now: Duration) -> Option<Duration> {
        match self.down_until.load(Ordering::Acquire) {
            0 => None,
            until => Some(Duration::from_millis(until - 1).saturating_sub(now)),
        }
    }

    /// Claims the one request that may try the server after its pause.
    pub(super) fn claim_trial(&self, now: Duration, pause: Duration) -> bool {
        let until = self.down_until.load(Ordering::Acquire);
        until > 0
            && until - 1 <= millis(now)
            && self
                .down_until
                .compare_exchange(until, end(now, pause), Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
    }

    /// Notes a failure. Returns whether the server was up before and is down now.
    pub(super) fn failed(&self, fault: Fault, settings: &policy::Health, now: Duration) -> bool {
        let failures = match fault {
            Fault::Connection => settings.failures,
            Fault::Response => self.failed_requests.fetch_add(1, Ordering::AcqRel) + 1,
            Fault::Check => self.failed_checks.fetch_add(1, Ordering::AcqRel) + 1,
        };
        let is_down = failures >= settings.failures;
        is_down && self.down_until.swap(end(now, settings.pause), Ordering::AcqRel) == 0
    }

    /// Notes an answer. Returns whether the server was down before.
    pub(super) fn succeeded(&self, by: Success) -> bool {
        let was_down = self.is_down();
        // Most requests change nothing here.
        if (by == Success::Request || was_down) && self.failed_requests.load(Ordering::Acquire) > 0
        {
            self.failed_requests.store(0, Ordering::Release);
        }
        if by == Success::Check {
            self.failed_checks.store(0, Ordering::Release);
        }
        was_down && self.down_until.swap(0, Ordering::AcqRel) > 0
    }

    pub(super) fn claim_check(&self, now: Duration, interval: Duration) -> bool {
        let is_due = self.next_check.load(Ordering::Acquire) <= millis(now);
        if is_due {
            self.next_check.store(millis(now + interval), Ordering::Release);
        }
        is_due
    }
}

fn end(now: Duration, pause: Duration) -> u64 {
    millis(now + pause) + 1
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX - 1)
}
