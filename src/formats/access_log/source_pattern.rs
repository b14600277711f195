//! Patterns in the syntax of Apache's `LogFormat` and of nginx's `log_format`.

use super::line_pattern::{Token, Value};

pub(super) fn apache(pattern: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let token = match (c, chars.peek()) {
            // As it stands in a configuration file: \" and \t.
            ('\\', Some('"' | '\\')) | ('%', Some('%')) => {
                Token::Literal(chars.next().unwrap_or(c))
            }
            ('\\', Some('t')) => {
                chars.next();
                Token::Literal('\t')
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
                    Token::Value(Value::Skip)
                } else {
                    Token::Value(value(directive, argument.as_deref()))
                }
            }
            (c, _) => Token::Literal(c),
        };
        // `%U%q` is one target.
        let follows_target = tokens.last() == Some(&Token::Value(Value::Target));
        if !(follows_target && token == Token::Value(Value::Query)) {
            tokens.push(token);
        }
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

/// The parts of a pattern. Unknown variables are skipped in lines.
pub(super) fn nginx(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let variable = if c == '$' { variable(after) } else { None };
        let (token, behind) = match variable {
            Some((name, behind)) => (Token::Value(variable_value(name)), behind),
            None => (Token::Literal(c), after),
        };
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// The name of a variable and what comes behind: `name…` or `{name}…`.
fn variable(text: &str) -> Option<(&str, &str)> {
    if let Some(braced) = text.strip_prefix('{') {
        return braced.split_once('}');
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(name, _)| !name.is_empty())
}

fn variable_value(name: &str) -> Value {
    match name {
        "remote_addr" | "proxy_protocol_addr" => Value::Client,
        "time_local" => Value::CommonTime,
        "time_iso8601" => Value::IsoTime,
        "msec" => Value::EpochTime,
        "request" => Value::Request,
        "request_method" => Value::Method,
        "request_uri" | "uri" | "document_uri" => Value::Target,
        "args" | "query_string" => Value::Query,
        "host" | "http_host" => Value::Host,
        "server_name" => Value::ServerName,
        "http_user_agent" => Value::UserAgent,
        "http_x_forwarded_for" => Value::ForwardedFor,
        "status" => Value::Status,
        _ => Value::Skip,
    }
}
