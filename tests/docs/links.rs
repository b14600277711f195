//! Every relative link leads to a file and a heading, and every page is in the summary.

use std::path::{Path, PathBuf};

use crate::page::{Page, page, pages, root};

/// The links of a page, pictures included.
fn links(page: &Page) -> Vec<String> {
    let prose = page.prose();
    let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(str::to_owned).collect()
}

/// The anchors of a page's headings.
fn anchors(page: &Page) -> Vec<String> {
    let prose = page.prose();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        title.chars().filter(is_kept).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The file that a link names, from the folder of its page.
fn target(page: &Page, link: &str) -> PathBuf {
    let folder = page.path.parent().expect("a file has a folder");
    folder.join(link)
}

#[test]
fn every_link_within_the_project_leads_somewhere() {
    for page in pages() {
        for link in links(&page) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { page.path.clone() } else { target(&page, file) };
            assert!(path.exists(), "{}: {link}", page.name());
            if !anchor.is_empty() {
                let found = anchors(&Page::read(path));
                assert!(
                    found.iter().any(|one| one == anchor),
                    "{}: {link}: {found:?}",
                    page.name()
                );
            }
        }
    }
}

#[test]
fn the_book_links_only_to_its_own_pages() {
    let book = root().join("docs/src").canonicalize().expect("the folder is part of the project");
    for page in pages().iter().filter(|page| page.path.starts_with(root().join("docs"))) {
        for link in links(page).iter().filter(|link| !link.starts_with("https://")) {
            let file = link.split('#').next().unwrap_or_default();
            let path = target(page, file).canonicalize().expect("it leads somewhere");
            assert!(file.is_empty() || path.starts_with(&book), "{}: {link}", page.name());
        }
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = page("SUMMARY.md");
    let listed: Vec<PathBuf> = links(&summary).iter().map(|link| target(&summary, link)).collect();
    let pages = pages();
    let is_page = |path: &Path| path.starts_with(root().join("docs")) && path != summary.path;
    for page in pages.iter().filter(|page| is_page(&page.path)) {
        assert!(listed.contains(&page.path), "{} is not in SUMMARY.md", page.name());
    }
}

#[test]
fn every_file_that_the_book_names_is_there() {
    let mut count = 0;
    for page in pages() {
        let prose = page.prose();
        for name in prose.split('`').skip(1).step_by(2) {
            let folders = ["examples/", "config/", "benches/", "tests/", "src/", ".cargo/"];
            if folders.iter().any(|folder| name.starts_with(folder)) {
                count += 1;
                assert!(root().join(name).exists(), "{}: {name}", page.name());
            }
        }
    }
    assert!(count > 10, "{count} names");
}
