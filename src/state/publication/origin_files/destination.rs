//! The destination of a fetch, and the destinations of its redirects (RFC 9309 §2.3.1.2).
//!
//! Beadle never looks up a host of the policy, because its public address is most likely Beadle's
//! own. It fetches from the origin of the host's site. A redirect may lead to any other authority, but
//! then to public addresses alone: another server chose it. From there, a redirect leads to a host of
//! the policy by its name, never to an origin by its address.

use std::{sync::Arc, time::Duration};

use url::{Position, Url};

use crate::rules::{
    crawlers::Catalogue,
    policy::{self, Origin, Policy},
};

use super::access_result::Fault;

/// A site with fetches of its origin's robots.txt.
#[derive(Clone, Debug)]
pub(crate) struct WatchedSite {
    pub(crate) name: String,
    /// The servers to fetch from: the first, and the next ones if it does not answer.
    pub(crate) origins: Vec<Origin>,
    /// The `Host` field: the first host of the site without a wildcard.
    pub(crate) host: String,
    pub(crate) scheme: &'static str,
    pub(crate) caution: Caution,
    /// The crawlers that the findings about a file know.
    pub(crate) catalogue: Arc<Catalogue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caution {
    /// Whether to publish a file at once that suddenly closes the whole site.
    pub(crate) accept_full_disallow: bool,
    /// How long the last file stays in force after its rules vanished; zero is not at all.
    pub(crate) vanish_after: Duration,
}

#[cfg(test)]
impl Default for Caution {
    fn default() -> Self {
        Self {
            accept_full_disallow: false,
            vanish_after: policy::RobotsTxt::default().vanish_after,
        }
    }
}

impl WatchedSite {
    pub(crate) fn of(site: &policy::Site, policy: &Policy) -> Self {
        let policy::RobotsTxt { accept_full_disallow, vanish_after, .. } = site.robots_txt;
        let is_secure = policy.server.listen.iter().any(|listener| listener.tls.is_some());
        Self {
            name: site.name().to_owned(),
            origins: site.backend.origins.clone(),
            host: site.backend.host.clone(),
            scheme: if is_secure { "https" } else { "http" },
            caution: Caution { accept_full_disallow, vanish_after },
            catalogue: Arc::clone(&policy.catalogue),
        }
    }

    pub(super) fn urls(&self) -> String {
        let urls: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        urls.join(", ")
    }
}

/// The hosts of the policy, each with the origins of its site.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownHosts(Vec<(policy::Host, Vec<Origin>)>);

impl KnownHosts {
    /// The hosts of these sites, also of sites without fetches.
    pub(crate) fn of<'p>(sites: impl IntoIterator<Item = &'p policy::Site>) -> Self {
        let of_site = |site: &'p policy::Site| {
            site.hosts.iter().map(|host| (host.clone(), site.backend.origins.clone()))
        };
        Self(sites.into_iter().flat_map(of_site).collect())
    }

    /// The first origin of a host, or of one with its port: of the site with this host, else of the
    /// longest wildcard above it.
    fn origin(&self, host: &str) -> Option<&Origin> {
        let specificity = |one: &policy::Host| match one {
            policy::Host::Exact(name) => (name == host).then_some(usize::MAX),
            policy::Host::Below(suffix) => host.ends_with(suffix.as_str()).then_some(suffix.len()),
        };
        let covering = self.0.iter().filter_map(|(one, all)| Some((specificity(one)?, all)));
        covering.max_by_key(|(specificity, _)| *specificity).and_then(|(_, all)| all.first())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) origin: Origin,
    /// Whether the server belongs to the policy.
    pub(super) owner: Owner,
    /// The `Host` field. An origin also gets it as `X-Forwarded-Host`.
    pub(super) host: String,
    /// The scheme of the listeners, or of the redirect that led here. It does not affect the
    /// connection to an origin. `X-Forwarded-Proto` reports it, as for requests of clients.
    pub(super) scheme: String,
    target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The operator: an origin of the policy.
    Policy,
    /// Anyone: the destination of a redirect.
    Foreign,
}

