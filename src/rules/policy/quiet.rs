//! The `quiet` of an enforcement: crawlers without alerts about their violations.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{base::product_token::ProductToken, rules::keys};

use super::{
    fields::Fields,
    findings::Findings,
    names::{Names, Selection},
};

/// Crawlers without alerts.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    /// The crawlers that it names.
    pub tokens: HashSet<ProductToken>,
    /// Whether it names `*`, every crawler.
    pub all: bool,
    /// When it ends; `None` is never (default).
    pub until: Option<Timestamp>,
}

/// Reads the list.
pub(super) fn read(fields: &Fields<'_>, names: &Names<'_>, findings: &mut Findings) -> Vec<Quiet> {
    let mut list = Vec::new();
    for at in fields.list("quiet", findings) {
        let Some(fields) = at.fields(&keys::QUIET, findings) else { continue };
        let mut quiet = Quiet { until: fields.instant("until", findings), ..Quiet::default() };
        let user_agents = fields.require("user_agents", "write for example [GPTBot]", findings);
        for item in user_agents.map(|at| at.items(findings)).unwrap_or_default() {
            match names.select(&item, findings) {
                Some(Selection::Star) => quiet.all = true,
                Some(Selection::Tokens(selected)) => quiet.tokens.extend(selected),
                None => {}
            }
        }
        list.push(quiet);
    }
    list
}
