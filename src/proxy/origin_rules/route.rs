//! Where robots.txt is fetched from, and where a redirect may lead (RFC 9309 §2.3.1.2).
//!
//! A host of the policy is never looked up: its public address is likely our own. It is asked for at
//! the origin of its site.

use reqwest::{Url, header::HeaderValue};
use url::Position;

use crate::policy::{self, Origin};

use super::{Site, answer::Refusal};

/// The hosts of the operator, each with the origin that it is asked for at.
#[derive(Clone, Debug, Default)]
pub(in crate::proxy) struct Hosts(Vec<(policy::Host, Origin)>);

impl Hosts {
    /// The hosts of these sites, whether their robots.txt is fetched or not.
    pub(in crate::proxy) fn of<'p>(sites: impl IntoIterator<Item = &'p policy::Site>) -> Self {
        let of_site = |site: &'p policy::Site| {
            site.hosts.iter().map(|host| (host.clone(), site.origin.clone()))
        };
        Self(sites.into_iter().flat_map(of_site).collect())
    }

    /// The origin of a host: of the site that names it, else of the longest wildcard above it.
    fn origin(&self, host: &str) -> Option<&Origin> {
        let specificity = |one: &policy::Host| match one {
            policy::Host::Exact(name) => (name == host).then_some(usize::MAX),
            policy::Host::Below(suffix) => host.ends_with(suffix.as_str()).then_some(suffix.len()),
        };
        let covering = self.0.iter().filter_map(|(one, origin)| Some((specificity(one)?, origin)));
        covering.max_by_key(|(specificity, _)| *specificity).map(|(_, origin)| origin)
    }

    /// The origin at an authority.
    fn origin_at(&self, host: &str, port: u16) -> Option<&Origin> {
        let mut origins = self.0.iter().map(|(_, origin)| origin);
        origins.find(|origin| is_at(origin, host, port))
    }
}

/// A request: whom it is sent to, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Who is connected to.
    pub(super) origin: Origin,
    /// The `Host` field.
    pub(super) host: String,
    /// The scheme of the redirect that led here. It doesn't decide how the origin is connected to;
    /// the origin is told of it, as it is for requests from outside.
    pub(super) scheme: Option<String>,
    /// Path and query.
    target: String,
}

impl Place {
    /// The robots.txt of a site.
    pub(super) fn of(site: &Site) -> Self {
        Self {
            origin: site.origin.clone(),
            host: site.host.clone(),
            scheme: None,
            target: "/robots.txt".to_owned(),
        }
    }

    /// What is connected to and asked for; `None` where the origin can't stand in a URL.
    pub(super) fn url(&self) -> Option<Url> {
        Url::parse(&format!("{}{}", self.origin, self.target)).ok()
    }

    /// Where a redirect from here leads.
    ///
    /// # Errors
    /// A Location that can't be read, or leads away from the operator's hosts.
    pub(super) fn redirected(
        &self,
        location: Option<&HeaderValue>,
        hosts: &Hosts,
    ) -> Result<Self, Refusal> {
        let written = location.and_then(|value| str::from_utf8(value.as_bytes()).ok());
        let written = written.ok_or(Refusal::NoLocation)?;
        let scheme =
            self.scheme.as_deref().unwrap_or(if self.origin.tls { "https" } else { "http" });
        let base = format!("{scheme}://{}{}", self.host, self.target);
        let base = Url::parse(&base).map_err(|_| Refusal::NoLocation)?;
        let url = base.join(written).map_err(|_| Refusal::NoLocation)?;
        let away = || Refusal::RedirectAway(written.as_bytes().to_vec());
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        let is_http = matches!(url.scheme(), "http" | "https");
        let (true, Some(name), Some(port)) =
            (is_http && !has_credentials, url.host_str(), url.port_or_known_default())
        else {
            return Err(away());
        };
        let name = name.trim_start_matches('[').trim_end_matches([']', '.']);
        let is_here = authority(&url) == authority(&base) || is_at(&self.origin, name, port);
        let origin = if is_here {
            &self.origin
        } else {
            let named = hosts.origin(name).or_else(|| hosts.origin_at(name, port));
            named.ok_or_else(away)?
        };
        Ok(Self {
            origin: origin.clone(),
            host: authority(&url).to_owned(),
            scheme: Some(url.scheme().to_owned()),
            target: url[Position::BeforePath..Position::AfterQuery].to_owned(),
        })
    }
}

