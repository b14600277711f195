//! Pages of the web, fetched for a verb, and rules of any program: from a file, from standard input or from a
//! site.

use std::{io, path::Path};

use super::{
    exit::{Error, refuse},
    input::{self, STANDARD_INPUT},
    runtime::control_runtime,
};
use crate::base::{
    escape,
    fetch::page::{self, Page, is_url},
};

/// The largest robots.txt, in octets. It is far more than any crawler reads, so that an author sees where
/// crawlers stop.
pub(crate) const MAX_ROBOTS_TXT: usize = 16 << 20;

/// Fetches pages, one after the other. What failed is a sentence.
pub(crate) fn get(
    urls: &[String],
    user_agent: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Page, String>>, Error> {
    let found = control_runtime()?.block_on(page::pages(urls, user_agent, most));
    let found = found.map_err(|error| Error::Output(io::Error::other(error)))?;
    let sentence = |(url, found): (&String, Result<Page, _>)| {
        found.map_err(|failure| format!("{}: {failure}", escape::shown(url)))
    };
    Ok(urls.iter().zip(found).map(sentence).collect())
}

/// The bytes of a robots.txt. `from` is a file, `-` or a URL; a URL without a path is that of a site.
pub(crate) fn robots_txt(from: &str) -> Result<Vec<u8>, Error> {
    match from {
        "-" => input::read(io::stdin().lock(), STANDARD_INPUT, MAX_ROBOTS_TXT),
        url if is_url(url) => fetched(url),
        file => input::read_file(Path::new(file), MAX_ROBOTS_TXT),
    }
}

/// The robots.txt of a site, as RFC 9309 §2.3.1 reads the answer: no rules where there is none.
fn fetched(url: &str) -> Result<Vec<u8>, Error> {
    let url = page::robots_url(url);
    let mut pages = get(std::slice::from_ref(&url), None, MAX_ROBOTS_TXT)?;
    let page = pages.pop().unwrap_or_else(|| Err(url.clone())).map_err(Error::Refused)?;
    match page.status {
        200..=299 => Ok(page.body),
        400..=499 => Ok(Vec::new()),
        status => {
            let url = escape::shown(&url);
            refuse(format!("{url}: status {status} (crawlers read it as closed)"))
        }
    }
}
