//! The texts of refusals: the block page from the operator's template, and the notice for a crawler
//! that comes too soon.

use crate::{
    base::{escape, metrics},
    clients::conduct::{Early, Limited},
    rules::{
        crawlers::Name,
        enforce::{AppliedPace, Judgement, Reason},
        policy::{self, Piece, Slot},
    },
};

use super::{answer::LATER_SECONDS, visit::Visit};

/// The most octets of a value in a page.
const MOST_SHOWN: usize = 2_048;

/// The judged name in records; `-` for a client without a name, as in access logs and metrics.
pub(super) fn name<'r>(judgement: &Judgement<'r>) -> &'r str {
    judgement.name.map_or(metrics::NO_TOKEN, Name::as_str)
}

/// The judged name in a text for people, after `before`.
fn name_in_words<'r>(judgement: &Judgement<'r>, before: &str) -> &'r str {
    judgement.name.map_or_else(|| nameless(before), Name::as_str)
}

/// A client without a name, with a capital letter where a sentence begins.
fn nameless(before: &str) -> &'static str {
    let begins = before.trim_end().chars().next_back().is_none_or(|last| ".!?>".contains(last));
    if begins { "A client without a name" } else { "a client without a name" }
}

/// The host and port as the client wrote them; else the site's name.
fn authority<'a>(visit: &'a Visit<'_>) -> &'a str {
    let written = visit.request.authority.and_then(|bytes| str::from_utf8(bytes).ok());
    written.unwrap_or(&visit.site.name)
}

fn robots_txt(visit: &Visit<'_>) -> String {
    format!("{}://{}/robots.txt", visit.scheme(), authority(visit))
}

/// The body of a block page, from the operator's template, and its `Content-Type`. Values are escaped
/// for HTML; for other types only control characters are escaped.
pub(super) fn block<'b>(
    block: &'b policy::Block,
    visit: &Visit<'_>,
    judgement: &Judgement<'_>,
    reason: Reason,
    id: &str,
) -> (String, &'b str) {
    let (template, content_type, rule) = match reason {
        // The rule may allow the request of an impostor.
        Reason::Impostor => (&block.impostor_body, &block.content_type, None),
        Reason::Form => (&block.form_body, &block.form_content_type, judgement.rule),
        _ => (&block.body, &block.content_type, judgement.rule),
    };
    let is_html = content_type.trim_start().to_ascii_lowercase().starts_with("text/html");
    let mut body = String::new();
    for piece in &template.0 {
        let value = match piece {
            Piece::Text(text) => {
                body.push_str(text);
                continue;
            }
            Piece::Slot(Slot::ProductToken) => name_in_words(judgement, &body).to_owned(),
            Piece::Slot(Slot::Rule) => rule.map_or_else(String::new, |rule| {
                format!("{}: {}", rule.directive.field_name(), rule.pattern)
            }),
            Piece::Slot(Slot::Line) => rule.map_or_else(String::new, |rule| rule.line.to_string()),
            Piece::Slot(Slot::RobotsTxt) => robots_txt(visit),
            Piece::Slot(Slot::Id) => id.to_owned(),
            Piece::Slot(Slot::Host) => visit.host().to_owned(),
            Piece::Slot(Slot::Path) => String::from_utf8_lossy(visit.request.target).into_owned(),
            Piece::Slot(Slot::Form) => form(visit, judgement),
        };
        let safe = escape::bounded(value.as_bytes(), MOST_SHOWN);
        body.push_str(&if is_html { escape::html(&safe) } else { safe });
    }
    (body, content_type)
}

/// The form of the path that the rule closes.
fn form(visit: &Visit<'_>, judgement: &Judgement<'_>) -> String {
    let explanation =
        judgement.group.map(|group| visit.site.edition().matcher().explain(group, &visit.target));
    explanation.map_or_else(String::new, |one| match one.is_cut {
        true => "any of too many paths to judge".to_owned(),
        false => String::from_utf8_lossy(&one.path).into_owned(),
    })
}

/// The notice for a crawler that comes too soon.
pub(super) fn notice(
    visit: &Visit<'_>,
    judgement: &Judgement<'_>,
    early: &Early<'_>,
    id: &str,
) -> String {
    let mut robots_txt = robots_txt(visit);
    if early.pace.edition != visit.site.edition().id() {
        robots_txt.push_str(" as it was before");
    }
    let seconds = early.retry_after;
    notice_text(name_in_words(judgement, ""), &early.pace, &robots_txt, seconds, id)
}

/// The notice for a crawler beyond a limit of the operator.
pub(super) fn limit(Limited { applied, retry_after: seconds }: &Limited<'_>) -> String {
    let name = applied.name.map_or_else(|| nameless(""), Name::as_str);
    let name = escape::bounded(name.as_bytes(), MOST_SHOWN);
    format!(
        "{name} comes too fast.\n\nThis site takes {} (limit {}).\n\nCome back in {seconds} s.\n",
        applied.limit, applied.number
    )
}

/// The notice for a crawler that makes room for people.
pub(super) fn later(visit: &Visit<'_>) -> String {
    let name = visit.claim.primary().map_or_else(|| nameless(""), Name::as_str);
    let name = escape::bounded(name.as_bytes(), MOST_SHOWN);
    format!(
        "{name} has to wait.\n\nPeople come first at this site, and it is busy now.\n\nCome back in {LATER_SECONDS} s.\n"
    )
}

fn notice_text(
    product_token: &str,
    AppliedPace { pace, record, .. }: &AppliedPace<'_>,
    robots_txt: &str,
    seconds: u64,
    id: &str,
) -> String {
    let shown = |text: &str| escape::bounded(text.as_bytes(), MOST_SHOWN);
    let robots_txt = shown(robots_txt);
    let why = match record {
        Some(record) => {
            let line = shown(&format!("{}: {}", record.name, record.value));
            let number = record.line;
            format!("The rules ask for {pace}:\n  {line}\n  (line {number} of {robots_txt})")
        }
        None => {
            format!("It broke the rules of {robots_txt} so often that it may make only {pace}.")
        }
    };
    let product_token = shown(product_token);
    format!(
        "{product_token} comes too fast.\n\n{why}\n\nCome back in {seconds} s.\n\nDecision {}\n",
        shown(id)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        formats::robots::{PaceRecord, Record},
        rules::enforce::EditionId,
    };

    #[test]
    fn a_client_without_a_name_is_named_in_words() {
        for (before, expected) in [
            ("", "A client"),
            ("<p>", "A client"),
            ("No. ", "A client"),
            ("Here, ", "a client"),
            ("<p>Stop:\n", "a client"),
        ] {
            assert_eq!(nameless(before), format!("{expected} without a name"), "{before:?}");
        }
    }

    #[test]
    fn the_notice_names_the_crawler_the_pace_and_the_line() {
        let record =
            Record { name: "Crawl-delay".into(), value: "10".into(), line: 4, ..Record::default() };
        let pace = PaceRecord::of(&record).expect("a delay").pace;
        let text = |record| {
            let edition = EditionId::of(b"");
            let pace = AppliedPace { pace, record, is_enforced: true, edition };
            notice_text("Evil\u{1b}Bot", &pace, "https://a.example/robots.txt", 7, "1")
        };
        assert_eq!(
            text(Some(&record)),
            "Evil\\x1bBot comes too fast.\n\nThe rules ask for 1 request every 10 s:\n  \
             Crawl-delay: 10\n  (line 4 of https://a.example/robots.txt)\n\nCome back in 7 s.\n\n\
             Decision 1\n"
        );
        assert!(text(None).contains("so often that it may make only 1 request every 10 s."));
    }
}