/// Host and port, without the port that the scheme has anyway.
fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

fn is_at(origin: &Origin, host: &str, port: u16) -> bool {
    origin.host == host && origin.port == port
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        let (host, port) = text.rsplit_once(':').expect("with a port");
        Origin { tls: false, host: host.to_owned(), port: port.parse().expect("a number") }
    }

    fn hosts() -> Hosts {
        let exact = |host: &str| policy::Host::Exact(host.to_owned());
        let below = |suffix: &str| policy::Host::Below(suffix.to_owned());
        Hosts(vec![
            (exact("a.example"), origin("127.0.0.1:3000")),
            (exact("b.example"), origin("b.internal:80")),
            (below(".c.example"), origin("127.0.0.1:3002")),
            (below(".deep.c.example"), origin("127.0.0.1:3003")),
            (exact("here.c.example"), origin("127.0.0.1:3004")),
        ])
    }

    fn site() -> Site {
        Site {
            name: "a.example".to_owned(),
            origin: origin("127.0.0.1:3000"),
            host: "a.example".to_owned(),
            accept_full_disallow: false,
        }
    }

    #[test]
    fn rfc9309_2_3_1_2_a_redirect_is_followed_at_the_origin_of_the_host_that_it_names() {
        for (location, to) in [
            ("/r.txt?a=1#b", "127.0.0.1:3000 a.example http /r.txt?a=1"),
            ("r.txt", "127.0.0.1:3000 a.example http /r.txt"),
            ("https://a.example/robots.txt", "127.0.0.1:3000 a.example https /robots.txt"),
            ("https://A.EXAMPLE./robots.txt", "127.0.0.1:3000 a.example. https /robots.txt"),
            ("//a.example:8443/r", "127.0.0.1:3000 a.example:8443 http /r"),
            ("http://127.0.0.1:3000/r", "127.0.0.1:3000 127.0.0.1:3000 http /r"),
            ("http://b.example", "b.internal:80 b.example http /"),
            ("http://b.internal/r", "b.internal:80 b.internal http /r"),
            ("http://x.c.example/r", "127.0.0.1:3002 x.c.example http /r"),
            ("http://x.deep.c.example/r", "127.0.0.1:3003 x.deep.c.example http /r"),
            ("http://here.c.example/r", "127.0.0.1:3004 here.c.example http /r"),
        ] {
            let value = HeaderValue::from_static(location);
            let place = Place::of(&site()).redirected(Some(&value), &hosts()).expect(location);
            let scheme = place.scheme.as_deref().unwrap_or("-");
            let Place { origin: Origin { host, port, .. }, host: asked, target, .. } = &place;
            assert_eq!(format!("{host}:{port} {asked} {scheme} {target}"), to, "{location}");
        }
    }

    #[test]
    fn ours_a_redirect_that_leaves_the_operators_hosts_is_not_followed() {
        for location in [
            "http://elsewhere.example/robots.txt",
            "//c.example/robots.txt",
            "http://a.example.evil.example/",
            "http://xc.example/",
            "http://127.0.0.1:3999/robots.txt",
            "http://127.0.0.1/robots.txt",
            "http://b.internal:81/",
            "http://user@a.example/robots.txt",
            "ftp://a.example/robots.txt",
            "file:///etc/passwd",
            "data:text/plain,User-agent:*",
        ] {
            let value = HeaderValue::from_static(location);
            let refusal = Place::of(&site()).redirected(Some(&value), &hosts());
            assert_eq!(refusal, Err(Refusal::RedirectAway(location.into())), "{location}");
        }
        let odd = HeaderValue::from_bytes(b"/\xff").ok();
        for location in [None, odd, Some(HeaderValue::from_static("http://["))] {
            let refusal = Place::of(&site()).redirected(location.as_ref(), &hosts());
            assert_eq!(refusal, Err(Refusal::NoLocation), "{location:?}");
        }
    }
}
