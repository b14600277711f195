//! The rules of a site with the places of their parts, from a policy or from a robots.txt; the rules of a scope
//! that match all paths of another one; the findings.

use std::{
    cell::Cell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::shown,
        product_token::ProductToken,
        text::lines,
    },
    formats::robots::{
        self, Directive, Group, Matcher, Pattern, Record, RobotsTxt, Sample, Scope, UserAgent,
    },
    rules::{
        crawlers::{Catalogue, Class, Name},
        enforce,
        policy::{self, GroupPlaces, Site, Source, Spot},
    },
};

/// How many comparisons of rules are made for one site. 10,000 usual rules stay below.
const MOST_COMPARED: u64 = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// In a policy, with rules from this source.
    Policy(Source),
    /// In a robots.txt.
    RobotsTxt,
}

pub(super) struct Subject<'a> {
    pub(super) written: Written,
    /// The rules have their numbers as lines, from 1.
    pub(super) file: RobotsTxt,
    pub(super) matcher: Matcher,
    /// For each group of `file`.
    pub(super) places: Vec<GroupPlaces>,
    /// For each group of a policy whether it replaces the origin's rules.
    pub(super) overriding: Vec<bool>,
    pub(super) catalogue: &'a Catalogue,
    star_binds: Vec<Class>,
    /// By number, from 1.
    rules: Vec<Ruled>,
    left: Cell<u64>,
}

/// A rule that matches some path.
pub(super) struct Ruled {
    pub(super) directive: Directive,
    /// As written in robots.txt.
    pub(super) text: String,
    /// `None` if it matches no path.
    pub(super) compiled: Option<(Pattern, Sample)>,
    pub(super) group: usize,
    pub(super) at: Spot,
}

#[derive(Clone, Copy)]
pub(super) struct Ranked<'s> {
    pub(super) number: usize,
    pub(super) rule: &'s Ruled,
    pub(super) pattern: &'s Pattern,
    pub(super) sample: &'s Sample,
}

impl<'a> Subject<'a> {
    pub(super) fn of_site(site: &Site, catalogue: &'a Catalogue) -> Self {
        let own = &site.robots_txt;
        let written = Written::Policy(own.source);
        Self {
            overriding: own.overriding.clone(),
            star_binds: site.enforcement.star_binds.clone(),
            ..Self::new(written, own.file.clone(), own.places.clone(), catalogue)
        }
    }

    /// The rules of a policy's site as the published file has them, with their places in the policy.
    pub(super) fn of_published(site: &Site, catalogue: &'a Catalogue) -> Self {
        let own = &site.robots_txt;
        let key = |name: &str| name.trim().to_ascii_lowercase();
        let groups = own.file.groups.iter().zip(&own.places);
        let names = groups.flat_map(|(group, places)| group.user_agents.iter().zip(&places.names));
        let names: HashMap<_, _> = names.map(|(one, at)| (key(&one.name), *at)).collect();
        let arranged = robots::arrange(&own.file);
        let place =
            |source: &robots::Source| own.places.get(source.group)?.rules.get(source.rule).copied();
        let groups = arranged.file.groups.iter().zip(&arranged.sources);
        let places = groups.map(|(group, sources)| GroupPlaces {
            names: group
                .user_agents
                .iter()
                .map(|one| names.get(&key(&one.name)).copied().unwrap_or_default())
                .collect(),
            rules: sources.iter().map(|source| place(source).unwrap_or_default()).collect(),
            records: Vec::new(),
            has_errors: false,
        });
        let places = places.collect();
        // What is written has an empty rule in each group without rules.
        let (file, _) = robots::parse(arranged.file.to_string().as_bytes());
        let star_binds = site.enforcement.star_binds.clone();
        Self { star_binds, ..Self::new(Written::Policy(own.source), file, places, catalogue) }
    }

    pub(super) fn of_file(file: RobotsTxt, bytes: &[u8], catalogue: &'a Catalogue) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text: Vec<&[u8]> = lines(bytes).collect();
        let spot = |line: u32| {
            let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
            let bytes = at.and_then(|at| text.get(at)).copied().unwrap_or_default();
            Spot { line, column: value_column(bytes) }
        };
        let places = file.groups.iter().map(|group| GroupPlaces {
            names: group.user_agents.iter().map(|one| spot(one.line)).collect(),
            rules: group.rules.iter().map(|one| spot(one.line)).collect(),
            records: group.records.iter().map(|one| spot(one.line)).collect(),
            has_errors: false,
        });
        let places = places.collect();
        Self::new(Written::RobotsTxt, file, places, catalogue)
    }

