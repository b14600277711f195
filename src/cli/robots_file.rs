//! A robots.txt that an option names: a file or an address.

use std::path::Path;

use bytes::Bytes;
use url::Url;

use crate::{
    cli::{exit::Error, input, serve::control_runtime},
    escape::shown,
    fetch::{Client, PRODUCT, Reach, Redirects, Request, Settings, Validators},
};

/// The largest file, in octets; far more than any crawler reads.
const MAX_FILE: usize = 16 << 20;

/// The bytes of a robots.txt: a file, or an `http` or `https` address. Of a site's address, its
/// `/robots.txt` is fetched. A site without a robots.txt (404 and other 4xx) has an empty one (RFC 9309
/// §2.3.1.3).
pub(super) fn read(from: &str) -> Result<Bytes, Error> {
    if !from.contains("://") {
        return Ok(input::read_file(Path::new(from), MAX_FILE)?.into());
    }
    let refused = |why: String| Error::Refused(format!("{}: {why}", shown(from)));
    let url = robots_url(from).ok_or_else(|| refused("this is no http or https address".into()))?;
    let settings = Settings {
        user_agent: PRODUCT,
        reach: Reach::Any,
        redirects: Redirects::Follow,
        authorities: None,
        resolver: None,
    };
    let client = Client::new(settings).map_err(refused)?;
    let validators = Validators::default();
    let request = Request { url: &url, host: None, forwarded_proto: None, validators: &validators };
    let fetched = control_runtime()?.block_on(async {
        let response = client.get(request).await?;
        match response.status() {
            400..=499 => Ok((response.status(), Bytes::new())),
            status => Ok((status, response.body(MAX_FILE).await?)),
        }
    });
    match fetched.map_err(|failure: crate::fetch::Failure| refused(failure.to_string()))? {
        (200..=299 | 400..=499, bytes) => Ok(bytes),
        (status, _) => Err(refused(format!("the server answered {status}"))),
    }
}

/// The address of the robots.txt that an address means.
fn robots_url(from: &str) -> Option<String> {
    let mut url = Url::parse(from).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    if matches!(url.path(), "" | "/") {
        url.set_path("/robots.txt");
    }
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9309_2_3_the_address_of_a_site_means_its_robots_txt() {
        for (from, url) in [
            ("https://www.example.com", Some("https://www.example.com/robots.txt")),
            ("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080/robots.txt")),
            ("https://www.example.com/x/robots.txt", Some("https://www.example.com/x/robots.txt")),
            ("ftp://www.example.com/robots.txt", None),
            ("://", None),
        ] {
            assert_eq!(robots_url(from).as_deref(), url, "{from}");
        }
    }
}
