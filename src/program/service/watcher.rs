//! The look at the sites from outside: regular requests to their public addresses, as a browser and as
//! one crawler after another.
//!
//! Each node of a fleet looks for itself. Rounds of one site come one after the other.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    advice::fronts::{self, Asker, Expected, Finding, Held, Question, Seen, Trouble},
    base::{
        fetch::{self, Client, Failure, Reach, Redirects, Request, Response, Validators},
        product_token::ProductToken,
    },
    clients::evidence::MARK,
    formats::robots::Target,
    rules::{
        crawlers::{Crawler, Kind},
        enforce::{self, EditionId},
        policy::{AlertKind, Policy, Watch},
    },
    serving::gate::Gate,
    state::publication::{Handles, Snapshot},
};

/// The most time between the start, or a change of the section, and the first round.
const FIRST: Duration = Duration::from_secs(60);
/// The most time between an answer that is wrong and the request that confirms it.
const AGAIN: Duration = Duration::from_secs(2);
const MOST_BYTES: usize = 1 << 20;

#[derive(Clone)]
struct Outlook {
    handles: Handles,
    gate: Arc<Gate>,
    /// Set up when it is first needed; `None` if that fails.
    client: Arc<OnceLock<Option<Client>>>,
}

struct Watched {
    watch: Watch,
    turn: usize,
    /// `None` during a round.
    due: Option<Instant>,
    held: Held,
    is_silent: bool,
}

struct Round {
    site: String,
    watch: Watch,
    crawlers: Vec<String>,
    /// Each with what it found; `None` without an answer.
    answers: Vec<(Question, Option<Option<Finding>>)>,
}

pub(super) async fn run(
    handles: Handles,
    gate: Arc<Gate>,
    mut policies: watch::Receiver<Arc<Policy>>,
) {
    let outlook = Outlook { handles, gate, client: Arc::default() };
    let mut watched: BTreeMap<String, Watched> = BTreeMap::new();
    let mut rounds = JoinSet::new();
    policies.mark_changed();
    loop {
        let next = watched.iter_mut().filter_map(|(site, one)| Some((one.due?, site, one)));
        let next = next.min_by_key(|(due, ..)| *due);
        let due = next.as_ref().map_or_else(Instant::now, |(due, ..)| *due);
        tokio::select! {
            changed = policies.changed() => {
                if changed.is_err() {
                    return;
                }
                outlook.follow(&policies.borrow_and_update(), &mut watched);
            }
            () = sleep_until(due), if next.is_some() => if let Some((_, site, one)) = next {
                one.due = None;
                let (outlook, watch) = (outlook.clone(), one.watch.clone());
                rounds.spawn(outlook.round(site.clone(), watch, one.turn));
                one.turn = one.turn.wrapping_add(1);
            },
            Some(done) = rounds.join_next(), if !rounds.is_empty() => match done {
                Ok(round) => outlook.settle(&mut watched, round),
                Err(error) => tracing::error!(%error, "a round at a public address failed"),
            }
        }
    }
}

impl Outlook {
    fn follow(&self, policy: &Policy, watched: &mut BTreeMap<String, Watched>) {
        let sites = policy.sites.iter();
        let wanted: BTreeMap<&str, &Watch> =
            sites.filter_map(|site| Some((site.name(), site.watch.as_ref()?))).collect();
        let before = watched.len();
        watched.retain(|site, one| {
            let stays = wanted.get(site.as_str()).is_some_and(|watch| **watch == one.watch);
            if !stays {
                self.handles.metrics.forget_watch_findings(site);
            }
            stays
        });
        if watched.len() < before {
            self.show(watched);
        }
        for (site, watch) in wanted {
            watched.entry(site.to_owned()).or_insert_with(|| Watched {
                watch: watch.clone(),
                turn: 0,
                due: Some(Instant::now() + jitter(watch.every.min(FIRST))),
                held: Held::default(),
                is_silent: false,
            });
        }
    }

    /// Asks as a browser and as the crawler whose turn it is.
    async fn round(self, site: String, watch: Watch, turn: usize) -> Round {
        let (crawlers, questions) = self.questions(&site, &watch, turn);
        let mut answers: Vec<(Question, Option<Option<Finding>>)> = Vec::new();
        let mut silent = Vec::new();
        for question in questions {
            let mut finding = self.ask(&site, &watch, &question, &silent).await;
            if let Some(Some(first)) = &finding {
                // Once is no finding: a file may just be changing.
                sleep(AGAIN.min(watch.every / 20)).await;
                let again = self.ask(&site, &watch, &question, &silent).await;
                let is_same = |one: &Finding| one.kind == first.kind;
                finding = again.map(|again| again.filter(is_same));
            }
            if finding.is_none() && question.asker == Asker::Browser {
                silent.push(question.target.clone());
            }
            answers.push((question, finding));
        }
        Round { site, watch, crawlers, answers }
    }

