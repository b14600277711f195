//! Patterns in the syntax of nginx's `log_format`.

use super::line_pattern::{Token, Value};

/// The parts of a pattern. Unknown variables are skipped in lines.
pub(super) fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut literal = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let variable = if c == '$' { variable(after) } else { None };
        rest = match variable {
            Some((name, after)) => {
                if !literal.is_empty() {
                    tokens.push(Token::Literal(std::mem::take(&mut literal)));
                }
                tokens.push(Token::Value(value(name)));
                after
            }
            None => {
                literal.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                after
            }
        };
    }
    if !literal.is_empty() {
        tokens.push(Token::Literal(literal));
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

fn value(name: &str) -> Value {
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
