//! What evidence says of a claim.
//!
//! A User-Agent costs nothing to copy. Who runs a crawler may publish what only its own requests
//! have: the addresses they come from, the names that these resolve to and back, the keys that they
//! are signed with. Each kind of evidence gives an [`Answer`], and all of them together a
//! [`Standing`]:
//!
//! | | |
//! |---|---|
//! | confirmed | some evidence speaks for the claim; the others may be incomplete |
//! | unknown | none does, but some could not be looked at yet, or the look-up failed |
//! | contradicted | all that is published was looked at, and speaks against it |
//! | unverifiable | nothing is published that could be looked at |
//!
//! So a failure of ours, or of a network, makes nobody an impostor.

use super::Crawler;

/// What one kind of evidence says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// The claim is true.
    Yes,
    /// The claim is false.
    No,
    /// It could be looked at, but has not been, or that failed.
    #[default]
    NotYet,
    /// There is nothing to look at: the operator publishes none of this kind, or none for this
    /// family of addresses, or the request carries none.
    Nothing,
}

/// A kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The request is signed by a key of the operator (Web Bot Auth, RFC 9421).
    Signature,
    /// The address is in a published list.
    IpRange,
    /// The name of the address ends as published, and leads back to it.
    ReverseDns,
}

impl Evidence {
    /// Every kind, the strongest first.
    pub const ALL: [Self; 3] = [Self::Signature, Self::IpRange, Self::ReverseDns];

    /// The kind as written in records and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::IpRange => "ip-range",
            Self::ReverseDns => "reverse-dns",
        }
    }
}

/// What is known about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is true.
    Confirmed,
    /// It is false.
    Contradicted,
    /// Nobody can tell: the operator publishes nothing to tell it by.
    Unverifiable,
    /// Not known, or not known yet.
    Unknown,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] =
        [Self::Confirmed, Self::Contradicted, Self::Unverifiable, Self::Unknown];

    /// The word in records, metrics and policies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Contradicted => "contradicted",
            Self::Unverifiable => "unverifiable",
            Self::Unknown => "unknown",
        }
    }

    /// The outcome of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

/// What is known about a claim, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// What is known.
    pub outcome: Outcome,
    /// What confirms or contradicts it.
    pub evidence: Option<Evidence>,
}

impl Standing {
    /// Of a claim that nothing published could tell from a lie.
    pub const UNVERIFIABLE: Self = Self { outcome: Outcome::Unverifiable, evidence: None };
    /// Of a claim that was not looked at, or not yet.
    pub const UNKNOWN: Self = Self { outcome: Outcome::Unknown, evidence: None };

    /// What three answers say together, in the order of [`Evidence::ALL`].
    pub fn of(answers: [Answer; Evidence::ALL.len()]) -> Self {
        let first = |answer: Answer| {
            let mut said = Evidence::ALL.into_iter().zip(answers);
            said.find(|(_, said)| *said == answer).map(|(evidence, _)| evidence)
        };
        let by = |outcome, evidence| Self { outcome, evidence: Some(evidence) };
        if let Some(evidence) = first(Answer::Yes) {
            by(Outcome::Confirmed, evidence)
        } else if first(Answer::NotYet).is_some() {
            Self::UNKNOWN
        } else {
            first(Answer::No)
                .map_or(Self::UNVERIFIABLE, |evidence| by(Outcome::Contradicted, evidence))
        }
    }

    /// What is known of a crawler where nothing is looked at.
    pub fn unexamined(crawler: &Crawler) -> Self {
        if crawler.publishes_evidence() { Self::UNKNOWN } else { Self::UNVERIFIABLE }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer::*, *};

    #[test]
    fn ours_a_failure_makes_nobody_an_impostor() {
        let by = |outcome, evidence| Standing { outcome, evidence: Some(evidence) };
        let confirmed = |evidence| by(Outcome::Confirmed, evidence);
        let contradicted = |evidence| by(Outcome::Contradicted, evidence);
        for (answers, standing) in [
            ([Nothing, Nothing, Nothing], Standing::UNVERIFIABLE),
            ([Nothing, Yes, NotYet], confirmed(Evidence::IpRange)),
            ([Yes, No, No], confirmed(Evidence::Signature)),
            ([Nothing, No, Yes], confirmed(Evidence::ReverseDns)),
            ([No, Yes, Yes], confirmed(Evidence::IpRange)),
            ([Nothing, No, NotYet], Standing::UNKNOWN),
            ([NotYet, No, No], Standing::UNKNOWN),
            ([No, NotYet, Nothing], Standing::UNKNOWN),
            ([Nothing, NotYet, Nothing], Standing::UNKNOWN),
            ([Nothing, No, Nothing], contradicted(Evidence::IpRange)),
            ([Nothing, No, No], contradicted(Evidence::IpRange)),
            ([Nothing, Nothing, No], contradicted(Evidence::ReverseDns)),
            ([No, Nothing, Nothing], contradicted(Evidence::Signature)),
        ] {
            assert_eq!(Standing::of(answers), standing, "{answers:?}");
        }
    }
}
