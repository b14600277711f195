//! Log lines on standard error.
//!
//! Other crates log what they read: pingora prints the fields of every request at the level debug,
//! and quotes a head that it can't parse in an error. Cookies and credentials would be in the log. So
//! only Beadle's own lines may be more verbose than warnings, and the parts of pingora that read
//! messages log nothing. `BEADLE_LOG` can't change that. Beadle logs their failures itself.
//!
//! A thread of its own writes the lines, so a full pipe stops no request and no signal. Lines that find
//! no room in the queue are dropped and counted.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, filter::filter_fn, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use super::output::{Format, wants_colours};

/// The parts of other crates that quote messages in warnings and errors.
const QUOTING: [&str; 4] =
    ["pingora_proxy", "pingora_core::apps", "pingora_core::protocols::http", "pingora_cache"];

/// The most lines that wait until they are written.
const MOST_WAITING: usize = 2_048;

#[derive(Clone, Debug)]
pub(crate) struct LineCounts {
    /// Those that found no room.
    pub(crate) dropped: ErrorCounter,
    pub(crate) written: Arc<AtomicU64>,
}

/// Standard error without its lock, which a thread that waits would hold.
struct Output {
    file: Option<File>,
    written: Arc<AtomicU64>,
}

impl Write for Output {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = match &mut self.file {
            Some(file) => file.write(line),
            None => io::stderr().write(line),
        }?;
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes log lines to standard error, also those of pingora. `BEADLE_LOG` overrides the level. The drop
/// of the guard writes the lines that wait, for a second at most.
pub(crate) fn log_to_stderr(format: Format, level: &str) -> (WorkerGuard, LineCounts) {
    let written = Arc::<AtomicU64>::default();
    let file = io::stderr().as_fd().try_clone_to_owned().ok().map(File::from);
    let output = Output { file, written: Arc::clone(&written) };
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(MOST_WAITING).finish(output);
    let counts = LineCounts { dropped: writer.error_counter(), written };
    let filter = EnvFilter::try_from_env("BEADLE_LOG").unwrap_or_else(|_| {
        EnvFilter::new(format!("{level},hickory_resolver=off,hickory_net=off"))
    });
    let lines = fmt::layer().with_writer(writer).with_target(false);
    let registry = tracing_subscriber::registry().with(filter).with(filter_fn(may_be_shown));
    // A second call in one process has no effect.
    let _ = match format {
        Format::Text => {
            let ansi = io::IsTerminal::is_terminal(&io::stderr()) && wants_colours();
            registry.with(lines.with_ansi(ansi)).try_init()
        }
        Format::Json => registry.with(lines.json()).try_init(),
    };
    (guard, counts)
}

/// Whether a line can't quote a message, whatever the level.
fn may_be_shown(line: &Metadata<'_>) -> bool {
    let is_in = |module: &str| {
        let rest = line.target().strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    is_in("beadle") || (*line.level() <= Level::WARN && !QUOTING.into_iter().any(is_in))
}
