//! One request judged by one name, in time.

use jiff::Timestamp;

use crate::{
    formats::robots::{Access, Form, Matcher, Rule, Scope, Target, Verdict},
    rules::{
        crawlers::{Class, Name, Outcome, Standing},
        policy::{Grace, Mode, OtherForms},
    },
};

use super::{
    decision::{Action, Decision, Judgement, Knowledge, Reason, Rung},
    edition::{KnownEditions, RuleSource},
    overrides::{
        allows, first_for, group_for, group_names, group_of, is_protected, listed_group,
        strictest_mode,
    },
    rulebook::Site,
    timeline::Excuse,
};

#[derive(Clone, Copy)]
pub(super) struct Claimant<'r> {
    pub(super) name: Name<'r>,
    pub(super) standing: Standing,
}

/// The groups that bind a client, in any edition.
#[derive(Clone, Copy)]
enum Binding<'r> {
    /// The group that this name obeys.
    Name(Name<'r>),
    /// The group that names this program.
    Program(Name<'r>),
    /// `*`.
    Star,
    All,
}

impl<'r> Binding<'r> {
    /// The names to look for; the first that has a group binds, else `*`.
    fn names(self) -> impl Iterator<Item = &'r str> {
        let (family, alone) = match self {
            Self::Name(name) => (Some(group_names(name)), None),
            Self::Program(name) => (None, Some(name.as_str())),
            Self::Star | Self::All => (None, None),
        };
        family.into_iter().flatten().chain(alone)
    }

    /// The group that binds a crawler that reads a list in one user-agent line as the names in it.
    fn listed(self, matcher: &Matcher) -> Option<Scope> {
        listed_group(matcher, self.names())
    }
}

/// The parts of a case that are the same for all its names.
pub(super) struct Court<'r, 'a, K> {
    pub(super) site: &'r Site,
    pub(super) target: &'a Target<'a>,
    pub(super) knowledge: &'a K,
}

