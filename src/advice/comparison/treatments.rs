//! The clients of two sites: the group, the treatment and the pace of each.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{Matcher, Scope},
    rules::{
        crawlers::{Catalogue, Class, Name, Outcome, Standing},
        enforce::{self, Edition, Site, Treatment},
        policy::{self, Policy},
    },
};

/// The label of clients without a User-Agent.
pub(super) const NAMELESS: &str = "(no User-Agent)";
/// The label of crawlers without a group of their own.
pub(super) const STAR: &str = "*";
/// A name that no catalogue and no group has.
pub(super) const STRANGER: &str = "some-unlisted-crawler";

pub(super) struct Compared<'a> {
    pub(super) policy: &'a Policy,
    pub(super) site: &'a Site,
    pub(super) section: &'a policy::Site,
    pub(super) catalogue: &'a Catalogue,
    pub(super) edition: Arc<Edition>,
}

/// What the rules mean for a client on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) scope: Option<Scope>,
    pub(super) is_star: bool,
    /// The treatment of its violations: one word, or one for each standing.
    pub(super) action: String,
    pub(super) strictest: Treatment,
    /// The pace that it has promised, at different times of the day.
    pub(super) paces: Vec<(u16, String)>,
    pub(super) keeps_paces: bool,
}

pub(super) struct Clients {
    pub(super) meanings: [Meaning; 2],
    pub(super) tokens: Vec<String>,
}

impl<'a> Compared<'a> {
    fn matcher(&self) -> &Matcher {
        self.edition.matcher()
    }

    fn name<'n>(&'n self, token: &'n str) -> Name<'n> {
        let site_name =
            || self.site.names.iter().find(|name| name.key().eq_ignore_ascii_case(token));
        match self.catalogue.find(token) {
            Some(crawler) => Name::Known(crawler),
            None => site_name().map_or(Name::Declared(token), Name::Site),
        }
    }

    fn meaning(&self, token: Option<&str>) -> Meaning {
        let enforcement = &self.site.enforcement;
        let name = token.map(|token| self.name(token));
        let star = self.matcher().star();
        let scope = match name {
            Some(name) => enforce::group_for(self.matcher(), &enforcement.star_binds, name),
            None => star.filter(|_| enforcement.star_binds.contains(&Class::None)),
        };
        let is_star = scope.is_some() && scope == star;
        let is_sent = name.and_then(Name::known).is_none_or(|crawler| crawler.is_identifiable());
        let treatments: Vec<(Outcome, Treatment)> = match is_sent {
            true => self
                .standings(name)
                .into_iter()
                .map(|standing| {
                    // A comparison knows no time: an entry that ends counts.
                    let now = Timestamp::MIN;
                    (standing.outcome, Treatment::of(enforcement, name, standing, is_star, now))
                })
                .collect(),
            false => Vec::new(),
        };
        let strictest = treatments.iter().map(|(_, one)| *one).max().unwrap_or(Treatment::Pass);
        let keeps_paces = name.is_some_and(enforce::keeps_paces) && is_sent;
        let paces = match name.filter(|_| keeps_paces) {
            Some(name) => self.paces(name, scope, strictest),
            None => Vec::new(),
        };
        Meaning { scope, is_star, action: words(&treatments), strictest, paces, keeps_paces }
    }

    /// The standings that a claim can have here.
    fn standings(&self, name: Option<Name<'_>>) -> Vec<Standing> {
        let publishes = name.and_then(Name::known).is_some_and(|known| known.publishes_evidence());
        let by = |outcome| Standing { outcome, evidence: None };
        match (publishes, &self.policy.evidence) {
            (false, _) => vec![Standing::UNVERIFIABLE],
            (true, None) => vec![Standing::UNKNOWN],
            (true, Some(_)) => {
                vec![by(Outcome::Confirmed), Standing::UNKNOWN, by(Outcome::Contradicted)]
            }
        }
    }

    /// The promised pace by minutes of the day, each where it begins.
    fn paces(
        &self,
        name: Name<'_>,
        scope: Option<Scope>,
        treatment: Treatment,
    ) -> Vec<(u16, String)> {
        let mut paces: Vec<(u16, String)> = Vec::new();
        if !self.matcher().sets_pace() {
            return paces;
        }
        for minute in 0..1440_u16 {
            let now = Timestamp::from_second(i64::from(minute) * 60).unwrap_or_default();
            let promised =
                enforce::promised_pace(self.site, self.matcher(), (name, scope), treatment, now);
            let text = promised.map_or(String::new(), |(record, is_enforced)| {
                let how = if is_enforced { "enforced" } else { "measured" };
                format!("{}, {how}", record.pace)
            });
            if paces.last().map_or("", |(_, last)| last.as_str()) != text {
                paces.push((minute, text));
            }
        }
        paces
    }
}

/// The treatments as one word, or as one for each standing.
fn words(treatments: &[(Outcome, Treatment)]) -> String {
    let Some((_, first)) = treatments.first() else { return String::new() };
    if treatments.iter().all(|(_, other)| other == first) {
        return first.as_str().to_owned();
    }
    let each =
        treatments.iter().map(|(outcome, one)| format!("{}: {}", outcome.as_str(), one.as_str()));
    each.collect::<Vec<_>>().join(", ")
}

/// All clients that the two sides may tell apart, by what both mean for them: the crawlers of the
/// catalogues and of the groups, any other crawler (`*`), and clients without a User-Agent.
pub(super) fn clients(sides: [&Compared<'_>; 2]) -> Vec<Clients> {
    let mut tokens: BTreeMap<String, String> = BTreeMap::new();
    for side in sides {
        let known = side.catalogue.iter().map(|crawler| crawler.product_token());
        for token in known.chain(side.site.names.iter()) {
            tokens.entry(token.key().to_owned()).or_insert_with(|| token.as_str().to_owned());
        }
    }
    let labels = [(STAR.to_owned(), Some(STRANGER)), (NAMELESS.to_owned(), None)];
    let all = labels.into_iter().map(|(label, name)| (label, name.map(str::to_owned)));
    let all = all.chain(tokens.into_values().map(|token| (token.clone(), Some(token))));
    let mut classes: Vec<Clients> = Vec::new();
    for (label, name) in all {
        let meanings = sides.map(|side| side.meaning(name.as_deref()));
        match classes.iter_mut().find(|one| one.meanings == meanings) {
            Some(class) => class.tokens.push(label),
            None => classes.push(Clients { meanings, tokens: vec![label] }),
        }
    }
    classes
}

/// The name of a client of the catalogue or of a group, as rows have it.
pub(super) fn is_token(label: &str) -> bool {
    ProductToken::new(label).is_some() && label != NAMELESS
}
