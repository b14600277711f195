//! Answers to heads that never become requests.

use bytes::Bytes;

/// The answer with a status. The connection ends with it.
pub(super) fn of(status: u16) -> Bytes {
    let (reason, text) = match status {
        408 => ("Request Timeout", "The request took too long to arrive.\n"),
        414 => ("URI Too Long", "The request target is too long.\n"),
        503 => ("Service Unavailable", "All connections are taken.\n"),
        431 => ("Request Header Fields Too Large", "The request header is too large.\n"),
        _ => ("Bad Request", "The request is not valid HTTP.\n"),
    };
    let retry = if status == 503 { "Retry-After: 1\r\n" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\n{retry}Connection: close\r\n\r\n{text}",
        text.len()
    );
    answer.into()
}
