//! The policy read again: a good one is swapped in whole, a broken one leaves the last good one in
//! force and says so loudly.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{self, Arc},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use tokio::sync::{Mutex, mpsc};

use crate::{
    diagnostic::{Diagnostic, Severity},
    enforce::{History, Timeline},
    metrics::Metrics,
    policy::Policy,
    product_token::ProductToken,
    violations::Sink,
};

use super::{
    clock::Clock,
    evidence::Verifier,
    files,
    ledger::Ledger,
    origin_rules::{News, OriginRules},
    origins::Origins,
    publishing::{self, Told},
    remembered,
    serving::Serving,
};

/// How often the files are looked at. One counts as written when it is the same twice in a row, so a
/// half-written one is not read. One look costs less than the events of a folder in which a
/// database is written too, and works across links, mounts and replaced folders.
const LOOK: Duration = Duration::from_millis(250);

/// No site's window is longer: what went before it nobody can hold.
const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 86_400);

/// Swaps the rulebook when the policy changes, or what an origin says.
#[derive(Debug)]
pub struct Reloader {
    file: PathBuf,
    /// The catalogue file that was last asked for, by a policy that was taken or refused.
    catalogue_file: sync::Mutex<Option<PathBuf>>,
    pub(super) state: Mutex<InForce>,
    pub(super) shared: Shared,
    news: mpsc::UnboundedSender<News>,
    pub(super) inbox: Mutex<Option<mpsc::UnboundedReceiver<News>>>,
}

/// What rulebooks are made of now.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) policy: Policy,
    /// Asks the origins for their robots.txt; `None` where no site publishes them.
    pub(super) asking: Option<OriginRules>,
    /// What they said when the rulebook was compiled.
    pub(super) told: Told,
    /// The editions of sites that are no longer served, should they come back, and when they went.
    gone: HashMap<String, (Timeline, Timestamp)>,
}

impl InForce {
    pub(super) fn new(policy: Policy, asking: Option<OriginRules>, told: Told) -> Self {
        Self { policy, asking, told, gone: HashMap::new() }
    }

    /// The editions of sites that are no longer served.
    pub(super) fn gone(&self) -> HashMap<String, Timeline> {
        self.gone.iter().map(|(name, (timeline, _))| (name.clone(), timeline.clone())).collect()
    }
}

/// What the reloader has in common with the proxy.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) serving: Arc<ArcSwap<Serving>>,
    pub(super) origins: Arc<Origins>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) sink: Arc<Sink>,
    pub(super) clock: Arc<Clock>,
    pub(super) ledger: Arc<Ledger>,
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new policy is in force.
    Applied,
    /// The file says what is in force already.
    Unchanged,
    /// The last good policy stays, for these reasons.
    Refused(Vec<Diagnostic>),
}

impl Reloader {
    pub(super) fn new(
        file: PathBuf,
        in_force: InForce,
        shared: Shared,
        (news, inbox): (mpsc::UnboundedSender<News>, mpsc::UnboundedReceiver<News>),
    ) -> Self {
        let catalogue_file = sync::Mutex::new(in_force.policy.catalogue_file.clone());
        let (state, inbox) = (Mutex::new(in_force), Mutex::new(Some(inbox)));
        Self { file, catalogue_file, state, shared, news, inbox }
    }

    /// Where the origins' addresses are looked up.
    pub fn origins(&self) -> &Origins {
        &self.shared.origins
    }

    /// Reads the file and puts it in force, or says why not. One at a time. New origins are looked
    /// up and asked first, so that no request comes before their addresses and rules.
    pub async fn reload(&self) -> Outcome {
        let mut state = self.state.lock().await;
        let outcome = match self.read(&state.policy) {
            Ok(None) => Outcome::Unchanged,
            Ok(Some(policy)) => match self.apply(policy, &mut state).await {
                Ok(()) => Outcome::Applied,
                Err(finding) => Outcome::Refused(vec![finding]),
            },
            Err(findings) => Outcome::Refused(findings),
        };
        self.report(&outcome, &state.policy);
        outcome
    }

