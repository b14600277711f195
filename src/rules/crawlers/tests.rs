//! Claims with small catalogues, whose names are real or invented.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn catalogue(entries: Value) -> Result<Catalogue, Vec<crate::base::diagnostic::Diagnostic>> {
    let entries: Vec<Entry> = serde_json::from_value(entries).expect("valid entries");
    Catalogue::new(entries)
}

pub(super) fn sample() -> Catalogue {
    catalogue(json!([
        { "product_token": "Googlebot", "operator": "Google", "purpose": "search" },
        { "product_token": "Googlebot-Image", "falls_back_to": ["Googlebot"] },
        { "product_token": "AdsBot-Google", "ignores_star": true },
        { "product_token": "GPTBot", "purpose": "ai-training" },
        { "product_token": "ChatGPT-User", "kind": "user-triggered", "purpose": "ai-user" },
        { "product_token": "Mail.RU_Bot" },
        { "product_token": "360Spider", "aliases": ["HaosouSpider"] },
        { "product_token": "Screaming Frog SEO Spider" },
        { "product_token": "Frog Spider" },
        {
            "product_token": "Sogou",
            "match": "never",
            "aliases": ["SogouExplorer"],
            "phrases": ["Sogou Pic Spider"],
        },
        {
            "product_token": "Pinterestbot",
            "group_names": ["Pinterest"],
            "phrases": ["Pinterest/0.2"],
        },
        { "product_token": "A Patent Crawler" },
        { "product_token": "Known Agents" },
        { "product_token": "watchingapp", "documentation": "https://www.watchingapp.example/" },
        { "product_token": "watch.example", "documentation": "https://watch.example/bot" },
        { "product_token": "Viber", "match": "start" },
        { "product_token": "Operator", "match": "product" },
        { "product_token": "Code", "match": "named" },
        { "product_token": "Odin", "match": "linked" },
        { "product_token": "Tumblr", "match": "alone" },
        { "product_token": "Nutch", "kind": "automation", "match": "version" },
        { "product_token": "Pingdom.com_bot_version_", "match": "prefix" },
        { "product_token": "trendictionbot" },
        { "product_token": "Zao" },
        { "product_token": "curl", "kind": "automation", "match": "named" },
        { "product_token": "okhttp", "kind": "app", "purpose": "http-library" },
        { "product_token": "Brewer", "kind": "app", "purpose": "tool" },
        { "product_token": "Overcaster", "purpose": "feed" },
        { "product_token": "Linkbot", "purpose": "preview" },
        { "product_token": "libwww-perl", "kind": "automation", "phrases": ["LWP::Simple"] },
        { "product_token": "facebookexternalhit" },
        { "product_token": "line-poker", "borrows": ["facebookexternalhit"] },
        { "product_token": "Google-Extended", "kind": "control" },
    ]))
    .expect("a valid catalogue")
}

fn check(user_agent: &[u8], class: &str, tokens: &[&str]) {
    let (catalogue, site) = (sample(), SiteNames::default());
    let claim = catalogue.identify(user_agent, &site);
    let found: Vec<&str> = claim.tokens().map(Name::as_str).collect();
    let shown = String::from_utf8_lossy(user_agent);
    assert_eq!((claim.class().as_str(), &found[..]), (class, tokens), "{shown}");
    assert_eq!(claim.primary().map(Name::as_str), tokens.first().copied());
}

