//! A policy at an https:// address: fetched, verified, kept as a copy, followed.

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use ring::signature::{Ed25519KeyPair, KeyPair};

use crate::{
    reload::{blocks, setup},
    support::{
        origin::Origin,
        policy_server::{Answer, PolicyServer, authority},
        program::{Beadle, PROGRAM, Setup},
        wait_for,
    },
};

const PATH: &str = "/edge/beadle.yaml";
const CREDENTIALS: &str = "node:s3cret@";

/// A server with a policy that a program follows.
struct Scene {
    origin: Origin,
    server: PolicyServer,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let server = PolicyServer::https(folder.path());
        Self { origin: Origin::plain(), server, folder }
    }

    fn copy(&self) -> String {
        self.folder.path().join("copy.yaml").display().to_string()
    }

    /// The policy that closes a path.
    fn setup(&self, path: &str) -> Setup {
        let url = self.server.url(CREDENTIALS, PATH);
        let copy = self.copy();
        setup(&self.origin, path)
            .environment("SSL_CERT_FILE", authority(self.folder.path()))
            .config(&url, &["--config-copy", &copy, "--config-interval", "1s"])
    }

    /// A started program. Its ports are known only then, so the server has the policy a moment later.
    fn start(&self) -> Beadle {
        let setup = self.setup("/old/");
        let (port, admin) = (crate::support::free_port(), crate::support::free_port());
        self.server.put_file(PATH, setup.text(port, admin, self.folder.path()));
        let beadle = setup.spawn_on(port, admin);
        beadle.wait_until_ready();
        beadle
    }

    /// The policy of the program that closes another path.
    fn text(&self, beadle: &Beadle, path: &str) -> String {
        self.setup(path).text(beadle.port, beadle.admin, self.folder.path())
    }

    fn verb(&self, arguments: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(arguments)
            .args(["--config-copy", &self.copy()])
            .env("BEADLE_CONFIG", self.server.url(CREDENTIALS, PATH))
            .env("SSL_CERT_FILE", authority(self.folder.path()))
            .current_dir(self.folder.path())
            .output()
            .expect("the program can be started")
    }
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn fetches(beadle: &Beadle, outcome: &str) -> f64 {
    beadle.metric(&format!("beadle_policy_fetches_total{{outcome=\"{outcome}\"}}"))
}

fn wait_for_fetches(beadle: &Beadle, outcome: &str, more: f64) {
    let before = fetches(beadle, outcome);
    wait_for(&format!("fetches {outcome}"), || {
        (fetches(beadle, outcome) >= before + more).then_some(())
    });
}

#[test]
fn a_policy_on_a_server_is_followed_and_kept_as_a_copy() {
    let scene = Scene::new();
    let beadle = scene.start();
    assert!(blocks(&beadle, "/old/x") && !blocks(&beadle, "/new/x"));
    // An unchanged policy costs no more than a 304.
    wait_for_fetches(&beadle, "unchanged", 2.0);
    let seen = scene.server.seen(PATH);
    let statuses: Vec<u16> = seen.iter().map(|seen| seen.status).collect();
    assert!(
        statuses[0] == 200 && statuses[1..].iter().all(|&status| status == 304),
        "{statuses:?}"
    );
    let basic = "authorization: basic bm9kzTpzM2NyZXQ=".to_lowercase();
    assert!(seen.iter().all(|seen| seen.head.to_lowercase().contains(&basic)), "{seen:?}");
    let new = scene.text(&beadle, "/new/");
    scene.server.put_file(PATH, &new);
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
    assert!(!blocks(&beadle, "/old/x"));
    let copied = wait_for("the copy", || {
        std::fs::read_to_string(scene.copy()).ok().filter(|copy| copy.starts_with(&new))
    });
    let shown = scene.server.url("", PATH);
    assert_eq!(copied, format!("{new}\n# beadle: copy of {shown}\n"));
    let mode = std::fs::metadata(scene.copy()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!beadle.stderr().contains("s3cret"), "{}", beadle.stderr());
}

