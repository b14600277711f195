//! The answers to the requests of an audit.

use crate::{base::fetch, rules::enforce};

/// The files of a site, as they were answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    /// The status of `/robots.txt`; 0 is no answer.
    pub(crate) robots_status: u16,
    pub(crate) robots_txt: Vec<u8>,
    pub(crate) ai_txt: Option<Vec<u8>>,
    /// `/.well-known/tdmrep.json`, if there is one.
    pub(crate) tdmrep: Option<Vec<u8>>,
}

impl Site {
    pub(crate) const PATHS: [&str; 3] = ["/robots.txt", "/ai.txt", "/.well-known/tdmrep.json"];

    /// The files from the answers to [`Self::PATHS`]. A page in the place of a file, as many sites
    /// answer, is none.
    pub(crate) fn of(answers: impl IntoIterator<Item = Option<fetch::page::Page>>) -> Self {
        let mut answers = answers.into_iter();
        let mut next = || answers.next().flatten();
        let (robots, ai_txt, tdmrep) = (next(), next(), next());
        let file = |page: Option<fetch::page::Page>| page.and_then(fetch::page::Page::into_file);
        Self {
            robots_status: robots.as_ref().map_or(0, |page| page.status),
            robots_txt: file(robots).unwrap_or_default(),
            ai_txt: file(ai_txt),
            tdmrep: file(tdmrep),
        }
    }
}

impl From<&enforce::Site> for Site {
    /// The files that Beadle publishes for a site.
    fn from(site: &enforce::Site) -> Self {
        Self {
            robots_status: if site.is_withheld { 503 } else { 200 },
            robots_txt: site.edition().bytes().to_vec(),
            ai_txt: None,
            tdmrep: site.usage.as_ref().and_then(|usage| Some(usage.tdmrep.clone()?.into_bytes())),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Page {
    pub(crate) fn of(url: &str, answer: fetch::page::Page) -> Self {
        let fields = answer.fields.iter();
        let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
        Self {
            url: url.to_owned(),
            status: answer.status,
            fields: fields.collect(),
            body: answer.body,
        }
    }

    /// The page at `url` as Beadle answers with the policy in force, without what its origin says.
    /// `path` is the judged form of its target.
    pub(crate) fn in_force(site: &enforce::Site, url: String, path: &[u8]) -> Self {
        let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
        let mut add = |name: &str, value: &str| {
            fields.push((name.to_owned(), value.as_bytes().to_vec()));
        };
        if let Some(tags) = site.tags.select(path, 200, None) {
            tags.robots_tag.iter().for_each(|value| add("Robots-Tag", value));
            tags.x_robots_tag.iter().flatten().for_each(|value| add("X-Robots-Tag", value));
        }
        if let Some(usage) = &site.usage {
            usage.fields(path).iter().for_each(|(name, value)| add(name, value));
        }
        Self { url, status: 200, fields, body: Vec::new() }
    }

    pub(super) fn values<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p [u8]> {
        let has_name = move |field: &&(String, Vec<u8>)| field.0.eq_ignore_ascii_case(name);
        self.fields.iter().filter(has_name).map(|(_, value)| value.as_slice())
    }
}
