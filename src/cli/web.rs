//! One page of the web, fetched for a verb.

use std::io;

use http::HeaderMap;

use crate::{
    cli::{exit::Error, serve::control_runtime},
    escape,
    fetch::{Client, PRODUCT, Reach, Redirects, Request, Settings, Validators},
};

/// An answer with its body.
pub(super) struct Page {
    pub(super) status: u16,
    #[allow(dead_code, reason = "the verb that reads them comes next")]
    pub(super) fields: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Whether a name is the address of a page.
pub(super) fn is_url(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// Fetches pages, one after the other. `user_agent` is Beadle's own if none is given. An operator
/// names the addresses, so private ones are reached too.
pub(super) fn get(
    urls: &[String],
    user_agent: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Page, String>>, Error> {
    let settings = Settings {
        user_agent: user_agent.unwrap_or(PRODUCT),
        reach: Reach::Any,
        redirects: Redirects::Follow,
        authorities: None,
        resolver: None,
    };
    let client = Client::new(settings).map_err(|error| Error::Output(io::Error::other(error)))?;
    let one = async |url: &str| {
        let (host, forwarded_proto, validators) = (None, None, &Validators::default());
        let response = client.get(Request { url, host, forwarded_proto, validators }).await?;
        let (status, fields) = (response.status(), response.fields().clone());
        let body = response.body(most).await?.to_vec();
        Ok::<_, crate::fetch::Failure>(Page { status, fields, body })
    };
    Ok(control_runtime()?.block_on(async {
        let mut pages = Vec::with_capacity(urls.len());
        for url in urls {
            let page = one(url).await;
            pages.push(page.map_err(|failure| format!("{}: {failure}", escape::shown(url))));
        }
        pages
    }))
}

/// The robots.txt of a site, as RFC 9309 §2.3.1 reads the answer: no rules where there is none.
pub(super) fn robots_txt(url: &str, most: usize) -> Result<Vec<u8>, Error> {
    let at_root = url.splitn(4, '/').nth(3).is_none_or(str::is_empty);
    let url = match at_root {
        true => format!("{}/robots.txt", url.trim_end_matches('/')),
        false => url.to_owned(),
    };
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