impl Destination {
    pub(super) fn of(site: &WatchedSite) -> Vec<Self> {
        let at = |origin: &Origin| Self {
            origin: origin.clone(),
            owner: Owner::Policy,
            host: site.host.clone(),
            scheme: site.scheme.to_owned(),
            target: "/robots.txt".to_owned(),
        };
        site.origins.iter().map(at).collect()
    }

    pub(super) fn url(&self) -> String {
        format!("{}{}", self.origin, self.target)
    }

    /// The destination of a redirect from here. The client checks the address of a foreign server.
    /// The Location may be invalid, or one that no client may follow.
    pub(super) fn redirected(
        &self,
        location: Option<&[u8]>,
        hosts: &KnownHosts,
    ) -> Result<Self, Fault> {
        let written = location.and_then(|value| str::from_utf8(value).ok());
        let written = written.ok_or(Fault::NoLocation)?;
        let base = format!("{}://{}{}", self.scheme, self.host, self.target);
        let base = Url::parse(&base).map_err(|_| Fault::NoLocation)?;
        let url = base.join(written).map_err(|_| Fault::NoLocation)?;
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        let is_http = matches!(url.scheme(), "http" | "https");
        let (true, Some(name), Some(port)) =
            (is_http && !has_credentials, url.host_str(), url.port_or_known_default())
        else {
            return Err(Fault::RedirectAway(written.as_bytes().to_vec()));
        };
        let name = name.trim_start_matches('[').trim_end_matches([']', '.']);
        let is_here = authority(&url) == authority(&base) || is_at(&self.origin, name, port);
        let with_port = format!("{}:{port}", policy::host_in_url(name));
        let named = || hosts.origin(&with_port).or_else(|| hosts.origin(name));
        let known = match self.owner {
            Owner::Policy if is_here => Some(&self.origin),
            Owner::Policy => {
                let mut all = hosts.0.iter().flat_map(|(_, origins)| origins);
                named().or_else(|| all.find(|origin| is_at(origin, name, port)))
            }
            Owner::Foreign => named(),
        };
        let (owner, origin) = match known {
            Some(origin) => (Owner::Policy, origin.clone()),
            None => {
                let tls = url.scheme() == "https";
                (Owner::Foreign, Origin { tls, host: name.to_owned(), port })
            }
        };
        Ok(Self {
            origin,
            owner,
            host: authority(&url).to_owned(),
            scheme: url.scheme().to_owned(),
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
    use std::sync::Arc;

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
            (exact("q.example:8443"), vec![origin("127.0.0.1:3005")]),
            (exact("b.example:8443"), vec![origin("127.0.0.1:3006")]),
        ])
    }

    fn start() -> Destination {
        let site = WatchedSite {
            name: "a.example".to_owned(),
            origins: vec![origin("127.0.0.1:3000")],
            host: "a.example".to_owned(),
            scheme: "http",
            caution: Caution::default(),
            catalogue: Arc::new(policy::built_in_catalogue()),
        };
        Destination::of(&site).remove(0)
    }

    fn shown(of: &Destination) -> String {
        let Destination { origin: Origin { tls, host, port }, owner, host: field, scheme, target } =
            of;
        let owner = match (owner, tls) {
            (Owner::Policy, _) => "own",
            (Owner::Foreign, false) => "foreign",
            (Owner::Foreign, true) => "foreign-tls",
        };
        format!("{owner} {host}:{port} {field} {scheme} {target}")
    }

