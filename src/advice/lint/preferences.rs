//! Permissions to use what may not be fetched: `Content-Signal: search=yes` under `Disallow: /`.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::{
        robots::{Pattern, Record},
        usage::{Carrier, Preference, Statement, split_path},
    },
};

use super::{findings::Findings, subject::Subject};

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    for (group, places) in subject.file.groups.iter().zip(&subject.places) {
        for (record, at) in group.records.iter().zip(&places.records) {
            let Some((path, permission)) = permission(record) else { continue };
            let Ok(pattern) = Pattern::new(path) else { continue };
            let mut names = group.user_agents.iter().map(|one| one.name.trim());
            let scope = match names.next() {
                Some("*") => subject.matcher.star(),
                Some(name) => subject.matcher.group(name),
                None => None,
            };
            let Some(rule) = scope.and_then(|scope| subject.is_closed(scope, &pattern)) else {
                continue;
            };
            let message = format!(
                "'{}: {}' permits a use ({}) of pages that {} closes",
                shown(&record.name),
                shown(&record.value),
                permission,
                rule.rule.quoted_with_line()
            );
            let finding = Diagnostic::note("lint.unusable_permission", message)
                .help("allow the paths, or remove the permission");
            findings.add(*at, Diagnostic { severity: subject.severity(), ..finding });
        }
    }
}

/// The path and the first permission of a preference record.
fn permission(record: &Record) -> Option<(&str, String)> {
    let carrier = Carrier::named(&record.name)?;
    let (path, said) = split_path(record.value.trim());
    let stated = carrier.read(said.as_bytes());
    let (category, said) = stated.stated().find(|(_, said)| *said == Preference::Allow)?;
    let permission = Statement::default().with(category, Some(said));
    Some((path.unwrap_or("/"), carrier.write(&permission)?))
}
