//! Events as the services of others, and people in letters, read them. Pure.
//!
//! Foreign text can be in every value: the name of a crawler, a line of a robots.txt, an answer. So each
//! format shows it as plain text: nothing in it is a link, a mention or markup.

use std::iter;

use serde_json::{Value, json};

use crate::{
    base::escape,
    outside::mail::Letter,
    rules::policy::{Format, WebhookUrl},
};

use super::event::{Event, Message};

/// The most octets of a summary, the most facts, and the most octets of all in one text. So no message
/// exceeds a limit of its service.
const MOST_SUMMARY: usize = 400;
const MOST_FACTS: usize = 10;
const MOST_TEXT: usize = 2_000;

pub(super) fn request(format: Format, url: &WebhookUrl, event: &Event) -> (String, String) {
    let body = match format {
        Format::Json => return (url.reveal().to_owned(), event.body()),
        Format::Slack => slack(event),
        Format::Teams => teams(event),
        Format::Discord => discord(event),
        Format::Ntfy => {
            let (before, topic, query) = url.topic().unwrap_or_else(|| (url.reveal(), "", ""));
            return (format!("{before}{query}"), ntfy(event, topic).to_string());
        }
    };
    (url.reveal().to_owned(), body.to_string())
}

fn lines(event: &Event) -> impl Iterator<Item = String> {
    let facts = event.details.iter().map(|(name, value)| (name, flat(value)));
    let facts = facts.filter(|(_, value)| !value.is_empty()).take(MOST_FACTS);
    let summary = escape::bounded(event.summary.as_bytes(), MOST_SUMMARY);
    iter::once(summary)
        .chain(facts.map(|(name, value)| format!("{name}: {}", escape::shown(value))))
}

/// All lines, up to a limit that never splits a character.
fn text(event: &Event) -> String {
    let mut text = lines(event).collect::<Vec<_>>().join("\n");
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    text
}

fn flat(value: &Value) -> String {
    let joined = |values: &mut dyn Iterator<Item = &Value>, separator| {
        values.map(flat).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(separator)
    };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(&mut items.iter(), "; "),
        Value::Object(members) => joined(&mut members.values(), " "),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// An incoming webhook of Slack: blocks of plain text, in which `&`, `<` and `>` alone have a meaning.
fn slack(event: &Event) -> Value {
    let block = |kind: &str, text: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let text = json!({ "type": "plain_text", "text": text, "emoji": false });
        json!({ "type": kind, "text": text })
    };
    let title = block("header", &event.title());
    let lines = lines(event).map(|line| block("section", &line));
    // Notifications show the text.
    json!({
        "text": event.title(),
        "unfurl_links": false,
        "unfurl_media": false,
        "blocks": iter::once(title).chain(lines).collect::<Vec<_>>(),
    })
}

/// The message of a workflow of Teams: an Adaptive Card. Runs of text know no markup.
fn teams(event: &Event) -> Value {
    let block = |text: &str, weight: &str| {
        let run = json!({ "type": "TextRun", "text": text, "weight": weight });
        json!({ "type": "RichTextBlock", "inlines": [run] })
    };
    let title = block(&event.title(), "Bolder");
    let lines = lines(event).map(|line| block(&line, "Default"));
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": iter::once(title).chain(lines).collect::<Vec<_>>(),
            },
        }],
    })
}

/// A webhook of Discord: an embed, in which a backslash takes the meaning of any sign.
fn discord(event: &Event) -> Value {
    let signs = |c: char| if c.is_ascii_punctuation() { vec!['\\', c] } else { vec![c] };
    let text: String = text(event).chars().flat_map(signs).collect();
    json!({
        "allowed_mentions": { "parse": [] },
        "embeds": [{
            "title": event.title(), "description": text, "timestamp": event.at.to_string(),
        }],
    })
}

/// A message of ntfy, which is plain text unless it says otherwise.
fn ntfy(event: &Event, topic: &str) -> Value {
    json!({
        "topic": topic,
        "title": event.title(),
        "message": text(event),
        // High: the phone rings.
        "priority": 4,
        "tags": [event.kind],
    })
}

pub(super) fn letter(Message { id, event }: &Message, to: &[String]) -> Letter {
    let subject = format!("{}: {}", event.title(), event.summary);
    Letter { id: id.clone(), to: to.to_vec(), subject, text: letter_text(event), html: None }
}

pub(super) fn letter_text(event: &Event) -> String {
    let time = event.at.strftime("%F %H:%M:%S UTC");
    let lines: String = lines(event).map(|line| line + "\n").collect();
    format!("{lines}event: {}\ntime: {time}\n", event.kind)
}

#[cfg(test)]
mod tests;