#[test]
fn a_pattern_identifies_a_crawler_that_does_not_send_its_name() {
    let entry = |token: &str, pattern: &str| Entry {
        product_token: token.to_owned(),
        user_agent_pattern: Some(pattern.to_owned()),
        ..Entry::default()
    };
    let catalogue = Catalogue::new([
        entry("GeminiApp", "^Google$"),
        entry("Codex", r"^Mozilla/5\.0 \(compatible\)$"),
        entry("Latin", r"\xe9t\xe9"),
    ])
    .expect("three patterns");
    let nobody = SiteNames::new(&catalogue, []);
    for (user_agent, tokens) in [
        (&b"Google"[..], &["GeminiApp"][..]),
        (b"x Google", &[]),
        (b"Mozilla/5.0 (compatible)", &["Codex"]),
        (b"\xe9t\xe9/1.0", &["Latin"]),
        (b"", &[]),
    ] {
        let claim = catalogue.identify(user_agent, &nobody);
        let found: Vec<_> = claim.tokens().map(Name::as_str).collect();
        assert_eq!(found, tokens, "{}", user_agent.escape_ascii());
    }
    let long = |before: usize| [&b"x".repeat(before)[..], b"\xe9t\xe9"].concat();
    let (seen, unseen) = (long(4 * 1024 - 3), long(4 * 1024));
    assert_eq!(format!("{:?}", catalogue.identify(&seen, &nobody)), r#"crawler ["Latin"]"#);
    assert!(catalogue.identify(&unseen, &nobody).truncated, "a pattern does not see the end");
    for broken in ["(", "a{1000}{1000}{1000}", "(?=a)"] {
        let findings = Catalogue::new([entry("A", broken)]).expect_err(broken);
        assert_eq!(findings[0].code, "crawlers.bad_pattern", "{broken}");
    }
}

#[test]
fn rfc9110_10_1_5_names_are_found_in_every_place_of_the_field() {
    for user_agent in [
        "Googlebot",
        "Googlebot/2.1 (+http://www.google.com/bot.html)",
        "googleBOT/2.1",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1) Safari/1",
        "Mozilla/5.0 (X11; Linux x86_64; Googlebot/2.1) AppleWebKit/537.36 Safari/537.36",
        "Mozilla/5.0 (X11) AppleWebKit/1 (KHTML, like Gecko); compatible; Googlebot/2.1; +http://x",
        "Mozilla/5.0 (a (b (Googlebot/2.1)) ; x)",
        "Mozilla/5.0 (compatible; Googlebot/2.1",
        "Mozilla/5.0+(compatible;+Googlebot/2.1;++http://www.google.com/bot.html)",
        "Mozilla/5.0 (compatible;Googlebot;+http://x)",
        "\"Googlebot/2.1\"",
        "'Googlebot'",
        "Googlebot%2F2.1",
        "Mozilla%20Googlebot",
        "http.client/1 (Googlebot/2.1; +https://example.org/)",
        "Googlebot Googlebot/2.1 GOOGLEBOT",
        "Googlebot.",
        "Googlebot2.1",
    ] {
        check(user_agent.as_bytes(), "crawler", &["Googlebot"]);
    }
    check(b"Mozilla/5.0 (compatible; \xff\xfe Googlebot/2.1)", "crawler", &["Googlebot"]);
    check(b"Googlebot\xff/2.1", "crawler", &["Googlebot"]);
}

#[test]
fn rfc9309_2_2_1_names_are_whole_words() {
    for user_agent in [
        "Mozilla/5.0 (compatible; xGooglebotx/1.0)",
        "Mozilla/5.0 (compatible; Googlebot-fake/1.0)",
        "Mozilla/5.0 (compatible; NotGooglebotty/1.0)",
        "Mozilla/5.0 (compatible; +http://www.google.com/Googlebot.html)",
        "Mozilla/5.0 (compatible; www.example.org/Googlebot Something)",
        "Mozilla/5.0 (compatible; Unknown; +mailto:googlebot@example.org)",
        "Mozilla/5.0 (compatible; Unknown; googlebot@example.org)",
        "Mozilla/5.0 (compatible; Unknown; id=Googlebot)",
        "Mozilla/5.0 (compatible; like Googlebot)",
        "Mozilla/5.0 (compatible; Unknown compatible with Googlebot)",
        "Mozilla/5.0 (compatible; Unknown) (Following Googlebot)",
        "Mozilla/5.0 (compatible; Unknown/1.0/Googlebot)",
    ] {
        check(user_agent.as_bytes(), "none", &[]);
    }
    check(b"Googlebot-Image/1.0", "crawler", &["Googlebot-Image"]);
    check(b"Mail.RU_Bot/2.0", "crawler", &["Mail.RU_Bot"]);
    check(b"Googlebot/2.1/GPTBot", "crawler", &["Googlebot"]);
}

