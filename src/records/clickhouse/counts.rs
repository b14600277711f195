//! Counts by hour: read into memory hour by hour, where something changed, or asked for as sums.
//!
//! Each row has the whole count of one run so far, and counts only grow within a run. So the greatest
//! count of a run is its last one, also while the server has not yet merged earlier rows away.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    condition::{self, Conditions},
    reader::Reader,
};
use crate::{
    base::text::Text,
    records::{
        counts::{Counted, Dimension, Gathered, Part, Question, Referral, SeriesTexts, Table},
        record::{Error, Obstacle, Overflow},
        tally::{FORM, PlaceKind},
    },
};

/// The most hours of one answer: a week.
const MOST_HOURS: usize = 7 * 24;

/// The counts of some hours, while they are read.
type Hours = BTreeMap<i64, Gathered>;

impl Reader {
    /// Reads the hours of the question that are not in memory, or that changed.
    pub(crate) fn read(
        &self,
        counts: &mut Table,
        part: Part,
        question: &Question,
    ) -> Result<(), Error> {
        let sql = "SELECT hour, toInt64(bitShiftRight(sum(cityHash64(node, run, last)), 1)) \
                   AS version FROM (SELECT hour, node, run, max(batch) AS last \
                   FROM counted_hours GROUP BY hour, node, run) GROUP BY hour ORDER BY hour";
        let hours: Vec<(i64, i64)> = self.all(sql)?;
        let missing = counts.missing(part, &hours, question);
        for some in missing.chunks(MOST_HOURS) {
            let mut found: Hours =
                some.iter().map(|(hour, _)| (*hour, Gathered::default())).collect();
            let conditions = condition::of_hours(found.keys());
            match part {
                Part::Requests => self.read_requests(counts, &mut found, &conditions)?,
                Part::Places => self.read_places(counts, &mut found, &conditions)?,
            }
            for hour in some {
                counts.take_in(part, *hour, found.remove(&hour.0).unwrap_or_default());
            }
        }
        Ok(())
    }

    fn read_requests(
        &self,
        counts: &mut Table,
        found: &mut Hours,
        conditions: &Conditions,
    ) -> Result<(), Error> {
        let sql = format!(
            "SELECT hour, series, sum(r) AS requests, sum(f) AS folded, sum(d) AS dropped FROM \
             (SELECT hour, series, max(requests) AS r, max(folded) AS f, max(dropped) AS d \
             FROM counts{conditions} GROUP BY hour, series, node, run) GROUP BY hour, series"
        );
        let rows: Vec<(i64, i64, u64, u64, u64)> = self.all(&sql)?;
        if rows.iter().any(|row| counts.series.find(row.1).is_none()) {
            self.learn(counts, conditions)?;
        }
        for (hour, series, requests, folded, dropped) in rows {
            if let (Some(hour), Some(series)) = (found.get_mut(&hour), counts.series.find(series)) {
                hour.add(series, requests);
                hour.add_unrecorded(series, folded, dropped);
            }
        }
        Ok(())
    }

    fn learn(&self, counts: &mut Table, conditions: &Conditions) -> Result<(), Error> {
        let sql = format!(
            "SELECT series, [any(site), any(class), any(product_token), any(purpose), \
             any(standing), any(verdict), any(action), any(reason), any(read_state), \
             any(robots_edition), any(robots_directive), any(robots_pattern)] AS texts, \
             any(robots_line) AS line FROM counts{conditions} GROUP BY series"
        );
        for (series, texts, line) in self.all::<(i64, Vec<String>, u32)>(&sql)? {
            let mut found = SeriesTexts { line, ..SeriesTexts::default() };
            for (value, text) in found.kind.iter_mut().chain(&mut found.rule).zip(&texts) {
                *value = text;
            }
            counts.series.add(series, &found);
        }
        Ok(())
    }

    fn read_places(
        &self,
        counts: &mut Table,
        found: &mut Hours,
        conditions: &Conditions,
    ) -> Result<(), Error> {
        let sql = format!(
            "SELECT hour, kind, site, product_token, place, sum(v) AS violations FROM \
             (SELECT hour, kind, site, product_token, place, max(violations) AS v \
             FROM places{conditions} GROUP BY hour, kind, site, product_token, place, node, run) \
             GROUP BY hour, kind, site, product_token, place"
        );
        type Row = (i64, String, String, String, String, u64);
        for (hour, kind, site, product_token, place, violations) in self.all::<Row>(&sql)? {
            // Rows of another version's kind are not ours to count.
            if let (Some(kind), Some(hour)) = (PlaceKind::of_word(&kind), found.get_mut(&hour)) {
                hour.add(counts.place(kind, [&site, &product_token, &place]), violations);
            }
        }
        Ok(())
    }

    pub(crate) fn first_counted_hour(&self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT hour FROM counted_hours ORDER BY hour LIMIT 1";
        self.one(sql)?.map(|hour| self.time(hour)).transpose()
    }

