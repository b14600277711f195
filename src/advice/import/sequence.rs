//! Rules of which the first that matches decides, as groups of which the longest pattern decides.
//!
//! A rule is for one crawler or for all, and for some paths or for all. The rules of a crawler are
//! collected in their order. A rule for all its paths ends them.

use std::collections::BTreeMap;

use crate::rules::{crawlers::Catalogue, policy};

use super::{
    draft::{Draft, Group, Item, Loss},
    product_tokens,
};

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Allow,
    Refuse,
}

/// A path pattern with its effect and its place in the source.
#[derive(Clone, Debug)]
struct Step {
    effect: Effect,
    path: Item,
}

/// The rules of one crawler.
#[derive(Clone, Debug, Default)]
struct Steps {
    steps: Vec<Step>,
    /// Whether one of them is for all paths.
    is_complete: bool,
}

/// All rules, in their order.
pub(super) struct Sequence {
    catalogue: Catalogue,
    /// The rules for every crawler so far.
    star: Steps,
    /// By name in lower case: the name as written, and its rules.
    crawlers: BTreeMap<String, (Item, Steps)>,
    order: Vec<String>,
    pub(super) losses: Vec<Loss>,
}

impl Sequence {
    pub(super) fn new() -> Self {
        Self {
            catalogue: policy::built_in_catalogue(),
            star: Steps::default(),
            crawlers: BTreeMap::new(),
            order: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Adds what is not carried over.
    pub(super) fn lose(
        &mut self,
        place: impl Into<String>,
        what: impl AsRef<[u8]>,
        why: impl Into<String>,
    ) {
        self.losses.push(Loss::new(place, what, why));
    }

    /// Adds a rule for the crawlers that an expression on User-Agents finds.
    pub(super) fn add_expression(
        &mut self,
        regex: &str,
        is_caseless: bool,
        paths: &[String],
        effect: Effect,
        place: &str,
    ) {
        let (tokens, losses) =
            product_tokens::of_expression(&self.catalogue, regex, place, is_caseless);
        self.losses.extend(losses);
        self.add(&tokens, paths, effect, place);
    }

    /// Adds a rule for some crawlers. Without paths, it is for all of them.
    fn add(&mut self, tokens: &[String], paths: &[String], effect: Effect, place: &str) {
        for token in tokens {
            let key = token.to_ascii_lowercase();
            let star = &self.star;
            let order = &mut self.order;
            let (_, steps) = self.crawlers.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                (Item::new(token, place), star.clone())
            });
            steps.add(paths, effect, place);
        }
    }

    /// Adds a rule for every crawler.
    pub(super) fn add_for_all(&mut self, paths: &[String], effect: Effect, place: &str) {
        self.star.add(paths, effect, place);
        for (_, steps) in self.crawlers.values_mut() {
            steps.add(paths, effect, place);
        }
    }

    /// The groups. Crawlers with the same rules share one; those that are refused something are
    /// blocked. `expressions` is what the source calls its expressions on User-Agents.
    pub(super) fn into_draft(mut self, expressions: &str) -> Draft {
        let mut draft = Draft::default();
        let tokens: Vec<&str> =
            self.crawlers.values().map(|(name, _)| name.text.as_str()).collect();
        self.losses.extend(product_tokens::followers(&self.catalogue, &tokens));
        if !self.crawlers.is_empty() {
            let why = "the source finds names inside longer words, Beadle as whole product tokens";
            self.lose("every rule", expressions, why);
        }
        let star = std::mem::take(&mut self.star);
        self.losses.extend(star.conflict("every client"));
        if star.steps.iter().any(|step| step.effect == Effect::Refuse) {
            let mut group = Group::of(vec![Item::new("*", "every client")]);
            star.fill(&mut group);
            let why = "the source refuses every client, also people, fetchers that act for them and \
                       crawlers that ignore '*'; Beadle binds none of these by '*'";
            self.lose("every client", "people", why);
            draft.groups.push(group);
        }
        let mut alike: Vec<(Vec<Item>, Steps)> = Vec::new();
        for key in std::mem::take(&mut self.order) {
            let Some((name, steps)) = self.crawlers.remove(&key) else { continue };
            self.losses.extend(steps.conflict(&name.text));
            match alike.iter_mut().find(|(_, other)| other.is_same(&steps)) {
                Some((names, _)) => names.push(name),
                None => alike.push((vec![name], steps)),
            }
        }
        for (names, steps) in alike {
            let is_refused = steps.steps.iter().any(|step| step.effect == Effect::Refuse);
            let mut group = Group { is_blocked: is_refused, ..Group::of(names) };
            steps.fill(&mut group);
            draft.groups.push(group);
        }
        draft.losses = self.losses;
        draft
    }
}

impl Steps {
    fn add(&mut self, paths: &[String], effect: Effect, place: &str) {
        if self.is_complete {
            return;
        }
        self.is_complete = paths.is_empty();
        let all = ["/".to_owned()];
        let paths = if paths.is_empty() { &all[..] } else { paths };
        for path in paths {
            // An earlier rule for the same path has decided already.
            if !self.steps.iter().any(|step| step.path.text == *path) {
                self.steps.push(Step { effect, path: Item::new(path, place) });
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let pairs = |steps: &Self| -> Vec<(Effect, String)> {
            steps.steps.iter().map(|step| (step.effect, step.path.text.clone())).collect()
        };
        pairs(self) == pairs(other)
    }

    /// A loss if the order of rules may matter: one that is shorter, or has a star, comes before one
    /// with another effect.
    fn conflict(&self, who: &str) -> Option<Loss> {
        let is_before = |(at, first): (usize, &Step)| {
            self.steps.iter().skip(at + 1).find(|later| {
                let (a, b) = (&first.path.text, &later.path.text);
                later.effect != first.effect
                    && b != "/"
                    && (b.len() >= a.len() || b.contains('*'))
                    && (a.contains('*') || b.contains('*') || b.starts_with(a.as_str()))
            })
        };
        let later = self.steps.iter().enumerate().find_map(is_before)?;
        let why = format!(
            "for {who}, the first rule that matches decides in the source, and the longest pattern in \
             robots.txt: check paths that an earlier rule matches too"
        );
        Some(Loss::new(later.path.place.clone(), &later.path.text, why))
    }

    /// Writes the rules into a group. A rule that allows everything is said only if another follows.
    fn fill(self, group: &mut Group) {
        let refuses = self.steps.iter().any(|step| step.effect == Effect::Refuse);
        for step in self.steps {
            match step.effect {
                Effect::Refuse => group.disallow.push(step.path),
                Effect::Allow if refuses => group.allow.push(step.path),
                Effect::Allow => {}
            }
        }
    }
}
