//! The texts for people: `summary.txt`, the violations in plain words, on one page, and `message.txt`, the draft
//! of a message to the operator of the crawler.
//!
//! The message accuses nobody of what others do: requests whose evidence contradicts the name are an
//! impostor's, and the message says so. It says what was not checked, too.

use std::fmt::Write;

use super::{
    history::{Count, Standings, tally},
    manifest::{Manifest, plain},
};
use crate::{
    base::escape::shown,
    records::{
        record::{Robots, Violation, rule_line},
        tally::{Claimant, ReadState},
    },
    rules::crawlers::Crawler,
};

/// The most rules and paths that a text lists.
const MOST_LISTED: usize = 8;
/// The most characters of a value from outside in a text.
const MOST_SHOWN: usize = 70;

/// The facts that both texts tell.
pub(super) struct Facts<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) crawler: Option<&'a Crawler>,
    pub(super) records: &'a [Violation],
    pub(super) standings: &'a Standings,
    pub(super) sites: &'a [&'a str],
    pub(super) editions: usize,
}

impl Facts<'_> {
    pub(super) fn text(&self, write: fn(&mut String, &Self) -> std::fmt::Result) -> Vec<u8> {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = write(&mut text, self);
        text.into_bytes()
    }

    /// The records of the crawler, or of its impostors, whose client had last fetched an edition in this
    /// state.
    pub(super) fn read(&self, claimant: Claimant, state: ReadState) -> usize {
        let is_of = |one: &&Violation| Claimant::of(&one.standing) == claimant;
        let records = self.records.iter().filter(is_of);
        records.filter(|one| one.robots_read.state == state).count()
    }

    pub(super) fn of_standing(&self, standing: &str) -> u64 {
        let counts = self.standings.counts.iter();
        counts.filter(|count| count.standing == standing).map(|count| count.records).sum()
    }

    pub(super) fn times(&self) -> Option<(String, String)> {
        let times = || self.records.iter().map(|record| record.time);
        Some((plain(times().min()?), plain(times().max()?)))
    }

    /// The broken rules, the most frequent first, and how many more there are.
    pub(super) fn rules(&self) -> (Vec<(String, u64)>, usize) {
        let rules = tally(
            self.records
                .iter()
                .map(|record| (self.rule(record), &record.robots.line, &record.robots.edition)),
        );
        let more = rules.len().saturating_sub(MOST_LISTED);
        let listed = rules.into_iter().take(MOST_LISTED).map(|((rule, line, edition), count)| {
            let place = match line {
                Some(line) => format!("{rule} (line {line} of edition {})", edition.as_str()),
                None => format!("{rule} (edition {})", edition.as_str()),
            };
            (place, count)
        });
        (listed.collect(), more)
    }

    /// The broken rule as robots.txt has it and whom it binds, or the reason where none was broken. Of a
    /// group with many names, only the crawler's own concerns its operator.
    fn rule(&self, record: &Violation) -> String {
        let Robots { directive, pattern, group, .. } = &record.robots;
        let Some(line) = rule_line(directive, &short(pattern)) else {
            return record.reason.to_string();
        };
        let token = &self.manifest.product_token;
        let names = || group.iter().map(|one| one.as_str());
        let own = names().find(|one| one.eq_ignore_ascii_case(token));
        match (own.or_else(|| names().find(|one| *one == "*")), group.len()) {
            (Some(name), 0 | 1) => format!("{line}, for {name}"),
            (Some(name), all) => format!("{line}, for {name} and {} more", all - 1),
            (None, _) => format!("{line}, for {}", short(&names().collect::<Vec<_>>().join(", "))),
        }
    }

    /// The evidence that the operator publishes, each in a line.
    pub(super) fn published(&self) -> Vec<String> {
        let published = &self.standings.published;
        let lists = published.ip_ranges.iter().map(|url| format!("addresses: {url}"));
        let names = published.reverse_dns.iter().map(|name| format!("names of addresses: {name}"));
        let agent = published.signature_agent.iter().map(|url| format!("signatures: {url}"));
        lists.chain(names).chain(agent).take(MOST_LISTED).map(shown).collect()
    }

    pub(super) fn standing_words(&self, count: &Count) -> &'static str {
        match (count.standing.as_str(), count.evidence.as_deref()) {
            ("confirmed", Some("signature")) => "confirmed by a signature of the operator",
            ("confirmed", Some("ip-range")) => "confirmed by the operator's list of addresses",
            ("confirmed", Some("reverse-dns")) => "confirmed by the name of the address",
            ("confirmed", _) => "confirmed",
            ("contradicted", Some("signature")) => "contradicted by the signature: an impostor",
            ("contradicted", Some("ip-range")) => {
                "not in the operator's list of addresses: an impostor"
            }
            ("contradicted", Some("reverse-dns")) => {
                "contradicted by the name of the address: an impostor"
            }
            ("contradicted", _) => "contradicted: an impostor",
            ("unverifiable", _) => "not verifiable: the operator publishes no evidence",
            _ => "not verified at that time",
        }
    }
}

pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A number with its noun.
pub(super) fn several(count: u64, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// Writes `summary.txt`.
pub(super) fn summary(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let manifest = facts.manifest;
    let token = &manifest.product_token;
    let are_all_impostors = facts.of_standing("contradicted") == facts.records.len() as u64;
    let by = if are_all_impostors { "under the name" } else { "by" };
    let title = format!("Requests {by} {token} that robots.txt disallows");
    writeln!(out, "{title}\n{}\n", "=".repeat(title.chars().count()))?;
    writeln!(out, "Made by {} on {}.\n", manifest.tool, plain(manifest.made))?;
    let operator = manifest.operator.as_ref().map(|name| format!(", operated by {}", shown(name)));
    let page = facts.crawler.and_then(|one| one.entry.documentation.as_deref());
    let page = page.map(|url| format!(" ({})", shown(url)));
    let (operator, page) = (operator.unwrap_or_default(), page.unwrap_or_default());
    let who = if are_all_impostors { "impostors of " } else { "" };
    writeln!(out, "Who       {who}{token}{operator}{page}")?;
    writeln!(out, "Where     {}", facts.sites.join(", "))?;
    let (since, until) = (plain(manifest.since), plain(manifest.until));
    writeln!(out, "When      {since} to {until}")?;
    if let Some((first, last)) = facts.times() {
        writeln!(out, "          first {first}, last {last}")?;
    }
    let records = several(facts.records.len() as u64, "violation", "violations");
    writeln!(out, "How many  {records} in detail (records.jsonl)")?;
    how_many(out, manifest)?;
    writeln!(out, "\nThe rules\n---------")?;
    let (rules, more) = facts.rules();
    for (rule, count) in rules {
        writeln!(out, "{count:>8}  {rule}")?;
    }
    if more > 0 {
        writeln!(out, "          and {more} more")?;
    }
    known(out, facts)?;
    identity(out, facts)?;
    actions(out, facts)?;
    how_verified(out, facts)
}

fn how_many(out: &mut String, manifest: &Manifest) -> std::fmt::Result {
    if manifest.is_cut {
        writeln!(out, "          Earlier ones are left out: there are too many for one bundle.")?;
    }
    let Some(counts) = manifest.counts else { return Ok(()) };
    writeln!(
        out,
        "          In the hours of this time: {} requests, {} of them violations.",
        counts.requests, counts.violations
    )?;
    for (count, why) in [
        (counts.folded, "there were more of a kind than are recorded"),
        (counts.dropped, "records found no room"),
    ] {
        if count > 0 {
            writeln!(out, "          {count} violations are only counted: {why}.")?;
        }
    }
    Ok(())
}

fn known(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    writeln!(out, "\nDid it know the rules?\n----------------------")?;
    // Another client's fetch says nothing about an impostor, or about a program that many people run.
    let is_program = facts.crawler.is_some_and(Crawler::is_program);
    let of_crawler = if is_program { "by the client itself" } else { "under this name" };
    let states = [ReadState::Current, ReadState::Older, ReadState::Never];
    for (claimant, by) in
        [(Claimant::Crawler, of_crawler), (Claimant::Impostor, "by the impostor itself")]
    {
        for (state, count) in states.map(|state| (state, facts.read(claimant, state))) {
            let words = match state {
                _ if count == 0 => continue,
                ReadState::Current => {
                    format!("the robots.txt that disallows the request had been fetched {by}")
                }
                ReadState::Older => format!("an earlier robots.txt had been fetched {by}"),
                ReadState::Never => format!("no fetch of robots.txt {by} is known"),
            };
            writeln!(out, "{count:>8}  {words}")?;
        }
    }
    let mut windows = facts.manifest.sites.iter().map(|site| site.cache_window / 3600);
    let hours = windows.next().filter(|first| windows.all(|other| other == *first));
    if let Some(hours) = hours.filter(|_| facts.manifest.sites.iter().all(|site| site.is_excused)) {
        writeln!(
            out,
            "A request counts only if every robots.txt disallows it that the crawler could still use:\n\
             the one that it fetched last, or else any of the last {hours} hours (RFC 9309, 2.4)."
        )?;
    }
    Ok(())
}

fn identity(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let token = &facts.manifest.product_token;
    let title = format!("Was it really {token}?");
    writeln!(out, "\n{title}\n{}", "-".repeat(title.chars().count()))?;
    for count in &facts.standings.counts {
        writeln!(out, "{:>8}  {}", count.records, facts.standing_words(count))?;
    }
    let all = facts.published();
    if !all.is_empty() {
        writeln!(out, "The operator publishes:")?;
        all.iter().try_for_each(|line| writeln!(out, "          {line}"))?;
    }
    if facts.of_standing("contradicted") > 0 {
        writeln!(out, "Impostors are not the operator's clients: somebody else uses the name.")?;
    }
    Ok(())
}

fn actions(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    writeln!(out, "\nThe answers\n-----------")?;
    let answers = facts.records.iter().map(|record| (record.action.as_str(), record.status));
    for ((action, status), count) in tally(answers).into_iter().take(MOST_LISTED) {
        let words = match action {
            "block" => "refused",
            "throttle" => "slowed down",
            _ => "answered",
        };
        writeln!(out, "{count:>8}  {words} (status {status})")?;
    }
    Ok(())
}

fn how_verified(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let manifest = facts.manifest;
    writeln!(out, "\nHow to verify\n-------------")?;
    let editions = several(facts.editions as u64, "edition", "editions");
    writeln!(
        out,
        "'beadle report --verify FILE' checks every hash and judges every request again, by the\n\
         editions in this bundle. It needs no network and no policy. Without Beadle: manifest.json\n\
         has the SHA-256 of each file, and 'sha256sum -c manifest.sha256' checks the manifest.\n\
         The folder robots/ has {editions} of robots.txt as served; editions.json says when."
    )?;
    for edition in manifest.missing_editions.iter().take(MOST_LISTED) {
        writeln!(out, "Edition {edition} is missing: it is no longer kept.")?;
    }
    Ok(())
}

/// Writes `message.txt`.
pub(super) fn message(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let manifest = facts.manifest;
    let token = &manifest.product_token;
    let sites = facts.sites.join(", ");
    let all = facts.records.len() as u64;
    let impostors = facts.of_standing("contradicted");
    let are_all_impostors = impostors == all;
    writeln!(out, "To: {}", recipient(facts.crawler))?;
    match are_all_impostors {
        true => writeln!(out, "Subject: Somebody uses the name {token} on {sites}\n")?,
        false => {
            writeln!(out, "Subject: {token} requests pages that robots.txt disallows ({sites})\n")?
        }
    }
    writeln!(out, "Hello,\n")?;
    let (first, last) = facts.times().unwrap_or_default();
    let requests = several(all, "request", "requests");
    writeln!(
        out,
        "between {first} and {last}, we recorded {requests} under the name\n{token} on {sites} that \
         the robots.txt there disallows (RFC 9309)."
    )?;
    if are_all_impostors {
        writeln!(
            out,
            "\nBy the evidence that you publish, these are not your clients. You may want to know that\n\
             somebody uses the name of your crawler."
        )?;
    } else {
        ours(out, facts, impostors)?;
    }
    writeln!(
        out,
        "\nThe enclosed file has the requests, the robots.txt files as served with their times, and\n\
         the fetches of robots.txt that we saw. 'summary.txt' is a page in plain words. With Beadle\n\
         (free software), 'beadle report --verify FILE' judges every request again from this file\n\
         alone."
    )?;
    if !are_all_impostors {
        writeln!(
            out,
            "\nCould you find out why, and tell us? If we are wrong, please tell us that as well."
        )?;
    }
    writeln!(out, "\nKind regards\n[your name, the name of your site, and how to reach you]")
}

/// What concerns the operator's own clients.
fn ours(out: &mut String, facts: &Facts<'_>, impostors: u64) -> std::fmt::Result {
    let token = &facts.manifest.product_token;
    let [confirmed, unverifiable] = ["confirmed", "unverifiable"].map(|one| facts.of_standing(one));
    let unchecked = facts.records.len() as u64 - confirmed - unverifiable - impostors;
    writeln!(out)?;
    if confirmed > 0 {
        writeln!(
            out,
            "- {confirmed} of them are confirmed to be yours, by the evidence that you publish."
        )?;
    }
    if unverifiable > 0 {
        writeln!(
            out,
            "- {unverifiable} of them can't be checked: we know of no addresses, names of addresses or\n  \
             signatures that you publish for {token}. Another client may have used its name."
        )?;
    }
    if unchecked > 0 {
        writeln!(
            out,
            "- {unchecked} of them were not checked when they came, so we don't know whether they are\n  \
             yours. Another client may have used the name {token}."
        )?;
        let published = facts.published();
        if !published.is_empty() {
            writeln!(out, "  To check them, compare the addresses in 'records.jsonl' with:")?;
            published.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
    }
    if impostors > 0 {
        writeln!(out, "- {impostors} of them are not yours, by the evidence that you publish.")?;
    }
    for (state, what) in [
        (
            ReadState::Current,
            "the robots.txt that disallows them had been fetched under this\n  name",
        ),
        (ReadState::Older, "an earlier robots.txt had been fetched under this name"),
        (ReadState::Never, "we saw no fetch of robots.txt under this name"),
    ] {
        let count = facts.read(Claimant::Crawler, state);
        if count > 0 {
            writeln!(out, "- Before {count} of them, {what}.")?;
        }
    }
    let (rules, more) = facts.rules();
    writeln!(out, "\nThe rules:")?;
    rules.iter().try_for_each(|(rule, count)| writeln!(out, "- {rule}: {count}"))?;
    if more > 0 {
        writeln!(out, "- and {}", several(more as u64, "more rule", "more rules"))?;
    }
    Ok(())
}

/// The operator's published contact, or how to find one.
pub(super) fn recipient(crawler: Option<&Crawler>) -> String {
    let contact = crawler.and_then(|one| one.entry.contact.as_deref()).map(shown);
    contact.unwrap_or_else(|| {
        let page = crawler.and_then(|one| one.entry.documentation.as_deref());
        page.map_or_else(
            || "[the catalogue has no contact of the operator]".to_owned(),
            |page| format!("[the catalogue has no contact; see {}]", shown(page)),
        )
    })
}
