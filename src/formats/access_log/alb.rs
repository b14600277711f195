//! Access logs of AWS Application Load Balancers: columns between spaces, some in quotes.

use super::{
    entry::{Entry, Fault, Parts, address, status},
    time,
    unescape::unescape,
};

/// The column of each part.
const TIME: usize = 1;
const CLIENT: usize = 3;
const STATUS: usize = 8;
const REQUEST: usize = 12;
const USER_AGENT: usize = 13;

/// Whether a line looks like one of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    let kinds: [&[u8]; 5] = [b"http ", b"https ", b"h2 ", b"ws ", b"wss "];
    kinds.iter().any(|kind| line.starts_with(kind)) && parse(line).is_ok()
}

pub(super) fn parse(line: &[u8]) -> Result<Entry<'_>, Fault> {
    let columns: Vec<&[u8]> = Columns(line).take(USER_AGENT + 1).collect();
    let column = |at: usize| columns.get(at).copied().ok_or(Fault::Form);
    let parts = Parts {
        time: time::iso(column(TIME)?),
        client: address(column(CLIENT)?),
        // `GET https://www.example.com:443/path HTTP/1.1`
        request: Some(unescape(column(REQUEST)?)),
        user_agent: Some(unescape(column(USER_AGENT)?)),
        status: status(column(STATUS)?),
        ..Parts::default()
    };
    parts.entry()
}

/// Columns between spaces; a column in quotes may have spaces.
struct Columns<'l>(&'l [u8]);

impl<'l> Iterator for Columns<'l> {
    type Item = &'l [u8];

    fn next(&mut self) -> Option<&'l [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let (column, rest) = match self.0.strip_prefix(b"\"") {
            Some(quoted) => {
                let end = closing(quoted);
                (quoted.get(..end)?, quoted.get(end + 1..).unwrap_or_default())
            }
            None => {
                let end = self.0.iter().position(|&b| b == b' ').unwrap_or(self.0.len());
                self.0.split_at(end)
            }
        };
        self.0 = rest.strip_prefix(b" ").unwrap_or(rest);
        Some(column)
    }
}

/// The place of the closing quote, else the end.
fn closing(quoted: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = quoted.iter().position(|&b| {
        let is_end = b == b'"' && !is_escaped;
        is_escaped = b == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(quoted.len())
}
