//! `message.txt`: the draft of a message to the operator of the crawler.
//!
//! It accuses nobody of what others do: requests whose evidence contradicts the name are an
//! impostor's, and the message says so. It says what was not checked, too.

use std::fmt::Write;

use crate::{
    base::escape::shown,
    records::tally::{Claimant, ReadState},
    rules::crawlers::Crawler,
};

use super::summary::{Facts, several};

pub(super) fn text(facts: &Facts<'_>) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write(&mut text, facts);
    text
}

fn write(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
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
    let [current, older, never] = [ReadState::Current, ReadState::Older, ReadState::Never]
        .map(|state| facts.read(Claimant::Crawler, state));
    if current > 0 {
        writeln!(
            out,
            "- Before {current} of them, the robots.txt that disallows them had been fetched under this\n  \
             name."
        )?;
    }
    if older > 0 {
        writeln!(
            out,
            "- Before {older} of them, an earlier robots.txt had been fetched under this name."
        )?;
    }
    if never > 0 {
        writeln!(out, "- Before {never} of them, we saw no fetch of robots.txt under this name.")?;
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
