//! The proof that the name servers resolve the names of an operator.
//!
//! In a closed network the name servers know no name. A look-up of a crawler's address then finds
//! nothing, which says nothing about the crawler. So a look-up contradicts a claim only while the name
//! servers resolve names under the suffixes of the crawler. A confirmed name proves it, or a probe
//! that finds the domain itself.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

const VALID: Duration = Duration::from_secs(24 * 3_600);
/// The age from which a look-up without a name needs a new proof. If there is none, the old one ends.
const RECENT: Duration = Duration::from_secs(3_600);
/// The least time between two probes of one suffix.
const AGAIN: Duration = Duration::from_secs(60);

/// The proofs, by suffix. The suffixes come from the catalogue, so there are few.
#[derive(Debug, Default)]
pub(super) struct Proofs(Mutex<Vec<Proof>>);

#[derive(Debug)]
struct Proof {
    suffix: String,
    /// The last time at which a name resolved, unless a later probe failed.
    proven: Option<Instant>,
    probed: Option<Instant>,
}

impl Proofs {
    /// Whether the name servers resolve the names of a crawler: names under one of its `suffixes`, and
    /// under the suffix of each of the `unresolved` names.
    pub(super) fn hold(&self, suffixes: &[String], unresolved: &[String], now: Instant) -> bool {
        let proofs = self.0.lock();
        let is_proven = |suffix: &String| {
            proofs.iter().any(|proof| proof.is_for(suffix) && proof.is_younger(VALID, now))
        };
        let is_resolvable = |name: &String| {
            let own = |suffix: &&String| is_under(name, std::slice::from_ref(*suffix));
            !is_under(name, suffixes) || suffixes.iter().filter(own).any(is_proven)
        };
        suffixes.iter().any(is_proven) && unresolved.iter().all(is_resolvable)
    }

    pub(super) fn note_name(&self, name: &str, suffixes: &[String], now: Instant) {
        let mut proofs = self.0.lock();
        for suffix in suffixes.iter().filter(|suffix| is_under(name, std::slice::from_ref(*suffix)))
        {
            Proof::of(suffix, &mut proofs).proven = Some(now);
        }
    }

    /// Whether a look-up with these `unresolved` names, and no other, needs a probe of `suffix`, one of
    /// `suffixes`. If so, the probe begins.
    pub(super) fn begin_probe(
        &self,
        suffix: &String,
        suffixes: &[String],
        unresolved: &[String],
        now: Instant,
    ) -> bool {
        let mut proofs = self.0.lock();
        let is_recent = |suffix: &String| {
            proofs.iter().any(|proof| proof.is_for(suffix) && proof.is_younger(RECENT, now))
        };
        let is_named = unresolved.iter().any(|name| is_under(name, std::slice::from_ref(suffix)));
        if is_recent(suffix) || (!is_named && suffixes.iter().any(is_recent)) {
            return false;
        }
        let proof = Proof::of(suffix, &mut proofs);
        let begins = proof.may_be_probed(now);
        if begins {
            proof.probed = Some(now);
        }
        begins
    }

    /// Ends a probe. Returns whether it failed after a success, or as the first of its suffix.
    pub(super) fn end_probe(&self, suffix: &str, is_proven: bool, now: Instant) -> bool {
        let mut proofs = self.0.lock();
        let is_new = proofs.iter().all(|proof| !proof.is_for(suffix) || proof.proven.is_some());
        Proof::of(suffix, &mut proofs).proven = is_proven.then_some(now);
        !is_proven && is_new
    }

    /// Whether a probe of each of these suffixes may begin.
    pub(super) fn may_begin(&self, suffixes: &[String], now: Instant) -> bool {
        let proofs = self.0.lock();
        suffixes.iter().all(|suffix| {
            proofs.iter().all(|proof| !proof.is_for(suffix) || proof.may_be_probed(now))
        })
    }
}

impl Proof {
    fn of<'p>(suffix: &str, proofs: &'p mut Vec<Self>) -> &'p mut Self {
        let at = proofs.iter().position(|proof| proof.is_for(suffix)).unwrap_or_else(|| {
            proofs.push(Self { suffix: suffix.to_owned(), proven: None, probed: None });
            proofs.len() - 1
        });
        &mut proofs[at]
    }

    fn is_for(&self, suffix: &str) -> bool {
        self.suffix.eq_ignore_ascii_case(suffix)
    }

    fn is_younger(&self, age: Duration, now: Instant) -> bool {
        self.proven.is_some_and(|proven| now.saturating_duration_since(proven) < age)
    }

    fn may_be_probed(&self, now: Instant) -> bool {
        self.probed.is_none_or(|probed| now.saturating_duration_since(probed) >= AGAIN)
    }
}

