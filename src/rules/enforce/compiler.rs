//! Policy and history to rulebook.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    base::product_token::ProductToken,
    rules::{
        crawlers::SiteNames,
        policy::{self, Policy},
    },
};

use super::{
    history::History,
    rulebook::Rulebook,
    site::{HostSitemaps, Site},
    tags::Tags,
    usage_fields::UsageFields,
};

impl Rulebook {
    /// Compiles a policy that replaces `previous` at `now`.
    pub fn compile(policy: &Policy, now: Timestamp, previous: Option<&Self>) -> Self {
        Self::compile_with(policy, &mut History::after(previous, now))
    }

    /// Compiles a policy with earlier editions and the files of the origins.
    pub fn compile_with(policy: &Policy, history: &mut History<'_>) -> Self {
        history.follow(policy);
        let sites = policy.sites.iter().map(|one| site(one, policy, history)).collect();
        Self::new(policy, sites, std::mem::take(&mut history.chronicle))
    }
}

fn site(site: &policy::Site, policy: &Policy, history: &mut History<'_>) -> Site {
    let (timeline, finding) = history.timeline(site, policy);
    let edition = timeline.current();
    let is_withheld = edition.is_provisional() && history.withholds(site);
    let groups = edition.file().groups.iter();
    let names = groups.flat_map(|group| group.user_agents.iter().map(|ua| ua.name.as_str()));
    let overrides = site.enforcement.overrides.iter();
    let overridden = overrides.flat_map(|one| one.tokens.iter().map(ProductToken::as_str));
    Site {
        name: site.name().to_owned(),
        backend: Arc::clone(&site.backend),
        reading: site.reading,
        probed: history.probed(site),
        names: SiteNames::new(
            &policy.catalogue,
            names.filter(|name| *name != "*").chain(overridden),
        ),
        tags: Tags::compile(&site.robots_tag, site.robots_tag_legacy),
        usage: UsageFields::compile(&site.preferences),
        enforcement: site.enforcement.clone(),
        source: site.robots_txt.source,
        origin_file: history.origin_file(site),
        sitemaps: HostSitemaps::new(edition, &site.robots_txt, &site.backend.host),
        is_withheld,
        finding,
        max_age: site.robots_txt.max_age,
        cache_window: site.robots_txt.cache_window,
        timeline,
    }
}
