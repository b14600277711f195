//! Questions to the counts by hour. What programs requested is answered from memory
//! ([`counts`](crate::records::counts)), where the hours that a question needs are read once.

use jiff::Timestamp;
use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::{
    connection::Store,
    values::{self, Conditions},
};
use crate::{
    base::text::Text,
    records::{
        counts::{
            Counted, CountsInMemory, Dimension, Gathered, Part, Place, Question, Referral,
            SeriesTexts, Table,
        },
        record::{Error, Overflow},
        tally::{FORM, PlaceKind},
    },
};

const HOURS: &str = "SELECT hour, version FROM counted_hours ORDER BY hour";
const COUNTS: &str = "SELECT series, requests, folded, dropped FROM rollups WHERE hour = ?";
const SERIES: &str = "SELECT site, class, product_token, purpose, standing, verdict, action, reason, \
    read_state, robots_edition, robots_directive, robots_pattern, robots_line FROM series WHERE id = ?";
const PLACES: &str =
    "SELECT kind, site, product_token, place, violations FROM rollup_places WHERE hour = ?";

impl Store {
    /// Answers questions to the counts from these, and keeps in them what has to be read.
    #[must_use]
    pub fn sharing(mut self, counts: &CountsInMemory) -> Self {
        self.counts = counts.clone();
        self
    }

    /// The requests of crawlers and other programs, ordered by key. Combinations without a request
    /// are absent.
    pub fn counted(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        self.answer(Part::Requests, question, |counts| counts.counted(question))
    }

    /// The first hour with requests that the question asks for. Its `by` does not count.
    pub fn first_hour(&self, question: &Question) -> Result<Option<Timestamp>, Error> {
        self.answer(Part::Requests, question, |counts| counts.first_hour(question))
    }

    /// The first hour that has counts, whatever they count. No hour is read for it.
    pub fn first_counted_hour(&self) -> Result<Option<Timestamp>, Error> {
        if let Some(shared) = &self.shared {
            return shared.first_counted_hour();
        }
        let hours =
            self.all("SELECT min(hour) FROM counted_hours", [], |row| values::moment(row, 0))?;
        Ok(hours.into_iter().flatten().next())
    }

    /// The paths or networks with the most violations, most first. The question's `by` and
    /// `purpose` don't count here.
    pub fn places(
        &self,
        kind: PlaceKind,
        question: &Question,
        limit: usize,
    ) -> Result<Vec<Place>, Error> {
        self.answer(Part::Places, question, |counts| counts.places(kind, question, limit))
    }

    fn answer<T>(
        &self,
        part: Part,
        question: &Question,
        answer: impl FnOnce(&mut Table) -> T,
    ) -> Result<T, Error> {
        let mut counts = self.counts.lock();
        match &self.shared {
            Some(shared) => shared.read(&mut counts, part, question)?,
            None => read(&self.connection, &mut counts, part, question)
                .map_err(|error| self.failure(error))?,
        }
        Ok(answer(&mut counts))
    }

    /// The violations without a record by action, as far as there are any. The question's `by` does not
    /// count here.
    pub fn unrecorded(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        if let Some(shared) = &self.shared {
            return shared.unrecorded(question);
        }
        let mut conditions = conditions(question);
        conditions.require("product_token = ?", question.product_token.clone().map(Value::Text));
        conditions.require("purpose = ?", question.purpose.clone().map(Value::Text));
        conditions.require("reason <> ?", Some(Value::Text(FORM.to_owned())));
        question.claimant.iter().for_each(|one| conditions.add(one.condition()));
        // The index is for these rows alone.
        let sql = format!(
            "SELECT action, sum(folded), sum(dropped) FROM rollups JOIN series ON id = series{} \
             AND (folded > 0 OR dropped > 0) GROUP BY action",
            conditions.text
        );
        self.all(&sql, params_from_iter(conditions.values), |row| {
            Ok(Counted::unrecorded((row.get(0)?, values::count(row, 1)?, values::count(row, 2)?)))
        })
    }

    /// The requests of people, by [`Dimension::Site`], [`Dimension::Hour`] or [`Dimension::Day`].
    pub fn people(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        if let Some(shared) = &self.shared {
            return shared.people(question);
        }
        let by = question.by_of_people();
        let expressions: Vec<_> = by
            .iter()
            .map(|dimension| match dimension.period() {
                Some(length) => format!("hour - hour % {length}"),
                None => "site".to_owned(),
            })
            .collect();
        let conditions = conditions(question);
        let (keys, grouping) = match expressions.join(", ") {
            none if none.is_empty() => (String::new(), String::new()),
            keys => (format!("{keys}, "), format!(" GROUP BY {keys} ORDER BY {keys}")),
        };
        let sql = format!(
            "SELECT {keys}ifnull(sum(requests), 0) FROM people{}{grouping}",
            conditions.text
        );
        let mut counted = self.all(&sql, params_from_iter(conditions.values), |row| {
            let keys = by.iter().enumerate().map(|(at, one)| value(*one, row, at));
            Ok(Counted {
                key: keys.collect::<rusqlite::Result<_>>()?,
                requests: values::count(row, by.len())?,
                ..Counted::default()
            })
        })?;
        counted.retain(|one| one.requests > 0);
        Ok(counted)
    }

