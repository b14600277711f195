//! Two policies: which of their sites belong together, by host.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    formats::robots::{self, OriginFile},
    rules::{
        enforce::{Edition, Rulebook, Site, publish_limits},
        policy::{Host, Policy, Source},
    },
};

use super::{
    row::{Comparison, Row, State},
    settings, site, tag_changes,
    treatments::Compared,
};

/// One of two policies, compiled.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its rulebook.
    pub rulebook: &'a Rulebook,
}

/// What changes from one policy to the other, for the hosts that either serves.
///
/// Sites, rules, actions, paces, tags and the settings of sites are compared. `server`,
/// `violations`, `evidence` and `alerts` are not.
pub fn policies(before: Side<'_>, after: Side<'_>) -> Comparison {
    compare(before, after, None)
}

/// As [`policies`], with no more steps than this for the exact searches of all sites together.
/// Beyond them, rules are compared by samples.
pub fn policies_within(before: Side<'_>, after: Side<'_>, steps: usize) -> Comparison {
    compare(before, after, Some(steps))
}

fn compare(before: Side<'_>, after: Side<'_>, mut shared: Option<usize>) -> Comparison {
    let mut comparison = Comparison::default();
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (host, probe) in hosts(before.policy, after.policy) {
        let find = |side: &Side<'_>| side.rulebook.site(probe.as_deref()).map(|(number, _)| number);
        let name = |side: &Side<'_>, number: Option<usize>| {
            let site = number.and_then(|number| side.rulebook.sites().get(number));
            site.map_or(State::None, |site| State::Value(site.name.clone()))
        };
        let (old, new) = (find(&before), find(&after));
        let (from, to) = (name(&before, old), name(&after, new));
        if from != to {
            comparison.add(Row::setting(Some(&Arc::from(host.as_str())), "host", from, to));
        }
        if let (Some(old), Some(new)) = (old, new) {
            pairs.entry((new, old)).or_default().push(host);
        }
    }
    for (&(new, old), hosts) in &pairs {
        let sides = (compared(before, old), compared(after, new));
        let (Some(old), Some(new_site)) = sides else { continue };
        let is_only = pairs.keys().filter(|(other, _)| *other == new).count() == 1;
        let name = match (is_only, hosts.first()) {
            (false, Some(host)) => host.as_str(),
            _ => new_site.site.name.as_str(),
        };
        let name: Arc<str> = Arc::from(name);
        remark(&name, &old, &new_site, &mut comparison);
        let mut work = shared.unwrap_or(site::MOST_STEPS);
        site::compare(&name, (&old, &new_site), &mut work, &mut comparison);
        shared = shared.map(|_| work);
        tag_changes::compare(&name, old.section, new_site.section, &mut comparison);
        settings::compare(&name, old.section, new_site.section, &mut comparison);
    }
    comparison
}

/// The hosts of both policies, each with a host that asks for its site; last any other host.
fn hosts(before: &Policy, after: &Policy) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    let hosts = before.sites.iter().chain(&after.sites).flat_map(|site| &site.hosts);
    for host in hosts {
        let one = match host {
            Host::Exact(host) => (host.clone(), Some(host.clone())),
            Host::Below(suffix) => (format!("*{suffix}"), Some(format!("any-other{suffix}"))),
        };
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.push(("any other host".to_owned(), None));
    all
}

fn compared(side: Side<'_>, number: usize) -> Option<Compared<'_>> {
    let site = side.rulebook.sites().get(number)?;
    let section = side.policy.sites.get(number)?;
    let Side { policy, rulebook } = side;
    let edition = match is_merged_with_unknown(site) {
        true => {
            let arranged = robots::arrange(&section.robots_txt.file);
            let own = publish_limits(arranged, &section.enforcement, rulebook.catalogue());
            Edition::of_bytes(own.file.to_string().into())
        }
        false => {
            let own = site.edition();
            let copy = Edition::of_bytes(own.bytes().clone());
            if own.is_provisional() { copy.provisional() } else { copy }
        }
    };
    let edition = Arc::new(edition);
    Some(Compared { policy, site, section, catalogue: rulebook.catalogue(), edition })
}

fn is_merged_with_unknown(site: &Site) -> bool {
    site.source == Source::Merge && site.origin_file == OriginFile::Unknown
}

/// Says which rules are not known.
fn remark(name: &str, old: &Compared<'_>, new: &Compared<'_>, comparison: &mut Comparison) {
    let sides = [old, new];
    if sides.iter().any(|side| is_merged_with_unknown(side.site)) {
        comparison.remarks.push(format!(
            "{name}: the robots.txt of the origin is not known here; the policy's own rules are compared"
        ));
    } else if sides.iter().any(|side| side.edition.is_provisional()) {
        comparison.remarks.push(format!(
            "{name}: the robots.txt of the origin is not known here; its rules are not compared"
        ));
    }
}
