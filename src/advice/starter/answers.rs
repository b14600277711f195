//! The answers as the text of a policy, and the questions, on any input and output.

use std::io::{self, BufRead, Write};

use super::preset::{Preset, Topic, Wish};
use crate::rules::{
    crawlers::{Catalogue, Kind, Purpose},
    policy::built_in_catalogue,
};

/// What an operator answered.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) host: String,
    /// The server behind Beadle.
    pub(crate) origin: String,
    pub(crate) preset: Option<Preset>,
    /// What is wanted, by purpose; later wishes replace earlier ones for the same purpose.
    pub(crate) wishes: Vec<Wish>,
    /// Whether the site has a robots.txt, which stays.
    pub(crate) has_robots_txt: bool,
}

/// The policy without a preset.
const PLAIN: &str = r#"# Rules for crawlers. Violations are recorded; nothing is refused.

violations:
  database: violations.db

sites:
  - hosts: [www.example.com]
    # The server behind Beadle.
    origin: http://127.0.0.1:3000

    robots_txt:
      groups:
        - user_agents: ["*"]
          disallow: []                   # paths that no crawler may fetch: [/private/, /search]

    enforcement:
      # Write 'block' after a week without surprises.
      mode: log

tests:
  - name: people are never judged
    user_agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0
    url: /
    action: pass
"#;

/// The text of the policy, with comments and tests.
pub(crate) fn policy_text(answers: &Answers) -> String {
    let catalogue = built_in_catalogue();
    let base = answers.preset.map_or(PLAIN, Preset::text);
    let wishes = distinct(&answers.wishes);
    let mut text = String::with_capacity(base.len() + 1_000);
    for line in base.lines() {
        let line = line.replace("www.example.com", &answers.host);
        let line = line.replace("http://127.0.0.1:3000", &answers.origin);
        let is_merged_star = answers.has_robots_txt && line.starts_with("      groups:");
        if is_merged_star {
            text.push_str(
                "      # The site's own robots.txt stays in force, with these rules in addition.\n",
            );
            text.push_str("      source: merge\n");
        }
        if line == "    enforcement:"
            && wishes.iter().any(|wish| !wish.is_allowed && wish.purpose == Purpose::AiTraining)
        {
            text.push_str(
                "    # Said to all crawlers, those that also search among them.\n    preferences:\n      \
                 - { train-ai: no }\n\n",
            );
        }
        text.push_str(&line);
        text.push('\n');
        match line.as_str() {
            "      groups:" => groups(&wishes, &mut text),
            "tests:" => tests(&wishes, &catalogue, &mut text),
            _ => {}
        }
    }
    text
}

/// The last wish for each purpose, in the order of the purposes.
fn distinct(wishes: &[Wish]) -> Vec<Wish> {
    let last = |purpose: &Purpose| wishes.iter().rev().find(|wish| wish.purpose == *purpose);
    Purpose::ALL.iter().filter_map(last).copied().collect()
}

/// One group for all purposes that may not come.
fn groups(wishes: &[Wish], text: &mut String) {
    let closed = wishes.iter().filter(|wish| !wish.is_allowed);
    let names: Vec<String> =
        closed.map(|wish| format!("\"purpose:{}\"", wish.purpose.as_str())).collect();
    if !names.is_empty() {
        text.push_str("        # 'beadle crawlers list --purpose NAME' lists these crawlers.\n");
        text.push_str(&format!("        - user_agents: [{}]\n", names.join(", ")));
        text.push_str("          disallow: [/]\n");
    }
}

/// A test for each wish, by a crawler that stands for the purpose.
fn tests(wishes: &[Wish], catalogue: &Catalogue, text: &mut String) {
    for wish in wishes {
        let known =
            |name: &str| catalogue.find(name).filter(|crawler| crawler.purpose() == wish.purpose);
        let example = Topic::ALL.iter().find_map(|topic| known(topic.example));
        let is_sent = |crawler: &&crate::rules::crawlers::Crawler| {
            crawler.is_identifiable() && crawler.kind() != Kind::Control
        };
        let example = example.or_else(|| catalogue.by_purpose(wish.purpose).find(is_sent));
        let Some(crawler) = example else { continue };
        let (name, expect) = match wish.is_allowed {
            true => ("may come", "allow"),
            false => ("stays away", "disallow"),
        };
        let (purpose, token) = (wish.purpose.as_str(), crawler.product_token().as_str());
        text.push_str(&format!(
            "  - {{ name: \"{purpose}: {token} {name}\", product_token: \"{token}\", url: /, expect: {expect} }}\n"
        ));
    }
}

pub(crate) struct Dialogue<'d> {
    pub(crate) input: &'d mut dyn BufRead,
    pub(crate) output: &'d mut dyn Write,
}

impl Dialogue<'_> {
    /// Asks; an empty answer is `usual`.
    pub(crate) fn ask(&mut self, question: &str, usual: &str) -> io::Result<String> {
        match usual {
            "" => write!(self.output, "{question}: ")?,
            _ => write!(self.output, "{question} [{usual}]: ")?,
        }
        self.output.flush()?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { usual.to_owned() } else { answer.to_owned() })
    }

    pub(crate) fn preset(&mut self, seen: Option<Preset>) -> io::Result<Option<Preset>> {
        let question =
            format!("Kind of site: {} or none", Preset::ALL.map(Preset::as_str).join(", "));
        loop {
            match Preset::read(&self.ask(&question, seen.map_or("none", Preset::as_str))?) {
                Ok(preset) => return Ok(preset),
                Err(why) => writeln!(self.output, "{why}")?,
            }
        }
    }

    /// Asks for each topic whether these crawlers may come.
    pub(crate) fn wishes(&mut self) -> io::Result<Vec<Wish>> {
        let mut wishes = Vec::new();
        for Topic { name, subject, .. } in Topic::ALL {
            loop {
                let answer = self.ask(&format!("{subject}: allow or disallow"), "allow")?;
                match Wish::read(&format!("{name}={answer}")) {
                    Ok(found) => break wishes.extend(found),
                    Err(_) => writeln!(self.output, "write allow or disallow")?,
                }
            }
        }
        Ok(wishes)
    }
}
