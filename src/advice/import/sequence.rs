//! Rules of which the first that matches decides, as groups of which the longest pattern decides.
//!
//! A rule is for one crawler or for all, and for some paths or for all. The rules of a crawler are
//! collected in their order. A rule for all its paths ends them.

use std::collections::BTreeMap;

use super::{
    draft::{Draft, Group, Item, Loss},
    regex::{self, Found},
};
use crate::{
    base::product_token::ProductToken,
    rules::{
        crawlers::{Catalogue, is_findable},
        policy,
    },
};

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

#[derive(Clone, Debug, Default)]
struct Steps {
    steps: Vec<Step>,
    /// Whether one of them is for all paths.
    is_complete: bool,
}

pub(super) struct Sequence {
    catalogue: Catalogue,
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
        let (tokens, losses) = tokens_of(&self.catalogue, regex, place, is_caseless);
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
        self.losses.extend(followers(&self.catalogue, &tokens));
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

/// The product tokens of an expression, and what is lost of it.
fn tokens_of(
    catalogue: &Catalogue,
    text: &str,
    place: &str,
    is_caseless: bool,
) -> (Vec<String>, Vec<Loss>) {
    let expression = match regex::read(text) {
        Ok(expression) => expression,
        Err(why) => {
            let why = format!("{why}: no list of names, so no product token follows from it");
            return (Vec::new(), vec![Loss::new(place, text, why)]);
        }
    };
    let (mut tokens, mut losses) = (Vec::new(), Vec::new());
    for found in &expression.found {
        match of_text(catalogue, found) {
            Ok((found, loss)) => {
                tokens.extend(found);
                losses.extend(loss.map(|(what, why)| Loss::new(place, what, why)));
            }
            Err((what, why)) => losses.push(Loss::new(place, what, why)),
        }
    }
    if expression.has_dot {
        let why = "a '.' without a backslash stands for any character; it is read as a dot";
        losses.push(Loss::new(place, text, why));
    }
    if !is_caseless && !expression.ignores_case {
        let why =
            "the source distinguishes upper and lower case; Beadle does not, as RFC 9309 says";
        losses.push(Loss::new(place, text, why));
    }
    (tokens, losses)
}

/// A text, and why it is not carried over.
type Refusal = (String, String);

/// The tokens that a text stands for, and perhaps what is different about them.
fn of_text(
    catalogue: &Catalogue,
    found: &Found,
) -> Result<(Vec<String>, Option<Refusal>), Refusal> {
    let refuse = |text: &str, why: &str| Err((text.to_owned(), why.to_owned()));
    let Some(literal) = found.literal() else {
        return refuse("a text with a gap", "it is no product token");
    };
    let name = literal.trim();
    if name.is_empty() {
        return refuse(".*", "it finds every client, also people, whom Beadle never judges");
    }
    if name.contains('/') {
        let why = "it is no product token: a crawler is named without a version or an address";
        return refuse(name, why);
    }
    if ProductToken::new(name).is_none() {
        return refuse(name, "it is no product token");
    }
    let lower = name.to_ascii_lowercase();
    let is_known = catalogue.find(name).is_some();
    if !is_known && !is_findable(name) {
        return refuse(name, "it is a word of browsers; Beadle never judges people");
    }
    let contains = |token: &ProductToken| token.key().contains(&lower);
    let longer = catalogue
        .iter()
        .filter(|crawler| crawler.is_identifiable() && contains(crawler.product_token()));
    let longer = longer.map(|crawler| crawler.product_token().as_str().to_owned());
    let mut tokens: Vec<String> = vec![name.to_owned()];
    tokens.extend(longer.filter(|token| !token.eq_ignore_ascii_case(name)));
    let anchored = (found.at_start, found.at_end);
    let why = match anchored {
        (false, false) => None,
        _ => Some("the source finds it at one end of the User-Agent; Beadle finds it anywhere"),
    };
    Ok((tokens, why.map(|why| (name.to_owned(), why.to_owned()))))
}

/// The crawlers that obey a group for one of these tokens without being found by the source, by the
/// documentation of their operators.
fn followers(catalogue: &Catalogue, tokens: &[&str]) -> Vec<Loss> {
    let has =
        |name: &ProductToken| tokens.iter().any(|token| token.eq_ignore_ascii_case(name.key()));
    let mut losses = Vec::new();
    for crawler in catalogue.iter().filter(|crawler| !has(crawler.product_token())) {
        let Some(group) = crawler.groups().find(|name| has(name)) else { continue };
        let why = format!(
            "it obeys the group for {group} by its operator's documentation, so the rules bind it too; \
             the source does not find it"
        );
        losses.push(Loss::new("crawlers", crawler.product_token().as_str(), why));
    }
    losses
}