    fn new(
        written: Written,
        mut file: RobotsTxt,
        places: Vec<GroupPlaces>,
        catalogue: &'a Catalogue,
    ) -> Self {
        let mut rules = Vec::new();
        for (group, (one, places)) in file.groups.iter_mut().zip(&places).enumerate() {
            for (place, rule) in one.rules.iter_mut().enumerate() {
                let compiled = Pattern::new(&rule.pattern).ok();
                let compiled = compiled.map(|pattern| {
                    let sample = pattern.sample();
                    (pattern, sample)
                });
                rules.push(Ruled {
                    directive: rule.directive,
                    text: rule.pattern.clone(),
                    compiled,
                    group,
                    at: places.rules.get(place).copied().unwrap_or_default(),
                });
                rule.line = u32::try_from(rules.len()).unwrap_or(u32::MAX);
            }
        }
        let matcher = Matcher::new(&file);
        let (overriding, star_binds) = (Vec::new(), policy::default_star_binds());
        let left = Cell::new(MOST_COMPARED);
        Self { written, file, matcher, places, overriding, catalogue, star_binds, rules, left }
    }

    /// The severity of a finding about the meaning of rules.
    pub(super) fn severity(&self) -> Severity {
        match self.written {
            Written::Policy(_) => Severity::Warning,
            Written::RobotsTxt => Severity::Note,
        }
    }

    pub(super) fn is_policy(&self) -> bool {
        self.written != Written::RobotsTxt
    }

    /// Whether no group has errors. Else rules may be missing, and a lint must not rely on that.
    pub(super) fn is_whole(&self) -> bool {
        !self.places.iter().any(|group| group.has_errors)
    }

    /// The names of the groups, each with the number of its group and its place.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &UserAgent, Spot)> {
        let groups = self.file.groups.iter().zip(&self.places).enumerate();
        groups.flat_map(|(number, (group, places))| {
            let names = group.user_agents.iter().zip(&places.names);
            names.map(move |(one, at)| (number, one, *at))
        })
    }

    /// The records of the groups, each with its group and its place.
    pub(super) fn records(&self) -> impl Iterator<Item = (&Group, &Record, Spot)> {
        self.file.groups.iter().zip(&self.places).flat_map(|(group, places)| {
            let records = group.records.iter().zip(&places.records);
            records.map(move |(record, at)| (group, record, *at))
        })
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, &Ruled)> {
        (1..).zip(&self.rules)
    }

    /// The rules of a scope that match some path, the one that decides before the others first.
    pub(super) fn ranked(&self, scope: Scope) -> Vec<Ranked<'_>> {
        let mut ranked: Vec<Ranked<'_>> = self
            .matcher
            .rules(scope)
            .filter_map(|rule| {
                let number = usize::try_from(rule.line).ok()?;
                let rule = self.rules.get(number.checked_sub(1)?)?;
                let (pattern, sample) = rule.compiled.as_ref()?;
                Some(Ranked { number, rule, pattern, sample })
            })
            .collect();
        ranked.sort_by_key(|one| {
            (Reverse(one.pattern.specificity()), one.rule.directive, one.number)
        });
        ranked
    }

    pub(super) fn scope_of(&self, token: &ProductToken) -> Option<Scope> {
        let name = match self.catalogue.find(token.as_str()) {
            Some(crawler) => Name::Known(crawler),
            None => Name::Site(token),
        };
        enforce::group_for(&self.matcher, &self.star_binds, name)
    }

    /// Whether `*` binds a crawler for which the file has no group.
    pub(super) fn is_bound_by_star(&self, name: Name<'_>) -> bool {
        enforce::is_bound_by_star(&self.star_binds, name)
    }

    /// Whether the rules of a scope disallow every path of a pattern.
    pub(super) fn is_closed(&self, scope: Scope, pattern: &Pattern) -> Option<Ranked<'_>> {
        let sample = pattern.sample();
        let ranked = self.ranked(scope);
        if !self.spend(ranked.len()) {
            return None;
        }
        let is_disallow = |one: &Ranked<'_>| one.rule.directive == Directive::Disallow;
        let at = ranked.iter().position(|one| is_disallow(one) && one.pattern.includes(&sample))?;
        let before = ranked.get(..at).unwrap_or_default();
        let is_opened = before.iter().any(|one| !is_disallow(one) && one.pattern.overlaps(pattern));
        ranked.get(at).copied().filter(|_| !is_opened)
    }

    /// Whether so many further comparisons may be made.
    pub(super) fn spend(&self, comparisons: usize) -> bool {
        let left = self.left.get().checked_sub(comparisons as u64);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn is_partial(&self) -> bool {
        self.left.get() == 0
    }

    pub(super) fn report_partial(&self, at: Spot, findings: &mut Findings) {
        if self.is_partial() {
            let message = "there are too many rules to compare all of them with each other";
            findings.add(at, Diagnostic::note("lint.not_compared", message));
        }
    }
}

impl Ruled {
    /// `'Disallow: /x'`.
    pub(super) fn quoted(&self) -> String {
        format!("'{}: {}'", self.directive.field_name(), shown(&self.text))
    }