    async fn apply(&self, policy: Policy, state: &mut InForce) -> Result<(), Diagnostic> {
        let Shared { serving, origins, metrics, sink, .. } = &self.shared;
        let previous = serving.load_full();
        let is_kept = is_same_evidence(&policy, &state.policy);
        let verifier = match &previous.verifier {
            verifier if is_kept => verifier.clone(),
            _ => Verifier::start(&policy, metrics)?,
        };
        // Two that ask would speak of the same metrics. What the old one knows the new one goes by.
        let asked = state.asking.take();
        asked.iter().for_each(OriginRules::retire);
        let moment = self.shared.clock.moment();
        let history =
            History { gone: state.gone(), ..History::after(Some(&previous.rulebook), moment.now) };
        let before = |name: &str| match asked.as_ref().and_then(|asked| asked.remembered(name)) {
            Some(known) => (known, asked.as_ref().is_some_and(|asked| asked.is_failing(name))),
            None => {
                let site = policy.sites.iter().find(|site| site.name() == name);
                let before = site.and_then(|site| history.before(site).first().copied());
                (publishing::before(before), false)
            }
        };
        state.asking = publishing::ask_origins(&policy, before, &self.news, metrics).await?;
        state.told = publishing::told(&policy, state.asking.as_ref());
        // What is held back for a site whose origin nobody asks any more nobody can accept.
        let held = asked.as_ref().map(OriginRules::holding).unwrap_or_default();
        held.into_iter()
            .filter(|site| !state.told.contains_key(site))
            .for_each(|site| sink.released(site.as_str().into()));
        // Last of all what takes no time: until it is swapped in, the old one is published.
        policy.sites.iter().for_each(|site| drop(origins.addresses(&site.origin)));
        origins.look_up_new().await;
        let rulebook = self.compile(&policy, state, &previous.rulebook);
        remembered::publish_given(sink, &previous.rulebook, &rulebook);
        remembered::publish(sink, &rulebook);
        let next = Serving::new(rulebook, Some(&previous), verifier, origins, metrics);
        serving.store(Arc::new(next));
        // Whoever is still connected keeps it for as long as he stays.
        previous.verifier.iter().filter(|_| !is_kept).for_each(|old| old.retire());
        let is_served = |name: &str| policy.sites.iter().any(|site| site.name() == name);
        for site in previous.rulebook.sites().iter().filter(|site| !is_served(&site.name)) {
            metrics.forget_site(&site.name);
            state.gone.insert(site.name.clone(), (site.timeline.clone(), moment.now));
        }
        let start = moment.start_of(LONGEST_WINDOW);
        state.gone.retain(|name, (_, at)| !is_served(name) && *at > start);
        state.policy = policy;
        Ok(())
    }

    /// The state of the policy file, and of its catalogue file where it has one.
    fn state(&self) -> (State, State) {
        let catalogue_file = self.catalogue_file.lock().ok().and_then(|file| file.clone());
        (state(&self.file), catalogue_file.and_then(|file| state(&file)))
    }

    /// The policy of the file, `None` where it is the one in force.
    fn read(&self, in_force: &Policy) -> Result<Option<Policy>, Vec<Diagnostic>> {
        let name = self.file.display().to_string();
        let read = files::read_policy(&self.file).map_err(|error| {
            let finding = Diagnostic::error("policy.unreadable", error.to_string());
            vec![finding.in_file(&name).help("put the file back, or make it readable")]
        })?;
        // A broken policy may not have come to its catalogue; what was watched is watched still.
        if (read.policy.is_some() || read.catalogue_file.is_some())
            && let Ok(mut catalogue_file) = self.catalogue_file.lock()
        {
            *catalogue_file = read.catalogue_file;
        }
        let Some(policy) = read.policy else { return Err(read.findings) };
        if policy.fingerprint == in_force.fingerprint {
            return Ok(None);
        }
        if policy.server != in_force.server || policy.violations != in_force.violations {
            let message = "the sections 'server' and 'violations' take effect at a start only";
            let finding = Diagnostic::error("policy.restart_needed", message);
            return Err(vec![finding.in_file(&name).help("restart, or take the change back")]);
        }
        Ok(Some(policy))
    }

