//! The rows of logs, judged by the gate of the proxy.
//!
//! A browser that names no crawler is judged by no rule, whatever it requests. So its second request
//! to a host needs no gate.

use std::io;

use derive_more::From;
use hashbrown::HashMap;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use jiff::Timestamp;

use super::{
    basis::{Basis, Rules},
    batch::{Batch, Row},
    merge::{Item, Logs},
    totals::{Changes, Client, Tally, Verdict},
};
use crate::{
    base::diagnostic::Diagnostic,
    records::{
        record::{Error, Violation},
        tally::Claimant,
    },
    rules::enforce::Moment,
    serving::gate::{self, Past, Refusal, Request},
};

/// The User-Agents whose claims are kept: 5 MB.
const KEPT_CLAIMS: usize = 16_384;

pub(crate) type TakeRecord<'a> = dyn FnMut(&Violation) -> io::Result<()> + 'a;

#[derive(Debug, From)]
pub(crate) enum Stop {
    /// A log can't be read or judged, for this reason.
    #[from]
    Log(String),
    /// The record of a violation can't be written.
    Output(io::Error),
}

#[derive(Debug)]
pub(crate) struct Judge {
    rules: Rules,
    /// Another policy on the same requests.
    against: Option<(Rules, Changes)>,
    host: Option<String>,
    needs_host: bool,
    clients: Clients,
    /// The time of the last row. The time of a judgement never goes back.
    now: i64,
    tally: Tally,
}

impl Judge {
    /// A judgement by `basis`, and by another one to compare. `host` is the host of lines without one.
    /// The findings are those about files of origins.
    pub(crate) fn new(
        basis: Basis,
        against: Option<Basis>,
        host: Option<String>,
    ) -> Result<(Self, Vec<Diagnostic>), Error> {
        let needs_host = !basis.has_default();
        let host = host.or_else(|| basis.only_host());
        let (rules, mut findings) = basis.rules()?;
        let against = against.map(Basis::rules).transpose()?;
        let against = against.map(|(rules, found)| {
            findings.extend(found);
            (rules, Changes::default())
        });
        let judge = Self {
            tally: Tally::of(rules.site_names()),
            rules,
            against,
            host,
            needs_host,
            clients: Clients::default(),
            now: i64::MIN,
        };
        Ok((judge, findings))
    }

    /// Judges logs to their end. `record` gets each violation; without it none is made. `progress` is
    /// called now and then.
    pub(crate) fn run(
        mut self,
        mut logs: Logs,
        mut record: Option<&mut TakeRecord<'_>>,
        mut progress: impl FnMut(&Logs, u64),
    ) -> Result<(Tally, Option<Changes>), Stop> {
        gate::keep_claims(KEPT_CLAIMS);
        let names = logs.names();
        let name = |log: usize| names.get(log).map_or("", String::as_str);
        loop {
            let more = logs.step(&mut |item| match item {
                Item::Batch(batch, log) => {
                    self.tally.add_lines(batch, name(log));
                    Ok(())
                }
                Item::Row(batch, row, log) => self.row(batch, row, name(log), &mut record),
            })?;
            progress(&logs, self.tally.lines);
            if !more {
                return Ok((self.tally, self.against.map(|(_, changes)| changes)));
            }
        }
    }

    fn row(
        &mut self,
        batch: &Batch,
        row: &Row,
        log: &str,
        record: &mut Option<&mut TakeRecord<'_>>,
    ) -> Result<(), Stop> {
        self.tally.late += u64::from(row.time < self.now);
        self.now = self.now.max(row.time);
        let now = Timestamp::from_microsecond(self.now).unwrap_or(Timestamp::MIN);
        let moment = Moment::at(now);
        if self.rules.advance(now) {
            self.clients.forget_people();
        }
        let authority = match row.host.is_some() {
            true => Some(batch.get(row.host)),
            false => self.host.as_deref().map(str::as_bytes),
        };
        if authority.is_none() && self.needs_host {
            let line = row.line;
            return Err(Stop::Log(format!(
                "{log}:{line}: the line has no host, and the policy has several sites (name the one \
                 of such lines with --site)"
            )));
        }
        let host = self.clients.host(authority);
        let client = self.clients.of(batch.get(row.user_agent));
        let target = batch.get(row.target);
        if client.person_at == host && self.against.is_none() && target != b"*" {
            self.tally.add_person(now);
            return Ok(());
        }
        let own_fields;
        let fields = match row.forwarded_for.is_some() {
            false => &client.fields,
            true => {
                own_fields = forwarded(&client.fields, batch.get(row.forwarded_for));
                &own_fields
            }
        };
        let method = Method::from_bytes(batch.get(row.method)).unwrap_or_default();
        let request = Request {
            method: &method,
            target,
            authority,
            is_http_1_0: authority.is_none(),
            fields,
            peer: row.client,
            is_tls: false,
        };
        let (tally, status) = (&mut self.tally, row.status);
        let mut outcome = Verdict::NotJudged;
        let mut written = Ok(());
        let (mut is_person, mut claimant) = (false, Claimant::default());
        let judged = self.rules.gate.replay(&request, moment, status, |past| {
            outcome = Verdict::of(&past);
            is_person = past.is_person();
            claimant = claimant_of(&past);
            tally.add(&past, outcome, request.target, now);
            if let Some(record) = record
                && let Some(counted) = &past.counted
                && let Some(mut violation) = counted.violation()
            {
                violation.status = status;
                written = record(&violation);
            }
        });
        if let Err(refusal) = judged {
            self.tally.refuse(code(refusal), (log, row.line), batch.get(row.host));
        }
        written.map_err(Stop::Output)?;
        if let Some((rules, changes)) = &mut self.against {
            rules.advance(now);
            // A request that the other policy refuses is of no site there.
            let _ = rules.gate.replay(&request, moment, status, |past| {
                let after = Verdict::of(&past);
                if after != outcome {
                    let key = past.counted.as_ref().map(|counted| &counted.key);
                    let (site, name) = key.map_or(("", ""), |key| (key.site, key.product_token));
                    // Only one of the policies may have the evidence.
                    let claimant = claimant.max(claimant_of(&past));
                    let client = Client { name, claimant };
                    changes.add(site, client, (outcome, after), request.target);
                }
            });
        }
        if is_person {
            client.person_at = host;
        }
        Ok(())
    }
}

