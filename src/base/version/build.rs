//! The build script: finds the commit and the profile that [`crate::base::version`] shows, and writes the
//! built-in catalogue as JSON.
//!
//! The commit comes from `BEADLE_COMMIT`, which a packager sets, else from the file that `cargo package`
//! writes, else from `.git`, which it reads itself. Without any of them the build works all the same.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

const DIGITS: usize = 12;

/// The commit of the sources, and the files that change when it does.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) commit: Option<String>,
    pub(crate) files: Vec<PathBuf>,
}

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let named = env::var("BEADLE_COMMIT").ok().and_then(|name| shown(&name));
    let sources = match named {
        Some(commit) => Sources { commit: Some(commit), files: Vec::new() },
        None => Sources::of(&folder),
    };
    let output = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let catalogue = folder.join("config/crawlers.yaml");
    fs::write(output.join("crawlers.json"), as_json(&fs::read_to_string(&catalogue)?)?)?;
    let profile = profile(&output).map(str::to_owned).or_else(|| env::var("PROFILE").ok());

    let unknown = || "unknown".to_owned();
    let mut out = io::stdout().lock();
    // This line also switches off cargo's own rule: to run again after a change of any file.
    writeln!(out, "cargo::rerun-if-env-changed=BEADLE_COMMIT")?;
    for file in sources.files.iter().chain([&catalogue]) {
        writeln!(out, "cargo::rerun-if-changed={}", file.display())?;
    }
    writeln!(
        out,
        "cargo::rustc-env=BEADLE_BUILD_COMMIT={}",
        sources.commit.unwrap_or_else(unknown)
    )?;
    writeln!(out, "cargo::rustc-env=BEADLE_BUILD_PROFILE={}", profile.unwrap_or_else(unknown))
}

/// YAML as JSON, which is read in a fraction of the time: every start and verb reads the catalogue.
/// `no` is a word, as in YAML 1.2.
fn as_json(text: &str) -> io::Result<String> {
    let options = serde_yaml::options! { strict_booleans: true, budget: None };
    let value = serde_yaml::from_str_with_options::<serde_json::Value>(text, options);
    Ok(value.map_err(io::Error::other)?.to_string())
}

impl Sources {
    /// The sources in this folder. Only its own `.git` counts: a folder further up is the repository of
    /// somebody else, who vendored them.
    pub(crate) fn of(folder: &Path) -> Self {
        Self::packaged(folder).or_else(|| Self::checked_out(folder)).unwrap_or_default()
    }

    fn packaged(folder: &Path) -> Option<Self> {
        let file = folder.join(".cargo_vcs_info.json");
        let text = fs::read_to_string(&file).ok()?;
        let (_, after) = text.split_once("\"sha1\"")?;
        Some(Self { commit: after.split('"').nth(1).and_then(shown), files: vec![file] })
    }

    /// A checkout; also a work tree of its own, or a submodule, where `.git` is a file.
    fn checked_out(folder: &Path) -> Option<Self> {
        let entry = folder.join(".git");
        let own = match fs::read_to_string(&entry) {
            Ok(text) => folder.join(text.strip_prefix("gitdir: ")?.trim_end()),
            Err(_) => entry,
        };
        let head = own.join("HEAD");
        let text = fs::read_to_string(&head).ok()?;
        let Some(name) = text.strip_prefix("ref: ").map(str::trim_end) else {
            return Some(Self { commit: shown(&text), files: vec![head] });
        };
        let shared = fs::read_to_string(own.join("commondir"));
        let shared = shared.map_or_else(|_| own.clone(), |text| own.join(text.trim_end()));
        let (branch, packed) = (shared.join(name), shared.join("packed-refs"));
        let commit = fs::read_to_string(&branch).ok().and_then(|text| shown(&text)).or_else(|| {
            let text = fs::read_to_string(&packed).ok()?;
            text.lines().find_map(|line| shown(line.strip_suffix(name)?.strip_suffix(' ')?))
        });
        // cargo runs the script each time if a file in this list is missing. The next commit of a packed
        // branch makes its file, so the folder stands for it.
        let nearest = branch.ancestors().find(|path| path.exists()).map(Path::to_owned);
        let packed = Some(packed).filter(|file| file.exists());
        Some(Self { commit, files: [Some(head), nearest, packed].into_iter().flatten().collect() })
    }
}

/// A commit as it is shown: the first digits of a hash, and any other name as it is.
pub(crate) fn shown(name: &str) -> Option<String> {
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
    let is_hash = name.len() > DIGITS && name.chars().all(|c| c.is_ascii_hexdigit());
    is_name.then(|| if is_hash { &name[..DIGITS] } else { name }.to_owned())
}

/// The profile of `target/[TRIPLE/]PROFILE/build/…`.
pub(crate) fn profile(output: &Path) -> Option<&str> {
    let names: Vec<&str> = output.iter().filter_map(|name| name.to_str()).collect();
    let build = names.iter().rposition(|name| *name == "build")?;
    names.get(build.checked_sub(1)?).copied()
}
