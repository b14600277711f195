//! The format of a log, told by its first lines.

use super::{entry::address, format::Format, haproxy, json, w3c::Columns};

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
