//! The state that the conditions look at.

use jiff::Timestamp;

use crate::{advice::fronts, outside::tls};

/// The state of the program at one moment.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The refusal of the policy file as it is now.
    pub refused: Option<Refusal>,
    /// The sites with a new robots.txt of the origin in quarantine, each with the reason.
    pub quarantined: Vec<(String, &'static str)>,
    pub(crate) open_breakers: Vec<String>,
    pub(crate) crawlers_put_off: Vec<String>,
    /// The destinations of records that are not written, `database` or `log`, each with the reason and its
    /// repair.
    pub troubles: Vec<(String, String)>,
    pub(crate) certificates: Vec<tls::Presented>,
    pub(crate) not_renewed: Vec<tls::Trouble>,
    pub(crate) lost: u64,
    /// What servers in front of Beadle do to its answers.
    pub(crate) fronts: Vec<fronts::Trouble>,
    /// What is wrong with the lists of crawlers that the policy follows.
    pub lists: Vec<ListTrouble>,
    /// The crawlers of these lists that the operator has not accepted.
    pub pending: Vec<String>,
    pub(crate) tallies: Vec<Tally>,
}

/// A refused change of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) at: Timestamp,
    pub(crate) findings: Vec<String>,
}

/// A list of crawlers whose last fetch changed nothing. The last good copy stays in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTrouble {
    pub(crate) url: String,
    pub(crate) reason: String,
    /// Whether a list came that is refused. Otherwise none came.
    pub is_refused: bool,
}

/// The requests of one crawler at one site since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub(crate) site: String,
    /// The product token; names that nobody knows share one.
    pub product_token: String,
    pub(crate) is_impostor: bool,
    /// Whether the operator wants no alerts about it.
    pub is_quiet: bool,
    pub(crate) requests: u64,
    pub(crate) violations: u64,
}