#[test]
fn ambiguous_names_count_only_in_their_places() {
    for (user_agent, class, tokens) in [
        ("Viber", "crawler", &["Viber"][..]),
        // A link is a word before it.
        ("https://example.org/ Viber/22.1", "none", &[]),
        (
            "Mozilla/5.0 (Linux; Android 14) Chrome/131.0 Mobile Safari/537.36 Viber/22.1",
            "browser",
            &[],
        ),
        ("Mozilla/5.0 (compatible; Operator/1.0)", "crawler", &["Operator"]),
        ("Mozilla/5.0 (Linux; Operator Build) Safari/1", "browser", &[]),
        ("Code 1.2", "crawler", &["Code"]),
        ("Mozilla/5.0 (Linux; Android 9; Odin) Safari/1", "browser", &[]),
        ("Mozilla/5.0 (compatible; Odin; https://example.org/)", "crawler", &["Odin"]),
        ("Odin/1.0 (+https://example.org/)", "crawler", &["Odin"]),
        ("Tumblr/14.0.835", "crawler", &["Tumblr"]),
        ("Tumblr/14.0 A", "crawler", &["Tumblr"]),
        ("Tumblr/14.0/i", "crawler", &["Tumblr"]),
        ("Tumblr/14.0/+", "app", &[]),
        ("Tumblr/14.0 (iPhone; iOS 17)", "app", &[]),
        ("Tumblr/14.0 iPhone_OS/12.1", "app", &[]),
        ("Mozilla/5.0 (iPhone) Mobile/15E148 [Pinterest/iOS]", "browser", &[]),
        ("Pinterest/0.2 (+https://www.pinterest.com/bot.html)", "crawler", &["Pinterestbot"]),
        ("Sogou Pic Spider/3.0", "crawler", &["Sogou"]),
        ("Mozilla/5.0 (Windows NT 10.0) Sogou Explorer/2.0", "browser", &[]),
        ("Mozilla/5.0 (Windows NT 10.0) SogouExplorer/2.0", "browser", &[]),
        ("Mozilla/5.0 (Linux; Android 8; Zao8) Safari/1", "browser", &[]),
        ("agent/Nutch-1.7", "automation", &["Nutch"]),
        // The first place is also the one right behind the opening of old crawlers.
        ("Mozilla/5.0 (compatible; Viber/1.0; https://viber.example)", "crawler", &["Viber"]),
        ("Mozilla/5.0 (X11; compatible; Viber/1.0) Safari/537.36", "browser", &[]),
        // A version at the end, behind a comment.
        ("Mozilla/5.0 (compatible; MSIE or mutant;) Operator 4.1", "crawler", &["Operator"]),
        ("The Mail! Operator 4.0.18", "none", &[]),
        // Nobody else sends only a name.
        ("Operator", "crawler", &["Operator"]),
        ("\"Odin\"", "crawler", &["Odin"]),
        ("Mozilla/5.0 (compatible; Odin-; +https://example.org/)", "crawler", &["Odin"]),
        ("Mozilla/5.0 (compatible; Odin/1.0 http://example.org/)", "crawler", &["Odin"]),
    ] {
        check(user_agent.as_bytes(), class, tokens);
    }
}

#[test]
fn punctuation_at_the_end_of_a_name_does_not_belong_to_it() {
    for user_agent in
        ["Googlebot-", "Googlebot--/2.1", "Googlebot_(http://x.example)", "Googlebot-."]
    {
        check(user_agent.as_bytes(), "crawler", &["Googlebot"]);
    }
    for user_agent in ["_", "--", "_ _", "__/1.0"] {
        let (catalogue, site) = (sample(), SiteNames::default());
        assert!(catalogue.identify(user_agent.as_bytes(), &site).is_empty(), "{user_agent}");
    }
    // Each octet is read a few times at most, also of a long word.
    let long = format!("a{} Googlebot", "_".repeat(Catalogue::MAX_SCAN - 20));
    check(long.as_bytes(), "crawler", &["Googlebot"]);
}

#[test]
fn a_part_of_a_word_with_foreign_letters_is_no_name() {
    for user_agent in [
        // Cyrillic `о`.
        "Mozilla/5.0 (compatible; G\u{43e}\u{43e}glebot/2.1; +http://www.google.com/bot.html)",
        "G\u{43e}\u{43e}glebot/2.1",
        "\u{411}Googlebot/2.1",
        "Googlebot\u{430}/2.1",
        "Googlebot-\u{456}mage/1.0",
        "\u{43e}-Googlebot/1.0",
        "Screaming Frog SEO Spider\u{301}/20.4",
        // A letter of full width, and a character that is not seen.
        "\u{ff27}Googlebot/2.1",
        "FooBar\u{200b}Googlebot/2.1",
        "Googlebot\u{200b}-\u{2060}Foo/2.1",
        "\u{c4}Robotbot/1.0 (+https://example.org)",
        "agent/Nutch\u{430}-1.7",
    ] {
        let (catalogue, site) = (sample(), SiteNames::default());
        let claim = catalogue.identify(user_agent.as_bytes(), &site);
        assert!(claim.is_empty(), "{user_agent}: {claim:?}");
    }
    // Punctuation of any script, and octets that are not UTF-8, separate words.
    check("\u{201c}Googlebot/2.1\u{201d}".as_bytes(), "crawler", &["Googlebot"]);
    check("Googlebot \u{2013} \u{43e}".as_bytes(), "crawler", &["Googlebot"]);
    check(b"\xd0Googlebot\xd0/2.1", "crawler", &["Googlebot"]);
    // A character that is not seen joins nothing to a name alone.
    for user_agent in
        ["GPTBot\u{200b}", "\u{feff}GPTBot/1.2", "GPTBot\u{200b}-/1.2", "GPTBot\u{ad} x"]
    {
        check(user_agent.as_bytes(), "crawler", &["GPTBot"]);
    }
}

