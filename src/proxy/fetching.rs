//! What fetches of our own share: how long they may take, what makes them conditional, how much of
//! an answer is read, and when which source has its turn.

use std::{
    cmp::Reverse, collections::BinaryHeap, error::Error, iter, pin::Pin, str::FromStr,
    time::Duration,
};

use reqwest::{
    Client, ClientBuilder, RequestBuilder, Response,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// Everything, from the name to the last octet.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(5);
/// Redirects that are followed, where any are.
pub(super) const REDIRECTS: usize = 5;
/// The name and version that every `User-Agent` of our own begins with.
pub(super) const PRODUCT: &str = concat!("beadle/", env!("CARGO_PKG_VERSION"));

/// What makes a request conditional (RFC 9110 §13), as the server said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

/// Why an answer was not read to its end.
#[derive(Debug)]
pub(super) enum Broken {
    /// Occurs when there is more than was asked for.
    TooLarge,
    /// Occurs when the exchange failed or took too long.
    Transport(reqwest::Error),
}

/// A fetch under way.
pub(super) type Fetching<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Numbered sources that are fetched from again and again.
pub(super) trait Sources: Send {
    /// What comes of a fetch.
    type Fetched: Send + 'static;
    /// How many are fetched from at the same time.
    const AT_ONCE: usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// A fetch from one of them; `None` where there is no such source, now and for ever.
    fn fetch(&self, number: usize) -> Option<Fetching<Self::Fetched>>;

    /// Takes what was fetched, and says after how long to fetch again; `None` is never.
    fn settle(&mut self, number: usize, fetched: Self::Fetched) -> Option<Duration>;
}

/// Fetches for as long as it is let: from every source at once, then from each when its time has
/// come. Ends where there is none.
pub(super) async fn keep_fetching<S: Sources>(mut sources: S) {
    let start = Instant::now();
    let mut due: BinaryHeap<Reverse<(Instant, usize)>> =
        (0..sources.count()).map(|number| Reverse((start, number))).collect();
    let mut under_way: JoinSet<(usize, S::Fetched)> = JoinSet::new();
    loop {
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
            else => return,
        }
    }
}

/// A client with the bounds that every fetch has: no proxy of the environment's, no connection kept.
pub(super) fn client(user_agent: &str) -> ClientBuilder {
    // The proxy has installed one already, unless it is not the one who asks.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(user_agent)
        .timeout(DEADLINE)
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0)
        .no_proxy()
        .referer(false)
}

impl Validators {
    /// Those of an answer.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self {
            etag: headers.get(header::ETAG).cloned(),
            last_modified: headers.get(header::LAST_MODIFIED).cloned(),
        }
    }

    /// The request that asks for what is new alone.
    pub(super) fn make_conditional(&self, request: RequestBuilder) -> RequestBuilder {
        let fields =
            [(header::IF_NONE_MATCH, &self.etag), (header::IF_MODIFIED_SINCE, &self.last_modified)];
        fields.into_iter().fold(request, |request, (name, value)| match value {
            Some(value) => request.header(name, value),
            None => request,
        })
    }
}

/// The octets of an answer, `most` at most.
pub(super) async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Broken> {
    let mut octets = Vec::new();
    // Counted as they come, decompressed: what a small answer grows to is of no interest.
    while let Some(chunk) = response.chunk().await.map_err(Broken::Transport)? {
        if octets.len() + chunk.len() > most {
            return Err(Broken::TooLarge);
        }
        octets.extend_from_slice(&chunk);
    }
    Ok(octets)
}

/// `Cache-Control: max-age`.
pub(super) fn max_age(headers: &HeaderMap) -> Option<Duration> {
    cache_directives(headers).find_map(|one| seconds(one.strip_prefix("max-age=")?))
}

/// The directives of all `Cache-Control` fields, in lower case.
pub(super) fn cache_directives(headers: &HeaderMap) -> impl Iterator<Item = String> {
    let values = headers.get_all(header::CACHE_CONTROL).into_iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).map(|one| one.trim().to_ascii_lowercase())
}

/// A number of seconds (RFC 9111 §1.2.2), quoted or not; one that is too great is the greatest.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let digits = text.trim().trim_matches('"');
    let is_number = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    is_number.then(|| Duration::from_secs(u64::from(u32::from_str(digits).unwrap_or(u32::MAX))))
}

/// The errors that led to one, the innermost last.
pub(super) fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}

/// An error in words: what caused it, for the outermost says only that there was one.
pub(super) fn first_cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9111_5_2_an_age_is_found_among_the_directives_of_all_fields() {
        for (values, age) in [
            (&["max-age=60"][..], Some(60)),
            (&["public, Max-Age=\"60\" , immutable"], Some(60)),
            (&["no-transform", "max-age=5"], Some(5)),
            (&["max-age=99999999999999999999"], Some(u64::from(u32::MAX))),
            (&["max-age=-1"], None),
            (&["s-maxage=60"], None),
            (&["max-age="], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::CACHE_CONTROL, HeaderValue::from_static(value));
            }
            assert_eq!(max_age(&headers), age.map(Duration::from_secs), "{values:?}");
        }
    }
}
