//! Signals that the server handles, from its first moment on.

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

use crate::console::{exit::Error, runtime::control_runtime};

/// The runtime for everything except requests, with handlers of signals.
pub(crate) struct Control {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) signals: Signals,
}

impl Control {
    /// Installs the handlers and starts the runtime.
    pub(crate) fn start() -> Result<Self, Error> {
        // A handler stays for the whole life of the process. This one comes before the first
        // thread, which takes its time on a busy machine.
        let first = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        drop(first.block_on(async { signal(SignalKind::hangup()) })?);
        let runtime = control_runtime()?;
        let signals = runtime.block_on(async { Signals::install() })?;
        Ok(Self { runtime, signals })
    }
}

/// The signals that the server handles.
pub(crate) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    /// Installs the handlers, inside a runtime.
    pub(crate) fn install() -> Result<Self, Error> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for a signal that ends the server. Passes every SIGHUP to `hangups`.
    pub(super) async fn end(&mut self, hangups: &mpsc::Sender<()>) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.quit.recv() => return "SIGQUIT",
                _ = self.hangup.recv() => {
                    // A full channel already has a reload waiting.
                    let _ = hangups.try_send(());
                }
            }
        }
    }
}
