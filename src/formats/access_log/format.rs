//! The format of a log: a known one by its name, or a pattern.

use super::{
    entry::{Entry, Fault, address},
    haproxy, json,
    line_pattern::Pattern,
    own,
    source_pattern::{apache, nginx},
    w3c::Columns,
};
use crate::base::escape::shown;

pub(crate) const NAMES: [(&str, &str); 14] = [
    ("combined", "nginx and Apache: combined"),
    ("common", "the common log format"),
    ("vhost_combined", "Apache: combined with the virtual host before it"),
    ("json", "JSON lines under usual names"),
    ("caddy", "Caddy"),
    ("traefik", "Traefik, as JSON or in the common form"),
    ("haproxy", "HAProxy: option httplog"),
    ("cloudflare", "Cloudflare Logpush: HTTP requests"),
    ("alb", "AWS Application Load Balancer"),
    ("cloudfront", "AWS CloudFront: standard log"),
    ("w3c", "W3C extended"),
    ("iis", "IIS, W3C extended"),
    ("beadle", "Beadle's own violation records"),
    ("beadle-access", "Beadle's own access log, in both of its forms"),
];

const COMBINED: &str = r#"%h %l %u [%{common}t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const COMMON: &str = r#"%h %l %u [%{common}t] "%r" %>s %b"#;
const VHOST: &str = r#"%v %h %l %u [%{common}t] "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
/// AWS documents more columns than a judgement needs; those behind the User-Agent are left out.
const ALB: &str = r#"$type $time_iso8601 $elb $remote_addr $target $request_time $target_time $response_time $status $target_status $received $sent "$request" "$http_user_agent""#;

#[derive(Clone, Debug)]
pub(crate) struct Format {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Pattern(Box<Pattern>),
    Json,
    /// JSON, or lines of this pattern.
    Either(Box<Pattern>),
    /// Beadle's own JSON, or lines of this pattern.
    Beadle(Box<Pattern>),
    Haproxy,
    /// The columns come with the file.
    W3c,
}

impl Format {
    /// The format of a name, or of a pattern: `$variables` as in nginx's `log_format`, `%directives` as
    /// in Apache's `LogFormat`.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let kind = match text {
            "combined" => Kind::Pattern(builtin(COMBINED)?),
            "common" => Kind::Pattern(builtin(COMMON)?),
            "vhost_combined" => Kind::Pattern(builtin(VHOST)?),
            "traefik" => Kind::Either(builtin(COMBINED)?),
            "json" | "caddy" | "cloudflare" | "beadle" => Kind::Json,
            "beadle-access" => Kind::Beadle(builtin(own::COMBINED)?),
            "alb" => Kind::Pattern(compiled(Pattern::new(nginx(ALB), true))?),
            "haproxy" => Kind::Haproxy,
            "w3c" | "iis" | "cloudfront" => Kind::W3c,
            pattern if pattern.contains('$') => {
                Kind::Pattern(compiled(Pattern::new(nginx(pattern), false))?)
            }
            pattern if pattern.contains('%') => {
                let tokens = apache(pattern);
                Kind::Pattern(compiled(tokens.and_then(|tokens| Pattern::new(tokens, false)))?)
            }
            other => return Err(unknown(other)),
        };
        Ok(Self { name: text.to_owned(), kind })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file itself names the columns.
    pub(crate) const fn has_header(&self) -> bool {
        matches!(self.kind, Kind::W3c)
    }

    pub(super) fn is_of_beadle(&self, line: &[u8]) -> bool {
        matches!(&self.kind, Kind::Beadle(combined) if own::is_line(line, combined))
    }

    /// The entry of a line without its end; `None` for a comment. `header` holds the columns that
    /// the file itself names.
    pub(crate) fn parse<'l>(
        &self,
        line: &'l [u8],
        header: &mut Columns,
    ) -> Result<Option<Entry<'l>>, Fault> {
        let entry = match &self.kind {
            Kind::Pattern(pattern) => pattern.parse(line)?,
            Kind::Either(pattern) if !line.starts_with(b"{") => pattern.parse(line)?,
            Kind::Json | Kind::Either(_) => json::parse(line)?,
            Kind::Beadle(_) if line.starts_with(b"{") => own::parse(line)?,
            Kind::Beadle(pattern) => pattern.parse(line)?,
            Kind::Haproxy => haproxy::parse(line)?,
            Kind::W3c => {
                if line.starts_with(b"#") {
                    *header = Columns::of(line).unwrap_or_else(|| std::mem::take(header));
                    return Ok(None);
                }
                header.parse(line)?
            }
        };
        if entry.client.is_none() {
            return Err(Fault::Address);
        }
        Ok(Some(entry))
    }
}

/// A pattern of ours: servers may add values behind it.
fn builtin(pattern: &str) -> Result<Box<Pattern>, String> {
    compiled(apache(pattern).and_then(|tokens| Pattern::new(tokens, true)))
}

fn compiled(pattern: Result<Pattern, String>) -> Result<Box<Pattern>, String> {
    let refused = |why| format!("the log format can't be used: {why}");
    pattern.map(Box::new).map_err(refused)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    format!(
        "'{}' is no log format (one of {}, or a pattern such as nginx's log_format or Apache's \
         LogFormat)",
        shown(name),
        names.join(", ")
    )
}

/// The kinds of connections with which the lines of an ALB begin.
const ALB_KINDS: [&[u8]; 5] = [b"http ", b"https ", b"h2 ", b"ws ", b"wss "];

/// The format of a log that begins with these lines. `None` if no known one fits.
pub(crate) fn detect<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Option<Format> {
    lines.into_iter().find_map(of_line)
}

fn of_line(line: &[u8]) -> Option<Format> {
    if let Some(own) = Format::of("beadle-access").ok().filter(|own| own.is_of_beadle(line)) {
        return Some(own);
    }
    let name = match line.first()? {
        b'{' => json::is_entry(line).then_some("json")?,
        b'#' => match Columns::of(line) {
            Some(_) => "w3c",
            None => line.starts_with(b"#Software: Microsoft").then_some("iis")?,
        },
        _ if ALB_KINDS.iter().any(|kind| line.starts_with(kind)) && parses("alb", line) => "alb",
        _ if haproxy::parse(line).is_ok() => "haproxy",
        _ => patterned(line)?,
    };
    Format::of(name).ok()
}

/// A line of a form that begins with an address.
fn patterned(line: &[u8]) -> Option<&'static str> {
    let mut words = line.split(|&b| b == b' ');
    let first = words.next().and_then(address);
    let second = words.next().and_then(address);
    let candidates: &[&str] = match (first, second) {
        (Some(_), _) => &["combined", "common"],
        (None, Some(_)) => &["vhost_combined"],
        (None, None) => return None,
    };
    candidates.iter().copied().find(|name| parses(name, line))
}

fn parses(name: &str, line: &[u8]) -> bool {
    Format::of(name).is_ok_and(|format| format.parse(line, &mut Columns::default()).is_ok())
}
