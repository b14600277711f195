//! Rules of any program, such as a robots.txt: from a file, from standard input or from a site.

use std::{io, path::Path};

use super::web;
use crate::{
    base::fetch::page::is_url,
    program::console::{
        exit::Error,
        input::{self, STANDARD_INPUT},
    },
};

/// The largest file, in octets. It is far more than any crawler reads, so that an author sees where
/// crawlers stop.
const MOST: usize = 16 << 20;

/// The bytes of a robots.txt. `from` is a file, `-` or a URL; a URL without a path is that of a site.
pub(crate) fn read(from: &str) -> Result<Vec<u8>, Error> {
    if from == "-" {
        return input::read(io::stdin().lock(), STANDARD_INPUT, MOST);
    }
    if is_url(from) {
        return web::robots_txt(from, MOST);
    }
    input::read_file(Path::new(from), MOST)
}
