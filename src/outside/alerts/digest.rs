//! Events that are collected for one mail, in a file beside the database.
//!
//! Each line is an event: its second, and its text. An event in the file is done for the fleet: this node
//! sends it, after a restart too.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::outside::mail::Letter;

use super::{
    chats,
    event::{Event, Message},
};

/// The most events of one mail. Then it does not wait.
const MOST: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Digest {
    file: PathBuf,
    every: Duration,
}

impl Digest {
    pub(super) fn beside(database: &Path, key: &str, every: Duration) -> Self {
        let mut file = database.as_os_str().to_owned();
        file.push(format!(".alerts-{key}"));
        Self { file: file.into(), every }
    }

    pub(super) fn add(&self, event: &Event) -> io::Result<()> {
        let line = serde_json::json!([event.at.as_second(), chats::letter_text(event)]);
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.file)?;
        writeln!(file, "{line}")?;
        file.sync_data()
    }

    pub(super) fn due(&self, to: &[String]) -> Option<Letter> {
        let lines = fs::read_to_string(&self.file).ok()?;
        let events = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
        let events: Vec<(i64, String)> = events.collect();
        let age = Timestamp::now().as_second().saturating_sub(events.first()?.0);
        if events.len() < MOST && age < i64::try_from(self.every.as_secs()).ok()? {
            return None;
        }
        let texts: Vec<String> = events.into_iter().map(|(_, text)| text).collect();
        let subject = match texts.len() {
            1 => "Beadle: 1 event".to_owned(),
            several => format!("Beadle: {several} events"),
        };
        let text = texts.join("\n");
        Some(Letter { id: Message::new_id(), to: to.to_vec(), subject, text, html: None })
    }

    pub(super) fn clear(&self) {
        if let Err(error) = fs::remove_file(&self.file) {
            tracing::error!(file = %self.file.display(), %error, "a digest may be sent again");
        }
    }
}
