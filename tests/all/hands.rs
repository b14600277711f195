//! A crawler is blocked and let in again, from the command line and from the desk. The policy file has its
//! bytes back at the end.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::PathBuf,
    process::Command,
};

use sha2::{Digest, Sha256};

use crate::{
    cli_reload::text,
    support::{
        client::{Request, Response},
        need,
        origin::Origin,
        program::{Beadle, PROGRAM, Setup, json_lines},
    },
};

const TOKEN: &str = "correct-horse-battery-staple";
const SITE: &str = "    # the shop
    robots_txt: { source: policy, groups: [{ user_agents: [GPTBot], disallow: [/] }] }
    enforcement:
      mode: log   # for a week

  - hosts: [other.example]
    origin: http://127.0.0.1:1
    robots_txt: { source: policy, groups: [{ user_agents: [\"*\"], disallow: &closed [/x/] }] }
  - hosts: [third.example]
    origin: http://127.0.0.1:1
    robots_txt: { source: policy, groups: [{ user_agents: [\"*\"], disallow: *closed }] }
";

/// A program whose desk may write the policy file, or not.
fn start(origin: &Origin, edit: bool) -> Beadle {
    setup(origin, edit).start()
}

fn setup(origin: &Origin, edit: bool) -> Setup {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let token = folder.join("token");
    fs::write(&token, TOKEN).expect("written");
    let admin = format!("{{ address: $ADMIN, token_file: {}, edit: {edit} }}", token.display());
    Setup::site(origin.port, SITE).admin(&admin)
}

fn status(beadle: &Beadle) -> u16 {
    beadle.get("/a", "GPTBot/1.2").status
}

/// The policy file as it is.
fn policy(beadle: &Beadle) -> String {
    fs::read_to_string(beadle.policy_file()).expect("the policy")
}

fn look(beadle: &Beadle, path: &str) -> String {
    let get = Request::get(path).host("localhost");
    get.field("Authorization", format!("Bearer {TOKEN}")).send(beadle.admin).text()
}

fn send(beadle: &Beadle, path: &str, fields: &[(&str, &str)], from: &str) -> Response {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    let post = Request::new("POST", path).host("localhost").field("Sec-Fetch-Site", from);
    let post = post.field("Content-Type", "application/x-www-form-urlencoded");
    let post = post.field("Authorization", format!("Bearer {TOKEN}")).body(body.finish());
    post.send(beadle.admin)
}

/// The name that a page gives the bytes of the policy.
fn name_of(beadle: &Beadle) -> String {
    let bytes = fs::read(beadle.policy_file()).expect("the policy");
    Sha256::digest(bytes).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_crawler_is_blocked_and_let_in_again_to_the_byte() {
    let origin = Origin::plain();
    let beadle = start(&origin, true);
    let before = policy(&beadle);
    assert_eq!(status(&beadle), 200);

    // From the command line: a look, the change, and the way back.
    let site = ["--site", "site.example"];
    let verb = |words: &[&str]| beadle.verb(&[words, &site].concat());
    let seen = verb(&["block", "GPTBot", "--preview"]);
    assert_eq!((seen.status.code(), policy(&beadle)), (Some(0), before.clone()));
    for part in
        ["+        - { user_agents: [GPTBot], mode: block }  # beadle block", "log -> block"]
    {
        assert!(text(&seen).contains(part), "{part}: {}", text(&seen));
    }
    let asked = verb(&["block", "GPTBot"]);
    assert_eq!((asked.status.code(), policy(&beadle)), (Some(2), before.clone()));
    let written = verb(&["block", "GPTBot", "--for", "2h", "--yes", "--format", "json"]);
    let lines = json_lines(&written);
    assert_eq!((written.status.code(), &lines[0]["outcome"]), (Some(0), &"written".into()));
    assert_eq!(lines[0]["meaning"].as_array().map(Vec::len), Some(1), "{}", lines[0]);
    assert!(policy(&beadle).contains("mode: block, until: 20"));
    assert_eq!(status(&beadle), 403, "the server has read the file");
    let taken = verb(&["unblock", "GPTBot", "--yes"]);
    assert_eq!((taken.status.code(), policy(&beadle)), (Some(0), before.clone()));
    assert_eq!(status(&beadle), 200);
    let again = verb(&["unblock", "GPTBot", "--yes"]);
    assert!(again.status.code() == Some(2) && text(&again).contains("wrote nothing for GPTBot"));

    // From the desk: the page shows the change, and its form makes it.
    let page = look(&beadle, "/change?site=site.example&crawler=GPTBot&act=block");
    let name = name_of(&beadle);
    for part in
        ["mode: block }  # beadle block", "log</td>", "violations that would be refused", &name]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    fn act<'a>(act: &'a str, file: &'a str) -> [(&'a str, &'a str); 4] {
        [("site", "site.example"), ("crawler", "GPTBot"), ("act", act), ("file", file)]
    }
    assert_eq!(send(&beadle, "/change", &act("block", &name), "cross-site").status, 403);
    assert_eq!(send(&beadle, "/change", &act("block", ""), "same-origin").status, 400);
    assert_eq!(send(&beadle, "/change", &act("block", "00"), "same-origin").status, 409);
    assert_eq!(policy(&beadle), before);
    assert_eq!(send(&beadle, "/change", &act("block", &name), "same-origin").status, 200);
    assert_eq!(status(&beadle), 403);
    let undone = send(&beadle, "/change", &act("nothing", &name_of(&beadle)), "same-origin");
    assert_eq!((undone.status, policy(&beadle)), (200, before.clone()));
    assert_eq!(status(&beadle), 200);

    // No more alerts about it: an entry with the same way back.
    let page = look(&beadle, "/change?site=site.example&crawler=GPTBot&act=quiet");
    assert!(page.contains("[GPTBot] }  # beadle quiet"), "{page}");
    assert_eq!(
        send(&beadle, "/change", &act("quiet", &name_of(&beadle)), "same-origin").status,
        200
    );
    assert!(policy(&beadle).contains("{ user_agents: [GPTBot] }  # beadle quiet"));
    let taken = verb(&["unblock", "GPTBot", "--yes"]);
    assert_eq!((taken.status.code(), policy(&beadle)), (Some(0), before.clone()));
    let written = verb(&["quiet", "GPTBot", "--for", "2h", "--yes"]);
    assert!(written.status.success() && policy(&beadle).contains("[GPTBot], until: 20"));
    assert!(verb(&["unblock", "GPTBot", "--yes"]).status.success());

    // The text of a section, and no more than that.
    let name = name_of(&beadle);
    let section = |text, file| {
        [("site", "site.example"), ("section", "enforcement"), ("text", text), ("file", file)]
    };
    assert!(
        look(&beadle, "/policy/edit?site=site.example&section=enforcement")
            .contains("mode: log   # for a week")
    );
    for (text, says) in [
        ("    enforcement: { mode: blok }", "did you mean"),
        (
            "    enforcement:\n      mode: block\n  - hosts: [new.example]\n    origin: http://127.0.0.1:9",
            "no more than these sections",
        ),
        ("server: { listen: [127.0.0.1:1] }", ""),
    ] {
        let answer = send(&beadle, "/change", &section(text, &name), "same-origin");
        assert!(answer.status == 409 && answer.text().contains(says), "{text}: {}", answer.text());
    }
    assert_eq!(policy(&beadle), before);
    let text = "    enforcement:\r\n      mode: block\r\n\r\n";
    assert!(
        send(&beadle, "/policy/edit", &section(text, &name), "same-origin")
            .text()
            .contains("log</td>")
    );
    assert_eq!(send(&beadle, "/change", &section(text, &name), "same-origin").status, 200);
    let changed = before.replacen("mode: log   # for a week", "mode: block", 1);
    assert_eq!((status(&beadle), policy(&beadle)), (403, changed));
    // An anchor that other places use.
    let page = look(&beadle, "/policy/edit?site=other.example&section=robots_txt");
    assert!(page.contains("other places refer to"), "{page}");
}

#[test]
fn a_desk_that_may_not_write_hands_out_the_lines() {
    let origin = Origin::plain();
    let receivers = format!(
        "alerts: [{{ url: \"http://127.0.0.1:{}/s3cret\", format: discord }}, \
         {{ url: \"http://127.0.0.1:1/s3cret\", format: slack }}]\n",
        origin.port
    );
    let beadle = setup(&origin, false).sections(&receivers).start();
    let before = policy(&beadle);

    // A test event changes nothing: it needs the login and a page of this site.
    assert!(look(&beadle, "/").contains("action=\"/alerts/test\""));
    assert_eq!(send(&beadle, "/alerts/test", &[], "cross-site").status, 403);
    let stranger = Request::new("POST", "/alerts/test").host("localhost").body("");
    assert_eq!(stranger.send(beadle.admin).status, 401);
    let events = || origin.received().iter().filter(|one| one.method == "POST").count();
    assert_eq!(events(), 0);
    let page = send(&beadle, "/alerts/test", &[], "same-origin").text();
    for part in [&format!("http://127.0.0.1:{}: accepted with", origin.port), "1:1: no answer: "] {
        assert!(page.contains(part) && !page.contains("s3cret"), "{part}: {page}");
    }
    assert_eq!(events(), 1);
    let page = look(&beadle, "/change?site=site.example&crawler=GPTBot&act=block");
    assert!(
        page.contains("# beadle block") && page.contains("beadle block GPTBot --site"),
        "{page}"
    );
    assert!(!page.contains("<button>Apply"), "{page}");
    let name = name_of(&beadle);
    let fields =
        [("site", "site.example"), ("crawler", "GPTBot"), ("act", "block"), ("file", &*name)];
    assert_eq!(send(&beadle, "/change", &fields, "same-origin").status, 403);
    assert_eq!(policy(&beadle), before);

    // A closed path has no end.
    let args =
        ["block", "GPTBot", "--site", "site.example", "--path", "/x", "--for", "1d", "--yes"];
    let both = beadle.verb(&args);
    assert_eq!((both.status.code(), &policy(&beadle)), (Some(2), &before));
    assert!(text(&both).contains("leave out --for"), "{}", text(&both));

    // What can't be written is handed out as a patch.
    let real = beadle.folder().join("real.yaml");
    fs::rename(beadle.policy_file(), &real).expect("ours");
    std::os::unix::fs::symlink(&real, beadle.policy_file()).expect("ours");
    let linked = beadle.verb(&["block", "GPTBot", "--site", "site.example", "--yes"]);
    let shown = text(&linked);
    assert_eq!((linked.status.code(), policy(&beadle)), (Some(2), before));
    assert!(
        shown.contains("+        - { user_agents") && shown.contains("a link to another file"),
        "{shown}"
    );
}

/// A write that fails changes nothing and says so, from the command line and from the desk.
#[test]
fn a_policy_on_a_full_or_read_only_disk_stays_as_it_is() {
    let tools = ["unshare", "mount", "nsenter"].map(need);
    if tools.contains(&None) {
        return;
    }
    let origin = Origin::plain();
    let setup = setup(&origin, true).on_small_disk("$DIR/disk", "64k");
    let beadle = setup.config("$DIR/disk/beadle.yaml", &[]).start();
    let inside = beadle.folder().join("disk");
    let root = PathBuf::from(format!("/proc/{}/root", beadle.pid()));
    let disk = root.join(inside.strip_prefix("/").expect("it is absolute"));
    let file = disk.join("beadle.yaml");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("ours");
    let state = || {
        let (bytes, meta) =
            (fs::read(&file).expect("the policy"), fs::metadata(&file).expect("it"));
        let names = fs::read_dir(&disk).expect("the disk").count();
        (bytes, [meta.mode(), meta.uid(), meta.gid()], meta.ino(), names)
    };
    let hash: String =
        Sha256::digest(state().0).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    let fields =
        [("site", "site.example"), ("crawler", "GPTBot"), ("act", "block"), ("file", &*hash)];
    let block = || send(&beadle, "/change", &fields, "same-origin");
    let refuses = |why: &str| {
        let before = state();
        let answer = block();
        assert_eq!(answer.status, 409);
        assert!(answer.text().contains(why), "{}", answer.text());
        let mut verb = Command::new(PROGRAM);
        verb.args(["block", "GPTBot", "--site", "site.example", "--yes", "--config"]).arg(&file);
        let output = verb.output().expect("the program can be started");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        for part in [why, "is not written", "apply the patch above by hand", "# beadle block"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(state() == before && status(&beadle) == 200, "something changed");
    };
    let filler = disk.join("filler");
    fs::write(&filler, vec![0; 1 << 20]).expect_err("it is full");
    refuses("No space left on device");
    fs::remove_file(&filler).expect("ours");

    let remount = |how: &str| {
        let mut mount = Command::new("nsenter");
        mount.args(["--preserve-credentials", "--user", "--mount", "--target"]);
        mount.arg(beadle.pid().to_string()).args(["mount", "-o", how]).arg(&inside);
        assert!(mount.status().expect("it can be started").success());
    };
    remount("remount,bind,ro");
    refuses("Read-only file system");
    remount("remount,bind,rw");
    let (before, owner, _, names) = state();
    assert_eq!(block().status, 200);
    let after = state();
    assert_eq!(
        (after.1, after.3, status(&beadle)),
        (owner, names, 403),
        "mode, owner, no other file"
    );
    assert_ne!(after.0, before);
}
