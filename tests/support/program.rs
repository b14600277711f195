//! The real program, serving a policy in its own folder.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use serde_json::Value;

use super::{
    PATIENCE,
    client::{Client, Request, Response},
    free_port, polls, wait_for,
};

/// The path of the program that cargo built.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_beadle");

/// A policy to serve. The start replaces `$LISTEN`, `$ADMIN` and `$DIR`.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Sections besides those below.
    sections: String,
    /// Listeners after `$LISTEN`.
    listeners: String,
    admin: String,
    server: String,
    violations: String,
    sites: String,
    environment: Vec<(&'static str, PathBuf)>,
    /// Listening sockets that the program inherits, as from systemd; two at most.
    sockets: Vec<Arc<TcpListener>>,
    /// The folder of a disk of its own, and the size of the disk.
    disk: Option<(&'static str, &'static str)>,
    /// The most files that the program may open.
    files: Option<usize>,
    /// The date of the policy file, if not the time at which it is written.
    modified: Option<SystemTime>,
    /// The value of --config, if not the policy file.
    config: Option<String>,
    /// More arguments of `serve`.
    arguments: Vec<String>,
}

/// A running program; dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Beadle {
    child: Child,
    pub(crate) port: u16,
    pub(crate) admin: u16,
    setup: Setup,
    folder: tempfile::TempDir,
    stderr: Arc<Mutex<String>>,
    stdout: Arc<Mutex<String>>,
}

impl Setup {
    /// A policy with these sites (the list under `sites:`), a database and a log.
    pub(crate) fn sites(sites: &str) -> Self {
        Self {
            // Test crawlers are in no catalogue, and some names are close to one that is.
            sections: "strict: false\n".to_owned(),
            listeners: String::new(),
            admin: "$ADMIN".to_owned(),
            server: String::new(),
            violations: "  database: $DIR/beadle.db\n  log: $DIR/violations.jsonl\n".to_owned(),
            sites: sites.to_owned(),
            environment: Vec::new(),
            sockets: Vec::new(),
            disk: None,
            files: None,
            modified: None,
            config: None,
            arguments: Vec::new(),
        }
    }

    /// A policy with the site `site.example` and these further settings.
    pub(crate) fn site(origin_port: u16, settings: &str) -> Self {
        Self::sites(&format!(
            "  - hosts: [site.example]\n    origin: http://127.0.0.1:{origin_port}\n{settings}"
        ))
    }

    /// Adds a TLS listener on a free port.
    pub(crate) fn tls_listener(self) -> (Self, u16) {
        let (certificate, key) = (super::tls::file("certificate.pem"), super::tls::file("key.pem"));
        let (certificate, key, port) = (certificate.display(), key.display(), free_port());
        let tls = format!("{{ certificate: {certificate}, key: {key} }}");
        (self.listener(&format!("{{ address: \"127.0.0.1:{port}\", tls: {tls} }}")), port)
    }

    /// Adds sections.
    pub(crate) fn sections(mut self, text: &str) -> Self {
        self.sections.push_str(text);
        self
    }

    /// Sets a variable of the program's environment to a path.
    pub(crate) fn environment(mut self, name: &'static str, path: PathBuf) -> Self {
        self.environment.push((name, path));
        self
    }

    /// Passes a listening socket to the program, as systemd does.
    pub(crate) fn socket(mut self, socket: &Arc<TcpListener>) -> Self {
        self.sockets.push(Arc::clone(socket));
        self
    }

    /// Adds a listener, in flow style.
    pub(crate) fn listener(mut self, listener: &str) -> Self {
        self.listeners.push_str(", ");
        self.listeners.push_str(listener);
        self
    }

    /// Puts a disk of its own on a folder, with this size and a copy of the policy. Only the program sees its
    /// files there.
    pub(crate) fn on_small_disk(mut self, folder: &'static str, size: &'static str) -> Self {
        self.disk = Some((folder, size));
        self
    }

    /// Lets the program open so many files at most.
    pub(crate) fn files(mut self, most: usize) -> Self {
        self.files = Some(most);
        self
    }

