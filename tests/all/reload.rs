//! Reload while requests are served: a good policy is applied whole, a broken one not at all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::support::{
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

/// A site that blocks BadBot from this path.
pub(crate) fn setup(origin: &Origin, path: &str) -> Setup {
    Setup::site(
        origin.port,
        &format!(
            "    robots_txt: {{ cache_window: 0s, groups: [{{ user_agents: [BadBot], disallow: [{path}] }}] }}\n    \
             enforcement: {{ mode: block }}\n"
        ),
    )
}

/// Whether BadBot is blocked.
pub(crate) fn blocks(beadle: &Beadle, target: &str) -> bool {
    beadle.get(target, "BadBot/1.0").status == 403
}

fn reloads(beadle: &Beadle, outcome: &str) -> f64 {
    beadle.metric(&format!("beadle_policy_reloads_total{{outcome=\"{outcome}\"}}"))
}

fn wait_for_reloads(beadle: &Beadle, outcome: &str, count: f64) {
    wait_for(&format!("{count} reloads {outcome}"), || {
        (reloads(beadle, outcome) >= count).then_some(())
    });
}

/// Whether the policy file is in force as it was last read, and the time of the last good one.
fn last_reload(beadle: &Beadle) -> (f64, f64) {
    let metric = |name: &str| beadle.metric(&format!("beadle_policy_last_reload_{name}"));
    (metric("successful"), metric("success_timestamp_seconds"))
}

fn fingerprint(beadle: &Beadle) -> String {
    let page = beadle.admin_page("/metrics").text();
    let lines: Vec<&str> =
        page.lines().filter(|line| line.starts_with("beadle_policy_info{")).collect();
    assert_eq!(lines.len(), 1, "one policy is in force: {lines:?}");
    lines[0].to_owned()
}

#[test]
fn a_changed_file_is_reloaded_without_a_signal() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    assert!(blocks(&beadle, "/old/x") && !blocks(&beadle, "/new/x"));
    let (before, robots_txt) = (fingerprint(&beadle), beadle.get("/robots.txt", "x"));
    // Editors either replace a file or write over it; first the one, then the other.
    beadle.replace_policy(&beadle.text_of(&setup(&origin, "/new/")));
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
    assert!(!blocks(&beadle, "/old/x"));
    assert_ne!(fingerprint(&beadle), before);
    let changed = beadle.get("/robots.txt", "x");
    assert!(changed.text().contains("Disallow: /new/\n"));
    assert_ne!(changed.header("etag"), robots_txt.header("etag"));
    let text = beadle.text_of(&setup(&origin, "/newer/"));
    std::fs::write(beadle.policy_file(), text).expect("the folder is ours");
    wait_for("the newer rules", || blocks(&beadle, "/newer/x").then_some(()));
    assert_eq!(reloads(&beadle, "applied"), 2.0);
    assert_eq!(reloads(&beadle, "refused"), 0.0);
}

#[test]
fn r27_a_folder_swapped_by_a_link_is_reloaded() {
    // Kubernetes mounts a ConfigMap so: beadle.yaml -> ..data/beadle.yaml, ..data -> a folder.
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let folder = beadle.folder();
    let put = |name: &str, text: &str| {
        std::fs::create_dir(folder.join(name)).expect("the folder is ours");
        std::fs::write(folder.join(name).join("beadle.yaml"), text).expect("the folder is ours");
        std::os::unix::fs::symlink(name, folder.join("..next")).expect("the folder is ours");
        std::fs::rename(folder.join("..next"), folder.join("..data")).expect("the folder is ours");
    };
    put("one", &beadle.policy_text());
    std::fs::remove_file(beadle.policy_file()).expect("it is there");
    std::os::unix::fs::symlink("..data/beadle.yaml", beadle.policy_file()).expect("it is gone");
    assert!(blocks(&beadle, "/old/x"));
    put("two", &beadle.text_of(&setup(&origin, "/new/")));
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
}

#[test]
fn sighup_reloads_and_reports_an_unchanged_file() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy unchanged");
    beadle.replace_policy(&beadle.text_of(&setup(&origin, "/new/")));
    beadle.signal("HUP");
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
    beadle.wait_for_stderr("policy reloaded");
}

