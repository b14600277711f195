//! The admin listener: login, metrics, pages, JSON.
//!
//! Look here for what an operator sees in a browser or asks by HTTP.
//!
//! ```text
//! admin ─▶ pages, api
//! ```

pub mod admin; // the admin listener: login, metrics and health
pub mod api; // the data of the pages as JSON, and exports
pub mod pages; // pages for operators: lists, forms, settings in words, changes and attempts, robots.txt
