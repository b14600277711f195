//! Several nodes share what they see through a real Redis server, and none of them depends on it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    BROWSER,
    client::{Client, Request},
    conditions::is_full_size,
    free_port,
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    relay::{Line, Relay},
    valkey::Valkey,
    wait_for,
};

/// A site whose rules refuse `/private/`, for nodes of the fleet at this URL.
fn setup(origin: u16, url: &str, node: &str) -> Setup {
    Setup::site(origin, &rules("/private/")).sections(&section(url, node))
}

fn section(url: &str, node: &str) -> String {
    format!("fleet: {{ shared: \"{url}\", node: {node} }}\n")
}

/// Two nodes that know each other, and the line between the second one and the server.
fn nodes(origin: &Origin, valkey: &Valkey) -> (Beadle, Beadle, Relay) {
    let line = Relay::to(valkey.port);
    let one = setup(origin.port, &valkey.url(), "one").start();
    let two = setup(origin.port, &url_of(&line), "two").start();
    wait_for_nodes(&[&one, &two]);
    (one, two, line)
}

fn url_of(line: &Relay) -> String {
    format!("redis://127.0.0.1:{}", line.port)
}

fn rules(path: &str) -> String {
    format!(
        "    robots_txt:\n      cache_window: 1h\n      groups:\n        - user_agents: [\"*\"]\n          \
         disallow: [{path}]\n    enforcement: {{ mode: block, breaker: \"off\" }}\n"
    )
}

fn readyz(beadle: &Beadle) -> String {
    beadle.admin_page("/readyz").text()
}

fn wait_for_nodes(nodes: &[&Beadle]) {
    let count = nodes.len() as f64;
    nodes.iter().for_each(|node| node.wait_for_metric("beadle_fleet_nodes", count));
}

/// The edition of the site at each node, as `beadle fleet` says, and its exit code.
fn overview(beadle: &Beadle) -> (Vec<Value>, Option<i32>) {
    let output = beadle.verb(&["fleet", "--format", "json"]);
    (json_lines(&output), output.status.code())
}

#[test]
fn nodes_see_each_other_and_the_verb_says_where_they_differ() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let one = setup(origin.port, &valkey.url(), "one").start();
    let mut two = setup(origin.port, &valkey.url(), "two").start();
    wait_for_nodes(&[&one, &two]);
    let ready = readyz(&one);
    assert!(ready.starts_with("ready\npolicy: "), "{ready}");
    assert_eq!(ready, readyz(&two), "the same policy has the same fingerprint");
    let fingerprint = ready.split_once("policy: ").expect("it is there").1.trim().to_owned();
    assert_eq!(one.metric(&format!("beadle_policy_info{{fingerprint=\"{fingerprint}\"}}")), 1.0);
    one.wait_for_stderr(&format!("policy=\"{fingerprint}\""));
    assert_eq!(one.metric("beadle_fleet_up"), 1.0);
    assert_eq!(one.metric("beadle_fleet_alone"), 0.0);
    let (nodes, code) = wait_for("both reports", || {
        let found = overview(&one);
        (found.0.len() == 2 && found.0.iter().all(|node| node["policy"].is_string()))
            .then_some(found)
    });
    assert_eq!(code, Some(0), "{nodes:?}");
    for (node, name) in nodes.iter().zip(["one", "two"]) {
        assert_eq!((node["node"].as_str(), node["state"].as_str()), (Some(name), Some("live")));
        assert_eq!(node["policy"], fingerprint.as_str());
        assert_eq!(node["degraded"], serde_json::json!([]));
        assert_eq!(node["editions"][0]["site"], "site.example");
    }
    let text = one.verb(&["fleet"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("one") && text.contains("at 2 nodes"), "{text}");
    // One node gets other rules.
    let other = Setup::site(origin.port, &rules("/other/"))
        .sections(&format!("fleet: {{ shared: \"{}\", node: two }}\n", valkey.url()));
    two.reload(&other);
    let (lines, code) = wait_for("the differences", || {
        let found = overview(&one);
        let differences = found.0.iter().filter(|line| line["kind"] == "difference").count();
        (differences == 2).then_some(found)
    });
    assert_eq!(code, Some(1), "{lines:?}");
    let what: Vec<_> = lines.iter().skip(2).filter_map(|line| line["what"].as_str()).collect();
    assert_eq!(what, ["policy", "edition"]);
    // A node that says goodbye is gone at once; nobody misses it.
    two.stop();
    one.wait_for_metric("beadle_fleet_nodes", 1.0);
    let (nodes, code) = overview(&one);
    assert_eq!((nodes.len(), code), (1, Some(0)), "{nodes:?}");
}

