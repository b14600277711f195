//! The answers to the requests of an audit.

use crate::base::fetch;

/// The files of a site, as they were answered.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The status of `/robots.txt`; 0 is no answer.
    pub robots_status: u16,
    /// `/robots.txt`.
    pub robots_txt: Vec<u8>,
    /// `/ai.txt`, if there is one.
    pub ai_txt: Option<Vec<u8>>,
    /// `/.well-known/tdmrep.json`, if there is one.
    pub tdmrep: Option<Vec<u8>>,
}

impl Site {
    /// The paths of the files.
    pub const PATHS: [&str; 3] = ["/robots.txt", "/ai.txt", "/.well-known/tdmrep.json"];

    /// The files from the answers to [`Self::PATHS`]. A page in the place of a file, as many sites
    /// answer, is none.
    pub fn of(answers: impl IntoIterator<Item = Option<fetch::page::Page>>) -> Self {
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

/// A page as it was answered.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its URL.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The header fields.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Page {
    /// The answer to a request for `url`.
    pub fn of(url: &str, answer: fetch::page::Page) -> Self {
        let fields = answer.fields.iter();
        let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
        Self {
            url: url.to_owned(),
            status: answer.status,
            fields: fields.collect(),
            body: answer.body,
        }
    }

    /// The values of a field.
    pub(super) fn values<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p [u8]> {
        let has_name = move |field: &&(String, Vec<u8>)| field.0.eq_ignore_ascii_case(name);
        self.fields.iter().filter(has_name).map(|(_, value)| value.as_slice())
    }
}
