//! The policy as an option of a verb, read and checked, and at the start of a server: a file, one on a web
//! server, or the last good copy of that.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use tokio::runtime::Runtime;

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape,
        fetch::page::is_url,
    },
    outside::remote::{Address, Document, Failure, Fetched, PublicKey, Remote},
    program::console::{
        control_runtime, input,
        output::{Error, remark},
    },
    review::trial,
    rules::policy::Policy,
    state::publication::{self, PolicyRead},
};

/// The file of the last good copy, in the current folder.
const COPY: &str = "beadle-copy.yaml";
/// The variables for a policy on a server.
const KEY_VARIABLE: &str = "BEADLE_CONFIG_KEY";
const COPY_VARIABLE: &str = "BEADLE_CONFIG_COPY";
/// The largest file of a public key, in octets.
const MAX_KEY: usize = 16 << 10;

/// The options that name the policy. They may also stand behind a verb below the one that has them.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ConfigFile {
    /// The policy: a file, or an https:// address.
    #[arg(
        long,
        short,
        value_name = "FILE|URL",
        default_value = "beadle.yaml",
        env = "BEADLE_CONFIG",
        hide_env_values = true,
        global = true
    )]
    config: PathBuf,
    /// Public key (Ed25519) of a policy at an https:// address. The signature is at the same address
    /// with .sig at the end.
    #[arg(long, value_name = "FILE", env = KEY_VARIABLE, hide = true, global = true)]
    config_key: Option<PathBuf>,
    /// File of the last good copy of a policy at an https:// address. Relative names in the policy
    /// start at its folder.
    #[arg(long, value_name = "FILE", default_value = COPY, env = COPY_VARIABLE, hide = true,
        global = true)]
    config_copy: PathBuf,
}

impl ConfigFile {
    /// The policy of this name, with the other options from the environment.
    pub(crate) fn of(config: &Path) -> Self {
        let variable = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
        Self {
            config: config.to_owned(),
            config_key: variable(KEY_VARIABLE).map(PathBuf::from),
            config_copy: variable(COPY_VARIABLE).unwrap_or_else(|| COPY.into()).into(),
        }
    }

    /// The policy at this place, with the other options of this one.
    pub(crate) fn at(&self, config: &Path) -> Self {
        Self { config: config.to_owned(), ..self.clone() }
    }

    /// The file; for a policy on a server, the last good copy. Relative names start at its folder.
    pub(crate) fn file(&self) -> &Path {
        if self.url().is_some() { &self.config_copy } else { &self.config }
    }

    pub(crate) fn place(&self) -> &Path {
        &self.config
    }

    /// The name in messages and findings, without secrets.
    pub(crate) fn name(&self) -> String {
        match self.url().map(Address::parse) {
            None => self.config.display().to_string(),
            Some(Ok(address)) => address.shown().to_owned(),
            // The text may have a password.
            Some(Err(_)) => "--config".to_owned(),
        }
    }

    /// The policy on a server; `None` if it is a file.
    pub(crate) fn remote(&self) -> Result<Option<Remote>, Error> {
        let Some(url) = self.url() else { return Ok(None) };
        let refused = |failure: Failure| Error::Findings(vec![failure.finding(&self.name())]);
        let address = Address::parse(url).map_err(refused)?;
        let key = self.config_key.as_deref().map(public_key).transpose()?;
        Remote::new(address, key, self.config_copy.clone()).map(Some).map_err(refused)
    }

    fn url(&self) -> Option<&str> {
        self.config.to_str().filter(|name| is_url(name))
    }
}

fn public_key(file: &Path) -> Result<PublicKey, Error> {
    PublicKey::read(&input::read_file(file, MAX_KEY)?).ok_or_else(|| {
        let help = "write it by 'openssl pkey -in KEY -pubout'";
        let file = escape::path(file);
        Error::Refused(format!("{file}: not a public key for Ed25519 ({help})"))
    })
}

pub(crate) fn load(config: &ConfigFile) -> Result<(Policy, Vec<Diagnostic>), Error> {
    good(examine(config)?)
}