#[test]
fn no_node_refuses_what_another_one_allows_while_the_rules_change() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let one = setup(origin.port, &valkey.url(), "one").start();
    let two = setup(origin.port, &valkey.url(), "two").start();
    wait_for_nodes(&[&one, &two]);
    let bot = "GPTBot/1.2";
    // The crawler knows the rules of both, by its own fetch.
    for node in [&one, &two] {
        assert_eq!(node.get("/robots.txt", bot).status, 200);
    }
    assert_eq!(one.get("/private/x", bot).status, 403);
    assert_eq!(one.get("/other/x", bot).status, 200);
    let other = Setup::site(origin.port, &rules("/other/"))
        .sections(&format!("fleet: {{ shared: \"{}\", node: two }}\n", valkey.url()));
    two.reload(&other);
    assert!(two.get("/robots.txt", bot).text().contains("/other/"));
    // Node one has learned of the edition before it was served: what it allows is no violation now.
    assert_eq!(one.get("/private/x", bot).status, 200, "{}", one.stderr());
}

#[test]
fn a_fetch_at_one_node_counts_at_the_other() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let one = setup(origin.port, &valkey.url(), "one").start();
    let two = setup(origin.port, &valkey.url(), "two").start();
    wait_for_nodes(&[&one, &two]);
    let bot = "GPTBot/1.2";
    assert_eq!(one.get("/robots.txt", bot).status, 200);
    let record = wait_for("the fetch at the other node", || {
        let before = two.log().len();
        assert_eq!(two.get("/private/x", bot).status, 403);
        let record = two.records(before + 1).pop().expect("there is one");
        (record["robots_read"]["state"] == "current").then_some(record)
    });
    assert_eq!(record["robots_read"]["state"], "current");
    // A node that comes later knows it from the start.
    let three = setup(origin.port, &valkey.url(), "three").start();
    assert_eq!(three.get("/private/x", bot).status, 403);
    assert_eq!(three.records(1)[0]["robots_read"]["state"], "current");
}

