//! What is measured: the overshoot of a pace, requests of obedient crawlers that are taken for
//! violations, and the time until all nodes know a rung.

use std::{sync::Arc, time::Duration};

use beadle::{
    clients::conduct::Network,
    formats::robots::{Access, Target},
    rules::{
        crawlers::Outcome,
        enforce::{Action, Edition, Reason, Rung},
        policy::Policy,
    },
};

use super::{
    chance::Chance,
    node::Client,
    world::{Setting, World},
};

/// The step of the time, in milliseconds.
const STEP: u64 = 50;
/// The paths that the editions disallow in turns.
const PATHS: u8 = 8;
/// Requests of the flood at each node in a second.
const FLOOD: u64 = 20;

/// The passed requests of a flood beside the bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overshoot {
    /// What passes at a single node.
    pub(crate) alone: u64,
    pub(crate) passed: u64,
    /// What may pass in addition.
    pub(crate) bound: u64,
}

/// The requests of obedient crawlers and of others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judged {
    /// Requests of crawlers that obey what they fetched.
    pub(crate) obedient: u64,
    /// Those that were recorded, paused or refused.
    pub(crate) wronged: u64,
    /// Those that were excused.
    pub(crate) excused: u64,
    /// Requests that every edition disallows.
    pub(crate) forbidden: u64,
    /// Those that were found.
    pub(crate) found: u64,
}

/// The times until all nodes know a rung, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread(pub(crate) Vec<u64>);

/// A crawler that keeps the edition that it fetched last.
struct Obedient {
    client: Client,
    held: Option<Arc<Edition>>,
    next_fetch: u64,
    next_request: u64,
}

/// The policy whose robots.txt disallows the paths of `mask` and `/never/`.
fn policy(mask: u8) -> Arc<Policy> {
    let paths = (0..PATHS).filter(|path| mask >> path & 1 == 1).map(|path| format!("/{path}/, "));
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", enforcement: {{ mode: ladder, \
         ladder: {{ period: 10m }} }}, robots_txt: {{ groups: [{{ user_agents: [\"*\"], \
         crawl_delay: 1, disallow: [{}/never/] }}] }} }}]",
        paths.collect::<String>()
    );
    Arc::new(text.parse().expect("a policy"))
}

fn client(user_agent: &str, number: u8, outcome: Outcome) -> Client {
    let network = Network::of([192, 0, number, 1].into());
    Client { user_agent: user_agent.to_owned(), network, outcome }
}

/// One confirmed crawler with a pace of a request a second sends a flood to all nodes for a minute.
pub(crate) fn overshoot(setting: Setting) -> Overshoot {
    const SECONDS: u64 = 60;
    let alone = passed(Setting { nodes: 1, ..setting }, SECONDS);
    let passed = passed(setting, SECONDS);
    // Three at once, and a request every 0.9 s. A node tells what it counted and reads what others
    // told every 200 ms each.
    let lag = setting.lag + Duration::from_millis(2 * super::world::EXCHANGE);
    let unheard = (lag.as_secs_f64() / 0.9).ceil() as u64;
    Overshoot { alone, passed, bound: (setting.nodes as u64 - 1) * (3 + unheard) }
}

fn passed(setting: Setting, seconds: u64) -> u64 {
    let mut world = World::new(setting, &policy(0));
    let bot = client("Mozilla/5.0 (compatible; bingbot/2.0)", 1, Outcome::Confirmed);
    let mut passed = 0;
    for now in (0..seconds * 1_000).step_by(STEP as usize) {
        world.pass_until(now);
        if now % (1_000 / FLOOD) == 0 {
            let actions = (0..setting.nodes).map(|node| world.request(node, &bot, "/x").0);
            passed += actions.filter(|action| *action == Action::Pass).count() as u64;
        }
    }
    passed
}

/// Crawlers that fetch robots.txt, obey it and keep its pace, each request at any node, while the
/// file changes every three minutes, at one node after the other. Others ask for what no edition
/// allows.
pub(crate) fn judged(setting: Setting, crawlers: u8, seconds: u64) -> Judged {
    let mut world = World::new(setting, &policy(0));
    let mut chance = Chance::new(setting.seed ^ 0xFEED);
    let mut all: Vec<Obedient> =
        (0..crawlers).map(|number| Obedient::new(number, &mut chance)).collect();
    let rude = client("Mozilla/5.0 (compatible; Bytespider)", 200, Outcome::Unknown);
    let mut judged = Judged::default();
    let mut given: Vec<(u64, usize, Arc<Policy>)> = Vec::new();
    for now in (0..seconds * 1_000).step_by(STEP as usize) {
        if now % 180_000 == 30_000 {
            let next = policy(u8::try_from(chance.below(1 << PATHS)).unwrap_or_default());
            let at = |chance: &mut Chance| now + chance.below(60_000);
            given =
                (0..setting.nodes).map(|node| (at(&mut chance), node, Arc::clone(&next))).collect();
        }
        for (_, node, policy) in given.extract_if(.., |(at, ..)| *at <= now) {
            world.give(node, &policy);
        }
        world.pass_until(now);
        for one in &mut all {
            one.act(&world, now, &mut chance, &mut judged);
        }
        if now % 1_000 == 0 && now > 20_000 {
            let (action, reason) = world.request(chance.place(setting.nodes), &rude, "/never/x");
            judged.forbidden += 1;
            let is_excused = action == Action::Pass && reason == Reason::Grace;
            judged.found += u64::from(!is_excused);
        }
    }
    judged
}

