//! The runtime of everything that waits, except for requests.

use crate::program::console::exit::Error;

/// The runtime for everything except requests: signals, look-ups, reloads and the admin listener.
pub(crate) fn control_runtime() -> Result<tokio::runtime::Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("control")
        .enable_all()
        .build()?;
    Ok(runtime)
}
