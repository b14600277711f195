//! The input of a verb: files and standard input, read up to a limit.
//!
//! A wrong name or an endless stream costs a sentence, never the memory.

use std::{
    fs::File,
    io::{self, BufRead, IsTerminal, Read, Write},
    path::Path,
};

use crate::{
    base::escape,
    program::console::exit::{Error, refuse},
    state::publication,
};

/// The longest line, in octets. Every header line and User-Agent that a server accepts fits.
const MAX_LINE: u64 = 1 << 20;
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// The whole file, up to `most` octets.
pub(crate) fn read_file(file: &Path, most: usize) -> Result<Vec<u8>, Error> {
    let refused = |error| refusal(&escape::path(file), &error);
    let bytes = publication::read_file(file, most).map_err(refused)?;
    if bytes.len() > most {
        return Err(too_large(&escape::path(file), most));
    }
    Ok(bytes)
}

/// All that an input has, up to `most` octets.
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