/// The policy of a verb that reads the database. Warns on standard error if the policy's files are not
/// where it says.
pub(crate) fn load_with_database(config: &ConfigFile) -> Result<Policy, Error> {
    let (policy, findings) = load(config)?;
    for finding in findings.iter().filter(|one| one.code == publication::OLD_PLACE) {
        remark(&finding.to_string());
    }
    Ok(policy)
}

/// The policy, if it is valid, with all findings. Without an answer of its server, this is the last good
/// copy, with a remark on standard error.
pub(crate) fn examine(config: &ConfigFile) -> Result<PolicyRead, Error> {
    read(config, |remote, failure| {
        let document = last_good(remote, vec![failure.finding(remote.name())])?;
        let copy = remote.copy.file.display();
        remark(&format!("{}: {failure}; this is the copy in {copy}", remote.name()));
        Ok(document)
    })
}

/// The policy as it is now, with all findings. A copy does not count.
pub(crate) fn read_now(config: &ConfigFile) -> Result<PolicyRead, Error> {
    read(config, |remote, failure| Err(Error::Findings(vec![failure.finding(remote.name())])))
}

/// Reads the file or asks the server; `instead` of an answer.
fn read(
    config: &ConfigFile,
    instead: impl FnOnce(&Remote, Failure) -> Result<Document, Error>,
) -> Result<PolicyRead, Error> {
    let Some(mut remote) = config.remote()? else {
        let file = config.file();
        return publication::read_policy(file).map_err(|error| no_policy(file, &error));
    };
    let fetched = control_runtime()?.block_on(fetch(&mut remote));
    let document = fetched.or_else(|failure| instead(&remote, failure))?;
    Ok(read_document(&remote, &document))
}

fn read_document(remote: &Remote, document: &Document) -> PolicyRead {
    let (file, bytes) = (remote.copy.file.as_path(), document.bytes.clone());
    publication::read_policy_bytes(file, remote.name(), bytes)
}

fn last_good(remote: &Remote, mut findings: Vec<Diagnostic>) -> Result<Document, Error> {
    remote.copy.last_good().map_err(|why| {
        let finding = Diagnostic::error("policy.copy", format!("no last good copy: {why}"));
        let help = "every good policy is kept there; name another file with --config-copy";
        let file = remote.copy.file.display().to_string();
        findings.push(finding.in_file(&file).help(help));
        Error::Findings(findings)
    })
}

async fn fetch(remote: &mut Remote) -> Result<Document, Failure> {
    match remote.fetch().await? {
        Fetched::New(document) => Ok(document),
        // Only a second fetch has such an answer.
        Fetched::Unchanged => Err(Failure::Fetch(crate::base::fetch::Failure::Status(304))),
    }
}

/// A good policy with its warnings and notes.
pub(crate) fn good(read: PolicyRead) -> Result<(Policy, Vec<Diagnostic>), Error> {
    let PolicyRead { policy, mut findings, .. } = read;
    if let Some(policy) = policy {
        return Ok((policy, findings));
    }
    findings.retain(|one| one.severity == Severity::Error);
    Err(Error::Findings(findings))
}

/// A good policy with its warnings and notes, after its own tests. `name` is that of the policy.
pub(crate) fn after_trial(
    read: PolicyRead,
    name: &str,
) -> Result<(Policy, Vec<Diagnostic>), Error> {
    let (policy, mut findings) = good(read)?;
    let failures = trial::findings(&policy, name);
    if failures.iter().any(|one| one.severity == Severity::Error) {
        return Err(Error::Findings(failures));
    }
    findings.extend(failures);
    Ok((policy, findings))
}

pub(crate) fn no_policy(file: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => " (name the policy file with --config)",
        _ => "",
    };
    Error::Refused(format!("{}: {error}{hint}", file.display()))
}

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
            Ok(document) => match tried(&remote, &document) {
                Ok((policy, findings)) => {
                    return Ok(Self { policy, findings, remote: Some((remote, document)) });
                }
                Err(Error::Findings(findings)) => findings,
                Err(other) => return Err(other),
            },
        };
        let document = last_good(&remote, why.clone())?;
        let (policy, findings) = tried(&remote, &document)?;
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

fn tried(remote: &Remote, document: &Document) -> Result<(Policy, Vec<Diagnostic>), Error> {
    after_trial(read_document(remote, document), remote.name())
}
