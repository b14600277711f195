//! The version that the program shows, and where its commit comes from.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use beadle::base::version;

use crate::support::{need, program::PROGRAM};

#[allow(dead_code, reason = "the build script's own start")]
#[path = "../../src/base/version/build.rs"]
mod build;

fn printed(arg: &str) -> String {
    let output = Command::new(PROGRAM).arg(arg).output().expect("the program can be started");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_version_has_the_commit_and_the_profile() {
    assert_eq!(printed("-V"), format!("beadle {}\n", env!("CARGO_PKG_VERSION")));
    let expected =
        format!("beadle {} ({}, {})\n", version::NUMBER, version::COMMIT, version::PROFILE);
    assert_eq!(printed("--version"), expected);
    // Cargo puts the program into the folder of its profile.
    let folder = Path::new(PROGRAM).parent().and_then(Path::file_name).expect("a folder");
    assert_eq!(version::PROFILE, folder.to_string_lossy());
    if std::env::var_os("BEADLE_COMMIT").is_none() {
        let here = build::Sources::of(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_eq!(version::COMMIT, here.commit.as_deref().unwrap_or("unknown"));
    }
}

/// A repository with one commit on the branch `main`, in a folder below `folder`.
struct Repository(PathBuf);

impl Repository {
    fn new(folder: &Path) -> Self {
        let new = Self(folder.join("checkout"));
        fs::create_dir(&new.0).expect("the folder is writable");
        new.git(&["init", "-q", "-b", "main"]);
        new.commit();
        new
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(args)
            .current_dir(&self.0)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .expect("git can be started");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    fn commit(&self) {
        self.git(&["commit", "-q", "--allow-empty", "-m", "One"]);
    }

    /// The commit that the build script finds is that of git, and its files are there.
    fn check(&self, folder: &Path) -> Vec<PathBuf> {
        let head = Self(folder.to_owned()).git(&["rev-parse", "HEAD"]);
        let found = build::Sources::of(folder);
        assert_eq!(found.commit.as_deref(), Some(&head[..12]), "{found:?}");
        assert!(found.files.iter().all(|file| file.exists()), "{found:?}");
        found.files
    }
}

#[test]
fn the_commit_is_that_of_git_in_every_kind_of_checkout() {
    if need("git").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repository = Repository::new(folder.path());
    let main = &repository.0;
    repository.check(main);
    repository.git(&["pack-refs", "--all"]);
    // The next commit of a packed branch changes one of the files.
    let files = repository.check(main);
    repository.commit();
    let branch = main.join(".git/refs/heads/main");
    assert!(files.iter().any(|file| branch.starts_with(file)), "{files:?}");
    repository.check(main);
    repository.git(&["checkout", "-q", "--detach"]);
    repository.check(main);
    repository.git(&["worktree", "add", "-q", "-b", "topic/one", "../other"]);
    let other = folder.path().join("other");
    repository.check(&other);
    repository.git(&["pack-refs", "--all"]);
    repository.check(&other);
}

#[test]
fn sources_without_a_checkout_have_the_commit_of_their_package_or_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(build::Sources::of(folder.path()).commit, None);
    // A branch without a commit, and files that git never wrote.
    fs::create_dir(folder.path().join(".git")).expect("the folder is writable");
    for head in ["ref: refs/heads/main\n", "ref: ", "", "two words"] {
        fs::write(folder.path().join(".git/HEAD"), head).expect("the folder is writable");
        assert_eq!(build::Sources::of(folder.path()).commit, None, "{head:?}");
    }
    let hash = "3a6aa04a5962bb7fa6bdd0109ee4e578697d5283";
    let package =
        format!("{{\n  \"git\": {{\n    \"sha1\": \"{hash}\"\n  }},\n  \"path_in_vcs\": \"\"\n}}");
    fs::write(folder.path().join(".cargo_vcs_info.json"), package).expect("the folder is writable");
    assert_eq!(build::Sources::of(folder.path()).commit.as_deref(), Some("3a6aa04a5962"));
}

#[test]
fn a_packager_names_a_commit_or_a_release() {
    for (named, expected) in [
        ("3a6aa04a5962bb7fa6bdd0109ee4e578697d5283\n", Some("3a6aa04a5962")),
        ("3a6aa04", Some("3a6aa04")),
        ("v0.1.0-3-g3a6aa04", Some("v0.1.0-3-g3a6aa04")),
        ("", None),
        ("two words", None),
    ] {
        assert_eq!(build::shown(named).as_deref(), expected, "{named:?}");
    }
    for (output, expected) in [
        ("/src/target/dist/build/beadle-0123456789abcdef/out", Some("dist")),
        ("/build/target/x86_64-unknown-linux-gnu/release/build/beadle-0123/out", Some("release")),
        ("/elsewhere", None),
        ("build", None),
    ] {
        assert_eq!(build::profile(Path::new(output)), expected, "{output}");
    }
}
