//! Lines of literals and values, compiled from nginx's `log_format` or Apache's `LogFormat`.

use memchr::{memchr, memmem};

use super::{
    entry::{Entry, Fault, Parts, address, status},
    time,
    unescape::{Text, unescape},
};

#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
    /// Whether a line may go on after the pattern.
    is_open: bool,
}

/// A value, and the literal behind it.
#[derive(Clone, Debug)]
struct Piece {
    value: Value,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Line,
    /// A literal that can't be in the value.
    Literal(Box<memmem::Finder<'static>>),
    Octet(u8),
    /// A literal that begins with a quote; in the value, a quote has a backslash before it.
    Quote(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Skip,
    Client,
    CommonTime,
    IsoTime,
    EpochTime,
    /// With brackets around the common form.
    BracketedTime,
    /// In the form of `strftime`.
    FormattedTime(String),
    Request,
    Method,
    Target,
    Query,
    Host,
    ServerName,
    UserAgent,
    ForwardedFor,
    Status,
}

/// A character of a pattern in its source, or what is written in place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(char),
    Value(Value),
}

impl Pattern {
    /// Compiles the parts of a pattern. `is_open` allows lines that go on.
    pub(super) fn new(tokens: Vec<Token>, is_open: bool) -> Result<Self, String> {
        let values = |wanted: fn(&Value) -> bool| {
            tokens.iter().any(|token| matches!(token, Token::Value(value) if wanted(value)))
        };
        if !values(Value::is_time) {
            return Err("it has no time (for example $time_local or %t)".to_owned());
        }
        if !values(|value| matches!(value, Value::Request | Value::Target)) {
            return Err("it has no request (for example $request or %r)".to_owned());
        }
        if !values(|value| *value == Value::Client) {
            return Err("it has no client address (for example $remote_addr or %h)".to_owned());
        }
        let (mut pieces, mut literal) = (Vec::new(), Vec::new());
        // A literal at the beginning ends a value that is empty.
        let mut value = Value::Skip;
        for token in tokens {
            let next = match token {
                Token::Literal(c) => {
                    literal.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                Token::Value(next) => next,
            };
            let before = std::mem::replace(&mut value, next);
            if !literal.is_empty() {
                let end = End::of(std::mem::take(&mut literal));
                pieces.push(Piece { value: before, end });
            } else if before != Value::Skip || !pieces.is_empty() {
                let name = before.name();
                return Err(format!("{name} and the value behind it have nothing between them"));
            }
        }
        let end = match literal.is_empty() {
            false => End::of(literal),
            true if is_open => End::Octet(b' '),
            true => End::Line,
        };
        pieces.push(Piece { value, end });
        Ok(Self { pieces, is_open })
    }

    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Result<Entry<'l>, Fault> {
        let mut parts = Parts::default();
        let mut rest = line;
        for (at, Piece { value, end }) in self.pieces.iter().enumerate() {
            let is_last = at + 1 == self.pieces.len();
            let (found, after) = match end.find(rest) {
                Some(found) => found,
                // An open pattern may end with the line.
                None if is_last && self.is_open => (rest, &b""[..]),
                None => return Err(Fault::Form),
            };
            value.take(found, unescape, &mut parts)?;
            rest = after;
        }
        if !self.is_open && !rest.is_empty() {
            return Err(Fault::Form);
        }
        parts.entry()
    }
}

impl End {
    fn of(literal: Vec<u8>) -> Self {
        match literal.as_slice() {
            [b'"', ..] => Self::Quote(literal),
            [octet] => Self::Octet(*octet),
            _ => Self::Literal(Box::new(memmem::Finder::new(&literal).into_owned())),
        }
    }

    /// The value before this end, and what comes behind.
    fn find<'l>(&self, rest: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        let (at, length) = match self {
            Self::Line => return Some((rest, &[])),
            Self::Octet(octet) => (memchr(*octet, rest)?, 1),
            Self::Literal(finder) => (finder.find(rest)?, finder.needle().len()),
            Self::Quote(literal) => (quote(rest, literal)?, literal.len()),
        };
        Some((rest.get(..at)?, rest.get(at + length..)?))
    }
}

/// The place of a closing quote and the literal behind it.
fn quote(text: &[u8], literal: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr(b'"', text.get(from..)?)?;
        let backslashes = text.get(..at)?.iter().rev().take_while(|&&b| b == b'\\').count();
        // An even number of backslashes are escapes of each other.
        if backslashes % 2 == 0 && text.get(at..)?.starts_with(literal) {
            return Some(at);
        }
        from = at + 1;
    }
}

impl Value {
    const fn is_time(&self) -> bool {
        matches!(
            self,
            Self::CommonTime
                | Self::IsoTime
                | Self::EpochTime
                | Self::BracketedTime
                | Self::FormattedTime(_)
        )
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Skip => "a value",
            Self::Client => "the client address",
            Self::Request => "the request",
            Self::Method => "the method",
            Self::Target => "the target",
            Self::Query => "the query",
            Self::Host | Self::ServerName => "the host",
            Self::UserAgent => "the User-Agent",
            Self::ForwardedFor => "X-Forwarded-For",
            Self::Status => "the status",
            _ => "the time",
        }
    }

    /// Notes what was found. `text` takes the escapes off a text.
    pub(super) fn take<'l>(
        &self,
        found: &'l [u8],
        text: impl Fn(&'l [u8]) -> Text<'l>,
        parts: &mut Parts<'l>,
    ) -> Result<(), Fault> {
        match self {
            Self::Skip => {}
            Self::Client => parts.client = address(found),
            Self::CommonTime => parts.time = Some(time::common(found).ok_or(Fault::Time)?),
            Self::BracketedTime => {
                let inside = found.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
                parts.time = Some(time::common(inside.unwrap_or(found)).ok_or(Fault::Time)?);
            }
            Self::IsoTime => parts.time = Some(time::iso(found).ok_or(Fault::Time)?),
            Self::EpochTime => parts.time = Some(time::epoch(found).ok_or(Fault::Time)?),
            Self::FormattedTime(format) => {
                parts.time = Some(time::formatted(format, found).ok_or(Fault::Time)?);
            }
            Self::Request => parts.request = Some(text(found)),
            Self::Method => parts.method = Some(text(found)),
            Self::Target => parts.target = Some(text(found)),
            Self::Query => parts.query = Some(text(found)),
            Self::Host => parts.host = Some(text(found)),
            Self::ServerName => parts.server_name = Some(text(found)),
            Self::UserAgent => parts.user_agent = Some(text(found)),
            Self::ForwardedFor => parts.forwarded_for = Some(text(found)),
            Self::Status => parts.status = status(found),
        }
        Ok(())
    }
}
