//! The configurations of the servers in front: nginx checks and serves its own; of the others only the
//! form is checked.

use std::{
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::{
    guide::Reader,
    page::{page, pages},
    support::{client::Request, free_port, need, wait_for},
};

/// An nginx with the configuration of a page; it ends when this is dropped.
#[derive(Debug)]
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The text with this port in each `listen`, and without TLS: there is no certificate.
fn testable(text: &str, mut port: impl FnMut() -> u16) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim() {
            directive if directive.starts_with("listen ") => {
                lines.push(format!("listen 127.0.0.1:{};", port()));
            }
            directive if directive.starts_with("ssl_certificate") => {}
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Writes a whole configuration and gives its file.
fn write(folder: &Path, servers: &str) -> PathBuf {
    let at = folder.display();
    let mut text = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;\nevents {{}}\n\
         http {{\naccess_log off;\n"
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        text.push_str(&format!("{kind}_temp_path {at}/{kind};\n"));
    }
    text.push_str(&format!("{servers}\n}}\n"));
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text).expect("it is writable");
    file
}

fn command(nginx: &Path, folder: &Path, file: &Path) -> Command {
    let mut command = Command::new(nginx);
    command.arg("-p").arg(folder).arg("-e").arg(folder.join("error.log")).arg("-c").arg(file);
    command
}

#[test]
fn nginx_accepts_its_configurations() {
    let Some(nginx) = need("nginx") else { return };
    for page in pages() {
        let blocks = page.blocks();
        let blocks = blocks.iter().filter(|block| block.language == "nginx");
        let texts: Vec<String> = blocks.map(|block| testable(block.text, free_port)).collect();
        if texts.is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = write(folder.path(), &texts.join("\n"));
        let output = command(&nginx, folder.path(), &file).arg("-t").output();
        let output = output.expect("nginx can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{errors}\n{texts:?}", page.name());
    }
}

#[test]
fn the_nginx_tutorial_works_with_nginx() {
    let Some(nginx) = need("nginx") else { return };
    let page = page("tutorials/nginx.md");
    let blocks = page.blocks();
    let policy = blocks.iter().find(|block| block.is_policy()).expect("a policy");
    let front = blocks.iter().find(|block| block.language == "nginx").expect("a configuration");
    let mut reader = Reader::new(&page);
    reader.policy(policy);
    reader.serve();
    let port = free_port();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = write(folder.path(), &testable(&reader.here(front.text), || port));
    let mut command = command(&nginx, folder.path(), &file);
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _nginx = Nginx(silent.spawn().expect("nginx can be started"));
    wait_for("nginx", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    let get = |path: &str| {
        let request = Request::get(path).host("www.example.com").user_agent("GPTBot/1.2");
        request.field("X-Forwarded-For", "192.0.2.7").send(port)
    };
    let rules = get("/robots.txt").text();
    assert!(rules.contains("User-agent: GPTBot\nDisallow: /\n"), "{rules}");
    let page = get("/drafts/1");
    assert_eq!((page.status, page.header("X-Robots-Tag")), (200, Some("noindex")));
    let records = reader.run("beadle violations --config beadle.yaml --format json");
    assert!(records.contains("\"client_ip\":\"192.0.2.7\""), "{records}");
}

#[test]
fn the_braces_of_other_configurations_match() {
    let mut count = 0;
    for page in pages() {
        for block in page.blocks() {
            if !["nginx", "caddyfile", "php", "mermaid"].contains(&block.language) {
                continue;
            }
            count += 1;
            let mut open = Vec::new();
            for character in block.text.chars() {
                match character {
                    '{' | '(' | '[' => open.push(character),
                    '}' => assert_eq!(open.pop(), Some('{'), "{}\n{}", page.name(), block.text),
                    ')' => assert_eq!(open.pop(), Some('('), "{}\n{}", page.name(), block.text),
                    ']' => assert_eq!(open.pop(), Some('['), "{}\n{}", page.name(), block.text),
                    _ => {}
                }
            }
            assert!(open.is_empty(), "{}\n{}", page.name(), block.text);
        }
    }
    assert!(count >= 8, "{count} configurations");
}

#[test]
fn caddyfiles_name_their_sites_and_proxy_to_beadle() {
    for page in pages() {
        for block in page.blocks().iter().filter(|block| block.language == "caddyfile") {
            let first = block.text.lines().next().unwrap_or_default();
            assert!(first.ends_with(" {") && block.text.ends_with("}\n"), "{}", block.text);
            let inner = block.text.lines().filter(|line| line.starts_with('\t'));
            assert!(inner.count() >= 1, "Caddyfiles are indented with tabs:\n{}", block.text);
        }
    }
}
