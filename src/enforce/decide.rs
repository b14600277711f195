//! Who is bound by what, at which moment: the decision itself.

use crate::{
    crawlers::{Class, Crawler, Name, Outcome, Purpose, Standing},
    policy::{Enforcement, Grace, Mode, Override},
    product_token::ProductToken,
    robots::{Access, Form, Matcher, Rule, Scope, Target},
};

use super::{
    case::Case,
    decision::{Action, Decision, Judgement, Reason},
    group::{group_for, group_of},
    knowledge::Knowledge,
    known_editions::KnownEditions,
    pace::keeps_paces,
    rung::Rung,
    site::Site,
    timeline::Excuse,
};

/// Judges a request to `site` by every token of its claim; the strictest answer counts, so that
/// nobody can choose the laxer group by naming two. A claim of more names than are kept is judged
/// by every group there is.
pub fn decide<'r>(site: &'r Site, case: Case<'r, '_>, knowledge: &impl Knowledge) -> Decision<'r> {
    let claim = case.claim;
    let of_name = |name: Name<'r>| {
        let known = name.known().filter(|crawler| !claim.is_borrowed(crawler));
        let standing = known.map_or(Standing::UNVERIFIABLE, |known| knowledge.standing(known));
        Asking { name, standing }
    };
    if case.target.is_robots_txt() {
        // Who reads the rules first is looked at before it asks for anything else.
        let standing =
            claim.primary().map_or(Standing::UNVERIFIABLE, |name| of_name(name).standing);
        return pass(Reason::RobotsTxt, standing);
    }
    let court = Court { site, target: case.target, knowledge };
    let by_tokens = claim.tokens().map(|name| court.judge_name(of_name(name)));
    // By which program a crawler comes counts only where the site has rules for the program.
    let by_programs = claim.programs().filter_map(|program| court.judge_program(of_name(program)));
    let by_all = claim
        .primary()
        .filter(|_| claim.is_crowded())
        .into_iter()
        .flat_map(|name| court.judge_by_all(of_name(name)));
    let strictest = by_tokens.chain(by_programs).chain(by_all).reduce(|first, other| {
        if Strictness::of(&other) > Strictness::of(&first) { other } else { first }
    });
    match strictest {
        Some(decision) => decision,
        None if claim.class() == Class::None && case.is_nameless => court.judge_nameless(),
        None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
    }
}

/// Whether a User-Agent says nothing: empty, white space, or the `-` that some clients send.
pub fn is_blank(user_agent: &[u8]) -> bool {
    matches!(user_agent.trim_ascii(), b"" | b"-")
}

/// How strict a decision is, the weightiest part first. The action comes before the verdict: an
/// impostor is blocked where the rules allow, and no rule that is only logged may prevent that.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Strictness {
    action: Action,
    is_disallow: bool,
    is_bound: bool,
    mode: Mode,
    keeps_pace: bool,
}

impl Strictness {
    fn of(decision: &Decision<'_>) -> Self {
        let name = decision.judgement.and_then(|judgement| judgement.name);
        Self {
            action: decision.action,
            is_disallow: decision.access == Access::Disallow,
            is_bound: decision.judgement.is_some(),
            mode: decision.mode,
            keeps_pace: name.is_some_and(keeps_paces),
        }
    }
}

const fn pass<'r>(reason: Reason, standing: Standing) -> Decision<'r> {
    Decision {
        access: Access::Allow,
        action: Action::Pass,
        reason,
        judgement: None,
        standing,
        excuse: None,
        mode: Mode::Off,
        rung: None,
    }
}

/// A name and whether its bearer is who it says.
#[derive(Clone, Copy)]
struct Asking<'r> {
    name: Name<'r>,
    standing: Standing,
}

/// By what a client is bound, in whatever edition.
#[derive(Clone, Copy)]
enum Binding<'r> {
    /// By the group that this name obeys.
    Name(Name<'r>),
    /// By the group that names this program.
    Program(Name<'r>),
    /// By `*`.
    Star,
    /// By every group.
    All,
}

impl<'r> Binding<'r> {
    /// The names of the groups that bind, the first that there is, before `*`.
    fn names(self) -> impl Iterator<Item = &'r str> {
        let (family, alone) = match self {
            Self::Name(Name::Known(crawler)) => (Some(crawler.groups()), None),
            Self::Name(name) | Self::Program(name) => (None, Some(name.as_str())),
            Self::Star | Self::All => (None, None),
        };
        family.into_iter().flatten().map(ProductToken::as_str).chain(alone)
    }
}

/// Where a request is judged: what stays the same for all its names.
struct Court<'r, 'a, K> {
    site: &'r Site,
    target: &'a Target<'a>,
    knowledge: &'a K,
}

