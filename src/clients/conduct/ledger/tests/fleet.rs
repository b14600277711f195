//! Several nodes that hear of each other's fetches and editions, beside one judge that sees all.

use std::sync::Arc;

use super::*;
use crate::rules::enforce::{Edition, Elsewhere, History};

/// The editions of [`POLICIES`].
static EDITIONS: LazyLock<Vec<Arc<Edition>>> = LazyLock::new(|| {
    let books = POLICIES.iter().map(|policy| Rulebook::compile(policy, at(0.0), None));
    books.map(|book| Arc::clone(book.sites()[0].timeline.current())).collect()
});

/// The nodes of a test.
const NODES: usize = 3;
const TOKEN: &str = "GPTBot";

/// One event, an hour after the one before.
#[derive(Clone, Debug)]
enum Event {
    /// A node publishes a file that disallows some of `/0` to `/3`; all that it reaches know.
    Publish(usize, u8),
    /// A network of the crawler fetches it from a node, confirmed or not.
    Fetch(usize, u8, bool),
    /// It requests a page of a node, confirmed or not.
    Request(usize, u8, bool, u8),
    /// A node hears what another one did until now.
    Hear(usize, usize),
    /// A node loses its contact, or finds it again.
    Cut(usize),
}

/// A file of a node in time, by its mask.
#[derive(Clone, Copy, Debug)]
struct Served {
    mask: u8,
    from: i64,
    until: Option<i64>,
}

struct Node {
    ledger: Ledger,
    book: Rulebook,
    /// What it served, the last one in force.
    served: Vec<Served>,
    /// What it knows of the files of each node.
    known: [Vec<Served>; NODES],
    /// The rows of its own fetches.
    told: Vec<Fetches>,
    /// The number of rows that it knows of each node, and the hour of the last one.
    heard: [(usize, i64); NODES],
    is_cut: bool,
}

/// A client at a node.
struct Guest<'a> {
    client: Client<'a>,
    is_excused: bool,
}

impl Knowledge for Guest<'_> {
    fn moment(&self) -> Moment {
        self.client.moment()
    }

    fn standing(&self, crawler: &Crawler) -> Standing {
        self.client.standing(crawler)
    }

    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        self.client.known_editions(name, standing, start)
    }

    fn may_miss_editions(&self) -> bool {
        self.is_excused
    }
}

impl Node {
    fn new() -> Self {
        let served = vec![Served { mask: 0, from: 0, until: None }];
        let ledger = Ledger::default();
        ledger.expect_others();
        let node = Self {
            ledger,
            book: Rulebook::compile(&POLICIES[0], at(0.0), None),
            known: std::array::from_fn(|_| served.clone()),
            served,
            told: Vec::new(),
            heard: [(0, 0); NODES],
            is_cut: false,
        };
        node.listen_until(0);
        node
    }

    fn mask(&self) -> u8 {
        self.served.last().expect("one at least").mask
    }

    /// Takes its own file and those of the others into force.
    fn compile(&mut self, own: usize, hour: i64) {
        let others = (0..NODES).filter(|other| *other != own);
        let all: Vec<Served> = others.flat_map(|other| self.known[other].clone()).collect();
        let of = |mask: u8| {
            let one: Vec<&Served> = all.iter().filter(|one| one.mask == mask).collect();
            let from = one.iter().map(|one| one.from).min()?;
            let is_open = one.iter().any(|one| one.until.is_none());
            let until = one.iter().filter_map(|one| one.until).max().filter(|_| !is_open);
            Some(Elsewhere {
                site: "a.example".to_owned(),
                edition: Arc::clone(&EDITIONS[usize::from(mask)]),
                from: at(from as f64),
                until: until.map(|until| at(until as f64)),
            })
        };
        let mut history = History::after(Some(&self.book), at(hour as f64));
        history.chronicle.learn((0..16).filter_map(of).collect());
        let policy = &POLICIES[usize::from(self.mask())];
        self.book = Rulebook::compile_with(policy, &mut history);
    }

    fn listen_until(&self, own: usize) {
        let heard = (0..NODES).filter(|other| *other != own).map(|other| self.heard[other].1);
        self.ledger.heard_until(at(heard.min().expect("other nodes") as f64));
    }

    fn guest(&self, network: u8, is_confirmed: bool, hour: i64) -> Guest<'_> {
        let outcome = if is_confirmed { Outcome::Confirmed } else { Outcome::Unknown };
        let client =
            Client { outcome, ..client(&self.ledger, &self.book, network, at(hour as f64)) };
        Guest { client, is_excused: self.is_cut }
    }
}

