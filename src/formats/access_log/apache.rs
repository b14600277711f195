//! Patterns in the syntax of Apache's `LogFormat`.

use super::line_pattern::{Token, Value};

pub(super) fn tokens(pattern: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut literal = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let value = match (c, chars.peek()) {
            // As it stands in a configuration file: \" and \t.
            ('\\', Some('"' | '\\')) => {
                literal.extend(chars.next().map(|c| c as u8));
                continue;
            }
            ('\\', Some('t')) => {
                chars.next();
                literal.push(b'\t');
                continue;
            }
            ('%', Some('%')) => {
                chars.next();
                literal.push(b'%');
                continue;
            }
            ('%', _) => {
                // Conditions (`%!200,304`), and which request counts (`%>s`, `%<s`).
                while chars.next_if(|c| matches!(c, '!' | ',' | '<' | '>' | '0'..='9')).is_some() {}
                let argument = chars.next_if_eq(&'{').map(|_| {
                    let argument: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    argument
                });
                let Some(directive) = chars.next() else {
                    return Err("a % stands at its end (write %% for the character)".to_owned());
                };
                // `%^ti` and `%^to` have three characters.
                if directive == '^' {
                    chars.by_ref().take(2).for_each(drop);
                    Value::Skip
                } else {
                    value(directive, argument.as_deref())
                }
            }
            (c, _) => {
                literal.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        if !literal.is_empty() {
            tokens.push(Token::Literal(std::mem::take(&mut literal)));
        }
        // `%U%q` is one target.
        let follows_target = matches!(tokens.last(), Some(Token::Value(Value::Target)));
        if !(follows_target && value == Value::Query) {
            tokens.push(Token::Value(value));
        }
    }
    if !literal.is_empty() {
        tokens.push(Token::Literal(literal));
    }
    Ok(tokens)
}

fn value(directive: char, argument: Option<&str>) -> Value {
    match (directive, argument) {
        ('h' | 'a', None | Some("c")) => Value::Client,
        ('t', None) => Value::BracketedTime,
        // The common form without its brackets, for the patterns that come with Beadle.
        ('t', Some("common")) => Value::CommonTime,
        ('t', Some("sec" | "msec" | "usec")) => Value::EpochTime,
        ('t', Some(format)) => {
            let format = format.strip_prefix("begin:").unwrap_or(format);
            Value::FormattedTime(format.strip_prefix("end:").unwrap_or(format).to_owned())
        }
        ('r', _) => Value::Request,
        ('m', _) => Value::Method,
        ('U', _) => Value::Target,
        ('q', _) => Value::Query,
        ('v' | 'V', _) => Value::ServerName,
        ('s', _) => Value::Status,
        ('i', Some(name)) if name.eq_ignore_ascii_case("user-agent") => Value::UserAgent,
        ('i', Some(name)) if name.eq_ignore_ascii_case("host") => Value::Host,
        ('i', Some(name)) if name.eq_ignore_ascii_case("x-forwarded-for") => Value::ForwardedFor,
        _ => Value::Skip,
    }
}
