//! How an origin reads a path.

/// What an operator knows of the origin. It adds to the forms that are judged; it never removes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// Whether `/A` and `/a` are the same to it. Letters of ASCII only.
    pub case_insensitive: bool,
    /// How often it decodes `%XX` in a path, 1 or more: `%2541` is `A` at depth 2.
    pub decode_depth: u8,
}

impl Default for Reading {
    fn default() -> Self {
        Self { case_insensitive: false, decode_depth: 1 }
    }
}
