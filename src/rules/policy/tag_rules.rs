//! The `robots_tag` section: the tags of answers.

use crate::{
    base::{escape::shown, product_token::ProductToken},
    formats::{
        robots,
        robots_tag::{self, InvalidRule, RobotsTag, Rule, Scope},
    },
};

use super::{
    fields::Fields,
    findings::closest,
    names::Names,
    pattern,
    shape::At,
    yaml::{Node, Spot, Value},
};

/// One entry of the `robots_tag` section.
#[derive(Clone, Debug)]
pub struct TagRule {
    pub(crate) paths: Vec<robots::Pattern>,
    pub(crate) content_types: Vec<MediaRange>,
    pub(crate) statuses: Vec<StatusRange>,
    pub(crate) tag: RobotsTag,
    pub(crate) spot: Spot,
    pub(crate) path_spots: Vec<Spot>,
}

/// `type/subtype` or `type/*`, lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRange {
    pub(crate) main: String,
    /// The subtype; `None` is any.
    pub(crate) sub: Option<String>,
}

/// A range of status codes, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRange {
    pub(crate) from: u16,
    pub(crate) to: u16,
}

/// Reads the list. All entries together must fit into the longest field that crawlers must read.
pub(super) fn read(fields: &Fields<'_>, names: &Names<'_>) -> Vec<TagRule> {
    let Some(at) = fields.take("robots_tag") else { return Vec::new() };
    let rules = fields.each("robots_tag", |item| tag_rule(item, names));
    let all = rules.iter().fold(RobotsTag::new(), |all, rule| all.union(&rule.tag));
    let length = all.field_len();
    if length > robots_tag::MAX_BYTES {
        let message = format!("together the tags would have {length} bytes");
        let help = format!(
            "stay within {} bytes (draft-illyes-repext-03 section 3.1.1): use '*' instead of many \
             product tokens",
            robots_tag::MAX_BYTES
        );
        at.refuse_as("policy.robots_tag_too_long", message, help);
    }
    for finding in all.unsayable_in_legacy() {
        at.add(finding);
    }
    rules
}

fn tag_rule(at: &At<'_>, names: &Names<'_>) -> Option<TagRule> {
    let fields = at.fields()?;
    let rules = fields.require("rules", "write 'rules: { \"*\": [noindex] }'");
    let paths = fields.each("paths", |at| Some((path(at)?, at.node.spot)));
    let (paths, path_spots) = paths.into_iter().unzip();
    Some(TagRule {
        paths,
        content_types: fields.each("content_types", media_range),
        statuses: fields.each("statuses", status_range),
        tag: tag(&rules?, names),
        spot: at.node.spot,
        path_spots,
    })
}

pub(super) fn path(at: &At<'_>) -> Option<robots::Pattern> {
    at.accepted(robots::Pattern::new(pattern::read(at)?))
}

/// The rules by crawler, which `user_agents` names in the same way.
fn tag(at: &At<'_>, names: &Names<'_>) -> RobotsTag {
    let mut tag = RobotsTag::new();
    for (key, at) in at.entries() {
        let value = Value::Text(key.text.clone());
        let name = Node { value, spot: key.spot };
        let selected = names.selected(&[At { node: &name, ..at.clone() }]);
        if selected.star.is_none() && selected.named.is_empty() {
            continue;
        }
        let tokens: Vec<ProductToken> = selected.tokens();
        let scopes = selected.star.map(|_| Scope::Any).into_iter();
        let scopes: Vec<Scope> = scopes.chain(tokens.into_iter().map(Scope::Token)).collect();
        for rule in at.items().iter().filter_map(rule) {
            scopes.iter().for_each(|scope| tag.add(scope.clone(), rule.clone()));
        }
    }
    tag
}

fn rule(at: &At<'_>) -> Option<Rule> {
    let text = at.text()?;
    let rule = match Rule::new(text) {
        Ok(rule) => rule,
        Err(invalid) => {
            let message = format!("'{}' is not a rule", shown(text));
            return at.refused_as("policy.bad_tag_rule", message, repair(&invalid));
        }
    };
    if !rule.is_known() {
        let known = robots_tag::known_rules().iter().map(|known| known.name);
        let help = closest(rule.name(), known).map_or_else(
            || "'beadle tags --rules' lists what crawlers document".to_owned(),
            |name| format!("did you mean '{name}'?"),
        );
        let message = format!("no crawler documents the rule '{}'", shown(text));
        at.warn("policy.unknown_tag_rule", message, help);
    }
    Some(rule)
}

fn repair(invalid: &InvalidRule) -> String {
    match invalid {
        InvalidRule::Name => "write a name such as noindex, in letters, digits, '_' and '-'".into(),
        InvalidRule::NotPrintable => "write it in printable ASCII on one line".into(),
        InvalidRule::ValueNotTaken => "leave the value out".into(),
        InvalidRule::ValueMissing(kind) | InvalidRule::ValueKind(kind) => {
            format!("give it {}", value_words(*kind))
        }
    }
}

fn value_words(kind: robots_tag::ValueKind) -> String {
    match kind {
        robots_tag::ValueKind::None => "no value".into(),
        robots_tag::ValueKind::Number => "a number, for example max-snippet=20".into(),
        robots_tag::ValueKind::Choice(words) => format!("one of {}", words.join(", ")),
        robots_tag::ValueKind::Date => "a date, for example unavailable_after=2030-01-01".into(),
    }
}

fn media_range(at: &At<'_>) -> Option<MediaRange> {
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let parse = |text: &str| {
        let (main, sub) = text.split_once('/')?;
        let is_range = is_token(main) && (sub == "*" || is_token(sub));
        is_range.then(|| MediaRange {
            main: main.to_ascii_lowercase(),
            sub: (sub != "*").then(|| sub.to_ascii_lowercase()),
        })
    };
    let help = "write for example application/pdf or image/*";
    at.parsed(parse, "is not a media type", help)
}

fn status_range(at: &At<'_>) -> Option<StatusRange> {
    match &at.node.value {
        Value::Integer(code @ 200..=599) => {
            let code = u16::try_from(*code).ok()?;
            return Some(StatusRange { from: code, to: code });
        }
        Value::Text(text) => {
            let hundreds = text.strip_suffix("xx").and_then(|digit| digit.parse::<u16>().ok());
            if let Some(hundreds @ 2..=5) = hundreds {
                return Some(StatusRange { from: hundreds * 100, to: hundreds * 100 + 99 });
            }
        }
        _ => {}
    }
    at.refused("not a final status code", "write for example 404 or 4xx")
}
