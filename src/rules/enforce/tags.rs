//! The tags of a site's answers, by path, type and status, and their union with the origin's tags
//! (draft-illyes-repext-03 §3.1).

use std::{borrow::Cow, sync::OnceLock};

use crate::{
    formats::robots_tag::{self, RobotsTag},
    rules::policy::{MediaRange, StatusRange, TagRule},
};

/// The status of a response that refreshes a stored one of 2xx (RFC 9110 §13.2.1).
const NOT_MODIFIED: u16 = 304;

/// The most rules of a site whose pairs have a place.
const MOST_PAIRED: usize = 32;

/// The tag rules of a site.
#[derive(Debug)]
pub struct Tags {
    rules: Vec<Prepared>,
    /// The fields of an answer to which two rules apply, such as one of a path and one of a status.
    /// The places are of the rules 0 and 1, 0 and 2, 1 and 2, 0 and 3. The first such answer fills its
    /// place.
    pairs: Vec<OnceLock<TagFields>>,
    legacy: bool,
}

/// A rule with the fields of an answer to which it alone applies, which is the usual case.
#[derive(Debug)]
struct Prepared {
    rule: TagRule,
    fields: TagFields,
}

/// The fields of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagFields {
    pub(crate) robots_tag: Option<String>,
    /// The lines of `X-Robots-Tag`; `None` leaves the origin's as they are.
    pub(crate) x_robots_tag: Option<Vec<String>>,
}

/// The fields, and the repairs that they needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    pub(crate) fields: TagFields,
    pub(crate) invalid_lines: u32,
    /// Whether a part of the origin's tags exceeded
    /// [`robots_tag::MAX_BYTES`].
    pub(crate) truncated: bool,
}

impl Tags {
    pub(super) fn compile(rules: &[TagRule], legacy: bool) -> Self {
        let prepared = |rule: &TagRule| Prepared {
            rule: rule.clone(),
            fields: fields(&rule.tag, &RobotsTag::new(), legacy).0,
        };
        let pairs = (0..rules.len().min(MOST_PAIRED)).sum();
        Self {
            rules: rules.iter().map(prepared).collect(),
            pairs: std::iter::repeat_with(OnceLock::new).take(pairs).collect(),
            legacy,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The site's fields for an answer, if any. `path` is the judged form of the target
    /// ([`robots::Target::letter`](crate::formats::robots::Target::letter)).
    pub fn select(
        &self,
        path: &[u8],
        status: u16,
        content_type: Option<&[u8]>,
    ) -> Option<Cow<'_, TagFields>> {
        if self.is_untold(path, status, content_type) {
            return None;
        }
        let rules = self.rules.iter().enumerate();
        let mut matching =
            rules.filter(|(_, prepared)| prepared.applies(path, status, content_type));
        let (at, first) = matching.next()?;
        let Some((later, second)) = matching.next() else {
            return Some(Cow::Borrowed(&first.fields));
        };
        let third = matching.next();
        let pair = self.pairs.get(later * (later - 1) / 2 + at).filter(|_| third.is_none());
        let union = || {
            let pair = first.rule.tag.union(&second.rule.tag);
            let more = third.into_iter().chain(matching);
            let tag = more.fold(pair, |tag, (_, next)| tag.union(&next.rule.tag));
            fields(&tag, &RobotsTag::new(), self.legacy).0
        };
        Some(match pair {
            Some(pair) => Cow::Borrowed(pair.get_or_init(union)),
            None => Cow::Owned(union()),
        })
    }

    /// Whether a 304 does not tell the tags of the response that it refreshes: a rule may depend on the
    /// media type or the status of that one. A cache replaces its fields by those of the 304 (RFC 9111
    /// §3.2), so a part of the tags would drop the rest.
    fn is_untold(&self, path: &[u8], status: u16, content_type: Option<&[u8]>) -> bool {
        status == NOT_MODIFIED
            && self.rules.iter().any(|prepared| prepared.is_untold(path, content_type))
    }

    /// The union of the site's tags with the lines that the origin sent. An invalid line is not
    /// sent on, but its readable parts count. A 304 that does not tell its tags gets none, not even
    /// those of the origin.
    pub fn merge(
        &self,
        path: &[u8],
        status: u16,
        content_type: Option<&[u8]>,
        robots_tag: &[&[u8]],
        x_robots_tag: &[&[u8]],
    ) -> Merged {
        if self.is_untold(path, status, content_type) {
            let fields = TagFields { robots_tag: None, x_robots_tag: self.legacy.then(Vec::new) };
            return Merged { fields, ..Merged::default() };
        }
        let own = self
            .rules
            .iter()
            .filter(|prepared| prepared.applies(path, status, content_type))
            .fold(RobotsTag::new(), |tag, next| tag.union(&next.rule.tag));
        let mut invalid_lines = 0;
        let mut origin = RobotsTag::new();
        for line in robots_tag {
            let reading = robots_tag::read_leniently(line);
            invalid_lines += u32::from(!reading.valid);
            origin = origin.merge(reading.tag);
        }
        if !x_robots_tag.is_empty() {
            let reading = robots_tag::read_legacy_leniently(x_robots_tag);
            invalid_lines += u32::from(!reading.valid);
            origin = origin.merge(reading.tag);
        }
        let (fields, complete) = fields(&own, &origin, self.legacy);
        Merged { fields, invalid_lines, truncated: !complete }
    }
}

impl Prepared {
    fn applies(&self, path: &[u8], status: u16, content_type: Option<&[u8]>) -> bool {
        let TagRule { content_types, statuses, .. } = &self.rule;
        // A 304 is no response of its own: a rule for redirects is not about it.
        let is_of_status =
            |r: &StatusRange| status != NOT_MODIFIED && (r.from..=r.to).contains(&status);
        (statuses.is_empty() || statuses.iter().any(is_of_status))
            && (content_types.is_empty() || content_type.is_some_and(|t| self.takes_type(t)))
            && self.takes_path(path)
    }

