//! The arguments of `beadle explain`.

use std::{net::IpAddr, path::PathBuf};

use clap_complete::ArgValueCompleter;

use crate::program::console::{ConfigFile, Format, completions};

/// Explain the verdict and the action for a request
///
/// With --config and --user-agent, shows the complete decision of a policy. With --robots-txt and
/// --product-token, shows the verdict of any robots.txt for a crawler:
///
///   beadle explain --config beadle.yaml --user-agent GPTBot/1.2 https://www.example.com/private/
///   beadle explain --robots-txt robots.txt --product-token GPTBot /private/ /public/
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(in crate::program::cli) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// The User-Agent of the request.
    #[arg(long, short = 'A', value_name = "UA", conflicts_with = "robots_txt")]
    pub(super) user_agent: Option<String>,
    /// The client's address. It is compared with the fetched address lists (evidence.folder in the
    /// policy).
    #[arg(long, value_name = "IP", conflicts_with = "robots_txt")]
    pub(super) client_ip: Option<IpAddr>,
    /// A robots.txt to use instead of a policy.
    #[arg(long, value_name = "FILE")]
    pub(super) robots_txt: Option<PathBuf>,
    /// The crawler, by its product token.
    #[arg(long, short = 't', value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
    pub(super) product_token: Option<String>,
    /// Read the robots.txt as leniently as Google's parser.
    #[arg(long, requires = "robots_txt")]
    pub(super) lenient: bool,
    /// URLs or paths.
    #[arg(value_name = "URL", required = true)]
    pub(super) targets: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}
