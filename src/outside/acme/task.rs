//! The task that keeps all certificates young.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use instant_acme::{Account, CertificateIdentifier, Error};
use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::{
    base::metrics::Metrics,
    outside::tls::{Certificates, Pair, Wanted},
};

use super::{
    account,
    order::{self, Fault},
    schedule,
};

/// The longest time between two looks at the certificates.
const LOOK: SignedDuration = SignedDuration::from_hours(1);
/// The time limit of an order. The client of the ACME library has none of its own.
const ORDER: Duration = Duration::from_secs(300);
const QUESTION: Duration = Duration::from_secs(30);
/// How soon to ask again for the window of a renewal: what the authority says, within these limits
/// (RFC 9773 §4.3.2).
const ASK: (SignedDuration, SignedDuration) =
    (SignedDuration::from_mins(1), SignedDuration::from_hours(24));
/// How soon to ask again after a failure, or an authority that has no windows.
const ASK_AGAIN: SignedDuration = SignedDuration::from_hours(6);

/// Orders and renews the certificates that the listeners want, as long as the program runs.
pub async fn run(certificates: Arc<Certificates>, metrics: Arc<Metrics>) {
    let mut clerk = Clerk { certificates, metrics, files: HashMap::new() };
    loop {
        let next = clerk.look().await;
        let wait = next.duration_since(Timestamp::now()).clamp(SignedDuration::from_secs(1), LOOK);
        tokio::select! {
            () = tokio::time::sleep(wait.unsigned_abs()) => {}
            // A repaired name server or firewall is no reason to wait for the next attempt.
            () = clerk.certificates.stirred() => clerk.files.retain(|_, one| one.failures == 0),
        }
    }
}

#[derive(Debug)]
struct Clerk {
    certificates: Arc<Certificates>,
    metrics: Arc<Metrics>,
    files: HashMap<PathBuf, Attempts>,
}

#[derive(Debug, Default)]
struct Attempts {
    failures: usize,
    /// No order before this time.
    order_at: Timestamp,
    /// No question for the window of the renewal before this time.
    ask_at: Timestamp,
    /// When the authority suggests to renew.
    suggested: Option<Timestamp>,
}

/// The accounts that one look has opened, by the folder of their state.
type Accounts = HashMap<PathBuf, Account>;

impl Clerk {
    async fn look(&mut self) -> Timestamp {
        let mut accounts = Accounts::new();
        let mut next = Timestamp::MAX;
        for wanted in self.certificates.wanted() {
            next = next.min(self.attend(&wanted, &mut accounts).await);
        }
        next
    }

    /// Renews a certificate that is due. Returns the time of the next look at it.
    async fn attend(&mut self, wanted: &Wanted, accounts: &mut Accounts) -> Timestamp {
        let now = Timestamp::now();
        let attempts = self.files.entry(wanted.file.clone()).or_default();
        if attempts.order_at > now {
            return attempts.order_at;
        }
        let present = wanted.pair.as_ref().filter(|pair| pair.covers(&wanted.host));
        if let Some(pair) = present {
            if attempts.ask_at <= now {
                attempts.ask(wanted, pair, accounts).await;
            }
            let due = schedule::due(pair.begins, pair.ends, attempts.suggested);
            if due > now {
                return due.min(attempts.ask_at);
            }
        }
        // Only an authority that suggests renewals knows what an order replaces.
        let replaced = present.filter(|_| attempts.suggested.is_some());
        let replaced = replaced.and_then(|pair| identifier(pair));
        let (certificates, host) = (&self.certificates, &wanted.host);
        let ordered = order(wanted, replaced, certificates, accounts);
        let outcome = match timeout(ORDER, ordered).await {
            Ok(outcome) => outcome,
            Err(_) => Err("the authority took too long".to_owned()),
        };
        let now = Timestamp::now();
        match outcome {
            Ok(pair) => {
                tracing::info!(host, ends = %pair.ends, "certificate issued");
                let order_at = later(now, schedule::rest(pair.begins, pair.ends));
                *attempts = Attempts { order_at, ..Attempts::default() };
                certificates.take(&wanted.file, &self.metrics);
                self.metrics.acme_order("issued");
            }
            Err(reason) => {
                attempts.failures += 1;
                let pause = schedule::pause(attempts.failures);
                attempts.order_at = later(now, SignedDuration::try_from(pause).unwrap_or(LOOK));
                certificates.note_failure(&wanted.file, &reason);
                self.metrics.acme_order("failed");
                let kept = match present {
                    Some(_) => "the present one stays",
                    None => "there is none yet",
                };
                tracing::error!(
                    code = "acme.order_failed",
                    host,
                    reason,
                    retry_in = ?pause,
                    "certificate not issued: {kept}"
                );
            }
        }
        attempts.order_at
    }
}

