//! What comes out: a policy, and what it lacks.

use super::loss::Loss;

/// A policy made of foreign rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the policy.
    pub policy: String,
    /// The parts that are not carried over, in the order of the source.
    pub losses: Vec<Loss>,
}