    /// Gives --config another value than the policy file, and adds arguments.
    pub(crate) fn config(mut self, config: &str, arguments: &[&str]) -> Self {
        self.config = Some(config.to_owned());
        self.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        self
    }

    /// Replaces the value of `admin`.
    pub(crate) fn admin(mut self, value: &str) -> Self {
        value.clone_into(&mut self.admin);
        self
    }

    /// Sets the date of the policy file.
    pub(crate) fn modified(mut self, at: SystemTime) -> Self {
        self.modified = Some(at);
        self
    }

    /// Adds lines to the `server` section.
    pub(crate) fn server(mut self, lines: &str) -> Self {
        self.server.push_str(lines);
        self
    }

    /// Replaces a text in the sites.
    pub(crate) fn replaced(mut self, from: &str, to: &str) -> Self {
        self.sites = self.sites.replace(from, to);
        self
    }

    /// Replaces a text in the `violations` section.
    pub(crate) fn replaced_violations(mut self, from: &str, to: &str) -> Self {
        self.violations = self.violations.replace(from, to);
        self
    }

    /// Replaces the lines of the `violations` section.
    pub(crate) fn violations(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.violations);
        self
    }

    pub(crate) fn text(&self, port: u16, admin: u16, folder: &Path) -> String {
        let Self { sections, listeners, admin: value, server, violations, sites, .. } = self;
        format!(
            "{sections}server:\n  listen: [$LISTEN{listeners}]\n  admin: {value}\n{server}\
             violations:\n{violations}sites:\n{sites}"
        )
        .replace("$LISTEN", &format!("\"127.0.0.1:{port}\""))
        .replace("$ADMIN", &format!("\"127.0.0.1:{admin}\""))
        .replace("$DIR", &folder.display().to_string())
    }

    /// Starts the program and waits until it is ready.
    pub(crate) fn start(self) -> Beadle {
        let beadle = self.spawn();
        beadle.wait_until_ready();
        beadle
    }

    /// Starts the program without waiting.
    pub(crate) fn spawn(self) -> Beadle {
        let (port, admin) = (free_port(), free_port());
        self.spawn_on(port, admin)
    }

    pub(crate) fn spawn_on(self, port: u16, admin: u16) -> Beadle {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        self.spawn_in(folder, port, admin)
    }

    fn spawn_in(self, folder: tempfile::TempDir, port: u16, admin: u16) -> Beadle {
        let text = self.text(port, admin, folder.path());
        let file = folder.path().join("beadle.yaml");
        std::fs::write(&file, text).expect("the folder is ours");
        if let Some(at) = self.modified {
            let file = std::fs::File::options().write(true).open(file).expect("it is there");
            file.set_modified(at).expect("the file is ours");
        }
        let mut command = match self.disk {
            None => Command::new(PROGRAM),
            Some((disk, size)) => {
                let disk = disk.replace("$DIR", &folder.path().display().to_string());
                std::fs::create_dir(&disk).expect("the folder is ours");
                let mut command = Command::new("unshare");
                let mount = "mount -t tmpfs -o size=\"$1\" none \"$2\" && \
                             { cp \"$2/../beadle.yaml\" \"$2\" 2>/dev/null; shift 2; exec \"$@\"; }";
                command.args(["--map-root-user", "--mount", "sh", "-c", mount, "sh", size, &disk]);
                command.arg(PROGRAM);
                command
            }
        };
        if let Some(most) = self.files {
            let mut limited = Command::new("prlimit");
            limited.arg(format!("--nofile={most}:{most}")).arg(command.get_program());
            limited.args(command.get_args());
            command = limited;
        }
        let mut sockets = self.sockets.iter().map(inherited);
        let (first, second) = (sockets.next(), sockets.next());
        if first.is_some() {
            // The first descriptors are 3 and 4, and the process is that of the program.
            let mut activation = Command::new("sh");
            let descriptors = match second {
                None => "exec 3<&0 </dev/null; LISTEN_FDS=1",
                Some(_) => "exec 3<&0 4<&1 </dev/null >/dev/null; LISTEN_FDS=2",
            };
            let script = format!("{descriptors}; export LISTEN_FDS LISTEN_PID=$$; exec \"$@\"");
            activation.args(["-c", &script, "sh"]).arg(command.get_program());
            activation.args(command.get_args());
            command = activation;
        }
        let mut child = command
            .args(["serve", "--config"])
            .arg(
                self.config
                    .as_ref()
                    .map(|config| config.replace("$DIR", &folder.path().display().to_string()))
                    .map_or_else(|| folder.path().join("beadle.yaml"), PathBuf::from),
            )
            .args(&self.arguments)
            .env_remove("BEADLE_LOG")
            .envs(self.environment.iter().map(|(name, path)| (name, path)))
            .stdin(first.unwrap_or_else(Stdio::null))
            .stdout(second.unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let stderr = collect(child.stderr.take().expect("it is piped"));
        let stdout = child.stdout.take().map_or_else(Arc::default, collect);
        Beadle { child, port, admin, setup: self, folder, stderr, stdout }
    }
}

