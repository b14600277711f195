//! The hooks and the workflow of `examples/ci`: each is valid, and its commands do what they say.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use crate::{
    page::root,
    support::{need, program::PROGRAM},
};

const POLICY: &str = "violations: { database: violations.db }
sites:
  - hosts: [www.example.com]
    origin: http://127.0.0.1:3000
    robots_txt: { groups: [{ user_agents: ['*'], disallow: [/private/] }] }
tests:
  - { product_token: GPTBot, url: /private/, expect: disallow }
";

fn file(name: &str) -> PathBuf {
    root().join("examples/ci").join(name)
}

fn yaml(name: &str) -> Value {
    let text = std::fs::read_to_string(file(name)).expect("the file is part of the project");
    serde_yaml::from_str(&text).expect("it is YAML")
}

/// Runs a command of a shell in `folder`, where `beadle` is the program under test.
fn sh(folder: &Path, command: &str) -> Output {
    let programs = Path::new(PROGRAM).parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-ec", command])
        .current_dir(folder)
        .env("PATH", format!("{programs}:{path}"))
        .env_remove("BEADLE_CONFIG")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("the shell can be started")
}

/// A folder with the policy, and one whose test fails.
fn folders() -> [(tempfile::TempDir, bool); 2] {
    [(POLICY.to_owned(), true), (POLICY.replace("[/private/]", "[/privat/]"), false)].map(
        |(policy, is_good)| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            std::fs::write(folder.path().join("beadle.yaml"), policy).expect("it is writable");
            (folder, is_good)
        },
    )
}

#[test]
fn the_commands_of_the_workflow_accept_a_good_policy_alone() {
    let workflow = yaml("github.yaml");
    assert!(workflow["on"]["push"].is_object() && workflow["on"]["pull_request"].is_object());
    let steps = workflow["jobs"]["policy"]["steps"].as_array().expect("steps");
    let runs: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let ours: Vec<&&str> = runs.iter().filter(|run| run.starts_with("beadle ")).collect();
    assert_eq!((runs.len(), ours.len()), (3, 2), "{runs:?}");
    for (folder, is_good) in folders() {
        for run in &ours {
            let output = sh(folder.path(), run);
            assert_eq!(output.status.success(), is_good, "{run}: {output:?}");
        }
    }
}

#[test]
fn the_entry_of_the_hook_for_pre_commit_accepts_a_good_policy_alone() {
    let config = yaml("pre-commit-config.yaml");
    let hook = &config["repos"][0]["hooks"][0];
    assert_eq!(
        (&config["repos"][0]["repo"], &hook["language"]),
        (&"local".into(), &"system".into())
    );
    let entry = hook["entry"].as_str().expect("an entry");
    for (folder, is_good) in folders() {
        assert_eq!(sh(folder.path(), entry).status.success(), is_good, "{entry}");
    }
}

#[test]
fn the_git_hook_refuses_a_commit_of_a_policy_whose_tests_fail() {
    need("git");
    for (folder, is_good) in folders() {
        let hook = file("pre-commit").display().to_string();
        let commit =
            "git init -q . && git config user.name Test && git config user.email t@a.example";
        assert!(sh(folder.path(), commit).status.success());
        let install =
            format!("cp '{hook}' .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit");
        assert!(sh(folder.path(), &install).status.success());
        let output = sh(folder.path(), "git add beadle.yaml && git commit -q -m policy");
        assert_eq!(output.status.success(), is_good, "{output:?}");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(errors.contains("policy.test_failed"), !is_good, "{errors}");
    }
}
