//! How an origin reads a path, and the steps that it takes, by name.

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

/// A set of steps. Dot segments are always resolved: they belong to the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps(u32);

impl Steps {
    /// `%2F` as `/`.
    pub(crate) const DECODE_SLASH: Self = Self(1);
    /// `%5C` as `/`.
    pub(crate) const DECODE_BACKSLASH: Self = Self(1 << 1);
    /// A `\` as sent as `/`.
    pub(crate) const READ_BACKSLASH: Self = Self(1 << 14);
    /// Other reserved characters of a path: `%40` as `@`, `%3B` as `;`.
    pub(crate) const DECODE_RESERVED: Self = Self(1 << 2);
    /// `%uXXXX`, and escapes with careless digits.
    pub(crate) const DECODE_UNICODE: Self = Self(1 << 3);
    /// A path that is not UTF-8 as ISO-8859-1.
    pub(crate) const DECODE_LATIN_1: Self = Self(1 << 9);
    /// A path without the octets that are not UTF-8.
    pub(crate) const DROP_INVALID_UTF8: Self = Self(1 << 17);
    /// Reserved characters of a query.
    pub(crate) const DECODE_QUERY: Self = Self(1 << 12);
    /// Names in a query as those of PHP's variables.
    pub(crate) const NAME_VARIABLES: Self = Self(1 << 13);
    /// Without `;parameters`.
    pub(crate) const DROP_PARAMETERS: Self = Self(1 << 4);
    /// Without the `//host` before the path.
    pub(crate) const DROP_AUTHORITY: Self = Self(1 << 8);
    /// Without a `?` that nothing follows.
    pub(crate) const DROP_EMPTY_QUERY: Self = Self(1 << 11);
    pub(crate) const MERGE_SLASHES: Self = Self(1 << 5);
    /// Dot segments out of the root, and back by the name of its folder.
    pub(crate) const LEAVE_ROOT: Self = Self(1 << 7);
    /// Without slashes at the end.
    pub(crate) const TRIM_SLASHES: Self = Self(1 << 10);
    /// Without an encoded line feed at the end.
    pub(crate) const TRIM_LINE_FEED: Self = Self(1 << 16);
    /// Without dots and encoded spaces at the end.
    pub(crate) const TRIM_DOTS: Self = Self(1 << 15);

    /// No step at all, as no origin takes.
    pub(super) const EMPTY: Self = Self(0);
    /// Dot segments resolved, which every origin may do.
    pub(super) const RESOLVE_DOTS: Self = Self(1 << 6);
    /// None but those that always count.
    pub(crate) const NONE: Self = Self::RESOLVE_DOTS;
    /// Those that count where nothing is known of the origin: all but `Self::TRIM_DOTS`.
    pub const ALL: Self = Self(((1 << 18) - 1) & !Self::TRIM_DOTS.0);

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

    /// Their names, with commas. Empty for `Self::NONE`.
    pub fn names(self) -> String {
        let named = Self::NAMED.iter().filter(|(_, one)| self.has(*one));
        named.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The steps with these [`Self::names`]. Unknown ones are left out.
    pub(crate) fn of_names(names: &str) -> Self {
        let named = |name| Self::NAMED.iter().find(|(one, _)| *one == name);
        names.split(", ").filter_map(named).fold(Self::NONE, |all, (_, one)| all.with(*one))
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::ALL
    }
}