/// Node `own` hears of everything that `other` did until `hour`.
fn hear(nodes: &mut [Node], (own, other): (usize, usize), hour: i64) {
    let (served, told) = (nodes[other].served.clone(), nodes[other].told.clone());
    let node = &mut nodes[own];
    node.known[other] = served;
    node.compile(own, hour);
    let known = node.heard[other].0;
    // Some rows come again.
    for row in &told[known.saturating_sub(2)..] {
        node.ledger.learn(Some(&node.book.sites()[0]), row, at(hour as f64));
    }
    node.heard[other] = (told.len(), hour);
    node.listen_until(own);
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let node = || 0..NODES;
    let client = || (0_u8..3, any::<bool>());
    let event = prop_oneof![
        4 => (node(), 0_u8..16).prop_map(|(node, mask)| Event::Publish(node, mask)),
        6 => (node(), client()).prop_map(|(node, (by, sure))| Event::Fetch(node, by, sure)),
        8 => (node(), client(), 0_u8..4)
            .prop_map(|(node, (by, sure), page)| Event::Request(node, by, sure, page)),
        8 => (node(), node()).prop_map(|(own, other)| Event::Hear(own, other)),
        1 => node().prop_map(Event::Cut),
    ];
    prop::collection::vec(event, 1..120)
}

