//! The format of a log, told by its first lines.

use super::{alb, entry::address, format::Format, haproxy, json, w3c::Columns};

/// The format of a log that begins with these lines. `None` if no known one fits.
pub fn detect<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Option<Format> {
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
        _ if alb::is_line(line) => "alb",
        _ if haproxy::is_line(line) => "haproxy",
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
    let parses = |name: &&&str| {
        let format = Format::of(name).ok();
        format.is_some_and(|format| format.parse(line, &mut Columns::default()).is_ok())
    };
    candidates.iter().find(parses).copied()
}
