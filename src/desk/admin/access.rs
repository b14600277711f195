//! Access: a token opens the admin listener where others reach it.
//!
//! A program sends the token as `Authorization: Bearer` (RFC 6750 §2.1). A person enters it once, and
//! the browser keeps a cookie: the random name of a session. A logout ends the session, and so do its
//! time and a restart, which a new token needs.

use std::{collections::HashMap, time::Duration};

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::{sync::Mutex, time::sleep};

use crate::base::escape::hex;

/// The fewest characters of a token; no guessing finds one of this length.
pub(crate) const SHORTEST_TOKEN: usize = 16;

pub(super) const COOKIE: &str = "beadle_session";

/// How long a session lasts: a working day.
const SESSION: Duration = Duration::from_secs(12 * 3600);

/// The most sessions at a time. Beyond it the oldest one ends.
const MOST_SESSIONS: usize = 1_000;

/// The time of an attempt with a wrong token. Such attempts wait for each other.
const WRONG_TOKEN: Duration = Duration::from_secs(1);

pub(crate) struct Access {
    /// The hash of the token; `None` opens the listener to all who reach it.
    token: Option<Hash>,
    /// The hashes of cookies, and when each was given.
    sessions: parking_lot::Mutex<HashMap<Hash, Timestamp>>,
    attempt: Mutex<()>,
}

// What is compared are hashes of what the client sends, so the time tells nothing of use.
type Hash = [u8; 32];

impl Access {
    /// Access for all who reach the listener: it is on loopback.
    pub(crate) fn open() -> Self {
        Self { token: None, sessions: parking_lot::Mutex::default(), attempt: Mutex::default() }
    }

    pub(crate) fn by_token(token: &str) -> Self {
        Self { token: Some(hash(token)), ..Self::open() }
    }

    pub(crate) fn is_by_token(&self) -> bool {
        self.token.is_some()
    }

    pub(super) fn allows(&self, fields: &HeaderMap, now: Timestamp) -> bool {
        let Some(token) = self.token else { return true };
        let is_session = |cookie: &str| {
            self.sessions.lock().get(&hash(cookie)).is_some_and(|begin| lasts(*begin, now))
        };
        bearer(fields).is_some_and(|found| hash(found) == token) || cookies(fields).any(is_session)
    }

    /// The cookie of a new session, for a person who enters the right token.
    pub(super) async fn enter(&self, token: &str, now: Timestamp) -> Option<HeaderValue> {
        // The right token is compared before any wait.
        if self.token? != hash(token.trim()) {
            // Many attempts at once are no faster than one after the other.
            let _one = self.attempt.lock().await;
            sleep(WRONG_TOKEN).await;
            return None;
        }
        let mut name = [0; 32];
        getrandom::fill(&mut name).ok()?;
        let cookie: String = hex(name.iter());
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, begin| lasts(*begin, now));
        if sessions.len() >= MOST_SESSIONS
            && let Some(oldest) =
                sessions.iter().min_by_key(|(_, begin)| **begin).map(|(of, _)| *of)
        {
            sessions.remove(&oldest);
        }
        sessions.insert(hash(&cookie), now);
        let age = SESSION.as_secs();
        let line = format!("{COOKIE}={cookie}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax");
        HeaderValue::from_str(&line).ok()
    }

    pub(super) fn leave(&self, fields: &HeaderMap) {
        let mut sessions = self.sessions.lock();
        for cookie in cookies(fields) {
            sessions.remove(&hash(cookie));
        }
    }
}

/// Whether a session that began then still lasts. One from the future does not: the clock was set back.
fn lasts(begin: Timestamp, now: Timestamp) -> bool {
    now.duration_since(begin).try_into().is_ok_and(|age: Duration| age < SESSION)
}

fn hash(text: &str) -> Hash {
    Sha256::digest(text).into()
}

fn bearer(fields: &HeaderMap) -> Option<&str> {
    let field = fields.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = field.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookies(fields: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = fields.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("a value");
        lines.iter().map(|(name, text)| (name.parse().expect("a name"), value(text))).collect()
    }

    /// The outcome of a future that waits for nothing.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(future).poll(&mut context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    fn entered(access: &Access) -> String {
        let line = now(access.enter("correct-horse-battery", NOW)).flatten().expect("a cookie");
        line.to_str().expect("ASCII").split(';').next().expect("a pair").to_owned()
    }

    #[test]
    fn the_token_or_a_session_opens_and_nothing_else_does() {
        let access = Access::by_token("correct-horse-battery");
        let cookie = entered(&access);
        for (name, value, opens) in [
            ("authorization", "Bearer correct-horse-battery".to_owned(), true),
            ("authorization", "bearer correct-horse-battery".to_owned(), true),
            ("authorization", "Bearer correct-horse-batter".to_owned(), false),
            ("authorization", "Basic correct-horse-battery".to_owned(), false),
            ("authorization", "correct-horse-battery".to_owned(), false),
            ("cookie", format!("a=b; {cookie}"), true),
            ("cookie", format!("{COOKIE}=x; {cookie}"), true),
            ("cookie", format!("{COOKIE}=correct-horse-battery"), false),
            ("cookie", format!("x{cookie}"), false),
            ("cookie", format!("{COOKIE}="), false),
        ] {
            assert_eq!(access.allows(&fields(&[(name, &value)]), NOW), opens, "{name}: {value}");
        }
        let other = Access::by_token("correct-horse-battery");
        assert!(!other.allows(&fields(&[("cookie", &cookie)]), NOW), "a restart ends sessions");
        assert!(Access::open().allows(&HeaderMap::new(), NOW));
    }

    #[test]
    fn a_logout_ends_one_session() {
        let access = Access::by_token("correct-horse-battery");
        let [one, other] = [entered(&access), entered(&access)];
        assert_ne!(one, other);
        let later = NOW + SESSION;
        assert!(!access.allows(&fields(&[("cookie", &one)]), later), "a working day later");
        access.leave(&fields(&[("cookie", &one)]));
        assert!(!access.allows(&fields(&[("cookie", &one)]), NOW));
        assert!(access.allows(&fields(&[("cookie", &other)]), NOW));
        for _ in 0..MOST_SESSIONS {
            let next = NOW + Duration::from_secs(1);
            assert!(now(access.enter("correct-horse-battery", next)).is_some());
        }
        assert_eq!(access.sessions.lock().len(), MOST_SESSIONS);
        assert!(!access.allows(&fields(&[("cookie", &other)]), NOW), "the oldest");
    }

    #[tokio::test]
    async fn the_right_token_waits_for_no_wrong_one() {
        let access = Access::by_token("correct-horse-battery");
        let mut wrong = pin!(access.enter("a wrong token", NOW));
        let mut context = Context::from_waker(Waker::noop());
        assert!(wrong.as_mut().poll(&mut context).is_pending());
        assert!(now(access.enter("another wrong token", NOW)).is_none());
        entered(&access);
    }
}
