//! One answer of an origin, and the reasons why answers say nothing.

use std::fmt;

use crate::base::escape;

/// The most octets of a page.
pub const MOST_BYTES: usize = 64 << 10;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response; without its body if that has more than [`MOST_BYTES`].
    Page(u16, Option<Vec<u8>>),
    /// None, for this reason.
    Nothing(String),
}

/// The reason why nothing is known of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Occurs when the page itself is not there.
    Missing(u16),
    /// Occurs when the page is too large to compare.
    TooLarge,
    /// Occurs when the page has another content each time.
    Changing,
    /// Occurs when the page answers for a path that does not exist.
    Everywhere,
    /// Occurs when this target is refused, or not answered.
    Stopped(String, String),
    /// Occurs when no question was answered.
    Unasked,
}

impl Answer {
    /// Why a plan ends here, if it does.
    pub(super) fn end(&self) -> Option<String> {
        match self {
            Self::Page(status @ (403 | 429 | 500..), _) => Some(format!("status {status}")),
            Self::Page(..) => None,
            Self::Nothing(why) => Some(escape::shown(why)),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(status) => {
                write!(f, "the page answers {status} (name one that answers 200)")
            }
            Self::TooLarge => f.write_str("the page has more than 64 KiB (name a smaller one)"),
            Self::Changing => {
                f.write_str("the page differs each time (name a static one, such as an image)")
            }
            Self::Everywhere => f.write_str(
                "a path that does not exist has the same answer (name a page whose content depends \
                 on the path)",
            ),
            Self::Stopped(target, why) => {
                write!(f, "stopped at {}: {why}", escape::shown(target))
            }
            Self::Unasked => f.write_str("not asked yet"),
        }
    }
}
