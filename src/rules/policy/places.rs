//! The places of values in the policy file, for findings about several values.

use super::{shape::At, yaml::Node};

/// A line and a column of the policy file, from 1; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// The places of a group's parts, each in the order of the group.
#[derive(Clone, Debug, Default)]
pub struct GroupPlaces {
    /// The entry of `user_agents` that has each name.
    pub names: Vec<Spot>,
    /// The rules.
    pub rules: Vec<Spot>,
    /// The other records.
    pub records: Vec<Spot>,
    /// Whether the group has errors, so that parts of it are missing.
    pub has_errors: bool,
}

/// The places of an entry of `robots_tag`.
#[derive(Clone, Debug, Default)]
pub struct TagPlaces {
    /// The entry.
    pub entry: Spot,
    /// Its paths.
    pub paths: Vec<Spot>,
}

impl From<&Node> for Spot {
    fn from(node: &Node) -> Self {
        Self { line: node.line, column: node.column }
    }
}

impl From<&At<'_>> for Spot {
    fn from(at: &At<'_>) -> Self {
        Self::from(at.node)
    }
}