    /// `'Disallow: /x' (line 7)`.
    pub(super) fn quoted_with_line(&self) -> String {
        format!("{} (line {})", self.quoted(), self.at.line)
    }
}

/// The column of the value in a line of robots.txt, in characters; that of the name if it has none.
fn value_column(line: &[u8]) -> u32 {
    let is_text = |octet: &u8| !b" \t".contains(octet);
    let value = line.iter().position(|octet| *octet == b':').and_then(|colon| {
        let value = line.get(colon + 1..)?;
        Some(
            colon
                + 1
                + value.iter().position(is_text).filter(|at| value.get(*at) != Some(&b'#'))?,
        )
    });
    let start = value.or_else(|| line.iter().position(is_text)).unwrap_or(0);
    let before = line.get(..start).unwrap_or_default();
    let characters: usize = before
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
        .sum();
    u32::try_from(characters + 1).unwrap_or(0)
}

/// The rules of a scope by their first octets.
pub(super) struct Search<'r, 's> {
    ranked: &'r [Ranked<'s>],
    by_prefix: HashMap<&'s [u8], Vec<(usize, Option<Gram>)>>,
    lengths: BTreeSet<usize>,
}

/// Three octets in a row, as a place in a set.
#[derive(Clone, Copy, Debug)]
struct Gram(usize);

/// All rows of three octets in a text.
#[derive(Clone, Debug)]
struct Grams([u64; 16]);

impl<'r, 's> Search<'r, 's> {
    pub(super) fn new(ranked: &'r [Ranked<'s>]) -> Self {
        let mut by_prefix: HashMap<&[u8], Vec<_>> = HashMap::new();
        let mut lengths = BTreeSet::new();
        for (at, one) in ranked.iter().enumerate() {
            let prefix = one.pattern.prefix();
            let longest = one.pattern.literals().max_by_key(|literal| literal.len());
            let gram = longest.and_then(<[u8]>::first_chunk).map(Gram::of);
            by_prefix.entry(prefix).or_default().push((at, gram));
            lengths.insert(prefix.len());
        }
        Self { ranked, by_prefix, lengths }
    }

    /// The places of the rules that match all paths of `one`, which may be among them.
    pub(super) fn covering(&self, subject: &Subject<'_>, one: &Ranked<'_>) -> Vec<usize> {
        let prefix = one.pattern.prefix();
        // All paths begin with `/`, so those of a pattern without a prefix do.
        let prefix = if prefix.is_empty() { b"/" } else { prefix };
        let grams = Grams::of(one.sample.path());
        let mut found = Vec::new();
        for length in self.lengths.range(..=prefix.len()) {
            let Some(others) = prefix.get(..*length).and_then(|key| self.by_prefix.get(key)) else {
                continue;
            };
            if !subject.spend((others.len() + length).div_ceil(64)) {
                return found;
            }
            for (at, gram) in others {
                let may_cover = gram.is_none_or(|gram| grams.contains(gram));
                let covers = may_cover
                    && subject.spend(1)
                    && self.ranked.get(*at).is_some_and(|other| other.pattern.includes(one.sample));
                found.extend(covers.then_some(*at));
            }
        }
        found.sort_unstable();
        found
    }
}

impl Gram {
    fn of(octets: &[u8; 3]) -> Self {
        let [a, b, c] = octets.map(usize::from);
        Self((a * 31 * 31 + b * 31 + c) % 1024)
    }
}

impl Grams {
    fn of(text: &[u8]) -> Self {
        let mut grams = [0; 16];
        for row in text.windows(3) {
            if let Some(Gram(at)) = row.first_chunk().map(Gram::of) {
                grams[at / 64] |= 1 << (at % 64);
            }
        }
        Self(grams)
    }

    fn contains(&self, Gram(at): Gram) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}

const MOST_OF_A_CODE: usize = 25;

#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<&'static str, usize>,
}

impl Findings {
    pub(super) fn add(&mut self, at: Spot, finding: Diagnostic) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= MOST_OF_A_CODE {
            self.kept.push(finding.at(at.line, at.column));
        }
    }

    /// Adds a note with its repair.
    pub(super) fn note(&mut self, at: Spot, code: &'static str, message: String, help: &str) {
        self.add(at, Diagnostic::note(code, message).help(help));
    }

    /// Adds a warning with its repair.
    pub(super) fn warn(&mut self, at: Spot, code: &'static str, message: String, help: &str) {
        self.add(at, Diagnostic::warning(code, message).help(help));
    }

    /// The findings that were kept, and a note for each code with more.
    pub(super) fn into_vec(mut self) -> Vec<Diagnostic> {
        for (code, count) in self.counts {
            if let Some(more) = count.checked_sub(MOST_OF_A_CODE).filter(|more| *more > 0) {
                let message = format!("{more} more findings '{code}' are not listed");
                self.kept.push(Diagnostic::note("lint.more_findings", message));
            }
        }
        self.kept
    }
}
