//! What the published file says about limits.

use jiff::Timestamp;

use crate::{
    formats::robots::OriginFile,
    rules::{
        enforce::{History, Rulebook},
        policy::Policy,
    },
};

const GROUPS: &str = "[{ user_agents: [\"*\"], disallow: [/private/] }, { user_agents: [GPTBot, \
                      ClaudeBot], disallow: [/ai/] }, { user_agents: [AhrefsBot], crawl_delay: 5 }]";

/// The groups of the published file with these limits, each as names and lines.
fn published(source: &str, origin: Option<&'static str>, limits: &str) -> Vec<String> {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: {{ source: \
         {source}, groups: {GROUPS} }}, enforcement: {{ rate_limits: [{limits}] }} }}]"
    );
    let policy: Policy = text.parse().expect("a policy");
    let mut history = History::after(None, Timestamp::UNIX_EPOCH);
    let file = origin.map(|text| OriginFile::Present(text.into()));
    history.origins.extend(file.map(|file| ("a.example".to_owned(), file)));
    let rulebook = Rulebook::compile_with(&policy, &mut history);
    let text = String::from_utf8(rulebook.sites()[0].edition().bytes().to_vec()).expect("text");
    let blocks = text.split("\n\n").filter(|block| block.contains("User-agent"));
    let is_line = |line: &&str| !line.starts_with('#');
    blocks.map(|one| one.lines().filter(is_line).collect::<Vec<_>>().join("; ")).collect()
}

#[test]
fn each_crawler_reads_the_strictest_limit_in_its_own_group() {
    let limits = "{ user_agents: [\"*\"], requests: 1/2s, publish: true }, { user_agents: [GPTBot, \
                  OwnBot], requests: 1/10s, publish: true }, { user_agents: [\"*\"], requests: 1/1m }";
    let [two, ten] =
        [2, 10].map(|s| format!("Crawl-delay: {s} # limit; Request-rate: 1/{s} # limit"));
    assert_eq!(
        published("policy", None, limits),
        [
            format!("User-agent: GPTBot; Disallow: /ai/; {ten}"),
            format!("User-agent: ClaudeBot; Disallow: /ai/; {two}"),
            // The pace of a group stays, and is judged.
            "User-agent: AhrefsBot; Disallow:; Crawl-delay: 5".to_owned(),
            // Without the rules of `*`, its own group would free it.
            format!("User-agent: OwnBot; Disallow: /private/; {ten}"),
            format!("User-agent: *; Disallow: /private/; {two}"),
        ]
    );
}

#[test]
fn a_crawler_that_ignores_the_line_and_one_that_star_does_not_bind_lose_no_rule() {
    let limits = "{ user_agents: [Googlebot, ChatGPT-User, Google-Extended-Not], requests: 1/10s, \
                  publish: true }";
    let said = "Crawl-delay: 10 # limit; Request-rate: 1/10 # limit";
    let found = published("policy", None, limits);
    let of = |name: &str| found.iter().find(|one| one.contains(name));
    assert_eq!(of("Googlebot"), None, "it ignores Crawl-delay");
    let fetcher = "User-agent: ChatGPT-User; Disallow:; ".to_owned() + said;
    assert_eq!(of("ChatGPT-User"), Some(&fetcher));
    let site = "User-agent: Google-Extended-Not; Disallow: /private/; ".to_owned() + said;
    assert_eq!(of("Google-Extended-Not"), Some(&site));
}

#[test]
fn the_groups_of_the_origin_bind_as_well() {
    let origin = "User-agent: *\nDisallow: /cgi/\n\nUser-agent: Bytespider\nDisallow: /no/\n\n\
                  User-agent: YandexBot\nCrawl-delay: 3\n";
    let limits = "{ user_agents: [Bytespider, YandexBot, OwnBot], requests: 1/10s, publish: true }";
    let said = "Crawl-delay: 10 # limit; Request-rate: 1/10 # limit";
    let found = published("merge", Some(origin), limits);
    let of = |name: &str| found.iter().find(|one| one.contains(name)).expect(name);
    assert_eq!(*of("Bytespider"), format!("User-agent: Bytespider; Disallow: /no/; {said}"));
    assert_eq!(of("YandexBot"), "User-agent: YandexBot; Disallow:; Crawl-delay: 3");
    let both = "Disallow: /private/; Disallow: /cgi/";
    assert_eq!(*of("OwnBot"), format!("User-agent: OwnBot; {both}; {said}"));
    assert_eq!(*of("User-agent: *"), format!("User-agent: *; {both}"));
}

#[test]
fn without_published_limits_the_file_is_the_same() {
    let limits = "{ user_agents: [GPTBot], requests: 1/10s }";
    assert_eq!(published("policy", None, limits), published("policy", None, ""));
}
