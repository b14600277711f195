//! A bare pingora proxy for comparison: Beadle's setup without Beadle.
//!
//! It has the same crates, profile, allocator and timeouts. It has two hooks: one names the origin,
//! one sets the timeouts of the client's side.

use std::{net::SocketAddr, process::ExitCode};

use async_trait::async_trait;
use beadle::rules::policy::Timeouts;
use pingora::{
    listeners::tls::TlsSettings,
    protocols::ALPN,
    proxy::{ProxyHttp, Session, http_proxy_service},
    server::{RunArgs, Server, configuration::ServerConf},
    upstreams::peer::HttpPeer,
};

/// With this argument the benchmark is the proxy.
pub(crate) const ARGUMENT: &str = "--bare-pingora";

struct Bare {
    origin: SocketAddr,
    host: String,
    timeouts: Timeouts,
}

#[async_trait]
impl ProxyHttp for Bare {
    type CTX = ();

    fn new_ctx(&self) {}

    async fn request_filter(&self, session: &mut Session, (): &mut ()) -> pingora::Result<bool> {
        session.set_keepalive(Some(self.timeouts.client_keepalive.as_secs()));
        session.set_read_timeout(Some(self.timeouts.client_read));
        session.set_write_timeout(Some(self.timeouts.client_write));
        Ok(false)
    }

    async fn upstream_peer(
        &self,
        _session: &mut Session,
        (): &mut (),
    ) -> pingora::Result<Box<HttpPeer>> {
        let mut peer = HttpPeer::new(self.origin, false, self.host.clone());
        let options = &mut peer.options;
        options.alpn = ALPN::H1;
        options.connection_timeout = Some(self.timeouts.origin_connect);
        options.total_connection_timeout = Some(self.timeouts.origin_connect);
        options.read_timeout = Some(self.timeouts.origin_read);
        options.write_timeout = Some(self.timeouts.origin_write);
        options.idle_timeout = Some(self.timeouts.origin_keepalive);
        Ok(Box::new(peer))
    }
}

/// Proxies from `listen`, and from `tls` with this certificate and key, to `origin` until a signal ends
/// it.
pub(crate) fn run([listen, tls, certificate, key, origin]: [&str; 5]) -> ExitCode {
    // As Beadle does.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let Ok(address) = origin.parse::<SocketAddr>() else { return ExitCode::FAILURE };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let Ok(mut settings) = TlsSettings::intermediate(certificate, key) else {
        return ExitCode::FAILURE;
    };
    settings.enable_h2();
    let timeouts = Timeouts::default();
    let conf = ServerConf {
        threads: 1,
        grace_period_seconds: Some(0),
        graceful_shutdown_timeout_seconds: Some(0),
        max_retries: 2,
        ..ServerConf::default()
    };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let bare = Bare { origin: address, host: address.ip().to_string(), timeouts };
    let mut service = http_proxy_service(&server.configuration, bare);
    service.add_tcp(listen);
    service.add_tls_with_settings(tls, None, settings);
    server.add_service(service);
    server.run(RunArgs::default());
    ExitCode::SUCCESS
}
