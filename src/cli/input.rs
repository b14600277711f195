//! Standard input, line by line.

use std::io::{self, BufRead};

/// The lines of standard input as bytes, without the line end.
pub(super) fn input_lines() -> impl Iterator<Item = io::Result<Vec<u8>>> {
    io::stdin().lock().split(b'\n').map(|line| {
        line.map(|mut line| {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            line
        })
    })
}
