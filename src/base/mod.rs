//! What every room may use: findings, escaping, metrics, the HTTP client.
//!
//! Look here for what has no opinion about robots rules.
//!
//! ```text
//! connections  diagnostic  escape  fetch  metrics  product_token  secret_file  stamp  text  version
//! whole_file
//! ```

pub mod connections; // threads and sockets of the listeners that are no proxy
pub mod diagnostic; // one finding that an operator can act on, shown with its line of the file
pub mod escape; // foreign bytes made safe to show
pub mod fetch; // the HTTP client of Beadle itself
pub mod metrics; // every metric, once
pub mod product_token; // a crawler's name
pub mod secret_file; // files with secrets of the operator
pub mod stamp; // versions of files
pub mod text; // foreign text in records, bounded and escaped
pub mod version; // version, commit and profile of the program
pub mod whole_file; // files that are replaced whole or not at all