#[test]
fn a_sign_that_joins_a_name_to_nothing_is_no_disguise() {
    for user_agent in ["/GPTBot", "@GPTBot", "#GPTBot/1.2", "Mozilla/5.0 (compatible; @GPTBot)"] {
        check(user_agent.as_bytes(), "crawler", &["GPTBot"]);
    }
    for user_agent in ["x/GPTBot", "x@GPTBot", "x; q=GPTBot", "Mozilla/5.0 (y; a@GPTBot)"] {
        let (catalogue, site) = (sample(), SiteNames::default());
        let claim = catalogue.identify(user_agent.as_bytes(), &site);
        assert!(claim.is_empty(), "{user_agent}: {claim:?}");
    }
}

#[test]
fn a_name_for_robots_txt_alone_is_no_name_in_a_user_agent() {
    let catalogue = sample();
    let token = |name| catalogue.find(name).map(|c| c.product_token().as_str());
    assert_eq!(token("pinterest"), Some("Pinterestbot"));
    check(b"Pinterest/12.3 CFNetwork/1408 Darwin/22.5.0", "app", &[]);
    check(b"Mozilla/5.0 (iPhone) Mobile/15E148 [Pinterest/iOS]", "browser", &[]);
}

#[test]
fn a_client_without_a_name_may_be_known_by_its_link() {
    for (user_agent, class, tokens) in [
        (
            "Mozilla/5.0 (X11; Linux x86_64) Safari/537.36 (+https://whatis.watchingapp.example)",
            "crawler",
            &["watchingapp"][..],
        ),
        (
            "www.watch.example Mozilla/5.0 (X11; Linux x86_64) Safari/1",
            "crawler",
            &["watch.example"],
        ),
        (
            "Mozilla/4.0 (compatible; MSIE 6.0; http://watch.example/bot )",
            "crawler",
            &["watch.example"],
        ),
        // Another site under the same label, a path, and a name beside the link.
        ("Mozilla/5.0 (X11; Linux) Safari/1 (+https://watchingapp.test)", "browser", &[]),
        ("Mozilla/5.0 (X11; Linux) Safari/1 (https://x.test/watch.example)", "browser", &[]),
        ("Mozilla/5.0 (X11; Linux) Safari/1 (https://xwatch.example)", "browser", &[]),
        ("SomeBot/1.0 (+https://watch.example)", "automation", &["SomeBot"]),
    ] {
        check(user_agent.as_bytes(), class, tokens);
    }
}

#[test]
fn phrases_prefixes_and_attached_versions_are_found() {
    check(b"Screaming Frog SEO Spider/20.4", "crawler", &["Screaming Frog SEO Spider"]);
    check(b"Screaming+Frog+SEO+Spider/20.4", "crawler", &["Screaming Frog SEO Spider"]);
    check(b"Screaming Frog", "none", &[]);
    check(b"Pingdom.com_bot_version_1.4_(http://x)", "crawler", &["Pingdom.com_bot_version_"]);
    check(b"Mozilla/5.0 (x; trendictionbot0.5.0; y)", "crawler", &["trendictionbot"]);
    check(b"Someone/2.3 (A Patent Crawler; http://x.example)", "crawler", &["A Patent Crawler"]);
    check(b"LWP::Simple/6.1", "automation", &["libwww-perl"]);
    check(b"Mozilla/5.0; 360Spider(compatible; HaosouSpider)", "crawler", &["360Spider"]);
}

#[test]
fn several_tokens_keep_their_order_and_displace_a_library() {
    for (user_agent, class, tokens) in [
        ("GPTBot/1.0 Googlebot/2.1", "crawler", &["GPTBot", "Googlebot"][..]),
        ("ChatGPT-User/1.0", "user-triggered", &["ChatGPT-User"]),
        ("ChatGPT-User/1.0 GPTBot/1.0", "crawler", &["ChatGPT-User", "GPTBot"]),
        ("libwww-perl/6 GPTBot/1.0", "crawler", &["GPTBot"]),
        ("libwww-perl/6 ChatGPT-User/1.0", "user-triggered", &["ChatGPT-User"]),
        ("curl/8.5.0", "automation", &["curl"]),
        (
            "facebookexternalhit/1.1;line-poker/1.0",
            "crawler",
            &["line-poker", "facebookexternalhit"],
        ),
        ("facebookexternalhit/1.1 GPTBot", "crawler", &["facebookexternalhit", "GPTBot"]),
        ("Google-Extended", "crawler", &["Google-Extended"]),
    ] {
        check(user_agent.as_bytes(), class, tokens);
    }
}

