//! The types of settings, and how each is read.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;
use jiff::Timestamp;

use crate::{
    base::diagnostic::Diagnostic,
    formats::robots::{Access, Steps},
    rules::{
        crawlers::{Class, Kind, Outcome},
        keys::Shape,
    },
};

use super::{duration, shape::At, size, yaml};

pub(super) trait Setting: Sized {
    /// Reads a value of the shape that the table has for it; a finding if it is none.
    fn read(at: &At<'_>) -> Option<Self>;
}

/// Types whose values are the words of the table.
macro_rules! by_word {
    ($($type:ty),+ $(,)?) => {$(
        impl crate::rules::policy::setting::Setting for $type {
            fn read(at: &crate::rules::policy::shape::At<'_>) -> Option<Self> {
                let word = at.word()?;
                Some(Self::from_word(word).expect("the table has the words of the type"))
            }
        }
    )+};
}
pub(super) use by_word;

by_word!(Access, Class, Kind, Outcome);

/// Whole numbers, and sizes in octets.
macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl Setting for $type {
            fn read(at: &At<'_>) -> Option<Self> {
                match at.shape {
                    Shape::Integer(least, most) => at.integer(*least..=*most)?.try_into().ok(),
                    _ => at.measure(("size", "2GiB"), size::parse)?.try_into().ok(),
                }
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, usize);

impl Setting for &'static str {
    fn read(at: &At<'_>) -> Option<Self> {
        at.word()
    }
}

impl Setting for bool {
    fn read(at: &At<'_>) -> Option<Self> {
        at.boolean()
    }
}

impl Setting for String {
    fn read(at: &At<'_>) -> Option<Self> {
        at.text().map(str::to_owned)
    }
}

impl Setting for Duration {
    fn read(at: &At<'_>) -> Option<Self> {
        at.measure(("time", "30s"), duration::parse)
    }
}

impl Setting for Timestamp {
    fn read(at: &At<'_>) -> Option<Self> {
        let help = "write a time with its zone, for example 2026-12-04T14:00:00Z";
        at.parsed(|text| text.parse().ok(), "is no time", help)
    }
}

impl Setting for Steps {
    fn read(at: &At<'_>) -> Option<Self> {
        let word = at.word()?;
        Self::NAMED.into_iter().find(|(name, _)| *name == word).map(|(_, step)| step)
    }
}

impl Setting for PathBuf {
    fn read(at: &At<'_>) -> Option<Self> {
        let text = at.text()?;
        if text.is_empty() || text.contains('\0') {
            return at.refused("not a file name", "name a file");
        }
        Some(Self::from(text))
    }
}

impl Setting for SocketAddr {
    fn read(at: &At<'_>) -> Option<Self> {
        if let yaml::Value::Integer(port) = at.node.value {
            let message = format!("{port} is not an address with a port");
            return at.refused(message, format!("write for example 0.0.0.0:{port}"));
        }
        let help = "write for example 127.0.0.1:8080 or '[::]:8080'";
        at.parsed(|text| text.parse().ok(), "is not an address with a port", help)
    }
}

impl Setting for IpNet {
    fn read(at: &At<'_>) -> Option<Self> {
        let parse =
            |text: &str| text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(Self::from));
        let help = "write for example 10.0.0.0/8 or 192.0.2.7";
        let parsed = at.parsed(parse, "is neither an address nor a network", help);
        if parsed.is_some_and(|network: Self| network.prefix_len() == 0) {
            let message = "every client is trusted, so any client can fake its address";
            let help = "name the addresses of the proxies in front";
            at.add(Diagnostic::warning("policy.trusts_everybody", message).help(help));
        }
        parsed
    }
}
