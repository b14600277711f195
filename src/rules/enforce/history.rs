//! Policy and history to rulebook: earlier editions and the files of the origins.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;

use crate::{
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    formats::robots::{self, OriginFile},
    rules::{
        crawlers::SiteNames,
        policy::{self, Policy, Source},
    },
};

use super::{
    chronicle::Chronicle,
    decision::Moment,
    edition::{Edition, RuleSource},
    group_lines::{OF_PREFERENCES, publish_limits, publish_preferences},
    rulebook::{HostSitemaps, Probe, Probed, Rulebook, Site},
    tags::Tags,
    timeline::Timeline,
    usage_fields::UsageFields,
};

/// The comments in files without rules.
const NO_FILE: &str = "This site has no rules for crawlers: its server has no robots.txt.";
const UNKNOWN: &str = "The rules of this site are not known yet: its server has not answered.";

/// The earlier editions and the files of the origins at one moment.
#[derive(Debug)]
pub struct History<'a> {
    /// The time at which the rulebook comes into force.
    pub moment: Moment,
    /// The rulebook that it replaces.
    pub previous: Option<&'a Rulebook>,
    /// The editions and hosts until then.
    pub chronicle: Chronicle,
    /// The robots.txt of the origins that matter, by the name of the site. While it is unknown, the
    /// site withholds its own. Without a file here, the policy's groups apply.
    pub origins: HashMap<String, OriginFile>,
    /// What the origins answered about the forms of paths, by the name of the site.
    pub probed: HashMap<String, Arc<Probed>>,
}

impl<'a> History<'a> {
    /// A history that consists of a rulebook alone, if there is one.
    pub fn after(previous: Option<&'a Rulebook>, now: Timestamp) -> Self {
        let sites = previous.into_iter().flat_map(Rulebook::sites);
        let probed = |site: &Site| Some((site.name.clone(), site.probed.clone()?));
        Self {
            moment: Moment::at(now),
            previous,
            chronicle: previous.map(|book| book.chronicle.clone()).unwrap_or_default(),
            origins: HashMap::new(),
            probed: sites.filter_map(probed).collect(),
        }
    }

    pub(super) fn follow(&mut self, policy: &Policy) {
        let start = self.moment.start_of(policy::MAX_CACHE_WINDOW);
        self.chronicle.follow(policy, start, self.moment.now);
    }

    /// The editions of a site of `policy`, with the one that its policy and its origin make now. And
    /// the reason why that one has not all rules of both.
    pub(super) fn timeline(
        &mut self,
        site: &policy::Site,
        policy: &Policy,
    ) -> (Timeline, Option<Diagnostic>) {
        let (name, now) = (site.name(), self.moment.now);
        let origin = self.origins.get(name).cloned().unwrap_or_default();
        let before = self.chronicle.edition_before(site, now).cloned();
        let (substitute, before) = before.map_or((None, None), |before| match before {
            substitute if substitute.is_provisional() => (Some(substitute), None),
            good => (None, Some(good)),
        });
        // Without a new edition, the last good one stays.
        let (edition, finding) = match (edition(site, policy, &origin), before) {
            (Ok(Some(edition)), _) => (Some(edition), None),
            (Ok(None), before) => (before, None),
            (Err(finding), Some(before)) => {
                let help = "shorten one of the two files: until then, the last good file stays";
                (Some(before), Some(finding.help(help)))
            }
            (Err(finding), None) => fitting(site, policy, &origin, finding),
        };
        let edition = edition.unwrap_or_else(|| {
            let new = alone(site, policy, UNKNOWN).provisional();
            substitute.filter(|known| known.id() == new.id()).unwrap_or_else(|| Arc::new(new))
        });
        self.chronicle.publish(name, edition, now);
        let window = (self.moment.start_of(site.robots_txt.cache_window), now);
        let previous = self.previous(name).map(|site| &site.timeline);
        let timeline = self.chronicle.timeline((site, policy), window, previous);
        (timeline.expect("the site publishes an edition"), finding)
    }

    /// The value of [`Site::origin_file`].
    pub(super) fn origin_file(&self, site: &policy::Site) -> OriginFile {
        match (site.robots_txt.source, self.origins.get(site.name())) {
            (Source::Policy | Source::Origin, _) => OriginFile::Unknown,
            (Source::Merge, Some(OriginFile::Unknown) | None) => {
                self.previous(site.name()).map(|site| site.origin_file.clone()).unwrap_or_default()
            }
            (Source::Merge, Some(known)) => known.clone(),
        }
    }

    /// What the origins of a site answered, if the policy still asks them so.
    pub(super) fn probed(&self, site: &policy::Site) -> Option<Arc<Probed>> {
        let wanted = Probe::wanted(&site.backend)?;
        self.probed.get(site.name()).filter(|one| one.probe == wanted).cloned()
    }

