//! The sources: where they lie, and what their code says.

use std::{fs, path::Path, thread};

use crate::{code::Code, program::is_below};

/// A source file; its path is relative to `src`.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// `crate::rules::policy` of `rules/policy/mod.rs`.
    pub(crate) module: String,
    pub(crate) code: Code,
}

impl Source {
    /// Reads a text as the file at this path.
    pub(crate) fn of(path: &str, text: &str) -> Self {
        let module = module(path);
        let code = Code::of(&module, text);
        let code = code.unwrap_or_else(|error| panic!("src/{path}: {error}"));
        Self { path: path.to_owned(), text: text.to_owned(), module, code }
    }

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
        self.place().split('/').count() == 2 && self.place().ends_with("/mod.rs")
    }
}

fn module(path: &str) -> String {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    match path.strip_suffix("/mod").unwrap_or(path) {
        "lib" => "crate".to_owned(),
        // The program is a crate of its own.
        "main" => "main".to_owned(),
        path => format!("crate::{}", path.replace('/', "::")),
    }
}

/// All sources but those for tests only.
pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    collect(&root, &root, &mut paths);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Parsers take nearly all the time of these tests.
    let mut all: Vec<Source> = thread::scope(|scope| {
        let parts = paths.chunks(paths.len().div_ceil(threads));
        let parts = parts.map(|part| {
            let read = |path: &String| {
                let text = fs::read_to_string(root.join(path)).expect("a source is UTF-8");
                Source::of(path, &text)
            };
            scope.spawn(move || part.iter().map(read).collect::<Vec<_>>())
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().expect("each file is Rust")).collect()
    });
    let test_only: Vec<String> = all.iter().flat_map(|one| one.code.test_modules.clone()).collect();
    all.retain(|source| !test_only.iter().any(|module| is_below(&source.module, module)));
    all
}

fn collect(root: &Path, folder: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            collect(root, &path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let path = path.strip_prefix(root).expect("it lies below");
            paths.push(path.display().to_string());
        }
    }
}
