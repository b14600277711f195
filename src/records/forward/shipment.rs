//! Frames on their way: their rows by table, sent piece by piece.
//!
//! A piece that was taken is not sent again. A piece with a row that the server refuses is halved until
//! the row stands alone.

use std::{collections::VecDeque, time::Duration};

use crate::records::{
    clickhouse::{Attempt, Client, Error, Insert, Table},
    spool::Waiting,
};

pub(super) const DEADLINE: Duration = Duration::from_secs(30);
/// How often rows are refused before the one at fault is looked for.
const TRIES: u32 = 3;

/// Frames on their way.
#[derive(Debug)]
pub(super) struct Shipment {
    pub(super) frames: Vec<Waiting>,
    pieces: VecDeque<Piece>,
}

#[derive(Debug)]
struct Piece {
    insert: Insert,
    attempt: Attempt,
    tries: u32,
}

#[derive(Debug)]
pub(super) enum Progress {
    /// The server took a piece with this number of records.
    Took(u64),
    /// A piece has a row at fault, and was halved.
    Halved,
    /// The server refuses this row for ever.
    Refused(Insert, Error),
    Done,
}

impl Shipment {
    pub(super) fn new(frames: Vec<Waiting>) -> Self {
        let is_old = frames.iter().any(|frame| frame.is_old);
        let attempt = if is_old { Attempt::Again } else { Attempt::First };
        let mut rows = Table::ALL.map(|table| (table, Vec::new()));
        for frame in frames.iter().filter(|frame| !frame.is_damaged) {
            let table = rows.iter_mut().find(|(table, _)| table.number() == frame.kind);
            if let Some((_, rows)) = table {
                rows.extend_from_slice(&frame.bytes);
            }
        }
        let full = rows.into_iter().filter(|(_, rows)| !rows.is_empty());
        let piece = |(table, rows)| Piece { insert: Insert { table, rows }, attempt, tries: 0 };
        Self { pieces: full.map(piece).collect(), frames }
    }

    pub(super) fn send(&mut self, client: &Client) -> Result<Progress, Error> {
        let Some(Piece { insert, attempt, tries }) = self.pieces.front_mut() else {
            return Ok(Progress::Done);
        };
        let sent = client.insert(insert, *attempt, DEADLINE);
        *attempt = Attempt::Again;
        match sent {
            Ok(()) => {
                let records = if insert.table == Table::Violations { insert.len() } else { 0 };
                self.pieces.pop_front();
                Ok(Progress::Took(records))
            }
            Err(error) if error.is_about_rows() && *tries + 1 >= TRIES => match insert.halves() {
                Some(halves) => {
                    let tries = *tries;
                    self.pieces.pop_front();
                    for insert in halves.into_iter().rev() {
                        self.pieces.push_front(Piece { insert, attempt: Attempt::Again, tries });
                    }
                    Ok(Progress::Halved)
                }
                None => {
                    let refused = insert.clone();
                    Ok(Progress::Refused(refused, error))
                }
            },
            Err(error) => {
                *tries += u32::from(error.is_about_rows());
                Err(error)
            }
        }
    }

    pub(super) fn skip(&mut self) {
        self.pieces.pop_front();
    }
}
