//! Each importer against the semantics of its source, on real User-Agents and on paths.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
};

use jiff::Timestamp;
use proptest::prelude::*;
use regex_automata::{meta::Regex, util::syntax};

use super::{draft::Loss, *};
use crate::{
    formats::robots::{self, Access, RobotsTxt, Target},
    rules::{
        crawlers::Class,
        enforce::{Case, Moment, Rulebook, decide, is_blank},
        policy::Policy,
    },
};

const USER_AGENTS: &str = include_str!("../../../tests/data/crawlers/user_agents.txt");

fn place() -> Place {
    Place { host: "www.example.com".to_owned(), origin: "http://127.0.0.1:3000".to_owned() }
}

/// The policy, which has to pass the check, and the losses.
fn imported(kind: Kind, text: &str) -> (Rulebook, Imported) {
    let imported = import(kind, text.as_bytes(), &place()).unwrap_or_else(|why| panic!("{why}"));
    let (policy, findings) = crate::rules::policy::read("policy", imported.policy.as_bytes());
    let warnings =
        findings.iter().filter(|one| one.severity > crate::base::diagnostic::Severity::Note);
    let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    assert!(warnings.is_empty(), "{warnings:?}\n{}", imported.policy);
    let policy: Policy = policy.unwrap_or_else(|| panic!("{}", imported.policy));
    (Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None), imported)
}

fn published(rulebook: &Rulebook) -> &RobotsTxt {
    rulebook.sites()[0].edition().file()
}

/// Whether the policy disallows a request, and the names in its User-Agent. People are not judged.
fn judged(rulebook: &Rulebook, user_agent: &str, path: &str) -> (Option<bool>, Vec<String>, bool) {
    let site = &rulebook.sites()[0];
    let claim = rulebook.catalogue().identify(user_agent.as_bytes(), &site.names);
    let target = Target::new(path.as_bytes());
    let is_nameless = is_blank(user_agent.as_bytes());
    let case = Case { claim: &claim, is_nameless, target: &target };
    let decision = decide(site, case, &Moment::at(Timestamp::UNIX_EPOCH));
    let names = claim.tokens().map(|name| name.as_str().to_owned()).collect();
    let is_person = claim.class() == Class::Browser;
    (
        (!is_person).then_some(decision.access == Access::Disallow),
        names,
        decision.judgement.is_some(),
    )
}

fn finds(regex: &str, is_caseless: bool, text: &str) -> bool {
    thread_local!(static COMPILED: RefCell<HashMap<(String, bool), Regex>> = RefCell::default());
    let compile = || {
        let config = syntax::Config::new().case_insensitive(is_caseless);
        Regex::builder().syntax(config).build(regex).expect("a regular expression")
    };
    COMPILED.with_borrow_mut(|compiled| {
        let key = (regex.to_owned(), is_caseless);
        compiled.entry(key).or_insert_with(compile).is_match(text)
    })
}

/// Holds the policy against the source on all User-Agents. A difference is fine if a loss has a part
/// of the User-Agent, or one of the names in it.
fn agrees(kind: Kind, text: &str, paths: &[&str], refuses: impl Fn(&str, &str) -> bool) {
    let (rulebook, Imported { losses, .. }) = imported(kind, text);
    let (mut compared, mut refused) = (0, 0);
    for user_agent in USER_AGENTS.lines().filter(|line| !line.starts_with('#')) {
        for path in paths {
            let (found, names, is_bound) = judged(&rulebook, user_agent, path);
            let Some(found) = found else { continue };
            compared += 1;
            refused += usize::from(found);
            let expected = refuses(user_agent, path);
            let is_said = || {
                let has = |what: &str| user_agent.to_lowercase().contains(&what.to_lowercase());
                losses.iter().any(|loss| {
                    loss.what.split('|').any(has)
                        || names.iter().any(|name| name.eq_ignore_ascii_case(&loss.what))
                })
            };
            // The source finds names inside longer words; one loss says so for all.
            let is_inside =
                expected && !found && losses.iter().any(|loss| loss.place == "every rule");
            // `*` does not bind every client.
            let is_unbound = !is_bound && losses.iter().any(|loss| loss.what == "people");
            assert!(
                found == expected
                    || is_said()
                    || expected && is_unbound
                    || is_inside && is_in_word(user_agent, text),
                "{user_agent} {path}: the source {expected}, the policy {found}\n{losses:#?}"
            );
        }
    }
    assert!(compared > 150 && refused > 3, "{compared} {refused}");
}

