//! The sources, and what a line of code says.

use std::{collections::BTreeSet, path::Path};

/// A source file; its path is relative to `src`.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// `rules` of `rules/policy/yaml.rs`, `lib.rs` of `lib.rs`.
    pub(crate) fn street(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// Its path within its street.
    pub(crate) fn place(&self) -> &str {
        self.path.split_once('/').map_or(self.path.as_str(), |(_, place)| place)
    }

    /// `policy` of `rules/policy/yaml.rs`, `escape` of `base/escape.rs`, `mod` of the map of a street.
    pub(crate) fn room(&self) -> &str {
        let first = self.place().split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Whether it is the map of a room: `rules/policy/mod.rs`.
    pub(crate) fn is_room(&self) -> bool {
        self.place().ends_with("/mod.rs") && self.depth() == 1
    }

    /// How deep its module lies in its street: 1 for `rules/policy/mod.rs` and `base/escape.rs`, 2 for
    /// `rules/policy/yaml.rs`.
    pub(crate) fn depth(&self) -> usize {
        let parts = self.place().split('/').count();
        if self.place().ends_with("/mod.rs") { parts - 1 } else { parts }
    }

    /// Its lines by number without comments, texts and what is for tests only.
    pub(crate) fn code(&self) -> Vec<(usize, String)> {
        let mut lines = Vec::new();
        let mut after_cfg_test = false;
        for (at, line) in self.text.lines().enumerate() {
            let is_test_module = after_cfg_test
                && line.trim_start().starts_with("mod ")
                && line.trim_end().ends_with('{');
            if is_test_module && !line.starts_with(' ') {
                break;
            }
            after_cfg_test = line.trim() == "#[cfg(test)]";
            lines.push((at + 1, without_comments_and_texts(line)));
        }
        lines
    }
}

/// A line without what stands behind `//` and between quotation marks.
fn without_comments_and_texts(line: &str) -> String {
    let mut kept = String::new();
    let mut in_text = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if in_text => drop(characters.next()),
            '"' => in_text = !in_text,
            '/' if !in_text && characters.peek() == Some(&'/') => break,
            _ if in_text => {}
            _ => kept.push(character),
        }
    }
    kept
}

/// All sources but those for tests only.
pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    collect(&root, &root, &mut all);
    let mut test_only = BTreeSet::new();
    for source in &all {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own = source.path.strip_suffix(".rs").unwrap_or(&source.path);
        let mut after_cfg_test = false;
        for line in source.text.lines() {
            let line_of_module = line.strip_prefix("pub(crate) ").unwrap_or(line);
            let name = line_of_module.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            if let Some(name) = name.filter(|_| after_cfg_test) {
                test_only.insert(format!("{folder}/{name}.rs"));
                test_only.insert(format!("{folder}/{name}/"));
                test_only.insert(format!("{own}/{name}.rs"));
            }
            after_cfg_test = line.trim() == "#[cfg(test)]";
        }
    }
    all.retain(|source| {
        !test_only.iter().any(|path| {
            source.path == *path || (path.ends_with('/') && source.path.starts_with(path))
        })
    });
    all
}

fn collect(root: &Path, folder: &Path, all: &mut Vec<Source>) {
    let entries = std::fs::read_dir(folder).expect("the sources are there");
    for entry in entries {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            collect(root, &path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source is UTF-8");
            let path = path.strip_prefix(root).expect("it lies below");
            all.push(Source { path: path.display().to_string(), text });
        }
    }
}
