//! A statement of preferences (vocab §3), how several combine (§5.1), and the forms in which they travel
//! (§6; the content signals draft).

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::base::text::words;

words! {
    /// A category of use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Category {
        /// Training of models that generate content (vocab §4.1).
        TrainAi = "train-ai",
        /// Search that leads people to the page (vocab §4.2).
        Search = "search",
        /// Input of a model at the moment of an answer. Only `Content-Signal` has this category.
        AiInput = "ai-input",
    }
}

/// A preference about a category. The greater is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preference {
    /// The use is allowed.
    Allow,
    /// The use is disallowed.
    Disallow,
}

/// What is said about each category. A category without a preference is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Statement([Option<Preference>; Category::ALL.len()]);

impl Statement {
    /// The preference for a category; `None` is unknown.
    pub const fn get(&self, category: Category) -> Option<Preference> {
        self.0[category as usize]
    }

    /// The statement with this preference for a category.
    pub const fn with(mut self, category: Category, preference: Option<Preference>) -> Self {
        self.0[category as usize] = preference;
        self
    }

    /// Both statements together: for each category disallow before allow before unknown (vocab §5.1).
    pub fn combine(self, other: Self) -> Self {
        Category::ALL.into_iter().fold(self, |so_far, category| {
            so_far.with(category, self.get(category).max(other.get(category)))
        })
    }

    /// This statement, and where it says nothing, the other one.
    pub fn over(self, below: Self) -> Self {
        Category::ALL.into_iter().fold(below, |so_far, category| {
            so_far.with(category, self.get(category).or_else(|| below.get(category)))
        })
    }

    /// The categories with a preference, in the order in which statements are written.
    pub fn stated(&self) -> impl Iterator<Item = (Category, Preference)> {
        Category::ALL.into_iter().filter_map(|one| Some((one, self.get(one)?)))
    }

    /// Whether every category is unknown.
    pub fn is_empty(&self) -> bool {
        self.stated().next().is_none()
    }
}

words! {
    /// A form in which statements travel, as a line of robots.txt and as a header field.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Carrier {
        /// `Content-Usage: train-ai=n, search=y`.
        ContentUsage = "Content-Usage",
        /// `Content-Signal: ai-train=no, search=yes`.
        ContentSignal = "Content-Signal",
    }
}

/// The value of a known line or field, cut at an optional path (attach §3.2). A path begins with `/`
/// and ends before the first white space.
pub fn split_path(value: &str) -> (Option<&str>, &str) {
    if !value.starts_with('/') {
        return (None, value);
    }
    let (path, statement) = value.split_once([' ', '\t']).unwrap_or((value, ""));
    (Some(path), statement.trim_matches([' ', '\t']))
}

impl Carrier {
    /// The carrier whose lines and fields have this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| name.eq_ignore_ascii_case(one.as_str()))
    }

    /// What a value without a path states.
    pub fn read(self, value: &[u8]) -> Statement {
        let members = self.members(value).unwrap_or_default();
        // The last value of a category counts, even if it says nothing (vocab §6.5.1).
        members.into_iter().fold(Statement::default(), |statement, (category, said)| {
            category.map_or(statement, |category| statement.with(category, said))
        })
    }

    /// What several field lines state: one value, as its parts joined by commas (RFC 9651 §4.2).
    pub(crate) fn read_lines<'v>(self, lines: impl IntoIterator<Item = &'v [u8]>) -> Statement {
        let lines: Vec<&[u8]> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        self.read(&lines.join(&b", "[..]))
    }

    /// The statement as text; `None` if this carrier can say nothing of it.
    pub fn write(self, statement: &Statement) -> Option<String> {
        let word =
            |(category, said)| Some(format!("{}={}", self.label(category)?, self.word(said)));
        let words: Vec<String> = statement.stated().filter_map(word).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The statement about a path as the value of a line of robots.txt.
    pub(crate) fn write_about(self, path: Option<&str>, statement: &Statement) -> Option<String> {
        let said = self.write(statement)?;
        Some(path.map_or_else(|| said.clone(), |path| format!("{path} {said}")))
    }

    /// Whether a value without a path has the carrier's form, and a preference for each known
    /// category that it names.
    pub fn is_valid(self, value: &str) -> bool {
        let members = self.members(value.as_bytes()).unwrap_or_default();
        !members.is_empty()
            && members.iter().all(|(category, said)| category.is_none() || said.is_some())
    }

    /// The members of a value, each with its category, if that is known, and its preference.
    fn members(self, value: &[u8]) -> Option<Vec<(Option<Category>, Option<Preference>)>> {
        let preference = |word: &str| {
            [Preference::Allow, Preference::Disallow]
                .into_iter()
                .find(|one| self.word(*one) == word)
        };
        let known =
            |label: &str| Category::ALL.into_iter().find(|one| self.label(*one) == Some(label));
        match self {
            Self::ContentUsage => {
                let dictionary = Parser::new(value).parse::<Dictionary>().ok()?;
                let said = |entry: &ListEntry| match entry {
                    ListEntry::Item(item) => match &item.bare_item {
                        BareItem::Token(word) => preference(word.as_str()),
                        _ => None,
                    },
                    ListEntry::InnerList(_) => None,
                };
                Some(
                    dictionary
                        .iter()
                        .map(|(key, entry)| (known(key.as_str()), said(entry)))
                        .collect(),
                )
            }
            Self::ContentSignal => {
                let member = |member: &str| {
                    let (name, says) = member.split_once('=')?;
                    let (name, says) = (name.trim().to_ascii_lowercase(), says.trim());
                    let is_valid = match name.as_str() {
                        "use" => matches!(says, "immediate" | "reference" | "full"),
                        _ => !name.is_empty() && !says.is_empty(),
                    };
                    is_valid.then(|| (known(&name), preference(says)))
                };
                std::str::from_utf8(value).ok()?.split(',').map(member).collect()
            }
        }
    }

    /// The carrier's name of a category, if it has one (vocab §6.1).
    const fn label(self, category: Category) -> Option<&'static str> {
        match (self, category) {
            (Self::ContentUsage, Category::AiInput) => None,
            (Self::ContentSignal, Category::TrainAi) => Some("ai-train"),
            _ => Some(category.as_str()),
        }
    }

    /// The carrier's word for a preference (vocab §6.2).
    const fn word(self, preference: Preference) -> &'static str {
        match (self, preference) {
            (Self::ContentUsage, Preference::Allow) => "y",
            (Self::ContentUsage, Preference::Disallow) => "n",
            (Self::ContentSignal, Preference::Allow) => "yes",
            (Self::ContentSignal, Preference::Disallow) => "no",
        }
    }
}
