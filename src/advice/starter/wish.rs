//! What is wanted of crawlers with a purpose.

use crate::rules::crawlers::Purpose;

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
