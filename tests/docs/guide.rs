//! Each page can be followed from top to bottom: its commands run with the real program and `curl`,
//! on free ports, and print the outputs that the page shows.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    page::{Block, Page, pages, root},
    support::{
        client::Request,
        free_port, need,
        origin::{After, Origin},
        program::{PROGRAM, try_status},
        wait_for, week,
    },
};

/// Programs that the pages use and that this test does not run.
const OTHERS: [&str; 8] =
    ["cargo ", "docker ", "kubectl ", "openssl ", "sudo ", "systemctl ", "nginx ", "caddy "];

/// The access log of the reader's server.
const LOG: &str = r#"192.0.2.1 - - [22/Nov/2026:10:00:01 +0000] "GET /robots.txt HTTP/1.1" 200 40 "-" "GPTBot/1.2"
192.0.2.1 - - [22/Nov/2026:10:00:02 +0000] "GET /private/a HTTP/1.1" 200 512 "-" "GPTBot/1.2"
192.0.2.9 - - [22/Nov/2026:10:00:03 +0000] "GET /private/a HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
192.0.2.7 - - [22/Nov/2026:10:00:04 +0000] "GET /news HTTP/1.1" 200 512 "-" "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
192.0.2.1 - - [22/Nov/2026:10:00:05 +0000] "GET /private/b HTTP/1.1" 200 512 "-" "GPTBot/1.2"
192.0.2.3 - - [22/Nov/2026:10:00:06 +0000] "GET / HTTP/1.1" 200 512 "-" "CCBot/2.0 (https://commoncrawl.org/faq/)"
192.0.2.3 - - [22/Nov/2026:10:00:07 +0000] "GET /news HTTP/1.1" 200 512 "-" "CCBot/2.0 (https://commoncrawl.org/faq/)"
192.0.2.9 - - [22/Nov/2026:10:00:08 +0000] "GET /news HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
"#;

/// A reader of one page, with a folder, a site and free ports.
#[derive(Debug)]
pub(crate) struct Reader {
    page: String,
    folder: tempfile::TempDir,
    port: u16,
    admin: u16,
    origin: Origin,
    serving: Option<Child>,
    reloads: u32,
    /// How many commands ran, and how many lines of output were compared.
    counts: (usize, usize),
    /// Everything that the last commands printed.
    printed: String,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(serving) = &mut self.serving {
            // It may have ended already.
            let _ = serving.kill();
            let _ = serving.wait();
        }
    }
}