#[test]
fn r25_a_broken_file_changes_nothing_and_logs_its_faults() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let before = fingerprint(&beadle);
    let good = beadle.policy_text();
    for (number, (broken, sign)) in [
        (good.replace("disallow: [/old/]", "disalow: [/old/]"), "did you mean 'disallow'?"),
        (good.replace("disallow: [/old/]", "disallow: [/old/"), "error:"),
        (String::new(), "the policy is empty"),
        (good.replace("mode: block", "mode: blok"), "did you mean 'block'?"),
    ]
    .into_iter()
    .enumerate()
    {
        beadle.replace_policy(&broken);
        wait_for_reloads(&beadle, "refused", number as f64 + 1.0);
        beadle.wait_for_stderr(sign);
        assert!(blocks(&beadle, "/old/x"), "the old rules stay: {sign}");
        assert_eq!(fingerprint(&beadle), before);
    }
    beadle.wait_for_stderr("ERROR");
    beadle.wait_for_stderr("the last good one stays in force");
    let stderr = beadle.stderr();
    assert!(stderr.contains("beadle.yaml:"), "file and line: {stderr}");
    assert_eq!(beadle.admin_page("/readyz").status, 200);
    assert_eq!(beadle.admin_page("/healthz").status, 200);
    // A good policy after it is applied.
    beadle.replace_policy(&beadle.text_of(&setup(&origin, "/new/")));
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
}

#[test]
fn r27_r28_a_missing_or_irregular_file_changes_nothing() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let at_start = last_reload(&beadle);
    assert!(at_start.0 == 1.0 && at_start.1 > 0.0, "{at_start:?}");
    std::fs::remove_file(beadle.policy_file()).expect("it is there");
    beadle.signal("HUP");
    wait_for_reloads(&beadle, "refused", 1.0);
    assert!(blocks(&beadle, "/old/x"));
    assert_eq!(last_reload(&beadle), (0.0, at_start.1));
    std::fs::create_dir(beadle.policy_file()).expect("it is gone");
    beadle.signal("HUP");
    wait_for_reloads(&beadle, "refused", 2.0);
    assert!(blocks(&beadle, "/old/x"));
    std::fs::remove_dir(beadle.policy_file()).expect("it is there");
    // The file is back as it was, without a reload.
    beadle.replace_policy(&beadle.policy_text());
    beadle.wait_for_metric("beadle_policy_last_reload_successful", 1.0);
    beadle.wait_for_stderr("policy accepted again: it is the one in force");
    beadle.replace_policy(&beadle.text_of(&setup(&origin, "/new/")));
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
    assert!(last_reload(&beadle).1 >= at_start.1);
}

#[test]
fn r30_a_change_that_needs_a_restart_is_refused_whole() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let other = [
        (setup(&origin, "/new/").server("  threads: 3\n"), &["server.threads"][..]),
        (setup(&origin, "/new/").server("  timeouts: { drain: 3s }\n"), &["server.timeouts.drain"]),
        (
            setup(&origin, "/new/").violations("  log: $DIR/other.jsonl\n"),
            &["violations.database", "violations.log"],
        ),
    ];
    for (number, (setup, keys)) in other.into_iter().enumerate() {
        let text = beadle.text_of(&setup);
        beadle.replace_policy(&text);
        wait_for_reloads(&beadle, "refused", number as f64 + 1.0);
        assert!(blocks(&beadle, "/old/x") && !blocks(&beadle, "/new/x"), "nothing of it is taken");
        for key in keys {
            // The place of the key, or of the section that lacks it.
            let (section, name) = key.split_once('.').expect("a key of a section");
            let name = name.split('.').next().expect("a name");
            let line = |name: &str| text.lines().position(|line| line.trim().starts_with(name));
            let line = line(name).or_else(|| line(section)).expect("it is there") + 1;
            beadle.wait_for_stderr(&format!("beadle.yaml:{line}:"));
            beadle.wait_for_stderr(&format!("{key}: a change of this key needs a restart"));
        }
    }
    beadle.wait_for_stderr("policy.restart_needed");
    beadle.wait_for_stderr("restart, or take the change back");
}

#[test]
fn r31_the_same_text_written_again_is_no_event() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let (before, lines) = (fingerprint(&beadle), beadle.stderr().lines().count());
    beadle.replace_policy(&beadle.policy_text());
    // Two looks at the file. They leave no trace to wait for, which is what this test shows.
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(fingerprint(&beadle), before);
    assert_eq!(beadle.stderr().lines().count(), lines, "no noise: {}", beadle.stderr());
    for outcome in ["applied", "refused"] {
        assert_eq!(reloads(&beadle, outcome), 0.0, "{outcome}");
    }
}