#[test]
fn an_apps_own_name_comes_before_that_of_its_http_stack() {
    for (user_agent, class, tokens) in [
        ("okhttp/4.9.3", "app", &["okhttp"][..]),
        ("SomeShop/5.2 okhttp/4.9.3", "app", &["okhttp"]),
        // The app of a feed reader, not its crawler.
        ("Overcaster/1.0 okhttp/4.9.3", "app", &["okhttp"]),
        ("Brewer/4.1 (Macintosh) curl/8.1.2", "app", &["Brewer"]),
        ("curl/7.86.0 okhttp/4.9.3", "automation", &["curl", "okhttp"]),
        // A bot stays one on any stack.
        ("SomeBot/1.0 okhttp/4.9.1", "automation", &["SomeBot"]),
        ("Something/1.0 (+https://example.org/bot) okhttp/4.9.1", "automation", &["Something"]),
        ("GPTBot/1.0 okhttp/4.9.1", "crawler", &["GPTBot"]),
        ("Overcaster/1.0 (+https://example.org/)", "crawler", &["Overcaster"]),
        ("Overcaster/1.0 (+https://example.org/) okhttp/4.9.3", "crawler", &["Overcaster"]),
        ("Linkbot/1.0 okhttp/4.9.3", "crawler", &["Linkbot"]),
    ] {
        check(user_agent.as_bytes(), class, tokens);
    }
}

