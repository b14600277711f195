//! The entries of a section, read as the table of keys has them, and the types of settings.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;
use jiff::Timestamp;

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, text::Word},
    formats::robots::{Pace, Steps},
    rules::keys::{self, Absent, Section, Shape},
};

use super::{
    findings::{Sink, closest, contained},
    shape::{At, join},
    units::{self, Share},
    yaml::{Key, Node, Spot, Value},
};

/// What stands for a section that is not there.
static NOTHING: Node = Node { value: Value::Null, spot: Spot { line: 0, column: 0 } };

/// The entries of a mapping, taken by name.
pub(super) struct Fields<'n> {
    pub(super) at: At<'n>,
    section: &'static Section,
    entries: &'n [(Key, Node)],
    /// Whether the value is that of the first key, in place of a mapping.
    is_short: bool,
}

impl<'n> At<'n> {
    /// The entries of a mapping, each key one of the section. Where the table has another shape beside the
    /// section, any other value stands for that of the first key.
    pub(super) fn fields(&self) -> Option<Fields<'n>> {
        let is_short = !self.is_map() && matches!(self.shape, Shape::Either(_));
        let entries = if is_short { &[] } else { self.nodes()? };
        let section = section_of(self.shape);
        for (key, _) in entries.iter().filter(|(key, _)| !section.has(&key.text)) {
            self.sink.push_at(key.spot, unknown_key(&self.path, &key.text, section));
        }
        Some(Fields { at: self.clone(), section, entries, is_short })
    }
}

fn section_of(shape: &Shape) -> &'static Section {
    shape.sections().first().expect("readers ask for keys where the table has a section")
}

