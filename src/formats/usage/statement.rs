//! A statement of preferences (vocab §3), and how several combine (§5.1).

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
