//! The policy of a server at its start: a file, one on a web server, or the last good copy of that.

use tokio::runtime::Runtime;

use crate::{
    base::diagnostic::{Diagnostic, Severity},
    outside::remote::{Document, Failure, Remote},
    program::console::{
        config::{ConfigFile, after_trial, fetch, last_good, read_document, read_now},
        exit::Error,
    },
    rules::policy::Policy,
};

pub(crate) struct AtStart {
    pub(crate) policy: Policy,
    pub(crate) findings: Vec<Diagnostic>,
    /// Where the policy comes from, unless from a file, and the document that it is.
    pub(crate) remote: Option<(Remote, Document)>,
}

impl AtStart {
    /// Reads the policy and runs its tests. Without a good policy on the server, this is the last good
    /// copy, and the log says why.
    pub(crate) fn load(config: &ConfigFile, runtime: &Runtime) -> Result<Self, Error> {
        let Some(mut remote) = config.remote()? else {
            let (policy, findings) = after_trial(read_now(config)?, &config.name())?;
            return Ok(Self { policy, findings, remote: None });
        };
        let fetched: Result<Document, Failure> = runtime.block_on(fetch(&mut remote));
        let why = match fetched {
            Err(failure) => vec![failure.finding(remote.name())],
            Ok(document) => match of(&remote, &document) {
                Ok((policy, findings)) => {
                    return Ok(Self { policy, findings, remote: Some((remote, document)) });
                }
                Err(Error::Findings(findings)) => findings,
                Err(other) => return Err(other),
            },
        };
        let document = last_good(&remote, why.clone())?;
        let (policy, findings) = of(&remote, &document)?;
        for finding in why.iter().filter(|one| one.severity == Severity::Error) {
            let finding = format!("{finding:#}");
            tracing::error!(finding, "policy refused");
        }
        let copy = remote.copy.file.display();
        tracing::error!(
            policy = policy.shown_fingerprint(), %copy,
            "no good policy on the server: the last good copy is in force"
        );
        // The next fetch must find the broken policy again, so that it counts as refused.
        let remote = config.remote()?.unwrap_or(remote);
        Ok(Self { policy, findings, remote: Some((remote, document)) })
    }
}

fn of(remote: &Remote, document: &Document) -> Result<(Policy, Vec<Diagnostic>), Error> {
    after_trial(read_document(remote, document), remote.name())
}
