//! Dealings with other machines that are about no request.
//!
//! Look here for certificates, alerts, mail, and a policy on a web server.
//!
//! ```text
//! mail, tls ─▶ alerts     tls ─▶ acme     remote
//! ```

pub mod acme; // certificates ordered from an authority
pub mod alerts; // events for the operator, sent to webhooks, chats and mailboxes
pub mod mail; // letters by SMTP
pub mod remote; // a policy on a web server
pub mod tls; // certificates of the listeners
