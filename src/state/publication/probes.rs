//! The questions to the origins about the forms of paths: at the start, after a change of the policy, and
//! once a day. Requests never wait for them, and no counter sees them.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};

use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::shown,
        fetch::{self, Client, Failure, Reach, Redirects, Request, Validators},
    },
    formats::probe::{Answer, Found, MOST_BYTES, Plan},
    rules::{
        enforce::{Probe, Probed},
        policy::{Origin, Policy},
    },
};

const AGAIN: Duration = Duration::from_secs(86_400);
const PATIENCE: Duration = Duration::from_secs(2);
const MARK: &str = "beadle-probe";

/// The sites to ask about, and their answers. The task ends on drop.
#[derive(Debug)]
pub(super) struct Probes {
    wanted: watch::Sender<Vec<(String, Probe)>>,
    /// With the names of the sites.
    pub(super) answers: mpsc::UnboundedReceiver<(String, Probed)>,
}

impl Probes {
    /// Starts the task, which waits for the first [`Self::follow`].
    pub(super) fn start() -> Self {
        let (wanted, sites) = watch::channel(Vec::new());
        let (sender, answers) = mpsc::unbounded_channel();
        tokio::spawn(repeat(sites, sender));
        Self { wanted, answers }
    }

    /// Asks for the sites of this policy from now on. What is known stays known for its day.
    pub(super) fn follow(&self, policy: &Policy) {
        let sites = policy.sites.iter();
        let wanted =
            sites.filter_map(|site| Some((site.name().to_owned(), Probe::wanted(&site.backend)?)));
        let wanted: Vec<_> = wanted.collect();
        self.wanted.send_if_modified(|known| {
            let is_new = *known != wanted;
            *known = wanted;
            is_new
        });
    }
}

async fn repeat(
    mut wanted: watch::Receiver<Vec<(String, Probe)>>,
    answers: mpsc::UnboundedSender<(String, Probed)>,
) {
    let mut asked: HashMap<(String, Probe), Instant> = HashMap::new();
    let is_due = |asked: Option<&Instant>| asked.is_none_or(|at| at.elapsed() >= AGAIN);
    loop {
        let sites = wanted.borrow_and_update().clone();
        asked.retain(|site, _| sites.contains(site));
        while let Some(site) = sites.iter().find(|site| is_due(asked.get(site))) {
            let probed = ask(&site.1).await;
            asked.insert(site.clone(), Instant::now());
            if answers.send((site.0.clone(), probed)).is_err() || wanted.has_changed().is_err() {
                return;
            }
        }
        let oldest = asked.values().map(Instant::elapsed).max().unwrap_or_default();
        tokio::select! {
            changed = wanted.changed() => if changed.is_err() { return },
            () = sleep(AGAIN.saturating_sub(oldest)) => {}
        }
    }
}

async fn ask(probe: &Probe) -> Probed {
    let at = Timestamp::now();
    let mut found: Option<Found> = None;
    for origin in &probe.origins {
        match ask_origin(origin, probe).await {
            Ok(one) => found = Some(found.map_or_else(|| one.clone(), |all| all.or(&one))),
            Err(why) => {
                let found = Err(format!("{origin} says nothing: {why}"));
                return Probed { probe: probe.clone(), at, found };
            }
        }
    }
    Probed { probe: probe.clone(), at, found: found.ok_or_else(|| "there is no origin".to_owned()) }
}

async fn ask_origin(origin: &Origin, probe: &Probe) -> Result<Found, String> {
    let plan = Plan::of(&probe.path).ok_or("its path is no page below a folder")?;
    let client = Client::verbatim(fetch::Settings {
        user_agent: &format!("{} (probe of path forms)", fetch::PRODUCT),
        reach: Reach::Any,
        redirects: Redirects::Return,
        authorities: None,
        resolver: None,
    })?;
    let mut answers = Vec::new();
    // An origin that wants HTTPS redirects the first request for that alone.
    let mut scheme = None;
    while let Some(target) = plan.next(&answers) {
        let url = format!("{origin}{target}");
        let answer = match timeout(PATIENCE, answer(&client, &url, probe, scheme)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(Failure::Timeout(_))) | Err(_) => Answer::Nothing("no answer in 2s".to_owned()),
            Ok(Err(failure)) => Answer::Nothing(failure.to_string()),
        };
        match answer {
            Answer::Page(301..=308, _) if answers.is_empty() && scheme.is_none() => {
                scheme = Some("https");
            }
            answer => answers.push(answer),
        }
    }
    plan.read(&answers).map_err(|obstacle| obstacle.to_string())
}

async fn answer(
    client: &Client,
    url: &str,
    probe: &Probe,
    scheme: Option<&str>,
) -> Result<Answer, Failure> {
    let forwarded = scheme.map(|scheme| (scheme, probe.host.as_str()));
    let validators = &Validators::default();
    let request = Request { url, host: Some(&probe.host), forwarded, validators };
    let response = client.get_with(request, &[(MARK, &probe.path)]).await?;
    let status = response.status();
    match response.body(MOST_BYTES).await {
        Ok(body) => Ok(Answer::Page(status, Some(body.to_vec()))),
        Err(Failure::TooLarge) => Ok(Answer::Page(status, None)),
        Err(failure) => Err(failure),
    }
}

/// Asks the origins of all sites with a `probe_path`, and tells what they answer as findings of the policy
/// in this file.
pub async fn probe_findings(policy: &Policy, file: &str) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for site in &policy.sites {
        let Some(probe) = Probe::of(&site.backend) else { continue };
        let (name, path) = (shown(site.name()), shown(&probe.path));
        let finding = match ask(&probe).await.found {
            Ok(found) => {
                let steps = site.reading.steps.with(found.taken).without(found.not_taken).names();
                Diagnostic::note("probe.found", format!("the origin of '{name}' {found}")).help(
                    format!(
                        "'forms: probe' judges by that; for the whole site: 'forms: [{steps}]'"
                    ),
                )
            }
            Err(why) => {
                let message = format!("the origin of '{name}' was asked for {path}: {why}");
                let help = "until it answers, all forms count";
                Diagnostic::warning("probe.no_answer", message).help(help)
            }
        };
        findings.push(finding.at(site.at.line, site.at.column).in_file(file));
    }
    if findings.is_empty() {
        let message = "no site has a page to ask its origin for";
        let help = "write 'origin: { url: …, probe_path: /docs/start }'";
        findings.push(Diagnostic::warning("probe.no_path", message).help(help).in_file(file));
    }
    findings
}
