//! The places of values in the policy file, for findings about several values.

use super::{shape::At, yaml::Node};

/// A line and a column of the policy file, from 1; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The places of a group's parts, each in the order of the group.
#[derive(Clone, Debug, Default)]
pub struct GroupPlaces {
    /// The entry of `user_agents` that has each name.
    pub(crate) names: Vec<Spot>,
    pub(crate) rules: Vec<Spot>,
    pub(crate) records: Vec<Spot>,
    /// Whether the group has errors, so that parts of it are missing.
    pub(crate) has_errors: bool,
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
