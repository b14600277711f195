//! Policies for kinds of sites. The same files are in `examples/presets`.

use crate::base::text::words;

words! {
    /// A policy for a kind of site.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Preset {
        WordPress = "wordpress",
        MediaWiki = "mediawiki",
        Discourse = "discourse",
        Shop = "shop",
        Forge = "forge",
        Documentation = "documentation",
    }
}

impl Preset {
    /// The preset with this name; `none` is none.
    pub(crate) fn read(name: &str) -> Result<Option<Self>, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        match (name, Self::from_word(name)) {
            ("none", _) => Ok(None),
            (_, Some(preset)) => Ok(Some(preset)),
            (_, None) => Err(format!("the presets are {}, none", names())),
        }
    }

    /// Its policy, for www.example.com.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::WordPress => include_str!("../../../examples/presets/wordpress.yaml"),
            Self::MediaWiki => include_str!("../../../examples/presets/mediawiki.yaml"),
            Self::Discourse => include_str!("../../../examples/presets/discourse.yaml"),
            Self::Shop => include_str!("../../../examples/presets/shop.yaml"),
            Self::Forge => include_str!("../../../examples/presets/forge.yaml"),
            Self::Documentation => include_str!("../../../examples/presets/documentation.yaml"),
        }
    }

    /// Texts in the header fields or in the document of such a site, in lower case.
    const fn signs(self) -> &'static [&'static str] {
        match self {
            Self::WordPress => &["https://api.w.org/", "content=\"wordpress", "/wp-content/"],
            Self::MediaWiki => &["content=\"mediawiki", "mediawiki-api"],
            Self::Discourse => &["x-discourse-route", "content=\"discourse"],
            Self::Shop => {
                &["x-shopid", "x-magento", "content=\"prestashop", "woocommerce", "cdn.shopify.com"]
            }
            Self::Forge => {
                &["i_like_gitea", "content=\"forgejo", "content=\"gitea", "content=\"gitlab"]
            }
            Self::Documentation => {
                &["content=\"mkdocs", "content=\"docusaurus", "content=\"sphinx", "x-rtd-"]
            }
        }
    }
}

/// The preset for a site whose first page has these header fields and this document. A shop made with
/// WordPress is a shop.
pub(crate) fn suggest<'f>(
    fields: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    document: &[u8],
) -> Option<Preset> {
    let mut text: String = fields
        .into_iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value)))
        .collect();
    text.push_str(&String::from_utf8_lossy(document.get(..1 << 18).unwrap_or(document)));
    let text = text.to_ascii_lowercase();
    let has = |preset: &Preset| preset.signs().iter().any(|sign| text.contains(sign));
    Some(Preset::Shop).filter(has).or_else(|| Preset::ALL.into_iter().find(has))
}
