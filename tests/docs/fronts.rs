//! The configurations of the servers in front: nginx checks its own; of the others only the form is
//! looked at.

use std::process::Command;

use crate::{
    page::pages,
    support::{free_port, need},
};

/// The text with a free port in each `listen`, and without TLS: there is no certificate.
fn testable(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim() {
            directive if directive.starts_with("listen ") => {
                lines.push(format!("listen 127.0.0.1:{};", free_port()));
            }
            directive if directive.starts_with("ssl_certificate") => {}
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[test]
fn nginx_accepts_its_configurations() {
    let Some(nginx) = need("nginx") else { return };
    for page in pages() {
        let blocks = page.blocks();
        let texts: Vec<String> =
            blocks.iter().filter(|b| b.language == "nginx").map(|b| testable(b.text)).collect();
        if texts.is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path().display();
        let configuration = format!(
            "pid {at}/pid; error_log {at}/error.log;\nevents {{}}\nhttp {{\n{}\n}}\n",
            texts.join("\n")
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, &configuration).expect("it is writable");
        let output = Command::new(&nginx)
            .arg("-t")
            .arg("-p")
            .arg(folder.path())
            .arg("-c")
            .arg(&file)
            .output()
            .expect("nginx can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{errors}\n{configuration}", page.name());
    }
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
