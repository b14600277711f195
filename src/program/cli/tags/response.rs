//! The parts of a response that have rules: two header fields and the document's head.

use std::io::{self, BufRead, Read};

use crate::{
    formats::robots_tag::DocumentReader,
    program::console::{
        Error,
        input::{STANDARD_INPUT, lines, refusal, too_large},
    },
};

/// The largest response, in octets; crawlers read less of a document.
const MAX_RESPONSE: usize = 16 << 20;

/// The longest header line, in octets; the rest of a longer line counts as another line.
const MAX_LINE: u64 = 1 << 16;

/// The header field of draft-illyes-repext.
pub(super) const FIELD: &str = "Robots-Tag";
/// The header field of today's crawlers.
pub(super) const OLDER_FIELD: &str = "X-Robots-Tag";

/// The parts of a response that have rules.
#[derive(Default)]
pub(super) struct Response {
    pub(super) field: Vec<Vec<u8>>,
    pub(super) older_field: Vec<Vec<u8>>,
    pub(super) document: DocumentReader,
}

impl Response {
    /// All lines of standard input as headers, also of several responses.
    pub(super) fn read_headers(input: impl BufRead) -> Result<Self, Error> {
        let mut response = Self::default();
        let mut input = input.take(MAX_RESPONSE as u64 + 1);
        for line in lines(&mut input, STANDARD_INPUT) {
            response.header(&line?);
        }
        complete(response, &input, STANDARD_INPUT)
    }

    /// Headers, an empty line, and a document; or a document alone. Of several responses (`curl
    /// -L`) the last one counts, because it has the document.
    pub(super) fn read(input: impl BufRead, name: &str) -> Result<Self, Error> {
        let mut input = input.take(MAX_RESPONSE as u64 + 1);
        let response = Self::read_all(&mut input).map_err(|error| refusal(name, &error))?;
        complete(response, &input, name)
    }

    fn read_all(input: &mut impl BufRead) -> io::Result<Self> {
        let mut response = Self::default();
        let mut line = Vec::new();
        let mut is_first = true;
        loop {
            line.clear();
            input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
            if is_first && !is_status(&line) && !is_header(&line) {
                break;
            }
            if line.trim_ascii().is_empty() {
                line.clear();
                input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
                if !is_status(&line) {
                    break;
                }
            }
            if is_status(&line) {
                response = Self::default();
            }
            response.header(&line);
            is_first = false;
        }
        response.document.feed(&line);
        loop {
            let octets = input.fill_buf()?;
            let length = octets.len();
            if length == 0 {
                return Ok(response);
            }
            // Read to the end, so that the writer's pipe does not break.
            response.document.feed(octets);
            input.consume(length);
        }
    }

    fn header(&mut self, line: &[u8]) {
        let Some((name, value)) = split(line) else { return };
        if name.eq_ignore_ascii_case(FIELD.as_bytes()) {
            self.field.push(value.to_vec());
        } else if name.eq_ignore_ascii_case(OLDER_FIELD.as_bytes()) {
            self.older_field.push(value.to_vec());
        }
    }
}

/// The response, unless it is larger than the limit.
fn complete<R>(response: Response, input: &io::Take<R>, name: &str) -> Result<Response, Error> {
    if input.limit() == 0 { Err(too_large(name, MAX_RESPONSE)) } else { Ok(response) }
}

/// The name and the value of a header line.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|octet| *octet == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii()))
}

fn is_header(line: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
    split(line).is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

fn is_status(line: &[u8]) -> bool {
    line.starts_with(b"HTTP/")
}