    fn questions(&self, site: &str, watch: &Watch, turn: usize) -> (Vec<String>, Vec<Question>) {
        let published = self.handles.published.load_full();
        let Some(site) = site_of(&published, site) else { return Default::default() };
        let catalogue = &published.policy.policy.catalogue;
        let file = site.edition().file();
        let names = file.groups.iter().flat_map(|group| &group.user_agents);
        let named = names.map(|one| one.name.as_str()).filter(|name| {
            let is_crawler = |known: &Crawler| known.kind() == Kind::Crawler;
            ProductToken::new(name).is_some() && catalogue.find(name).is_none_or(is_crawler)
        });
        let crawlers = fronts::crawlers(watch.crawlers.iter().map(|one| one.as_str()), named);
        let Some(crawler) = crawlers.get(turn % crawlers.len().max(1)) else {
            return Default::default();
        };
        let user_agent = Asker::Crawler(crawler.clone()).user_agent(fetch::PRODUCT);
        let is_refused = |path: &str| self.refuses(&published, watch, path, &user_agent);
        let questions = fronts::questions(crawler, &watch.pages, file, is_refused);
        (crawlers, questions)
    }

    fn refuses(&self, published: &Snapshot, watch: &Watch, target: &str, agent: &str) -> bool {
        let moment = self.handles.clock.moment();
        self.gate.refuses_own(published, (&watch.url, target), agent, moment)
    }

    /// What an answer shows. `None` without one, unless a browser got one.
    async fn ask(
        &self,
        site: &str,
        watch: &Watch,
        question: &Question,
        silent: &[String],
    ) -> Option<Option<Finding>> {
        let user_agent = question.asker.user_agent(fetch::PRODUCT);
        let now = self.handles.clock.moment().now;
        let (number, mark) = self.handles.own_requests.mark(&user_agent, now)?;
        let (url, unconditional) =
            (format!("{}{}", watch.url, question.target), Validators::default());
        let request =
            Request { url: &url, host: None, forwarded: None, validators: &unconditional };
        let fields = [(MARK, mark.as_str()), ("user-agent", &user_agent)];
        let client = self.client.get_or_init(client).as_ref()?;
        let seen = match client.get_with(request, &fields).await {
            Ok(response) => seen(response).await,
            Err(failure) => Err(failure),
        };
        let may_fail = question.asker == Asker::Browser || silent.contains(&question.target);
        let seen = match seen {
            Err(error) if may_fail => {
                tracing::debug!(site, url, %error, "no answer from outside");
                return None;
            }
            seen => seen.unwrap_or_default(),
        };
        let seen = Seen { has_arrived: self.handles.own_requests.has_arrived(number), ..seen };
        let expected = self.expected(site, watch, question, &seen);
        Some(expected.and_then(|expected| fronts::judge(question, &expected, &seen)))
    }

    /// The answer that should have come. `None` while there is no robots.txt.
    fn expected(
        &self,
        name: &str,
        watch: &Watch,
        question: &Question,
        seen: &Seen,
    ) -> Option<Expected> {
        let published = self.handles.published.load_full();
        let site = site_of(&published, name).filter(|site| !site.is_withheld)?;
        if question.is_robots_txt() {
            let host = watch.url.host.as_str();
            let named = published.rulebook.site_of_host(host);
            let (file, _) = site.robots_txt(named.map(|_| host));
            let (id, timeline) = (EditionId::of(&seen.body), &site.timeline);
            let now = self.handles.clock.moment().now;
            let ended = |end| Duration::try_from(now.duration_since(end)).unwrap_or_default();
            let mut past = timeline.in_window(jiff::Timestamp::MIN);
            let replaced = match timeline.is_current(id) {
                true => Some(Duration::ZERO),
                false => past
                    .find(|past| past.is_one_of(&[id]))
                    .map(|past| past.ended().map_or(Duration::ZERO, ended)),
            };
            return Some(Expected::RobotsTxt {
                file: file.to_vec(),
                replaced,
                max_age: site.max_age,
            });
        }
        let user_agent = question.asker.user_agent(fetch::PRODUCT);
        let target = Target::new(question.target.as_bytes());
        let content_type = seen.field("content-type").as_bytes();
        let fields = site.tags.select(target.letter(), seen.status, Some(content_type));
        let mut tags = Vec::new();
        if let Some(fields) = fields {
            tags.extend(fields.robots_tag.as_ref().map(|_| "robots-tag"));
            let lines = fields.x_robots_tag.as_ref().filter(|lines| !lines.is_empty());
            tags.extend(lines.map(|_| "x-robots-tag"));
        }
        let is_refused = self.refuses(&published, watch, &question.target, &user_agent);
        let usage = site.usage.as_ref().and_then(|one| one.at(target.letter()).content_usage);
        tags.extend(usage.map(|_| "content-usage"));
        Some(Expected::Page { is_refused, tags })
    }

