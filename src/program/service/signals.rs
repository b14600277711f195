//! Signals that the server handles, from its first moment on.

use std::net::TcpListener;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    program::console::{Error, control_runtime},
    state::publication::Reloads,
};

use super::sockets;

/// The runtime for everything except requests, with handlers of signals, and the sockets that the
/// program inherits.
pub(crate) struct Control {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) signals: Signals,
    /// Those that listen already, before the policy is read.
    pub(crate) inherited: Vec<TcpListener>,
}

impl Control {
    pub(crate) fn start() -> Result<Self, Error> {
        // A handler stays for the whole life of the process. This one comes before the first
        // thread, which takes its time on a busy machine.
        let first = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        drop(first.block_on(async { signal(SignalKind::hangup()) })?);
        let inherited = sockets::inherited()?;
        let runtime = control_runtime()?;
        let signals = runtime.block_on(async { Signals::install() })?;
        Ok(Self { runtime, signals, inherited })
    }
}

pub(crate) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    succeed: Signal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// To start a successor (SIGUSR2).
    Successor,
    End(&'static str),
}

impl Signals {
    pub(crate) fn install() -> Result<Self, Error> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            succeed: signal(SignalKind::user_defined2())?,
        })
    }

    /// Waits for a signal that ends the server. A SIGHUP waits, too.
    pub(super) async fn end_of_start(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
        }
    }

    /// Waits for the next signal but SIGHUP. Every SIGHUP is a request in `reloads`.
    pub(super) async fn next(&mut self, reloads: &Reloads) -> Order {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return Order::End("SIGTERM"),
                _ = self.interrupt.recv() => return Order::End("SIGINT"),
                _ = self.quit.recv() => return Order::End("SIGQUIT"),
                _ = self.succeed.recv() => return Order::Successor,
                _ = self.hangup.recv() => reloads.request(),
            }
        }
    }

    pub(super) async fn end(&mut self, reloads: &Reloads) -> &'static str {
        loop {
            if let Order::End(signal) = self.next(reloads).await {
                return signal;
            }
        }
    }
}
