//! One page.

/// A page of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of its file, `beadle-serve.1`.
    pub name: String,
    /// The page in the language of roff, in ASCII.
    pub text: String,
}
