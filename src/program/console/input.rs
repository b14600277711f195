//! The input of a verb: files, standard input and pages of the web, read up to a limit; rules of any program
//! from each of them.
//!
//! A wrong name or an endless stream costs a sentence, never the memory.

use std::{
    fs::File,
    io::{self, BufRead, IsTerminal, Read, Write},
    path::Path,
};

use crate::{
    base::{
        escape,
        fetch::page::{self, Page, is_url},
    },
    program::console::{
        control_runtime,
        output::{Error, refuse},
    },
    state::publication,
};

/// The longest line, in octets. Every header line and User-Agent that a server accepts fits.
const MAX_LINE: u64 = 1 << 20;
pub(crate) const STANDARD_INPUT: &str = "standard input";

pub(crate) fn read_file(file: &Path, most: usize) -> Result<Vec<u8>, Error> {
    let refused = |error| refusal(&escape::path(file), &error);
    let bytes = publication::read_file(file, most).map_err(refused)?;
    if bytes.len() > most {
        return Err(too_large(&escape::path(file), most));
    }
    Ok(bytes)
}

pub(crate) fn read(input: impl Read, name: &str, most: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = input.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| refusal(name, &error))?;
    if bytes.len() > most {
        return Err(too_large(name, most));
    }
    Ok(bytes)
}

pub(crate) fn open(file: &Path) -> Result<File, Error> {
    publication::open_file(file).map_err(|error| refusal(&escape::path(file), &error))
}

/// The lines of an input as bytes, without the line end.
pub(crate) fn lines(
    mut input: impl BufRead,
    name: &str,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
    let mut number = 0;
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        number += 1;
        match input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line) {
            Err(error) => return Some(Err(refusal(name, &error))),
            Ok(0) => return None,
            Ok(_) => {}
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.len() as u64 > MAX_LINE {
            let what = "a line of more than 1 MiB (check that this is the right input)";
            return Some(refuse(format!("{name}:{number}: {what}")));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Ok(line))
    })
}

pub(crate) fn refusal(name: &str, error: &io::Error) -> Error {
    Error::Refused(format!("{name}: {error}"))
}

/// The refusal of an input that is larger than `most` octets.
pub(crate) fn too_large(name: &str, most: usize) -> Error {
    let most = most >> 20;
    Error::Refused(format!("{name}: larger than {most} MiB (check that this is the right input)"))
}

pub(crate) fn agrees(question: &str) -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        let hint = "say --yes";
        return refuse(format!("nothing is written: no terminal to ask on ({hint})"));
    }
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The largest robots.txt, in octets. It is far more than any crawler reads, so that an author sees where
/// crawlers stop.
pub(crate) const MAX_ROBOTS_TXT: usize = 16 << 20;

/// Fetches pages, one after the other. What failed is a sentence.
pub(crate) fn pages(
    urls: &[String],
    user_agent: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Page, String>>, Error> {
    let found = control_runtime()?.block_on(page::pages(urls, user_agent, most));
    let found = found.map_err(|error| Error::Output(io::Error::other(error)))?;
    let sentence = |(url, found): (&String, Result<Page, _>)| {
        found.map_err(|failure| format!("{}: {failure}", escape::shown(url)))
    };
    Ok(urls.iter().zip(found).map(sentence).collect())
}

/// The bytes of a robots.txt. `from` is a file, `-` or a URL; a URL without a path is that of a site.
pub(crate) fn robots_txt(from: &str) -> Result<Vec<u8>, Error> {
    match from {
        "-" => read(io::stdin().lock(), STANDARD_INPUT, MAX_ROBOTS_TXT),
        url if is_url(url) => fetched(url),
        file => read_file(Path::new(file), MAX_ROBOTS_TXT),
    }
}

/// The robots.txt of a site, as RFC 9309 §2.3.1 reads the answer: no rules where there is none.
fn fetched(url: &str) -> Result<Vec<u8>, Error> {
    let url = page::robots_url(url);
    let mut pages = pages(std::slice::from_ref(&url), None, MAX_ROBOTS_TXT)?;
    let page = pages.pop().unwrap_or_else(|| Err(url.clone())).map_err(Error::Refused)?;
    match page.status {
        200..=299 => Ok(page.body),
        400..=499 => Ok(Vec::new()),
        status => {
            let url = escape::shown(&url);
            refuse(format!("{url}: status {status} (crawlers read it as closed)"))
        }
    }
}