    fn settle(&self, watched: &mut BTreeMap<String, Watched>, round: Round) {
        let Round { site, watch, crawlers, answers } = round;
        let Some(one) = watched.get_mut(&site).filter(|one| one.watch == watch) else { return };
        one.due = Some(Instant::now() + watch.every - jitter(watch.every / 5));
        let is_silent = !answers.is_empty() && answers.iter().all(|(_, found)| found.is_none());
        if std::mem::replace(&mut one.is_silent, is_silent) != is_silent {
            let url = watch.url.to_string();
            match is_silent {
                true => tracing::warn!(site, url, "no answer from the public address"),
                false => tracing::info!(site, url, "the public address answers again"),
            }
        }
        let asked: Vec<Question> = answers.iter().map(|(question, _)| question.clone()).collect();
        for (question, found) in answers {
            self.handles.metrics.watch_request(
                &site,
                match &found {
                    None => "failed",
                    Some(None) => "fine",
                    Some(Some(_)) => "finding",
                },
            );
            if let Some(finding) = found {
                one.held.take(&question, finding);
            }
        }
        one.held.forget(&asked, &crawlers);
        let troubles = one.held.troubles(&site);
        for kind in AlertKind::ALL.into_iter().filter(|kind| kind.is_of_front()) {
            let count = troubles.iter().filter(|one| one.finding.kind == kind).count();
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.handles.metrics.watch_findings(&site, kind.as_str()).set(count);
        }
        self.show(watched);
    }

    fn show(&self, watched: &BTreeMap<String, Watched>) {
        let troubles = watched.iter().flat_map(|(site, one)| one.held.troubles(site));
        let after: Vec<Trouble> = troubles.collect();
        let before = self.handles.fronts.swap(Arc::new(after.clone()));
        let is_in = |all: &[Trouble], one: &Trouble| all.iter().any(|other| other.is_same(one));
        for trouble in after.iter().filter(|one| !is_in(&before, one)) {
            let (kind, cause, repair) =
                (trouble.finding.kind.as_str(), trouble.cause(), trouble.repair());
            let (added, removed) = (&trouble.finding.added, &trouble.finding.removed);
            tracing::warn!(%trouble, kind, cause, repair, ?added, ?removed, "a front changes answers");
        }
        for trouble in before.iter().filter(|one| !is_in(&after, one)) {
            tracing::info!(%trouble, kind = trouble.finding.kind.as_str(), "no more at the front");
        }
    }
}

fn client() -> Option<Client> {
    let client = Client::new(fetch::Settings {
        user_agent: fetch::PRODUCT,
        reach: Reach::Any,
        redirects: Redirects::Follow,
        authorities: None,
        resolver: None,
    });
    client.inspect_err(|error| tracing::error!(error, "public addresses are not watched")).ok()
}

fn site_of<'s>(published: &'s Snapshot, name: &str) -> Option<&'s enforce::Site> {
    published.rulebook.sites().iter().find(|site| site.name == name)
}

async fn seen(response: Response) -> Result<Seen, Failure> {
    let status = response.status();
    let fields = response.fields().iter();
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let fields = fields.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
    let (body, _) = response.beginning(MOST_BYTES).await?;
    Ok(Seen { status, fields, body: body.to_vec(), has_arrived: None })
}

/// A random part of a time.
fn jitter(most: Duration) -> Duration {
    let random = RandomState::new().hash_one(most) % 1_000;
    most.mul_f64(random as f64 / 1_000.0)
}