/// Whether one judge that sees all nodes finds a violation in a request for a page.
fn is_violation(nodes: &[Node], fetched: &[Fetched], start: i64, by: (u8, bool), page: u8) -> bool {
    let all = nodes.iter().flat_map(|node| &node.served);
    let in_window = all.filter(|one| one.until.is_none_or(|until| until > start));
    let known = known_masks(fetched, start, by.0, by.1)
        .unwrap_or_else(|| in_window.map(|one| one.mask).collect());
    let in_force = nodes.iter().map(Node::mask);
    known.into_iter().chain(in_force).all(|mask| mask & 1 << page != 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    /// Whatever is late or lost, no request is a violation that the judge of all allows. A node that
    /// has heard everything agrees with it.
    #[test]
    fn no_node_finds_a_violation_that_a_judge_of_the_whole_fleet_does_not(events in events()) {
        let mut nodes: Vec<Node> = (0..NODES).map(|_| Node::new()).collect();
        (0..NODES).for_each(|own| nodes[own].listen_until(own));
        let mut fetched = Vec::<Fetched>::new();
        for (hour, event) in (1_i64..).zip(events) {
            let now = at(hour as f64);
            match event {
                // A node without contact leaves its file as it is.
                Event::Publish(own, mask) if !nodes[own].is_cut && nodes[own].mask() != mask => {
                    for other in (0..NODES).filter(|other| *other != own) {
                        if !nodes[other].is_cut {
                            nodes[other].known[own].push(Served { mask, from: hour, until: None });
                            nodes[other].compile(other, hour);
                        }
                    }
                    let last = nodes[own].served.last_mut().expect("one at least");
                    last.until = Some(hour);
                    nodes[own].served.push(Served { mask, from: hour, until: None });
                    nodes[own].compile(own, hour);
                }
                Event::Fetch(own, network, is_confirmed) => {
                    let guest = nodes[own].guest(network, is_confirmed, hour);
                    let rows = guest.client.fetch(&nodes[own].book, TOKEN);
                    nodes[own].told.extend(rows);
                    fetched.push((hour, network, is_confirmed, nodes[own].mask()));
                }
                Event::Hear(own, other) => {
                    if own != other && !nodes[own].is_cut && !nodes[other].is_cut {
                        hear(&mut nodes, (own, other), hour);
                    }
                }
                Event::Cut(own) => {
                    nodes[own].is_cut = !nodes[own].is_cut;
                    if !nodes[own].is_cut {
                        // It knows the editions in force before it judges again.
                        for other in (0..NODES).filter(|other| *other != own) {
                            nodes[own].known[other] = nodes[other].served.clone();
                        }
                        nodes[own].compile(own, hour);
                    }
                }
                Event::Request(own, network, is_confirmed, page) => {
                    let expected =
                        is_violation(&nodes, &fetched, hour - 24, (network, is_confirmed), page);
                    let path = format!("/{page}");
                    let claim = format!("{TOKEN}/1.0 (+https://bot.example)");
                    for has_heard in [false, true] {
                        let is_whole = !nodes.iter().any(|node| node.is_cut);
                        if has_heard && is_whole {
                            for other in (0..NODES).filter(|other| *other != own) {
                                hear(&mut nodes, (own, other), hour);
                            }
                        }
                        let node = &nodes[own];
                        let site = &node.book.sites()[0];
                        let identified = node.book.catalogue().identify(claim.as_bytes(), &site.names);
                        let target = Target::new(path.as_bytes());
                        let case = Case { claim: &identified, is_nameless: false, target: &target };
                        let guest = node.guest(network, is_confirmed, hour);
                        let decision = enforce::decide(site, case, &guest);
                        let found = decision.action == enforce::Action::Log;
                        prop_assert!(expected || !found, "at {} by {} for {}", now, network, path);
                        if has_heard && is_whole {
                            prop_assert_eq!(found, expected, "at {} by {} for {}", now, network, path);
                        }
                    }
                }
                Event::Publish(..) => {}
            }
        }
    }
}

#[test]
fn rows_of_two_nodes_merge_in_any_order_and_any_number_of_times() {
    let first = rulebook("/a", at(0.0), None);
    let book = rulebook("/a, /b", at(2.0), Some(&first));
    let row = |hour, book: &Rulebook| {
        let ledger = Ledger::default();
        client(&ledger, book, 1, at(hour)).fetch(book, "GPTBot").remove(0)
    };
    let rows = [row(1.0, &first), row(3.0, &book), row(1.5, &first)];
    let orders: [&[usize]; 4] = [&[0, 1, 2], &[2, 1, 0], &[1, 0, 2, 1, 0], &[0, 0, 2, 2, 1]];
    for order in orders {
        let ledger = Ledger::default();
        for number in order {
            ledger.learn(Some(&book.sites()[0]), &rows[*number], at(4.0));
        }
        let all: Vec<String> = ledger
            .all()
            .into_iter()
            .map(|one| format!("{} {} {}", one.network, one.edition, one.last))
            .collect();
        let (old, new) = (first.sites()[0].edition().id(), book.sites()[0].edition().id());
        let expected =
            [format!("192.0.1.0/24 {new} {}", at(3.0)), format!("former {old} {old} {}", at(1.5))];
        assert_eq!(all, expected, "{order:?}");
        // Another network may have the former copy, this one has not.
        let request =
            |number| client(&ledger, &book, number, at(4.0)).request(&book, "GPTBot", "/b");
        assert_eq!(request(1), "log robots.disallow current");
        assert_eq!(request(2), "pass robots.disallow.grace current");
    }
}

#[test]
fn fetches_that_may_be_unknown_excuse_and_a_single_node_knows_all() {
    let first = rulebook("/a", at(0.0), None);
    let book = rulebook("/a, /b", at(2.0), Some(&first));
    let (ledger, invented) = (Ledger::default(), "FreshBot");
    for token in ["GPTBot", invented] {
        client(&ledger, &book, 1, at(3.0)).fetch(&book, token);
    }
    let request = |token: &str| {
        let request = client(&ledger, &book, 1, at(9.0)).request(&book, token, "/b");
        request.split(' ').nth(1).map(str::to_owned).expect("a reason")
    };
    let (violation, grace) = ("robots.disallow", "robots.disallow.grace");
    assert_eq!((request("GPTBot"), request(invented)), (violation.into(), violation.into()));
    ledger.expect_others();
    assert_eq!(
        (request("GPTBot"), request(invented)),
        (grace.into(), grace.into()),
        "none is known"
    );
    for (horizon, expected) in [(-20.0, grace), (1.0, grace), (2.0, violation), (9.0, violation)] {
        ledger.heard_until(at(horizon));
        assert_eq!(request("GPTBot"), expected, "heard until {horizon}");
        // The first edition had ended when this one was fetched.
        assert_eq!(request(invented), if horizon < 2.0 { grace } else { violation });
    }
    // What another node left out may have been a fetch of this crawler.
    ledger.learn_forgotten(at(3.0));
    assert_eq!(request("GPTBot"), grace);
}

#[test]
fn a_name_that_no_catalogue_has_gets_grace_where_another_node_may_know_a_later_fetch() {
    let closed = rulebook("/x", at(0.0), None);
    let open = rulebook("/y", at(2.0), Some(&closed));
    let closed_again = rulebook("/x, /z", at(3.0), Some(&open));
    for (token, expected) in
        [(TOKEN, "log robots.disallow older"), ("UnheardBot", "pass robots.disallow.grace older")]
    {
        let ledger = Ledger::default();
        ledger.expect_others();
        let at_node = |book: &Rulebook, hour: f64, fetches: bool| {
            ledger.heard_until(at(hour));
            let client = Client {
                ledger: &ledger,
                site: &book.sites()[0],
                network: network(1),
                outcome: Outcome::Unknown,
                now: at(hour),
            };
            if fetches {
                client.fetch(book, token);
            }
            client.request(book, token, "/x")
        };
        assert_eq!(at_node(&closed, 1.0, true), "log robots.disallow current", "{token}");
        assert_eq!(at_node(&closed_again, 4.0, false), expected, "{token}");
    }
}
