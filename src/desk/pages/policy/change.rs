//! What the policy on disk would change.

use crate::{
    advice::comparison::{self, Comparison, Row, Side, State, Told},
    review::report::number::grouped,
    rules::{enforce::Moment, policy::Policy},
    state::publication::Snapshot,
};

/// The most rows of a page.
const MOST_ROWS: usize = 300;
/// The most steps of the exact search: a tenth of a second.
const MOST_STEPS: usize = 5_000_000;

/// What a policy would change, by site.
pub(in crate::desk::pages) struct Changes {
    pub(in crate::desk::pages) caption: &'static str,
    pub(in crate::desk::pages) rows: Vec<ChangeRow>,
    /// What is said after the rows.
    pub(in crate::desk::pages) remarks: Vec<String>,
}

/// One change.
pub(in crate::desk::pages) struct ChangeRow {
    pub(in crate::desk::pages) site: String,
    pub(in crate::desk::pages) told: Told,
    /// The class of the new state: `good` opens, `bad` closes.
    pub(in crate::desk::pages) class: &'static str,
}

impl Changes {
    /// What `next` would change if it came into force now.
    pub(in crate::desk::pages) fn of_next(
        published: &Snapshot,
        next: &Policy,
        moment: Moment,
    ) -> Self {
        let rulebook = published.rulebook_of(next, moment);
        let before = Side { policy: &published.policy.policy, rulebook: &published.rulebook };
        let found = comparison::policies_within(
            before,
            Side { policy: next, rulebook: &rulebook },
            MOST_STEPS,
        );
        Self::of(&found, "Against the policy in force")
    }

    /// What a comparison found.
    pub(super) fn of(found: &Comparison, caption: &'static str) -> Self {
        let mut remarks = found.remarks.clone();
        let hidden = found.rows.len().saturating_sub(MOST_ROWS) + found.omitted;
        if hidden > 0 {
            let hidden = grouped(hidden as u64);
            remarks.push(format!("And {hidden} more: 'beadle diff' compares two policy files."));
        }
        if found.is_empty() {
            remarks.push("No request would be treated differently.".to_owned());
        } else {
            remarks.push(exactness(found));
        }
        Self {
            caption,
            rows: found.rows.iter().take(MOST_ROWS).map(ChangeRow::of).collect(),
            remarks,
        }
    }
}

impl ChangeRow {
    fn of(row: &Row) -> Self {
        let class = match &row.after {
            State::Verdict(verdict) if verdict.verdict == "allow" => "good",
            State::Verdict(_) => "bad",
            State::Value(_) | State::None => "plain",
        };
        let site = row.site.as_deref().unwrap_or_default().to_owned();
        Self { site, told: Told::of(row), class }
    }
}

fn exactness(found: &Comparison) -> String {
    let text = found.exactness();
    let (first, rest) = text.split_at(1);
    format!("{}{rest}.", first.to_uppercase())
}
