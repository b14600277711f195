//! Kinds of sites, and what is wanted of crawlers with a purpose. The policies of the kinds are those in
//! `examples/presets`.

use crate::{base::text::words, rules::crawlers::Purpose};

words! {
    /// A policy for a kind of site.
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

    /// Its policy, for www.example.com.
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
    /// The word for it.
    pub(crate) name: &'static str,
    /// What these crawlers do, as a question names it.
    pub(crate) subject: &'static str,
    pub(crate) purposes: &'static [Purpose],
    /// A crawler that stands for them in tests.
    pub(super) example: &'static str,
}

impl Topic {
    /// The topics in the order of the questions.
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
