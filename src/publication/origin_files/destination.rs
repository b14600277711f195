//! The destination of a fetch, and the destinations of its redirects (RFC 9309 §2.3.1.2).
//!
//! Beadle never looks up a host of the policy, because its public address is most likely Beadle's
//! own. It fetches from the origin of the host's site.

use url::{Position, Url};

use crate::policy::{self, Origin};

use super::{access_result::Refusal, site::WatchedSite};

/// The hosts of the policy, each with the origins of its site.
#[derive(Clone, Debug, Default)]
pub(in crate::publication) struct KnownHosts(Vec<(policy::Host, Vec<Origin>)>);

impl KnownHosts {
    /// The hosts of these sites, also of sites without fetches.
    pub(in crate::publication) fn of<'p>(
        sites: impl IntoIterator<Item = &'p policy::Site>,
    ) -> Self {
        let of_site = |site: &'p policy::Site| {
            site.hosts.iter().map(|host| (host.clone(), site.backend.origins.clone()))
        };
        Self(sites.into_iter().flat_map(of_site).collect())
    }

    /// The first origin of a host: of the site with this host, else of the longest wildcard above it.
    fn origin(&self, host: &str) -> Option<&Origin> {
        let specificity = |one: &policy::Host| match one {
            policy::Host::Exact(name) => (name == host).then_some(usize::MAX),
            policy::Host::Below(suffix) => host.ends_with(suffix.as_str()).then_some(suffix.len()),
        };
        let covering = self.0.iter().filter_map(|(one, all)| Some((specificity(one)?, all)));
        covering.max_by_key(|(specificity, _)| *specificity).and_then(|(_, all)| all.first())
    }

    /// The origin with this host and port.
    fn origin_at(&self, host: &str, port: u16) -> Option<&Origin> {
        let mut origins = self.0.iter().flat_map(|(_, origins)| origins);
        origins.find(|origin| is_at(origin, host, port))
    }
}

/// The destination of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    /// The server to connect to.
    pub(super) origin: Origin,
    /// The `Host` field.
    pub(super) host: String,
    /// The scheme of the redirect that led here. It does not affect the connection to the origin.
    /// `X-Forwarded-Proto` reports it, as for requests of clients.
    pub(super) scheme: Option<String>,
    /// Path and query.
    target: String,
}

impl Destination {
    /// The robots.txt of a site, at each of its origins.
    pub(super) fn of(site: &WatchedSite) -> Vec<Self> {
        let at = |origin: &Origin| Self {
            origin: origin.clone(),
            host: site.host.clone(),
            scheme: None,
            target: "/robots.txt".to_owned(),
        };
        site.origins.iter().map(at).collect()
    }

    /// The URL to fetch.
    pub(super) fn url(&self) -> String {
        format!("{}{}", self.origin, self.target)
    }

    /// The destination of a redirect from here.
    ///
    /// # Errors
    /// The Location is invalid or leads to a host outside the policy.
    pub(super) fn redirected(
        &self,
        location: Option<&[u8]>,
        hosts: &KnownHosts,
    ) -> Result<Self, Refusal> {
        let written = location.and_then(|value| str::from_utf8(value).ok());
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

/// Host and port, without the scheme's default port.
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

    fn hosts() -> KnownHosts {
        let exact = |host: &str| policy::Host::Exact(host.to_owned());
        let below = |suffix: &str| policy::Host::Below(suffix.to_owned());
        KnownHosts(vec![
            (exact("a.example"), vec![origin("127.0.0.1:3000")]),
            (exact("b.example"), vec![origin("b.internal:80")]),
            (below(".c.example"), vec![origin("127.0.0.1:3002")]),
            (below(".deep.c.example"), vec![origin("127.0.0.1:3003")]),
            (exact("here.c.example"), vec![origin("127.0.0.1:3004")]),
        ])
    }

    fn site() -> WatchedSite {
        WatchedSite {
            name: "a.example".to_owned(),
            origins: vec![origin("127.0.0.1:3000")],
            host: "a.example".to_owned(),
            accept_full_disallow: false,
        }
    }

    #[test]
    fn rfc9309_2_3_1_2_a_redirect_is_followed_at_the_origin_of_its_host() {
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
            let next = Destination::of(&site())[0].redirected(Some(location.as_bytes()), &hosts());
            let next = next.expect(location);
            let scheme = next.scheme.as_deref().unwrap_or("-");
            let Destination { origin: Origin { host, port, .. }, host: field, target, .. } = &next;
            assert_eq!(format!("{host}:{port} {field} {scheme} {target}"), to, "{location}");
        }
    }

    #[test]
    fn a_redirect_to_a_host_outside_the_policy_is_not_followed() {
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
            let refusal =
                Destination::of(&site())[0].redirected(Some(location.as_bytes()), &hosts());
            assert_eq!(refusal, Err(Refusal::RedirectAway(location.into())), "{location}");
        }
        for location in [None, Some(&b"/\xff"[..]), Some(b"http://[")] {
            let refusal = Destination::of(&site())[0].redirected(location, &hosts());
            assert_eq!(refusal, Err(Refusal::NoLocation), "{location:?}");
        }
    }
}
