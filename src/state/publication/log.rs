//! The log lines of the publisher about rulebooks.

use crate::{
    base::diagnostic::Diagnostic,
    rules::enforce::{Probed, Rulebook},
};

pub(super) fn log_problems(rulebook: &Rulebook) {
    for site in rulebook.sites() {
        if let Some(finding) = &site.finding {
            let finding = format!("{finding:#}");
            tracing::error!(
                site = site.name,
                finding,
                "origin robots.txt not merged as a whole with the policy"
            );
        }
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

pub(super) fn log_failures(failures: &[Diagnostic]) {
    for finding in failures {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
}

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

/// Logs the edition of each site that had another one `before`. A substitute that clients get is an
/// error.
pub(super) fn log_editions(before: Option<&Rulebook>, after: &Rulebook) {
    for site in after.sites() {
        let of_name = |book: &Rulebook| {
            let same = book.sites().iter().find(|other| other.name == site.name);
            same.map(|other| other.edition().id())
        };
        let edition = site.edition().id();
        if before.and_then(of_name) == Some(edition) {
            continue;
        }
        let (source, is_provisional) = (site.source.as_str(), site.edition().is_provisional());
        let (site, is_withheld) = (&site.name, site.is_withheld);
        match is_provisional && !is_withheld {
            true => tracing::error!(
                site, %edition, source,
                "robots.txt in force without the origin's rules: they are unknown for a day"
            ),
            false => tracing::info!(site, %edition, source, is_provisional, "robots.txt in force"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use jiff::Timestamp;

    use super::*;
    use crate::{
        formats::robots::OriginFile,
        rules::{enforce::History, policy::Policy},
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

    /// The lines that `logged` writes about a site that merges this file of its origin.
    fn lines_about(file: Option<OriginFile>, logged: impl FnOnce(&Rulebook)) -> String {
        let text = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
                    robots_txt: { source: merge } }]";
        let policy = text.parse::<Policy>().unwrap();
        let origins = file.map(|file| ("a.example".to_owned(), file)).into_iter().collect();
        let mut history = History { origins, ..History::after(None, Timestamp::UNIX_EPOCH) };
        let rulebook = Rulebook::compile_with(&policy, &mut history);
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || logged(&rulebook));
        let text = String::from_utf8(lines.0.lock().expect("no writer panics").clone());
        text.expect("UTF-8")
    }

    #[test]
    fn a_merge_that_leaves_something_out_is_an_error_of_its_site() {
        let rules: Vec<_> = (0..20_000).map(|n| format!("Disallow: /some/path/{n}/\n")).collect();
        let file = OriginFile::Present(format!("User-agent: *\n{}", rules.concat()).into());
        let text = lines_about(Some(file), log_problems);
        for part in ["ERROR", "not merged as a whole", "a.example", "left out", "500 KiB"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn a_substitute_is_an_error_unless_it_is_withheld() {
        let logged = |book: &Rulebook| log_editions(None, book);
        let text = lines_about(None, logged);
        assert!(text.contains("ERROR") && text.contains("without the origin's rules"), "{text}");
        assert!(lines_about(Some(OriginFile::Unknown), logged).contains("INFO"));
    }
}
