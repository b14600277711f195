//! Every preset and every answer makes a policy without findings whose tests pass.

use super::*;
use crate::{
    base::diagnostic::Severity,
    rules::policy::{self, Policy},
};

fn checked(text: &str) -> Policy {
    let (policy, findings) = policy::read("beadle.yaml", text.as_bytes());
    let warnings = findings.iter().filter(|one| one.severity > Severity::Note);
    let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    assert!(warnings.is_empty(), "{warnings:?}\n{text}");
    policy.unwrap_or_else(|| panic!("{text}"))
}

fn answers(preset: Option<Preset>, wishes: &[&str], has_robots_txt: bool) -> Answers {
    let wishes = wishes.iter().flat_map(|wish| Wish::read(wish).expect("a wish")).collect();
    let (host, origin) = ("shop.example".to_owned(), "http://10.0.0.7:8000".to_owned());
    Answers { host, origin, preset, wishes, has_robots_txt }
}

#[test]
fn every_answer_makes_a_policy_without_findings() {
    let presets = Preset::ALL.into_iter().map(Some).chain([None]);
    for preset in presets {
        for wishes in [
            &[][..],
            &["search=allow", "training=disallow", "answers=disallow", "archives=allow"],
            &["search=disallow", "seo=disallow", "ai-agent=disallow"],
        ] {
            for has_robots_txt in [false, true] {
                let text = policy_text(&answers(preset, wishes, has_robots_txt));
                let policy = checked(&text);
                assert_eq!(policy.sites[0].name(), "shop.example");
                assert_eq!(policy.sites[0].backend.urls(), "http://10.0.0.7:8000");
                let source = policy.sites[0].robots_txt.source;
                assert_eq!(source == policy::Source::Merge, has_robots_txt, "{text}");
                assert!(policy.tests.len() > wishes.len(), "{text}");
            }
        }
    }
}

#[test]
fn a_wish_names_a_purpose_or_a_topic() {
    assert_eq!(Wish::read("answers=disallow").map(|wishes| wishes.len()), Ok(2));
    assert_eq!(Wish::read("ai-training=allow").map(|wishes| wishes.len()), Ok(1));
    for wrong in ["training", "training=maybe", "cooking=allow", "=allow", ""] {
        assert!(Wish::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_site_is_known_by_its_signs() {
    let link: (&str, &[u8]) = ("Link", b"<https://a.example/wp-json/>; rel=\"https://api.w.org/\"");
    assert_eq!(suggest([link], b""), Some(Preset::WordPress));
    assert_eq!(suggest([link], b"<body class=\"woocommerce\">"), Some(Preset::Shop));
    let page = b"<meta name=\"generator\" content=\"MediaWiki 1.45\">";
    assert_eq!(suggest([], page), Some(Preset::MediaWiki));
    assert_eq!(suggest([("X-Discourse-Route", &b"list/latest"[..])], b""), Some(Preset::Discourse));
    assert_eq!(suggest([], b"<p>hello</p>"), None);
    for preset in Preset::ALL {
        assert_eq!(Preset::from_word(preset.as_str()), Some(preset));
    }
}

#[test]
fn a_dialogue_asks_again_until_it_understands() {
    let mut input = &b"site.example\n\nforum\ndiscourse\n\nno\ndisallow\n\n\n\n"[..];
    let mut output = Vec::new();
    let mut dialogue = Dialogue { input: &mut input, output: &mut output };
    assert_eq!(dialogue.ask("Host", "a.example").ok().as_deref(), Some("site.example"));
    assert_eq!(dialogue.ask("Origin", "http://o").ok().as_deref(), Some("http://o"));
    assert_eq!(dialogue.preset(None).ok(), Some(Some(Preset::Discourse)));
    let wishes = dialogue.wishes().expect("answers for all topics");
    let closed: Vec<_> = wishes.iter().filter(|wish| !wish.is_allowed).collect();
    assert_eq!((wishes.len(), closed.len()), (6, 1));
    assert!(dialogue.ask("More", "x").is_err(), "the input has ended");
}
