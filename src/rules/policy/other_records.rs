//! The `records` of a group or of a site: lines of robots.txt that are no rules.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots,
};

use super::{fields::Fields, places::Spot, yaml::Value};

/// Reads `records`, a list of `Name: value`, with the places of their names; `in_group` for those of
/// a group.
pub(super) fn read(fields: &Fields<'_>, in_group: bool) -> Vec<(Spot, robots::Record)> {
    let mut records = Vec::new();
    for item in fields.list("records") {
        if let Value::Text(text) = &item.node.value {
            let message = format!("'{}' is not a name with a value", shown(text));
            item.refuse(message, "write '- Name: value'");
            continue;
        }
        for (key, at) in item.entries() {
            let Some(value) = at.as_written() else { continue };
            match robots::Record::new(&key.text, &value) {
                Ok(record) => {
                    if let Some(finding) = record.check(in_group) {
                        at.add(finding);
                    }
                    records.push((Spot { line: key.line, column: key.column }, record));
                }
                Err(finding) => {
                    let is_rule = ["allow", "disallow", "user-agent"]
                        .iter()
                        .any(|name| key.text.eq_ignore_ascii_case(name));
                    let finding = if is_rule {
                        finding.help("write it as a group: 'groups' with 'user_agents' and rules")
                    } else {
                        finding
                    };
                    let message = format!("{}: {}", at.path, finding.message);
                    at.sink.push(Diagnostic { message, ..finding.at(key.line, key.column) });
                }
            }
        }
    }
    records
}
