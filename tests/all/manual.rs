//! The manual: a page for each command and for the policy, which `man` shows without a warning.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::support::{need, program::PROGRAM};

fn run(args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).output().expect("the program can be started")
}

/// The pages in a folder, by name.
fn write(folder: &Path) -> Vec<PathBuf> {
    let output = run(&["manual", &folder.display().to_string()]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let entries = fs::read_dir(folder).expect("the folder was made");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    pages.sort();
    pages
}

fn names(pages: &[PathBuf]) -> Vec<String> {
    let name = |page: &PathBuf| page.file_name().expect("a file").to_string_lossy().into_owned();
    pages.iter().map(name).collect()
}

#[test]
fn every_command_of_the_help_has_a_page_and_every_run_writes_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pages = write(&folder.path().join("a/b"));
    let found = names(&pages);
    let help = String::from_utf8(run(&["help"]).stdout).expect("UTF-8");
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 20, "{help}");
    for command in &commands {
        assert!(found.contains(&format!("beadle-{command}.1")), "{command} of {found:?}");
    }
    for name in ["beadle.1", "beadle-crawlers-score.1", "beadle.yaml.5"] {
        assert!(found.iter().any(|one| one == name), "{name} of {found:?}");
    }
    // Neither the environment nor the time shows, and old pages are replaced.
    let again = folder.path().join("c");
    fs::create_dir(&again).expect("the folder is writable");
    fs::write(again.join("beadle.1"), "old\n".repeat(9999)).expect("the folder is writable");
    let output = Command::new(PROGRAM)
        .args(["manual", "c"])
        .current_dir(folder.path())
        .env("COLUMNS", "40")
        .env("BEADLE_CONFIG", "/elsewhere.yaml")
        .output()
        .expect("the program can be started");
    assert!(output.status.success(), "{output:?}");
    for page in &pages {
        let other = again.join(page.file_name().expect("a file"));
        assert_eq!(fs::read(page).expect("written"), fs::read(other).expect("written"), "{page:?}");
    }
    let file = folder.path().join("c/beadle.1/x");
    assert_eq!(run(&["manual", &file.display().to_string()]).status.code(), Some(2));
}

#[test]
fn man_shows_every_page_without_a_warning() {
    let (Some(groff), Some(man), Some(lexgrog)) = (need("groff"), need("man"), need("lexgrog"))
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for page in write(folder.path()) {
        let output = Command::new(&groff)
            .args(["-man", "-Tutf8", "-ww"])
            .arg(&page)
            .output()
            .expect("groff can be started");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page:?}");
        for width in ["80", "100"] {
            let output = Command::new(&man)
                .args(["--warnings", "-E", "UTF-8", "-l"])
                .arg(&page)
                .env("MANWIDTH", width)
                .env("MANPAGER", "cat")
                .output()
                .expect("man can be started");
            assert!(output.status.success(), "{output:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page:?}");
        }
        // The line that whatis and apropos find.
        let output = Command::new(&lexgrog).arg(&page).output().expect("lexgrog can be started");
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        let stem = page.file_stem().expect("a name").to_string_lossy();
        assert!(output.status.success(), "{output:?}");
        assert!(found.contains(&format!("\"{stem} - ")), "{found}");
    }
}

#[test]
fn the_help_of_a_command_is_that_of_its_option() {
    for (words, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "violations"], &["violations", "--help"]),
        (&["help", "crawlers", "score"], &["crawlers", "score", "--help"]),
        (&["help", "help"], &["help", "--help"]),
    ] {
        let (help, expected) = (run(words), run(option));
        assert_eq!(help.status.code(), Some(0), "{words:?}");
        assert!(!help.stdout.is_empty() && help.stdout == expected.stdout, "{words:?}");
    }
    let unknown = run(&["help", "violatons"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("'violations'"), "{unknown:?}");
}
