//! The log lines of the publisher about rulebooks.

use crate::enforce::{self, Moment, Rulebook};

use super::change::InForce;

/// Logs the problems of a rulebook.
pub(super) fn log_problems(in_force: &InForce, moment: Moment) {
    for finding in &in_force.findings {
        let finding = format!("{finding:#}");
        tracing::error!(finding, "robots.txt not published: the last good one stays in force");
    }
    let start = |site: &enforce::Site| moment.start_of(site.cache_window);
    for site in in_force.rulebook.sites() {
        if site.timeline.forgotten().is_some_and(|until| until > start(site)) {
            tracing::warn!(
                site = site.name,
                "robots.txt changes too often: rules are not enforced for crawlers that may use a \
                 forgotten edition"
            );
        }
    }
    for site in in_force.rulebook.sites().iter().filter(|site| site.edition().is_provisional()) {
        tracing::error!(
            site = site.name,
            origin = %site.origin,
            "origin robots.txt unknown: its rules are not enforced until it is fetched"
        );
    }
}

/// Logs the sites with a changed robots.txt.
pub(super) fn log_changes(before: &Rulebook, after: &Rulebook) {
    let pairs = after.sites().iter().zip(before.sites());
    let changed = pairs.filter(|(now, before)| now.edition().id() != before.edition().id());
    let sites: Vec<&str> = changed.map(|(now, _)| now.name.as_str()).collect();
    if !sites.is_empty() {
        let sites = sites.join(", ");
        tracing::info!(sites, "robots.txt changed");
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        io,
        sync::{Arc, Mutex},
    };

    use jiff::Timestamp;

    use super::*;
    use crate::{diagnostic::Diagnostic, policy::Policy};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_finding_against_an_edition_is_an_error() {
        let text = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }]";
        let policy = Arc::new(text.parse::<Policy>().unwrap());
        let moment = Moment::at(Timestamp::UNIX_EPOCH);
        let mut in_force =
            InForce::first(policy, HashMap::new(), HashMap::new(), moment.now, moment);
        in_force.findings.push(Diagnostic::error("robots.too_large", "it has 600 KiB"));
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || log_problems(&in_force, moment));
        let text = String::from_utf8(lines.0.lock().expect("no writer panics").clone());
        let text = text.expect("UTF-8");
        for part in ["ERROR", "robots.txt not published", "it has 600 KiB"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
