//! Lists of User-Agents in nginx: `map $http_user_agent $x { … }` and `if ($http_user_agent ~* …)`.

use super::{
    draft::Draft,
    sequence::{Effect, Sequence},
};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    line: usize,
}

/// A directive, or a block with what stands in it.
#[derive(Debug)]
struct Directive {
    words: Vec<Word>,
    block: Vec<Self>,
}

const DEEPEST: usize = 20;

pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let text = String::from_utf8_lossy(bytes);
    let words = words(&text);
    let mut rest = words.as_slice();
    let directives = directives(&mut rest, 0);
    let mut reader = Reader { ordered: Sequence::new(), is_found: false };
    reader.read(&directives, None);
    if !reader.is_found {
        return Err(
            "neither 'map $http_user_agent' nor 'if ($http_user_agent …)' is in it".to_owned()
        );
    }
    Ok(reader.ordered.into_draft("regular expressions"))
}

struct Reader {
    ordered: Sequence,
    is_found: bool,
}

impl Directive {
    fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }

    fn place(&self) -> String {
        format!("line {}", self.words.first().map_or(0, |word| word.line))
    }
}

impl Reader {
    /// Reads directives. `within` is the place of a `location` around them.
    fn read(&mut self, directives: &[Directive], within: Option<&str>) {
        for directive in directives {
            match *directive.texts() {
                ["map", "$http_user_agent", variable] => self.map(&directive.block, variable),
                ["if", ..] => self.condition(directive, within),
                ["location", ref path @ ..] => {
                    let path = path.join(" ");
                    let is_root = path == "/" || path == "^~ /";
                    let within = if is_root { within } else { Some(path.as_str()) };
                    self.read(&directive.block, within);
                }
                _ => self.read(&directive.block, within),
            }
        }
    }

    /// `~*GPTBot 1;`: of the expressions, the first that matches gives the value. Other values than
    /// `0` and nothing refuse.
    fn map(&mut self, entries: &[Directive], variable: &str) {
        self.is_found = true;
        for entry in entries {
            let (place, words) = (entry.place(), entry.texts());
            let [pattern, value] = *words else {
                let why = "it is no pair of a text and a value";
                self.ordered.lose(place, words.join(" "), why);
                continue;
            };
            let effect = match value {
                "0" | "" => Effect::Allow,
                _ => Effect::Refuse,
            };
            match pattern {
                "default" if effect == Effect::Allow => {}
                "default" => {
                    let why = format!(
                        "{variable} is set for every client that is not listed, also people"
                    );
                    self.ordered.lose(place, words.join(" "), why);
                }
                "include" => {
                    let why = "it names another file: import that file too, and merge the groups";
                    self.ordered.lose(place, value, why);
                }
                _ => match pattern.strip_prefix('~') {
                    Some(regex) => {
                        let (regex, is_caseless) = match regex.strip_prefix('*') {
                            Some(regex) => (regex, true),
                            None => (regex, false),
                        };
                        self.ordered.add_expression(regex, is_caseless, &[], effect, &place);
                    }
                    None => {
                        let why =
                            "the whole User-Agent has to equal it; Beadle looks for product tokens";
                        self.ordered.lose(place, pattern, why);
                    }
                },
            }
        }
    }

    /// `if ($http_user_agent ~* (GPTBot|CCBot)) { return 403; }`.
    fn condition(&mut self, directive: &Directive, within: Option<&str>) {
        let place = directive.place();
        let text = directive.texts().split_off(1).join(" ");
        let inner = text.trim().trim_start_matches('(').trim_start();
        let Some(test) = inner.strip_prefix("$http_user_agent") else { return };
        self.is_found = true;
        let test = test.trim();
        let test = test.strip_suffix(')').unwrap_or(test).trim();
        let (operator, regex) = test.split_once(' ').unwrap_or((test, ""));
        let regex = regex.trim().trim_matches(['"', '\'']);
        let refuses = directive.block.iter().any(|inner| match *inner.texts() {
            ["return", status, ..] => status.starts_with('4'),
            ["deny", "all"] => true,
            ["set", _, value] => !matches!(value, "0" | ""),
            _ => false,
        });
        if !refuses {
            return self.ordered.lose(place, &text, "what follows is no refusal");
        }
        if let Some(path) = within {
            let why =
                format!("it applies within 'location {path}' only; write a group with that path");
            return self.ordered.lose(place, &text, why);
        }
        match operator {
            "~" | "~*" => {
                let is_caseless = operator == "~*";
                self.ordered.add_expression(regex, is_caseless, &[], Effect::Refuse, &place);
            }
            "!~" | "!~*" => {
                let why = "it refuses all but these, also people; Beadle judges crawlers only";
                self.ordered.lose(place, &text, why);
            }
            _ => {
                let why = "the whole User-Agent is compared; Beadle looks for product tokens";
                self.ordered.lose(place, &text, why);
            }
        }
    }
}

/// The words: quoted ones without their quotes, `{`, `}` and `;` alone, comments left out.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut line = 1;
    let mut current: Option<Word> = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '#' if current.is_none() => while characters.next_if(|next| *next != '\n').is_some() {},
            '"' | '\'' if current.as_ref().is_none_or(|word| word.text.ends_with('(')) => {
                let word = current.get_or_insert_with(|| Word { text: String::new(), line });
                while let Some(next) = characters.next() {
                    match next {
                        _ if next == character => break,
                        '\\' if characters.peek() == Some(&character) => {
                            word.text.extend(characters.next());
                        }
                        // In quotes, nginx reads two backslashes as one.
                        '\\' if characters.peek() == Some(&'\\') => {
                            word.text.extend(characters.next());
                        }
                        _ => word.text.push(next),
                    }
                    line += usize::from(next == '\n');
                }
            }
            '{' | '}' | ';' if !is_open(current.as_ref(), character) => {
                words.extend(current.take());
                words.push(Word { text: character.to_string(), line });
            }
            space if space.is_whitespace() => {
                words.extend(current.take());
                line += usize::from(space == '\n');
            }
            '\\' => {
                let word = current.get_or_insert_with(|| Word { text: String::new(), line });
                word.text.push('\\');
                word.text.extend(characters.next());
            }
            other => {
                current.get_or_insert_with(|| Word { text: String::new(), line }).text.push(other);
            }
        }
    }
    words.extend(current);
    words
}

/// Whether a brace belongs to a number in an expression: `a{2}`.
fn is_open(word: Option<&Word>, character: char) -> bool {
    let Some(word) = word else { return false };
    let is_expression = word.text.starts_with(['~', '(']);
    match character {
        '{' => is_expression && !word.text.ends_with(')'),
        '}' => is_expression && word.text.contains('{'),
        _ => false,
    }
}

fn directives(words: &mut &[Word], depth: usize) -> Vec<Directive> {
    let mut all = Vec::new();
    let mut current: Vec<Word> = Vec::new();
    while let Some((word, rest)) = words.split_first() {
        *words = rest;
        match word.text.as_str() {
            ";" if !current.is_empty() => {
                all.push(Directive { words: std::mem::take(&mut current), block: Vec::new() });
            }
            ";" => {}
            "{" if depth < DEEPEST => {
                let block = directives(words, depth + 1);
                all.push(Directive { words: std::mem::take(&mut current), block });
            }
            "}" if depth > 0 => break,
            "{" | "}" => {}
            _ => current.push(word.clone()),
        }
    }
    if !current.is_empty() {
        all.push(Directive { words: current, block: Vec::new() });
    }
    all
}
