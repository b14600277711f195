//! How an origin reads a path.

use super::steps::Steps;

/// What is known of the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// Whether `/A` and `/a` are the same to it. Letters of ASCII only.
    pub case_insensitive: bool,
    /// How often it decodes `%XX` in a path, 1 or more: `%2541` is `A` at depth 2.
    pub decode_depth: u8,
    /// The steps that it takes. Dot segments are resolved in any case.
    pub steps: Steps,
}

impl Default for Reading {
    fn default() -> Self {
        Self { case_insensitive: false, decode_depth: 1, steps: Steps::ALL }
    }
}
