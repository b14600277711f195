//! The timer of a connection.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use tokio::time::{Sleep, sleep_until};

/// A timer that is set when it is first needed. It may end before the wait does, and is then set
/// again. So most requests set no timer.
#[derive(Debug, Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Ready at `end`.
    pub(crate) fn poll(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        if end <= Instant::now() {
            return Poll::Ready(());
        }
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(end.into())));
        if timer.deadline() > end.into() {
            timer.as_mut().reset(end.into());
        }
        while timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end.into());
        }
        Poll::Pending
    }
}