impl Obedient {
    fn new(number: u8, chance: &mut Chance) -> Self {
        // At most four of a name: so many unconfirmed ones may keep a pace at once.
        const NAMES: [&str; 13] = [
            "bingbot",
            "GPTBot",
            "CCBot",
            "ClaudeBot",
            "AhrefsBot",
            "SemrushBot",
            "DotBot",
            "MJ12bot",
            "Amazonbot",
            "PetalBot",
            "YandexBot",
            "DuckDuckBot",
            "FreshlyMadeBot",
        ];
        let name = NAMES[usize::from(number) % NAMES.len()];
        let outcome = if number < 4 { Outcome::Confirmed } else { Outcome::Unknown };
        let user_agent = format!("Mozilla/5.0 (compatible; {name}/1.0; +https://bot.example)");
        let client = client(&user_agent, number, outcome);
        let next_fetch = 20_000 + chance.below(20_000);
        Self { client, held: None, next_fetch, next_request: next_fetch }
    }

    fn act(&mut self, world: &World, now: u64, chance: &mut Chance, judged: &mut Judged) {
        let node = |chance: &mut Chance| chance.place(world.nodes.len());
        if self.next_fetch <= now {
            self.next_fetch = now + 20_000 + chance.below(300_000);
            self.held = Some(world.fetch(node(chance), &self.client));
        }
        let Some(held) = self.held.as_ref().filter(|_| self.next_request <= now) else { return };
        self.next_request = now + 1_000 + chance.below(200);
        let path = format!("/{}/x", chance.below(u64::from(PATHS)));
        let matcher = held.matcher();
        let verdict =
            matcher.star().map(|star| matcher.verdict(star, &Target::new(path.as_bytes())));
        if verdict.is_some_and(|verdict| verdict.access == Access::Disallow) {
            return;
        }
        let (action, reason) = world.request(node(chance), &self.client, &path);
        judged.obedient += 1;
        judged.wronged += u64::from(action != Action::Pass);
        judged.excused += u64::from(reason == Reason::Grace);
    }
}

/// Crawlers that violate the rules twice a second, each request at any node, climb the ladder.
pub(crate) fn spread(setting: Setting, crawlers: u8) -> Spread {
    let mut world = World::new(setting, &policy(0));
    let mut chance = Chance::new(setting.seed ^ 0xBEEF);
    let names = ["Bytespider", "GPTBot", "CCBot", "AhrefsBot", "SemrushBot", "DotBot", "MJ12bot"];
    let clients: Vec<Client> = (0..crawlers)
        .map(|number| {
            let name = names[usize::from(number) % names.len()];
            let text = format!("Mozilla/5.0 (compatible; {name}/1.0; +https://bot.example)");
            client(&text, number, Outcome::Unknown)
        })
        .collect();
    let mut climbing: Vec<(Rung, Option<u64>)> = vec![(Rung::Observe, None); clients.len()];
    let mut times = Vec::new();
    for now in (0..120_000).step_by(STEP as usize) {
        world.pass_until(now);
        for (client, (known, since)) in clients.iter().zip(&mut climbing) {
            if now % 500 == 0 {
                world.request(chance.place(setting.nodes), client, "/never/x");
            }
            let (least, highest) = world.rungs(client);
            if highest > *known {
                let first = *since.get_or_insert(now);
                if least > *known {
                    times.push(now - first);
                    (*known, *since) = (least, None);
                }
            }
        }
        if climbing.iter().all(|(known, _)| *known == Rung::Block) {
            break;
        }
    }
    times.sort_unstable();
    Spread(times)
}

impl Spread {
    /// The median and the longest time, in seconds; `None` without any.
    pub(crate) fn figures(&self) -> Option<(f64, f64)> {
        let seconds = |time: &u64| *time as f64 / 1_000.0;
        Some((seconds(self.0.get(self.0.len() / 2)?), seconds(self.0.last()?)))
    }
}
