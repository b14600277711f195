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
pub mod probe; // how an origin reads paths, by its own answers
pub mod robots; // robots.txt: parser with comments and places, writer, matcher, forms of paths
pub mod robots_tag; // Robots-Tag, X-Robots-Tag and meta elements: parser, writer, union
pub mod signature; // HTTP message signatures: parser, directory of keys, verification
pub mod usage; // preferences about AI and search: Content-Usage, Content-Signal
pub mod valkey; // addresses of servers that nodes share