    /// Whether the rule may apply to the response that a 304 refreshes, and the 304 does not tell.
    fn is_untold(&self, path: &[u8], content_type: Option<&[u8]>) -> bool {
        let TagRule { content_types, statuses, .. } = &self.rule;
        let is_of_success = statuses.iter().any(|r| r.from < 300);
        let is_type_open = !content_types.is_empty() && content_type.is_none();
        let depends = if statuses.is_empty() { is_type_open } else { is_of_success };
        let may_be_of_type =
            content_types.is_empty() || content_type.is_none_or(|t| self.takes_type(t));
        depends && may_be_of_type && self.takes_path(path)
    }

    fn takes_type(&self, content_type: &[u8]) -> bool {
        self.rule.content_types.iter().any(|range| is_in(content_type, range))
    }

    fn takes_path(&self, path: &[u8]) -> bool {
        let paths = &self.rule.paths;
        paths.is_empty() || paths.iter().any(|pattern| pattern.matches(path))
    }
}

/// Whether a `Content-Type` value is of a media range; parameters don't count (RFC 9110 §8.3).
fn is_in(content_type: &[u8], range: &MediaRange) -> bool {
    let essence = content_type.split(|&b| b == b';').next().unwrap_or_default().trim_ascii();
    let Some(slash) = essence.iter().position(|&b| b == b'/') else { return false };
    let (main, sub) = (&essence[..slash], &essence[slash + 1..]);
    main.eq_ignore_ascii_case(range.main.as_bytes())
        && range.sub.as_ref().is_none_or(|wanted| sub.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn fields(own: &RobotsTag, origin: &RobotsTag, legacy: bool) -> (TagFields, bool) {
    let union = own.union(origin);
    let field = union.to_field_keeping(own);
    let x_robots_tag = legacy.then(|| union.to_legacy());
    (TagFields { robots_tag: field.value, x_robots_tag }, field.complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::product_token::ProductToken,
        formats::{
            robots,
            robots_tag::{Rule, Scope},
        },
    };

    fn tag(scope: &str, rules: &[&str]) -> RobotsTag {
        let scope = ProductToken::new(scope).map_or(Scope::Any, Scope::Token);
        let mut tag = RobotsTag::new();
        rules.iter().for_each(|rule| tag.add(scope.clone(), Rule::new(rule).unwrap()));
        tag
    }

    fn site() -> Tags {
        let path = |text: &str| vec![robots::Pattern::new(text).unwrap()];
        let any = TagRule {
            paths: vec![],
            content_types: vec![],
            statuses: vec![],
            tag: tag("*", &["noindex"]),
            spot: crate::rules::policy::Spot::default(),
            path_spots: Vec::new(),
        };
        let rules = [
            TagRule { paths: path("/drafts/"), ..any.clone() },
            TagRule {
                paths: path("/drafts/old/"),
                tag: tag("Googlebot", &["noarchive"]),
                ..any.clone()
            },
            TagRule {
                content_types: vec![MediaRange {
                    main: "application".into(),
                    sub: Some("pdf".into()),
                }],
                tag: tag("*", &["nosnippet"]),
                ..any.clone()
            },
            TagRule { statuses: vec![StatusRange { from: 400, to: 499 }], ..any },
        ];
        Tags::compile(&rules, true)
    }

    fn sent(path: &str, status: u16, content_type: &str) -> Option<String> {
        site().select(path.as_bytes(), status, Some(content_type.as_bytes()))?.robots_tag.clone()
    }

    #[test]
    fn a_rule_applies_by_path_type_and_status() {
        assert!(!site().is_empty() && Tags::compile(&[], true).is_empty());
        assert_eq!(sent("/", 200, "text/html"), None);
        assert_eq!(sent("/drafts/a", 200, "text/html").as_deref(), Some("*;noindex"));
        assert_eq!(sent("/a", 404, "text/html").as_deref(), Some("*;noindex"));
        assert_eq!(sent("/a.pdf", 200, "Application/PDF; q=1").as_deref(), Some("*;nosnippet"));
        assert_eq!(
            sent("/drafts/old/a", 200, "text/html").as_deref(),
            Some("*;noindex, Googlebot;noarchive;noindex")
        );
    }

    #[test]
    fn rfc9111_3_2_a_304_never_drops_tags_of_the_response_that_it_refreshes() {
        let all = site();
        let path_rules: Vec<TagRule> =
            all.rules[..2].iter().map(|prepared| prepared.rule.clone()).collect();
        let by_path = Tags::compile(&path_rules, true);
        let status = |from, to| TagRule {
            statuses: vec![StatusRange { from, to }],
            ..all.rules[3].rule.clone()
        };
        let with = |rule: TagRule| Tags::compile(&[&path_rules[..], &[rule]].concat(), true);
        let pdf_below_x = TagRule {
            paths: vec![robots::Pattern::new("/x/").unwrap()],
            ..all.rules[2].rule.clone()
        };
        let [noindex, none] = [Some("*;noindex"), None];
        for (tags, content_type, expected) in [
            // The path alone tells.
            (&by_path, None, noindex),
            (&with(status(400, 499)), None, noindex),
            (&with(status(300, 399)), None, noindex),
            (&with(pdf_below_x), None, noindex),
            (&all, Some("text/html"), noindex),
            // The media type or the status counts, and the 304 does not have it.
            (&all, None, none),
            (&with(status(200, 299)), None, none),
            (&with(status(206, 206)), None, none),
            (&with(status(200, 200)), Some("text/html"), none),
        ] {
            let content_type = content_type.map(str::as_bytes);
            let found = tags.select(b"/drafts/a", 304, content_type);
            assert_eq!(found.as_ref().and_then(|one| one.robots_tag.as_deref()), expected);
            let merged = tags.merge(b"/drafts/a", 304, content_type, &[b"*;nofollow"], &[]).fields;
            let with_origin = expected.map(|_| "*;nofollow;noindex");
            assert_eq!(merged.robots_tag.as_deref(), with_origin);
            let lines = merged.x_robots_tag.expect("the field is set or removed");
            assert_eq!(lines.is_empty(), expected.is_none());
        }
        let own = with(status(200, 200));
        assert!(own.select(b"/drafts/a", 200, None).is_some(), "the 200 itself has them");
    }

    #[test]
    fn answers_under_any_rules_have_the_union_of_their_tags() {
        let any = site().rules[3].rule.clone();
        let names = ["noindex", "noarchive", "nosnippet", "nofollow"];
        let rule = |number: usize| TagRule {
            paths: vec![robots::Pattern::new(format!("/*{}", letter(number))).unwrap()],
            statuses: vec![],
            tag: tag("*", &[names[number % names.len()]]),
            ..any.clone()
        };
        let rules: Vec<TagRule> = (0..MOST_PAIRED + 3).map(rule).collect();
        let tags = Tags::compile(&rules, true);
        let numbers = 0..rules.len();
        for (first, second) in
            numbers.clone().flat_map(|one| numbers.clone().map(move |two| (one, two)))
        {
            let third = (first * second) % rules.len();
            for chosen in [&[first, second][..], &[first, second, third]] {
                let path: String = chosen.iter().map(|&number| letter(number)).collect();
                let union = chosen
                    .iter()
                    .fold(RobotsTag::new(), |tag, &number| tag.union(&rules[number].tag));
                let found = tags.select(format!("/{path}").as_bytes(), 200, None).unwrap();
                assert_eq!(*found, fields(&union, &RobotsTag::new(), true).0, "{chosen:?}");
            }
        }
    }

    /// A letter for each of many rules.
    fn letter(number: usize) -> char {
        ('A'..='Z').chain('a'..='z').nth(number).unwrap()
    }

    #[test]
    fn an_invalid_line_of_an_origin_is_read_and_not_sent_on() {
        let tags = site();
        let merge =
            |lines: &[&[u8]], legacy: &[&[u8]]| tags.merge(b"/drafts/a", 200, None, lines, legacy);
        let merged = merge(&[b"*;nosnippet", b"NoArchive,"], &[b"googlebot: nofollow"]);
        let fields = merged.fields;
        assert_eq!(merged.invalid_lines, 1);
        assert_eq!(
            fields.robots_tag.as_deref(),
            Some("*;noarchive;noindex;nosnippet, googlebot;noarchive;nofollow;noindex;nosnippet")
        );
        assert_eq!(
            fields.x_robots_tag,
            Some(vec![
                "noarchive, noindex, nosnippet".to_owned(),
                "googlebot: nofollow".to_owned()
            ])
        );
    }
}
