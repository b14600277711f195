//! The text of a section of a site, to be edited.

use askama::Template;
use axum::extract::State;

use super::{
    change_form::{NotPrepared, SECTIONS, Wanted, hash, read_file, section_lines},
    preview::sentences,
};
use crate::desk::{
    admin::{Live, View, html},
    pages::{
        conditions::Asked,
        frame::{Answer, Frame, work_on},
    },
};

#[derive(Template)]
#[template(path = "section_text.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    wanted: Wanted,
    sites: Vec<String>,
    sections: [&'static str; 4],
    faults: Vec<String>,
}

pub(super) async fn page(
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
        Page { frame, wanted, sites, sections: SECTIONS, faults }
    });
    Ok(html(&page.await?))
}

/// The text of the section, and the name of the file's bytes.
fn text(live: &Live, wanted: &Wanted) -> Result<(String, String), NotPrepared> {
    let read = read_file(&live.policy_file)?;
    let text = String::from_utf8_lossy(&read.bytes);
    let Some(policy) = &read.policy else {
        return Err("The policy file has errors: its page shows them.".into());
    };
    let lines = section_lines(&text, policy, &wanted.site, &wanted.section)?;
    Ok((text.get(lines).unwrap_or_default().to_owned(), hash(&read.bytes)))
}
