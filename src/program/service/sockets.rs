//! The listening sockets: bound once, held from the check of the policy to the serving. The token of the
//! admin listener.
//!
//! Some come from systemd, which keeps them open between two runs of the program. So connections
//! that arrive in between wait in the kernel, and none is refused. A successor gets those of the process
//! before it. All others are bound here.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
};

use listenfd::ListenFd;
use tokio::net::TcpSocket;

use crate::{base::diagnostic::Diagnostic, desk::admin, program::console::Error, rules::policy};

use super::successor;

/// The most connections that wait until they are accepted. The kernel's own limit is
/// `net.core.somaxconn`.
const BACKLOG: u32 = 4_096;

#[derive(Debug)]
pub(super) struct Sockets(Vec<(SocketAddr, TcpListener)>);

/// The sockets that systemd passes by `LISTEN_FDS`, or any program that does the same. To be called before
/// the first thread, because it removes these variables.
pub(super) fn inherited() -> Result<Vec<TcpListener>, Error> {
    let mut passed = ListenFd::from_env();
    let sockets = (0..passed.len()).filter_map(|at| passed.take_tcp_listener(at).transpose());
    sockets.collect::<io::Result<_>>().map_err(|error| {
        let hint = "the socket unit may have TCP sockets alone, with Accept=no";
        Error::Refused(format!("socket activation: {error} ({hint})"))
    })
}

impl Sockets {
    /// Takes the inherited socket of each address, and binds the others. Inside a runtime.
    pub(super) fn bind(
        addresses: &[(&'static str, SocketAddr)],
        already_listening: Vec<TcpListener>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (mut sockets, mut findings) = (Vec::new(), Vec::new());
        let mut inherited = Vec::new();
        for socket in already_listening {
            match socket.local_addr() {
                Ok(address) => inherited.push((address, socket)),
                Err(error) => findings.push(Diagnostic::error("server.listen", error.to_string())),
            }
        }
        for &(key, address) in addresses {
            let at = inherited.iter().position(|(inherited, _)| *inherited == address);
            match at.map_or_else(|| bound(address), |at| again(inherited.remove(at).1)) {
                Ok(socket) => sockets.push((address, socket)),
                Err(error) => findings.push(unusable(key, address, &error)),
            }
        }
        // Nothing would ever accept their connections. An address of the policy before is closed.
        if !successor::is_one() {
            findings.extend(inherited.iter().map(|(address, _)| unclaimed(*address)));
        }
        if findings.is_empty() { Ok(Self(sockets)) } else { Err(findings) }
    }

    pub(super) fn copies(&self) -> io::Result<Vec<OwnedFd>> {
        self.0.iter().map(|(_, socket)| socket.try_clone().map(OwnedFd::from)).collect()
    }

    pub(super) fn take(&mut self, address: SocketAddr) -> Result<TcpListener, Error> {
        let at = self.0.iter().position(|(own, _)| *own == address);
        at.map(|at| self.0.remove(at).1)
            .ok_or_else(|| Error::Refused(format!("{address}: the socket is in use already")))
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of the last run may still close.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// A socket that listens already, with room for as many waiting connections as every other.
fn again(socket: TcpListener) -> io::Result<TcpListener> {
    socket.set_nonblocking(true)?;
    let socket = std::net::TcpStream::from(OwnedFd::from(socket));
    TcpSocket::from_std_stream(socket).listen(BACKLOG)?.into_std()
}

fn unusable(key: &'static str, address: SocketAddr, error: &io::Error) -> Diagnostic {
    let message = format!("can't listen on {address}: {error}");
    let help = match error.kind() {
        io::ErrorKind::AddrInUse => "stop the program that uses it, or choose another port",
        io::ErrorKind::PermissionDenied => {
            "choose a port from 1024 on, or give the program CAP_NET_BIND_SERVICE"
        }
        _ => "choose an address of this machine",
    };
    Diagnostic::error(key, message).help(help)
}

fn unclaimed(address: SocketAddr) -> Diagnostic {
    let message =
        format!("systemd passes a socket at {address}, and the policy has no such address");
    let help = "write the same addresses as ListenStream= of the socket unit and in server.listen \
                (ListenStream=80 alone is [::]:80)";
    Diagnostic::error("server.listen", message).help(help)
}

/// The token of the admin listener, if the policy names its file.
pub(crate) fn admin_token(admin: &policy::Admin) -> Result<Option<String>, Error> {
    let Some(file) = &admin.token_file else { return Ok(None) };
    let unreadable = |error: io::Error| refused(admin, &error.to_string());
    let found = std::fs::metadata(file).map_err(unreadable)?;
    if found.is_file() && found.permissions().mode() & 0o002 != 0 {
        return Err(refused(admin, "every user may write it (run 'chmod o-w' on it)"));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let token = text.trim();
    if token.len() < admin::SHORTEST_TOKEN {
        let fewest = admin::SHORTEST_TOKEN;
        let why = format!(
            "the token is shorter than {fewest} characters (make one with 'openssl rand -hex 24')"
        );
        return Err(refused(admin, &why));
    }
    Ok(Some(token.to_owned()))
}

fn refused(admin: &policy::Admin, why: &str) -> Error {
    let file = admin.token_file.iter().map(|file| file.display().to_string()).collect::<String>();
    Error::Refused(format!("server.admin.token_file: {file}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free() -> (SocketAddr, TcpListener) {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
        (socket.local_addr().expect("it is bound"), socket)
    }

    #[tokio::test]
    async fn an_inherited_socket_serves_its_address_and_the_others_are_bound() {
        let ((inherited, socket), (free, other)) = (free(), free());
        drop(other);
        let mut sockets =
            Sockets::bind(&[("server.listen", free), ("server.admin", inherited)], vec![socket])
                .expect("both can be used");
        for address in [inherited, free] {
            let socket = sockets.take(address).expect("it is there");
            assert_eq!(socket.local_addr().ok(), Some(address));
            assert!(sockets.take(address).is_err(), "once");
        }
    }

    #[tokio::test]
    async fn each_unusable_address_is_a_finding() {
        let ((taken, _socket), (unclaimed, inherited)) = (free(), free());
        let findings = Sockets::bind(&[("server.admin", taken)], vec![inherited]);
        let findings = findings.expect_err("neither can be used");
        assert_eq!(findings[0].code, "server.admin", "the key that has the address");
        let messages: Vec<_> = findings.into_iter().map(|one| one.message).collect();
        assert!(messages[0].starts_with(&format!("can't listen on {taken}: ")), "{messages:?}");
        assert!(messages[1].contains(&unclaimed.to_string()), "{messages:?}");
    }

    #[tokio::test]
    async fn a_socket_is_held_from_the_check_on() {
        let (address, socket) = free();
        drop(socket);
        let _sockets =
            Sockets::bind(&[("server.listen", address)], Vec::new()).expect("it is free");
        assert!(TcpListener::bind(address).is_err());
    }
}
