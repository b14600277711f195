//! A real nginx as the origin.

use std::{
    net::{Ipv4Addr, TcpStream},
    process::{Child, Command, Stdio},
};

use super::{free_port, need, wait_for};

/// A running nginx; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Nginx {
    child: Child,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts nginx over an empty folder; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_on(free_port())
    }

    /// Starts nginx on a port that an earlier one had.
    pub(crate) fn start_on(port: u16) -> Option<Self> {
        Self::start_with(port, "gzip_proxied any;")
    }

    /// Starts nginx that compresses nothing for a proxy, as it does by default.
    pub(crate) fn start_without_gzip_proxied() -> Option<Self> {
        Self::start_with(free_port(), "")
    }

    /// Starts nginx on this port in front of another server, with these further lines.
    pub(crate) fn in_front_of(server: u16, port: u16, locations: &str) -> Option<Self> {
        let more = "proxy_cache_path cache keys_zone=all:1m;";
        let locations = format!(
            "{locations} location / {{ proxy_pass http://127.0.0.1:{server}; }}\n\
             proxy_set_header Host $host;"
        );
        Self::serve(port, more, &locations)
    }

    fn start_with(port: u16, more: &str) -> Option<Self> {
        let locations = "location /moved { return 301 /elsewhere; }\n\
             location /nothing { return 204; }\n\
             location /slow/ { limit_rate 40k; limit_rate_after 1k; }";
        Self::serve(port, more, locations)
    }

    fn serve(port: u16, more: &str, locations: &str) -> Option<Self> {
        let program = need("nginx")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let at = folder.path().display();
        let configuration = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n\
               access_log off; default_type application/octet-stream;\n\
               types {{ text/html html; text/plain txt; image/png png; }}\n\
               client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;\n\
               fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;\n\
               gzip on; {more} gzip_types text/plain; gzip_min_length 1000; keepalive_requests 100000;\n\
               server {{\n\
                 listen 127.0.0.1:{port}; root {at}/root;\n\
                 {locations}\n\
               }}\n\
             }}\n"
        );
        std::fs::create_dir(folder.path().join("root")).expect("the folder is ours");
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration).expect("the folder is ours");
        let child = Command::new(program)
            .arg("-p")
            .arg(folder.path())
            .arg("-e")
            .arg(folder.path().join("error.log"))
            .arg("-c")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx can be started");
        let nginx = Self { child, port, folder };
        wait_for("nginx", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        Some(nginx)
    }

    /// Writes a file into the folder that nginx serves.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let file = self.folder.path().join("root").join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().expect("it is in the root"))
            .expect("the folder is ours");
        std::fs::write(file, bytes).expect("the folder is ours");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