impl<'r, K: Knowledge> Court<'r, '_, K> {
    fn judge_name(&self, asking: Asking<'r>) -> Decision<'r> {
        let mode = self.mode_for(Some(asking));
        if mode.0 == Mode::Off {
            return pass(Reason::Off, asking.standing);
        }
        let decision = match group_of(self.site, asking.name) {
            Some(group) => self.judge(Some(asking), group, Binding::Name(asking.name), mode),
            None => pass(Reason::Unbound, asking.standing),
        };
        unmask(self.site, asking, decision)
    }

    /// A library or tool that a crawler's User-Agent names beside the crawler, by the group that
    /// names it; `*` is for whoever has no name of its own.
    fn judge_program(&self, program: Asking<'r>) -> Option<Decision<'r>> {
        let mode = self.mode_for(Some(program));
        let group = self.site.edition().matcher().group(program.name.as_str())?;
        let binding = Binding::Program(program.name);
        (mode.0 != Mode::Off).then(|| self.judge(Some(program), group, binding, mode))
    }

    /// Whoever hides among names, by whatever there is.
    fn judge_by_all(&self, asking: Asking<'r>) -> impl Iterator<Item = Decision<'r>> {
        let (mode, rung) = self.mode_for(Some(asking));
        let mode = (mode.max(strictest_mode(&self.site.enforcement)), rung);
        let groups = self.site.edition().matcher().scopes();
        groups.map(move |group| self.judge(Some(asking), group, Binding::All, mode))
    }

    fn judge_nameless(&self) -> Decision<'r> {
        let mode = self.mode_for(None);
        let star = self.site.edition().matcher().star();
        match star.filter(|_| self.site.enforcement.star_binds.contains(&Class::None)) {
            _ if mode.0 == Mode::Off => pass(Reason::Off, Standing::UNVERIFIABLE),
            Some(group) => self.judge(None, group, Binding::Star, mode),
            None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
        }
    }

    /// What happens to this client's violations: by the first override that names it in its
    /// standing, else by its rung, else by the site's mode.
    fn mode_for(&self, asking: Option<Asking<'r>>) -> (Mode, Option<Rung>) {
        let enforcement = &self.site.enforcement;
        let outcome = asking.map_or(Outcome::Unverifiable, |asking| asking.standing.outcome);
        let is_for = |one: &&Override| {
            is_for_outcome(one, outcome)
                && (one.all || asking.is_some_and(|asking| names(one, asking.name)))
        };
        if let Some(one) = enforcement.overrides.iter().find(is_for) {
            return (one.mode, None);
        }
        match asking.filter(|_| enforcement.ladder.is_some()) {
            Some(Asking { name, .. }) => {
                let rung = self.knowledge.rung(name, outcome);
                (rung.mode(), Some(rung))
            }
            None => (enforcement.mode, None),
        }
    }

    fn judge(
        &self,
        asking: Option<Asking<'r>>,
        group: Scope,
        binding: Binding<'r>,
        (mode, rung): (Mode, Option<Rung>),
    ) -> Decision<'r> {
        let Site { enforcement, .. } = self.site;
        let matcher = self.site.edition().matcher();
        let verdict = matcher.verdict(group, self.target);
        let standing = asking.map_or(Standing::UNVERIFIABLE, |asking| asking.standing);
        let judgement = Judgement {
            name: asking.map(|asking| asking.name),
            group: Some(group),
            rule: verdict.rule,
        };
        let decision = Decision {
            access: verdict.access,
            action: Action::Pass,
            reason: Reason::Allow,
            judgement: Some(judgement),
            standing,
            excuse: None,
            mode,
            rung,
        };
        if verdict.access == Access::Allow {
            return decision;
        }
        let excuse = self.excuse(asking, binding, (group, verdict.rule));
        if excuse.is_some() && enforcement.grace == Grace::Count {
            return Decision { reason: Reason::Grace, excuse, ..decision };
        }
        let action = action_of(mode);
        // Not by the rules for everybody, and not by a form that only an origin may see: anybody can
        // publish links that look so.
        let spared = action == Action::Block
            && asking.is_some_and(|one| is_protected(enforcement, one.name, one.standing))
            && (matcher.star() == Some(group) || verdict.form == Form::Evasion);
        let (action, reason) = match verdict.form {
            _ if spared => (Action::Log, Reason::Spared),
            Form::Letter => (action, Reason::Disallow),
            Form::Evasion => (action, Reason::Evasion),
        };
        Decision { action, reason, excuse, ..decision }
    }

    /// Why it is not held against the client that the edition in force disallows the target.
    fn excuse(
        &self,
        asking: Option<Asking<'r>>,
        binding: Binding<'r>,
        (group, rule): (Scope, Option<&'r Rule>),
    ) -> Option<Excuse<'r>> {
        if self.site.timeline.is_single() {
            return None;
        }
        let timeline = &self.site.timeline;
        let doubt = timeline.doubt(group, rule, binding.names());
        if doubt.is_none() {
            return None;
        }
        let start = self.knowledge.moment().start_of(self.site.cache_window);
        let star_binds = &self.site.enforcement.star_binds;
        let is_allowed = |matcher: &Matcher, group: Scope| {
            matcher.verdict(group, self.target).access == Access::Allow
        };
        let allows = |matcher: &Matcher, known: Option<Scope>| match binding {
            Binding::All => matcher.scopes().all(|group| is_allowed(matcher, group)),
            _ => known
                .or_else(|| match binding {
                    Binding::Name(name) => group_for(matcher, star_binds, name),
                    Binding::Program(name) => matcher.group(name.as_str()),
                    Binding::Star | Binding::All => matcher.star(),
                })
                .is_none_or(|group| is_allowed(matcher, group)),
        };
        let known_editions = || match asking {
            Some(Asking { name, standing }) => self.knowledge.known_editions(name, standing, start),
            None => KnownEditions::Any,
        };
        timeline.excuse(doubt, start, allows, known_editions)
    }
}

