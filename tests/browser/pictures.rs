//! The pictures in the docs.

use std::path::Path;

use crate::{
    desks::Desks,
    support::week::SITE,
    tab::{PHONE, Tab},
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/images");

/// The most that a picture weighs.
const MOST_BYTES: u64 = 130_000;

/// Name, page, width, height, and whether it is dark.
const PICTURES: [(&str, &str, u32, u32, bool); 6] = [
    ("desk-overview", "/", 1120, 1100, false),
    ("desk-violation", "/violations/{id}", 1120, 1040, true),
    ("desk-crawler", "/crawlers/GPTBot", 1120, 1080, false),
    ("desk-robots", "/robots/{site}", 1120, 800, false),
    (
        "desk-try",
        "/try?url=%2Farticles%2F2026%2Ftides&user_agent=GPTBot%2F1.2&site={site}",
        1120,
        1060,
        true,
    ),
    ("desk-phone", "/violations?path=/private/prices", PHONE, 844, false),
];

#[test]
#[ignore = "takes the pictures again"]
fn take() {
    let desks = Desks::start();
    let Some(mut tab) = Tab::open(&desks.busy) else { return };
    tab.go("/violations?crawler=GPTBot&path=/articles/");
    let id = tab.text("document.querySelector('tbody a').pathname.split('/').pop()");
    for (name, path, width, height, is_dark) in PICTURES {
        tab.look(width, is_dark);
        tab.go(&path.replace("{id}", &id).replace("{site}", SITE));
        let picture = tab.picture(width, height);
        let file = Path::new(FOLDER).join(format!("{name}.png"));
        std::fs::write(file, picture).expect("the folder is writable");
    }
}

#[test]
fn the_pictures_are_small() {
    let files = std::fs::read_dir(FOLDER).expect("the folder is there");
    let pictures = files.map(|file| file.expect("a file").path());
    let pictures = pictures.filter(|path| path.extension().is_some_and(|end| end == "png"));
    let mut count = 0;
    for picture in pictures {
        let bytes = std::fs::metadata(&picture).expect("a file").len();
        assert!((1..=MOST_BYTES).contains(&bytes), "{}: {bytes} bytes", picture.display());
        count += 1;
    }
    assert_eq!(count, PICTURES.len(), "each is taken by this test");
}
