//! Lists of User-Agents in Apache: `SetEnvIf`, `SetEnvIfNoCase`, `BrowserMatch`, and `RewriteCond` with
//! the `RewriteRule` that follows.

use super::{
    draft::Draft,
    sequence::{Effect, Sequence},
};

/// The patterns of rewrites that match every path, or every path but that of robots.txt.
const EVERYWHERE: &str = r". .* ^ ^.* ^.*$ (.*) ^(.*)$ ^/
    !^/?robots\.txt$ !^/?robots\.txt !robots\.txt$ !^robots\.txt$ !robots\.txt";

struct Condition {
    place: String,
    line: String,
    /// The expression on the User-Agent; `None` for a condition on something else.
    regex: Option<String>,
    is_caseless: bool,
    is_alternative: bool,
}

struct Reader<'t> {
    text: &'t str,
    ordered: Sequence,
    conditions: Vec<Condition>,
    is_found: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader =
        Reader { text: &text, ordered: Sequence::new(), conditions: Vec::new(), is_found: false };
    for (number, line) in lines(&text) {
        reader.directive(&line, &format!("line {number}"));
    }
    if !reader.is_found {
        return Err("no directive on User-Agents is in it".to_owned());
    }
    Ok(reader.ordered.into_draft("regular expressions"))
}

/// The directives with their first lines. A backslash at the end joins two lines.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (line, ends_open) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match all.last_mut().filter(|_| goes_on) {
            Some((_, before)) => before.push_str(line),
            None => all.push((number, line.to_owned())),
        }
        goes_on = ends_open;
    }
    all.retain(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    all
}

/// The arguments of a directive, without their quotes.
fn arguments(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let mut argument = String::new();
        let quote = Some(first).filter(|first| matches!(first, '"' | '\''));
        let mut characters = rest.char_indices().skip(usize::from(quote.is_some())).peekable();
        let mut end = rest.len();
        while let Some((at, character)) = characters.next() {
            let is_end = match quote {
                Some(quote) => character == quote,
                None => character.is_whitespace(),
            };
            if is_end {
                end = at + character.len_utf8();
                break;
            }
            argument.push(character);
            // A backslash before a space or a quote belongs to the argument.
            if character == '\\' {
                argument.extend(characters.next().map(|(_, next)| next));
            }
        }
        rest = rest.get(end..).unwrap_or_default().trim_start();
        all.push(argument);
    }
    all
}

impl Reader<'_> {
    fn directive(&mut self, line: &str, place: &str) {
        let words = arguments(line);
        let Some((name, arguments)) = words.split_first() else { return };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let name = name.to_ascii_lowercase();
        let is_caseless = name.ends_with("nocase");
        match (name.as_str(), arguments.as_slice()) {
            ("setenvif" | "setenvifnocase", [attribute, regex, variables @ ..])
                if attribute.trim_matches(['^', '$']).eq_ignore_ascii_case("user-agent") =>
            {
                self.variable(regex, variables, (place, line), is_caseless);
            }
            ("browsermatch" | "browsermatchnocase", [regex, variables @ ..]) => {
                self.variable(regex, variables, (place, line), is_caseless);
            }
            ("rewritecond", [test, regex, flags @ ..]) => {
                let flags = flags.join(" ").to_ascii_uppercase();
                let has = |flag: &str| {
                    flags.trim_matches(['[', ']']).split(',').any(|other| other.trim() == flag)
                };
                let is_about_clients = test.eq_ignore_ascii_case("%{HTTP_USER_AGENT}");
                self.is_found |= is_about_clients;
                self.conditions.push(Condition {
                    place: place.to_owned(),
                    line: line.trim().to_owned(),
                    regex: is_about_clients.then(|| (*regex).to_owned()),
                    is_caseless: has("NC") || has("NOCASE"),
                    is_alternative: has("OR") || has("ORNEXT"),
                });
            }
            ("rewriterule", [pattern, _, flags @ ..]) => self.rule(pattern, flags, place),
            _ => {}
        }
    }

    /// A variable that is set for some clients, and refused elsewhere.
    fn variable(
        &mut self,
        regex: &str,
        variables: &[&str],
        (place, line): (&str, &str),
        is_caseless: bool,
    ) {
        self.is_found = true;
        let name = variables.first().and_then(|one| one.split('=').next()).unwrap_or_default();
        if name.starts_with('!') {
            let why = "it takes a variable back; the order of such directives is not read";
            return self.ordered.lose(place, line.trim(), why);
        }
        let uses = |before: &str| {
            self.text.lines().any(|line| {
                let line = line.trim().to_ascii_lowercase();
                !line.starts_with('#')
                    && line.contains(&format!("{before}{}", name.to_ascii_lowercase()))
            })
        };
        if uses("allow from env=") || uses("require env ") {
            let why = "it lets these clients in and others not; Beadle judges crawlers only";
            return self.ordered.lose(place, line.trim(), why);
        }
        if !uses("deny from env=") && !uses("require not env ") && !uses("%{env:") {
            let why = format!("the file does not say what '{name}' does; it is read as a refusal");
            self.ordered.lose(place, name, why);
        }
        self.ordered.add_expression(regex, is_caseless, &[], Effect::Refuse, place);
    }

    /// A rewrite with the conditions before it.
    fn rule(&mut self, pattern: &str, flags: &[&str], place: &str) {
        let conditions = std::mem::take(&mut self.conditions);
        if conditions.iter().all(|one| one.regex.is_none()) {
            return;
        }
        let flags = flags.join(" ").to_ascii_uppercase();
        let mut flags = flags.trim_matches(['[', ']']).split(',').map(str::trim);
        let refuses = flags.any(|flag| {
            matches!(flag, "F" | "FORBIDDEN" | "G" | "GONE") || flag.starts_with("R=4")
        });
        let is_everywhere = EVERYWHERE.split_whitespace().any(|one| one == pattern);
        let Some((last, others)) = conditions.split_last() else { return };
        let is_list = others.iter().all(|one| one.is_alternative)
            && conditions.iter().all(|one| one.regex.is_some());
        let why = match () {
            () if !refuses => "the rule that follows is no refusal",
            () if !is_everywhere => {
                "the rule that follows is for some paths only; write a group with them"
            }
            () if !is_list => "it holds together with another condition",
            () => {
                for one in &conditions {
                    let regex = one.regex.as_deref().unwrap_or_default();
                    match regex.strip_prefix('!') {
                        Some(_) => {
                            let why = "it refuses all but these, also people; Beadle judges crawlers only";
                            self.ordered.lose(&one.place, &one.line, why);
                        }
                        None => self.ordered.add_expression(
                            regex,
                            one.is_caseless,
                            &[],
                            Effect::Refuse,
                            &one.place,
                        ),
                    }
                }
                return;
            }
        };
        let place = if conditions.len() == 1 { last.place.clone() } else { place.to_owned() };
        for one in &conditions {
            self.ordered.lose(place.clone(), &one.line, why);
        }
    }
}
