//! Kinds of sites, what is wanted of crawlers with a purpose, and the text of a policy that is made of the
//! answers; the questions, on any input and output. The policies of the kinds are those in `examples/presets`.

use std::io::{self, BufRead, Write};

use crate::{
    base::text::words,
    rules::{
        crawlers::{Catalogue, Kind, Purpose},
        policy::built_in_catalogue,
    },
};

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Preset {
        WordPress = "wordpress",
        MediaWiki = "mediawiki",
        Discourse = "discourse",
        Shop = "shop",
        Forge = "forge",
        Documentation = "documentation",
    }
}

impl Preset {
    /// The preset with this name; `none` is none.
    pub(crate) fn read(name: &str) -> Result<Option<Self>, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        match (name, Self::from_word(name)) {
            ("none", _) => Ok(None),
            (_, Some(preset)) => Ok(Some(preset)),
            (_, None) => Err(format!("the presets are {}, none", names())),
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::WordPress => include_str!("../../../examples/presets/wordpress.yaml"),
            Self::MediaWiki => include_str!("../../../examples/presets/mediawiki.yaml"),
            Self::Discourse => include_str!("../../../examples/presets/discourse.yaml"),
            Self::Shop => include_str!("../../../examples/presets/shop.yaml"),
            Self::Forge => include_str!("../../../examples/presets/forge.yaml"),
            Self::Documentation => include_str!("../../../examples/presets/documentation.yaml"),
        }
    }

    /// Texts in the header fields or in the document of such a site, in lower case.
    const fn signs(self) -> &'static [&'static str] {
        match self {
            Self::WordPress => &["https://api.w.org/", "content=\"wordpress", "/wp-content/"],
            Self::MediaWiki => &["content=\"mediawiki", "mediawiki-api"],
            Self::Discourse => &["x-discourse-route", "content=\"discourse"],
            Self::Shop => {
                &["x-shopid", "x-magento", "content=\"prestashop", "woocommerce", "cdn.shopify.com"]
            }
            Self::Forge => {
                &["i_like_gitea", "content=\"forgejo", "content=\"gitea", "content=\"gitlab"]
            }
            Self::Documentation => {
                &["content=\"mkdocs", "content=\"docusaurus", "content=\"sphinx", "x-rtd-"]
            }
        }
    }
}

/// The preset for a site whose first page has these header fields and this document. A shop made with
/// WordPress is a shop.
pub(crate) fn suggest<'f>(
    fields: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    document: &[u8],
) -> Option<Preset> {
    let mut text: String = fields
        .into_iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value)))
        .collect();
    text.push_str(&String::from_utf8_lossy(document.get(..1 << 18).unwrap_or(document)));
    let text = text.to_ascii_lowercase();
    let has = |preset: &Preset| preset.signs().iter().any(|sign| text.contains(sign));
    Some(Preset::Shop).filter(has).or_else(|| Preset::ALL.into_iter().find(has))
}

/// The purposes that an operator is asked about together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    /// What these crawlers do, as a question names it.
    pub(crate) subject: &'static str,
    pub(crate) purposes: &'static [Purpose],
    /// A crawler that stands for them in tests.
    pub(super) example: &'static str,
}

impl Topic {
    pub(crate) const ALL: [Self; 5] = [
        Self {
            name: "search",
            subject: "Search engines (Googlebot, bingbot)",
            purposes: &[Purpose::Search],
            example: "Googlebot",
        },
        Self {
            name: "training",
            subject: "Collecting for the training of AI models (GPTBot, CCBot)",
            purposes: &[Purpose::AiTraining],
            example: "GPTBot",
        },
        Self {
            name: "answers",
            subject: "Answers of AI assistants (OAI-SearchBot, ChatGPT-User)",
            purposes: &[Purpose::AiSearch, Purpose::AiUser],
            example: "OAI-SearchBot",
        },
        Self {
            name: "archives",
            subject: "Archives for later readers (archive.org_bot)",
            purposes: &[Purpose::Archiver],
            example: "archive.org_bot",
        },
        Self {
            name: "seo",
            subject: "SEO tools (AhrefsBot, SemrushBot)",
            purposes: &[Purpose::Seo],
            example: "AhrefsBot",
        },
    ];
}

/// Whether crawlers with some purposes may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) purpose: Purpose,
    pub(crate) is_allowed: bool,
}

impl Wish {
    /// Reads `ai-training=disallow`; a topic, such as `training`, stands for all its purposes.
    pub(crate) fn read(text: &str) -> Result<Vec<Self>, String> {
        let (name, wish) = text.split_once('=').unwrap_or((text, ""));
        let is_allowed = match wish {
            "allow" => true,
            "disallow" => false,
            _ => return Err("write PURPOSE=allow or PURPOSE=disallow".to_owned()),
        };
        let topic = Topic::ALL.into_iter().find(|topic| topic.name == name);
        let purposes: Vec<Purpose> = match (topic, Purpose::from_word(name)) {
            (Some(topic), _) => topic.purposes.to_vec(),
            (None, Some(purpose)) => vec![purpose],
            (None, None) => {
                let topics = Topic::ALL.map(|topic| topic.name).join(", ");
                let purposes = Purpose::ALL.map(Purpose::as_str).join(", ");
                return Err(format!("the topics are {topics}; the purposes are {purposes}"));
            }
        };
        Ok(purposes.into_iter().map(|purpose| Self { purpose, is_allowed }).collect())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) host: String,
    pub(crate) origin: String,
    pub(crate) preset: Option<Preset>,
    /// What is wanted, by purpose; later wishes replace earlier ones for the same purpose.
    pub(crate) wishes: Vec<Wish>,
    /// Whether the site has a robots.txt, which stays.
    pub(crate) has_robots_txt: bool,
}

