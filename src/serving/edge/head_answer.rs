//! Answers to heads that never become requests.

/// An answer, written up to some place. The connection ends with it.
#[derive(Debug)]
pub(super) struct Answer {
    octets: Vec<u8>,
    written: usize,
}

impl Answer {
    pub(super) fn new(status: u16) -> Self {
        let (reason, text) = match status {
            408 => ("Request Timeout", "The request took too long to arrive.\n"),
            414 => ("URI Too Long", "The request target is too long.\n"),
            503 => ("Service Unavailable", "All connections are taken.\n"),
            431 => ("Request Header Fields Too Large", "The request header is too large.\n"),
            _ => ("Bad Request", "The request is not valid HTTP.\n"),
        };
        let retry = if status == 503 { "Retry-After: 1\r\n" } else { "" };
        let octets = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nCache-Control: no-store\r\n{retry}Connection: close\r\n\r\n{text}",
            text.len()
        );
        Self { octets: octets.into_bytes(), written: 0 }
    }

    /// What is not written yet.
    pub(super) fn rest(&self) -> Option<&[u8]> {
        self.octets.get(self.written..).filter(|rest| !rest.is_empty())
    }

    pub(super) fn advance(&mut self, written: usize) {
        self.written += written;
    }
}