/// Whether the source finds a name within a longer word of the User-Agent, or in an address.
fn is_in_word(user_agent: &str, source: &str) -> bool {
    let lower = user_agent.to_lowercase();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let names = source.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    let names: BTreeSet<String> =
        names.filter(|name| name.len() > 2).map(str::to_lowercase).collect();
    names.iter().any(|name| {
        lower.match_indices(name.as_str()).any(|(at, _)| {
            lower[..at].ends_with(is_letter) || lower[at + name.len()..].starts_with(is_letter)
        })
    })
}

// === robots.txt

const ROBOTS: &str = "\u{feff}# Our rules\nUser-agent: *\nDisallow: /private/\nAllow: /private/open$\n\
    Crawl-delay: 5\n\nUser-agent: Googlebot/2.1\nUser-agent: MJ12bot\nDisallow: /*?session=\n\
    Disallow: nowhere\nContent-Signal: search=yes, ai-train=no\n\nUser-agent: GPTBot\nDisallow: /\n\
    User-agent: googlebot\nDisallow: /more/\n\nUser-agent: One, Two\nDisallow: /x\n\
    Sitemap: https://www.example.com/map.xml\nSitemap: /relative.xml\nDisalow: /typo\n";

fn differences(before: &str, kind: Kind) -> (Vec<String>, Vec<Loss>) {
    let (rulebook, Imported { losses, .. }) = imported(kind, before);
    let (file, _) = robots::parse(before.as_bytes());
    let rows = crate::advice::comparison::differences(&file, published(&rulebook)).rows;
    (rows.iter().map(|row| format!("{row:?}")).collect(), losses)
}

#[test]
fn a_robots_txt_means_the_same_as_a_policy() {
    let (found, losses) = differences(ROBOTS, Kind::RobotsTxt);
    assert!(found.iter().all(|row| row.contains("[\"One, Two\"]")), "{found:#?} {losses:#?}");
    let lost: Vec<&str> = losses.iter().map(|loss| loss.what.as_str()).collect();
    for what in ["nowhere", "/relative.xml", "1 line of comments", "One, Two"] {
        assert!(lost.contains(&what), "{what}: {lost:?}");
    }
    let (rulebook, Imported { policy, .. }) = imported(Kind::RobotsTxt, ROBOTS);
    let text = published(&rulebook).to_string();
    for line in
        ["Crawl-delay: 5", "Content-Signal: search=yes, ai-train=no", "Sitemap: https://www"]
    {
        assert!(text.contains(line), "{line}\n{text}\n{policy}");
    }
}

#[test]
fn a_managed_robots_txt_keeps_its_signals() {
    let text = "# As a condition, these signals apply.\n# BEGIN Cloudflare Managed Content\n\
        User-Agent: *\nContent-signal: search=yes,ai-train=no,use=reference\nAllow: /\n\n\
        User-agent: CCBot\nDisallow: /\n\n# END Cloudflare Managed Content\n\n\
        User-Agent: *\nDisallow: /lp\n";
    let (found, losses) = differences(text, Kind::RobotsTxt);
    assert!(found.is_empty(), "{found:#?} {losses:#?}");
    assert!(losses.iter().any(|loss| loss.what == "managed part"), "{losses:#?}");
    let (rulebook, _) = imported(Kind::RobotsTxt, text);
    assert!(published(&rulebook).to_string().contains("search=yes,ai-train=no,use=reference"));
    let (found, losses) = differences("", Kind::RobotsTxt);
    assert!(found.is_empty() && losses.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 32))]

    #[test]
    fn a_difference_to_the_robots_txt_has_a_loss(
        lines in prop::collection::vec(prop_oneof![
            1 => "User-agent: (GPTBot|CCBot|Googlebot|\\*|AcmeBot 1\\.0|AcmeBot/2|x)",
            3 => "(Allow|Disallow): ([/*a][ab*%4 ]{0,3}[$]?)?",
            1 => "(Crawl-delay: [0-9]|Sitemap: https://a\\.example/|Noindex: /a|# a|Host: b)",
        ], 0..12),
    ) {
        let (found, losses) = differences(&lines.join("\n"), Kind::RobotsTxt);
        let is_comment = |loss: &Loss| loss.what.ends_with("of comments");
        prop_assert!(found.is_empty() || !losses.iter().all(is_comment), "{:?}", lines);
    }
}

