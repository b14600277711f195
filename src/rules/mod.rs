//! What the operator wants, and what it means for a request. Pure.
//!
//! Look here for who a User-Agent names, which keys a policy has, and how a request is judged.
//!
//! ```text
//! crawlers ─▶ keys ─▶ policy ─▶ enforce
//! ```

pub mod crawlers; // the catalogue and its files, names and links in User-Agents, parsers of address lists
pub mod enforce; // the decision about a request: group, rule, verdict, action
pub mod keys; // the keys of a policy, and their JSON Schema
pub mod policy; // the operator's file: its YAML with lines and columns, read into validated values