    /// The visits of people by operator and site, most first.
    pub fn referrals(&self, question: &Question) -> Result<Vec<Referral>, Error> {
        if let Some(shared) = &self.shared {
            return shared.referrals(question);
        }
        let conditions = conditions(question);
        let sql = format!(
            "SELECT operator, site, sum(visits) AS visits FROM referrals{} \
             GROUP BY operator, site ORDER BY visits DESC, operator, site",
            conditions.text
        );
        self.all(&sql, params_from_iter(conditions.values), |row| {
            Ok(Referral {
                operator: row.get(0)?,
                site: row.get(1)?,
                visits: values::count(row, 2)?,
            })
        })
    }

    /// The overflow of all runs, the highest count first.
    pub fn overflow(&self) -> Result<Vec<Overflow>, Error> {
        if let Some(shared) = &self.shared {
            return shared.overflow();
        }
        let sql = "SELECT site, product_token, rule, sum(count), min(first), max(last) \
                   FROM overflow GROUP BY site, product_token, rule \
                   ORDER BY sum(count) DESC, site, product_token, rule";
        self.all(sql, [], |row| {
            Ok(Overflow {
                site: row.get(0)?,
                product_token: row.get(1)?,
                rule: row.get(2)?,
                count: values::count(row, 3)?,
                first: values::time(row, 4)?,
                last: values::time(row, 5)?,
            })
        })
    }
}

/// The hours and the site of a question.
fn conditions(question: &Question) -> Conditions {
    let mut conditions = Conditions::default();
    let [first, until] = question.hours();
    conditions.require("hour >= ?", Some(Value::Integer(first)));
    conditions.require("hour < ?", Some(Value::Integer(until)));
    conditions.require("site = ?", question.site.clone().map(Value::Text));
    conditions
}

/// Reads the hours of the span that are not in memory, or that changed.
fn read(
    connection: &Connection,
    counts: &mut Table,
    part: Part,
    question: &Question,
) -> rusqlite::Result<()> {
    // What is read in one transaction belongs together.
    let snapshot = connection.unchecked_transaction()?;
    let hours: Vec<(i64, i64)> = snapshot
        .prepare_cached(HOURS)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for hour in counts.missing(part, &hours, question) {
        let found = match part {
            Part::Requests => requests(&snapshot, counts, hour.0)?,
            Part::Places => places(&snapshot, counts, hour.0)?,
        };
        counts.take_in(part, hour, found);
    }
    snapshot.finish()
}

fn requests(connection: &Connection, counts: &mut Table, hour: i64) -> rusqlite::Result<Gathered> {
    let mut gathered = Gathered::default();
    let mut statement = connection.prepare_cached(COUNTS)?;
    let mut unknown = connection.prepare_cached(SERIES)?;
    let mut rows = statement.query([hour])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let series = match counts.series.find(id) {
            Some(series) => series,
            None => unknown.query_row([id], |row| {
                let mut texts = SeriesTexts { line: row.get(12)?, ..SeriesTexts::default() };
                for (at, value) in texts.kind.iter_mut().chain(&mut texts.rule).enumerate() {
                    *value = text(row, at)?;
                }
                Ok(counts.series.add(id, &texts))
            })?,
        };
        gathered.add(series, values::count(row, 1)?);
        gathered.add_unrecorded(series, values::count(row, 2)?, values::count(row, 3)?);
    }
    Ok(gathered)
}

fn places(connection: &Connection, counts: &mut Table, hour: i64) -> rusqlite::Result<Gathered> {
    let mut gathered = Gathered::default();
    let mut statement = connection.prepare_cached(PLACES)?;
    let mut rows = statement.query([hour])?;
    while let Some(row) = rows.next()? {
        // Rows of another program's kind are not ours to count.
        let Some(kind) = PlaceKind::of_word(text(row, 0)?) else { continue };
        let place = counts.place(kind, [text(row, 1)?, text(row, 2)?, text(row, 3)?]);
        gathered.add(place, values::count(row, 4)?);
    }
    Ok(gathered)
}

fn text<'a>(row: &'a Row<'_>, at: usize) -> rusqlite::Result<&'a str> {
    Ok(row.get_ref(at)?.as_str()?)
}

fn value(dimension: Dimension, row: &Row<'_>, at: usize) -> rusqlite::Result<Text> {
    match dimension {
        Dimension::Hour | Dimension::Day => Ok(Text::from(values::time(row, at)?.to_string())),
        _ => row.get(at),
    }
}

#[cfg(test)]
mod tests;