/// A socket as a descriptor of a child.
fn inherited(socket: &Arc<TcpListener>) -> Stdio {
    Stdio::from(OwnedFd::from(socket.try_clone().expect("a descriptor is free")))
}

fn collect(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let lines = Arc::clone(&text);
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            lines.lock().push_str(&text);
            line.clear();
        }
    });
    text
}

impl Drop for Beadle {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- standard error of the program:\n{}", self.stderr());
        }
    }
}

impl Beadle {
    pub(crate) fn wait_until_ready(&self) {
        let pid = Path::new("/proc").join(self.child.id().to_string());
        wait_for("/readyz", || {
            let stat = std::fs::read_to_string(pid.join("stat")).unwrap_or_default();
            assert!(!stat.contains(") Z "), "it ended at the start:\n{}", self.stderr());
            (try_status(self.admin, "/readyz") == Some(200)).then_some(())
        });
    }

    /// Waits until any process answers on the admin port.
    pub(crate) fn wait_until_answering(&self) {
        wait_for("/readyz", || (try_status(self.admin, "/readyz") == Some(200)).then_some(()));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn policy_file(&self) -> PathBuf {
        self.folder.path().join("beadle.yaml")
    }

    /// The policy text of another setup, with the ports and the folder of this program.
    pub(crate) fn text_of(&self, setup: &Setup) -> String {
        setup.text(self.port, self.admin, self.folder.path())
    }

    /// The policy text at the start.
    pub(crate) fn policy_text(&self) -> String {
        self.text_of(&self.setup)
    }

    /// Replaces the policy file atomically.
    pub(crate) fn replace_policy(&self, text: &str) {
        let new = self.folder.path().join("beadle.yaml.new");
        std::fs::write(&new, text).expect("the folder is ours");
        std::fs::rename(new, self.policy_file()).expect("the folder is ours");
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().clone()
    }

    pub(crate) fn stdout(&self) -> String {
        self.stdout.lock().clone()
    }

    pub(crate) fn wait_for_stderr(&self, text: &str) {
        wait_for(&format!("'{text}' on standard error"), || {
            self.stderr().contains(text).then_some(())
        });
    }

    /// Sends a signal, for example `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        // A process that has ended still accepts signals until it is waited for.
        let status = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name}");
    }

    /// The exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is our child")
    }

    /// Waits for the end; returns the exit status and the time it took.
    pub(crate) fn wait(&mut self) -> (ExitStatus, Duration) {
        let started = Instant::now();
        let status =
            wait_for("the end of the program", || self.child.try_wait().expect("it is our child"));
        (status, started.elapsed())
    }

    /// Ends it with SIGTERM, so that everything is written.
    pub(crate) fn stop(&mut self) -> (ExitStatus, Duration) {
        self.signal("TERM");
        self.wait()
    }

    /// Ends it and starts it again over the same files.
    pub(crate) fn restarted(self) -> Self {
        let setup = self.setup.clone();
        self.restarted_as("TERM", setup)
    }

    /// Ends it with a signal, unless it has ended, and starts it again over the same files with this
    /// policy.
    pub(crate) fn restarted_as(mut self, signal: &str, setup: Setup) -> Self {
        if self.ended().is_none() {
            self.signal(signal);
            self.wait();
        }
        let folder = std::mem::replace(
            &mut self.folder,
            tempfile::tempdir().expect("a folder for temporary files"),
        );
        let next = setup.spawn_in(folder, self.port, self.admin);
        next.wait_until_ready();
        next
    }

    /// Replaces the policy, sends SIGHUP and waits until the reload is applied.
    pub(crate) fn reload(&self, setup: &Setup) {
        let series = "beadle_policy_reloads_total{outcome=\"applied\"}";
        let before = self.metric(series);
        self.replace_policy(&self.text_of(setup));
        self.signal("HUP");
        wait_for("the reload", || (self.metric(series) > before).then_some(()));
    }

    /// The rows of a query with one text column.
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let file = self.folder.path().join("beadle.db");
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(file, flags).expect("it is there");
        database.busy_timeout(PATIENCE).expect("a number");
        let mut statement = database.prepare(sql).expect("the tables are there");
        let rows = statement.query_map([], |row| row.get(0)).expect("it can be read");
        rows.map(|row| row.expect("a text")).collect()
    }

    pub(crate) fn get(&self, target: &str, user_agent: &str) -> Response {
        Request::get(target).user_agent(user_agent).send(self.port)
    }

    /// Asserts that an allowed request is still answered.
    pub(crate) fn assert_healthy(&self, after: &str) {
        let answer = self.get("/healthy", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0");
        assert_eq!(answer.status, 200, "after {after}");
    }

    /// Waits until the log has this many records; returns all.
    pub(crate) fn records(&self, count: usize) -> Vec<Value> {
        wait_for("records in the log", || {
            let records = self.log();
            (records.len() >= count).then_some(records)
        })
    }

    /// The records in the log now.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("violations.jsonl"));
        let text = text.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let line =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        whole.lines().map(line).collect()
    }

    pub(crate) fn admin_page(&self, path: &str) -> Response {
        Request::get(path).host("localhost").send(self.admin)
    }

    /// The value of a metric, written as in the exposition: `name{label="x"}`; 0 if it is absent.
    pub(crate) fn metric(&self, series: &str) -> f64 {
        let page = self.admin_page("/metrics").text();
        let mut lines = page.lines().filter_map(|line| line.rsplit_once(' '));
        let found = lines.find(|(name, _)| *name == series);
        found.map_or(0.0, |(_, value)| value.parse().expect("a metric is a number"))
    }

    /// Waits until a metric has this value. Some are counted a moment after the answer.
    pub(crate) fn wait_for_metric(&self, series: &str, value: f64) {
        let mut last = f64::NAN;
        let found = polls().any(|()| {
            last = self.metric(series);
            last == value
        });
        assert!(found, "{series} is {last}, not {value}");
    }

    /// Runs another verb of the program with this policy.
    pub(crate) fn verb(&self, args: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(args)
            .arg("--config")
            .arg(self.policy_file())
            .output()
            .expect("the program can be started")
    }

    /// Waits until the counts are written that the report has of a crawler in the last hour.
    pub(crate) fn wait_for_report(&self, token: &str, expected: &[(&str, u64)]) {
        let mut last = Vec::new();
        let is_there = polls().any(|()| {
            last = json_lines(&self.verb(&["report", "--since", "1h", "--format", "json"]));
            let row = last.iter().find(|row| row["product_token"] == token);
            row.is_some_and(|row| expected.iter().all(|(field, count)| row[*field] == *count))
        });
        assert!(is_there, "{expected:?} of {token}: {last:?}");
    }
}

/// The status of an answer, if there is one. A program may end with connections that it never
/// accepted.
pub(crate) fn try_status(port: u16, path: &str) -> Option<u16> {
    let mut client = Client::try_connect(port).ok()?;
    client.try_write(&Request::get(path).host("localhost").bytes()).ok()?;
    Some(client.head().ok()?.status)
}

/// Runs a verb with this standard input.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it is our child");
    let _ = writer.join();
    output
}

/// The JSON lines on standard output.
pub(crate) fn json_lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(line).collect()
}
