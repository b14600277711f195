//! The fleet: nodes that exchange news by a shared log, with a lag, with losses, and with nodes that
//! are cut off.
//!
//! Each node adds what is new to the log every 200 ms, and takes in what the others added a lag ago. A
//! message can be lost for one reader: it then reads the registers anew, which have everything but
//! the counts of paces and breakers. A node that is cut off does neither. After ten seconds it knows
//! that it is alone: it excuses violations, and leaves its robots.txt as it is. A new edition is
//! announced, and served when each other node has read that or is alone for certain.

use std::{sync::Arc, time::Duration};

use beadle::{
    base::metrics::Metrics,
    clients::conduct::Observations,
    rules::{
        enforce::{Action, Edition, Reason, Rung},
        policy::Policy,
    },
};

use super::{
    chance::Chance,
    log::{Announced, Ended, Entry, shift},
    node::{Client, Node, Served},
};

/// The time between two exchanges, in milliseconds.
pub(crate) const EXCHANGE: u64 = 200;
/// The time without an exchange after which a node is alone, and after which others rely on that.
const ALONE: u64 = 10_000;
const SURELY_ALONE: u64 = 10_500;
/// The time that the registers take.
const REGISTERS: u64 = 1_000;
/// What a node leaves off the time until which it heard, for errors of clocks.
const MARGIN: u64 = 1_000;

/// The parameters of a fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) nodes: usize,
    /// The most time until a node reads an entry of the log.
    pub(crate) lag: Duration,
    /// The share of entries that a reader loses.
    pub(crate) loss: f64,
    /// Whether nodes are cut off, each for up to a minute.
    pub(crate) has_cuts: bool,
    /// The most by which clocks are wrong.
    pub(crate) clocks: Duration,
    /// How clocks are set while they run, in milliseconds.
    pub(crate) sets: &'static [i64],
    pub(crate) seed: u64,
}

/// The nodes with the log between them.
pub(crate) struct World {
    pub(crate) setting: Setting,
    pub(crate) nodes: Vec<Node>,
    pub(crate) metrics: Metrics,
    pub(crate) chance: Chance,
    log: Vec<Entry>,
    links: Vec<Link>,
    now: u64,
}

/// The connection of one node.
struct Link {
    /// The time of its next exchange.
    next: u64,
    /// The entries that it has taken in.
    read: usize,
    lag: u64,
    /// The time at which it was cut off, and the time at which that ends.
    cut: Option<(u64, u64)>,
    last_exchange: u64,
    /// The time of the last entry that it read of each node.
    heard: Vec<u64>,
    /// The entries that each other node has taken in, as far as it knows.
    others_read: Vec<usize>,
    /// Registers that it is reading.
    repairs: Vec<Repair>,
    /// The policy that it has and does not serve yet.
    waiting: Option<Waiting>,
}

/// What a node lost and gets by registers.
struct Repair {
    due: u64,
    from: usize,
    /// The time until which it heard of that node before.
    heard: u64,
    news: Arc<Observations>,
}

struct Waiting {
    policy: Arc<Policy>,
    edition: Arc<Edition>,
    /// The place of its announcement in the log.
    announced: Option<usize>,
}

impl World {
    pub(crate) fn new(setting: Setting, policy: &Arc<Policy>) -> Self {
        let mut chance = Chance::new(setting.seed);
        let metrics = Metrics::new();
        let most = millis(setting.clocks);
        let error = |chance: &mut Chance, most: u64| {
            i64::try_from(chance.below(2 * most + 1)).unwrap_or_default()
                - i64::try_from(most).unwrap_or_default()
        };
        let nodes: Vec<Node> = (0..setting.nodes)
            .map(|_| {
                // A round trip tells the time up to a part of the lag.
                let misjudged = error(&mut chance, (millis(setting.lag) / 2).min(most).min(300));
                Node::new(policy, (error(&mut chance, most), misjudged), &metrics)
            })
            .collect();
        nodes.iter().for_each(|node| node.keep_contact(ALONE));
        let first = Node::edition_of(policy);
        let links = (0..setting.nodes)
            .map(|_| Link {
                next: chance.below(EXCHANGE),
                read: 0,
                lag: millis(setting.lag) / 2 + chance.below(millis(setting.lag) / 2 + 1),
                cut: None,
                last_exchange: 0,
                heard: vec![0; setting.nodes],
                others_read: vec![0; setting.nodes],
                repairs: Vec::new(),
                waiting: None,
            })
            .collect();
        let mut world = Self { setting, nodes, metrics, chance, log: Vec::new(), links, now: 0 };
        for own in 0..setting.nodes {
            for other in (0..setting.nodes).filter(|other| *other != own) {
                let served = Served { edition: Arc::clone(&first), from: 0, until: None };
                world.nodes[own].known.insert((other, first.id()), served);
            }
            world.nodes[own].publish(None, 0);
        }
        world
    }

    /// Gives a node a new policy.
    pub(crate) fn give(&mut self, node: usize, policy: &Arc<Policy>) {
        let (policy, edition) = (Arc::clone(policy), Node::edition_of(policy));
        self.links[node].waiting = Some(Waiting { policy, edition, announced: None });
    }

    /// Lets the time pass until `now`.
    pub(crate) fn pass_until(&mut self, now: u64) {
        self.now = now;
        for node in 0..self.nodes.len() {
            self.cut_or_heal(node);
            // Each clock once in two minutes, on average.
            let sets = self.setting.sets;
            if !sets.is_empty() && now.is_multiple_of(EXCHANGE) && self.chance.happens(0.2 / 120.0)
            {
                self.nodes[node].set_clock(sets[self.chance.place(sets.len())]);
            }
            if self.links[node].next <= now {
                self.links[node].next = now + EXCHANGE;
                if self.links[node].cut.is_none() {
                    self.exchange(node);
                }
            }
        }
    }

