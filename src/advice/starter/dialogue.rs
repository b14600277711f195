//! The questions of a dialogue, on any input and output.

use std::io::{self, BufRead, Write};

use super::{
    preset::Preset,
    wish::{Topic, Wish},
};

pub(crate) struct Dialogue<'d> {
    pub(crate) input: &'d mut dyn BufRead,
    pub(crate) output: &'d mut dyn Write,
}

impl Dialogue<'_> {
    /// Asks; an empty answer is `usual`.
    pub(crate) fn ask(&mut self, question: &str, usual: &str) -> io::Result<String> {
        match usual {
            "" => write!(self.output, "{question}: ")?,
            _ => write!(self.output, "{question} [{usual}]: ")?,
        }
        self.output.flush()?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { usual.to_owned() } else { answer.to_owned() })
    }

    pub(crate) fn preset(&mut self, seen: Option<Preset>) -> io::Result<Option<Preset>> {
        let question =
            format!("Kind of site: {} or none", Preset::ALL.map(Preset::as_str).join(", "));
        loop {
            match Preset::read(&self.ask(&question, seen.map_or("none", Preset::as_str))?) {
                Ok(preset) => return Ok(preset),
                Err(why) => writeln!(self.output, "{why}")?,
            }
        }
    }

    /// Asks for each topic whether these crawlers may come.
    pub(crate) fn wishes(&mut self) -> io::Result<Vec<Wish>> {
        let mut wishes = Vec::new();
        for Topic { name, subject, .. } in Topic::ALL {
            loop {
                let answer = self.ask(&format!("{subject}: allow or disallow"), "allow")?;
                match Wish::read(&format!("{name}={answer}")) {
                    Ok(found) => break wishes.extend(found),
                    Err(_) => writeln!(self.output, "write allow or disallow")?,
                }
            }
        }
        Ok(wishes)
    }
}