/// What a section has under a key: a setting, one that may be absent, a list of them, or a section.
pub(super) trait Entry: Sized {
    fn of(fields: &Fields<'_>, key: &str) -> Self;
}

impl<T: Setting> Entry for T {
    fn of(fields: &Fields<'_>, key: &str) -> Self {
        fields.get_with(key, T::read)
    }
}

impl<T: Setting> Entry for Option<T> {
    fn of(fields: &Fields<'_>, key: &str) -> Self {
        fields.read(key, T::read)
    }
}

impl<T: Setting> Entry for Vec<T> {
    fn of(fields: &Fields<'_>, key: &str) -> Self {
        fields.each(key, T::read)
    }
}

/// A section whose fields have the names of its keys. The table of keys says what each is for, and what
/// stands for it if it is absent. `key: Type = each(read)` reads the key with that method of [`Fields`].
/// With its table, `Name: TABLE`, the struct has the section's defaults.
macro_rules! section {
    (
        $(#[$of_all:meta])*
        pub struct $name:ident $(: $table:ident)? $(($with:ident: $of:ty))? {
            $($(#[$of_one:meta])* $vis:vis $key:ident: $type:ty $(= $how:ident($read:expr))?,)+
        }
    ) => {
        $(#[$of_all])*
        pub struct $name { $($(#[$of_one])* $vis $key: $type,)+ }

        impl $name {
            pub(in crate::rules::policy) fn read(
                fields: &crate::rules::policy::fields::Fields<'_>,
                $($with: $of)?
            ) -> Self {
                Self { $($key: section!(@value fields, $key $(, $how($read))?)),+ }
            }
        }

        $(
            impl Default for $name {
                fn default() -> Self {
                    crate::rules::policy::fields::defaults(&crate::rules::keys::$table, Self::read)
                }
            }
        )?
    };
    (@value $fields:ident, $key:ident) => { $fields.get(stringify!($key)) };
    (@value $fields:ident, $key:ident, $how:ident($read:expr)) => {
        $fields.$how(stringify!($key), $read)
    };
}
pub(super) use section;

/// What `read` makes of a section without entries: the default of each key.
pub(super) fn defaults<T>(section: &'static Section, read: impl FnOnce(&Fields<'_>) -> T) -> T {
    let (sink, shape) = (Sink::default(), &Shape::Boolean);
    let at = At { node: &NOTHING, path: String::new(), shape, sink: &sink };
    read(&Fields { at, section, entries: &[], is_short: false })
}

impl<'n> Fields<'n> {
    fn key(&self, name: &str) -> &'static keys::Key {
        self.section.key(name).expect("readers ask for keys of the table")
    }

    fn value(&self, key: &str, node: &'n Node) -> At<'n> {
        let (path, shape) = (join(&self.at.path, key), &self.key(key).shape);
        At { node, path, shape, sink: self.at.sink }
    }

    pub(super) fn take(&self, key: &str) -> Option<At<'n>> {
        debug_assert!(self.section.has(key), "{key} is no key of {}", self.section.path);
        if self.is_short {
            let first = self.section.keys.first().filter(|first| first.name == key)?;
            return Some(At { shape: &first.shape, ..self.at.clone() });
        }
        let (_, node) = self.entries.iter().find(|(k, _)| k.text == key)?;
        Some(self.value(key, node))
    }

    /// The entries of the section under `key`. One that is absent, or of another type, has none, so each of
    /// its keys has its default.
    pub(super) fn section(&self, key: &str) -> Self {
        self.read(key, At::fields).unwrap_or_else(|| {
            let at = self.value(key, &NOTHING);
            Self { section: section_of(at.shape), at, entries: &[], is_short: false }
        })
    }

    /// The items of the list `key`; none where it is absent.
    pub(super) fn list(&self, key: &str) -> Vec<At<'n>> {
        self.take(key).map_or_else(Vec::new, |at| at.items())
    }

    /// The value of `key`; its absence is a finding.
    pub(super) fn require(&self, key: &str, help: &str) -> Option<At<'n>> {
        let found = self.take(key);
        // A misspelt key has been reported already, with this one as its repair.
        let is_misspelt = || {
            self.entries.iter().any(|(other, _)| closest(&other.text, [key].into_iter()).is_some())
        };
        if found.is_none() && !is_misspelt() {
            let message = format!("'{}' is missing", join(&self.at.path, key));
            self.at.push(Diagnostic::error("policy.missing_key", message).help(help));
        }
        found
    }

    /// The value of `key`, as `read` reads it; its absence is a finding.
    pub(super) fn required<T>(
        &self,
        key: &str,
        help: &str,
        read: impl FnOnce(&At<'n>) -> Option<T>,
    ) -> Option<T> {
        read(&self.require(key, help)?)
    }

    pub(super) fn read<T>(&self, key: &str, read: impl FnOnce(&At<'n>) -> Option<T>) -> Option<T> {
        read(&self.take(key)?)
    }

    /// What `read` makes of the section, for a key that says something only with others.
    pub(super) fn by<T>(&self, _key: &str, read: impl FnOnce(&Self) -> T) -> T {
        read(self)
    }

    /// What `read` makes of the section under `key`, if there is one.
    pub(super) fn within<T>(&self, key: &str, read: impl FnOnce(&Self) -> T) -> Option<T> {
        self.read(key, |at| Some(read(&at.fields()?)))
    }

    /// The items of the list `key`, or of its default in the table, as `read` reads them.
    pub(super) fn each<T>(&self, key: &str, read: impl FnMut(&At<'_>) -> Option<T>) -> Vec<T> {
        let default = self.default(key).filter(|_| self.take(key).is_none());
        let items = match &default {
            Some(node) => At { node, ..self.value(key, &NOTHING) }.items(),
            None => self.list(key),
        };
        items.iter().filter_map(read).collect()
    }

    /// What stands under `key`, or its default in the table.
    pub(super) fn get<T: Entry>(&self, key: &str) -> T {
        T::of(self, key)
    }

    /// The value of `key`, or its default in the table, as `read` reads them.
    pub(super) fn get_with<T>(&self, key: &str, read: impl Fn(&At<'_>) -> Option<T>) -> T {
        let default = || read(&At { node: &self.default(key)?, ..self.value(key, &NOTHING) });
        let found = self.take(key).and_then(|at| read(&at)).or_else(default);
        found.expect("the table has a default of this type")
    }

    fn default(&self, key: &str) -> Option<Node> {
        let Absent::Value(text) = self.key(key).absent else { return None };
        let value = match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(items) => Value::List(items.split(", ").map(scalar).collect()),
            None => scalar(text).value,
        };
        Some(Node { value, ..NOTHING })
    }
}

fn scalar(text: &str) -> Node {
    let value = match (text.parse(), text.parse()) {
        (Ok(switch), _) => Value::Bool(switch),
        (_, Ok(number)) => Value::Integer(number),
        _ => Value::Text(text.trim_matches('"').to_owned()),
    };
    Node { value, ..NOTHING }
}

fn unknown_key(path: &str, key: &str, section: &Section) -> Diagnostic {
    let message = format!("unknown key '{}'", join(path, key));
    let known = section.names();
    let below = section.below().find(|(_, section)| section.has(key));
    let help = match (closest(key, known.iter().copied()), below) {
        (Some(name), _) => format!("did you mean '{name}'?"),
        (None, Some((name, _))) => format!("it belongs into '{name}'"),
        (None, None) => match (section.home_of(key), contained(key, &known)) {
            (Some(home), _) => format!("it belongs into '{}'", home.path),
            (None, Some(name)) => format!("did you mean '{name}'?"),
            (None, None) => format!("the keys here are {}", known.join(", ")),
        },
    };
    Diagnostic::error("policy.unknown_key", message).help(help)
}

pub(super) trait Setting: Sized {
    /// Reads a value of the shape that the table has for it; a finding if it is none.
    fn read(at: &At<'_>) -> Option<Self>;
}

/// One of the words that the table has.
impl<W: Word> Setting for W {
    fn read(at: &At<'_>) -> Option<Self> {
        Some(Self::named(at.word()?).expect("the table has the words of the type"))
    }
}

/// Whole numbers, and sizes in octets.
macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl Setting for $type {
            fn read(at: &At<'_>) -> Option<Self> {
                match at.shape {
                    Shape::Integer(least, most) => at.integer(*least..=*most)?.try_into().ok(),
                    _ => at.measure(("size", "2GiB"), units::size)?.try_into().ok(),
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
        match at.node.value {
            Value::Bool(is) => Some(is),
            _ => at.mistyped("true or false"),
        }
    }
}

impl Setting for String {
    fn read(at: &At<'_>) -> Option<Self> {
        at.text().map(str::to_owned)
    }
}

impl Setting for Duration {
    fn read(at: &At<'_>) -> Option<Self> {
        at.measure(("time", "30s"), units::duration)
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
        if let Value::Integer(port) = at.node.value {
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

impl Setting for Share {
    fn read(at: &At<'_>) -> Option<Self> {
        let message = match &at.node.value {
            Value::Integer(n) => format!("{n} has no '%'"),
            Value::Float(n) => format!("{n} has no '%'"),
            _ => {
                let text = at.text()?;
                match Self::parse(text) {
                    Some(share) => return Some(share),
                    None => format!("'{}' is not a share", shown(text)),
                }
            }
        };
        at.refused(message, "write a percentage from 0.1% to 100%, for example 10%")
    }
}

impl Setting for Pace {
    fn read(at: &At<'_>) -> Option<Self> {
        let message = match &at.node.value {
            Value::Integer(n) => format!("{n} is not a pace"),
            Value::Float(n) => format!("{n} is not a pace"),
            _ => {
                let text = at.text()?;
                match Self::parse(text) {
                    Some(pace) => return Some(pace),
                    None if is_too_fast(text) => {
                        format!("'{}' is faster than a thousand requests a second", shown(text))
                    }
                    None => format!("'{}' is not a pace", shown(text)),
                }
            }
        };
        at.refused(message, "write requests and a time, for example 1/10s or 10/1m")
    }
}

/// Whether it would be a pace with fewer requests.
fn is_too_fast(text: &str) -> bool {
    text.split_once('/').is_some_and(|(requests, time)| {
        let is_number = requests.bytes().all(|b| b.is_ascii_digit());
        let is_some = requests.bytes().any(|b| b != b'0');
        is_number && is_some && Pace::parse(&format!("1/{time}")).is_some()
    })
}
