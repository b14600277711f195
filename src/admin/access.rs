//! Access: a token opens the admin listener where others reach it.
//!
//! A program sends the token as `Authorization: Bearer` (RFC 6750 §2.1). A person enters it once, and
//! the browser keeps a cookie. The cookie is a hash of the token with a salt of this process, so
//! that a restart ends it and nobody can find the token in it.

use std::{fmt, time::Duration};

use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};
use tokio::{sync::Mutex, time::sleep};

/// The fewest characters of a token; no guessing finds one of this length.
pub const SHORTEST_TOKEN: usize = 16;

/// The name of the cookie.
pub(super) const COOKIE: &str = "beadle_session";

/// How long a browser keeps the cookie, in seconds: a working day.
const COOKIE_AGE: u32 = 12 * 3600;

/// The time of an attempt with a wrong token. Attempts wait for each other.
const WRONG_TOKEN: Duration = Duration::from_secs(1);

/// What opens the listener.
pub struct Access {
    /// Hashes of the token and of the cookie; `None` opens the listener to all who reach it.
    keys: Option<Keys>,
    attempt: Mutex<()>,
}

struct Keys {
    token: [u8; 32],
    cookie: String,
}

impl Access {
    /// Access for all who reach the listener: it is on loopback.
    pub fn open() -> Self {
        Self { keys: None, attempt: Mutex::default() }
    }

    /// Access by this token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn by_token(token: &str) -> Result<Self, getrandom::Error> {
        let mut salt = [0; 32];
        getrandom::fill(&mut salt)?;
        let cookie = Sha256::new().chain_update(salt).chain_update(token).finalize();
        let keys = Keys { token: Sha256::digest(token).into(), cookie: hexadecimal(&cookie) };
        Ok(Self { keys: Some(keys), attempt: Mutex::default() })
    }

    /// Whether there is a token.
    pub fn is_by_token(&self) -> bool {
        self.keys.is_some()
    }

    /// Whether a request has the token or the cookie.
    pub(super) fn allows(&self, fields: &HeaderMap) -> bool {
        let Some(keys) = &self.keys else { return true };
        bearer(fields).is_some_and(|token| keys.is_token(token))
            || cookies(fields).any(|cookie| keys.is_cookie(cookie))
    }

    /// The cookie for a person who enters the right token.
    pub(super) async fn enter(&self, token: &str) -> Option<HeaderValue> {
        let keys = self.keys.as_ref()?;
        // One attempt at a time: many at once are no faster than one after the other.
        let _one = self.attempt.lock().await;
        if !keys.is_token(token.trim()) {
            sleep(WRONG_TOKEN).await;
            return None;
        }
        let cookie = &keys.cookie;
        let line =
            format!("{COOKIE}={cookie}; Path=/; Max-Age={COOKIE_AGE}; HttpOnly; SameSite=Lax");
        HeaderValue::from_str(&line).ok()
    }
}

impl fmt::Debug for Access {
    /// Shows no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("by_token", &self.keys.is_some()).finish_non_exhaustive()
    }
}

impl Keys {
    // What is compared are hashes of what the client sends, so the time tells nothing of use.
    fn is_token(&self, token: &str) -> bool {
        Sha256::digest(token).as_slice() == self.token
    }

    fn is_cookie(&self, cookie: &str) -> bool {
        Sha256::digest(cookie) == Sha256::digest(&self.cookie)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The token of a program.
fn bearer(fields: &HeaderMap) -> Option<&str> {
    let field = fields.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = field.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The values of our cookie.
fn cookies(fields: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = fields.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("a value");
        lines.iter().map(|(name, text)| (name.parse().expect("a name"), value(text))).collect()
    }

    #[test]
    fn the_token_or_its_cookie_opens_and_nothing_else_does() {
        let access = Access::by_token("correct-horse-battery").expect("random numbers");
        let cookie = &access.keys.as_ref().expect("keys").cookie;
        for (name, value, opens) in [
            ("authorization", "Bearer correct-horse-battery".to_owned(), true),
            ("authorization", "bearer correct-horse-battery".to_owned(), true),
            ("authorization", "Bearer correct-horse-batter".to_owned(), false),
            ("authorization", "Basic correct-horse-battery".to_owned(), false),
            ("authorization", "correct-horse-battery".to_owned(), false),
            ("cookie", format!("a=b; {COOKIE}={cookie}"), true),
            ("cookie", format!("{COOKIE}=x; {COOKIE}={cookie}"), true),
            ("cookie", format!("{COOKIE}=correct-horse-battery"), false),
            ("cookie", format!("x{COOKIE}={cookie}"), false),
            ("cookie", format!("{COOKIE}="), false),
        ] {
            assert_eq!(access.allows(&fields(&[(name, &value)])), opens, "{name}: {value}");
        }
        let other = Access::by_token("correct-horse-battery").expect("random numbers");
        let stale = format!("{COOKIE}={cookie}");
        assert!(!other.allows(&fields(&[("cookie", &stale)])), "a restart ends sessions");
        assert!(Access::open().allows(&HeaderMap::new()));
        assert!(!format!("{access:?}").contains(cookie.as_str()));
    }
}
