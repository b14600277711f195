//! The server of the policy: its encryption, its login, and one letter.

use std::{error::Error, fmt, time::Duration};

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    address::AddressError,
    message::Mailbox,
    transport::smtp::{
        self,
        authentication::Credentials,
        client::{Tls, TlsParameters},
        extension::ClientId,
    },
};
use tokio::time::timeout;

use crate::{
    base::{diagnostic::Diagnostic, escape::shown, secret_file},
    rules::policy::{Email, MailTls, Policy},
};

use super::letter::{Answer, Letter};

const DEADLINE: Duration = Duration::from_secs(60);

/// A mail server with its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    email: Email,
    from: Mailbox,
    login: Option<Credentials>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.email.fmt(f)
    }
}

impl Server {
    /// The mail server of a policy; `None` without one.
    ///
    /// # Errors
    /// The password can't be read, or every user can read it.
    pub fn of(policy: &Policy) -> Result<Option<Self>, Diagnostic> {
        let Some(email) = &policy.email else { return Ok(None) };
        let refused = |key: &str, why: &str, help: &str| {
            Diagnostic::error("email.server", format!("email.{key}: {why}")).help(help)
        };
        let login = email.login.as_ref().map(|(user, file)| {
            let named = |why: &str, help: &str| {
                refused("password_file", &format!("'{}': {why}", file.display()), help)
            };
            Ok(Credentials::new(user.clone(), secret_file::password(file, named)?))
        });
        let from = email.from.parse().map_err(|error: AddressError| {
            refused("from", &error.to_string(), "write for example beadle@example.com")
        })?;
        Ok(Some(Self { email: email.clone(), from, login: login.transpose()? }))
    }

    pub(crate) async fn send(&self, letter: &Letter) -> Answer {
        let message = match letter.message(&self.from) {
            Ok(message) => message,
            Err(error) => return Answer::Failed(error),
        };
        let sent = async { self.transport()?.send(message).await };
        match timeout(DEADLINE, sent).await {
            Ok(Ok(response)) => Answer::Accepted(response.code().into()),
            Ok(Err(error)) => failed(&error),
            Err(_) => Answer::Failed("no answer within a minute".to_owned()),
        }
    }

    fn transport(&self) -> Result<AsyncSmtpTransport<Tokio1Executor>, smtp::Error> {
        let Email { server: (host, port), tls, .. } = &self.email;
        let tls = match tls {
            MailTls::StartTls => Tls::Required(TlsParameters::new(host.clone())?),
            MailTls::Implicit => Tls::Wrapper(TlsParameters::new(host.clone())?),
            MailTls::None => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host.as_str())
            .port(*port)
            .tls(tls)
            .hello_name(ClientId::Domain(self.from.email.domain().to_owned()));
        if let Some(login) = &self.login {
            transport = transport.credentials(login.clone());
        }
        Ok(transport.build())
    }
}

fn failed(error: &smtp::Error) -> Answer {
    let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let said = shown(said.lines().next().unwrap_or_default());
    match error.status() {
        Some(code) => Answer::Refused(code.into(), said),
        None => Answer::Failed(said),
    }
}
