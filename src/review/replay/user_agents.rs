//! The User-Agents of logs: the fields of their requests, and those of people.
//!
//! A browser that names no crawler is judged by no rule, whatever it requests. So its second request
//! to a host needs no gate.

use hashbrown::HashMap;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The User-Agents that are kept. Beyond, all are forgotten.
const KEPT: usize = 16_384;
const KEPT_HOSTS: usize = 4_096;

/// The User-Agents of logs.
#[derive(Debug, Default)]
pub(super) struct Clients {
    known: HashMap<Vec<u8>, Known>,
    hosts: HashMap<Box<[u8]>, u32>,
    /// The host of the last request, with its number.
    last: (Box<[u8]>, u32),
}

/// What is known about a User-Agent.
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
