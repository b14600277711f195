//! The policy in force in words, and its file as it is on disk.

use std::path::PathBuf;

use askama::Template;
use axum::extract::State;

use self::disk::OnDisk;
pub(super) use self::mask::masked;
use super::{
    facts::Group,
    frame::{Answer, Frame, live, work},
    time,
};
use crate::{
    base::escape,
    desk::admin::{View, html},
    state::publication::PolicyInForce,
};

mod disk; // the file on disk
mod mask; // secrets in URLs
pub(super) mod past; // the policies that came into force
mod sections; // the sections beside the sites, in words
mod sites; // the sites in words

#[derive(Template)]
#[template(path = "policy.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    file: String,
    in_force: PolicyInForce,
    groups: Vec<Group>,
    on_disk: OnDisk,
}

pub(super) async fn page(State(view): State<View>) -> Answer {
    let live = live(&view)?;
    let published = live.handles.published.load_full();
    let in_force = published.policy.clone();
    let refusal = live.handles.refused.load_full();
    let file: PathBuf = live.policy_file.clone();
    let moment = live.handles.clock.moment();
    let read = move || OnDisk::read(&file, &published, moment, refusal.as_deref());
    let on_disk = work(read).await?;
    let policy = &in_force.policy;
    let mut groups = vec![sections::crawlers(policy)];
    groups.extend(policy.sites.iter().map(sites::group));
    groups.extend([
        sections::server(&policy.server),
        sections::records(&policy.violations),
        sections::evidence(policy.evidence.as_ref()),
        sections::alerts(&policy.alerts),
    ]);
    let page = Page {
        frame: Frame::new(&view, "/policy"),
        file: escape::path(&live.policy_file),
        groups,
        on_disk,
        in_force,
    };
    Ok(html(&page))
}
