//! A log in the combined format, and a policy with a thousand rules.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    Result,
    user_agents::{browsers, crawlers},
};

/// The rules of the policy.
pub(crate) const RULES: usize = 1_000;

const SECTIONS: [&str; 10] =
    ["blog", "news", "shop", "wiki", "tags", "user", "search", "admin", "private", "static"];

/// A policy with [`RULES`] rules, a fifth of them with a star, that blocks.
pub(crate) fn policy() -> String {
    let mut rules = String::new();
    for (number, section) in (0..RULES - 4).zip(SECTIONS.iter().cycle()) {
        let rule = match number % 5 {
            4 => format!("/{section}/{number}/*/print"),
            _ => format!("/{section}/{number}/page-1"),
        };
        rules.push_str(&format!("            - \"{rule}\"\n"));
    }
    format!(
        "sites:\n  - hosts: [www.example.com]\n    origin: http://127.0.0.1:3000\n    robots_txt:\n      \
         groups:\n        - user_agents: [\"*\"]\n          disallow:\n{rules}            - /admin/\n            \
         - \"/*?q=\"\n        - user_agents: [GPTBot, CCBot]\n          disallow: [/, /x/]\n    \
         enforcement: {{ mode: block }}\n"
    )
}

/// A log of `size` octets: three requests of people to two of crawlers and tools, a hundred a second.
pub(crate) fn log(file: &Path, size: u64) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    // Each browser in fifteen versions, some more frequent than others.
    let people: Vec<String> = (0..15)
        .flat_map(|version| browsers().into_iter().map(move |one| format!("{one} Edg/{version}.0")))
        .collect();
    let crawlers = crawlers();
    let start: Timestamp = "2026-11-01T00:00:00Z".parse()?;
    let (mut written, mut second, mut time) = (0, u64::MAX, String::new());
    for number in 0_u64.. {
        if number / 100 != second {
            second = number / 100;
            let now = start + SignedDuration::from_secs(second.cast_signed());
            time = now.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string();
        }
        let user_agent = if below(5) < 3 {
            let most = people.len() as u64;
            let at = below(most) * below(most) / most;
            people.get(at as usize).map_or("-", String::as_str)
        } else {
            crawlers.get(below(crawlers.len() as u64) as usize).copied().unwrap_or("-")
        };
        let section = SECTIONS.get(below(10) as usize).copied().unwrap_or("x");
        let page = below(100) * below(100) * below(10);
        let target = match below(100) {
            0 => "/robots.txt".to_owned(),
            1..10 => format!("/{section}/{}/page-{page}?q={number}", below(1000)),
            _ => format!("/{section}/{}/page-{page}.html", below(1000)),
        };
        let (a, b, c) = (11 + below(180), below(50), below(256));
        let referrer = if below(2) == 0 { "-" } else { "https://www.example.com/" };
        let line = format!(
            "{a}.{b}.{c}.{} - - [{time}] \"GET {target} HTTP/1.1\" 200 {} \"{referrer}\" \"{user_agent}\"\n",
            below(256),
            below(90_000)
        );
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
        if written >= size {
            break;
        }
    }
    Ok(out.flush()?)
}

/// The number of lines.
pub(crate) fn lines(file: &Path) -> Result<u64> {
    let mut input = BufReader::with_capacity(1 << 20, File::open(file)?);
    let mut lines = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(lines);
        }
        lines += buffer.iter().filter(|octet| **octet == b'\n').count() as u64;
        let length = buffer.len();
        input.consume(length);
    }
}
