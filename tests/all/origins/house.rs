//! Every origin that is installed, each on its own ports, over one tree of files.

use std::{
    ffi::OsStr,
    io::{Read, Write},
    net::{Ipv4Addr, TcpStream},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::support::{
    PATIENCE,
    conditions::{do_without, need, origins_folder, want},
    free_port, hostile,
    origin_models::{self, Model},
};

/// Every page begins with this, and what follows is the decoded path of what was resolved.
const RESOLVED: &[u8] = b"resolved ";
/// A virtual machine that compiles its program first may take long on a busy machine.
const START: Duration = Duration::from_secs(180);
/// The routes of `express_app.js`.
pub(super) const ROUTES: [&str; 12] = [
    "/x",
    "/private/x",
    "/a/x",
    "/public/x",
    "/doc.pdf",
    "/a/doc.pdf",
    "/secret.html",
    "/@admin/x",
    "/a+b/x",
    "/a;b/x",
    "/Special:/x",
    PAGE,
];
/// A page of every origin that has more than one.
pub(super) const PAGE: &str = "/private/secret.html";
/// Where Debian puts Jetty.
const JARS: &str = "/usr/share/java";

/// All origins. Dropping it ends their processes.
pub(super) struct House {
    pub(super) origins: Vec<Origin>,
    /// The ports of origins without a model, by name. Each has one page, at another path or by another way.
    pub(super) others: Vec<(&'static str, u16)>,
    processes: Vec<Process>,
    folder: tempfile::TempDir,
}

pub(super) struct Origin {
    pub(super) model: Model,
    pub(super) port: u16,
    pub(super) shows: Shows,
}

/// What an origin serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shows {
    /// The files of the tree.
    Files,
    /// The files of the tree, also for a path that begins with that of a file.
    FilesAbove,
    /// A page for every path.
    Everything,
    /// A page for some paths.
    Routes,
}

struct Process(Child);

impl House {
    /// The origins, shared by the tests that run at the same time.
    pub(super) fn shared() -> Arc<Self> {
        static HOUSE: Mutex<Weak<House>> = Mutex::new(Weak::new());
        let mut house = HOUSE.lock();
        house.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Self::start());
            *house = Arc::downgrade(&new);
            new
        })
    }

    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let mut house =
            Self { origins: Vec::new(), others: Vec::new(), processes: Vec::new(), folder };
        plant(&house.root());
        house.start_nginx();
        house.start_apache();
        house.start_jetty();
        house.start_php();
        house.start_python();
        house.start_node();
        house.start_go();
        for (name, port) in house.ports() {
            let deadline = Instant::now() + START;
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
                assert!(Instant::now() < deadline, "{name} does not start:\n{}", house.log());
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        house
    }

    /// The names and ports of all.
    pub(super) fn ports(&self) -> impl Iterator<Item = (&'static str, u16)> {
        let origins = self.origins.iter().map(|origin| (origin.model.name, origin.port));
        origins.chain(self.others.iter().copied())
    }

    /// The folder of the files.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The path of the file that a decoded path leads to.
    pub(super) fn file(&self, path: &[u8]) -> Option<Vec<u8>> {
        let file = [self.root().as_os_str().as_bytes(), path].concat();
        let page = std::fs::read(OsStr::from_bytes(&file)).ok()?;
        page.strip_prefix(RESOLVED).map(<[u8]>::to_vec)
    }

    /// What the processes said.
    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Starts a process whose output goes to the log.
    fn run(&mut self, command: &mut Command) {
        let log = self.folder.path().join("log");
        let log = || {
            std::fs::File::options().create(true).append(true).open(&log).expect("ours to write")
        };
        let child = command
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .spawn()
            .expect("an installed program can be started");
        self.processes.push(Process(child));
    }

    fn add(&mut self, name: &str, shows: Shows) -> String {
        let port = free_port();
        self.origins.push(Origin { model: origin_models::model(name), port, shows });
        port.to_string()
    }

    fn add_other(&mut self, name: &'static str) -> String {
        let port = free_port();
        self.others.push((name, port));
        port.to_string()
    }

    fn start_nginx(&mut self) {
        let Some(program) = need("nginx") else { return };
        let at = self.folder.path().display().to_string();
        let root = self.root().display().to_string();
        let files = self.add("nginx", Shows::Files);
        let unmerged = self.add("nginx merge_slashes off", Shows::Files);
        let twice = self.add("nginx proxy_pass $uri", Shows::Files);
        let location = self.add("nginx location ~*", Shows::Everything);
        let route = self.add_other("nginx location ~* of a page");
        let configuration = format!(
            "daemon off; master_process off; pid {at}/nginx.pid; error_log {at}/nginx.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n\
               access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;\n\
               fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;\n\
               root {root};\n\
               server {{ listen 127.0.0.1:{files}; }}\n\
               server {{ listen 127.0.0.1:{unmerged}; merge_slashes off; }}\n\
               server {{ listen 127.0.0.1:{twice};\n\
                 location / {{ proxy_pass http://127.0.0.1:{files}$uri; }} }}\n\
               server {{ listen 127.0.0.1:{location};\n\
                 location ~* ^(.*)$ {{ return 200 \"resolved $1\"; }} }}\n\
               server {{ listen 127.0.0.1:{route};\n\
                 location / {{ return 404; }}\n\
                 location ~* ^{PAGE}$ {{ return 200 \"resolved {PAGE}\"; }} }}\n\
             }}\n"
        );
        let file = self.write("nginx.conf", &configuration);
        self.run(
            Command::new(program)
                .args(["-p", &at, "-e", &format!("{at}/nginx.log"), "-c"])
                .arg(file),
        );
    }

    fn start_apache(&mut self) {
        let Some(program) = want("apache2") else { return };
        let at = self.folder.path().display().to_string();
        let root = self.root().display().to_string();
        let port = self.add("apache", Shows::Files);
        let negotiates = self.add_other("apache MultiViews");
        let configuration = format!(
            "ServerRoot {at}\nPidFile {at}/apache.pid\nErrorLog {at}/apache.log\n\
             Listen 127.0.0.1:{port}\nListen 127.0.0.1:{negotiates}\nServerName site.example\n\
             LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\n\
             LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n\
             LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so\n\
             LoadModule negotiation_module /usr/lib/apache2/modules/mod_negotiation.so\n\
             TypesConfig /dev/null\n\
             DocumentRoot {root}\n<Directory {root}>\nRequire all granted\n</Directory>\n\
             <VirtualHost 127.0.0.1:{negotiates}>\nDocumentRoot {root}\nAddType text/html .html\n\
             <Directory {root}>\nOptions +MultiViews\n</Directory>\n</VirtualHost>\n"
        );
        let file = self.write("apache.conf", &configuration);
        self.run(Command::new(program).args(["-X", "-d", &at, "-f"]).arg(file));
    }

    fn start_jetty(&mut self) {
        // Programs in source form need the compiler.
        if want("javac").is_none() {
            return;
        }
        let Some(program) = want("java") else { return };
        let names = ["server", "servlet", "http", "io", "util", "security"];
        let mut jars: Vec<_> =
            names.iter().map(|name| format!("{JARS}/jetty9-{name}.jar")).collect();
        jars.push(format!("{JARS}/servlet-api.jar"));
        if let Some(missing) = jars.iter().find(|jar| !Path::new(jar).is_file()) {
            return do_without(missing);
        }
        let files = self.add("jetty files", Shows::Files);
        let servlet = self.add("jetty servlet", Shows::Everything);
        let root = self.root();
        self.run(
            Command::new(program)
                .args(["-XX:TieredStopAtLevel=1", "-cp", &jars.join(":")])
                .arg(source("JettyOrigins.java"))
                .arg(root)
                .args([files, servlet]),
        );
    }

    fn start_php(&mut self) {
        let Some(program) = want("php") else { return };
        let files = self.add("php files", Shows::FilesAbove);
        let router = self.add("php parse_url", Shows::Everything);
        let root = self.root();
        self.run(Command::new(&program).args(["-S", &local(&files), "-t"]).arg(root));
        let route = self.add_other("php parse_url of a page");
        for (port, page) in [(&router, ""), (&route, PAGE)] {
            let mut server = Command::new(&program);
            server.args(["-S", &local(port)]).arg(source("router.php"));
            self.run(server.env("ONLY", page));
        }
    }

    fn start_python(&mut self) {
        let root = self.root();
        let sources = source("");
        if let Some(program) = need("python3") {
            let port = self.add("http.server", Shows::Files);
            self.run(
                Command::new(program)
                    .args(["-m", "http.server", "--bind", "127.0.0.1", "-d"])
                    .arg(&root)
                    .arg(port),
            );
        }
        if let Some(program) = want("gunicorn") {
            let port = self.add("gunicorn", Shows::Everything);
            self.run(
                Command::new(program)
                    .args(["--bind", &local(&port), "--chdir"])
                    .arg(&sources)
                    .arg("wsgi_app:app"),
            );
        }
        if let Some(program) = want("waitress-serve") {
            let port = self.add("waitress", Shows::Everything);
            self.run(
                Command::new(program)
                    .arg(format!("--listen={}", local(&port)))
                    .arg("wsgi_app:app")
                    .env("PYTHONPATH", &sources),
            );
        }
        if let Some(program) = want("flask") {
            let port = self.add_other("flask");
            self.run(
                Command::new(program)
                    .args(["--app", "flask_app", "run", "--port", &port])
                    .env("PYTHONPATH", &sources)
                    .env("PAGE", PAGE),
            );
        }
        if let Some(program) = want("uvicorn") {
            for (name, app, shows) in [
                ("starlette files", "starlette_app:files", Shows::Files),
                ("starlette route", "starlette_app:route", Shows::Everything),
            ] {
                let port = self.add(name, shows);
                self.run(
                    Command::new(&program)
                        .args(["--no-access-log", "--port", &port, "--app-dir"])
                        .arg(&sources)
                        .arg(app)
                        .env("ROOT", &root),
                );
            }
        }
    }

    fn start_node(&mut self) {
        let Some(program) = want("node") else { return };
        let root = self.root();
        let port = self.add("node new URL", Shows::Files);
        self.run(Command::new(&program).arg(source("node_url.js")).arg(&root).arg(port));
        let modules = origins_folder().map(|folder| folder.join("node_modules"));
        let Some(modules) = modules.filter(|folder| folder.join("express").is_dir()) else {
            return do_without("Express, in node_modules of the folder BEADLE_ORIGINS");
        };
        let files = self.add("express files", Shows::Files);
        let routes = self.add("express routes", Shows::Routes);
        self.run(
            Command::new(program)
                .arg(source("express_app.js"))
                .arg(root)
                .args([files, routes])
                .env("NODE_PATH", modules),
        );
    }

    fn start_go(&mut self) {
        let Some(program) = want("go") else { return };
        let binary = self.folder.path().join("file_server");
        let mut build = Command::new(program);
        build.args(["build", "-o"]).arg(&binary).arg(source("file_server.go"));
        let built = build.env("GOFLAGS", "-mod=mod").status().expect("go can be started");
        assert!(built.success(), "the file server in Go is built");
        let port = self.add("go files", Shows::Files);
        let root = self.root();
        self.run(Command::new(binary).arg(root).arg(port));
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).expect("the folder is ours");
        file
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A server with workers ends them when it is asked to end.
        let pid = self.0.id().to_string();
        let _ = Command::new("kill").args(["-s", "TERM", &pid]).status();
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.0.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.0.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Origin {
    /// Sends the bytes of a request; the path that was resolved, if a page came.
    pub(super) fn resolved(&self, request: &[u8]) -> Option<Vec<u8>> {
        let mut stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the origin runs");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes a timeout");
        // It may refuse a request before it has read the whole.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        page_of(&answer)?.strip_prefix(RESOLVED).map(<[u8]>::to_vec)
    }
}

