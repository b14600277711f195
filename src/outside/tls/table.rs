//! The certificates of a listener by name.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use rustls::{
    SignatureScheme,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use super::pair::Pair;

/// The certificates of a listener by name. One name may have several, of different kinds of keys.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// `www.example.com`, or `.example.com` for `*.example.com`.
    by_name: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// For clients without a name, or with an unknown one.
    first: Option<Arc<CertifiedKey>>,
}

impl Table {
    /// The first of several certificates for one name wins.
    pub(super) fn of<'p>(pairs: impl IntoIterator<Item = &'p Pair>) -> Self {
        let mut table = Self::default();
        for pair in pairs {
            table.first.get_or_insert_with(|| Arc::clone(&pair.key));
            for name in &pair.names {
                table.by_name.entry(name.clone()).or_default().push(Arc::clone(&pair.key));
            }
        }
        table
    }

    /// The certificate for a name: of that very name, else of a star in place of its first label, else
    /// the first one. A key that the client can't verify gives way to another one for the name.
    fn find(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<&Arc<CertifiedKey>> {
        let lower = name.map(str::to_ascii_lowercase);
        let exact = lower.as_deref().and_then(|name| self.by_name.get(name));
        let keys = exact.or_else(|| {
            let name = lower.as_deref()?;
            self.by_name.get(&name[name.find('.')?..])
        });
        let keys = keys.map_or(&[][..], Vec::as_slice);
        let usable = keys.iter().find(|one| one.key.choose_scheme(schemes).is_some());
        usable.or_else(|| keys.first()).or(self.first.as_ref())
    }
}

/// The choice of a certificate in a handshake. Its table is swapped whole.
#[derive(Debug, Default)]
pub struct Resolver(ArcSwap<Table>);

impl Resolver {
    pub(super) fn swap(&self, table: Table) {
        self.0.store(Arc::new(table));
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load().find(hello.server_name(), hello.signature_schemes()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::stand_in::for_hosts, *};

    #[test]
    fn a_name_finds_its_certificate() {
        let pairs = [
            &["first.example"][..],
            &["www.example.com", "example.com"],
            &["*.example.com"],
            &["example.com"],
        ];
        let pairs = pairs.map(|hosts| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            for_hosts(&hosts).expect("a pair")
        });
        let table = Table::of(&pairs);
        let schemes = [SignatureScheme::ECDSA_NISTP256_SHA256];
        for (name, expected) in [
            (Some("www.example.com"), 1),
            (Some("WWW.Example.com"), 1),
            (Some("example.com"), 1),
            (Some("shop.example.com"), 2),
            (Some("a.shop.example.com"), 0),
            (Some("com"), 0),
            (Some("other.example"), 0),
            (None, 0),
        ] {
            let found = table.find(name, &schemes).expect("a certificate");
            assert!(Arc::ptr_eq(found, &pairs[expected].key), "{name:?}");
        }
        // A client that knows no such key gets one all the same: the handshake then names the reason.
        assert!(table.find(Some("example.com"), &[SignatureScheme::ED25519]).is_some());
        assert!(Table::default().find(None, &schemes).is_none());
    }
}
