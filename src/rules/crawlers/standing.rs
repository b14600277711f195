//! The standing of a claim: the result of all evidence together.
//!
//! Any client can copy a User-Agent. An operator may publish evidence that only its own requests
//! have: their addresses, the names of these addresses, the keys of their signatures. Each kind of
//! evidence gives a [`Testimony`], and all of them together give a [`Standing`]:
//!
//! | | |
//! |---|---|
//! | confirmed | some evidence supports the claim; other evidence may be incomplete |
//! | unknown | no evidence supports the claim, and some is not checked yet or its check failed |
//! | contradicted | some evidence contradicts the claim, and all other is checked or withheld by the client |
//! | unverifiable | the operator publishes no evidence |
//!
//! So a failure of Beadle, or of a network, never makes a client an impostor.

use crate::base::text::words;

use super::crawler::Crawler;

/// The result of one kind of evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Testimony {
    /// The claim is true.
    Yes,
    /// The claim is false.
    No,
    /// The evidence is not checked yet, or the check failed.
    #[default]
    NotYet,
    /// The check failed because of the client: the zone of its address has no usable answer.
    Withheld,
    /// There is no such evidence: the operator publishes none of this kind or for this family of
    /// addresses, or the request carries none.
    Nothing,
}

words! {
    /// A kind of evidence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Evidence {
        /// A key of the operator signs the request (Web Bot Auth, RFC 9421).
        Signature = "signature",
        /// A published list contains the address.
        IpRange = "ip-range",
        /// The name of the address has a published suffix and resolves back to the address.
        ReverseDns = "reverse-dns",
    }
}

words! {
    /// The truth of a claim.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Outcome {
        /// It is true.
        Confirmed = "confirmed",
        /// It is false.
        Contradicted = "contradicted",
        /// It cannot be checked: the operator publishes no evidence.
        Unverifiable = "unverifiable",
        /// It is not known, or not yet.
        Unknown = "unknown",
    }
}

/// The truth of a claim, and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The truth of the claim.
    pub outcome: Outcome,
    /// The evidence that confirms or contradicts it.
    pub evidence: Option<Evidence>,
}

impl Standing {
    pub(crate) const UNVERIFIABLE: Self = Self { outcome: Outcome::Unverifiable, evidence: None };
    /// The standing of a claim that is not checked, or not yet.
    pub(crate) const UNKNOWN: Self = Self { outcome: Outcome::Unknown, evidence: None };

    /// The standing that follows from the testimonies, in the order of [`Evidence::ALL`].
    pub fn of(testimonies: [Testimony; Evidence::ALL.len()]) -> Self {
        let first = |testimony: Testimony| {
            let mut each = Evidence::ALL.into_iter().zip(testimonies);
            each.find(|(_, other)| *other == testimony).map(|(evidence, _)| evidence)
        };
        let by = |outcome, evidence| Self { outcome, evidence: Some(evidence) };
        if let Some(evidence) = first(Testimony::Yes) {
            by(Outcome::Confirmed, evidence)
        } else if first(Testimony::NotYet).is_some() {
            Self::UNKNOWN
        } else if let Some(evidence) = first(Testimony::No) {
            by(Outcome::Contradicted, evidence)
        } else if first(Testimony::Withheld).is_some() {
            Self::UNKNOWN
        } else {
            Self::UNVERIFIABLE
        }
    }

    pub(crate) fn unexamined(crawler: &Crawler) -> Self {
        if crawler.publishes_evidence() { Self::UNKNOWN } else { Self::UNVERIFIABLE }
    }
}

#[cfg(test)]
mod tests {
    use super::{Testimony::*, *};

    #[test]
    fn a_failure_never_makes_an_impostor() {
        let by = |outcome, evidence| Standing { outcome, evidence: Some(evidence) };
        let confirmed = |evidence| by(Outcome::Confirmed, evidence);
        let contradicted = |evidence| by(Outcome::Contradicted, evidence);
        for (testimonies, standing) in [
            ([Nothing, Nothing, Nothing], Standing::UNVERIFIABLE),
            ([Nothing, Yes, NotYet], confirmed(Evidence::IpRange)),
            ([Yes, No, No], confirmed(Evidence::Signature)),
            ([Nothing, No, Yes], confirmed(Evidence::ReverseDns)),
            ([No, Yes, Yes], confirmed(Evidence::IpRange)),
            ([Nothing, No, NotYet], Standing::UNKNOWN),
            ([NotYet, No, Withheld], Standing::UNKNOWN),
            ([Nothing, NotYet, Withheld], Standing::UNKNOWN),
            ([Nothing, Nothing, Withheld], Standing::UNKNOWN),
            ([Nothing, Yes, Withheld], confirmed(Evidence::IpRange)),
            // The client can't keep its standing open by its own doing.
            ([Nothing, No, Withheld], contradicted(Evidence::IpRange)),
            ([NotYet, No, No], Standing::UNKNOWN),
            ([No, NotYet, Nothing], Standing::UNKNOWN),
            ([Nothing, NotYet, Nothing], Standing::UNKNOWN),
            ([Nothing, No, Nothing], contradicted(Evidence::IpRange)),
            ([Nothing, No, No], contradicted(Evidence::IpRange)),
            ([Nothing, Nothing, No], contradicted(Evidence::ReverseDns)),
            ([No, Nothing, Nothing], contradicted(Evidence::Signature)),
        ] {
            assert_eq!(Standing::of(testimonies), standing, "{testimonies:?}");
        }
    }
}
