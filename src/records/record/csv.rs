//! CSV of records (RFC 4180): a header, then one record a line.
//!
//! A spreadsheet takes a cell that begins like a formula for one. Clients choose the bytes of many
//! fields, so such a cell gets an apostrophe in front, which makes it a text.

use crate::{
    base::text::Text,
    records::record::{COLUMNS, Value, Violation, time},
};

/// What makes a spreadsheet take a cell for a formula; some fold full-width signs into these.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// The names of the fields of a record, in their order.
pub fn fields() -> impl Iterator<Item = String> {
    COLUMNS.split(", ").map(|column| {
        let parts = ["robots_read_", "robots_"].into_iter();
        let mut inner = parts.filter_map(|part| Some((part, column.strip_prefix(part)?)));
        match inner.next() {
            Some((part, field)) => format!("{}.{field}", part.trim_end_matches('_')),
            None => column.to_owned(),
        }
    })
}

/// Appends the line of a record. Lists are joined by spaces; a field without a value is empty.
pub fn push(lines: &mut Vec<u8>, violation: &Violation) {
    push_row(lines, cells(violation));
}

/// The cells of a record, in the order of [`fields`].
pub fn cells(violation: &Violation) -> [String; 27] {
    violation.values().map(|value| match value {
        Value::Nothing => String::new(),
        Value::Number(number) => number.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Time(at) => time::text(at),
        Value::Word(word) => word.to_owned(),
        Value::List(texts) => texts.iter().map(Text::as_str).collect::<Vec<_>>().join(" "),
    })
}

/// Appends a line with these cells.
pub fn push_row(lines: &mut Vec<u8>, cells: impl IntoIterator<Item = impl AsRef<str>>) {
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            lines.push(b',');
        }
        push_cell(lines, cell.as_ref());
    }
    lines.extend(b"\r\n");
}

fn push_cell(lines: &mut Vec<u8>, cell: &str) {
    let mark = if cell.starts_with(FORMULA) { "'" } else { "" };
    if cell.contains(['"', ',', '\r', '\n']) {
        let cell = cell.replace('"', "\"\"");
        lines.extend(format!("\"{mark}{cell}\"").bytes());
    } else {
        lines.extend(mark.bytes().chain(cell.bytes()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::records::record::tests::violation;

    /// The cells of a text, by the grammar of RFC 4180.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
        let mut rest = text.chars().peekable();
        let mut is_quoted = false;
        while let Some(c) = rest.next() {
            match c {
                '"' if is_quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
                '"' => is_quoted = !is_quoted,
                c if is_quoted => cell.push(c),
                ',' => row.push(std::mem::take(&mut cell)),
                '\r' => assert_eq!(rest.peek(), Some(&'\n'), "a bare CR"),
                '\n' => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                c => cell.push(c),
            }
        }
        assert!(!is_quoted && row.is_empty() && cell.is_empty(), "an open line");
        rows
    }

    proptest! {
        #[test]
        fn l131_no_cell_is_a_formula_and_every_cell_comes_back(
            cells in prop::collection::vec("[=+@\\-＝＋－＠a;,\" \t\r\n'\u{e9}]{0,6}", 1..5),
        ) {
            let mut lines = Vec::new();
            push_row(&mut lines, &cells);
            push_row(&mut lines, &cells);
            let text = String::from_utf8(lines).expect("text");
            let rows = parse(&text);
            prop_assert_eq!(rows.len(), 2);
            for (found, cell) in rows.iter().flatten().zip(cells.iter().chain(&cells)) {
                prop_assert!(!found.starts_with(FORMULA), "{:?}", found);
                let marked = format!("'{cell}");
                prop_assert!(found == cell || *found == marked, "{:?} {:?}", found, cell);
            }
        }
    }

    #[test]
    fn a_record_has_a_cell_for_each_field_of_its_json() {
        let value = serde_json::to_value(violation(2)).expect("a record is JSON");
        let mut lines = Vec::new();
        push(&mut lines, &violation(2));
        let row = parse(&String::from_utf8(lines).expect("text")).remove(0);
        assert_eq!(row.len(), fields().count());
        for (name, cell) in fields().zip(row) {
            let field = name.split('.').fold(&value, |value, key| &value[key]);
            let expected = match field {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(texts) => {
                    texts.iter().filter_map(|text| text.as_str()).collect::<Vec<_>>().join(" ")
                }
                other => other.to_string(),
            };
            assert_eq!(cell, expected, "{name}");
        }
        let objects = ["robots", "robots_read"];
        let keys =
            value.as_object().expect("an object").iter().flat_map(|(key, value)| {
                match value.as_object().filter(|_| objects.contains(&key.as_str())) {
                    Some(inner) => inner.keys().map(|name| format!("{key}.{name}")).collect(),
                    None => vec![key.clone()],
                }
            });
        assert!(keys.eq(fields()));
    }
}
