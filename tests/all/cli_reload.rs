//! `beadle reload`: the running server reads its policy again, and the outcome is known.

use std::process::{Command, Output};

use serde_json::Value;

use crate::{
    reload::{blocks, setup},
    support::{
        client::Request,
        free_port,
        origin::Origin,
        program::{PROGRAM, json_lines},
    },
};

pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

#[test]
fn a_new_policy_is_in_force_when_the_command_ends() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    for path in ["/a/", "/b/", "/c/"] {
        beadle.replace_policy(&beadle.text_of(&setup(&origin, path)));
        let output = beadle.verb(&["reload"]);
        assert!(blocks(&beadle, &format!("{path}x")), "{}", text(&output));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(text(&output).contains("is in force"), "{}", text(&output));
    }
    let output = beadle.verb(&["reload", "--format", "json"]);
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["outcome"], "unchanged");
    assert_eq!(lines[0]["file"], beadle.policy_file().display().to_string());
    assert_eq!(lines[0]["findings"], Value::Array(Vec::new()));
    assert!(lines[0]["policy"].as_str().is_some_and(|policy| !policy.is_empty()));
}

#[test]
fn a_refused_policy_is_exit_2_with_its_findings() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let good = beadle.policy_text();
    // The first is known from the file, the others from the server alone.
    for (broken, sign) in [
        (good.replace("mode: block", "mode: blok"), "did you mean 'block'?"),
        (
            good.replace("server:\n", "server:\n  threads: 3\n"),
            "server.threads: a change of this key needs a restart [policy.restart_needed]",
        ),
        (
            format!(
                "{good}test_failures: refuse\ntests:\n  \
                 - {{ user_agent: BadBot/1.0, url: \"https://site.example/old/x\", action: pass }}\n"
            ),
            "[policy.test_failed]",
        ),
    ] {
        beadle.replace_policy(&broken);
        let output = beadle.verb(&["reload"]);
        assert_eq!(output.status.code(), Some(2), "{sign}: {}", text(&output));
        assert!(text(&output).contains(sign), "{sign}: {}", text(&output));
        assert!(text(&output).contains("beadle.yaml:"), "{}", text(&output));
        let output = beadle.verb(&["reload", "--format", "json"]);
        let lines = json_lines(&output);
        assert_eq!((lines.len(), &lines[0]["outcome"]), (1, &Value::from("refused")));
        assert!(lines[0]["findings"][0]["code"].is_string(), "{}", lines[0]);
        assert!(blocks(&beadle, "/old/x"), "the last good policy stays in force");
    }
}

#[test]
fn the_token_of_the_admin_listener_opens_the_reload() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef\n").expect("the folder is ours");
    let admin = format!("{{ address: $ADMIN, token_file: {} }}", token.display());
    let beadle = setup(&origin, "/old/").admin(&admin).spawn();
    beadle.wait_until_ready();
    let output = beadle.verb(&["reload"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let answer = Request::new("POST", "/reload").host("localhost").body("").send(beadle.admin);
    assert_eq!(answer.status, 401, "without the token");
    std::fs::write(&token, "fedcba9876543210fedcba9876543210\n").expect("the folder is ours");
    let output = beadle.verb(&["reload"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("token"), "{}", text(&output));
}

#[test]
fn a_page_of_another_site_reloads_nothing() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let post = Request::new("POST", "/reload").host("localhost").body("");
    let answer = post.clone().field("Sec-Fetch-Site", "cross-site").send(beadle.admin);
    assert_eq!(answer.status, 403);
    assert_eq!(Request::get("/reload").host("localhost").send(beadle.admin).status, 405);
    assert_eq!(post.send(beadle.admin).status, 200);
}

#[test]
fn without_a_server_to_ask_the_command_says_what_to_do() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let good = beadle.policy_text();
    let other = good.replace(&beadle.admin.to_string(), &free_port().to_string());
    for (policy, sign) in [
        (other, "is the server running?"),
        (good.replace(&format!("\"127.0.0.1:{}\"", beadle.admin), "\"off\""), "send SIGHUP"),
    ] {
        let file = beadle.folder().join("other.yaml");
        std::fs::write(&file, policy).expect("the folder is ours");
        let output = Command::new(PROGRAM)
            .args(["reload", "--config"])
            .arg(&file)
            .output()
            .expect("the program can be started");
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(sign), "{sign}: {}", text(&output));
    }
}
