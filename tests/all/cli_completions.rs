//! Completions for shells, and the colours of a terminal.

use std::process::{Command, Output};

use crate::support::{conditions::want, need, program::PROGRAM};

const POLICY: &str = "sites:
  - { hosts: [www.example.com, docs.example.com], origin: 'http://127.0.0.1:3000' }
crawlers: [{ product_token: OwnBot, operator: Us }]
";

/// The answer to a shell that asks for the last of these words.
fn answer(shell: &str, words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("beadle.yaml"), POLICY).expect("it is writable");
    std::fs::write(folder.path().join("other.yaml"), POLICY.replace("docs", "blog"))
        .expect("it is");
    let output = Command::new(PROGRAM)
        .arg("--")
        .args(words)
        .current_dir(folder.path())
        .env_remove("BEADLE_CONFIG")
        .env("BEADLE_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("the program can be started");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // Fish shows the help after a tab, zsh after a colon.
    let value = |line: &str| line.split(['\t', ':']).next().unwrap_or_default().to_owned();
    text.lines().map(value).collect()
}

#[test]
fn completions_know_verbs_sites_tokens_and_purposes() {
    for shell in ["bash", "zsh", "fish"] {
        let verbs = answer(shell, &["beadle", "te"]);
        assert_eq!(verbs, ["test"], "{shell}");
        let hosts = answer(shell, &["beadle", "violations", "--site", ""]);
        assert_eq!(hosts, ["www.example.com", "docs.example.com"], "{shell}");
        let tokens = answer(shell, &["beadle", "crawlers", "show", "gptb"]);
        assert_eq!(tokens, ["GPTBot"], "{shell}");
        let own = answer(shell, &["beadle", "explain", "-t", "OwnB"]);
        assert_eq!(own, ["OwnBot"], "{shell}");
        let purposes = answer(shell, &["beadle", "crawlers", "list", "--purpose", "ai-"]);
        assert!(
            purposes.contains(&"ai-training".to_owned()) && purposes.len() >= 3,
            "{purposes:?}"
        );
    }
    let named = ["beadle", "report", "--config", "other.yaml", "--site", "b"];
    assert_eq!(answer("bash", &named), ["blog.example.com"]);
    let missing = ["beadle", "report", "--config", "missing.yaml", "--site", ""];
    assert_eq!(answer("bash", &missing), Vec::<String>::new());
}

fn completions(shell: &str) -> Output {
    Command::new(PROGRAM).args(["completions", shell]).output().expect("the program can be started")
}

#[test]
fn the_script_of_bash_completes_in_bash() {
    for shell in ["bash", "zsh", "fish"] {
        let output = completions(shell);
        assert!(output.status.success(), "{shell}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("BEADLE_COMPLETE") && text.contains("beadle"), "{shell}: {text}");
    }
    assert_eq!(completions("tcsh").status.code(), Some(2));
    let Some(bash) = need("bash") else { return };
    let script = "source /dev/stdin; COMP_WORDS=(beadle sch); COMP_CWORD=1; \
                  _clap_complete_beadle beadle sch beadle; echo \"${COMPREPLY[@]}\"";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("completions");
    std::fs::write(&file, completions("bash").stdout).expect("it is writable");
    let programs = std::path::Path::new(PROGRAM).parent().expect("a folder").display().to_string();
    let output = Command::new(bash)
        .args(["--norc", "-c", script])
        .stdin(std::fs::File::open(&file).expect("it was written"))
        .env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default()))
        .output()
        .expect("bash can be started");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "schema", "{output:?}");
}

#[test]
fn every_shell_parses_its_script() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (shell, program) in [("bash", need("bash")), ("zsh", want("zsh")), ("fish", want("fish"))] {
        let Some(program) = program else { continue };
        let file = folder.path().join(shell);
        std::fs::write(&file, completions(shell).stdout).expect("it is writable");
        let output =
            Command::new(program).arg("-n").arg(&file).output().expect("it can be started");
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

#[test]
fn no_color_is_honoured_on_a_terminal() {
    let Some(script) = need("script") else { return };
    let help = |no_color: &str| {
        let output = Command::new(&script)
            .args(["-qec", &format!("{PROGRAM} --help"), "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("CI")
            .env("NO_COLOR", no_color)
            .output()
            .expect("it can be started");
        String::from_utf8_lossy(&output.stdout).contains('\u{1b}')
    };
    assert!(help("") && !help("1"));
}

#[test]
fn a_name_that_is_not_there_suggests_the_near_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("beadle.yaml"), POLICY).expect("it is writable");
    for (args, hint) in [
        (&["crawlers", "list", "--purpose", "ai"][..], "did you mean one of 'ai-training',"),
        (&["crawlers", "list", "--purpose", "serch"], "did you mean 'search'?"),
        (&["crawlers", "show", "GTPBot"], "did you mean 'GPTBot'?"),
        (&["robots", "--site", "ww.example.com"], "did you mean 'www.example.com'?"),
        (&["chek"], "'check'"),
        (&["check", "--format", "jsno"], "'json'"),
    ] {
        let output = Command::new(PROGRAM)
            .args(args)
            .current_dir(folder.path())
            .env_remove("BEADLE_CONFIG")
            .output()
            .expect("the program can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(errors.contains(hint), "{args:?}: {errors}");
    }
}