impl Attempts {
    /// Asks the authority when it suggests to renew (ARI, RFC 9773).
    async fn ask(&mut self, wanted: &Wanted, pair: &Pair, accounts: &mut Accounts) {
        let now = Timestamp::now();
        self.ask_at = later(now, ASK_AGAIN);
        let Some(identifier) = identifier(pair) else { return };
        let answer = timeout(QUESTION, async {
            let account = open(wanted, accounts).await?;
            match account.renewal_info(&identifier).await {
                Ok(answer) => Ok(Some(answer)),
                Err(Error::Unsupported(_)) => Ok(None),
                Err(error) => Err(account::said(error)),
            }
        });
        let (info, pause) = match answer.await {
            Ok(Ok(Some(answer))) => answer,
            Ok(Ok(None)) => return,
            Ok(Err(reason)) => {
                tracing::warn!(host = wanted.host, reason, "the authority suggests no renewal");
                return;
            }
            Err(_) => {
                tracing::warn!(host = wanted.host, "the authority suggests no renewal in time");
                return;
            }
        };
        let pause = SignedDuration::try_from(pause).unwrap_or(ASK.1).clamp(ASK.0, ASK.1);
        self.ask_at = later(now, pause);
        let window = info.suggested_window;
        let second = |second: i64| Timestamp::from_second(second).unwrap_or(pair.ends);
        let window = (second(window.start.unix_timestamp()), second(window.end.unix_timestamp()));
        let own = pair.chain().first().map_or(&[][..], |own| own.as_ref());
        self.suggested = Some(schedule::moment_of(window, own));
    }
}

/// The account of a certificate, opened once a look.
async fn open<'a>(wanted: &Wanted, accounts: &'a mut Accounts) -> Result<&'a Account, String> {
    let folder = wanted.acme.state_folder();
    if !accounts.contains_key(&folder) {
        accounts.insert(folder.clone(), account::open(&wanted.acme).await?);
    }
    accounts.get(&folder).ok_or_else(String::new)
}

async fn order(
    wanted: &Wanted,
    replaced: Option<CertificateIdentifier<'static>>,
    certificates: &Certificates,
    accounts: &mut Accounts,
) -> Result<Pair, String> {
    let (host, challenges) = (&wanted.host, &certificates.challenges);
    let placed = order::place(open(wanted, accounts).await?, host, replaced, challenges).await;
    let text = match placed {
        Ok(text) => text,
        Err(Fault::Refused(reason)) => return Err(reason),
        Err(Fault::UnknownAccount) => {
            tracing::warn!(directory = wanted.acme.directory, "the authority lost the account");
            accounts.remove(&wanted.acme.state_folder());
            account::forget(&wanted.acme);
            let again = open(wanted, accounts).await?;
            order::place(again, host, None, challenges).await.map_err(|fault| match fault {
                Fault::Refused(reason) => reason,
                Fault::UnknownAccount => "the authority knows no account".to_owned(),
            })?
        }
    };
    let pair = Pair::from_pem(text.as_bytes(), text.as_bytes())?;
    if !pair.covers(host) {
        return Err(format!("the authority issued a certificate that is not for {host}"));
    }
    account::write_private(&wanted.file, text.as_bytes())?;
    Ok(pair)
}

/// The name of a certificate at its authority (RFC 9773 §4.1), if it has one.
fn identifier(pair: &Pair) -> Option<CertificateIdentifier<'static>> {
    let identifier = CertificateIdentifier::try_from(pair.chain().first()?).ok()?;
    Some(identifier.into_owned())
}

fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}
