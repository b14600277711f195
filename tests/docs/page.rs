//! Pages and their fenced blocks.
//!
//! The first word behind a fence is the language, the second says more:
//!
//! - `sh`: commands that run one after the other. Known programs of other systems are left out.
//! - `yaml`: a policy, or a section of one. It passes `beadle check`; a whole policy becomes
//!   `beadle.yaml`. `yaml append` is added to it; the database of `yaml week` has two weeks of traffic.
//! - `text`: lines that the commands before it print. `text figure` is not compared,
//!   `text robots.txt` is written to that file.
//! - `console`: a generated help text.
//! - `nginx`, `caddyfile`, `php`, `mermaid`: other languages.

use std::path::{Path, PathBuf};

/// A Markdown file.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'p> {
    pub(crate) language: &'p str,
    /// The second word behind the fence.
    pub(crate) role: &'p str,
    pub(crate) text: &'p str,
}

/// The project's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether generated files are rewritten instead of compared.
pub(crate) fn is_update() -> bool {
    std::env::var_os("BEADLE_UPDATE").is_some()
}

/// The README and all pages of the book.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is part of the project") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.into_iter().map(Page::read).collect()
}

/// A page of the book.
pub(crate) fn page(name: &str) -> Page {
    Page::read(root().join("docs/src").join(name))
}

impl Page {
    pub(crate) fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// The path within the project.
    pub(crate) fn name(&self) -> String {
        let path = self.path.strip_prefix(root()).unwrap_or(&self.path);
        path.display().to_string()
    }

    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        blocks(&self.text)
    }

    /// The text without its blocks.
    pub(crate) fn prose(&self) -> String {
        let mut is_code = false;
        let lines = self.text.lines().filter(|line| {
            let is_fence = line.starts_with("```");
            is_code ^= is_fence;
            !is_fence && !is_code
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The blocks of a part of a page.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\n```") {
        let (info, after) = rest[at + 4..].split_once('\n').expect("a fence ends its line");
        let end = after.find("```").expect("a fence is closed");
        let (language, role) = info.split_once(' ').unwrap_or((info, ""));
        blocks.push(Block { language, role, text: &after[..end] });
        rest = &after[end + 3..];
    }
    blocks
}

impl Block<'_> {
    /// A policy that can be served, not a section of one.
    pub(crate) fn is_policy(&self) -> bool {
        self.language == "yaml" && self.text.lines().any(|line| line == "sites:")
    }

    /// The text as a whole policy: a section gets a small site.
    pub(crate) fn whole(&self) -> String {
        const SITE: &str = "sites:\n  - hosts: [small.example]\n    origin: http://127.0.0.1:3000\n    \
             robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/small/] }] }\n";
        let site = if self.is_policy() { "" } else { SITE };
        format!("{}{site}", self.text)
    }
}
