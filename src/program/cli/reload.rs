//! `beadle reload`: the running server reads its policy again.

use std::{io::Write, net::IpAddr, time::Duration};

use serde::Deserialize;
use serde_json::json;

use crate::{
    base::{
        diagnostic::{Diagnostic, Place, Severity},
        escape,
        fetch::{self, Client, Failure, Post, Reach, Redirects},
    },
    desk::admin,
    program::{
        console::{ConfigFile, Error, Exit, Format, control_runtime, examine, json, refuse},
        service::admin_token,
    },
    rules::policy::{self, Policy},
    state::publication::PolicyRead,
};

/// The most time for the outcome: the look-up of new names and the first fetches come before it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The largest answer, in octets.
const MAX_ANSWER: usize = 4 << 20;

/// Ask the running server to reload its policy, and wait for the outcome.
///
/// Asks over the admin listener of the policy (server.admin). Exits with 0 if the policy in the file
/// is in force now. If the policy is refused, prints the findings and exits with 2. The last good
/// policy then stays in force.
#[derive(Debug, clap::Args)]
#[command(mut_arg("config_key", |arg| arg.hide(false)))]
#[command(mut_arg("config_copy", |arg| arg.hide(false)))]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, Deserialize)]
struct Answer {
    outcome: String,
    policy: String,
    file: String,
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    code: String,
    severity: String,
    message: String,
    #[serde(flatten)]
    place: Place,
    help: Option<String>,
}

pub(super) fn run(config: &ConfigFile, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let PolicyRead { policy, findings, .. } = examine(config)?;
    // A broken file may name the address of another program, so the server is not asked.
    let Some(policy) = policy else { return print_errors((config, format), &findings, out) };
    let Some(admin) = &policy.server.admin else {
        let file = config.name();
        let help = "send SIGHUP to the server, and read its log";
        return refuse(format!("{file}: server.admin is off ({help})"));
    };
    let (status, body) = control_runtime()?.block_on(ask(admin))?;
    let answer: Answer = match status {
        200 | 422 => serde_json::from_slice(&body).map_err(|_| no_answer(admin))?,
        401 => {
            let why = "the server refuses the token; it reads server.admin.token_file at its start";
            return refuse(format!("{}: {why}", admin.address));
        }
        503 => return refuse(format!("{}: the server is starting", admin.address)),
        _ => return Err(no_answer(admin)),
    };
    match format {
        Format::Json => {
            let line = body.strip_suffix(b"\n").unwrap_or(&body);
            out.write_all(line)?;
            writeln!(out)?;
        }
        Format::Text => writeln!(out, "{}", answer.text())?,
    }
    Ok(if status == 200 { Exit::Fine } else { Exit::Failed })
}

/// Has the server of a policy read its file, and returns its answer as lines; `None` without an admin
/// listener. A server sees a changed file by itself; this says at once whether it takes it.
pub(super) fn ask_to_reload(policy: &Policy) -> Result<Option<String>, Error> {
    let Some(admin) = &policy.server.admin else { return Ok(None) };
    let (status, body) = control_runtime()?.block_on(ask(admin))?;
    let answer =
        serde_json::from_slice::<Answer>(&body).ok().filter(|_| [200, 422].contains(&status));
    Ok(Some(answer.ok_or_else(|| no_answer(admin))?.text()))
}

fn print_errors(
    (config, format): (&ConfigFile, Format),
    findings: &[Diagnostic],
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let file = escape::text(config.name().as_bytes());
    let errors: Vec<_> = findings.iter().filter(|one| one.severity == Severity::Error).collect();
    match format {
        Format::Json => json(
            out,
            &json!({ "outcome": "refused", "policy": null, "file": file, "findings": errors }),
        )?,
        Format::Text => {
            errors.iter().try_for_each(|finding| writeln!(out, "{finding}"))?;
            writeln!(out, "{file}: refused, and the server was not asked")?;
        }
    }
    Ok(Exit::Failed)
}

async fn ask(admin: &policy::Admin) -> Result<(u16, Vec<u8>), Error> {
    let client = Client::new(fetch::Settings {
        user_agent: fetch::PRODUCT,
        reach: Reach::Any,
        redirects: Redirects::Return,
        authorities: None,
        resolver: None,
    });
    let client = client.map_err(Error::Refused)?;
    let mut address = admin.address;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let url = format!("http://{address}{}", admin::RELOAD);
    let bearer = admin_token(admin)?.map(|token| format!("Bearer {token}"));
    let fields: Vec<_> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    let post = Post { url: &url, fields: &fields, body: b"", deadline: Some(PATIENCE) };
    let failed = |failure: Failure| {
        let hint = "is the server running? A changed server.admin needs a restart";
        Error::Refused(format!("{address}: {failure} ({hint})"))
    };
    let response = client.post(post).await.map_err(failed)?;
    let status = response.status();
    Ok((status, response.body(MAX_ANSWER).await.map_err(failed)?.to_vec()))
}

fn no_answer(admin: &policy::Admin) -> Error {
    let hint = "does another program, or an older server, listen there?";
    Error::Refused(format!("{}: no answer to a reload ({hint})", admin.address))
}

impl Answer {
    /// Lines: the findings as other verbs print them, then the outcome.
    fn text(&self) -> String {
        let shown = |text: &str| escape::text(text.as_bytes());
        let mut text = String::new();
        for Finding { code, severity, message, place, help } in &self.findings {
            let place = Some(place.to_string()).filter(|place| !place.is_empty());
            let place = place.map_or_else(String::new, |place| place + ": ");
            text += &shown(&format!("{place}{severity}: {message} [{code}]"));
            text.extend(help.iter().map(|help| format!("\n    help: {}", shown(help))));
            text.push('\n');
        }
        let (file, policy) = (shown(&self.file), shown(&self.policy));
        text + &match self.outcome.as_str() {
            "applied" => format!("{file}: reloaded, policy {policy} is in force"),
            "unchanged" => format!("{file}: unchanged, policy {policy} is in force"),
            _ => format!("{file}: refused, policy {policy} stays in force"),
        }
    }
}