#[test]
fn a_start_without_the_server_serves_at_once_and_alone() {
    let origin = Origin::plain();
    let port = free_port();
    let url = format!("redis://127.0.0.1:{port}");
    let started = Instant::now();
    let beadle = setup(origin.port, &url, "one").start();
    // No request waits, and nobody is refused while it is alone.
    assert_eq!(beadle.get("/robots.txt", "GPTBot/1.2").status, 200);
    assert_eq!(beadle.get("/", BROWSER).status, 200);
    assert_eq!(beadle.get("/private/x", "GPTBot/1.2").status, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let ready = readyz(&beadle);
    assert!(ready.contains("degraded: alone"), "{ready}");
    assert!(beadle.stderr().contains("fleet.start"), "{}", beadle.stderr());
    // The server comes at last.
    let Some(_valkey) = Valkey::start_on(port, &[]) else { return };
    beadle.wait_for_metric("beadle_fleet_alone", 0.0);
    wait_for("no more trouble", || (!readyz(&beadle).contains("degraded")).then_some(()));
    assert_eq!(beadle.get("/private/x", "GPTBot/1.2").status, 403);
}

#[test]
fn a_start_that_waits_for_the_fleet_ends_at_a_signal() {
    let origin = Origin::plain();
    // It takes connections, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("redis://{}", silent.local_addr().expect("it is bound"));
    let mut beadle = setup(origin.port, &url, "one").spawn();
    let _connection = silent.accept().expect("the node connects");
    let (status, took) = beadle.stop();
    assert!(status.success() && took < Duration::from_secs(10), "{status} {took:?}");
    assert!(beadle.stderr().contains("stopped before the first request"), "{}", beadle.stderr());
}

#[test]
fn two_nodes_with_one_name_are_alone_and_say_so() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let one = setup(origin.port, &valkey.url(), "same").start();
    one.wait_for_metric("beadle_fleet_alone", 0.0);
    assert_eq!(one.get("/private/x", "GPTBot/1.2").status, 403);
    // The name comes from the environment where the policy has none.
    let section = format!("fleet: {{ shared: \"{}\" }}\n", valkey.url());
    let two = Setup::site(origin.port, &rules("/other/"))
        .sections(&section)
        .environment("BEADLE_FLEET_NODE", "same".into());
    let mut two = two.start();
    for (node, closed) in [(&one, "/private/x"), (&two, "/other/x")] {
        node.wait_for_metric("beadle_fleet_alone", 1.0);
        let ready = readyz(node);
        assert!(ready.contains("another node has the name 'same'"), "{ready}");
        assert_eq!(node.get(closed, "GPTBot/1.2").status, 200);
    }
    // Ten seconds after its last word.
    two.stop();
    one.wait_for_metric("beadle_fleet_alone", 0.0);
    assert!(!readyz(&one).contains("degraded"), "{}", readyz(&one));
}

#[test]
fn a_name_in_the_environment_that_is_none_is_refused() {
    let setup = Setup::site(1, &rules("/private/"))
        .sections("fleet: { shared: \"redis://127.0.0.1:1\" }\n")
        .environment("BEADLE_FLEET_NODE", "a b".into());
    let mut beadle = setup.spawn();
    assert_eq!(beadle.wait().0.code(), Some(2));
    beadle.wait_for_stderr("'a b' is not a name");
}

#[test]
fn a_node_that_is_alone_keeps_its_rules_until_the_others_can_hear_of_new_ones() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let (one, two, line) = nodes(&origin, &valkey);
    line.set(Line::Cut);
    two.wait_for_metric("beadle_fleet_alone", 1.0);
    // Its own rules excuse while it is alone.
    assert_eq!(one.get("/private/x", "GPTBot/1.2").status, 403);
    assert_eq!(two.get("/private/x", "GPTBot/1.2").status, 200);
    let other =
        Setup::site(origin.port, &rules("/other/")).sections(&section(&url_of(&line), "two"));
    two.replace_policy(&two.text_of(&other));
    two.signal("HUP");
    two.wait_for_stderr("new robots rules wait");
    assert!(readyz(&two).contains("degraded: new robots rules wait for the fleet"));
    let robots = |node: &Beadle| node.get("/robots.txt", BROWSER).text();
    assert!(robots(&two).contains("/private/"), "{}", robots(&two));
    // Nobody has to ask again.
    line.set(Line::Open);
    wait_for("the new rules", || robots(&two).contains("/other/").then_some(()));
    assert!(!readyz(&two).contains("degraded"), "{}", readyz(&two));
    // What the other node allows is no violation here, from its first moment on.
    assert_eq!(one.get("/private/x", "GPTBot/1.2").status, 200, "{}", one.stderr());
}

#[test]
fn a_program_that_was_paused_refuses_nothing_by_rules_that_others_may_have_changed() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let (one, two, line) = nodes(&origin, &valkey);
    let request = Request::get("/private/x").user_agent("GPTBot/1.2").bytes();
    let mut clients: Vec<_> = (0..20).map(|_| Client::connect(two.port)).collect();
    let statuses = |clients: &mut [Client]| {
        let answers = clients.iter_mut().map(|client| client.response("GET").expect("an answer"));
        answers.map(|answer| answer.status).collect::<Vec<_>>()
    };
    clients.iter_mut().for_each(|client| client.write(&request));
    assert_eq!(statuses(&mut clients), [403; 20]);
    two.signal("STOP");
    // The other node does not wait for it any longer.
    one.wait_for_metric("beadle_fleet_nodes", 1.0);
    one.replace_policy(&one.policy_text().replace("/private/", "/other/"));
    one.signal("HUP");
    wait_for("the new rules", || (one.get("/private/x", "GPTBot/1.2").status == 200).then_some(()));
    clients.iter_mut().for_each(|client| client.write(&request));
    line.set(Line::Cut);
    two.signal("CONT");
    assert_eq!(statuses(&mut clients), [200; 20]);
}

