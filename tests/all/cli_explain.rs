//! `beadle explain` says what the proxy does, also where a robots.txt alone says otherwise.

use std::process::{Command, Output};

use crate::support::{
    GROUPS,
    client::Client,
    origin::Origin,
    program::{PROGRAM, Setup, json_lines},
};

/// Explains targets by a robots.txt alone.
fn by_file(robots_txt: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("robots.txt");
    std::fs::write(&file, robots_txt).expect("the folder is ours");
    let output = Command::new(PROGRAM)
        .args(["explain", "--product-token", "BadBot", "--robots-txt"])
        .arg(file)
        .args(args)
        .output()
        .expect("the program can be started");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn another_form_is_a_note_and_the_verdict_stays_that_of_rfc9309() {
    const FILE: &str = "User-agent: *\nDisallow: /private/\nAllow: /\n";
    let found = text(&by_file(FILE, &["//private/x", "/public/x", "/private/x"]));
    assert_eq!(
        found,
        "//private/x
  verdict   allow for BadBot
  group     *
  rule      Allow: /   (robots.txt line 3, 1 octet)
  note      other form at the proxy: an origin may read the path as /private/x
            Disallow: /private/   (robots.txt line 2)
/public/x
  verdict   allow for BadBot
  group     *
  rule      Allow: /   (robots.txt line 3, 1 octet)
/private/x
  verdict   disallow for BadBot
  group     *
  rule      Disallow: /private/   (robots.txt line 2, 9 octets)
  over      Allow: /   (robots.txt line 3, 1 octet)
"
    );
    assert!(found.lines().all(|line| line.chars().count() <= 80), "{found}");
    let rows = json_lines(&by_file(FILE, &["--format", "json", "//private/x"]));
    let expected = serde_json::json!({
        "target": "//private/x",
        "path": "//private/x",
        "product_token": "BadBot",
        "verdict": "allow",
        "group": ["*"],
        "rule": { "directive": "allow", "pattern": "/", "line": 3 },
    });
    assert_eq!(rows, [expected]);
    // More forms than are judged: the rule that is named need not match.
    let target = "/;a/%2f".repeat(200);
    let found = text(&by_file(FILE, &[&target]));
    let note = "note      other form at the proxy: origins may read the path in too many ways\n";
    assert!(
        found.contains(note) && found.contains("            Disallow: /private/   "),
        "{found}"
    );
}

#[test]
fn a_target_that_the_proxy_refuses_has_no_decision() {
    let origin = Origin::plain();
    let beadle =
        Setup::site(origin.port, GROUPS).server("  limits: { header_size: 1000KiB }\n").start();
    let (longest, too_long) =
        (format!("/{}", "a".repeat(65_533)), format!("/{}", "a".repeat(65_534)));
    for (target, why) in [
        ("/private/x", None),
        ("//private/x#y", None),
        ("/caf\u{e9}?f={\"a\":1}", None),
        ("/?u=http://other.example/", None),
        (&longest, None),
        (&too_long, Some("it is too long")),
        ("/a\tb", Some("it has a control character (write it as %09)")),
        ("/a\u{7f}b", Some("it has a control character (write it as %7F)")),
        ("*", Some("it is neither a path nor a URL")),
        ("?a", Some("it is neither a path nor a URL")),
        ("foo:bar", Some("it is neither a path nor a URL")),
        ("private/x", Some("it is neither a path nor a URL")),
        ("ftp://site.example/x", Some("it is neither a path nor a URL")),
    ] {
        let what = &target[..target.len().min(40)];
        let mut client = Client::connect(beadle.port);
        let head = format!("GET {target} HTTP/1.1\r\nHost: site.example\r\n\r\n");
        client.write(head.as_bytes());
        let status = client.head().expect("an answer").status;
        assert_eq!(status == 400, why.is_some(), "{what}: {status}");
        let output = beadle.verb(&["explain", "--user-agent", "BadBot/1.0", target]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        match why {
            None => assert_eq!(output.status.code(), Some(0), "{what}: {stderr}"),
            Some(why) => {
                assert_eq!(output.status.code(), Some(2), "{what}: {}", text(&output));
                assert!(output.stdout.is_empty() && stderr.lines().count() == 1, "{what}");
                assert!(stderr.contains(" gets 400 from the proxy: "), "{what}: {stderr}");
                assert!(stderr.contains(why), "{what}: {stderr}");
                assert!(stderr.trim_end().chars().all(|c| !c.is_control()), "{stderr:?}");
            }
        }
    }
    let output = beadle.verb(&["explain", "--user-agent", "BadBot/1.0", "https://a%b/x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("its host is not valid"));
    // A robots.txt alone is read for any target; the text says what the proxy does.
    let found = text(&by_file("User-agent: *\nDisallow: /a\n", &["/a\tb"]));
    assert!(
        found.contains("note      the proxy answers 400: it has a control character"),
        "{found}"
    );
    let found =
        text(&by_file("User-agent: *\nDisallow: /a\n", &["https://b.example", "b.example/a"]));
    assert!(!found.contains("note"), "{found}");
}

#[test]
fn a_path_belongs_to_the_only_site_also_if_that_has_a_wildcard() {
    for (hosts, extra) in [
        ("a.example", ""),
        ("\"*.a.example\"", ""),
        ("\"*.a.example\"", "    default: true\n"),
        ("\"::1\"", ""),
    ] {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let file = folder.path().join("beadle.yaml");
        let text = format!(
            "sites:\n  - hosts: [{hosts}]\n    origin: http://127.0.0.1:1\n{extra}    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [/a/] }}] }}\n"
        );
        std::fs::write(&file, text).expect("the folder is ours");
        let output = Command::new(PROGRAM)
            .args(["explain", "--user-agent", "GPTBot/1.2", "/a/x", "--config"])
            .arg(&file)
            .output()
            .expect("the program can be started");
        assert_eq!(output.status.code(), Some(0), "{hosts}: {output:?}");
        assert!(
            self::text(&output).contains("  rule      Disallow: /a/   "),
            "{hosts}: {output:?}"
        );
    }
}
