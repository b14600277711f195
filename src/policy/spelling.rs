//! Corrections for misspelt words.

/// The candidate that `text` is most likely a misspelling of.
pub fn closest<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let lower = text.to_ascii_lowercase();
    candidates
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_ascii_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(text.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The first known key that contains `text` or is contained in it: `robot` in `robots_txt`.
pub(super) fn contained<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let is_near = |name: &&&str| name.contains(text) || text.contains(**name);
    known.iter().find(is_near).filter(|_| text.len() >= 3).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_is_recognised_and_an_unrelated_word_is_not() {
        let known = ["robots_txt", "robots_tag", "enforcement", "hosts"];
        assert_eq!(closest("enforcment", known.into_iter()), Some("enforcement"));
        assert_eq!(closest("robots.txt", known.into_iter()), Some("robots_txt"));
        assert_eq!(closest("upstream", known.into_iter()), None);
        assert_eq!(contained("enforce", &known), Some("enforcement"));
        assert_eq!(contained("robot", &known), Some("robots_txt"));
        assert_eq!(contained("upstream", &known), None);
    }
}
