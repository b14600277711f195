//! The crawlers that a rule restricts.

use crate::base::product_token::ProductToken;

/// The crawlers that rules restrict. `*` comes before every token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `*`: all crawlers, those with rules of their own included (§3.1.1).
    Any,
    /// The crawler of this product token.
    Token(ProductToken),
}

impl Scope {
    /// The scope of a name before a colon or a semicolon, if it is `*` or a product token.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        if name == "*" { Some(Self::Any) } else { ProductToken::new(name).map(Self::Token) }
    }
}
