//! Formats that standards and other programs define: bytes in, values out. Pure.
//!
//! Look here for how a text is read or written: robots.txt (RFC 9309), `Robots-Tag` (draft-illyes-repext-03),
//! preferences about AI (draft-ietf-aipref), signatures, HTTP/1 messages, access logs, addresses of
//! Valkey servers.
//!
//! ```text
//! usage ─▶ robots ─▶ probe     robots_tag   signature   framing   access_log   valkey
//! ```

pub mod access_log; // access logs of web servers
pub mod framing; // HTTP/1 messages, strictly
pub mod probe; // questions that show how an origin reads forms of a path, and what its answers say
pub mod robots; // robots.txt: parser with comments and places, writer, matcher, forms of paths
pub mod robots_tag; // Robots-Tag, X-Robots-Tag and meta elements: parser, writer, union
pub mod signature; // HTTP message signatures: parser, directory of keys, verification
pub mod usage; // preferences about AI and search: Content-Usage (a structured field), Content-Signal
pub mod valkey; // addresses of servers that nodes share