impl<'r, K: Knowledge> Court<'r, '_, K> {
    /// Judges by the group that a name obeys.
    pub(super) fn judge_name(&self, claimant: Claimant<'r>) -> Decision<'r> {
        let mode = self.mode_for(Some(claimant));
        if mode.0 == Mode::Off {
            return pass(Reason::Off, claimant.standing);
        }
        let decision = match group_of(self.site, claimant.name) {
            Some(group) => self.judge(Some(claimant), group, Binding::Name(claimant.name), mode),
            None => pass(Reason::Unbound, claimant.standing),
        };
        let decision = unmask(self.site, claimant, decision);
        if claimant.name.is_pending() { recorded(self.site, decision) } else { decision }
    }

    /// Judges by the group that names a library or tool in a crawler's User-Agent. `*` does not
    /// apply to it beside the crawler.
    pub(super) fn judge_program(&self, program: Claimant<'r>) -> Option<Decision<'r>> {
        let mode = self.mode_for(Some(program));
        let group = self.site.edition().matcher().group(program.name.as_str())?;
        let binding = Binding::Program(program.name);
        (mode.0 != Mode::Off).then(|| self.judge(Some(program), group, binding, mode))
    }

    /// Judges a client that hides among many names, or behind a long User-Agent, by every group.
    pub(super) fn judge_by_all(
        &self,
        claimant: Option<Claimant<'r>>,
    ) -> impl Iterator<Item = Decision<'r>> {
        let (mode, rung) = self.mode_for(claimant);
        let mode = (mode.max(strictest_mode(&self.site.enforcement, self.now())), rung);
        let groups = self.site.edition().matcher().scopes();
        groups.map(move |group| self.judge(claimant, group, Binding::All, mode))
    }

    /// Judges a client without a User-Agent, or an app without a token, by `*` where that binds its
    /// class.
    pub(super) fn judge_nameless(&self, class: Class) -> Decision<'r> {
        let mode = self.mode_for(None);
        let star = self.site.edition().matcher().star();
        match star.filter(|_| self.site.enforcement.star_binds.contains(&class)) {
            _ if mode.0 == Mode::Off => pass(Reason::Off, Standing::UNVERIFIABLE),
            Some(group) => self.judge(None, group, Binding::Star, mode),
            None => pass(Reason::Unbound, Standing::UNVERIFIABLE),
        }
    }

    /// The treatment of this client's violations: of the first override for its name and standing,
    /// else of its rung, else of the site.
    fn mode_for(&self, claimant: Option<Claimant<'r>>) -> (Mode, Option<Rung>) {
        let enforcement = &self.site.enforcement;
        let outcome = claimant.map_or(Outcome::Unverifiable, |claimant| claimant.standing.outcome);
        let name = claimant.map(|one| one.name);
        if let Some(one) = first_for(enforcement, name, outcome, self.now()) {
            return (one.mode, None);
        }
        match claimant.filter(|_| enforcement.ladder.is_some()) {
            Some(Claimant { name, .. }) => {
                let rung = self.knowledge.rung(name, outcome);
                (rung.mode(), Some(rung))
            }
            None => (enforcement.mode, None),
        }
    }

    /// The time of day, read where an entry has an end.
    fn now(&self) -> impl Fn() -> Timestamp {
        || self.knowledge.moment().now
    }

    fn judge(
        &self,
        claimant: Option<Claimant<'r>>,
        group: Scope,
        binding: Binding<'r>,
        (mode, rung): (Mode, Option<Rung>),
    ) -> Decision<'r> {
        let enforcement = &self.site.enforcement;
        let matcher = self.site.edition().matcher();
        let verdict_of = |group: Scope| match enforcement.other_forms {
            Some(OtherForms::Pass) => matcher.verdict_judged(group, self.target),
            _ => matcher.verdict(group, self.target),
        };
        let verdict = verdict_of(group);
        // A crawler that reads lists as Google does obeys the rules as it reads them.
        let listed =
            (verdict.access == Access::Disallow).then(|| binding.listed(matcher)).flatten();
        let listed = listed.map(|group| (group, verdict_of(group)));
        let by_list = listed.filter(|(_, verdict)| verdict.access == Access::Allow);
        let (group, verdict) = by_list.unwrap_or((group, verdict));
        let standing = claimant.map_or(Standing::UNVERIFIABLE, |claimant| claimant.standing);
        let judgement = Judgement {
            name: claimant.map(|claimant| claimant.name),
            group: Some(group),
            rule: verdict.rule,
        };
        let decision = Decision {
            access: verdict.by_letter(),
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
        let unheard = || self.knowledge.may_miss_editions().then_some(Excuse::Unheard);
        let excuse = self.excuse(claimant, binding, (group, verdict)).or_else(unheard);
        let is_excused =
            excuse.is_some_and(|one| enforcement.grace == Grace::Count || one.is_of_now());
        let is_protected = claimant
            .is_some_and(|one| is_protected(enforcement, one.name, one.standing, self.now()));
        if verdict.form == Form::Other {
            // Nobody is refused where the plain path would pass. A confirmed search engine never is:
            // anyone can publish a link with such a path.
            let action = match (enforcement.other_forms, action_of(mode)) {
                _ if is_excused => Action::Pass,
                (Some(OtherForms::Pass), _) => Action::Pass,
                _ if is_protected => Action::Log,
                (Some(OtherForms::Refuse), _) => Action::Block,
                (Some(OtherForms::Log), _) => Action::Log,
                (None, action) => action,
            };
            return match action {
                Action::Pass => self.allowed(decision, group),
                _ => Decision { action, reason: Reason::Form, ..decision },
            };
        }
        if is_excused {
            return Decision { reason: Reason::Grace, excuse, ..decision };
        }
        // A confirmed search engine is not blocked by rules for every crawler.
        let action = action_of(mode);
        let is_spared = action == Action::Block && is_protected && matcher.star() == Some(group);
        let (action, reason) = match binding {
            _ if is_spared => (Action::Log, Reason::Spared),
            Binding::All => (action, Reason::Hidden),
            _ => (action, Reason::Disallow),
        };
        Decision { action, reason, excuse, ..decision }
    }

    /// The decision to pass what the letter allows, by the rule that allows it.
    fn allowed(&self, decision: Decision<'r>, group: Scope) -> Decision<'r> {
        let rule = self.site.edition().matcher().verdict_judged(group, self.target).rule;
        let judgement = decision.judgement.map(|judgement| Judgement { rule, ..judgement });
        Decision { judgement, ..decision }
    }

    /// The excuse for a request that the edition in force disallows, if there is one.
    fn excuse(
        &self,
        claimant: Option<Claimant<'r>>,
        binding: Binding<'r>,
        (group, verdict): (Scope, Verdict<'r>),
    ) -> Option<Excuse<'r>> {
        if self.site.timeline.is_single() {
            return None;
        }
        let timeline = &self.site.timeline;
        // Which forms an edition judges depends on its own allow rules, so for them none answers for
        // another.
        let rule: Option<&Rule> = verdict.rule.filter(|_| verdict.form == Form::Letter);
        let doubt = timeline.doubt(group, rule, binding.names());
        if doubt.is_none() {
            return None;
        }
        let start = self.knowledge.moment().start_of(self.site.cache_window);
        let star_binds = &self.site.enforcement.star_binds;
        // By the letter, an edition allows its other forms as well.
        let is_allowed = |matcher: &Matcher, group: Scope| {
            let found = match verdict.form {
                Form::Letter => matcher.verdict_judged(group, self.target),
                Form::Other => matcher.verdict(group, self.target),
            };
            found.access == Access::Allow
        };
        let allows = |matcher: &Matcher, known: Option<Scope>| {
            let group = || match binding {
                Binding::Name(name) => group_for(matcher, star_binds, name),
                Binding::Program(name) => matcher.group(name.as_str()),
                Binding::Star | Binding::All => matcher.star(),
            };
            let is_allowed = |group| is_allowed(matcher, group);
            match binding {
                Binding::All => matcher.scopes().all(is_allowed),
                _ => allows(matcher, known.or_else(group), binding.names(), is_allowed),
            }
        };
        let known_editions = || match claimant {
            Some(Claimant { name, standing }) => {
                self.knowledge.known_editions(name, standing, start)
            }
            None => KnownEditions::Any,
        };
        timeline.excuse(doubt, start, allows, known_editions)
    }
}