    pub(crate) fn unrecorded(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        let mut conditions = condition::of_question(question);
        conditions.require_name("product_token", question.product_token.as_ref());
        conditions.require_name("purpose", question.purpose.as_ref());
        question.claimant.into_iter().for_each(|one| conditions.require(one.condition()));
        conditions.require("(folded > 0 OR dropped > 0)");
        conditions.require(format_args!("reason != '{FORM}'"));
        let sql = format!(
            "SELECT action, sum(f) AS folded, sum(d) AS dropped FROM \
             (SELECT action, max(folded) AS f, max(dropped) AS d FROM counts{conditions} \
             GROUP BY hour, series, action, node, run) GROUP BY action ORDER BY action"
        );
        Ok(self.all(&sql)?.into_iter().map(Counted::unrecorded).collect())
    }

    pub(crate) fn people(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        let by = question.by_of_people();
        let period = |length: i64| format!("intDiv(hour, {length}) * {length}");
        let values = by.iter().map(|dimension| match dimension.period() {
            Some(length) => format!("toString({})", period(length)),
            None => "any(site)".to_owned(),
        });
        let groups = by.iter().map(|dimension| match dimension.period() {
            Some(length) => period(length),
            None => "lower(site)".to_owned(),
        });
        let [values, groups] =
            [values.collect::<Vec<_>>(), groups.collect()].map(|all| all.join(", "));
        let conditions = condition::of_question(question);
        let grouping = match groups.is_empty() {
            true => String::new(),
            false => format!(" GROUP BY {groups} ORDER BY {groups}"),
        };
        let values =
            if by.is_empty() { "emptyArrayString()".into() } else { format!("[{values}]") };
        let sql = format!(
            "SELECT {values} AS keys, sum(r) AS requests FROM \
             (SELECT hour, site, max(requests) AS r FROM people{conditions} \
             GROUP BY hour, site, node, run){grouping}"
        );
        let rows: Vec<(Vec<String>, u64)> = self.all(&sql)?;
        let rows = rows.into_iter().filter(|(_, requests)| *requests > 0);
        rows.map(|(keys, requests)| {
            let keys = by.iter().zip(keys).map(|(dimension, key)| self.key(*dimension, key));
            let key = keys.collect::<Result<_, _>>()?;
            Ok(Counted { key, requests, ..Counted::default() })
        })
        .collect()
    }

    pub(crate) fn referrals(&self, question: &Question) -> Result<Vec<Referral>, Error> {
        let conditions = condition::of_question(question);
        let sql = format!(
            "SELECT any(o) AS operator, any(s) AS site, sum(v) AS visits FROM \
             (SELECT operator AS o, site AS s, max(visits) AS v FROM referrals{conditions} \
             GROUP BY hour, site, operator, node, run) \
             GROUP BY lower(o), lower(s) ORDER BY visits DESC, lower(o), lower(s)"
        );
        let rows = self.all(&sql)?.into_iter();
        Ok(rows.map(|(operator, site, visits)| Referral { operator, site, visits }).collect())
    }

    pub(crate) fn overflow(&self) -> Result<Vec<Overflow>, Error> {
        let sql = "SELECT site, product_token, rule, sum(c) AS count, min(f) AS first, \
                   max(l) AS last FROM (SELECT site, product_token, rule, max(count) AS c, \
                   min(first) AS f, max(last) AS l FROM overflow \
                   GROUP BY site, product_token, rule, node, run, batch) \
                   GROUP BY site, product_token, rule \
                   ORDER BY count DESC, site, product_token, rule";
        let rows: Vec<(Text, Text, Text, u64, i64, i64)> = self.all(sql)?;
        rows.into_iter()
            .map(|(site, product_token, rule, count, first, last)| {
                let (first, last) = (self.time(first)?, self.time(last)?);
                Ok(Overflow { site, product_token, rule, count, first, last })
            })
            .collect()
    }

    /// The value of a key: a period by the time of its start.
    fn key(&self, dimension: Dimension, key: String) -> Result<Text, Error> {
        if dimension.period().is_none() {
            return Ok(Text::read_back(key));
        }
        let hour = key.parse().map_err(|_| self.unreadable("an hour is no number"))?;
        Ok(Text::from(self.time(hour)?.to_string()))
    }

    pub(super) fn time(&self, millisecond: i64) -> Result<Timestamp, Error> {
        Timestamp::from_millisecond(millisecond).map_err(|_| self.unreadable("a time is none"))
    }

    pub(super) fn unreadable(&self, why: &str) -> Error {
        let address = self.client.address();
        let sentence =
            format!("'{address}' has rows that are not Beadle's: {why} (restore a copy)");
        Error { path: address.into(), obstacle: Obstacle::Server(sentence) }
    }
}
