//! The address of a policy.

use url::Url;

use super::Failure;

pub(super) const LONGEST: usize = 2_000;

/// The address of a policy: HTTPS, or HTTP on this machine.
#[derive(Clone)]
pub struct Address {
    pub(super) url: Url,
    shown: String,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// It is no URL, or too long. The error never shows the text: it may have a password.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let url = Url::parse(text).ok().filter(|url| url.has_host() && text.len() <= LONGEST);
        let mut url = url.ok_or(Failure::Address)?;
        url.set_fragment(None);
        let mut bare = url.clone();
        bare.set_query(None);
        // A URL with a host can have credentials, so it can lose them.
        let _ = bare.set_username("").and_then(|()| bare.set_password(None));
        Ok(Self { shown: bare.into(), url })
    }

    /// The address without credentials and query, for logs and messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The whole address of the signature: the path with `.sig`.
    pub(super) fn signature_url(&self) -> String {
        let mut url = self.url.clone();
        url.set_path(&format!("{}.sig", self.url.path()));
        url.into()
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}
