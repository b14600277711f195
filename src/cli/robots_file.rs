//! Any robots.txt, from a file, from standard input or from a site.

use std::{io, path::Path};

use crate::{
    cli::{
        exit::Error,
        input::{self, STANDARD_INPUT},
        serve::control_runtime,
    },
    escape,
    fetch::{Client, Failure, PRODUCT, Reach, Redirects, Request, Settings, Validators},
};

/// The largest file, in octets. It is far more than any crawler reads, so that an author sees where
/// crawlers stop.
const MOST: usize = 16 << 20;

/// The bytes of a robots.txt. `from` is a file, `-` or a URL; a URL without a path is that of a site.
pub(super) fn read(from: &str) -> Result<Vec<u8>, Error> {
    if from == "-" {
        return input::read(io::stdin().lock(), STANDARD_INPUT, MOST);
    }
    if !from.starts_with("http://") && !from.starts_with("https://") {
        return input::read_file(Path::new(from), MOST);
    }
    let refused = |why: String| Error::Refused(format!("{}: {why}", escape::shown(from)));
    let fetched = control_runtime()?.block_on(fetch(&url(from)));
    fetched.map_err(|failure| refused(said(&failure)))
}

/// The URL of a site's robots.txt.
fn url(from: &str) -> String {
    let has_path = from
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split_once('/').is_some_and(|(_, path)| !path.is_empty()));
    if has_path { from.to_owned() } else { format!("{}/robots.txt", from.trim_end_matches('/')) }
}

async fn fetch(url: &str) -> Result<Vec<u8>, Failure> {
    let client = Client::new(Settings {
        user_agent: PRODUCT,
        reach: Reach::Any,
        redirects: Redirects::Follow,
        authorities: None,
        resolver: None,
    });
    let client = client.map_err(Failure::Transport)?;
    let validators = Validators::default();
    let request = Request { url, host: None, forwarded_proto: None, validators: &validators };
    let response = client.get(request).await?;
    match response.status() {
        200 => Ok(response.body(MOST).await?.to_vec()),
        status => Err(Failure::Status(status)),
    }
}

/// The failure in a sentence. RFC 9309 §2.3.1 says what a status means to crawlers.
fn said(failure: &Failure) -> String {
    match failure {
        Failure::Status(400..=499) => format!("{failure} (crawlers take this as no rules)"),
        Failure::Status(500..=599) => format!("{failure} (crawlers take this as a closed site)"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn the_url_of_a_site_leads_to_its_file() {
        for (from, expected) in [
            ("https://e.example", "https://e.example/robots.txt"),
            ("https://e.example/", "https://e.example/robots.txt"),
            ("http://e.example:8080/robots.txt?x", "http://e.example:8080/robots.txt?x"),
            ("https://e.example/a", "https://e.example/a"),
        ] {
            assert_eq!(url(from), expected);
        }
    }
}
