//! A regular expression as the texts that it finds, each with stars for any text.
//!
//! Literals, alternations, groups, `.*`, `?` behind one character, anchors and word boundaries are
//! read. Everything else would be a guess, and is refused with its name.

const MOST: usize = 5_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) pieces: Vec<Piece>,
    pub(super) at_start: bool,
    pub(super) at_end: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Star,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) found: Vec<Found>,
    /// Whether a `.` stands for any character. It is read as a dot.
    pub(super) has_dot: bool,
    /// Whether the expression itself ignores case.
    pub(super) ignores_case: bool,
}

impl Found {
    /// The text without stars at its ends, if it has no other star.
    pub(super) fn literal(&self) -> Option<String> {
        let is_star = |piece: &&Piece| **piece == Piece::Star;
        let pieces = self.pieces.iter().skip_while(is_star);
        let mut text = String::new();
        let mut ended = false;
        for piece in pieces {
            match piece {
                Piece::Star => ended = true,
                Piece::Text(_) if ended => return None,
                Piece::Text(piece) => text.push_str(piece),
            }
        }
        Some(text)
    }
}

pub(super) fn read(text: &str) -> Result<Expression, String> {
    let mut reader = Reader { rest: text, expression: Expression::default(), depth: 0 };
    if let Some(rest) = text.strip_prefix("(?i)") {
        reader.rest = rest;
        reader.expression.ignores_case = true;
    }
    let found = reader.alternatives()?;
    if !reader.rest.is_empty() {
        return Err("a parenthesis without its partner".to_owned());
    }
    Ok(Expression { found, ..reader.expression })
}

struct Reader<'a> {
    rest: &'a str,
    expression: Expression,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = self.rest.get(character.len_utf8()..).unwrap_or_default();
        Some(character)
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// `a|b|c`, up to a closing parenthesis or the end.
    fn alternatives(&mut self) -> Result<Vec<Found>, String> {
        self.depth += 1;
        if self.depth > 50 {
            return Err("too many parentheses".to_owned());
        }
        let mut all = self.sequence()?;
        while self.skip("|") {
            all.extend(self.sequence()?);
            if all.len() > MOST {
                return Err("more alternatives than can be listed".to_owned());
            }
        }
        self.depth -= 1;
        Ok(all)
    }

    fn sequence(&mut self) -> Result<Vec<Found>, String> {
        let mut all = vec![Found::default()];
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let atoms = self.atom()?;
            if atoms.len().saturating_mul(all.len()) > MOST {
                return Err("more alternatives than can be listed".to_owned());
            }
            let mut joined = Vec::with_capacity(all.len() * atoms.len());
            for before in &all {
                for atom in &atoms {
                    joined.push(join(before, atom)?);
                }
            }
            all = joined;
        }
        Ok(all)
    }

    /// One character, class or group, with the sign for its number behind it.
    fn atom(&mut self) -> Result<Vec<Found>, String> {
        let text = |text: String| Found { pieces: vec![Piece::Text(text)], ..Found::default() };
        let mut is_any = false;
        let atoms = match self.next().unwrap_or_default() {
            '^' => return Ok(vec![Found { at_start: true, ..Found::default() }]),
            '$' => return Ok(vec![Found { at_end: true, ..Found::default() }]),
            '(' => {
                if self.skip("?i:") {
                    self.expression.ignores_case = true;
                } else if !self.skip("?:") && self.rest.starts_with('?') {
                    return Err("a look-around or a flag".to_owned());
                }
                let all = self.alternatives()?;
                if !self.skip(")") {
                    return Err("a parenthesis without its partner".to_owned());
                }
                all
            }
            '[' => vec![text(self.class()?)],
            '.' => {
                is_any = true;
                vec![text(".".to_owned())]
            }
            '\\' => match self.next() {
                Some('b') => vec![Found::default()],
                Some(letter) if letter.is_ascii_alphanumeric() => {
                    return Err(format!("the class \\{letter}"));
                }
                Some(sign) => vec![text(sign.to_string())],
                None => return Err("a backslash at the end".to_owned()),
            },
            sign @ ('*' | '+' | '?' | '{') => return Err(format!("'{sign}' without a character")),
            letter => vec![text(letter.to_string())],
        };
        if self.skip("*") {
            self.skip("?");
            return match is_any {
                true => Ok(vec![Found { pieces: vec![Piece::Star], ..Found::default() }]),
                false => Err("a repetition".to_owned()),
            };
        }
        if self.rest.starts_with(['+', '{']) {
            return Err("a repetition".to_owned());
        }
        self.expression.has_dot |= is_any;
        match self.skip("?") {
            true => Ok(atoms.into_iter().chain([Found::default()]).collect()),
            false => Ok(atoms),
        }
    }

    /// A class of one letter in both cases, or of one character.
    fn class(&mut self) -> Result<String, String> {
        let mut members = Vec::new();
        loop {
            match self.next() {
                Some(']') if !members.is_empty() => break,
                Some('\\') => members.extend(self.next()),
                Some(character) => members.push(character),
                None => return Err("a class without its end".to_owned()),
            }
        }
        match *members {
            [only] if only != '^' => Ok(only.to_string()),
            [first, second] if first.eq_ignore_ascii_case(&second) => {
                self.expression.ignores_case = true;
                Ok(first.to_string())
            }
            _ => Err("a class of characters".to_owned()),
        }
    }
}

fn join(before: &Found, after: &Found) -> Result<Found, String> {
    let is_empty = before.pieces.is_empty();
    if (after.at_start && !is_empty) || (before.at_end && !after.pieces.is_empty()) {
        return Err("an anchor inside the text".to_owned());
    }
    let mut joined = before.clone();
    joined.at_start |= after.at_start;
    joined.at_end |= after.at_end;
    for piece in &after.pieces {
        match (joined.pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(more),
            (Some(Piece::Star), Piece::Star) => {}
            _ => joined.pieces.push(piece.clone()),
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match read(text) {
            Err(why) => format!("! {why}"),
            Ok(expression) => {
                let one = |found: &Found| {
                    let pieces = found.pieces.iter().map(|piece| match piece {
                        Piece::Text(text) => text.as_str(),
                        Piece::Star => "*",
                    });
                    let start = if found.at_start { "^" } else { "" };
                    let end = if found.at_end { "$" } else { "" };
                    format!("{start}{}{end}", pieces.collect::<String>())
                };
                expression.found.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn lists_of_texts_are_read_and_all_else_is_refused() {
        for (text, expected) in [
            ("GPTBot", "GPTBot"),
            (r"\b(GPTBot|CCBot|Brightbot\ 1\.0)\b", "GPTBot CCBot Brightbot 1.0"),
            ("(?i:a|b)c?", "ac a bc b"),
            ("^.*GPTBot.*$", "^*GPTBot*$"),
            (r"^/\.well-known/.*$", "^/.well-known/*$"),
            ("favicon.(?:ico|png)$", "favicon.ico$ favicon.png$"),
            ("[Gg]PTBot[.]", "GPTBot."),
            ("bot[0-9]", "! a class of characters"),
            (r"bot/\d", "! the class \\d"),
            ("bo+t", "! a repetition"),
            ("a*", "! a repetition"),
            ("bot{2}", "! a repetition"),
            ("(?=bot)", "! a look-around or a flag"),
            ("a^b", "! an anchor inside the text"),
            ("(a", "! a parenthesis without its partner"),
            ("a)", "! a parenthesis without its partner"),
            ("*a", "! '*' without a character"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(read(&"(a|b)".repeat(20)).is_err());
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read("(?i)gptbot").is_ok_and(|expression| expression.ignores_case));
    }
}
