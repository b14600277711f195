//! What changes in meaning from one policy or robots.txt to another, as the rows of a page.

use crate::{
    advice::comparison::{
        self, Comparison, Differences, Row, Side, State, Told, differences_within,
    },
    formats::robots::RobotsTxt,
    review::report::number::grouped,
    rules::{enforce::Moment, policy::Policy},
    state::publication::Snapshot,
};

/// The most rows of a page: of two policies, and of two files.
const MOST_ROWS: usize = 300;
const MOST_ROWS_OF_FILES: usize = 200;
/// The most steps of the exact search: a tenth of a second.
const MOST_STEPS: usize = 5_000_000;
/// The most samples that are compared: well under a second.
const MOST_SAMPLES: usize = 100_000;

/// What a page says about two files with too many rules and groups.
const PARTIAL: &str = "Not all crawlers are compared: the files have too many rules and groups for a \
                       page. 'beadle diff' compares all.";

pub(super) struct Changes {
    pub(super) caption: &'static str,
    pub(super) rows: Vec<ChangeRow>,
    pub(super) remarks: Vec<String>,
}

pub(super) struct ChangeRow {
    pub(super) site: String,
    pub(super) told: Told,
    /// The class of the new state: `good` opens, `bad` closes.
    pub(super) class: &'static str,
}

impl Changes {
    /// What `next` would change if it came into force now.
    pub(super) fn of_next(published: &Snapshot, next: &Policy, moment: Moment) -> Self {
        let rulebook = published.rulebook_of(next, moment);
        let before = Side { policy: &published.policy.policy, rulebook: &published.rulebook };
        let next = Side { policy: next, rulebook: &rulebook };
        let found = comparison::policies_within(before, next, MOST_STEPS);
        Self::of(&found, "Against the policy in force")
    }

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
            let (first, rest) = found.exactness().split_at(1);
            remarks.push(format!("{}{rest}.", first.to_uppercase()));
        }
        Self {
            caption,
            rows: found.rows.iter().take(MOST_ROWS).map(ChangeRow::of).collect(),
            remarks,
        }
    }

    pub(super) fn of_files(before: &RobotsTxt, after: &RobotsTxt) -> Self {
        let found = differences_within(before, after, MOST_SAMPLES);
        let rows = found.rows.iter().take(MOST_ROWS_OF_FILES);
        let rows = rows.map(|row| ChangeRow::of(&Row::from(row))).collect();
        Self { caption: "", rows, remarks: remark(&found).into_iter().collect() }
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

/// What is to be said after the listed differences of two files, if anything.
fn remark(found: &Differences) -> Option<String> {
    if found.is_partial {
        return Some(PARTIAL.to_owned());
    }
    let by_sample = "compared by sample paths, one for each pattern, which is no proof";
    let more = found.omitted + found.rows.len().saturating_sub(MOST_ROWS_OF_FILES);
    let listed = match (found.rows.len(), more) {
        (0, _) => Some("no path is judged differently (paces are not compared)".to_owned()),
        (_, 0) => None,
        (_, more) => Some(format!("and {more} more")),
    };
    match (listed, found.is_exact) {
        (listed, true) => listed,
        (Some(listed), false) => Some(format!("{listed}; {by_sample}")),
        (None, false) => Some(by_sample.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::robots::parse;

    #[test]
    fn a_difference_of_files_names_crawlers_answers_and_rules() {
        let names: String = (0..7).map(|at| format!("User-agent: bot-{at}\n")).collect();
        let names = names.replace("bot-0", "bot-a").replace("-1", "-b").replace("-2", "-c");
        let names = names.replace("-3", "-d").replace("-4", "-e").replace("-5", "-f");
        let names = names.replace("-6", "-g");
        let (before, _) = parse(format!("{names}Allow: /\n").as_bytes());
        let (after, _) = parse(format!("{names}Disallow: /x\n").as_bytes());
        let found = Changes::of_files(&before, &after);
        let ChangeRow { told, class, .. } = found.rows.first().expect("a difference");
        assert_eq!(told.crawlers, "bot-a, bot-b, bot-c, bot-d, bot-e and 2 more");
        assert_eq!((told.subject.as_str(), *class), ("/x", "bad"));
        assert_eq!((told.before.as_str(), told.after.as_str()), ("allow", "disallow"));
        assert_eq!(
            told.rules,
            Some(["by 'Allow: /' (line 8)", "by 'Disallow: /x' (line 8)"].map(str::to_owned))
        );
        assert_eq!(found.remarks, Vec::<String>::new());
        let same = Changes::of_files(&before, &before);
        assert!(same.remarks.iter().any(|text| text.starts_with("no path")));
    }
}
