//! The purposes by name, as the catalogue, the policy and the records write them.

use std::fmt;

use super::entry::Purpose;

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 19] = [
        Self::Search,
        Self::AiTraining,
        Self::AiSearch,
        Self::AiUser,
        Self::AiAgent,
        Self::Seo,
        Self::Ads,
        Self::Preview,
        Self::Feed,
        Self::Monitoring,
        Self::Security,
        Self::Archiver,
        Self::Academic,
        Self::Commerce,
        Self::Validator,
        Self::Tool,
        Self::HttpLibrary,
        Self::Automation,
        Self::Other,
    ];

    /// The purpose's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::AiTraining => "ai-training",
            Self::AiSearch => "ai-search",
            Self::AiUser => "ai-user",
            Self::AiAgent => "ai-agent",
            Self::Seo => "seo",
            Self::Ads => "ads",
            Self::Preview => "preview",
            Self::Feed => "feed",
            Self::Monitoring => "monitoring",
            Self::Security => "security",
            Self::Archiver => "archiver",
            Self::Academic => "academic",
            Self::Commerce => "commerce",
            Self::Validator => "validator",
            Self::Tool => "tool",
            Self::HttpLibrary => "http-library",
            Self::Automation => "automation",
            Self::Other => "other",
        }
    }

    /// The purpose of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_purpose_is_named_as_it_is_serialised() {
        for purpose in Purpose::ALL {
            assert_eq!(serde_json::to_value(purpose).unwrap(), purpose.as_str());
            assert_eq!(Purpose::from_name(purpose.as_str()), Some(purpose));
        }
        assert_eq!(Purpose::from_name("SEO"), None);
    }
}
