//! A section of a policy: its keys, each with the shape of its value.

/// A mapping of a policy.
#[derive(Debug)]
pub struct Section {
    /// Where it stands: `sites[].enforcement`; empty is the whole policy.
    pub path: &'static str,
    /// The keys, in the order of the reference.
    pub keys: &'static [Key],
    /// Exactly one of these keys is there, if they are any.
    pub one_of: &'static [&'static str],
}

/// A key of a section.
#[derive(Debug)]
pub struct Key {
    /// The key as the policy writes it.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// What its absence means.
    pub absent: Absent,
    /// What it is for, as in the reference.
    pub meaning: &'static str,
}

pub(super) const fn section(path: &'static str) -> Section {
    Section { path, keys: &[], one_of: &[] }
}

pub(super) const fn key(name: &'static str, shape: Shape, absent: Absent) -> Key {
    Key { name, shape, absent, meaning: "" }
}

impl Key {
    pub(super) const fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }
}

/// An absent key stands for nothing.
pub(super) const NONE: Absent = Absent::Words("none");

impl Shape {
    /// The shape of an item of a list. A value that is no list stands for a list of one.
    pub fn item(&'static self) -> &'static Self {
        match self {
            Self::List(item) | Self::Some(item) | Self::Mapping(item) => item,
            Self::Either(shapes) => {
                let is_list = |shape: &&Self| matches!(shape, Self::List(_) | Self::Some(_));
                shapes.iter().find(is_list).map_or(self, Self::item)
            }
            _ => self,
        }
    }

    /// The sections of a value, those of its items included.
    pub fn sections(&self) -> Vec<&'static Section> {
        match *self {
            Self::Section(section) | Self::Sections(section) => vec![section],
            Self::List(item) | Self::Some(item) | Self::Mapping(item) => item.sections(),
            Self::Either(shapes) => shapes.iter().flat_map(Self::sections).collect(),
            _ => Vec::new(),
        }
    }
}

/// What the absence of a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// An error.
    Required,
    /// This value, as the policy writes it.
    Value(&'static str),
    /// This, in words.
    Words(&'static str),
}

/// The shape of a value. What a shape can't tell is found by the reader alone.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any text.
    Text,
    /// A text of this form.
    Form(Form),
    /// `true` or `false`.
    Boolean,
    /// A whole number, both ends included.
    Integer(i64, i64),
    /// A number, both ends included.
    Number(i64, i64),
    /// One of these numbers.
    OneNumber(&'static [i64]),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The purpose of a crawler.
    Purpose,
    /// A name of crawlers: a product token, `set:NAME`, `purpose:NAME` or `*`.
    Crawlers,
    /// The same without `*`.
    SomeCrawlers,
    /// One of these shapes.
    Either(&'static [Self]),
    /// A list; a single text or number stands for a list of one.
    List(&'static Self),
    /// A list with at least one item.
    Some(&'static Self),
    /// A list of mappings; a single one stands for a list of one.
    Sections(&'static Section),
    /// A mapping with keys of the operator's own.
    Mapping(&'static Self),
    /// A mapping with known keys.
    Section(&'static Section),
}

/// A form of text.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// A regular expression, in the part of the syntax that every engine has.
    pub pattern: &'static str,
    /// A text of the form.
    pub example: &'static str,
    /// The least value, as the policy writes it; empty where the form has no order.
    pub least: &'static str,
    /// The greatest value.
    pub most: &'static str,
}

impl Section {
    pub(super) const fn keys(self, keys: &'static [Key]) -> Self {
        Self { keys, ..self }
    }

    /// The section with these keys, of which exactly one is there, if they are any.
    pub(super) const fn one_of(self, one_of: &'static [&'static str]) -> Self {
        Self { one_of, ..self }
    }

    /// The names of the keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Whether the section has this key.
    pub fn has(&self, name: &str) -> bool {
        self.key(name).is_some()
    }

    /// The nearest section below that has the key, also within lists.
    pub fn home_of(&self, key: &str) -> Option<&'static Self> {
        let mut level: Vec<&Self> = self.keys.iter().flat_map(|key| key.shape.sections()).collect();
        while !level.is_empty() {
            if let Some(home) = level.iter().find(|section| section.has(key)) {
                return Some(home);
            }
            level = level
                .iter()
                .flat_map(|one| one.keys)
                .flat_map(|key| key.shape.sections())
                .collect();
        }
        None
    }

    /// The sections of its keys, each with its key.
    pub fn below(&self) -> impl Iterator<Item = (&'static str, &'static Self)> {
        self.keys.iter().filter_map(|key| match key.shape {
            Shape::Section(section) => Some((key.name, section)),
            _ => None,
        })
    }
}