const PLAIN: &str = r#"# Rules for crawlers. Violations are recorded; nothing is refused.

violations:
  database: violations.db

sites:
  - hosts: [www.example.com]
    # The server behind Beadle.
    origin: http://127.0.0.1:3000

    robots_txt:
      groups:
        - user_agents: ["*"]
          disallow: []                   # paths that no crawler may fetch: [/private/, /search]

    enforcement:
      # Write 'block' after a week without surprises.
      mode: log

tests:
  - name: people are never judged
    user_agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0
    url: /
    action: pass
"#;

pub(crate) fn policy_text(answers: &Answers) -> String {
    let catalogue = built_in_catalogue();
    let base = answers.preset.map_or(PLAIN, Preset::text);
    let wishes = distinct(&answers.wishes);
    let mut text = String::with_capacity(base.len() + 1_000);
    for line in base.lines() {
        let line = line.replace("www.example.com", &answers.host);
        let line = line.replace("http://127.0.0.1:3000", &answers.origin);
        let is_merged_star = answers.has_robots_txt && line.starts_with("      groups:");
        if is_merged_star {
            text.push_str(
                "      # The site's own robots.txt stays in force, with these rules in addition.\n",
            );
            text.push_str("      source: merge\n");
        }
        if line == "    enforcement:"
            && wishes.iter().any(|wish| !wish.is_allowed && wish.purpose == Purpose::AiTraining)
        {
            text.push_str(
                "    # Said to all crawlers, those that also search among them.\n    preferences:\n      \
                 - { train-ai: no }\n\n",
            );
        }
        text.push_str(&line);
        text.push('\n');
        match line.as_str() {
            "      groups:" => groups(&wishes, &mut text),
            "tests:" => tests(&wishes, &catalogue, &mut text),
            _ => {}
        }
    }
    text
}

/// The last wish for each purpose, in the order of the purposes.
fn distinct(wishes: &[Wish]) -> Vec<Wish> {
    let last = |purpose: &Purpose| wishes.iter().rev().find(|wish| wish.purpose == *purpose);
    Purpose::ALL.iter().filter_map(last).copied().collect()
}

/// One group for all purposes that may not come.
fn groups(wishes: &[Wish], text: &mut String) {
    let closed = wishes.iter().filter(|wish| !wish.is_allowed);
    let names: Vec<String> =
        closed.map(|wish| format!("\"purpose:{}\"", wish.purpose.as_str())).collect();
    if !names.is_empty() {
        text.push_str("        # 'beadle crawlers list --purpose NAME' lists these crawlers.\n");
        text.push_str(&format!("        - user_agents: [{}]\n", names.join(", ")));
        text.push_str("          disallow: [/]\n");
    }
}

/// A test for each wish, by a crawler that stands for the purpose.
fn tests(wishes: &[Wish], catalogue: &Catalogue, text: &mut String) {
    for wish in wishes {
        let known =
            |name: &str| catalogue.find(name).filter(|crawler| crawler.purpose() == wish.purpose);
        let example = Topic::ALL.iter().find_map(|topic| known(topic.example));
        let is_sent = |crawler: &&crate::rules::crawlers::Crawler| {
            crawler.is_identifiable() && crawler.kind() != Kind::Control
        };
        let example = example.or_else(|| catalogue.by_purpose(wish.purpose).find(is_sent));
        let Some(crawler) = example else { continue };
        let (name, expect) = match wish.is_allowed {
            true => ("may come", "allow"),
            false => ("stays away", "disallow"),
        };
        let (purpose, token) = (wish.purpose.as_str(), crawler.product_token().as_str());
        text.push_str(&format!(
            "  - {{ name: \"{purpose}: {token} {name}\", product_token: \"{token}\", url: /, expect: {expect} }}\n"
        ));
    }
}

pub(crate) struct Dialogue<'d> {
    pub(crate) input: &'d mut dyn BufRead,
    pub(crate) output: &'d mut dyn Write,
}

impl Dialogue<'_> {
    /// Asks; an empty answer is `usual`.
    pub(crate) fn ask(&mut self, question: &str, usual: &str) -> io::Result<String> {
        match usual {
            "" => write!(self.output, "{question}: ")?,
            _ => write!(self.output, "{question} [{usual}]: ")?,
        }
        self.output.flush()?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { usual.to_owned() } else { answer.to_owned() })
    }

    pub(crate) fn preset(&mut self, seen: Option<Preset>) -> io::Result<Option<Preset>> {
        let question =
            format!("Kind of site: {} or none", Preset::ALL.map(Preset::as_str).join(", "));
        loop {
            match Preset::read(&self.ask(&question, seen.map_or("none", Preset::as_str))?) {
                Ok(preset) => return Ok(preset),
                Err(why) => writeln!(self.output, "{why}")?,
            }
        }
    }

    /// Asks for each topic whether these crawlers may come.
    pub(crate) fn wishes(&mut self) -> io::Result<Vec<Wish>> {
        let mut wishes = Vec::new();
        for Topic { name, subject, .. } in Topic::ALL {
            loop {
                let answer = self.ask(&format!("{subject}: allow or disallow"), "allow")?;
                match Wish::read(&format!("{name}={answer}")) {
                    Ok(found) => break wishes.extend(found),
                    Err(_) => writeln!(self.output, "write allow or disallow")?,
                }
            }
        }
        Ok(wishes)
    }
}
