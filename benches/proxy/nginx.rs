//! nginx: the origin, a plain proxy, and a proxy that matches crawlers with the usual `map`.

use std::{fmt::Write, fs, os::unix::fs::MetadataExt, path::Path};

use crate::{
    Result,
    machine::Tools,
    process::{Address, Process},
};

/// The size of the origin's only file.
const PAGE_BYTES: usize = 1024;

/// An origin that answers every path with the same small file.
pub(crate) fn origin(tools: &Tools, folder: &Path, listen: Address) -> Result<Process> {
    fs::create_dir_all(folder)?;
    let head = "<!doctype html><title>page</title><p>";
    fs::write(folder.join("page.html"), format!("{head:.<PAGE_BYTES$}"))?;
    let server = format!(
        "server {{
            listen {listen} backlog=1024;
            root {root};
            types {{ text/html html; }}
            location / {{ try_files /page.html =500; }}
        }}",
        root = folder.display()
    );
    start(tools, "origin", folder, &server, false)
}

/// A proxy with kept-alive connections to the origin and the same added fields as Beadle. With
/// `crawlers` above zero, a `map` also matches this many names of the catalogue, with one
/// case-insensitive pattern each. The proxy forwards the result and refuses nothing.
pub(crate) fn proxy(
    tools: &Tools,
    folder: &Path,
    listen: Address,
    origin: Address,
    crawlers: usize,
) -> Result<Process> {
    fs::create_dir_all(folder)?;
    let (map, field) = if crawlers > 0 {
        (map(crawlers)?, "proxy_set_header X-Crawler $crawler;")
    } else {
        (String::new(), "")
    };
    let server = format!(
        "upstream origin {{
            server {origin};
            keepalive 128;
            keepalive_requests 1000000000;
            keepalive_timeout 60s;
        }}
        {map}
        server {{
            listen {listen} backlog=1024;
            location / {{
                proxy_pass http://origin;
                proxy_http_version 1.1;
                proxy_set_header Connection \"\";
                proxy_set_header Host $http_host;
                proxy_set_header X-Forwarded-For $remote_addr;
                proxy_set_header X-Forwarded-Host $http_host;
                proxy_set_header X-Forwarded-Proto $scheme;
                {field}
            }}
        }}"
    );
    start(tools, if crawlers > 0 { "nginx-map" } else { "nginx" }, folder, &server, true)
}

fn map(crawlers: usize) -> Result<String> {
    let mut map = "map $http_user_agent $crawler {\n    default \"\";\n".to_owned();
    let catalogue = beadle::policy::built_in_catalogue();
    for crawler in catalogue.iter().take(crawlers) {
        let name = crawler.product_token().as_str();
        let mut pattern = String::new();
        for character in name.chars() {
            if !(character.is_ascii_alphanumeric() || "-_ ".contains(character)) {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        writeln!(map, "    \"~*{pattern}\" \"{name}\";")?;
    }
    map.push('}');
    Ok(map)
}

fn start(
    tools: &Tools,
    name: &'static str,
    folder: &Path,
    server: &str,
    is_proxy: bool,
) -> Result<Process> {
    // Under root, a worker runs as another user without access to the folder of this benchmark.
    let user = if fs::metadata("/proc/self")?.uid() == 0 { "user root;" } else { "" };
    let at = folder.display();
    let cpus = if is_proxy { "" } else { "sendfile on; open_file_cache max=10;" };
    let conf = format!(
        "{user}
        daemon off;
        worker_processes 1;
        pid {at}/pid;
        error_log {at}/error.log warn;
        events {{ worker_connections 1024; }}
        http {{
            access_log off;
            default_type text/html;
            tcp_nodelay on;
            keepalive_timeout 75s;
            keepalive_requests 1000000000;
            client_body_temp_path {at}/body;
            proxy_temp_path {at}/proxy;
            fastcgi_temp_path {at}/fastcgi;
            uwsgi_temp_path {at}/uwsgi;
            scgi_temp_path {at}/scgi;
            {cpus}
            {server}
        }}
        "
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, conf)?;
    let error_log = folder.join("error.log");
    let args = [
        "-p",
        &folder.to_string_lossy(),
        "-c",
        &file.to_string_lossy(),
        "-e",
        &error_log.to_string_lossy(),
    ];
    let tools = if is_proxy { tools.clone() } else { tools.on_the_other_side() };
    Process::start(&tools, name, &tools.nginx, &args, folder)
}