    /// A request at a node.
    pub(crate) fn request(&self, node: usize, client: &Client, path: &str) -> (Action, Reason) {
        self.nodes[node].request(client, path, self.now, &self.metrics)
    }

    /// A fetch of robots.txt from a node.
    pub(crate) fn fetch(&self, node: usize, client: &Client) -> Arc<Edition> {
        self.nodes[node].serve(client, self.now)
    }

    /// The least and the highest rung of a client at all nodes.
    pub(crate) fn rungs(&self, client: &Client) -> (Rung, Rung) {
        let rungs = || self.nodes.iter().map(|node| node.rung(client));
        (rungs().min().unwrap_or_default(), rungs().max().unwrap_or_default())
    }

    fn cut_or_heal(&mut self, node: usize) {
        if !self.setting.has_cuts {
            return;
        }
        match self.links[node].cut {
            // Each node once in five minutes, on average.
            None if self.now.is_multiple_of(EXCHANGE) && self.chance.happens(0.2 / 300.0) => {
                let until = self.now + 1_000 + self.chance.below(60_000);
                self.links[node].cut = Some((self.now, until));
            }
            Some((_, until)) if until <= self.now => self.links[node].cut = None,
            _ => {}
        }
    }

    fn exchange(&mut self, node: usize) {
        let now = self.now;
        self.nodes[node].look_at_clock(now, &self.metrics);
        self.take_in(node);
        self.links[node].last_exchange = now;
        self.nodes[node].keep_contact(now + ALONE);
        let (announced, ended) = self.advance(node);
        let moment = self.nodes[node].moment(now);
        let news = self.nodes[node].conduct.collect(moment);
        let news = (!news.is_empty()).then(|| Arc::new(news));
        let read = self.links[node].read;
        self.log.push(Entry { at: now, from: node, read, news, announced, ended });
        self.links[node].heard[node] = now;
        let heard = self.links[node].heard.iter().min().copied().unwrap_or_default();
        let horizon = self.nodes[node].local(heard.saturating_sub(MARGIN));
        self.nodes[node].conduct.ledger.heard_until(horizon);
    }

    /// Takes in what is older than the lag.
    fn take_in(&mut self, node: usize) {
        let (now, link) = (self.now, &mut self.links[node]);
        let is_back = now - link.last_exchange > 2 * EXCHANGE;
        // After a pause it reads everything.
        let until = if is_back { now } else { now.saturating_sub(link.lag) };
        let mut learns = false;
        while let Some(entry) = self.log.get(link.read).filter(|entry| entry.at <= until) {
            link.read += 1;
            if entry.from == node {
                continue;
            }
            let heard = std::mem::replace(&mut link.heard[entry.from], entry.at);
            link.others_read[entry.from] = entry.read;
            if let Some((edition, from)) = &entry.announced {
                let served = Served { edition: Arc::clone(edition), from: *from, until: None };
                self.nodes[node].known.insert((entry.from, edition.id()), served);
                learns = true;
            }
            if let Some((id, until)) = &entry.ended
                && let Some(served) = self.nodes[node].known.get_mut(&(entry.from, *id))
            {
                served.until = Some(*until);
                learns = true;
            }
            let Some(news) = &entry.news else { continue };
            if self.chance.happens(self.setting.loss) {
                let (due, news) = (now + REGISTERS, Arc::clone(news));
                link.repairs.push(Repair { due, from: entry.from, heard, news });
                continue;
            }
            learn(&self.nodes, node, (entry.from, news), now, &self.metrics);
        }
        for one in link.repairs.extract_if(.., |one| one.due <= now) {
            let news = (*one.news).clone();
            let kept = Observations { pace: Vec::new(), breaker: Vec::new(), ..news };
            learn(&self.nodes, node, (one.from, &kept), now, &self.metrics);
        }
        // What it misses, it has not heard.
        for one in &link.repairs {
            link.heard[one.from] = link.heard[one.from].min(one.heard);
        }
        if learns {
            self.nodes[node].publish(None, now);
        }
    }

    /// Announces or serves the new edition of a node. Returns what to tell.
    fn advance(&mut self, node: usize) -> (Option<Announced>, Option<Ended>) {
        let now = self.now;
        let Some(waiting) = &mut self.links[node].waiting else { return (None, None) };
        let Some(place) = waiting.announced else {
            waiting.announced = Some(self.log.len());
            return (Some((Arc::clone(&waiting.edition), now)), None);
        };
        if !self.have_read(node, place) {
            return (None, None);
        }
        let waiting = self.links[node].waiting.take();
        let before = self.nodes[node].site().edition().id();
        self.nodes[node].publish(waiting.map(|one| one.policy), now);
        let is_other = self.nodes[node].site().edition().id() != before;
        (None, is_other.then_some((before, now)))
    }

    /// Whether each other node has told that it read an entry, or is alone for certain.
    fn have_read(&self, node: usize, place: usize) -> bool {
        let link = &self.links[node];
        let mut others = (0..self.nodes.len()).filter(|other| *other != node);
        others.all(|other| {
            let is_silent = self.now - link.heard[other] >= SURELY_ALONE;
            is_silent || link.others_read[other] > place
        })
    }
}

fn learn(
    nodes: &[Node],
    own: usize,
    (from, news): (usize, &Observations),
    now: u64,
    metrics: &Metrics,
) {
    let by = nodes[own].ahead() - nodes[from].ahead();
    let (node, news) = (&nodes[own], shift(news, by));
    let sites = |name: &str| (name == node.site().name).then_some((node.site(), &node.at_site));
    node.conduct.learn(&from.to_string(), &sites, news, node.moment(now), metrics);
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
