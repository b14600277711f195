//! nginx: the origin, and the base of other setups.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use super::{
    Result,
    machine::Tools,
    process::{Address, Process},
};

/// The size of the origin's only file.
pub(crate) const PAGE_BYTES: usize = 1024;

/// An origin that answers every path with the same small file, on the processor of the load.
pub(crate) fn origin(tools: &Tools, folder: &Path, listen: Address) -> Result<Process> {
    fs::create_dir_all(folder)?;
    let head = "<!doctype html><title>page</title><p>";
    fs::write(folder.join("page.html"), format!("{head:.<PAGE_BYTES$}"))?;
    let server = format!(
        "sendfile on; open_file_cache max=10;
        server {{
            listen {listen} backlog=1024;
            root {root};
            types {{ text/html html; }}
            location / {{ try_files /page.html =500; }}
        }}",
        root = folder.display()
    );
    let origin = start(&tools.on_the_other_side(), "origin", 1, folder, &server)?;
    origin.wait_until_it_listens(listen)?;
    Ok(origin)
}

/// nginx with so many workers and these lines of its section `http`.
pub(crate) fn start(
    tools: &Tools,
    name: &'static str,
    workers: usize,
    folder: &Path,
    http: &str,
) -> Result<Process> {
    fs::create_dir_all(folder)?;
    // Under root, a worker runs as another user without access to the folder of this benchmark.
    let user = if fs::metadata("/proc/self")?.uid() == 0 { "user root;" } else { "" };
    let at = folder.display();
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
        .collect();
    let conf = format!(
        "{user}
        daemon off;
        worker_processes {workers};
        worker_rlimit_nofile 20000;
        pid {at}/pid;
        error_log {at}/error.log crit;
        events {{ worker_connections 16000; }}
        http {{
            access_log off;
            default_type text/html;
            tcp_nodelay on;
            keepalive_timeout 75s;
            keepalive_requests 1000000000;
            {paths}
            {http}
        }}
        "
    );
    let (file, log) = (folder.join("nginx.conf"), folder.join("error.log"));
    fs::write(&file, conf)?;
    let paths = [folder, &file, &log].map(|path| path.to_string_lossy().into_owned());
    let args = ["-p", &paths[0], "-c", &paths[1], "-e", &paths[2]];
    Process::start(tools, name, &tools.nginx, &args, folder)
}
