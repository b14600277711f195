//! The `watch` of a site: the look at its public address from outside.

use std::time::Duration;

use crate::base::product_token::ProductToken;

use super::{
    backend::path,
    host::Host,
    names::Names,
    origin::{self, Origin},
    shape::At,
};

/// How Beadle looks at a site from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub(crate) url: Origin,
    pub(crate) every: Duration,
    pub(crate) pages: Vec<String>,
    pub(crate) crawlers: Vec<ProductToken>,
}

impl Watch {
    pub(super) fn is_of(&self, hosts: &[Host]) -> bool {
        let Origin { host, port, .. } = &self.url;
        hosts.iter().any(|one| match one {
            Host::Exact(known) => known == host || *known == format!("{host}:{port}"),
            Host::Below(suffix) => host.ends_with(suffix.as_str()),
        })
    }
}

/// Reads the section of a site with these hosts; `is_default` takes all of them.
pub(super) fn read(
    at: &At<'_>,
    (hosts, is_default): (&[Host], bool),
    names: &Names<'_>,
) -> Option<Watch> {
    let fields = at.fields()?;
    let (every, pages) = (fields.get("every"), fields.each("pages", path));
    let crawlers = names.crawlers(&fields.list("user_agents"));
    let help = "write 'url: https://www.example.com', the address that people use";
    let at = fields.require("url", help)?;
    let url = origin::read(&at)?;
    let watch = Watch { url, every, pages, crawlers };
    if !is_default && !watch.is_of(hosts) {
        let message = format!("'{}' is no host of this site", watch.url.host);
        return at.refused(message, "add it to 'hosts', or name one of them");
    }
    Some(watch)
}

#[cfg(test)]
mod tests {
    use crate::rules::policy;

    fn read(hosts: &str, watch: &str) -> Result<Vec<(String, String)>, String> {
        let text = format!(
            "sites: [{{ hosts: [{hosts}], origin: \"http://127.0.0.1:1\", watch: {watch} }}]"
        );
        let (policy, findings) = policy::read("beadle.yaml", text.as_bytes());
        let told = || findings.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ");
        let sites = policy.ok_or_else(told)?.sites;
        let urls = sites
            .iter()
            .filter_map(|one| Some((one.name().to_owned(), one.watch.as_ref()?.url.to_string())));
        Ok(urls.collect())
    }

    #[test]
    fn the_address_is_one_of_the_site() {
        for (hosts, watch, is_read) in [
            ("a.example", "{ url: \"https://a.example\" }", true),
            ("a.example", "{ url: \"http://a.example:8080/\", every: 1s, pages: [/x] }", true),
            ("a.example:8080", "{ url: \"http://a.example:8080\" }", true),
            ("'*.a.example'", "{ url: \"https://b.a.example\", user_agents: [GPTBot] }", true),
            (
                "a.example], default: true, timeouts: {}, request_fields: {}, robots_tag: [",
                "{ url: \"https://b.example\" }",
                true,
            ),
            ("a.example", "{ url: \"https://b.example\" }", false),
            ("a.example", "{ url: \"https://a.example/x\" }", false),
            ("a.example", "{ url: \"https://u@a.example\" }", false),
            ("a.example", "{ url: \"https://a.example\", pages: [x] }", false),
            ("a.example", "{ url: \"https://a.example\", user_agents: ['*'] }", false),
            ("a.example", "{ every: 1m }", false),
            ("a.example", "https://a.example", false),
        ] {
            let found = read(hosts, watch);
            assert_eq!(found.is_ok(), is_read, "{hosts} {watch}: {found:?}");
        }
    }

    #[test]
    fn of_hosts_with_files_of_their_own_the_one_in_the_address_is_watched() {
        let hosts = "a.example, b.example], robots_txt: { source: origin }, robots_tag: [";
        let found = read(hosts, "{ url: \"https://b.example\" }").expect("a policy");
        assert_eq!(found, [("b.example".to_owned(), "https://b.example:443".to_owned())]);
    }
}
