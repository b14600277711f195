//! The state that the conditions look at.

use jiff::Timestamp;

use crate::{advice::fronts, outside::tls};

/// The state of the program at one moment.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The refusal of the policy file as it is now.
    pub refused: Option<Refusal>,
    /// The sites with a robots.txt in quarantine.
    pub quarantined: Vec<Quarantined>,
    /// The sites with an open breaker.
    pub open_breakers: Vec<String>,
    /// The sites where crawlers make room for people.
    pub crawlers_put_off: Vec<String>,
    /// The destinations of records that are not written.
    pub troubles: Vec<Trouble>,
    /// The certificates that listeners present.
    pub certificates: Vec<tls::Presented>,
    /// The certificates whose renewal failed.
    pub not_renewed: Vec<tls::Trouble>,
    /// The records that were lost since the start.
    pub lost: u64,
    /// What servers in front of Beadle do to its answers.
    pub fronts: Vec<fronts::Trouble>,
    /// What is wrong with the lists of crawlers that the policy follows.
    pub lists: Vec<ListTrouble>,
    /// The crawlers of these lists that the operator has not accepted.
    pub pending: Vec<String>,
    /// The requests of crawlers since the start.
    pub tallies: Vec<Tally>,
}

/// A refused change of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) at: Timestamp,
    pub(crate) findings: Vec<String>,
}

/// A site whose origin has a new robots.txt in quarantine. The last good one stays in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    pub(crate) site: String,
    pub(crate) reason: &'static str,
}

/// A list of crawlers whose last fetch changed nothing. The last good copy stays in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTrouble {
    pub(crate) url: String,
    pub(crate) reason: String,
    /// Whether a list came that is refused. Otherwise none came.
    pub is_refused: bool,
}

/// A destination of records that is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// `database` or `log`.
    pub destination: String,
    pub(crate) reason: String,
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
