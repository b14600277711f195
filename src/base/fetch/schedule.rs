//! A schedule for many sources, each with its own interval.

use std::{cmp::Reverse, collections::BinaryHeap, pin::Pin, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// A fetch under way.
pub type Fetching<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Numbered sources with repeated fetches.
pub trait Sources: Send {
    /// The result of a fetch.
    type Fetched: Send + 'static;
    /// The most fetches at the same time.
    const AT_ONCE: usize;

    /// The number of sources.
    fn count(&self) -> usize;

    /// A fetch from one source; `None` for an unknown number.
    fn fetch(&self, number: usize) -> Option<Fetching<Self::Fetched>>;

    /// Takes the result and returns the time until the next fetch; `None` is never.
    fn settle(&mut self, number: usize, fetched: Self::Fetched) -> Option<Duration>;

    /// Notes that no fetch is under way and none is due.
    fn rest(&mut self) {}

    /// The next source to fetch from before its time. By default there is none.
    fn wanted(&mut self) -> impl Future<Output = usize> + Send {
        std::future::pending()
    }
}

/// Fetches from every source at the start, and then from each at its own interval. Ends when no
/// source is left.
pub async fn repeat<S: Sources>(mut sources: S) {
    let start = Instant::now();
    let mut due: BinaryHeap<Reverse<(Instant, usize)>> =
        (0..sources.count()).map(|number| Reverse((start, number))).collect();
    let mut under_way: JoinSet<(usize, S::Fetched)> = JoinSet::new();
    loop {
        let is_due = due.peek().is_some_and(|Reverse((at, _))| *at <= Instant::now());
        if under_way.is_empty() && !is_due {
            sources.rest();
        }
        let next = match due.peek() {
            Some(Reverse((at, _))) if under_way.len() < S::AT_ONCE => Some(*at),
            _ => None,
        };
        tokio::select! {
            Some(Ok((number, fetched))) = under_way.join_next() => {
                if let Some(wait) = sources.settle(number, fetched) {
                    due.push(Reverse((Instant::now() + wait, number)));
                }
            }
            () = sleep_until(next.unwrap_or(start)), if next.is_some() => {
                let Some(Reverse((_, number))) = due.pop() else { continue };
                if let Some(fetching) = sources.fetch(number) {
                    under_way.spawn(async move { (number, fetching.await) });
                }
            }
            number = sources.wanted(), if under_way.len() < S::AT_ONCE && !due.is_empty() => {
                let before = due.len();
                due.retain(|Reverse((_, other))| *other != number);
                // A source that is not due has a fetch under way.
                if due.len() < before && let Some(fetching) = sources.fetch(number) {
                    under_way.spawn(async move { (number, fetching.await) });
                }
            }
            else => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    struct Asked {
        wanted: mpsc::Receiver<usize>,
        settled: mpsc::Sender<usize>,
    }

    impl Sources for Asked {
        type Fetched = ();
        const AT_ONCE: usize = 4;

        fn count(&self) -> usize {
            2
        }

        fn fetch(&self, _: usize) -> Option<Fetching<()>> {
            Some(Box::pin(std::future::ready(())))
        }

        fn settle(&mut self, number: usize, (): ()) -> Option<Duration> {
            self.settled.try_send(number).expect("the test counts fetches");
            Some(Duration::from_secs(3_600))
        }

        async fn wanted(&mut self) -> usize {
            match self.wanted.recv().await {
                Some(number) => number,
                None => std::future::pending().await,
            }
        }
    }

    #[tokio::test]
    async fn a_wanted_source_is_fetched_from_before_its_time() {
        let (wants, wanted) = mpsc::channel(4);
        let (settled, mut fetches) = mpsc::channel(16);
        let task = tokio::spawn(repeat(Asked { wanted, settled }));
        let mut first = [fetches.recv().await, fetches.recv().await];
        first.sort_unstable();
        assert_eq!(first, [Some(0), Some(1)]);
        for number in [1, 1, 0] {
            wants.send(number).await.unwrap();
            assert_eq!(fetches.recv().await, Some(number));
        }
        // There is no such source.
        wants.send(7).await.unwrap();
        wants.send(0).await.unwrap();
        assert_eq!(fetches.recv().await, Some(0));
        task.abort();
    }
}