/// Treats a proven impostor by the site's setting for impostors, where that is stricter than the
/// rules.
fn unmask<'r>(site: &'r Site, claimant: Claimant<'r>, decision: Decision<'r>) -> Decision<'r> {
    let action = match site.enforcement.impostors {
        Some(mode) if claimant.standing.outcome == Outcome::Contradicted => action_of(mode),
        _ => return decision,
    };
    if action <= decision.action {
        return decision;
    }
    let judgement = decision.judgement.or(Some(Judgement {
        name: Some(claimant.name),
        group: None,
        rule: None,
    }));
    Decision { action, reason: Reason::Impostor, judgement, ..decision }
}

/// Records what a name of a followed list does, and refuses nothing, until the operator accepts the name.
/// A group of the origin's own file counts as before.
fn recorded<'r>(site: &'r Site, decision: Decision<'r>) -> Decision<'r> {
    let edition = site.edition();
    let is_origins = |judgement: Judgement<'r>| {
        let source = judgement.rule.and_then(|rule| edition.source(rule.line));
        let is_star = judgement.group == edition.matcher().star();
        !is_star && matches!(source, Some(RuleSource::Origin(_)))
    };
    if decision.judgement.is_some_and(is_origins) {
        return decision;
    }
    let (action, mode) = (decision.action.min(Action::Log), decision.mode.min(Mode::Log));
    Decision { action, mode, rung: None, ..decision }
}

const fn action_of(mode: Mode) -> Action {
    match mode {
        Mode::Off => Action::Pass,
        Mode::Log | Mode::Throttle => Action::Log,
        Mode::Block => Action::Block,
    }
}

/// A decision to pass a request without a judgement.
pub(super) const fn pass<'r>(reason: Reason, standing: Standing) -> Decision<'r> {
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
