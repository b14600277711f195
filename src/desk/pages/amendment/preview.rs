//! What a change of the policy file would change: the text, the meaning, the last days. The text of a
//! section, to be edited.

use askama::Template;
use axum::{
    Form,
    extract::{State, rejection::FormRejection},
    http::StatusCode,
    response::Response,
};

use super::change_form::{Prepared, SECTIONS, Wanted, hash, read_file, section_lines};
use crate::{
    base::diagnostic::Diagnostic,
    desk::{
        admin::{Live, View, html},
        pages::{
            changes::Changes,
            conditions::Asked,
            frame::{Answer, Frame, live, notice, try_ask, work_on},
            policy::masked,
        },
    },
    review::proposal::{Declined, Request, past},
    state::publication::{Outcome, rewrite},
};

#[derive(Template)]
#[template(path = "change.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    title: String,
    wanted: Wanted,
    faults: Vec<String>,
    /// Whether the change can be applied here.
    edits: bool,
    /// The difference, each line with its class.
    lines: Vec<(&'static str, String)>,
    changes: Option<Changes>,
    past: Vec<String>,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Asked(wanted, faults): Asked<Wanted>,
) -> Answer {
    preview(&view, wanted, faults).await
}

pub(in crate::desk::pages) async fn of_section(
    State(view): State<View>,
    form: Result<Form<Wanted>, FormRejection>,
) -> Answer {
    match form {
        Ok(Form(wanted)) => preview(&view, wanted, Vec::new()).await,
        Err(_) => Ok(unread(&view)),
    }
}

fn unread(view: &View) -> Response {
    let text = "The form could not be read. Open its page, and send it again.";
    notice(view, StatusCode::BAD_REQUEST, "Nothing changed", text)
}

async fn preview(view: &View, mut wanted: Wanted, faults: Vec<String>) -> Answer {
    wanted.settle((view.now)());
    let asked = wanted.clone();
    let prepared = work_on(view, move |live| {
        let (prepared, moment) = (asked.prepare(live), live.handles.clock.moment());
        let published = live.handles.published.load_full();
        let changes = |one: &Prepared| Changes::of_next(&published, &one.proposal.policy, moment);
        let changes = prepared.as_ref().ok().map(changes);
        (prepared, changes)
    });
    let (prepared, changes) = prepared.await?;
    let mut page = Page {
        frame: Frame::new(view, "/policy"),
        title: title(&wanted),
        faults,
        edits: live(view)?.edits,
        lines: Vec::new(),
        changes,
        past: Vec::new(),
        wanted,
    };
    match prepared {
        Err(refused) => page.faults.extend(sentences(refused)),
        Ok(prepared) => {
            page.lines = patch_lines(&prepared.proposal.patch);
            page.wanted.file = hash(&prepared.before);
            page.past = last_days(view, &page.wanted, prepared).await;
        }
    }
    Ok(html(&page))
}

/// What the last seven days would have been, as sentences.
async fn last_days(view: &View, wanted: &Wanted, prepared: Prepared) -> Vec<String> {
    let Prepared { proposal, act: Some(act), .. } = prepared else { return Vec::new() };
    let (site, crawler, now) = (wanted.site.clone(), wanted.crawler.clone(), (view.now)());
    let asked = act.clone();
    let rows = try_ask(view, move |store| {
        past(store, &proposal.policy, &Request { site: &site, name: &crawler, act: asked }, now)
    });
    match rows.await {
        Ok(rows) if rows.is_empty() => vec!["No request of it is counted.".to_owned()],
        Ok(rows) => rows.iter().map(|row| row.text(&act)).collect(),
        Err(none) => vec![none.sentence()],
    }
}

fn title(wanted: &Wanted) -> String {
    match (wanted.section.as_str(), wanted.act.as_str()) {
        ("", "nothing") => format!("Take back the changes for {}", wanted.crawler),
        ("", "quiet") => format!("{}: no alerts", wanted.crawler),
        ("", act) => format!("{}: {act}", wanted.crawler),
        (section, _) => format!("{section} of {}", wanted.site),
    }
}

fn patch_lines(patch: &str) -> Vec<(&'static str, String)> {
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => ("added", masked(line)),
        Some(b'-') => ("removed", masked(line)),
        _ => ("", masked(line)),
    };
    patch.lines().skip(2).map(line).collect()
}