    #[test]
    fn rfc9309_2_3_1_2_a_redirect_is_followed_at_the_origin_of_its_host_or_at_a_foreign_server() {
        for (location, to) in [
            ("/r.txt?a=1#b", "own 127.0.0.1:3000 a.example http /r.txt?a=1"),
            ("r.txt", "own 127.0.0.1:3000 a.example http /r.txt"),
            ("https://a.example/robots.txt", "own 127.0.0.1:3000 a.example https /robots.txt"),
            ("https://A.EXAMPLE./robots.txt", "own 127.0.0.1:3000 a.example. https /robots.txt"),
            ("//a.example:8443/r", "own 127.0.0.1:3000 a.example:8443 http /r"),
            ("http://127.0.0.1:3000/r", "own 127.0.0.1:3000 127.0.0.1:3000 http /r"),
            ("http://b.example", "own b.internal:80 b.example http /"),
            ("http://b.internal/r", "own b.internal:80 b.internal http /r"),
            ("http://x.c.example/r", "own 127.0.0.1:3002 x.c.example http /r"),
            ("http://x.deep.c.example/r", "own 127.0.0.1:3003 x.deep.c.example http /r"),
            ("http://here.c.example/r", "own 127.0.0.1:3004 here.c.example http /r"),
            ("https://q.example:8443/r", "own 127.0.0.1:3005 q.example:8443 https /r"),
            ("https://b.example:8443/r", "own 127.0.0.1:3006 b.example:8443 https /r"),
            ("https://b.example:9443/r", "own b.internal:80 b.example:9443 https /r"),
            ("http://q.example/r", "foreign q.example:80 q.example http /r"),
            (
                "http://elsewhere.example/r",
                "foreign elsewhere.example:80 elsewhere.example http /r",
            ),
            ("https://e.example:8443/r", "foreign-tls e.example:8443 e.example:8443 https /r"),
            ("//c.example/robots.txt", "foreign c.example:80 c.example http /robots.txt"),
            ("http://xc.example/", "foreign xc.example:80 xc.example http /"),
            // The client refuses to connect to it.
            ("http://127.0.0.1:3999/r", "foreign 127.0.0.1:3999 127.0.0.1:3999 http /r"),
            ("http://b.internal:81/", "foreign b.internal:81 b.internal:81 http /"),
        ] {
            let next = start().redirected(Some(location.as_bytes()), &hosts()).expect(location);
            assert_eq!(shown(&next), to, "{location}");
        }
    }

    #[test]
    fn a_foreign_server_names_no_origin_by_its_address() {
        let foreign = start().redirected(Some(b"http://elsewhere.example/r"), &hosts());
        let foreign = foreign.expect("it is followed");
        for (location, to) in [
            ("/next", "foreign elsewhere.example:80 elsewhere.example http /next"),
            (
                "https://elsewhere.example/",
                "foreign-tls elsewhere.example:443 elsewhere.example https /",
            ),
            ("http://a.example/r", "own 127.0.0.1:3000 a.example http /r"),
            ("//q.example:8443/r", "own 127.0.0.1:3005 q.example:8443 http /r"),
            ("http://127.0.0.1:3000/r", "foreign 127.0.0.1:3000 127.0.0.1:3000 http /r"),
            ("http://b.internal/r", "foreign b.internal:80 b.internal http /r"),
        ] {
            let next = foreign.redirected(Some(location.as_bytes()), &hosts()).expect(location);
            assert_eq!(shown(&next), to, "{location}");
        }
    }

    #[test]
    fn a_redirect_that_no_client_may_follow_is_refused() {
        for location in [
            "http://user@a.example/robots.txt",
            "ftp://a.example/robots.txt",
            "file:///etc/passwd",
            "data:text/plain,User-agent:*",
        ] {
            let refusal = start().redirected(Some(location.as_bytes()), &hosts());
            assert_eq!(refusal, Err(Fault::RedirectAway(location.into())), "{location}");
        }
        for location in [None, Some(&b"/\xff"[..]), Some(b"http://[")] {
            let refusal = start().redirected(location, &hosts());
            assert_eq!(refusal, Err(Fault::NoLocation), "{location:?}");
        }
    }
}