/// Requests at a node with short pauses, counted with their failures and the longest time.
struct Load {
    stopped: Arc<AtomicBool>,
    counts: Arc<[AtomicU64; 3]>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Load {
    fn start(port: u16) -> Self {
        let (stopped, counts) = (Arc::<AtomicBool>::default(), Arc::<[AtomicU64; 3]>::default());
        let (is_stopped, counted) = (Arc::clone(&stopped), Arc::clone(&counts));
        let pause = Duration::from_millis(if is_full_size() { 2 } else { 10 });
        let thread = std::thread::spawn(move || {
            while !is_stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                let status = Request::get("/page").user_agent(BROWSER).send(port).status;
                let took = u64::try_from(began.elapsed().as_millis()).expect("it is short");
                counted[0].fetch_add(1, Ordering::Relaxed);
                counted[1].fetch_add(u64::from(status != 200), Ordering::Relaxed);
                counted[2].fetch_max(took, Ordering::Relaxed);
                std::thread::sleep(pause);
            }
        });
        Self { stopped, counts, thread: Some(thread) }
    }

    /// All requests, the failed ones, and the longest time in milliseconds.
    fn stop(mut self) -> [u64; 3] {
        self.stopped.store(true, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("no request panics");
        [0, 1, 2].map(|number| self.counts[number].load(Ordering::Relaxed))
    }
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn a_server_that_is_killed_hung_slow_or_full_fails_no_request_and_the_states_merge() {
    let Some(mut valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let (one, two, slow) = nodes(&origin, &valkey);
    // With the program as it is shipped, the full size is more than a thousand requests a second.
    let threads = if is_full_size() { 3 } else { 1 };
    let loads: Vec<_> = [one.port, two.port].repeat(threads).into_iter().map(Load::start).collect();
    let began = Instant::now();
    // Killed: its data is lost, too.
    valkey.kill();
    one.wait_for_metric("beadle_fleet_up", 0.0);
    assert_eq!(one.get("/robots.txt", "GPTBot/1.2").status, 200);
    std::thread::sleep(Duration::from_secs(1));
    valkey.start_again();
    wait_for_nodes(&[&one, &two]);
    wait_for("the edition of both, written again", || {
        let (nodes, _) = overview(&one);
        (nodes.len() == 2 && nodes.iter().all(|node| node["policy"].is_string())).then_some(())
    });
    assert!(valkey.ask(&["ZCARD", "{beadle}:fetches"]).trim() != "0", "the fetch is written again");
    // Hung, until both are alone.
    valkey.signal("STOP");
    one.wait_for_metric("beadle_fleet_alone", 1.0);
    two.wait_for_metric("beadle_fleet_alone", 1.0);
    assert!(readyz(&one).contains("degraded: alone"), "{}", readyz(&one));
    valkey.signal("CONT");
    one.wait_for_metric("beadle_fleet_alone", 0.0);
    two.wait_for_metric("beadle_fleet_alone", 0.0);
    wait_for_nodes(&[&one, &two]);
    // Slow: two seconds for each answer keep the fleet together.
    slow.set(Line::Slow(Duration::from_secs(2)));
    std::thread::sleep(Duration::from_secs(13));
    assert_eq!(two.metric("beadle_fleet_alone"), 0.0, "{}", two.stderr());
    assert_eq!((one.metric("beadle_fleet_nodes"), two.metric("beadle_fleet_nodes")), (2.0, 2.0));
    slow.set(Line::Open);
    // Full: it answers, and takes nothing.
    assert!(valkey.ask(&["CONFIG", "SET", "maxmemory", "1mb"]).contains("OK"));
    one.wait_for_stderr("fleet.full");
    one.wait_for_metric("beadle_fleet_alone", 1.0);
    assert!(valkey.ask(&["CONFIG", "SET", "maxmemory", "0"]).contains("OK"));
    one.wait_for_metric("beadle_fleet_alone", 0.0);
    two.wait_for_metric("beadle_fleet_alone", 0.0);
    let (seconds, mut all, mut slowest) = (began.elapsed().as_secs_f64(), 0, 0);
    for load in loads {
        let [requests, failed, longest] = load.stop();
        assert!(requests > 100 && failed == 0, "{failed} of {requests} failed");
        assert!(longest < 2_000, "a request took {longest} ms");
        (all, slowest) = (all + requests, longest.max(slowest));
    }
    let rate = all as f64 / seconds;
    eprintln!(
        "{all} requests in {seconds:.0} s, {rate:.0} a second; the longest wait {slowest} ms"
    );
}

fn write_private(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(file, text).expect("the folder is ours");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(file, mode).expect("the file is ours");
}

#[test]
fn a_user_with_a_password_needs_no_right_but_for_the_keys_of_the_fleet() {
    let Some(valkey) = Valkey::start_with(&["--requirepass", "of-the-operator"]) else { return };
    let answer = valkey.ask(&[
        "-a",
        "of-the-operator",
        "ACL",
        "SETUSER",
        "beadle",
        "on",
        ">T0PSECRET",
        "~{beadle}:*",
        "-@all",
        "+@read",
        "+@write",
        "+@stream",
        "+@sortedset",
        "+@hash",
        "+@string",
        "+time",
        "+@connection",
        "-@dangerous",
    ]);
    assert!(answer.contains("OK"), "{answer}");
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (right, wrong) = (folder.path().join("right"), folder.path().join("wrong"));
    write_private(&right, "T0PSECRET\n");
    write_private(&wrong, "another\n");
    let with = |file: &Path| {
        Setup::site(origin.port, &rules("/private/")).sections(&format!(
            "fleet: {{ shared: \"redis://beadle@127.0.0.1:{}\", node: one, password_file: \"{}\" }}\n",
            valkey.port,
            file.display()
        ))
    };
    let one = with(&right).start();
    one.wait_for_metric("beadle_fleet_up", 1.0);
    assert!(!one.stderr().contains("WARN"), "no failure: {}", one.stderr());
    let refused = with(&wrong).spawn();
    refused.wait_for_stderr("fleet.denied");
    assert!(!refused.stderr().contains("T0PSECRET") && !refused.stderr().contains("another"));
    let output = refused.verb(&["fleet"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("check the user, the password"), "{said}");
    // A file that everybody can read is refused at the start.
    std::process::Command::new("chmod").arg("o+r").arg(&right).status().expect("it runs");
    let mut open = with(&right).spawn();
    assert_eq!(open.wait().0.code(), Some(2));
    open.wait_for_stderr("every user of this machine can read it");
}

#[test]
fn tls_needs_the_authority_of_the_servers_certificate() {
    let Some(valkey) = Valkey::start_tls() else { return };
    let origin = Origin::plain();
    let with = |ca: &str| {
        Setup::site(origin.port, &rules("/private/")).sections(&format!(
            "fleet: {{ shared: \"rediss://localhost:{}\", node: one{ca} }}\n",
            valkey.port
        ))
    };
    let ca = format!(", ca_file: \"{}\"", valkey.certificate().display());
    let one = with(&ca).start();
    one.wait_for_metric("beadle_fleet_up", 1.0);
    let unknown = with("").spawn();
    unknown.wait_for_stderr("fleet.unreachable");
    assert!(unknown.stderr().to_lowercase().contains("certificate"), "{}", unknown.stderr());
}

#[test]
fn a_server_that_became_a_replica_is_named() {
    let Some(valkey) = Valkey::start() else { return };
    let origin = Origin::plain();
    let one = setup(origin.port, &valkey.url(), "one").start();
    one.wait_for_metric("beadle_fleet_up", 1.0);
    valkey.ask(&["REPLICAOF", "127.0.0.1", &free_port().to_string()]);
    one.wait_for_stderr("fleet.elsewhere");
    one.wait_for_stderr("this server is a replica and takes no writes");
    wait_for("the reason", || {
        one.admin_page("/readyz").text().contains("fleet.elsewhere").then_some(())
    });
    valkey.ask(&["REPLICAOF", "NO", "ONE"]);
    one.wait_for_stderr("fleet.back");
}

#[test]
fn sentinels_name_the_server_before_and_after_a_failover() {
    let Some(mut master) = Valkey::start() else { return };
    let master_port = master.port.to_string();
    let replica = Valkey::start_with(&["--replicaof", "127.0.0.1", &master_port]);
    let replica = replica.expect("the first one was installed");
    wait_for("the replication", || {
        replica.ask(&["INFO", "replication"]).contains("master_link_status:up").then_some(())
    });
    let sentinel = master.sentinel();
    wait_for("the Sentinel's replica", || {
        let known = sentinel.ask(&["SENTINEL", "replicas", "mymaster"]);
        known.contains(&replica.port.to_string()).then_some(())
    });
    let origin = Origin::plain();
    let url = format!("redis+sentinel://127.0.0.1:{}/mymaster", sentinel.port);
    let one = setup(origin.port, &url, "one").start();
    let two = setup(origin.port, &url, "two").start();
    wait_for_nodes(&[&one, &two]);
    master.kill();
    one.wait_for_metric("beadle_fleet_up", 0.0);
    one.wait_for_metric("beadle_fleet_up", 1.0);
    wait_for_nodes(&[&one, &two]);
    assert!(replica.ask(&["ROLE"]).starts_with("master"));
    assert!(replica.ask(&["HGET", "{beadle}:beats", "one"]).contains("\"one\""));
}

#[test]
fn a_cluster_is_entered_by_any_node() {
    let ports = crate::support::ports::free_ports(3);
    let nodes: Vec<_> = (0..3)
        .map_while(|number| {
            let file = format!("nodes-{number}.conf");
            let bus = free_port().to_string();
            Valkey::start_on(
                ports + number,
                &[
                    "--cluster-enabled",
                    "yes",
                    "--cluster-config-file",
                    &file,
                    "--cluster-port",
                    &bus,
                ],
            )
        })
        .collect();
    if nodes.len() < 3 {
        return;
    }
    let places: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let mut create = std::process::Command::new("redis-cli");
    create.args(["--cluster", "create"]).args(&places).arg("--cluster-yes");
    let created = create.output().expect("the client can be started");
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stdout));
    wait_for("the cluster", || {
        nodes
            .iter()
            .all(|node| node.ask(&["CLUSTER", "INFO"]).contains("cluster_state:ok"))
            .then_some(())
    });
    let origin = Origin::plain();
    let beadles: Vec<Beadle> = places
        .iter()
        .zip(["one", "two", "three"])
        .map(|(place, name)| setup(origin.port, &format!("redis+cluster://{place}"), name).start())
        .collect();
    let all: Vec<&Beadle> = beadles.iter().collect();
    wait_for_nodes(&all);
    let (found, code) = overview(&beadles[0]);
    assert_eq!((found.len(), code), (3, Some(0)), "{found:?}");
}

#[test]
fn a_policy_without_a_fleet_makes_no_connection_and_shows_nothing_of_it() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, &rules("/private/")).start();
    assert_eq!(readyz(&beadle), "ready\n");
    assert!(!beadle.admin_page("/metrics").text().contains("beadle_fleet"));
    let output = beadle.verb(&["fleet"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no fleet (add the section 'fleet')"), "{said}");
    let _ = PROGRAM;
}
