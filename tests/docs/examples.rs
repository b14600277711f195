//! The policies of `examples/`: each passes `beadle check` without a warning, and publishes the golden
//! files in `tests/data/examples`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    page::{is_update, page, root},
    support::{BROWSER, program::PROGRAM},
};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/examples");

fn beadle(args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(args)
        .current_dir(EXAMPLES)
        .env_remove("BEADLE_CONFIG")
        .output()
        .expect("the program can be started")
}

fn stdout(output: Output) -> String {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn examples() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(EXAMPLES).expect("the folder is part of the project");
    let mut files: Vec<PathBuf> = folder
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("example names are UTF-8")
}

#[test]
fn every_example_passes_check() {
    let examples = examples();
    assert!(examples.len() >= 9, "{} examples", examples.len());
    for example in examples {
        let output = beadle(&["check", name(&example)]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}:\n{text}", name(&example));
    }
}

/// The unit of systemd and the image may write to this folder alone.
#[test]
fn what_is_installed_as_a_service_keeps_its_records_where_it_may_write() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("it is there");
    let unit = read("config/beadle.service");
    assert!(unit.contains("ProtectSystem=strict") && unit.contains("StateDirectory=beadle\n"));
    let mut texts: Vec<(String, String)> = Vec::new();
    for example in ["behind-nginx", "behind-caddy", "behind-cloudflare", "shop"] {
        let file = format!("examples/{example}.yaml");
        texts.push((file.clone(), read(&file)));
    }
    texts.push(("config/beadle.yaml".to_owned(), read("config/beadle.yaml")));
    for guide in ["nginx", "caddy", "cloudflare", "wordpress", "shop"] {
        let page = page(&format!("tutorials/{guide}.md"));
        let blocks = page.blocks().into_iter().filter(|block| block.language == "yaml");
        texts.extend(blocks.map(|block| (guide.to_owned(), block.text.to_owned())));
    }
    let databases: Vec<(&str, &str)> = texts
        .iter()
        .flat_map(|(name, text)| text.lines().map(move |line| (name.as_str(), line)))
        .filter_map(|(name, line)| Some((name, line.split_once("database: ")?.1)))
        .collect();
    assert!(databases.len() >= 10, "{databases:?}");
    for (name, database) in databases {
        assert!(database.starts_with("/var/lib/beadle/"), "{name}: {database}");
    }
    // A preset is tried out first; 'beadle init' says what a service needs.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.yaml").display().to_string();
    let output = beadle(&["init", "--preset", "wordpress", "--yes", "--output", &file]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("/var/lib/beadle/violations.db"), "{said}");
}

#[test]
fn the_policies_beside_other_servers_pass_check_and_their_tests() {
    for server in ["nginx", "caddy", "traefik", "envoy", "haproxy"] {
        let policy = format!("beside-{server}/beadle.yaml");
        for verb in ["check", "test"] {
            let output = beadle(&[verb, &policy]);
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{verb} {policy}:\n{text}");
        }
        let guide = page("beside-a-server.md").text;
        assert!(guide.contains(&format!("`examples/beside-{server}`")), "{server}");
    }
}

