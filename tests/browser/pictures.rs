//! The pictures in the docs.

use std::path::Path;

use crate::{
    desks::Desks,
    tab::{PHONE, Tab},
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/images");

/// The most that the pictures weigh together.
const MOST_BYTES: u64 = 500_000;

/// Name, page, width, height, and whether it is dark.
const PICTURES: [(&str, &str, u32, u32, bool); 3] = [
    ("desk-overview", "/", 1120, 1100, false),
    ("desk-violation", "/violations/{id}", 1120, 1040, true),
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
        tab.go(&path.replace("{id}", &id));
        let picture = tab.picture(width, height);
        let file = Path::new(FOLDER).join(format!("{name}.png"));
        std::fs::write(file, picture).expect("the folder is writable");
    }
}

#[test]
fn the_pictures_are_small() {
    let files = std::fs::read_dir(FOLDER).expect("the folder is there");
    let pictures = files.map(|file| file.expect("a file").path());
    let sizes = pictures
        .filter(|path| path.extension().is_some_and(|end| end == "png"))
        .map(|path| std::fs::metadata(path).expect("a file").len());
    let all: u64 = sizes.sum();
    assert!((1..=MOST_BYTES).contains(&all), "{all} bytes");
}
