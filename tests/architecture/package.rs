//! The package as registries, packagers and compilers see it: its files, its licences, its Rust.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::PROGRAM;

/// What the program is made of, and what a reader of the package wants to know. Nothing else is in it.
const PARTS: [&str; 8] = [
    "CHANGELOG.md",
    "Cargo.",
    "LICENSE",
    "README.md",
    "config/",
    "examples/demo.yaml",
    "examples/presets/",
    "src/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What cargo prints, without the network.
fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let output = command.args(args).args(["--offline", "--locked"]).current_dir(root()).output();
    let output = output.expect("cargo runs these tests");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn metadata() -> Value {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let text = cargo(&["metadata", "--format-version=1", "--filter-platform", &platform]);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_package_has_what_the_build_needs_and_nothing_else() {
    let list = cargo(&["package", "--list", "--allow-dirty"]);
    let files: BTreeSet<PathBuf> = list.lines().map(PathBuf::from).collect();
    for file in list.lines().filter(|file| *file != ".cargo_vcs_info.json") {
        assert!(PARTS.iter().any(|part| file.starts_with(part)), "{file} does not belong");
    }
    // Tests may read more than the package has.
    for source in &PROGRAM.sources {
        let path = Path::new("src").join(&source.path);
        assert!(files.contains(&path), "{}", path.display());
        let text = source.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for part in text.split("include_str!(\"").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            let mut path = path.parent().expect("a folder").to_owned();
            for step in Path::new(name) {
                match step == ".." {
                    true => _ = path.pop(),
                    false => path.push(step),
                }
            }
            assert!(files.contains(&path), "src/{} includes {}", source.path, path.display());
        }
    }
    let templates = files.iter().filter(|file| file.extension().is_some_and(|end| end == "html"));
    assert!(templates.count() > 10, "the templates of the pages are sources, too");
}

#[test]
fn registries_get_a_complete_description() {
    let manifest = read("Cargo.toml");
    let (package, _) = manifest.split_once("\n[dependencies]").expect("it has dependencies");
    for key in ["description", "license", "readme", "rust-version", "keywords", "categories"] {
        assert!(package.contains(&format!("\n{key} = ")), "the manifest lacks '{key}'");
    }
}

/// The lists of `deny.toml` that begin with this key.
fn allowed(key: &str) -> BTreeSet<String> {
    let text = read("deny.toml");
    let list = text.split(&format!("\n{key} = [")).nth(1).unwrap_or_else(|| panic!("no '{key}'"));
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a licence expression (SPDX) can be met with these licences. `WITH` binds closer than `AND`,
/// and that closer than `OR`, which older packages write as a slash.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    if let Some(open) = expression.find('(') {
        let inside = &expression[open + 1..];
        let mut depth = 1;
        let close = inside.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let Some(close) = close else { return false };
        // An alternative without a name stands for what the parentheses mean.
        let met = if is_met(&inside[..close], allowed) { "+" } else { "-" };
        let flat = format!("{}{met}{}", &expression[..open], &inside[close + 1..]);
        return is_met(&flat, allowed);
    }
    let is_one = |name: &str| name.trim() == "+" || allowed.contains(name.trim());
    let alternatives = expression.split('/').flat_map(|part| part.split(" OR "));
    alternatives.into_iter().any(|part| part.split(" AND ").all(is_one))
}

/// The packages that the program is made of or built with; those for tests alone are not shipped.
fn shipped(resolve: &Value) -> BTreeSet<&str> {
    let nodes = resolve["nodes"].as_array().expect("a list");
    let mut used = BTreeSet::new();
    let mut next: Vec<&str> = resolve["root"].as_str().into_iter().collect();
    while let Some(id) = next.pop() {
        if !used.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id).expect("each package has a node");
        let deps = node["deps"].as_array().expect("a list").iter().filter(|dep| {
            let kinds = dep["dep_kinds"].as_array().expect("a list");
            kinds.iter().any(|kind| kind["kind"] != "dev")
        });
        next.extend(deps.filter_map(|dep| dep["pkg"].as_str()));
    }
    used
}

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_the_registry() {
    let (licences, registries) = (allowed("allow"), allowed("allow-registry"));
    let metadata = metadata();
    let used = shipped(&metadata["resolve"]);
    let packages = metadata["packages"].as_array().expect("a list").iter();
    let packages: Vec<&Value> =
        packages.filter(|one| one["id"].as_str().is_some_and(|id| used.contains(id))).collect();
    assert!(packages.len() > 200, "the dependencies are found");
    for package in packages {
        let name = format!("{} {}", package["name"], package["version"]);
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_met(licence, &licences), "{name}: {licence:?} is not in deny.toml");
        if let Some(source) = package["source"].as_str() {
            let place = source.strip_prefix("registry+").unwrap_or(source);
            assert!(registries.contains(place), "{name}: {source} is not in deny.toml");
        }
    }
}

#[test]
fn a_licence_expression_is_read_by_its_operators() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("", false),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0 OR MIT AND ISC", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR (MIT AND ISC)) AND (ISC)", true),
        ("(MIT OR ISC) AND GPL-3.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_met(expression, &allowed), expected, "{expression:?}");
    }
}

/// The oldest Rust that the manifest promises, `1.95`.
fn oldest_rust() -> String {
    let manifest = read("Cargo.toml");
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    line.expect("the manifest names it").trim_matches('"').to_owned()
}

#[test]
fn manifest_image_and_documents_name_the_same_rust() {
    let oldest = oldest_rust();
    let image = read("Dockerfile");
    let images = image.lines().filter(|line| line.starts_with("FROM "));
    let images: Vec<&str> = images.filter_map(|line| line.split("rust:").nth(1)).collect();
    assert!(!images.is_empty(), "the image is built by an image of Rust");
    for tag in images {
        assert!(tag.starts_with(&format!("{oldest}-")), "rust:{tag}");
    }
    let mut named = 0;
    let pages = std::fs::read_dir(root().join("docs/src")).expect("the book is there");
    let pages = pages.map(|entry| entry.expect("readable").path());
    for page in pages.filter(|page| page.is_file()).chain([root().join("README.md")]) {
        let text = read(&page);
        let marks = ["Rust toolchain (", "RUSTUP_TOOLCHAIN="];
        for part in marks.iter().flat_map(|mark| text.split(mark).skip(1)) {
            let version = part.split(' ').next().unwrap_or_default().trim_end_matches(".0");
            assert_eq!(version, oldest, "{}", page.display());
            named += 1;
        }
    }
    assert!(named > 0, "the documents name it");
}

/// What compiles here compiles with each later Rust, so CI runs with the oldest one.
#[test]
fn ci_compiles_with_the_oldest_rust() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc compiled these tests");
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    let oldest = oldest_rust();
    let is_oldest = version.starts_with(&format!("rustc {oldest}."));
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        is_oldest || !is_ci,
        "{version}: RUSTUP_TOOLCHAIN={oldest}.0 .ci/run tests with Rust {oldest}"
    );
}
