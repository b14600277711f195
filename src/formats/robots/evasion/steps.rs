//! The steps that an origin takes, by name.

use super::step::{
    AUTHORITY, BACKSLASHES, DOTS, DOTS_ABOVE, DOUBLED, Kinds, PARAMETERS, SEMICOLONS, SLASHES,
    UNITS,
};

const LATIN_1: Kinds = 1 << 9;
const END: Kinds = 1 << 10;
const EMPTY_QUERY: Kinds = 1 << 11;
const QUERY: Kinds = 1 << 12;
const NAMES: Kinds = 1 << 13;
const RAW_BACKSLASHES: Kinds = 1 << 14;
const DOTS_AT_END: Kinds = 1 << 15;
const LINE_FEED: Kinds = 1 << 16;
const INVALID_UTF8: Kinds = 1 << 17;

/// A set of steps. Dot segments are always resolved: they belong to the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps(Kinds);

impl Steps {
    /// `%2F` as `/`.
    pub const DECODE_SLASH: Self = Self(SLASHES);
    /// `%5C` as `/`.
    pub const DECODE_BACKSLASH: Self = Self(BACKSLASHES);
    /// A `\` as sent as `/`.
    pub const READ_BACKSLASH: Self = Self(RAW_BACKSLASHES);
    /// Other reserved characters of a path: `%40` as `@`, `%3B` as `;`.
    pub const DECODE_RESERVED: Self = Self(SEMICOLONS);
    /// `%uXXXX`, and escapes with careless digits.
    pub const DECODE_UNICODE: Self = Self(UNITS);
    /// A path that is not UTF-8 as ISO-8859-1.
    pub const DECODE_LATIN_1: Self = Self(LATIN_1);
    /// A path without the octets that are not UTF-8.
    pub const DROP_INVALID_UTF8: Self = Self(INVALID_UTF8);
    /// Reserved characters of a query.
    pub const DECODE_QUERY: Self = Self(QUERY);
    /// Names in a query as those of PHP's variables.
    pub const NAME_VARIABLES: Self = Self(NAMES);
    /// Without `;parameters`.
    pub const DROP_PARAMETERS: Self = Self(PARAMETERS);
    /// Without the `//host` before the path.
    pub const DROP_AUTHORITY: Self = Self(AUTHORITY);
    /// Without a `?` that nothing follows.
    pub const DROP_EMPTY_QUERY: Self = Self(EMPTY_QUERY);
    /// Slashes in a row as one.
    pub const MERGE_SLASHES: Self = Self(DOUBLED);
    /// Dot segments out of the root, and back by the name of its folder.
    pub const LEAVE_ROOT: Self = Self(DOTS_ABOVE);
    /// Without slashes at the end.
    pub const TRIM_SLASHES: Self = Self(END);
    /// Without an encoded line feed at the end.
    pub const TRIM_LINE_FEED: Self = Self(LINE_FEED);
    /// Without dots and encoded spaces at the end.
    pub const TRIM_DOTS: Self = Self(DOTS_AT_END);

    /// None but those that always count.
    pub const NONE: Self = Self(DOTS);
    /// Those that count where nothing is known of the origin: all but [`Self::TRIM_DOTS`].
    pub const ALL: Self = Self(((INVALID_UTF8 << 1) - 1) & !DOTS_AT_END);

    /// Each with its name in a policy.
    pub const NAMED: [(&'static str, Self); 17] = [
        ("merge_slashes", Self::MERGE_SLASHES),
        ("drop_authority", Self::DROP_AUTHORITY),
        ("leave_root", Self::LEAVE_ROOT),
        ("decode_slash", Self::DECODE_SLASH),
        ("decode_backslash", Self::DECODE_BACKSLASH),
        ("read_backslash", Self::READ_BACKSLASH),
        ("decode_reserved", Self::DECODE_RESERVED),
        ("decode_unicode", Self::DECODE_UNICODE),
        ("decode_latin_1", Self::DECODE_LATIN_1),
        ("drop_invalid_utf8", Self::DROP_INVALID_UTF8),
        ("drop_parameters", Self::DROP_PARAMETERS),
        ("trim_slashes", Self::TRIM_SLASHES),
        ("trim_line_feed", Self::TRIM_LINE_FEED),
        ("trim_dots", Self::TRIM_DOTS),
        ("drop_empty_query", Self::DROP_EMPTY_QUERY),
        ("decode_query", Self::DECODE_QUERY),
        ("name_variables", Self::NAME_VARIABLES),
    ];

    /// Whether all of `other` are among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without `other`, but for those that always count.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0 | Self::NONE.0)
    }

    /// Those that both have.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Their names, with commas. Empty for [`Self::NONE`].
    pub fn names(self) -> String {
        let named = Self::NAMED.iter().filter(|(_, one)| self.has(*one));
        named.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The steps with these [`Self::names`]. Unknown ones are left out.
    pub fn of_names(names: &str) -> Self {
        let named = |name| Self::NAMED.iter().find(|(one, _)| *one == name);
        names.split(", ").filter_map(named).fold(Self::NONE, |all, (_, one)| all.with(*one))
    }

    /// Of what a path contains, that which these steps may change.
    pub(super) const fn among(self, due: Kinds) -> Kinds {
        self.0 & due
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::ALL
    }
}