/// Who a request counts for.
fn claimant_of(past: &Past<'_>) -> Claimant {
    let counted = past.counted.as_ref();
    Claimant::of(counted.map_or("", |counted| counted.key.standing))
}

const fn code(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::UnknownHost => "unknown_host",
        Refusal::BadHost => "host",
        _ => "target",
    }
}

/// The User-Agents that are kept. Beyond, all are forgotten.
const KEPT: usize = 16_384;
const KEPT_HOSTS: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Clients {
    known: HashMap<Vec<u8>, Known>,
    hosts: HashMap<Box<[u8]>, u32>,
    /// The host of the last request, with its number.
    last: (Box<[u8]>, u32),
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) fields: HeaderMap,
    /// The number of the host for which it is a person; 0 for none.
    pub(super) person_at: u32,
}

impl Clients {
    pub(super) fn of(&mut self, user_agent: &[u8]) -> &mut Known {
        if self.known.len() >= KEPT && !self.known.contains_key(user_agent) {
            self.known.clear();
        }
        self.known.entry_ref(user_agent).or_insert_with(|| {
            let mut fields = HeaderMap::new();
            if !user_agent.is_empty() {
                fields.insert(header::USER_AGENT, value(user_agent));
            }
            Known { fields, person_at: 0 }
        })
    }

    /// The number of a host; an absent one has a number, too.
    pub(super) fn host(&mut self, authority: Option<&[u8]>) -> u32 {
        let authority = authority.unwrap_or_default();
        if *self.last.0 == *authority && self.last.1 > 0 {
            return self.last.1;
        }
        if self.hosts.len() >= KEPT_HOSTS {
            self.forget_people();
        }
        let next = u32::try_from(self.hosts.len()).unwrap_or_default() + 1;
        let number = *self.hosts.entry(authority.into()).or_insert(next);
        self.last = (authority.into(), number);
        number
    }

    /// Forgets who is a person: the names of crawlers may be others now.
    pub(super) fn forget_people(&mut self) {
        self.known.values_mut().for_each(|known| known.person_at = 0);
        self.hosts.clear();
        self.last = Default::default();
    }
}

/// The fields with another one, for a client behind proxies.
pub(super) fn forwarded(fields: &HeaderMap, forwarded_for: &[u8]) -> HeaderMap {
    let mut fields = fields.clone();
    fields.insert(HeaderName::from_static("x-forwarded-for"), value(forwarded_for));
    fields
}

/// A field value. Control characters, which no server takes, are left out.
fn value(octets: &[u8]) -> HeaderValue {
    HeaderValue::from_bytes(octets).unwrap_or_else(|_| {
        let kept: Vec<u8> = octets.iter().copied().filter(|b| *b >= b' ' && *b != 127).collect();
        HeaderValue::from_bytes(&kept).unwrap_or_else(|_| HeaderValue::from_static(""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_known_for_one_host_until_it_is_forgotten() {
        let mut clients = Clients::default();
        let [one, other, none] =
            [Some(&b"a.example"[..]), Some(b"b.example"), None].map(|host| clients.host(host));
        assert!(one != other && other != none && one != none);
        assert_eq!(clients.host(Some(b"a.example")), one);
        assert_eq!(clients.of(b"Firefox").person_at, 0);
        clients.of(b"Firefox").person_at = one;
        assert_eq!(clients.of(b"Firefox").person_at, one);
        clients.forget_people();
        let again = clients.host(Some(b"b.example"));
        assert_ne!(clients.of(b"Firefox").person_at, again);
    }

    #[test]
    fn the_number_of_kept_texts_is_bounded() {
        let mut clients = Clients::default();
        for number in 0..KEPT + 10 {
            let text = format!("Agent/{number}");
            let known = clients.of(text.as_bytes());
            assert_eq!(known.fields.get("user-agent").expect("it has one"), &text);
            clients.host(Some(text.as_bytes()));
        }
        assert!(clients.known.len() <= KEPT && clients.hosts.len() <= KEPT_HOSTS);
        assert_eq!(value(b"a\x01b\x7f"), "ab");
    }
}
