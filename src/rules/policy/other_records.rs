//! The `records` of a group or of a site: lines of robots.txt that are no rules.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots,
};

use super::{fields::Fields, findings::Findings, places::Spot, shape::At, yaml::Value};

/// Reads `records`, a list of `Name: value`, with the places of their names; `in_group` for those of
/// a group.
pub(super) fn read(
    fields: &Fields<'_>,
    in_group: bool,
    findings: &mut Findings,
) -> Vec<(Spot, robots::Record)> {
    let mut records = Vec::new();
    for item in fields.take("records").map_or_else(Vec::new, |at| at.items(findings)) {
        if let Value::Text(text) = &item.node.value {
            let message = format!("'{}' is not a name with a value", shown(text));
            findings.refuse(&item, message, "write '- Name: value'");
            continue;
        }
        for (key, node) in item.entries(findings).unwrap_or_default() {
            let at = At { node, path: format!("{}.{}", item.path, shown(&key.text)) };
            let Some(value) = at.as_written(findings) else { continue };
            match robots::Record::new(&key.text, &value) {
                Ok(record) => {
                    if let Some(finding) = record.check(in_group) {
                        findings.add(&at, finding);
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
                    findings.push(Diagnostic { message, ..finding.at(key.line, key.column) });
                }
            }
        }
    }
    records
}
