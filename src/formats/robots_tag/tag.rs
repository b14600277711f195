//! The rules of a response for crawlers, as a set: union, comparison, and what each crawler follows.

use std::borrow::Borrow;

use super::rule::Rule;
use crate::base::product_token::ProductToken;

/// The most octets of a `Robots-Tag` field that a crawler has to read (§3.1.1). Crawlers may ignore
/// the rest, so no longer field is written.
pub const MAX_BYTES: usize = 8192;

/// The crawlers that rules restrict. `*` comes before every token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `*`: all crawlers, those with rules of their own included (§3.1.1).
    Any,
    /// The crawler of this product token.
    Token(ProductToken),
}

impl Scope {
    /// The token, if it is one.
    pub(super) const fn token(&self) -> Option<&ProductToken> {
        match self {
            Self::Any => None,
            Self::Token(token) => Some(token),
        }
    }

    /// The scope of a name before a colon or a semicolon, if it is `*` or a product token.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        if name == "*" { Some(Self::Any) } else { ProductToken::new(name).map(Self::Token) }
    }
}

/// The restrictions of a response, by scope.
///
/// Always in normal form, so two tags are equal exactly if every crawler follows the same rules in
/// both. Scopes are sorted (`*` first), and so are rules. A token has only rules that `*` lacks, and
/// no scope is without a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RobotsTag {
    scopes: Vec<(Scope, Vec<Rule>)>,
}

impl RobotsTag {
    /// The tag without restrictions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for a scope. `none` is added as `noindex` and `nofollow`; `all`, `index` and
    /// `follow` add nothing.
    pub fn add(&mut self, scope: Scope, rule: Rule) {
        let mut scopes = std::mem::take(&mut self.scopes);
        scopes.push((scope, rule.restrictions().collect()));
        *self = Self::of_members(scopes);
    }

    /// The tag of scopes and rules in any order.
    pub(super) fn of_members(mut scopes: Vec<(Scope, Vec<Rule>)>) -> Self {
        scopes.sort_by(|(a, _), (b, _)| a.cmp(b));
        scopes.dedup_by(|(later, rules), (earlier, all)| {
            let same = later == earlier;
            if same {
                all.append(rules);
                // The spelling that sorts first, so that a union has one written form.
                if let (Scope::Token(one), Scope::Token(other)) = (&*later, &mut *earlier)
                    && one.as_str() < other.as_str()
                {
                    *other = one.clone();
                }
            }
            same
        });
        for (_, rules) in &mut scopes {
            normalise(rules);
        }
        if let [(Scope::Any, any), tokens @ ..] = scopes.as_mut_slice() {
            for (_, rules) in tokens {
                rules.retain(|rule| !is_implied(any, rule));
            }
        }
        scopes.retain(|(_, rules)| !rules.is_empty());
        Self { scopes }
    }

    /// The tag with restrictions only: `none` becomes two rules, and rules that permit are left out.
    pub(super) fn restricting(mut self) -> Self {
        let permits = |rule: &Rule| matches!(rule.name(), "none" | "all" | "index" | "follow");
        if !self.scopes.iter().any(|(_, rules)| rules.iter().any(permits)) {
            return self;
        }
        for (_, rules) in &mut self.scopes {
            *rules = std::mem::take(rules).into_iter().flat_map(Rule::restrictions).collect();
        }
        Self::of_members(self.scopes)
    }

    /// Whether the tag restricts no crawler.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// The scopes that have rules, `*` first, then by token, each with its rules sorted. The rules of
    /// `*` are not repeated with the tokens.
    pub fn scopes(&self) -> impl Iterator<Item = (&Scope, &[Rule])> {
        self.scopes.iter().map(|(scope, rules)| (scope, rules.as_slice()))
    }

    /// All rules of both: commutative, associative and idempotent. Of two spellings of a name, the
    /// one that sorts first is kept.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.clone().merge(other.clone())
    }

    /// [`Self::union`] by value.
    #[must_use]
    pub fn merge(mut self, mut other: Self) -> Self {
        if other.is_empty() {
            return self;
        }
        if self.is_empty() {
            return other;
        }
        self.scopes.append(&mut other.scopes);
        Self::of_members(self.scopes)
    }

    /// The rules that the crawler of `token` has to follow, sorted: those of `*` and its own
    /// (§3.1.1: "MUST apply the union of all restrictive rules"). `None` is a crawler without a
    /// scope of its own. Names are compared whole and without case.
    pub(crate) fn restrictions(&self, token: Option<&ProductToken>) -> Vec<&Rule> {
        let any = self.rules_of(&Scope::Any);
        let own = token.map_or(&[][..], |token| self.rules_of(&Scope::Token(token.clone())));
        let mut all: Vec<&Rule> = any.iter().chain(own).collect();
        if !own.is_empty() {
            normalise(&mut all);
        }
        all
    }

    pub(super) fn rules_of(&self, scope: &Scope) -> &[Rule] {
        let at = self.scopes.binary_search_by(|(other, _)| other.cmp(scope));
        at.ok().and_then(|at| self.scopes.get(at)).map_or(&[], |(_, rules)| rules)
    }
}

/// All rules of a response for the crawler of `token`, sorted: the union of `field` (`Robots-Tag`)
/// and of the tags in the older syntax (`X-Robots-Tag`, the document's head). A rule keeps the
/// spelling of its source: `max-snippet=20` from `Robots-Tag`, else `max-snippet:20`. Rules that
/// crawlers ignore (`Rule::is_effective`) are left out.
pub fn effective(
    field: &RobotsTag,
    older: &[&RobotsTag],
    token: Option<&ProductToken>,
) -> Vec<String> {
    let in_field: Vec<&Rule> = field.restrictions(token);
    let all = older.iter().fold(field.clone(), |all, tag| all.union(tag));
    let rules = all.restrictions(token).into_iter().filter(|rule| rule.is_effective());
    let mut texts: Vec<String> =
        rules
            .map(|rule| {
                if in_field.binary_search(&rule).is_ok() { rule.to_string() } else { rule.legacy() }
            })
            .collect();
    texts.sort_unstable();
    texts
}

/// Sorts rules and removes repetitions. Of rules with an order of strictness, only the strictest
/// stays.
fn normalise<R: Borrow<Rule> + Ord>(rules: &mut Vec<R>) {
    rules.sort_unstable();
    rules.dedup();
    if rules.windows(2).all(|pair| name(&pair[0]) != name(&pair[1])) {
        return;
    }
    let mut kept: Vec<R> = Vec::with_capacity(rules.len());
    let mut rest = std::mem::take(rules).into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut run = vec![first];
        while let Some(next) = rest.next_if(|next| name(next) == name(&run[0])) {
            run.push(next);
        }
        let strictest = run.iter().filter_map(|rule| rule.borrow().rank()).min();
        kept.extend(run.into_iter().filter(|rule| {
            let rank = rule.borrow().rank();
            rank.is_none() || rank == strictest
        }));
    }
    *rules = kept;
}

/// Whether sorted rules contain this one or a stricter one of its name.
fn is_implied(rules: &[Rule], rule: &Rule) -> bool {
    if rules.binary_search(rule).is_ok() {
        return true;
    }
    let Some(rank) = rule.rank() else { return false };
    let from = rules.partition_point(|other| other.name() < rule.name());
    let same_name = rules.iter().skip(from).take_while(|other| other.name() == rule.name());
    same_name.filter_map(Rule::rank).any(|other| other < rank)
}

fn name<R: Borrow<Rule>>(rule: &R) -> &str {
    rule.borrow().name()
}