/// The body of an answer with status 200, and of one of HTTP/0.9.
fn page_of(answer: &[u8]) -> Option<Vec<u8>> {
    if answer.starts_with(RESOLVED) {
        return Some(answer.to_vec());
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (&answer[..end], &answer[end + 4..]);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    (head.split(' ').nth(1) == Some("200")).then_some(())?;
    if !head.contains("transfer-encoding: chunked") {
        return Some(body.to_vec());
    }
    // A page is short enough for one chunk.
    let line = body.windows(2).position(|two| two == b"\r\n")?;
    let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).ok()?, 16).ok()?;
    Some(body.get(line + 2..line + 2 + size)?.to_vec())
}

/// The tree of files. Each contains its path.
fn plant(root: &Path) {
    let put = |folder: String| {
        std::fs::create_dir_all(root.join(folder.trim_start_matches('/'))).expect("ours to write");
        for name in hostile::FILES {
            let path = format!("{folder}/{name}");
            let page = [RESOLVED, path.as_bytes()].concat();
            std::fs::write(root.join(path.trim_start_matches('/')), page).expect("ours to write");
        }
    };
    put(String::new());
    for folder in hostile::FOLDERS {
        put(format!("/{folder}"));
        for inner in hostile::FOLDERS {
            put(format!("/{folder}/{inner}"));
        }
    }
}

/// The program of an origin.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/origins").join(name)
}

fn local(port: &str) -> String {
    format!("127.0.0.1:{port}")
}
