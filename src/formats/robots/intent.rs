//! What an operator probably means by a path pattern that says something else.
//!
//! Patterns know `*` and a `$` at the end (§2.2.3). A regular expression is taken octet by octet,
//! and a list of paths as one path. Both then match nothing, or nearly nothing. The translation of a
//! regular expression is exact, or there is none.

use super::pattern::Pattern;

/// The longest text with an intent of its own. An operator writes no longer pattern by hand.
const LONGEST: usize = 1_000;
/// The most patterns that a regular expression is translated to.
const MOST: usize = 8;

/// The repair of a regular expression that no patterns replace.
pub const NO_REGEX: &str =
    "write a pattern for each path: '*' is any text, a '$' at the end is the end of the path";

/// The repair of a text that is no pattern, if none is probable.
pub const BEGIN: &str = "start it with '/' or '*'";

/// What is probably meant by a text in the place of a path pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// A regular expression, with the patterns that match the same paths. Without a pattern, no
    /// patterns do, or too many.
    Regex(Vec<String>),
    /// Several path patterns.
    List(Vec<String>),
}

/// The intent of a text, if it is not what the text says.
///
/// Signs of a regular expression are `^` at the start, an escaped character, a group with `|`, a
/// range of characters in brackets, and `.*` or `.+` in the place of a name. `*.php` and `/index.*`
/// are none, nor are `(`, `[` and `^` elsewhere: paths contain them.
pub fn intent(text: &str) -> Option<Intent> {
    if text.len() > LONGEST {
        return None;
    }
    if let Some(paths) = list(text) {
        return Some(Intent::List(paths));
    }
    is_regex(text).then(|| Intent::Regex(translated(text)))
}

/// The path pattern that is probably meant by a text that does not begin like one: by a URL, a
/// query, a name, a regular expression. `None` if the text begins like a pattern, or if no single
/// pattern has its meaning.
pub fn corrected(text: &str) -> Option<String> {
    if text.starts_with(['/', '*']) {
        return None;
    }
    match intent(text) {
        Some(Intent::Regex(patterns) | Intent::List(patterns)) => {
            <[String; 1]>::try_from(patterns).ok().map(|[only]| only)
        }
        None => match (text.split_once("://"), text.strip_prefix('?'), text.split_once('/')) {
            (Some((_, rest)), ..) => Some(rest.find('/').map_or("/", |at| &rest[at..]).to_owned()),
            (None, Some(_), _) => Some(format!("/*{text}")),
            (None, None, Some((host, path))) if host.starts_with("www.") => {
                Some(format!("/{path}"))
            }
            // A host or the name of a file.
            (None, None, Some((first, _))) if first.contains('.') => None,
            (None, None, _) => Some(format!("/{text}")),
        },
    }
}

/// The parts of a text, if all of them are path patterns.
fn list(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    // A comma is frequent in a query.
    let separators = |c: char| c.is_whitespace() || (c == ',' && !text.contains('?'));
    let parts = text.split(separators).map(|part| part.trim_matches([',', '"', '\'']));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let is_path =
        |part: &&str| part.starts_with('/') || part.starts_with("*/") || part.starts_with("*.");
    (parts.len() > 1 && parts.iter().all(is_path))
        .then(|| parts.into_iter().map(str::to_owned).collect())
}

fn is_regex(text: &str) -> bool {
    let octets = text.as_bytes();
    let at = |at: usize| octets.get(at).copied();
    let is_end = |octet: Option<u8>| matches!(octet, None | Some(b'/' | b'\\' | b'$' | b')'));
    let is_start =
        |octet: Option<u8>| matches!(octet, None | Some(b'/' | b')' | b']' | b'(' | b'|' | b'^'));
    let has_sign = (0..octets.len()).any(|here| {
        let before = here.checked_sub(1).and_then(at);
        match (octets[here], at(here + 1)) {
            (b'^', Some(_)) => here == 0 || (here == 1 && before == Some(b'/')),
            (
                b'\\',
                Some(b'.' | b'/' | b'?' | b'+' | b'*' | b'(' | b')' | b'[' | b']' | b'-' | b'$'),
            ) => true,
            (b'\\', Some(b'd' | b'w' | b's' | b'D' | b'W' | b'S')) => {
                !at(here + 2).is_some_and(|next| next.is_ascii_alphanumeric())
            }
            (b'.', Some(b'*')) => is_start(before),
            (b'.', Some(b'+')) => is_start(before) || is_end(at(here + 2)),
            (b'(', Some(b'?')) => matches!(at(here + 2), Some(b':' | b'=' | b'!' | b'<' | b'i')),
            _ => false,
        }
    });
    has_sign || has_alternatives(text) || has_range(text)
}

