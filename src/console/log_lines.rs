//! Log lines on standard error.

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::screen::wants_colours;

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
        EnvFilter::new(format!(
            "{level},pingora=warn,pingora_core=warn,pingora_proxy=off,\
             hickory_resolver=off,hickory_net=off"
        ))
    });
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    // A second call in one process has no effect.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colours();
            registry.with(lines.with_ansi(ansi)).try_init()
        }
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
}
