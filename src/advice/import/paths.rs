//! The path patterns that a regular expression on paths stands for.

use super::{
    draft::Loss,
    regex::{self, Found, Piece},
};

/// The patterns of an expression, and what is lost of it. The expression sees the path without its
/// query.
pub(super) fn of_expression(text: &str, place: &str) -> (Vec<String>, Vec<Loss>) {
    let expression = match regex::read(text) {
        Ok(expression) => expression,
        Err(why) => {
            let why = format!("{why}: no list of paths, so no path pattern follows from it");
            return (Vec::new(), vec![Loss::new(place, text, why)]);
        }
    };
    let mut losses = Vec::new();
    if expression.has_dot {
        let why = "a '.' without a backslash stands for any character; it is read as a dot";
        losses.push(Loss::new(place, text, why));
    }
    if expression.ignores_case {
        let why = "the source ignores case in paths; path patterns do not";
        losses.push(Loss::new(place, text, why));
    }
    (expression.found.iter().flat_map(patterns).collect(), losses)
}

/// The patterns of one text. A `$` also stands before a query.
fn patterns(found: &Found) -> Vec<String> {
    let mut pattern = String::new();
    let starts_open = !found.at_start && found.pieces.first() != Some(&Piece::Star);
    if starts_open {
        pattern.push('*');
    }
    for piece in &found.pieces {
        match piece {
            Piece::Star => pattern.push('*'),
            Piece::Text(text) => pattern.push_str(&escaped(text)),
        }
    }
    let pattern = if pattern.is_empty() { "/".to_owned() } else { pattern };
    let ends_open = !found.at_end || found.pieces.last() == Some(&Piece::Star);
    let pattern = match pattern.trim_end_matches('*') {
        "" => "/".to_owned(),
        trimmed if ends_open => trimmed.to_owned(),
        _ => pattern,
    };
    match ends_open {
        true => vec![pattern],
        false => vec![format!("{pattern}$"), format!("{pattern}?")],
    }
}

/// The text with the signs of patterns encoded.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('*', "%2A").replace('$', "%24").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_patterns() {
        for (text, expected) in [
            (r"^/\.well-known/.*$", &["/.well-known/"][..]),
            (r"^/robots\.txt$", &["/robots.txt$", "/robots.txt?"]),
            ("wp-login", &["*wp-login"]),
            ("^/(a|b)/", &["/a/", "/b/"]),
            (r"^/.*\.php$", &["/*.php$", "/*.php?"]),
            (".*", &["/"]),
            ("^/", &["/"]),
            ("/admin/[0-9]+", &[]),
        ] {
            assert_eq!(of_expression(text, "line 1").0, expected, "{text}");
        }
    }
}