// === lists of names

#[test]
fn a_list_of_ai_robots_txt_becomes_one_group() {
    let text = r#"{
        "GPTBot": { "operator": "OpenAI", "respect": "Yes" },
        "Google-Extended": { "operator": "Google", "respect": "Yes" },
        "SomeNewTrainer": { "operator": "unknown" },
        "iaskspider/2.0": { "operator": "iAsk" },
        "Brightbot 1.0": { "operator": "Bright Data" },
        "comment": "no crawler"
    }"#;
    let (rulebook, Imported { losses, .. }) = imported(Kind::AiRobotsJson, text);
    let as_file = "User-agent: GPTBot\nUser-agent: Google-Extended\nUser-agent: SomeNewTrainer\n\
        User-agent: iaskspider/2.0\nUser-agent: Brightbot 1.0\nDisallow: /\n";
    let found = crate::advice::comparison::differences(
        &robots::parse(as_file.as_bytes()).0,
        published(&rulebook),
    );
    assert_eq!(found.rows, [], "{losses:#?}");
    assert!(losses.iter().any(|loss| loss.place == "comment"), "{losses:#?}");
    assert!(import(Kind::AiRobotsJson, b"[1]", &place()).is_err());
}

const NGINX: &str = r#"
# Which clients are refused.
map $http_user_agent $is_bad {
    default         0;
    ~*Googlebot     0;
    "~*AhrefsBot"   1;
    ~*semrush       1;
    ~Bytespider     1;
    ~*python-requests/2  1;
    "~*bot[0-9]+"   1;
    "curl/8.5.0"    1;
}
server {
    location / {
        if ($http_user_agent ~* "(GPTBot|CCBot|Claude-Web|Brightbot\ 1\.0|Mozilla/4)") {
            return 403;
        }
        if ($http_user_agent = "") { return 444; }
        if ($is_bad) { return 403; }
    }
    location /admin/ {
        if ($http_user_agent ~* bingbot) { return 403; }
    }
}
"#;

#[test]
fn lists_of_nginx_refuse_the_same_clients() {
    agrees(Kind::NginxMap, NGINX, &["/", "/a?b"], |user_agent, _| {
        let listed = [
            ("Googlebot", true, false),
            ("AhrefsBot", true, true),
            ("semrush", true, true),
            ("Bytespider", false, true),
            ("python-requests/2", true, true),
            ("bot[0-9]+", true, true),
        ];
        let first = listed.iter().find(|(regex, caseless, _)| finds(regex, *caseless, user_agent));
        first.is_some_and(|(_, _, is_refused)| *is_refused)
            || finds(r"(GPTBot|CCBot|Claude-Web|Brightbot\ 1\.0|Mozilla/4)", true, user_agent)
    });
    let (_, Imported { policy, losses }) = imported(Kind::NginxMap, NGINX);
    let lost: Vec<&str> = losses.iter().map(|loss| loss.what.as_str()).collect();
    for what in ["python-requests/2", "bot[0-9]+", "curl/8.5.0", "Mozilla/4"] {
        assert!(lost.contains(&what), "{what}: {lost:?}");
    }
    assert!(losses.iter().any(|loss| loss.why.contains("location /admin/")), "{losses:#?}");
    assert!(policy.contains("- mode: block"), "{policy}");
}

const APACHE: &str = r#"
SetEnvIfNoCase User-Agent "AhrefsBot" bad_bot
BrowserMatch ^Wget bad_bot
SetEnvIf User-Agent "SemrushBot(-SA)?" bad_bot=1
SetEnvIf Referer spam bad_bot
<Limit GET POST>
  Deny from env=bad_bot
</Limit>
RewriteEngine On
RewriteCond %{HTTP_USER_AGENT} GPTBot [NC,OR]
RewriteCond %{HTTP_USER_AGENT} "\b(CCBot|Bytespider)\b" [NC]
RewriteRule !^/?robots\.txt$ - [F]
RewriteCond %{HTTP_USER_AGENT} bingbot [NC]
RewriteCond %{REQUEST_URI} ^/admin/
RewriteRule .* - [F]
RewriteCond %{HTTP_USER_AGENT} DuckDuckBot
RewriteRule ^old$ /new [R=301]
"#;