/// Whether a name, in lower case and without a final dot, has at least one label before one of the
/// `suffixes` that operators publish (`.googlebot.com`). A suffix without its leading dot matches nothing.
pub(super) fn is_under(name: &str, suffixes: &[String]) -> bool {
    let name = name.as_bytes();
    suffixes.iter().map(String::as_bytes).any(|suffix| {
        let start = name.len().saturating_sub(suffix.len());
        start > 0
            && suffix.first() == Some(&b'.')
            && name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_proof_holds_for_a_day_and_ends_with_a_failed_probe() {
        let (proofs, start) = (Proofs::default(), Instant::now());
        let (of_a, none) = (texts(&[".a.example"]), texts(&[]));
        let holds = |after| proofs.hold(&of_a, &none, start + after);
        let begins = |after| proofs.begin_probe(&of_a[0], &of_a, &none, start + after);
        assert!(!holds(Duration::ZERO) && proofs.may_begin(&of_a, start));
        proofs.note_name("crawl.A.example".to_lowercase().as_str(), &texts(&[".A.example"]), start);
        assert!(holds(Duration::ZERO) && holds(VALID - AGAIN) && !holds(VALID));
        assert!(!begins(RECENT - AGAIN), "the proof is recent");
        assert!(begins(RECENT));
        assert!(!begins(RECENT + AGAIN / 2), "a probe has just begun");
        assert!(!proofs.may_begin(&of_a, start + RECENT + AGAIN / 2));
        assert!(holds(RECENT), "the probe has not ended");
        assert!(proofs.end_probe(".a.example", false, start + RECENT), "it is news");
        assert!(!holds(RECENT));
        assert!(begins(RECENT + AGAIN));
        assert!(!proofs.end_probe(".a.example", false, start + RECENT + AGAIN), "it is no news");
        assert!(begins(RECENT + 2 * AGAIN));
        assert!(!proofs.end_probe(".A.example", true, start + RECENT + 2 * AGAIN));
        assert!(holds(RECENT + 2 * AGAIN));
    }

    #[test]
    fn one_suffix_is_enough_unless_a_name_is_under_another() {
        let (proofs, now) = (Proofs::default(), Instant::now());
        let (both, none) = (texts(&[".a.example", ".b.example"]), texts(&[]));
        let of_b = texts(&["crawl.b.example"]);
        proofs.end_probe(".a.example", true, now);
        assert!(proofs.hold(&both, &none, now));
        assert!(!proofs.hold(&both, &of_b, now), "that domain may be blocked");
        assert!(proofs.hold(&both[..1], &of_b, now), "the name is of another crawler");
        assert!(!proofs.begin_probe(&both[1], &both, &none, now), "the other proof is recent");
        assert!(proofs.begin_probe(&both[1], &both, &of_b, now));
        proofs.end_probe(".b.example", true, now);
        assert!(proofs.hold(&both, &of_b, now));
    }

    #[test]
    fn a_suffix_matches_whole_labels() {
        let suffixes = [".googlebot.com".to_owned(), ".Search.MSN.com".to_owned()];
        for (name, matches) in [
            ("crawl-66-249-66-1.googlebot.com", true),
            ("a.geo.googlebot.com", true),
            ("msnbot-40-77-167-1.search.msn.com", true),
            ("googlebot.com", false),
            (".googlebot.com", false),
            ("evilgooglebot.com", false),
            ("a.evilgooglebot.com", false),
            ("googlebot.com.attacker.net", false),
            ("crawl.googlebot.com.attacker.net", false),
            ("crawl.googlebot.co", false),
            ("crawl.googlebot.com.", false),
            ("search.msn.com", false),
            ("com", false),
            ("", false),
        ] {
            assert_eq!(is_under(name, &suffixes), matches, "{name}");
        }
        for suffix in ["googlebot.com", "", "."] {
            assert!(!is_under("crawl.googlebot.com", &[suffix.to_owned()]), "{suffix}");
        }
    }
}