impl Reader {
    pub(crate) fn new(page: &Page) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("access.log"), LOG).expect("it is writable");
        // A site with rules, whose pages contain their target.
        let origin = Origin::playing(|exchange| {
            exchange.read_body();
            let body = match &exchange.request.target[..] {
                b"/robots.txt" => b"User-agent: *\nDisallow: /private/\n".to_vec(),
                target => [b"origin: ", target, b"\n"].concat(),
            };
            exchange.answer("200 OK", &["Content-Type: text/plain"], &body);
            After::Keep
        });
        Self {
            page: page.name(),
            folder,
            port: free_port(),
            admin: free_port(),
            origin: origin.compared(),
            serving: None,
            reloads: 0,
            counts: (0, 0),
            printed: String::new(),
        }
    }

    fn follow(&mut self, page: &Page) {
        for block in page.blocks() {
            match (block.language, block.role) {
                ("yaml", "week") => {
                    self.policy(&block);
                    week::fill(&self.file("violations.db"), Timestamp::now());
                }
                ("yaml", "append") => self.append(block.text),
                ("yaml", "") => self.policy(&block),
                ("sh", "") => self.commands(block.text),
                ("text", "figure") => {}
                ("text", "") => self.compare(block.text),
                ("text", name) => self.write(name, block.text),
                ("console" | "nginx" | "caddyfile" | "php" | "mermaid", "") => {}
                (language, role) => panic!("{}: a block of '{language} {role}'", self.page),
            }
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a file as a whole: a running program must not read a half of it.
    fn write(&self, name: &str, text: &str) {
        let new = self.file(&format!("{name}.new"));
        std::fs::write(&new, text).expect("it is writable");
        std::fs::rename(new, self.file(name)).expect("it is writable");
    }

    /// Addresses and folders of the pages and of this reader.
    fn addresses(&self) -> [(&'static str, String); 8] {
        let folder = self.folder.path().display().to_string();
        let robots_txt = format!("http://127.0.0.1:{}/robots.txt", self.origin.port);
        [
            // Before the address that is a part of it.
            ("https://www.example.com/robots.txt", robots_txt),
            ("/etc/beadle", folder.clone()),
            ("/var/lib/beadle", folder),
            ("127.0.0.1:8080", format!("127.0.0.1:{}", self.port)),
            ("127.0.0.1:9090", format!("127.0.0.1:{}", self.admin)),
            ("127.0.0.1:3000", format!("127.0.0.1:{}", self.origin.port)),
            ("127.0.0.1:3001", format!("127.0.0.1:{}", self.origin.port)),
            // All addresses: this one, too.
            ("0.0.0.0:8080", format!("127.0.0.1:{}", self.port)),
        ]
    }

    /// A text of the page with the reader's addresses.
    pub(crate) fn here(&self, text: &str) -> String {
        let addresses = self.addresses();
        addresses.iter().fold(text.to_owned(), |text, (page, here)| text.replace(page, here))
    }

    /// A printed text with the page's addresses.
    fn there(&self, text: &str) -> String {
        let addresses = self.addresses();
        addresses.iter().fold(text.to_owned(), |text, (page, here)| text.replace(here, page))
    }

    /// Checks a policy; a whole one is the policy of the next commands.
    pub(crate) fn policy(&self, block: &Block<'_>) {
        if block.text.contains("catalogue: crawlers.yaml") {
            let built_in = root().join("config/crawlers.yaml");
            std::fs::copy(built_in, self.file("crawlers.yaml")).expect("it is writable");
        }
        // The reader has the certificates and the keys that the page names.
        for (key, file) in [("certificate: ", "certificate.pem"), ("key: ", "key.pem")] {
            for rest in block.text.split(key).skip(1) {
                let name = rest.split([',', ' ', '\n']).next().unwrap_or_default();
                if let Some(name) = name.strip_prefix("/etc/beadle/") {
                    let from = root().join("tests/data/tls").join(file);
                    std::fs::copy(from, self.file(name)).expect("it is writable");
                }
            }
        }
        let mut text = self.here(&block.whole());
        if block.is_policy() {
            text = self.with_ports(text);
        }
        let name = if block.is_policy() { "beadle.yaml" } else { "section.yaml" };
        self.write(name, &text);
        self.run(&format!("beadle check {name}"));
    }

    /// The section `server` with this reader's ports.
    fn server(&self) -> String {
        format!("server:\n  listen: [127.0.0.1:{}]\n  admin: 127.0.0.1:{}\n", self.port, self.admin)
    }

    /// A policy with ports of this reader's own, unless it has others.
    fn with_ports(&self, text: String) -> String {
        match text.split_once("server:\n") {
            Some((_, rest)) if rest.starts_with("  listen:") => text,
            Some((before, rest)) => format!("{before}{}{rest}", self.server()),
            None if text.lines().any(|line| line.starts_with("server:")) => text,
            None => self.server() + &text,
        }
    }

    fn append(&mut self, text: &str) {
        let old = std::fs::read_to_string(self.file("beadle.yaml")).expect("it was written");
        self.write("beadle.yaml", &(old + text));
        self.run("beadle check beadle.yaml");
        self.reloads += 1;
        let reloads = self.reloads;
        self.wait_for_metric(&format!(
            "beadle_policy_reloads_total{{outcome=\"applied\"}} {reloads}"
        ));
    }

    fn commands(&mut self, text: &str) {
        self.printed.clear();
        let mut waits = false;
        for line in text.lines() {
            assert!(!waits, "{}: 'beadle serve' waits, and its block goes on: {line}", self.page);
            waits = line.starts_with("beadle serve");
            self.counts.0 += 1;
            let line = self.without_system(line);
            if OTHERS.iter().any(|other| line.starts_with(other)) {
                continue;
            }
            if line.starts_with("beadle serve") {
                self.serve();
            } else if line.starts_with("curl ") {
                // The public site of the page is not here.
                if !line.contains(" https://") {
                    let printed = self.run(&line.replacen("curl ", "curl -s ", 1));
                    self.printed.push_str(&printed);
                    self.wait_for_records();
                }
            } else if line.starts_with("sed ") {
                assert!(self.shell(line).status.success(), "{}: {line}", self.page);
            } else if line.contains("beadle ") {
                let printed = self.run(line);
                self.printed.push_str(&printed);
            } else {
                panic!("{}: a command that this test does not know: {line}", self.page);
            }
        }
    }

    /// A command of an administrator without what a test does not have: root's rights and systemd. The
    /// unit's commands take the place of systemd, if the page's policy listens on this reader's port.
    fn without_system<'l>(&self, line: &'l str) -> &'l str {
        let Some(command) = line.strip_prefix("sudo ") else { return line };
        let policy = std::fs::read_to_string(self.file("beadle.yaml")).unwrap_or_default();
        let is_ours = policy.contains(&format!("127.0.0.1:{}", self.port));
        match command {
            "systemctl enable --now beadle" if is_ours && self.serving.is_none() => {
                "beadle serve --config /etc/beadle/beadle.yaml"
            }
            "systemctl reload beadle" if self.serving.is_some() => {
                "beadle reload --config /etc/beadle/beadle.yaml"
            }
            _ if command.starts_with("beadle ") || command.starts_with("sed ") => command,
            _ => line,
        }
    }

    /// A line as a shell runs it, `beadle` being the program under test.
    fn shell(&self, line: &str) -> Output {
        let programs = Path::new(PROGRAM).parent().expect("it stands in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path)),
        );
        Command::new("sh")
            .args(["-c", &self.here(line)])
            .env("PATH", path.expect("folders without a colon"))
            .env_remove("BEADLE_CONFIG")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell")
    }

    /// Runs a command that ends by itself and prints something.
    pub(crate) fn run(&self, line: &str) -> String {
        // `violations` exits with 1 if there are some. A record is written a moment later.
        let good = if line.starts_with("beadle violations") { 1 } else { 0 };
        let mut output = self.shell(line);
        for _ in 0..100 {
            if good == 0 || output.status.code() == Some(good) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            output = self.shell(line);
        }
        let printed = self.there(&String::from_utf8_lossy(&output.stdout));
        let errors = String::from_utf8_lossy(&output.stderr);
        let page = &self.page;
        assert_eq!(output.status.code(), Some(good), "{page}: {line}\n{printed}{errors}");
        assert!(!printed.is_empty(), "{page}: {line} prints nothing");
        printed
    }

    pub(crate) fn serve(&mut self) {
        let text = std::fs::read_to_string(self.file("beadle.yaml")).expect("it was written");
        if !text.lines().any(|line| line.starts_with("server:")) {
            // A command of the page wrote the policy.
            self.write("beadle.yaml", &self.with_ports(text));
        }
        let log = self.file("serve.log");
        let child = Command::new(PROGRAM)
            .args(["serve", "--config", "beadle.yaml"])
            .env_remove("BEADLE_LOG")
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&log).expect("it is writable"))
            .spawn()
            .expect("the program can be started");
        let (admin, page) = (self.admin, &self.page);
        let child = self.serving.insert(child);
        wait_for("the proxy", || {
            let ended = child.try_wait().expect("it is our child");
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "{page}: it ended at the start\n{}", said());
            (try_status(admin, "/readyz") == Some(200)).then_some(())
        });
    }

    fn wait_for_metric(&self, line: &str) {
        wait_for(line, || {
            let metrics = Request::get("/metrics").host("localhost").send(self.admin).text();
            metrics.lines().any(|found| found == line).then_some(())
        });
    }

    /// Waits until what the last request left is counted and written. The response comes before both.
    fn wait_for_records(&self) {
        self.wait_for_metric("beadle_requests_in_flight 0");
        self.wait_for_metric("beadle_records_queued 0");
    }

    /// Holds the lines of a page against the printed ones, in their order.
    fn compare(&mut self, text: &str) {
        let printed: Vec<String> = self.printed.lines().map(lasting).collect();
        let mut rest = printed.as_slice();
        for line in text.lines().map(lasting).filter(|line| !line.is_empty()) {
            let Some(at) = rest.iter().position(|found| found.contains(&line)) else {
                panic!("{}: no '{line}' in\n{}", self.page, self.printed);
            };
            rest = &rest[at..];
            self.counts.1 += 1;
        }
    }
}

