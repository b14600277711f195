//! The site in the address of a page, and what the database says about it.

use std::sync::Arc;

use axum::http::StatusCode;

use crate::{
    base::escape,
    desk::{
        admin::View,
        pages::{
            frame::{Instead, NoAnswer, live, notice},
            link,
        },
    },
    rules::enforce,
    state::publication::Snapshot,
};

/// What a page says that can ask no database.
const NOT_KEPT: &str = "The policy names no database, so hits, history and quarantined files are not kept. \
                        Set violations.database.";

#[derive(Clone)]
pub(super) struct SiteInForce {
    pub(super) published: Arc<Snapshot>,
    pub(super) number: usize,
    pub(super) name: String,
}

impl SiteInForce {
    /// The site with this name, or a page that says that there is none.
    pub(super) fn find(view: &View, name: &str) -> Result<Self, Instead> {
        let published = live(view)?.handles.published.load_full();
        let sites = published.rulebook.sites();
        let Some(number) = sites.iter().position(|site| site.name.eq_ignore_ascii_case(name))
        else {
            let text = format!(
                "The policy in force has no site with the name '{}'. A site has the name of its \
                 first host.",
                escape::shown(name)
            );
            return Err(notice(view, StatusCode::NOT_FOUND, "No such site", &text).into());
        };
        Ok(Self::new(&published, number))
    }

    pub(super) fn new(published: &Arc<Snapshot>, number: usize) -> Self {
        let name = published.rulebook.sites()[number].name.clone();
        Self { published: Arc::clone(published), number, name }
    }

    /// The site. A snapshot never loses one.
    pub(super) fn site(&self) -> &enforce::Site {
        &self.published.rulebook.sites()[self.number]
    }

    pub(super) fn hosts(&self) -> String {
        let Some(site) = self.published.policy.policy.sites.get(self.number) else {
            return String::new();
        };
        let mut hosts: Vec<String> = site.hosts.iter().map(ToString::to_string).collect();
        hosts.extend(site.default.then(|| "all others".to_owned()));
        hosts.join(", ")
    }

    pub(super) fn path(&self) -> String {
        link::robots(&self.name)
    }
}

pub(super) fn or_trouble<T>(answer: Result<T, NoAnswer>) -> (Option<T>, Option<String>) {
    match answer {
        Ok(answer) => (Some(answer), None),
        Err(NoAnswer::NoDatabase) => (None, Some(NOT_KEPT.to_owned())),
        Err(NoAnswer::Unreadable(why)) => (None, Some(why)),
    }
}
