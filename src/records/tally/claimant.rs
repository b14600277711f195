//! Who a request counts for: the crawler that its User-Agent names, or its impostors.

/// The standing of a claim that evidence proves false.
const CONTRADICTED: &str = "contradicted";

/// Who a request counts for. Every number of a crawler follows this rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claimant {
    /// The named crawler: no evidence contradicts the claim.
    #[default]
    Crawler,
    /// An impostor: evidence contradicts the claim.
    Impostor,
}

impl Claimant {
    /// Who a request counts for, by the standing of its claim.
    pub fn of(standing: &str) -> Self {
        if standing == CONTRADICTED { Self::Impostor } else { Self::Crawler }
    }

    /// The value of the field `standing` in a row of impostors; a crawler's own row has none.
    pub const fn standing(self) -> Option<&'static str> {
        match self {
            Self::Crawler => None,
            Self::Impostor => Some(CONTRADICTED),
        }
    }

    /// The words of a filter.
    pub const WORDS: [&'static str; 2] = ["without", "only"];

    /// Who is meant by a word of a filter by impostors: `without` or `only`.
    pub fn of_word(word: &str) -> Option<Self> {
        let [without, only] = Self::WORDS;
        match word {
            _ if word == without => Some(Self::Crawler),
            _ if word == only => Some(Self::Impostor),
            _ => None,
        }
    }

    /// The name of the row in a text.
    pub fn name(self, product_token: &str) -> String {
        match self {
            Self::Crawler => product_token.to_owned(),
            Self::Impostor => format!("claims to be {product_token}"),
        }
    }

    /// The condition on the column `standing` of a database.
    pub(crate) const fn condition(self) -> &'static str {
        match self {
            Self::Crawler => "standing <> 'contradicted'",
            Self::Impostor => "standing = 'contradicted'",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_contradicted_claim_is_an_impostors() {
        for (standing, claimant) in [
            ("confirmed", Claimant::Crawler),
            ("unknown", Claimant::Crawler),
            ("unverifiable", Claimant::Crawler),
            ("", Claimant::Crawler),
            ("contradicted", Claimant::Impostor),
        ] {
            assert_eq!(Claimant::of(standing), claimant, "{standing}");
            assert!(claimant.standing().is_none_or(|word| word == standing));
        }
        assert_eq!(Claimant::Impostor.name("Googlebot"), "claims to be Googlebot");
    }
}