    fn report(&self, outcome: &Outcome, in_force: &Policy) {
        let policy = in_force.fingerprint.as_str();
        match outcome {
            Outcome::Applied => {
                self.shared.metrics.reload("applied");
                tracing::info!(policy, sites = in_force.sites.len(), "policy reloaded");
            }
            Outcome::Unchanged => {}
            Outcome::Refused(findings) => {
                self.shared.metrics.reload("refused");
                for finding in findings.iter().filter(|one| one.severity == Severity::Error) {
                    let finding = format!("{finding:#}");
                    tracing::error!(finding, "policy refused");
                }
                tracing::error!(
                    policy,
                    "the policy on disk is not taken; the last good one stays in force"
                );
            }
        }
    }

    /// Reloads whenever the policy or its catalogue changes on disk, or `hangup` says so. Ends with
    /// `hangup`.
    pub async fn watch(&self, mut hangup: mpsc::Receiver<()>) {
        let mut looks = tokio::time::interval(LOOK);
        let (mut seen, mut taken) = (None, None);
        loop {
            tokio::select! {
                told = hangup.recv() => {
                    if told.is_none() {
                        return;
                    }
                    taken = Some(self.state());
                    if self.reload().await == Outcome::Unchanged {
                        self.shared.metrics.reload("unchanged");
                        tracing::info!("policy unchanged");
                    }
                }
                _ = looks.tick() => {
                    let now = Some(self.state());
                    if now == seen && now != taken {
                        taken = now;
                        self.reload().await;
                    }
                    seen = now;
                }
            }
        }
    }
}

/// What tells one state of a file from another: which file, its size, when it was written. `None`
/// where there is none.
type State = Option<(u64, u64, SystemTime)>;

/// Whether two policies ask for the same evidence about the same crawlers.
fn is_same_evidence(a: &Policy, b: &Policy) -> bool {
    a.evidence == b.evidence && published(a).eq(published(b))
}

/// A crawler, who runs it, and what is published of it: lists and their form, suffixes, an agent.
type Published<'p> = (
    &'p ProductToken,
    Option<&'p str>,
    &'p [String],
    Option<&'p str>,
    &'p [String],
    Option<&'p str>,
);

/// What the operators of a policy's crawlers publish to tell them by.
fn published(policy: &Policy) -> impl Iterator<Item = Published<'_>> {
    let publish = policy.catalogue.iter().filter(|crawler| crawler.publishes_evidence());
    publish.map(|crawler| {
        (
            crawler.product_token(),
            crawler.operator(),
            crawler.ip_ranges(),
            crawler.ip_format(),
            crawler.reverse_dns(),
            crawler.signature_agent(),
        )
    })
}

fn state(file: &Path) -> State {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    #[test]
    fn ours_evidence_is_the_same_only_where_it_is_of_the_same_crawlers_and_operators() {
        let policy = |evidence: &str, crawler: &str| {
            let text = format!(
                "evidence: {{ {evidence} }}\ncrawlers: [{{ product_token: ListBot, {crawler} }}]\n\
                 sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }}]\n"
            );
            let (policy, findings) = policy::read("test.yaml", text.as_bytes());
            policy.unwrap_or_else(|| panic!("{findings:?}"))
        };
        let (agent, other) = ("signature_agent: \"https://a.example\"", "https://b.example");
        let before = policy("", &format!("operator: One, {agent}"));
        for (evidence, crawler, is_same) in [
            ("", format!("operator: One, purpose: search, {agent}"), true),
            // Whose signatures speak for which crawlers goes by the operator.
            ("", format!("operator: Two, {agent}"), false),
            ("", format!("operator: One, signature_agent: \"{other}\""), false),
            ("refresh: 2d", format!("operator: One, {agent}"), false),
        ] {
            let after = policy(evidence, &crawler);
            assert_eq!(is_same_evidence(&before, &after), is_same, "{evidence} {crawler}");
        }
    }
}
