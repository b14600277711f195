//! A robots.txt, also one that Cloudflare manages, and robots.json of ai.robots.txt.

use std::collections::BTreeMap;

use super::draft::{Draft, Group, Item, Loss};
use crate::{
    base::product_token::ProductToken,
    formats::robots::{self, Directive, Record, RobotsTxt},
    rules::crawlers::read_list,
};

pub(super) fn read(bytes: &[u8]) -> Draft {
    let (file, findings) = robots::parse(bytes);
    let mut draft = Draft::default();
    // A name outside the grammar is carried over; one that names no crawler is a loss of its own.
    let is_lost = |code: &str| !matches!(code, "robots.user_agent" | "robots.byte_order_mark");
    for finding in findings.into_iter().filter(|finding| is_lost(finding.code)) {
        let place = finding
            .place
            .line
            .map_or_else(|| "robots.txt".to_owned(), |line| format!("line {line}"));
        draft.losses.push(Loss::new(place, finding.code, finding.message));
    }
    comments(bytes, &mut draft);
    for record in &file.records {
        let place = format!("line {}", record.line);
        let is_sitemap = record.name.eq_ignore_ascii_case("sitemap");
        match is_sitemap {
            true => draft.sitemaps.push(Item::new(&record.value, &place)),
            false => draft.records.push(Item::of_record(record, &place)),
        }
    }
    groups(&file, &mut draft);
    draft
}

/// What is said in comments, which a policy does not publish.
fn comments(bytes: &[u8], draft: &mut Draft) {
    let text = String::from_utf8_lossy(bytes);
    let all = || {
        (1..).zip(text.lines()).filter_map(|(number, line)| {
            let (_, comment) = line.split_once('#')?;
            (!comment.trim().is_empty()).then_some((number, comment.trim()))
        })
    };
    if let Some((number, _)) = all().find(|(_, line)| {
        let line = line.to_ascii_lowercase();
        line.contains("cloudflare") && line.contains("managed")
    }) {
        let why = "Cloudflare puts this part before each robots.txt that passes it: switch its setting \
                   off, or the part is there twice";
        draft.losses.push(Loss::new(format!("line {number}"), "managed part", why));
    }
    let count = all().count();
    if let Some((number, _)) = all().next() {
        let why = "Beadle writes its own comments; the lines of rules and records are carried over";
        let what = format!("{count} line{} of comments", if count == 1 { "" } else { "s" });
        draft.losses.push(Loss::new(format!("line {number}"), what, why));
    }
}

/// The groups. Crawlers merge all groups that name them, so each name stands in one.
fn groups(file: &RobotsTxt, draft: &mut Draft) {
    let mut named: BTreeMap<String, (Item, Vec<usize>)> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for (number, group) in file.groups.iter().enumerate() {
        for user_agent in &group.user_agents {
            let place = format!("line {}", user_agent.line);
            let Some(name) = name(&user_agent.name) else {
                let why = "it names no crawler";
                draft.losses.push(Loss::new(place, &user_agent.name, why));
                continue;
            };
            let key = name.to_ascii_lowercase();
            let (_, numbers) = named.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                (Item::new(&name, &place), Vec::new())
            });
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }
    let mut alike: Vec<(Vec<usize>, Vec<Item>)> = Vec::new();
    for key in order {
        let Some((name, numbers)) = named.remove(&key) else { continue };
        match alike.iter_mut().find(|(other, _)| *other == numbers) {
            Some((_, names)) => names.push(name),
            None => alike.push((numbers, vec![name])),
        }
    }
    for (numbers, names) in alike {
        let mut group = Group::of(names);
        for from in numbers.into_iter().filter_map(|number| file.groups.get(number)) {
            rules(from, &mut group, &mut draft.losses);
        }
        draft.groups.push(group);
    }
}

fn rules(from: &robots::Group, group: &mut Group, losses: &mut Vec<Loss>) {
    for rule in from.rules.iter().filter(|rule| !rule.pattern.is_empty()) {
        let place = format!("line {}", rule.line);
        if !rule.pattern.starts_with(['/', '*']) {
            losses.push(Loss::new(
                place,
                &rule.pattern,
                "it matches no path: it begins with neither '/' nor '*'",
            ));
            continue;
        }
        let list = match rule.directive {
            Directive::Allow => &mut group.allow,
            Directive::Disallow => &mut group.disallow,
        };
        if !list.iter().any(|item| item.text == rule.pattern) {
            list.push(Item::new(&rule.pattern, &place));
        }
    }
    for record in &from.records {
        let place = format!("line {}", record.line);
        match delay(record).filter(|_| group.crawl_delay.is_none()) {
            Some(value) => group.crawl_delay = Some(Item::new(value, &place)),
            None => group.records.push(Item::of_record(record, &place)),
        }
    }
}

fn delay(record: &Record) -> Option<&str> {
    let is_number =
        record.value.parse::<f64>().is_ok_and(|value| (0.0..=86_400.0).contains(&value));
    (record.name.eq_ignore_ascii_case("crawl-delay") && is_number).then_some(record.value.as_str())
}

/// The name of a user-agent line as a policy writes it: `*`, or a product token without a version.
fn name(line: &str) -> Option<String> {
    let line = line.trim();
    if line == "*" || line.starts_with("* ") {
        return Some("*".to_owned());
    }
    let whole = line.split('/').next().unwrap_or_default().trim();
    let letters = whole.find(|c: char| !(c.is_ascii_alphabetic() || c == '-' || c == '_'));
    let (start, rest) = letters.map_or((whole, ""), |end| whole.split_at(end));
    // A list, `One, Two`, names no crawler.
    let glued = rest.split(['(', '[', ';', '*']).next().unwrap_or_default();
    let start = if glued.contains(|c: char| c.is_alphanumeric()) { "" } else { start };
    let is_token = |name: &&str| ProductToken::new(name).is_some();
    if line.contains("://") {
        return None;
    }
    Some(whole).filter(is_token).or_else(|| Some(start).filter(is_token)).map(str::to_owned)
}

/// Reads the names of robots.json. The source disallows every path for all of them.
pub(super) fn read_names(bytes: &[u8]) -> Result<Draft, String> {
    let (crawlers, others) = read_list(bytes)?;
    let mut draft = Draft::default();
    let odd = others
        .iter()
        .map(|(name, text)| Loss::new(name, text.to_string(), "it describes no crawler"));
    draft.losses.extend(odd);
    let mut names: Vec<Item> = Vec::new();
    for one in &crawlers {
        let token = &*one.product_token;
        if token.len() < one.name.len() {
            let why = format!("a version is no part of the name; the rules are for '{token}'");
            draft.losses.push(Loss::new(&one.name, &one.name, why));
        }
        if !names.iter().any(|other| other.text.eq_ignore_ascii_case(token)) {
            names.push(Item::new(token, &one.name));
        }
    }
    let disallow = vec![Item::new("/", "every crawler")];
    draft.groups.push(Group { disallow, ..Group::of(names) });
    Ok(draft)
}
