//! W3C extended logs (IIS) and standard logs of CloudFront: `#Fields` names the columns.

use std::borrow::Cow;

use super::{
    entry::{Entry, Fault, Parts},
    line_pattern::Value,
    time,
    unescape::percent_decoded,
};

/// The columns of a file, from its `#Fields` line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    names: Vec<Column>,
    /// Whether tabs are between them: CloudFront. It percent-encodes what others write with `+`.
    has_tabs: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    Date,
    Time,
    Of(Value),
}

impl Columns {
    /// The columns of a `#Fields` line; `None` for another line.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"#Fields:")?;
        let names: Vec<Column> = rest
            .split(|b| b" \t".contains(b))
            .filter(|name| !name.is_empty())
            .map(column)
            .collect();
        let has_tabs = memchr::memmem::find(rest, b"x-edge-location").is_some();
        Some(Self { names, has_tabs })
    }

    pub(super) fn parse<'l>(&self, line: &'l [u8]) -> Result<Entry<'l>, Fault> {
        if self.names.is_empty() {
            return Err(Fault::Fields);
        }
        let separator = if self.has_tabs { b'\t' } else { b' ' };
        let mut values = line.split(|&b| b == separator);
        let mut parts = Parts::default();
        let (mut date, mut clock) = (&b""[..], &b""[..]);
        for column in &self.names {
            let value = values.next().ok_or(Fault::Form)?;
            match column {
                Column::Date => date = value,
                Column::Time => clock = value,
                Column::Of(of @ (Value::UserAgent | Value::ForwardedFor)) => {
                    of.take(value, |text| self.unescaped(text), &mut parts)?;
                }
                Column::Of(of) => of.take(value, Cow::Borrowed, &mut parts)?,
            }
        }
        parts.time = time::iso(&[date, b"T", clock].concat());
        if parts.target.is_none() {
            return Err(Fault::Fields);
        }
        parts.entry()
    }

    fn unescaped<'l>(&self, value: &'l [u8]) -> Cow<'l, [u8]> {
        if self.has_tabs {
            return percent_decoded(value, b'%');
        }
        if !value.contains(&b'+') {
            return Cow::Borrowed(value);
        }
        // A plus sign in the field itself is lost; contact links are the usual one.
        let mut spaced: Vec<u8> = value.iter().map(|&b| if b == b'+' { b' ' } else { b }).collect();
        while let Some(at) = memchr::memmem::find(&spaced, b"  http") {
            if let Some(octet) = spaced.get_mut(at + 1) {
                *octet = b'+';
            }
        }
        Cow::Owned(spaced)
    }
}

fn column(name: &[u8]) -> Column {
    Column::Of(match name.to_ascii_lowercase().as_slice() {
        b"date" => return Column::Date,
        b"time" => return Column::Time,
        b"c-ip" => Value::Client,
        b"cs-method" => Value::Method,
        b"cs-uri-stem" => Value::Target,
        b"cs-uri-query" => Value::Query,
        // CloudFront's cs(Host) is the name of the distribution.
        b"x-host-header" | b"cs-host" => Value::Host,
        b"cs(user-agent)" => Value::UserAgent,
        b"x-forwarded-for" | b"cs(x-forwarded-for)" => Value::ForwardedFor,
        b"sc-status" => Value::Status,
        _ => Value::Skip,
    })
}
