//! Pages that an operator names, fetched one after the other.

use http::HeaderMap;

use super::{Client, Failure, Reach, Redirects, Request, Settings, Validators};

/// An answer with its body.
#[derive(Clone, Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The header fields.
    pub fields: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// Fetches pages of at most `most` octets. `user_agent` is Beadle's own if none is given. An operator
/// names the addresses, so private ones are reached too.
///
/// # Errors
/// The client can't be set up.
pub async fn pages(
    urls: &[String],
    user_agent: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Page, Failure>>, String> {
    let mut settings = Settings::new(Reach::Any, Redirects::Follow);
    settings.user_agent = user_agent.unwrap_or(settings.user_agent);
    let client = Client::new(settings)?;
    let mut pages = Vec::with_capacity(urls.len());
    for url in urls {
        pages.push(page(&client, url, most).await);
    }
    Ok(pages)
}

async fn page(client: &Client, url: &str, most: usize) -> Result<Page, Failure> {
    let (host, forwarded, validators) = (None, None, &Validators::default());
    let response = client.get(Request { url, host, forwarded, validators }).await?;
    let (status, fields) = (response.status(), response.fields().clone());
    let body = response.body(most).await?.to_vec();
    Ok(Page { status, fields, body })
}

impl Page {
    /// The body of a file that is there: with status 200, and no HTML page in its place.
    pub fn into_file(self) -> Option<Vec<u8>> {
        let is_file = self.status == 200 && !self.body.trim_ascii_start().starts_with(b"<");
        is_file.then_some(self.body)
    }
}

/// Whether a name is the address of a page.
pub fn is_url(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// The URL without its path: `https://www.example.com`.
pub fn root(url: &str) -> &str {
    let slash = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
    url.get(..slash).unwrap_or(url)
}

/// The host of a URL, without its port.
pub fn host(url: &str) -> Option<String> {
    let (_, rest) = root(url).split_once("://")?;
    let authority = rest.split(['?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The URL of robots.txt: that of a site for its root, else the URL itself.
pub fn robots_url(url: &str) -> String {
    let root = root(url);
    match url.get(root.len()..) {
        None | Some("" | "/") => format!("{root}/robots.txt"),
        Some(_) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_stands_for_its_robots_txt() {
        for (url, robots, name) in [
            ("https://A.example", "https://A.example/robots.txt", Some("a.example")),
            ("http://a.example:81/", "http://a.example:81/robots.txt", Some("a.example")),
            ("http://[::1]:81/x/r.txt", "http://[::1]:81/x/r.txt", Some("::1")),
            ("http://", "http:///robots.txt", None),
        ] {
            assert_eq!((robots_url(url).as_str(), host(url).as_deref()), (robots, name), "{url}");
        }
        assert!(is_url("http://a") && !is_url("a.txt"));
    }
}