/// Whoever is proven to be somebody else is treated as the site asks for impostors, wherever the
/// rules alone would be milder.
fn unmask<'r>(site: &'r Site, asking: Asking<'r>, decision: Decision<'r>) -> Decision<'r> {
    let action = match site.enforcement.impostors {
        Some(mode) if asking.standing.outcome == Outcome::Contradicted => action_of(mode),
        _ => return decision,
    };
    if action <= decision.action {
        return decision;
    }
    let judgement =
        decision.judgement.or(Some(Judgement { name: Some(asking.name), group: None, rule: None }));
    Decision { action, reason: Reason::Impostor, judgement, ..decision }
}

fn is_for_outcome(one: &Override, outcome: Outcome) -> bool {
    one.standings.is_empty() || one.standings.contains(&outcome)
}

fn names(one: &Override, name: Name<'_>) -> bool {
    match name {
        Name::Known(crawler) => {
            one.tokens.contains(crawler.product_token())
                || crawler.aliases().iter().any(|alias| one.tokens.contains(alias))
        }
        Name::Site(token) => one.tokens.contains(token),
        Name::Declared(text) => {
            one.tokens.iter().any(|token| token.key().eq_ignore_ascii_case(text))
        }
    }
}

/// For whoever hides among names: whatever is done with anybody.
fn strictest_mode(enforcement: &Enforcement) -> Mode {
    let overrides = enforcement.overrides.iter().map(|one| one.mode);
    overrides.fold(enforcement.mode, Mode::max)
}

/// Whether nobody has asked for this one to be refused: it is proven to be a search engine, and the
/// policy neither names it where it blocks nor says that such may be. A rule for everybody does not
/// shut it out, and the breaker opens where one of its own would.
pub fn is_protected(enforcement: &Enforcement, name: Name<'_>, standing: Standing) -> bool {
    let is_search = |crawler: &Crawler| crawler.purpose() == Purpose::Search;
    standing.outcome == Outcome::Confirmed
        && name.known().is_some_and(is_search)
        && !enforcement.block_confirmed_search
        && !is_named_to_block(enforcement, name, standing)
}

/// Whether an override that blocks names this one. One that blocks those who borrow the name says
/// nothing of whom it belongs to.
fn is_named_to_block(enforcement: &Enforcement, name: Name<'_>, standing: Standing) -> bool {
    enforcement.overrides.iter().any(|one| {
        one.mode == Mode::Block && is_for_outcome(one, standing.outcome) && names(one, name)
    })
}

/// Whether the operator has asked for just this refusal: of one whom an override names, or of an
/// impostor. It hits nobody who is not meant, so the breaker leaves it alone.
pub fn is_ordered(enforcement: &Enforcement, decision: &Decision<'_>) -> bool {
    let name = decision.judgement.and_then(|judgement| judgement.name);
    decision.action == Action::Block
        && (decision.reason == Reason::Impostor
            || name.is_some_and(|name| is_named_to_block(enforcement, name, decision.standing)))
}

const fn action_of(mode: Mode) -> Action {
    match mode {
        Mode::Off => Action::Pass,
        Mode::Log | Mode::Throttle => Action::Log,
        Mode::Block => Action::Block,
    }
}