#[test]
fn a_bot_may_stand_behind_the_products_of_a_browser() {
    const DESKTOP: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
                           (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36";
    for (rest, name) in [
        (" SomeBot/1.0", "SomeBot"),
        (" SomeCrawler", "SomeCrawler"),
        ("; SomeBot", "SomeBot"),
        (" (SomeBot)", "SomeBot"),
        (" SomeBot-Images/1.1", "SomeBot-Images"),
        (" some-crawler-eu/1.1", "some-crawler-eu"),
    ] {
        check(format!("{DESKTOP}{rest}").as_bytes(), "automation", &[name]);
    }
    for user_agent in [
        "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 SomeBot/1.0",
        "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/118.0 SomeBot/3.1",
        "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko; SomeBot/1.0) Chrome/120 Safari/537.36",
        "SomeBot/1.0 (Windows NT 10.0)",
    ] {
        check(user_agent.as_bytes(), "automation", &["SomeBot"]);
    }
}

#[test]
fn a_long_name_is_cut_and_still_that_of_a_bot() {
    let long = "x".repeat(200);
    let name =
        long.get(..crate::base::product_token::ProductToken::MAX_LENGTH).expect("it is longer");
    for user_agent in [format!("{long}Bot/1.0"), format!("{long}/1.0 (+https://example.org/bot)")] {
        check(user_agent.as_bytes(), "automation", &[name]);
    }
    let longer_than_64 = format!("{}Bot", "x".repeat(64));
    check(format!("{longer_than_64}/1.0").as_bytes(), "automation", &[&longer_than_64]);
}

#[test]
fn an_unlisted_bot_has_the_name_that_it_gives_itself() {
    for (user_agent, name) in [
        ("SomethingBot/1.0 (+https://example.org/bot)", "SomethingBot"),
        ("SomethingBot", "SomethingBot"),
        ("Mozilla/5.0 (compatible; some-crawler/0.1)", "some-crawler"),
        ("Mozilla/5.0 (compatible; SomeSpider; +http://example.org)", "SomeSpider"),
        ("Mozilla/5.0 (X11; Linux) Chrome/1 Safari/1 (compatible; SomeBot/1.0)", "SomeBot"),
        ("Mozilla/5.0 (some-bot)", "some-bot"),
        ("findthings/1.1 (+http://example.org/findthings/)", "findthings"),
        ("Mozilla/5.0 (compatible; Thingummy/1.0; +https://example.org)", "Thingummy"),
        ("Mozilla/5.0 (compatible; Thingummy/1.0; http://example.org)", "Thingummy"),
        // Names of several words.
        ("Mozilla/5.0 (compatible; Dark Thing/1.0; +https://example.org)", "Dark Thing"),
        (
            "Mozilla/5.0 (compatible; Some Web Crawler/0.1 (https://example.org/))",
            "Some Web Crawler",
        ),
        ("Mozilla/5.0 (compatible; Example.de crawler)", "Example.de crawler"),
        ("Critical Style Bot", "Critical Style Bot"),
        ("Some Image extraction bot V1", "Some Image extraction bot"),
        ("Web Thing v1.2 (+http://example.org)", "Web Thing"),
        // The product with the link, not the browser around it.
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Thingummy/1.0 (+https://example.org)",
            "Thingummy",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; Some Thing/2; +https://example.org) Gecko/1",
            "Some Thing",
        ),
    ] {
        check(user_agent.as_bytes(), "automation", &[name]);
    }
}

#[test]
fn phones_and_apps_are_not_bots() {
    for user_agent in [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Mobile/15E148 Chatbot/3.1",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36",
        "Mozilla/5.0 (Linux; Android 8.1.0; CUBOT_X18_Plus) AppleWebKit/537.36 Safari/537.36",
        "Mozilla/5.0 (Linux; Android 8.1.0; CUBOT/1.0) AppleWebKit/537.36 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1 Chatbot/3.1",
        "Mozilla/5.0 (Linux; Android 13; SM-G991B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/119.0.0.0 Mobile Safari/537.36 Chatbot/3.1",
        "Mozilla/5.0 (Linux; Android 10; CUBOT-X20/1.0) AppleWebKit/537.36 Safari/537.36",
        "Lynx/2.9.0dev.12 libwww-FM/2.14",
        "Mozilla/5.0 (Linux; Android 8.1.0; XBot Junior) AppleWebKit/537.36 Safari/537.36",
        "Mozilla/5.0 (Linux; Android 13; Spider 8) AppleWebKit/537.36 Safari/537.36",
        "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; SLCC2)",
        "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.1; http://example.org/)",
        "Opera/9.80 (Windows NT 6.1) Presto/2.12 Version/12.16",
        "Nokia6820/2.0 (4.83) Profile/MIDP-1.0",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36 (+https://example.org)",
        "Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; +http://example.org) Gecko/20070725 Firefox/2.0",
        // A comparison names another client.
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 (like Googlebot)",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36 (like Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36 compatible with SomeBot/1.0",
    ] {
        check(user_agent.as_bytes(), "browser", &[]);
    }
    for user_agent in [
        "iRobot/7.1 CFNetwork/1408 Darwin/22.5.0",
        "Dalvik/2.1.0 (Linux; U; Android 9; SM-G960F)",
        "SomeApp/1.0 CFNetwork/978.0.7 Darwin/18.7.0",
        "Some Reader/4.5 (http://www.example.org/; Microsoft Windows XP)",
        "PodcastThing/v5 (+https://example.org/; Android podcast app)",
        "SomeShop/5.2.1 (iPhone; iOS 17.2; Scale/3.00)",
        "Chatbot/3.1 (Linux; U; Android 12; de_DE; Pixel 6)",
        "pip/23.3.1",
        // The app of a feed reader, not its crawler.
        "Overcaster/80 CFNetwork/1410.0.3 Darwin/22.6.0",
    ] {
        check(user_agent.as_bytes(), "app", &[]);
    }
    for user_agent in ["", "   ", "-", "()", "Mozilla/5.0", "Mozilla/5.0 (compatible)"] {
        check(user_agent.as_bytes(), "none", &[]);
    }
}

#[test]
fn names_of_a_sites_own_groups_are_found() {
    let catalogue = sample();
    let groups = ["*", "FooBot/1.2", "foobot", "Googlebot", "ab", "Android", "Wide Comb", "Pixie"];
    let site = SiteNames::new(&catalogue, groups);
    let names: Vec<&str> = site.iter().map(|token| token.as_str()).collect();
    assert_eq!(names, ["FooBot", "Wide Comb", "Pixie"]);
    for (user_agent, class, tokens) in [
        ("FooBot/3 Googlebot/2.1", "crawler", &["FooBot", "Googlebot"][..]),
        ("some FOOBOT thing", "automation", &["FooBot"]),
        ("Wide Comb/2", "automation", &["Wide Comb"]),
        ("NotFooBotty", "none", &[]),
        ("Mozilla/5.0 (Linux; Android 9; Pixie) Safari/537.36", "browser", &[]),
        ("Mozilla/5.0 (Linux; Android 9) Safari/537.36 Pixie/1.0", "automation", &["Pixie"]),
        ("Mozilla/5.0 (X11; compatible; Pixie) Safari/537.36", "automation", &["Pixie"]),
    ] {
        let claim = catalogue.identify(user_agent.as_bytes(), &site);
        let found: Vec<&str> = claim.tokens().map(Name::as_str).collect();
        assert_eq!((claim.class().as_str(), &found[..]), (class, tokens), "{user_agent}");
    }
}

#[test]
fn all_user_agent_lines_count() {
    let (catalogue, site) = (sample(), SiteNames::default());
    let browser = &b"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"[..];
    let claim = catalogue.identify_all([browser, b"GPTBot/1.0"], &site);
    assert_eq!(format!("{claim:?}"), r#"crawler ["GPTBot"]"#);
    assert_eq!(catalogue.identify_all([browser, b"-"], &site).class(), Class::Browser);
    assert_eq!(catalogue.identify_all([], &site).class(), Class::None);
}

#[test]
fn a_long_user_agent_is_truncated_and_marked() {
    let (catalogue, site) = (sample(), SiteNames::default());
    let padded = |padding: usize| format!("{} Googlebot", "x ".repeat(padding / 2)).into_bytes();
    let near = padded(64 * 1024);
    let claim = catalogue.identify(&near, &site);
    assert_eq!((claim.tokens().count(), claim.truncated), (1, false));
    let far = padded(Catalogue::MAX_SCAN);
    let claim = catalogue.identify(&far, &site);
    assert_eq!((claim.tokens().count(), claim.truncated), (0, true));
    assert!(claim.may_hide_names());
    assert!(catalogue.identify_all([&b"GPTBot/1.0"[..], &far], &site).may_hide_names());
    let many: String = (0..100).map(|n| format!("Bot{n}/1 ")).collect();
    let names: Vec<String> = (0..100).map(|n| format!("Bot{n}")).collect();
    let site = SiteNames::new(&catalogue, names.iter().map(String::as_str));
    assert_eq!(catalogue.identify(many.as_bytes(), &site).tokens().count(), Claim::MAX_TOKENS);
}

#[test]
fn a_bad_catalogue_gives_every_finding() {
    let findings = catalogue(json!([
        { "product_token": "A*" },
        { "product_token": "One", "aliases": ["Uno"] },
        { "product_token": "UNO" },
        { "product_token": "Two", "falls_back_to": ["Three"], "borrows": ["two"] },
        { "product_token": "Four", "phrases": ["(four)"], "reverse_dns": ["example.org", ".example.org."] },
    ]))
    .expect_err("five findings");
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(
        codes,
        [
            "crawlers.bad_token",
            "crawlers.bad_phrase",
            "crawlers.bad_suffix",
            "crawlers.bad_suffix",
            "crawlers.duplicate_name",
            "crawlers.unknown_reference",
            "crawlers.refers_to_itself",
        ]
    );
}

#[test]
fn names_are_found_in_any_case_and_misspelled_ones_get_a_suggestion() {
    let catalogue = sample();
    let token = |name| catalogue.find(name).map(|c| c.product_token().as_str());
    assert_eq!(token("gptbot"), Some("GPTBot"));
    assert_eq!(token(" haosouspider "), Some("360Spider"));
    assert_eq!(token("nobody"), None);
    assert_eq!(catalogue.closest("GTPBot"), Some("GPTBot"));
    assert_eq!(catalogue.closest("Google-bot"), Some("Googlebot"));
    assert_eq!(catalogue.closest("entirely different"), None);
    let search: Vec<&str> =
        catalogue.by_purpose(Purpose::Search).map(|c| c.product_token().as_str()).collect();
    assert_eq!(search, ["Googlebot"]);
}

#[test]
fn rfc9309_2_2_1_groups_come_in_the_crawlers_own_order() {
    let catalogue = sample();
    let crawler = catalogue.find("Googlebot-Image").expect("a crawler of the sample");
    let groups: Vec<&str> = crawler.groups().map(|token| token.as_str()).collect();
    assert_eq!(groups, ["Googlebot-Image", "Googlebot"]);
    assert!(!crawler.ignores_star());
    assert!(catalogue.find("AdsBot-Google").is_some_and(Crawler::ignores_star));
}

#[test]
fn a_crawler_has_the_facts_of_its_entry() {
    let catalogue = catalogue(json!([
        { "product_token": "Plain" },
        {
            "product_token": "Full",
            "aliases": ["Whole"],
            "operator": "Full Ltd",
            "purpose": "search",
            "kind": "user-triggered",
            "documentation": "https://full.example/bot",
            "honours": { "robots_txt": "yes", "crawl_delay": "no" },
            "falls_back_to": ["Plain"],
            "status": "legacy",
            "ip_ranges": ["https://full.example/ips.json"],
            "ip_format": "json",
            "reverse_dns": [".full.example", ".a-b.full_c.example"],
            "signature_agent": "https://full.example",
        },
        { "product_token": "Extended", "match": "never", "reverse_dns": [".one.example"] },
    ]))
    .expect("three valid entries");
    let find = |name| catalogue.find(name).expect("a crawler of the catalogue");
    let (full, plain, extended) = (find("whole"), find("Plain"), find("Extended"));
    assert_eq!(full.operator(), Some("Full Ltd"));
    assert_eq!((full.purpose(), full.kind()), (Purpose::Search, Kind::UserTriggered));
    assert_eq!(full.entry.documentation.as_deref(), Some("https://full.example/bot"));
    let honours = Honours {
        robots_txt: Some(Robots::Yes),
        crawl_delay: Some(CrawlDelay::No),
        crawl_delay_of_star: false,
    };
    assert_eq!((full.entry.honours, full.entry.status), (honours, Status::Legacy));
    assert_eq!(full.entry.ip_ranges, ["https://full.example/ips.json"]);
    assert_eq!(full.entry.ip_format.as_deref(), Some("json"));
    assert_eq!(full.entry.reverse_dns, [".full.example", ".a-b.full_c.example"]);
    assert_eq!(full.entry.signature_agent.as_deref(), Some("https://full.example"));
    let names = |tokens: &[crate::base::product_token::ProductToken]| {
        tokens.iter().map(|token| token.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&full.aliases), names(&full.falls_back_to)),
        (vec!["Whole".to_owned()], vec!["Plain".to_owned()])
    );
    assert_eq!((plain.operator(), plain.entry.documentation.as_deref()), (None, None));
    assert_eq!((&plain.entry.ip_format, &plain.entry.signature_agent), (&None, &None));
    for (crawler, publishes, is_identifiable) in
        [(full, true, true), (plain, false, true), (extended, true, false)]
    {
        let found = (crawler.publishes_evidence(), crawler.is_identifiable());
        assert_eq!(found, (publishes, is_identifiable), "{}", crawler.product_token());
    }
}

#[test]
fn unknown_keys_of_an_entry_are_refused() {
    let entry = json!({ "product_token": "A-Bot", "purposes": "search" });
    assert!(serde_json::from_value::<Entry>(entry).is_err());
}

/// The words of a text, by the plain rule.
fn naive_words(text: &str) -> Vec<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.split(|c: char| !inside(c))
        .map(|word| word.trim_matches('-').to_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

proptest! {
    #[test]
    fn any_bytes_give_a_claim_with_a_matching_class(
        user_agent in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let (catalogue, site) = (sample(), SiteNames::default());
        let claim = catalogue.identify(&user_agent, &site);
        prop_assert!(claim.tokens().count() <= Claim::MAX_TOKENS);
        match claim.class() {
            Class::Browser | Class::None => prop_assert!(claim.is_empty()),
            Class::Crawler | Class::UserTriggered | Class::Automation => {
                prop_assert!(!claim.is_empty());
            }
            // A known app or stack has a token, another app has none.
            Class::App => {}
        }
    }

    #[test]
    fn without_links_and_versions_the_scan_splits_into_words(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "GPTBot", "gptbot", "Googlebot", "Googlebot-Image", "xGPTBot", "GPTBotx", "-GPTBot",
                "GPTBot-", "ChatGPT-User", "Mozilla", "Safari", "of", "a-b",
            ]),
            0..12
        ),
        between in prop::sample::select(vec![" ", "; ", " (", ") ", ", ", "\t", "\"", ";"]),
    ) {
        let (catalogue, site) = (sample(), SiteNames::default());
        let text = words.join(between);
        let mut expected: Vec<String> = Vec::new();
        for word in naive_words(&text) {
            let known = catalogue.find(&word).map(|c| c.product_token().key().to_owned());
            if let Some(name) = known.filter(|name| !expected.contains(name)) {
                expected.push(name);
            }
        }
        let claim = catalogue.identify(text.as_bytes(), &site);
        let found: Vec<String> = claim
            .tokens()
            .filter(|name| name.known().is_some())
            .map(|name| name.as_str().to_ascii_lowercase())
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_words_of_an_engine_are_passed_at_once_and_change_no_claim(
        before in prop::sample::select(vec![
            "", "Mozilla/5.0 ", "Mozilla/5.0 (X11; Linux x86_64) ", "Mozilla/5.0 (compatible; ",
            "Mozilla/5.0 (Unknown) ", "Own/1 (x) ", "GPTBot/1.0 (", "Own (x; compatible) like ",
        ]),
        version in prop::sample::select(vec!["537.36", "605.1.15", "", "x", "5..1", "."]),
        after in prop::sample::select(vec![
            "", "Chrome/140.0.0.0 Safari/537.36", "Chrome/1; compatible; GPTBot/1.0", "GPTBot",
            "FooBot/1.0 (+https://bot.example/)", "Googlebot/2.1", "https://bot.example/",
        ]),
    ) {
        let (catalogue, site) = (sample(), SiteNames::default());
        let text = format!("{before}AppleWebKit/{version} (KHTML, like Gecko) {after}");
        // Two spaces: each word is read.
        let slowly = text.replace("KHTML, like", "KHTML,  like");
        let claim = catalogue.identify(text.as_bytes(), &site);
        let expected = catalogue.identify(slowly.as_bytes(), &site);
        prop_assert_eq!(claim.class(), expected.class(), "{}", text);
        let tokens = |claim: &Claim<'_>| claim.tokens().map(|name| name.to_string()).collect::<Vec<_>>();
        prop_assert_eq!(tokens(&claim), tokens(&expected), "{}", text);
    }
}

#[test]
fn a_name_among_the_words_of_an_engine_is_found() {
    let browser =
        b"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36";
    for (name, matching, is_found) in [
        ("Gecko", "word", false),
        ("KHTML", "word", true),
        ("AppleWeb", "prefix", true),
        ("Own", "word", false),
    ] {
        let entry = json!([{ "product_token": name, "purpose": "search", "match": matching }]);
        let catalogue = catalogue(entry).unwrap();
        let site = SiteNames::default();
        assert_eq!(catalogue.identify(browser, &site).primary().is_some(), is_found, "{name}");
    }
}
