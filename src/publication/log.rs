//! The log lines of the publisher about rulebooks.

use crate::{
    diagnostic::Diagnostic,
    enforce::{Probed, Rulebook},
};

use super::change::InForce;

/// Logs the problems of a rulebook.
pub(super) fn log_problems(in_force: &InForce) {
    for finding in &in_force.findings {
        let finding = format!("{finding:#}");
        tracing::error!(finding, "robots.txt not published: the last good one stays in force");
    }
    for site in in_force.rulebook.sites() {
        let editions = site.timeline.summed_up();
        if editions > 0 {
            tracing::info!(
                site = site.name,
                editions,
                "robots.txt changes often: a path that any of its older editions allows is allowed \
                 to crawlers that may use one of them"
            );
        }
    }
}

/// Logs the failed tests of a policy that is in force.
pub(super) fn log_failures(failures: &[Diagnostic]) {
    for finding in failures {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
}

/// Logs what the origins of a site answered about the forms of paths.
pub(super) fn log_probed(site: &str, probed: &Probed) {
    let path = probed.probe.path.as_str();
    match &probed.found {
        Ok(found) => tracing::info!(site, path, %found, "the origin was asked for forms of paths"),
        Err(why) => tracing::warn!(
            site,
            path,
            why,
            "the origin was asked for forms of paths in vain: all forms count"
        ),
    }
}

/// Logs the edition of each site that had another one `before`.
pub(super) fn log_editions(before: Option<&Rulebook>, after: &Rulebook) {
    for site in after.sites() {
        let of_name = |book: &Rulebook| {
            let same = book.sites().iter().find(|other| other.name == site.name);
            same.map(|other| other.edition().id())
        };
        let edition = site.edition().id();
        if before.and_then(of_name) != Some(edition) {
            let (source, is_provisional) = (site.source.as_str(), site.edition().is_provisional());
            tracing::info!(
                site = site.name,
                %edition,
                source,
                is_provisional,
                "robots.txt in force"
            );
        }
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
    use crate::{
        enforce::{Chronicle, Moment},
        policy::Policy,
    };

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
        let mut in_force = InForce::first(policy, HashMap::new(), Chronicle::default(), moment);
        in_force.findings.push(Diagnostic::error("robots.too_large", "it has 600 KiB"));
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || log_problems(&in_force));
        let text = String::from_utf8(lines.0.lock().expect("no writer panics").clone());
        let text = text.expect("UTF-8");
        for part in ["ERROR", "robots.txt not published", "it has 600 KiB"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