#[test]
fn lists_of_apache_refuse_the_same_clients() {
    agrees(Kind::Apache, APACHE, &["/"], |user_agent, _| {
        finds("AhrefsBot", true, user_agent)
            || finds("^Wget", false, user_agent)
            || finds("SemrushBot(-SA)?", false, user_agent)
            || finds("GPTBot", true, user_agent)
            || finds(r"\b(CCBot|Bytespider)\b", true, user_agent)
    });
    let (_, Imported { losses, .. }) = imported(Kind::Apache, APACHE);
    let whys: Vec<&str> = losses.iter().map(|loss| loss.why.as_str()).collect();
    for why in ["another condition", "no refusal", "at one end"] {
        assert!(whys.iter().any(|one| one.contains(why)), "{why}: {whys:?}");
    }
}

const ANUBIS: &str = r#"
bots:
  - import: (data)/bots/pathological.yaml
  - name: well-known
    path_regex: ^/\.well-known/.*$
    action: ALLOW
  - name: favicon
    path_regex: ^/favicon\.ico$
    action: ALLOW
  - name: search
    user_agent_regex: bingbot
    action: ALLOW
  - name: ai
    user_agent_regex: >-
      GPTBot|CCBot|ClaudeBot|Kangaroo Bot
    action: DENY
  - name: ahrefs-in-shop
    user_agent_regex: AhrefsBot
    path_regex: ^/shop/
    action: DENY
  - name: internal
    path_regex: ^/internal/
    action: DENY
  - name: qwant
    user_agent_regex: \+https\://help\.qwant\.com/bot/
    action: ALLOW
    remote_addresses: ["192.0.2.0/24"]
  - name: cf
    headers_regex: { CF-Worker: ".*" }
    action: DENY
  - name: no-agent
    action: DENY
    expression: userAgent == ""
  - name: heavy
    user_agent_regex: SemrushBot
    action: WEIGH
    weight: { adjust: 5 }
  - name: browsers
    user_agent_regex: Mozilla|Opera
    action: CHALLENGE
dnsbl: false
"#;

#[test]
fn bot_policies_of_anubis_refuse_the_same_requests() {
    let paths =
        ["/", "/.well-known/x", "/favicon.ico", "/favicon.ico?v=1", "/shop/a", "/internal/a"];
    agrees(Kind::Anubis, ANUBIS, &paths, |user_agent, target| {
        let path = target.split('?').next().unwrap_or_default();
        // Rules that need a field or an address match no request here; a challenge is no refusal.
        if path.starts_with("/.well-known/") || path == "/favicon.ico" {
            return false;
        }
        let has = |regex: &str| finds(regex, false, user_agent);
        if has("bingbot") {
            return false;
        }
        has("GPTBot|CCBot|ClaudeBot|Kangaroo Bot")
            || (has("AhrefsBot") && path.starts_with("/shop/"))
            || path.starts_with("/internal/")
    });
    let (_, Imported { losses, .. }) = imported(Kind::Anubis, ANUBIS);
    let lost: Vec<&str> = losses.iter().map(|loss| loss.what.as_str()).collect();
    for what in [
        "(data)/bots/pathological.yaml",
        "qwant: remote_addresses",
        "cf: headers_regex",
        "no-agent: expression",
        "heavy",
        "browsers",
        "dnsbl",
    ] {
        assert!(lost.contains(&what), "{what}: {lost:?}");
    }
    assert!(losses.iter().any(|loss| loss.place == "line 3"), "{losses:#?}");
    // A file of rules alone, and JSON.
    let list = "- { name: a, user_agent_regex: GPTBot, action: DENY }\n";
    let json = r#"{"bots": [{"name": "a", "user_agent_regex": "GPTBot", "action": "DENY"}]}"#;
    for text in [list, json] {
        let (rulebook, _) = imported(Kind::Anubis, text);
        assert_eq!(judged(&rulebook, "GPTBot/1.2", "/").0, Some(true));
    }
}

#[test]
fn the_content_tells_the_kind() {
    for (text, kind) in [
        (ROBOTS, Kind::RobotsTxt),
        ("", Kind::RobotsTxt),
        (NGINX, Kind::NginxMap),
        (APACHE, Kind::Apache),
        (ANUBIS, Kind::Anubis),
        ("- name: a\n  action: DENY\n", Kind::Anubis),
        (r#"{"bots": []}"#, Kind::Anubis),
        (r#"{"GPTBot": {"operator": "OpenAI"}}"#, Kind::AiRobotsJson),
    ] {
        assert_eq!(guess(text.as_bytes()), kind, "{text}");
    }
}
