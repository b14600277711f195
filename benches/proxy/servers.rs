//! The servers that are compared. Each listens with and without TLS, on the proxies' processor.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    bare,
    harness::{
        Result,
        machine::Tools,
        nginx,
        process::{Address, Process},
        program,
    },
    traffic,
};

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) plain: Address,
    pub(crate) tls: Address,
}

/// Where servers are started, and what they proxy to.
pub(crate) struct Place<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) folder: &'a Path,
    pub(crate) origin: Address,
    /// Worker threads or processes of each server.
    pub(crate) threads: usize,
}

impl Place<'_> {
    /// Beadle with a change of its policy; `program` is its binary.
    pub(crate) fn beadle(
        &self,
        name: &'static str,
        program: &Path,
        change: impl FnOnce(String) -> String,
    ) -> Result<Server> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        let database = self.folder.join(format!("{name}.db"));
        let text = traffic::policy(
            &plain.to_string(),
            &database.to_string_lossy(),
            &format!("http://{}", self.origin),
        );
        let [certificate, key] = certificate();
        let server = format!(
            "server:\n  trusted_proxies: [127.0.0.1]\n  listen: [\"{plain}\", {{ address: \"{tls}\", \
             tls: {{ certificate: {}, key: {} }} }}]\n",
            certificate.display(),
            key.display()
        );
        let text = text.replacen(&format!("server:\n  listen: [\"{plain}\"]\n"), &server, 1);
        let text = text.replacen("threads: 1\n", &format!("threads: {}\n", self.threads), 1);
        let process = program::serve(self.tools, name, program, self.folder, &change(text))?;
        ready(process, plain, tls)
    }

    /// pingora without Beadle: this program, started once more.
    pub(crate) fn bare_pingora(&self, name: &'static str) -> Result<Server> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        let [certificate, key] = certificate().map(|path| path.to_string_lossy().into_owned());
        let (listen, origin) = ([plain.to_string(), tls.to_string()], self.origin.to_string());
        let args = [bare::ARGUMENT, &listen[0], &listen[1], &certificate, &key, &origin];
        let process = Process::start(self.tools, name, &env::current_exe()?, &args, self.folder)?;
        ready(process, plain, tls)
    }

    /// nginx with kept-alive connections to the origin and the same added fields as Beadle. With
    /// `crawlers` above zero, a `map` also matches this many names of the catalogue, with one
    /// case-insensitive pattern each. It passes on what it found and refuses nothing.
    pub(crate) fn nginx(&self, name: &'static str, crawlers: usize) -> Result<Server> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        let (map, field) = if crawlers > 0 {
            (map(crawlers)?, "proxy_set_header X-Crawler $crawler;")
        } else {
            (String::new(), "")
        };
        let [certificate, key] = certificate();
        let http = format!(
            "upstream origin {{
                server {origin};
                keepalive 128;
                keepalive_requests 1000000000;
                keepalive_timeout 60s;
            }}
            {map}
            ssl_certificate {certificate};
            ssl_certificate_key {key};
            server {{
                listen {plain} backlog=1024;
                listen {tls} ssl http2 backlog=1024;
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
            }}",
            origin = self.origin,
            certificate = certificate.display(),
            key = key.display(),
        );
        let process = nginx::start(self.tools, name, self.threads, &self.folder.join(name), &http)?;
        ready(process, plain, tls)
    }

    /// Caddy with its usual reverse proxy, which adds the `X-Forwarded-*` fields.
    pub(crate) fn caddy(&self, caddy: &Path) -> Result<Server> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        let [certificate, key] = certificate();
        let text = format!(
            "{{
                admin off
                auto_https off
                persist_config off
                default_sni {host}
                log {{
                    level ERROR
                }}
            }}
            http://{plain}, http://{host}:{plain_port} {{
                reverse_proxy {origin}
            }}
            https://{tls}, https://{host}:{tls_port} {{
                tls {certificate} {key}
                reverse_proxy {origin}
            }}
            ",
            host = traffic::HOST,
            plain_port = plain.socket().port(),
            tls_port = tls.socket().port(),
            origin = self.origin,
            certificate = certificate.display(),
            key = key.display(),
        );
        let file = self.folder.join("Caddyfile");
        fs::write(&file, text)?;
        let args = ["run", "--adapter", "caddyfile", "--config", &file.to_string_lossy()];
        ready(Process::start(self.tools, "caddy", caddy, &args, self.folder)?, plain, tls)
    }

    /// HAProxy with kept-alive connections to the origin and the same added fields as Beadle.
    pub(crate) fn haproxy(&self, haproxy: &Path) -> Result<Server> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        let pair = self.folder.join("haproxy.pem");
        let [certificate, key] = certificate();
        fs::write(&pair, [fs::read(certificate)?, fs::read(key)?].concat())?;
        let text = format!(
            "global
                nbthread {threads}
                maxconn 4000
            defaults
                mode http
                timeout connect 5s
                timeout client 75s
                timeout server 60s
                http-reuse always
            frontend site
                bind {plain} backlog 1024
                bind {tls} ssl crt {pair} alpn h2,http/1.1 backlog 1024
                http-request set-header X-Forwarded-For %[src]
                http-request set-header X-Forwarded-Host %[req.hdr(host)]
                http-request set-header X-Forwarded-Proto https if {{ ssl_fc }}
                http-request set-header X-Forwarded-Proto http if !{{ ssl_fc }}
                default_backend origin
            backend origin
                server origin {origin} pool-max-conn 128
            ",
            threads = self.threads,
            pair = pair.display(),
            origin = self.origin,
        );
        let file = self.folder.join("haproxy.cfg");
        // HAProxy refuses a file whose last line does not end.
        fs::write(&file, format!("{}\n", text.trim_end()))?;
        let args = ["-db", "-f", &file.to_string_lossy()];
        ready(Process::start(self.tools, "haproxy", haproxy, &args, self.folder)?, plain, tls)
    }
}

fn ready(process: Process, plain: Address, tls: Address) -> Result<Server> {
    for address in [plain, tls] {
        process.wait_until_it_listens(address)?;
    }
    Ok(Server { process, plain, tls })
}

/// The certificate and the key of all servers: those of the tests.
fn certificate() -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    ["certificate.pem", "key.pem"].map(|file| folder.join(file))
}

fn map(crawlers: usize) -> Result<String> {
    let mut map = "map $http_user_agent $crawler {\n    default \"\";\n".to_owned();
    let catalogue = beadle::rules::policy::built_in_catalogue();
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