#[test]
fn the_first_policy_of_an_installation_passes_check_and_stands_in_the_guide() {
    let policy = root().join("config/beadle.yaml").display().to_string();
    for verb in ["check", "test"] {
        let output = beadle(&[verb, &policy]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{verb}:\n{text}");
    }
    let text = std::fs::read_to_string(&policy).expect("the file is part of the project");
    let guide = page("install.md");
    assert!(guide.blocks().iter().any(|block| block.language == "yaml" && block.text == text));
}

#[test]
fn every_example_has_tests_that_pass() {
    for example in examples() {
        let rows = stdout(beadle(&["test", "--format", "json", name(&example)]));
        let rows: Vec<serde_json::Value> =
            rows.lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
        assert!(rows.len() >= 2, "{}", name(&example));
        for row in rows {
            assert_eq!(row["outcome"], "passed", "{row}");
        }
    }
}

#[test]
fn every_example_says_what_it_is_for() {
    for example in examples() {
        let text = std::fs::read_to_string(&example).expect("readable");
        assert!(text.starts_with("# "), "{}", name(&example));
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{}", name(&example));
        let readme = std::fs::read_to_string(root().join("README.md")).expect("readable");
        assert!(readme.contains(&format!("(examples/{})", name(&example))), "{}", name(&example));
        let tutorials = page("tutorials/index.md").text;
        assert!(
            tutorials.contains(&format!("`examples/{}`", name(&example))),
            "{}",
            name(&example)
        );
    }
}

#[test]
fn the_published_files_are_the_golden_ones() {
    for (policy, host) in [
        ("minimal.yaml", "www.example.com"),
        ("blog.yaml", "blog.example.com"),
        ("shop.yaml", "www.shop.example"),
        ("shop.yaml", "staging.shop.example"),
        ("many-sites.yaml", "docs.example.com"),
        ("many-sites.yaml", "tenant.example.com"),
    ] {
        let published = stdout(beadle(&["robots", "--config", policy, "--site", host]));
        let golden = Path::new(GOLDEN).join(format!("{host}.{policy}.robots.txt"));
        if is_update() {
            std::fs::create_dir_all(GOLDEN).expect("the folder can be made");
            std::fs::write(&golden, &published).expect("the golden file can be written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(published, expected, "{}", golden.display());
    }
}

#[test]
fn the_examples_do_what_they_say() {
    for (policy, user_agent, url, action) in [
        ("minimal.yaml", "GPTBot/1.2", "/private/x", "log"),
        ("minimal.yaml", BROWSER, "/private/x", "pass"),
        ("blog.yaml", "AhrefsBot/7.0", "/wp-admin/", "log"),
        ("blog.yaml", "AhrefsBot/7.0", "/wp-admin/admin-ajax.php", "pass"),
        ("shop.yaml", "AhrefsBot/7.0", "https://shop.example/", "block"),
        ("shop.yaml", "Googlebot/2.1", "https://shop.example/p/1", "pass"),
        ("shop.yaml", "Googlebot/2.1", "https://shop.example/p?a=1&sort=b", "log"),
        ("shop.yaml", "AdsBot-Google", "https://www.shop.example/cart/", "log"),
        ("shop.yaml", "Googlebot/2.1", "https://staging.shop.example/", "block"),
        ("shop.yaml", "AdsBot-Google", "https://staging.shop.example/", "block"),
        ("shop.yaml", "ChatGPT-User/1.0", "https://staging.shop.example/", "block"),
        ("shop.yaml", "curl/8.5.0", "https://staging.shop.example/.well-known/x", "pass"),
        ("shop.yaml", BROWSER, "https://staging.shop.example/", "pass"),
        ("ai-opt-out.yaml", "GPTBot/1.2", "/articles/", "block"),
        ("ai-opt-out.yaml", "GPTBot/1.2", "/press/", "pass"),
        ("ai-opt-out.yaml", "OAI-SearchBot/1.0", "/articles/", "pass"),
        ("ai-opt-out.yaml", "ChatGPT-User/1.0", "/admin/", "pass"),
        ("rate-limits.yaml", "GPTBot/1.2", "/", "pass"),
        ("rate-limits.yaml", "GPTBot/1.2", "/cart/", "log"),
        ("many-sites.yaml", "GPTBot/1.2", "https://www.example.com/", "block"),
        ("many-sites.yaml", "ExampleIntranetBot/1", "https://example.com/admin/", "pass"),
        ("many-sites.yaml", "bingbot/2.0", "https://docs.example.com/admin/", "log"),
        ("many-sites.yaml", "bingbot/2.0", "https://tenant.example.com/admin/", "pass"),
        ("behind-nginx.yaml", "bingbot/2.0", "/private/", "log"),
        // Without the origin's own file, what the policy adds.
        ("merge.yaml", "GPTBot/1.2", "/", "log"),
        ("merge.yaml", "AhrefsBot/7.0", "/search?q=1", "log"),
        ("merge.yaml", "bingbot/2.0", "/search", "pass"),
        ("fleet.yaml", "GPTBot/1.2", "/", "log"),
        ("fleet.yaml", "bingbot/2.0", "/admin/", "log"),
        ("fleet.yaml", "bingbot/2.0", "/", "pass"),
        // Without an address nothing is known of them.
        ("impostors.yaml", "GPTBot/1.2", "/articles/x", "log"),
        ("impostors.yaml", "bingbot/2.0", "/admin/", "log"),
        ("impostors.yaml", BROWSER, "/admin/", "pass"),
    ] {
        let output = beadle(&[
            "explain",
            "--format",
            "json",
            "--config",
            policy,
            "--user-agent",
            user_agent,
            url,
        ]);
        let row: serde_json::Value =
            serde_json::from_str(&stdout(output)).expect("one line of JSON");
        assert_eq!(row["action"], action, "{policy}: {user_agent} {url}: {row}");
    }
}