#[test]
fn a_broken_policy_keeps_the_last_good_one() {
    let scene = Scene::new();
    let beadle = scene.start();
    let good = scene.text(&beadle, "/old/");
    for (broken, sign) in [
        (good.replace("mode: block", "mode: blok"), "did you mean 'block'?"),
        (good.replace("server:\n", "server:\n  threads: 3\n"), "[policy.restart_needed]"),
        ("<html>Log in</html>".to_owned(), "expected a mapping of keys to values"),
        ("#".repeat((32 << 20) + 1), "the policy is larger than 32 MiB"),
    ] {
        scene.server.put_file(PATH, &broken);
        let name = scene.server.url("", PATH);
        let refused =
            |text: &str| text.lines().any(|line| line.contains(&name) && line.contains(sign));
        wait_for(sign, || refused(&beadle.stderr()).then_some(()));
        assert!(blocks(&beadle, "/old/x"), "{sign}");
        beadle.wait_for_metric("beadle_policy_last_reload_successful", 0.0);
        let output = scene.verb(&["reload"]);
        assert_eq!(output.status.code(), Some(2), "{sign}: {}", text(&output));
        assert!(text(&output).contains(sign) && text(&output).contains(&name), "{}", text(&output));
        // It is reported once, and not with each fetch.
        let reports = beadle.stderr().matches("policy refused").count();
        let more = if broken.len() > 1 << 20 { "refused" } else { "unchanged" };
        wait_for_fetches(&beadle, more, 2.0);
        assert_eq!(beadle.stderr().matches("policy refused").count(), reports, "{sign}");
        let copy = std::fs::read_to_string(scene.copy()).expect("a copy");
        assert!(copy.starts_with(&good), "{sign}");
    }
    scene.server.put_file(PATH, scene.text(&beadle, "/new/"));
    let output = scene.verb(&["reload"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(blocks(&beadle, "/new/x"));
    beadle.wait_for_metric("beadle_policy_last_reload_successful", 1.0);
    assert!(!beadle.stderr().contains("s3cret"), "{}", beadle.stderr());
}

#[test]
fn without_its_server_a_start_uses_the_last_good_copy() {
    let scene = Scene::new();
    let beadle = scene.start();
    let (port, admin, name) = (beadle.port, beadle.admin, scene.server.url("", PATH));
    wait_for("the copy", || Path::new(&scene.copy()).exists().then_some(()));
    let good = scene.text(&beadle, "/old/");
    drop(beadle);
    // Neither a silent server nor a broken policy keeps the site down.
    for (is_away, content, sign) in [
        (true, good.clone(), "policy.unreachable"),
        (false, good.replace("mode: block", "mode: blok"), "did you mean 'block'?"),
    ] {
        scene.server.is_away(is_away);
        scene.server.put_file(PATH, &content);
        let beadle = scene.setup("/old/").spawn_on(port, admin);
        beadle.wait_until_ready();
        let log = beadle.stderr();
        assert!(blocks(&beadle, "/old/x"));
        assert!(log.contains("ERROR") && log.contains("the last good copy is in force"), "{log}");
        assert!(log.contains(sign) && log.contains(&name) && !log.contains("s3cret"), "{log}");
        // A broken policy counts as refused, a server that is away does not.
        let (series, value) = match is_away {
            true => ("beadle_policy_fetches_total{outcome=\"failed\"}", 1.0),
            false => ("beadle_policy_last_reload_successful", 0.0),
        };
        beadle.wait_for_metric(series, value);
        scene.server.is_away(false);
        scene.server.put_file(PATH, scene.text(&beadle, "/new/"));
        wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
        scene.server.put_file(PATH, &good);
        wait_for("the old rules", || blocks(&beadle, "/old/x").then_some(()));
        wait_for("the copy", || {
            std::fs::read_to_string(scene.copy()).ok().filter(|copy| copy.starts_with(&good))
        });
    }
    scene.server.is_away(true);
    let output = scene.verb(&["violations"]);
    assert_eq!(output.status.code(), Some(1), "there are some: {}", text(&output));
    assert!(text(&output).contains("this is the copy in"), "{}", text(&output));
    // A check is about the policy on the server alone.
    let output = scene.verb(&["check"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    std::fs::write(scene.copy(), good).expect("the folder is ours");
    let output = scene.verb(&["serve"]);
    let copy = scene.copy();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let expected =
        format!("{copy}: error: no last good copy: not a copy of a policy [policy.copy]");
    assert!(text(&output).contains(&expected), "{}", text(&output));
}

#[test]
fn a_server_that_goes_away_is_named_once_and_changes_nothing() {
    let scene = Scene::new();
    let beadle = scene.start();
    scene.server.is_away(true);
    wait_for_fetches(&beadle, "failed", 3.0);
    assert!(blocks(&beadle, "/old/x"));
    assert_eq!(beadle.metric("beadle_policy_last_reload_successful"), 1.0);
    assert_eq!(beadle.stderr().matches("policy.unreachable").count(), 1, "{}", beadle.stderr());
    // The operator asks, and hears of it.
    let output = scene.verb(&["reload"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("[policy.unreachable]"), "{}", text(&output));
    scene.server.is_away(false);
    beadle.wait_for_stderr("the policy is fetched again");
    let output = scene.verb(&["reload"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy unchanged");
}

#[test]
fn a_policy_without_a_valid_signature_is_refused() {
    let scene = Scene::new();
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("32 octets");
    let other = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).expect("32 octets");
    let key = scene.folder.path().join("policy.pub");
    std::fs::write(&key, pair.public_key().as_ref()).expect("the folder is ours");
    let (port, admin) = (crate::support::free_port(), crate::support::free_port());
    let (copy, key) = (scene.copy(), key.display().to_string());
    let signed_setup = |path: &str| {
        let arguments =
            ["--config-copy", &copy, "--config-interval", "1s", "--config-key", key.as_str()];
        scene.setup(path).config(&scene.server.url(CREDENTIALS, PATH), &arguments)
    };
    let of = |path: &str| signed_setup(path).text(port, admin, scene.folder.path());
    let put = |text: &str, signature: &[u8]| {
        scene.server.put_file(&format!("{PATH}.sig"), signature);
        scene.server.put_file(PATH, text);
    };
    let sign = |pair: &Ed25519KeyPair, text: &str| pair.sign(text.as_bytes()).as_ref().to_vec();
    put(&of("/old/"), &sign(&pair, &of("/old/")));
    let beadle = signed_setup("/old/").spawn_on(port, admin);
    beadle.wait_until_ready();
    let new = of("/new/");
    let wrong = "the signature of the policy is not that of the key";
    let short = "the signature of the policy is not 64 octets, raw or in Base64";
    for (signature, says) in [
        (sign(&pair, &of("/old/")), wrong),
        (sign(&other, &new), wrong),
        (b"no signature".to_vec(), short),
    ] {
        let before = beadle.stderr().matches(says).count();
        put(&new, &signature);
        wait_for(says, || (beadle.stderr().matches(says).count() > before).then_some(()));
        assert!(blocks(&beadle, "/old/x") && !blocks(&beadle, "/new/x"));
        // The next fetch must not take the same refusal for news, nor another for this.
        put(&of("/old/"), &sign(&pair, &of("/old/")));
        beadle.wait_for_metric("beadle_policy_last_reload_successful", 1.0);
    }
    // A signature may come after its policy: the first attempt is refused, a later one succeeds.
    put(&new, b"none yet");
    wait_for_fetches(&beadle, "refused", 1.0);
    put(&new, &sign(&pair, &new));
    wait_for("the new rules", || blocks(&beadle, "/new/x").then_some(()));
    wait_for("the copy", || {
        let copy = std::fs::read_to_string(&copy).ok()?;
        (copy.contains("/new/") && copy.contains(" signature ")).then_some(())
    });
    // A serial rises, so nobody can send a signed policy once more.
    let numbered = |number: &str, path: &str| format!("# serial: {number}\n{}", of(path));
    let publish = |text: &str| put(text, &sign(&pair, text));
    publish(&numbered("7", "/seven/"));
    wait_for("the serial 7", || blocks(&beadle, "/seven/x").then_some(()));
    wait_for("its copy", || {
        std::fs::read_to_string(&copy).ok()?.starts_with("# serial: 7\n").then_some(())
    });
    for (text, says) in [
        (new, "the policy has no serial, and the last good one has 7"),
        (numbered("6", "/six/"), "the serial 6 of the policy is not above 7"),
        (numbered("7", "/other/"), "the serial 7 of the policy is not above 7"),
        (numbered("x", "/other/"), "the line '# serial:' of the policy has no number"),
    ] {
        publish(&text);
        wait_for(says, || beadle.stderr().contains(says).then_some(()));
        assert!(blocks(&beadle, "/seven/x") && !blocks(&beadle, "/other/x"), "{says}");
        beadle.wait_for_metric("beadle_policy_last_reload_successful", 0.0);
    }
    publish(&numbered("8", "/new/"));
    wait_for("the serial 8", || blocks(&beadle, "/new/x").then_some(()));
    wait_for("its copy", || {
        std::fs::read_to_string(&copy).ok()?.starts_with("# serial: 8\n").then_some(())
    });
    // A start knows it from the copy.
    publish(&numbered("7", "/seven/"));
    let output = scene.verb(&["check", "--config-key", &key]);
    assert!(text(&output).contains("[policy.serial]"), "{}", text(&output));
    // A copy that somebody changed has no valid signature.
    drop(beadle);
    scene.server.is_away(true);
    let changed = std::fs::read_to_string(&copy).expect("a copy").replace("/new/", "/any/");
    std::fs::write(&copy, changed).expect("the folder is ours");
    let output = scene.verb(&["serve", "--config-key", &key]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("a copy without a valid signature"), "{}", text(&output));
}

#[test]
fn a_failed_fetch_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (https, http) = (PolicyServer::https(folder.path()), PolicyServer::http());
    let local = http.url("", "/minimal.yaml");
    http.put_file("/minimal.yaml", include_str!("../../examples/minimal.yaml"));
    https.put("/away", Answer::Status(302, format!("Location: {local}\r\n")));
    https.put("/loop", Answer::Status(302, "Location: /loop\r\n".to_owned()));
    https.put("/here", Answer::Status(302, "Location: /minimal.yaml\r\n".to_owned()));
    https.put("/down", Answer::Status(503, String::new()));
    https.put("/coded", Answer::Status(200, "Content-Encoding: br\r\n".to_owned()));
    https.put_file("/minimal.yaml", include_str!("../../examples/minimal.yaml"));
    https.put_file("/large", "#".repeat((32 << 20) + 1));
    let base = https.url("", "");
    let fetch = "the policy can't be fetched";
    let check_server = "check the address, the server and its certificate";
    let use_https = "use https://; http:// is for this machine alone";
    let insecure = "error: the policy is not fetched over HTTP [policy.address]";
    for (url, says, help) in [
        (
            https.url("me:pw@", "/none?t=pw"),
            format!("{base}/none: error: {fetch}: status 404 [policy.unreachable]"),
            check_server,
        ),
        (
            https.url("", "/down"),
            format!("{base}/down: error: {fetch}: status 503 [policy.unreachable]"),
            check_server,
        ),
        (
            https.url("", "/loop"),
            format!("{base}/loop: error: {fetch}: more than five redirects [policy.unreachable]"),
            check_server,
        ),
        (https.url("", "/away"), format!("{base}/away: {insecure}"), use_https),
        (
            https.url("", "/large"),
            format!("{base}/large: error: the policy is larger than 32 MiB [policy.too_large]"),
            "split the sites over several instances, or check that this is the right address",
        ),
        (
            https.url("", "/coded"),
            format!("{base}/coded: error: {fetch}: it has a content coding [policy.unreachable]"),
            "let the server send the file without a Content-Encoding",
        ),
        (
            "http://policies.example/a.yaml".to_owned(),
            format!("http://policies.example/a.yaml: {insecure}"),
            use_https,
        ),
        (
            "https://me:pw@".to_owned(),
            "--config: error: not the address of a policy [policy.address]".to_owned(),
            "write https://HOST/PATH, or the name of a file",
        ),
    ] {
        let output = check(&url, folder.path());
        let expected = format!("{says}\n    help: {help}\n");
        assert_eq!(text(&output), expected, "{url}");
        assert_eq!(output.status.code(), Some(2), "{url}");
    }
    for url in [https.url("", "/minimal.yaml"), https.url("", "/here"), local] {
        let output = check(&url, folder.path());
        assert_eq!(text(&output), format!("{url}: fine, 1 site\n"));
    }
    // An authority that this machine does not trust vouches for nobody.
    let other = tempfile::tempdir().expect("a folder for temporary files");
    PolicyServer::https(other.path());
    let output = check(&https.url("", "/minimal.yaml"), other.path());
    assert!(text(&output).contains("certificate"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2));
}

/// `beadle check` of a policy, with the authority in this folder.
fn check(url: &str, folder: &Path) -> Output {
    Command::new(PROGRAM)
        .args(["check", url])
        .env("SSL_CERT_FILE", authority(folder))
        .current_dir(folder)
        .output()
        .expect("the program can be started")
}