fn sentences(refused: Declined) -> Vec<String> {
    let sentence = |finding: &Diagnostic| {
        let help = finding.help.as_deref().map_or(String::new(), |help| format!(" ({help})"));
        masked(&format!("{}: {}{help}", finding.place, finding.message))
    };
    match refused {
        Declined::Senseless(why) => vec![why],
        Declined::ByHand { line, why, entry } => {
            vec![format!("Line {line}: {why}. Write it by hand: {entry}")]
        }
        Declined::Refused(findings) => findings.iter().map(sentence).collect(),
    }
}

/// Applies the change of a form: the policy file is written, and read again by the running program.
pub(in crate::desk::pages) async fn write(
    State(view): State<View>,
    form: Result<Form<Wanted>, FormRejection>,
) -> Answer {
    let Ok(Form(wanted)) = form else { return Ok(unread(&view)) };
    let refused = |status, text: &str| notice(&view, status, "Nothing changed", text);
    if !live(&view)?.edits {
        let text = "The desk may not write the policy file: set server.admin.edit, and restart \
                    Beadle. The page of the change shows the lines to write.";
        return Ok(refused(StatusCode::FORBIDDEN, text));
    }
    if wanted.file.is_empty() {
        return Ok(unread(&view));
    }
    let asked = wanted.clone();
    let written = work_on(&view, move |live| {
        let prepared = asked.prepare(live)?;
        rewrite(&live.policy_file, &prepared.before, &prepared.proposal.after)
            .map_err(|why| Declined::Senseless(format!("The policy file is not written: {why}.")))
    });
    if let Err(why) = written.await? {
        return Ok(refused(StatusCode::CONFLICT, &sentences(why).join(" ")));
    }
    let Wanted { site, crawler, act, section, .. } = &wanted;
    tracing::info!(site, crawler, act, section, "policy file changed on the desk");
    let findings = match live(&view)?.reloads.outcome("desk").await {
        Some(Outcome::Applied | Outcome::Unchanged) => {
            let text = "The policy file is written, and it is in force. What changed stands on the \
                        page /policy/history, with a way back.";
            return Ok(notice(&view, StatusCode::OK, "In force", text));
        }
        Some(Outcome::Refused(findings)) => findings,
        None => Vec::new(),
    };
    let why = sentences(Declined::Refused(findings)).join(" ");
    let text = format!("The file is written, and the policy in force stays as it was. {why}");
    Ok(notice(&view, StatusCode::CONFLICT, "Written, but not in force", &text))
}

/// The text of a section of a site, to be edited.
#[derive(Template)]
#[template(path = "section_text.html", config = "src/desk/pages/askama.toml")]
struct SectionText {
    frame: Frame,
    wanted: Wanted,
    sites: Vec<String>,
    sections: [&'static str; 4],
    faults: Vec<String>,
}

pub(in crate::desk::pages) async fn section_text(
    State(view): State<View>,
    Asked(mut wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let frame = Frame::new(&view, "/policy");
    let page = work_on(&view, move |live| {
        let published = live.handles.published.load();
        let sites = published.policy.policy.written_sites();
        let sites: Vec<String> = sites.map(|one| one.name().to_owned()).collect();
        if wanted.site.is_empty() {
            wanted.site = sites.first().cloned().unwrap_or_default();
        }
        if wanted.section.is_empty() {
            wanted.section = SECTIONS[0].to_owned();
        }
        match text(live, &wanted) {
            Ok((text, file)) => (wanted.text, wanted.file) = (text, file),
            Err(why) => faults.extend(sentences(why)),
        }
        SectionText { frame, wanted, sites, sections: SECTIONS, faults }
    });
    Ok(html(&page.await?))
}

/// The text of the section, and the name of the file's bytes.
fn text(live: &Live, wanted: &Wanted) -> Result<(String, String), Declined> {
    let read = read_file(&live.policy_file)?;
    let text = String::from_utf8_lossy(&read.bytes);
    let Some(policy) = &read.policy else {
        return Err(Declined::Senseless(
            "The policy file has errors: its page shows them.".to_owned(),
        ));
    };
    let lines = section_lines(&text, policy, &wanted.site, &wanted.section)?;
    Ok((text.get(lines).unwrap_or_default().to_owned(), hash(&read.bytes)))
}
