//! A record for tests.

use jiff::Timestamp;

use super::{Robots, RobotsRead, SCHEMA, Violation};
use crate::{base::text::Text, records::tally::ReadState};

/// A record that its number identifies: of one of three tokens, two sites and two actions.
pub(crate) fn violation(number: u64) -> Violation {
    let pick = |words: &[&'static str]| Text::word(words[number as usize % words.len()]);
    Violation {
        schema: SCHEMA,
        id: format!("0192f0c1-0000-7000-8000-{number:012x}").into(),
        time: Timestamp::from_second(1_700_000_000 + number as i64).expect("a year like this one"),
        site: pick(&["shop.example", "blog.example"]),
        client_ip: Text::word("2001:db8::7"),
        method: Text::word("GET"),
        host: Text::word("www.shop.example"),
        path: Text::path(format!("/private/{number}?page={}", number % 10).as_bytes()),
        user_agent: Text::user_agent(
            b"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        ),
        product_token: pick(&["GPTBot", "Bytespider", "CCBot"]),
        product_tokens: Text::list(["GPTBot"]),
        operator: Some(Text::word("OpenAI")),
        purpose: number.is_multiple_of(3).then_some(Text::word("ai-training")),
        standing: Text::word("confirmed"),
        evidence: number.is_multiple_of(2).then_some(Text::word("ip-range")),
        verdict: Text::word("disallow"),
        reason: Text::word("robots.disallow"),
        action: pick(&["log", "block"]),
        status: 403,
        robots: Robots {
            edition: Text::word("sha256:00ff"),
            line: Some(7),
            directive: Text::word("disallow"),
            pattern: pick(&["/private/", "/*?page="]),
            group: Text::list(["GPTBot", "CCBot"]),
        },
        robots_read: RobotsRead { state: ReadState::Never, edition: None, at: None },
    }
}
