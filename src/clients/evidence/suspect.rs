//! A response that is implausible beside the copy in use: probably a fault of the source, perhaps
//! its new content.

use std::time::{Duration, Instant};

/// How long a source must repeat a loss. An operator notices a truncated list within this time.
const LOSS: Duration = Duration::from_secs(3 * 24 * 3_600);
/// How long a source must repeat a replacement.
pub(super) const REPLACEMENT: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Most of the copy in use is missing.
    Loss,
    /// It has nothing in common with the copy in use.
    Replacement,
}

/// The first of the implausible responses since the last good one.
#[derive(Debug)]
pub(super) struct Suspect<T> {
    first: Option<(T, Instant)>,
}

impl<T: PartialEq + Clone> Suspect<T> {
    /// Whether the source has repeated an implausible response for long enough. A replacement must
    /// stay the same: errors differ from time to time.
    pub(super) fn is_believed(&mut self, fresh: &T, doubt: Doubt) -> bool {
        let patience = match doubt {
            Doubt::Loss => LOSS,
            Doubt::Replacement => REPLACEMENT,
        };
        let first = self.first.take();
        let first = first.filter(|(content, _)| doubt == Doubt::Loss || content == fresh);
        let (content, since) = first.unwrap_or_else(|| (fresh.clone(), Instant::now()));
        self.first = Some((content, since));
        since.elapsed() >= patience
    }

    pub(super) fn clear(&mut self) {
        self.first = None;
    }

    #[cfg(test)]
    pub(super) fn pass(&mut self, time: Duration) {
        if let Some((_, since)) = &mut self.first {
            *since = since.checked_sub(time).expect("the clock runs for longer");
        }
    }
}

impl<T> Default for Suspect<T> {
    fn default() -> Self {
        Self { first: None }
    }
}