    /// The value of [`Site::is_withheld`] if there is no edition. Without fetches, as in a forecast,
    /// the rules of the policy are judged by.
    pub(super) fn withholds(&self, site: &policy::Site) -> bool {
        site.robots_txt.source != Source::Policy && self.origins.contains_key(site.name())
    }

    fn previous(&self, name: &str) -> Option<&'a Site> {
        self.previous?.sites().iter().find(|other| other.name == name)
    }
}

/// The new edition of a site; `None` if the origin's part is unknown.
///
/// # Errors
/// The origin's part can't be merged with the policy's.
fn edition(
    site: &policy::Site,
    policy: &Policy,
    origin: &OriginFile,
) -> Result<Option<Arc<Edition>>, Diagnostic> {
    let edition = match (site.robots_txt.source, origin) {
        (Source::Policy, _) => of_policy(site, policy),
        (Source::Origin | Source::Merge, OriginFile::Absent) => alone(site, policy, NO_FILE),
        (_, OriginFile::Unknown) => return Ok(None),
        (Source::Origin, OriginFile::Present(bytes)) => Edition::of_origin(bytes.clone()),
        (Source::Merge, OriginFile::Present(bytes)) => {
            let (base, _) = robots::parse(bytes);
            let own = &site.robots_txt;
            let merged = robots::merge(&base, &own.file, &own.overriding)?;
            written(merged.arranged(), &base, (site, policy))
        }
    };
    Ok(Some(Arc::new(edition)))
}

/// The first edition of a site whose two files are too long to be merged: the end of the origin's
/// file is left out, as every crawler does with a long file (RFC 9309 §2.5). `None` if nothing of it
/// has room.
fn fitting(
    site: &policy::Site,
    policy: &Policy,
    origin: &OriginFile,
    finding: Diagnostic,
) -> (Option<Arc<Edition>>, Option<Diagnostic>) {
    let own = &site.robots_txt;
    let bytes = origin.bytes().map(AsRef::as_ref).unwrap_or_default();
    let Ok((merged, base, omitted)) = robots::merge_beginning(bytes, &own.file, &own.overriding)
    else {
        return (None, Some(finding));
    };
    let message = format!(
        "{}, so the last {omitted} lines of the origin's file are left out",
        finding.message
    );
    let finding = Diagnostic { message, ..finding };
    (Some(Arc::new(written(merged.arranged(), &base, (site, policy)))), Some(finding))
}

/// The edition without the origin's file: the policy's part, if there is one.
fn alone(site: &policy::Site, policy: &Policy, why: &str) -> Edition {
    match site.robots_txt.source {
        Source::Origin => {
            let header = vec![why.to_owned()];
            Edition::written(&robots::RobotsTxt { header, ..robots::RobotsTxt::default() }, &[])
        }
        Source::Policy | Source::Merge => of_policy(site, policy),
    }
}

fn of_policy(site: &policy::Site, policy: &Policy) -> Edition {
    let arranged = robots::arrange(&site.robots_txt.file);
    written(arranged, &robots::RobotsTxt::default(), (site, policy))
}

fn written(
    merged: robots::Merged,
    base: &robots::RobotsTxt,
    (site, policy): (&policy::Site, &Policy),
) -> Edition {
    let (catalogue, star_binds) = (&policy.catalogue, &site.enforcement.star_binds);
    let merged = publish_limits(merged, &site.enforcement, catalogue);
    let merged = publish_preferences(merged, &site.preferences, star_binds, catalogue);
    let sources = merged.sources.iter();
    let sources =
        sources.map(|rules| rules.iter().map(|source| rule_source(source, base, site)).collect());
    Edition::written(&merged.file, &sources.collect::<Vec<_>>())
}

fn rule_source(
    source: &robots::Source,
    base: &robots::RobotsTxt,
    site: &policy::Site,
) -> RuleSource {
    match source.side {
        robots::Side::Own if source.group == OF_PREFERENCES => {
            let entry = site.preferences.entries.get(source.rule);
            RuleSource::Policy(entry.map_or(0, |entry| entry.spot.line))
        }
        robots::Side::Own => {
            let rules = site.robots_txt.places.get(source.group).map(|group| &group.rules);
            let rule = rules.and_then(|rules| rules.get(source.rule));
            RuleSource::Policy(rule.map_or(0, |rule| rule.line))
        }
        robots::Side::Base => {
            let rules = base.groups.get(source.group).map(|group| &group.rules);
            let rule = rules.and_then(|rules| rules.get(source.rule));
            RuleSource::Origin(rule.map_or(0, |rule| rule.line))
        }
    }
}

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
