//! Pages of the web, fetched for a verb.

use std::io;

use crate::{
    base::{
        escape,
        fetch::page::{self, Page},
    },
    program::console::{exit::Error, runtime::control_runtime},
};

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

/// The robots.txt of a site, as RFC 9309 §2.3.1 reads the answer: no rules where there is none.
pub(crate) fn robots_txt(url: &str, most: usize) -> Result<Vec<u8>, Error> {
    let url = page::robots_url(url);
    let mut pages = get(std::slice::from_ref(&url), None, most)?;
    let page = pages.pop().unwrap_or_else(|| Err(url.clone())).map_err(Error::Refused)?;
    match page.status {
        200..=299 => Ok(page.body),
        400..=499 => Ok(Vec::new()),
        status => {
            let url = escape::shown(&url);
            Err(Error::Refused(format!("{url}: status {status} (crawlers read it as closed)")))
        }
    }
}