/// Whether a group has a `|`, or one stands between two paths.
fn has_alternatives(text: &str) -> bool {
    let grouped = text.match_indices('(').any(|(open, _)| {
        let inner = text.get(open + 1..).unwrap_or_default();
        inner.split_once(')').is_some_and(|(inner, _)| inner.contains('|'))
    });
    grouped || (text.contains('|') && text.split('|').all(|part| part.starts_with('/')))
}

/// Whether brackets enclose a range of letters or digits, or what is excluded.
fn has_range(text: &str) -> bool {
    text.match_indices('[').any(|(open, _)| {
        let rest = text.get(open + 1..).unwrap_or_default();
        let Some((inner, _)) = rest.split_once(']') else { return false };
        let is_range = |three: &[u8]| {
            let of = |is: fn(&u8) -> bool| is(&three[0]) && is(&three[2]) && three[0] < three[2];
            three[1] == b'-'
                && (of(u8::is_ascii_digit)
                    || of(u8::is_ascii_lowercase)
                    || of(u8::is_ascii_uppercase))
        };
        let ranges = inner.as_bytes().windows(3).any(is_range);
        (inner.len() > 1 && inner.starts_with('^')) || (ranges && inner.len() <= 12)
    })
}

/// The patterns that match the same paths as a regular expression; none if there are none.
fn translated(text: &str) -> Vec<String> {
    let bare = text.strip_prefix('/').filter(|rest| rest.starts_with('^')).unwrap_or(text);
    // With its slashes escaped, the outer ones are the marks of the expression.
    let is_marked = bare.len() < text.len() && bare.contains("\\/") && !bare.ends_with("\\/");
    let bare = bare.strip_suffix('/').filter(|_| is_marked).unwrap_or(bare);
    let (text, is_anchored) = match bare.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (bare, bare.starts_with('/') || bare.starts_with("\\/")),
    };
    let begins = |pattern: &String| pattern.starts_with(['/', '*']);
    let mut patterns = Vec::new();
    for part in alternatives(text) {
        let Some(mut expanded) = expansions(part) else { return Vec::new() };
        for pattern in &mut expanded {
            // Without an anchor, a regular expression matches anywhere.
            if !is_anchored && pattern.starts_with('.') {
                pattern.insert_str(0, "/*");
            }
            if pattern.starts_with("*.") {
                pattern.insert(0, '/');
            }
        }
        patterns.extend(expanded);
    }
    let is_sound = |pattern: &String| begins(pattern) && Pattern::new(pattern).is_ok();
    if patterns.len() > MOST || !patterns.iter().all(is_sound) {
        return Vec::new();
    }
    patterns
}

/// The parts between `|` outside of groups.
fn alternatives(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, octet) in text.bytes().enumerate() {
        match octet {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The patterns of a regular expression without an anchor at its start; `None` if it has a part that
/// patterns can't say.
fn expansions(text: &str) -> Option<Vec<String>> {
    let mut patterns = vec![String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        // A quantifier behind anything but a dot repeats it.
        let is_repeated = |after: &str| after.starts_with(['+', '?', '{']);
        let (said, after): (Vec<String>, &str) = match first {
            '.' if after.starts_with('*') => (vec!["*".to_owned()], &after[1..]),
            // An unescaped dot before a name is the dot of a file's ending.
            '.' if after.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                (vec![".".to_owned()], after)
            }
            '\\' => {
                let escaped = after.chars().next().filter(char::is_ascii_punctuation)?;
                let said = match escaped {
                    '*' => "%2A".to_owned(),
                    '$' => "%24".to_owned(),
                    other => other.to_string(),
                };
                (vec![said], &after[1..])
            }
            '(' => {
                let (inner, after) = after.split_once(')')?;
                let inner = inner.strip_prefix("?:").unwrap_or(inner);
                let parts: Option<Vec<Vec<String>>> = inner.split('|').map(expansions).collect();
                (parts?.concat(), after)
            }
            '$' if after.is_empty() => (vec!["$".to_owned()], after),
            '*' if patterns.iter().all(|one| one.ends_with('/')) => (vec!["*".to_owned()], after),
            '.' | '[' | ']' | '{' | '}' | ')' | '+' | '?' | '*' | '^' | '$' | '|' | '#' => {
                return None;
            }
            other => (vec![other.to_string()], after),
        };
        if is_repeated(after) || (after.starts_with('*') && !said.iter().all(|one| one == "/")) {
            return None;
        }
        let joined =
            patterns.iter().flat_map(|one| said.iter().map(move |two| format!("{one}{two}")));
        patterns = joined.collect();
        if patterns.len() > MOST {
            return None;
        }
        rest = after;
    }
    for pattern in &mut patterns {
        // Any text may follow a pattern anyway.
        let shorter = pattern.strip_suffix("*$").or_else(|| pattern.strip_suffix('*'));
        if let Some(shorter) = shorter.filter(|shorter| !shorter.is_empty()) {
            *pattern = shorter.to_owned();
        }
    }
    Some(patterns)
}