#[test]
fn r26_a_file_written_piece_by_piece_is_read_once_it_is_whole() {
    use std::io::Write;
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    // The policy is valid after each line of a list.
    let whole = beadle.text_of(&Setup::site(
        origin.port,
        "    enforcement: { mode: block }
    robots_txt:
      cache_window: 0s
      groups:
        - user_agents: [BadBot]
          disallow:
            - /a/
            - /b/
            - /c/
",
    ));
    let mut file = std::fs::File::create(beadle.policy_file()).expect("the folder is ours");
    for line in whole.split_inclusive('\n') {
        file.write_all(line.as_bytes()).expect("the folder is ours");
        file.flush().expect("the folder is ours");
        std::thread::sleep(Duration::from_millis(10));
        assert!(!blocks(&beadle, "/a/x") || blocks(&beadle, "/c/x"), "half a policy is in force");
    }
    wait_for("the new rules", || blocks(&beadle, "/c/x").then_some(()));
    assert_eq!(reloads(&beadle, "applied"), 1.0);
    assert_eq!(reloads(&beadle, "refused"), 0.0);
}

#[test]
fn r29_fifty_reloads_fail_no_request_and_the_last_one_wins() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/start/").start();
    let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let (stop, served, port) = (Arc::clone(&stop), Arc::clone(&served), beadle.port);
            std::thread::spawn(move || {
                let mut client = Client::connect(port);
                while !stop.load(Ordering::Acquire) {
                    let page = Request::get("/page").user_agent("BadBot").send_over(&mut client);
                    assert_eq!(page.text(), "origin: /page");
                    let robots_txt = Request::get("/robots.txt").send_over(&mut client);
                    assert_eq!(robots_txt.status, 200);
                    assert!(robots_txt.text().contains("User-agent: BadBot\n"));
                    served.fetch_add(2, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for number in 0..50 {
        let text = beadle.text_of(&setup(&origin, &format!("/rule-{number}/")));
        // Every fifth is broken.
        let is_broken = number % 5 == 3;
        let text = if is_broken { text.replace("sites:", "stes:") } else { text };
        let refused = reloads(&beadle, "refused");
        beadle.replace_policy(&text);
        beadle.signal("HUP");
        let before = served.load(Ordering::Relaxed);
        wait_for("requests between two reloads", || {
            (served.load(Ordering::Relaxed) > before + 4).then_some(())
        });
        // Most changes come faster than a reload; the test waits for some.
        if number == 13 {
            wait_for_reloads(&beadle, "refused", refused + 1.0);
        } else if number % 10 == 0 {
            let target = format!("/rule-{number}/x");
            wait_for("the new rules", || blocks(&beadle, &target).then_some(()));
        }
    }
    wait_for("the last rules", || blocks(&beadle, "/rule-49/x").then_some(()));
    stop.store(true, Ordering::Release);
    for client in clients {
        assert!(client.join().is_ok(), "a request failed during a reload");
    }
    assert!(!blocks(&beadle, "/start/x") && !blocks(&beadle, "/rule-47/x"));
    assert!(served.load(Ordering::Relaxed) > 200);
    assert!(reloads(&beadle, "applied") >= 2.0 && reloads(&beadle, "refused") >= 1.0);
}

#[test]
fn r32_a_request_keeps_the_rules_it_began_with() {
    let gate = Arc::new(AtomicBool::new(false));
    let open = Arc::clone(&gate);
    let origin = Origin::playing(move |exchange| {
        if exchange.request.target == b"/slow" {
            wait_for("the gate", || open.load(Ordering::Acquire).then_some(()));
        }
        exchange.answer("200 OK", &[], b"x");
        crate::support::origin::After::Keep
    });
    let tagged = |rule: &str| {
        Setup::site(origin.port, &format!("    robots_tag: [{{ rules: {{ \"*\": [{rule}] }} }}]\n"))
    };
    let beadle = tagged("noindex").start();
    let mut slow = Client::connect(beadle.port);
    slow.write(&Request::get("/slow").bytes());
    origin.wait_for_requests(1);
    beadle.replace_policy(&beadle.text_of(&tagged("nofollow")));
    wait_for("the new tags", || {
        let answer = Request::get("/fast").send(beadle.port);
        (answer.header("robots-tag") == Some("*;nofollow")).then_some(())
    });
    gate.store(true, Ordering::Release);
    let answer = slow.response("GET").expect("an answer");
    assert_eq!(answer.header("robots-tag"), Some("*;noindex"));
}

#[test]
fn r34_a_policy_that_blocks_everybody_must_say_so() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let closed = |more: &str| {
        let settings = "    robots_txt: { cache_window: 0s, groups: [{ user_agents: [\"*\"], disallow: [/] }] }\n";
        Setup::site(origin.port, &format!("{settings}    enforcement: {{ mode: block{more} }}\n"))
    };
    beadle.replace_policy(&beadle.text_of(&closed("")));
    wait_for_reloads(&beadle, "refused", 1.0);
    beadle.wait_for_stderr("policy.blocks_everybody");
    assert!(blocks(&beadle, "/old/x") && !blocks(&beadle, "/new/x"), "the old rules stay");
    beadle.replace_policy(&beadle.text_of(&closed(", allow_block_all: true")));
    wait_for("a closed site", || blocks(&beadle, "/new/x").then_some(()));
    assert_eq!(beadle.get("/robots.txt", "BadBot/1.0").status, 200);
}

/// A certificate authority that signed nothing.
const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----
MIIBhDCCASugAwIBAgIUHLveIplj6IHMgq0zp2EGIuj5tSEwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMQmVhZGxlIHRlc3RzMCAXDTI2MTEyMjA1MDk1M1oYDzIxMjYx
MDI5MDUwOTUzWjAXMRUwEwYDVQQDDAxCZWFkbGUgdGVzdHMwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASeA8mF80yW7r4Xf/MsvuolKimYWY3i2oP6D1+84YXXT20f
McGs1hKwkwVjpImiT7bn+wvSgm11CoOC/8jyzMfHo1MwUTAdBgNVHQ4EFgQUIwtE
RbHEQTXJNDP4hjemvMPLhOowHwYDVR0jBBgwFoAUIwtERbHEQTXJNDP4hjemvMPL
hOowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAbEcPOpdxIFeWG
t7kB7Kok4uuYODapiZjgMzUIR2B+RQIgegNpI6yjBfmmhXlDAy3vJo7gO2y2jLc2
hkETALfH7GY=
-----END CERTIFICATE-----
";

#[test]
fn a_system_without_certificate_authorities_serves_what_needs_none() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let none = folder.path().join("none.pem");
    std::fs::write(&none, "").expect("the folder is ours");
    let setup = Setup::site(origin.port, "    robots_txt: { source: origin }\n");
    let setup = setup.environment("SSL_CERT_FILE", none);
    let beadle = setup.environment("SSL_CERT_DIR", folder.path().to_owned()).start();
    assert!(origin.received().iter().any(|one| one.target == b"/robots.txt"));
    assert_eq!(beadle.get("/page", "x").status, 200);
    let messages = beadle.stderr();
    assert!(messages.contains("the system has no certificate authorities"), "{messages}");
}

/// What fetches stays until its successor is there, whatever became of the authorities meanwhile.
#[test]
fn origins_are_fetched_from_after_a_reload_without_certificate_authorities() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (authorities, empty) = (folder.path().join("one.pem"), folder.path().join("empty"));
    std::fs::write(&authorities, AUTHORITY).expect("the folder is ours");
    std::fs::create_dir(&empty).expect("the folder is ours");
    let setup = |max_age: &str| {
        let settings = format!("    robots_txt: {{ source: origin, max_age: {max_age} }}\n");
        Setup::site(origin.port, &settings)
    };
    let setup_at_start = setup("1h").environment("SSL_CERT_FILE", authorities.clone());
    let beadle = setup_at_start.environment("SSL_CERT_DIR", empty).start();
    let fetches = || {
        let received = origin.received();
        received.iter().filter(|one| one.target == b"/robots.txt").count()
    };
    assert_eq!(fetches(), 1);
    std::fs::write(&authorities, "").expect("the folder is ours");
    for (count, max_age) in [(2, "2h"), (3, "3h")] {
        beadle.replace_policy(&beadle.text_of(&setup(max_age)));
        beadle.signal("HUP");
        wait_for("the reload", || {
            let reloads = reloads(&beadle, "applied") + reloads(&beadle, "refused");
            (reloads as usize >= count - 1).then_some(())
        });
        wait_for("another fetch", || (fetches() >= count).then_some(()));
    }
}