/// A line of an output without its times, ids and widths. In a list of violations it is also without
/// the standing, which depends on lists that operators publish.
fn lasting(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let is_time = word.starts_with("20") && word.contains('T') && word.contains(':');
        let is_id = word.len() == 36 && word.matches('-').count() == 4;
        // The policy of this test has a section of its own in front.
        let is_line = words.ends_with(&["policy", "line"]);
        // The catalogue decides how long the groups before it are.
        let is_robots_line = words.ends_with(&["(robots.txt", "line"])
            || words.ends_with(&["(line"])
            || (words.first() == Some(&"TIME") && word.starts_with('(') && word.ends_with(')'));
        let is_standing = words.first() == Some(&"TIME")
            && ["confirmed", "contradicted", "unverifiable", "unknown"].contains(&word);
        words.push(if is_time {
            "TIME"
        } else if is_id {
            "ID"
        } else if is_line || is_robots_line {
            "LINE"
        } else if is_standing {
            "STANDING"
        } else {
            word
        });
    }
    words.join(" ")
}

#[test]
fn every_page_can_be_followed() {
    if need("curl").is_none() {
        return;
    }
    // Each page starts the program. All at once, on a busy machine, none would start in time.
    let at_once = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let pages = Mutex::new(pages().into_iter());
    let followed = Mutex::new(Vec::new());
    let follow = |page: Page| {
        let counts = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reader = Reader::new(&page);
                reader.follow(&page);
                reader.counts
            });
            reader.join().ok()
        });
        followed.lock().push((page.name(), counts));
    };
    let next = || pages.lock().next();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| std::iter::from_fn(next).for_each(follow));
        }
    });
    let (mut failures, mut commands, mut lines) = (Vec::new(), 0, 0);
    for (name, counts) in followed.into_inner() {
        match counts {
            Some((ran, compared)) => (commands, lines) = (commands + ran, lines + compared),
            None => failures.push(name),
        }
    }
    assert!(failures.is_empty(), "these pages can't be followed: {failures:?}");
    assert!(commands >= 60 && lines >= 60, "{commands} commands, {lines} lines of output");
}

#[test]
fn the_readme_leads_to_the_log_has_the_two_commands_and_is_short() {
    let readme = Page::read(root().join("README.md"));
    let commands: Vec<&str> = readme.blocks().iter().map(|block| block.text).collect();
    let at = |command: &str| commands.iter().position(|text| *text == command);
    let log = commands.iter().position(|text| text.starts_with("beadle replay --robots-txt https"));
    assert_eq!(log, Some(1), "after the installation: {commands:?}");
    assert!(at("cargo run -- demo\ncargo test\n") > log, "{commands:?}");
    let length = readme.text.lines().count();
    assert!(length <= 250, "{length} lines");
}
