//! Log lines on standard error.
//!
//! Other crates log what they read: pingora prints the fields of every request at the level debug,
//! and quotes a head that it can't parse in an error. Cookies and credentials would be in the log. So
//! only Beadle's own lines may be more verbose than warnings, and the parts of pingora that read
//! messages log nothing. `BEADLE_LOG` can't change that. Beadle logs their failures itself.

use tracing::{Level, Metadata};
use tracing_subscriber::{EnvFilter, filter::filter_fn, fmt, prelude::*};

use super::screen::wants_colours;

/// The parts of other crates that quote messages in warnings and errors.
const QUOTING: [&str; 4] =
    ["pingora_proxy", "pingora_core::apps", "pingora_core::protocols::http", "pingora_cache"];

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Writes log lines to standard error, also those of pingora. `BEADLE_LOG` overrides the level.
pub(crate) fn log_to_stderr(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_env("BEADLE_LOG").unwrap_or_else(|_| {
        EnvFilter::new(format!("{level},hickory_resolver=off,hickory_net=off"))
    });
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter).with(filter_fn(may_be_shown));
    // A second call in one process has no effect.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colours();
            registry.with(lines.with_ansi(ansi)).try_init()
        }
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
}

/// Whether a line can't quote a message, whatever the level.
fn may_be_shown(line: &Metadata<'_>) -> bool {
    let is_in = |module: &str| {
        let rest = line.target().strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    is_in("beadle") || (*line.level() <= Level::WARN && !QUOTING.into_iter().any(is_in))
}
