//! The `block` of an enforcement: the answer to a refused request.

use crate::base::{escape::shown, text::words};

use super::{
    fields::Fields,
    http_fields::{self, HttpFields},
    shape::At,
};

/// The answer to a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub(crate) status: u16,
    /// Further fields, none of which frames the message or lets a cache keep it.
    pub(crate) fields: HttpFields,
    pub(crate) content_type: String,
    pub(crate) body: Template,
    /// The body for a proven impostor, which is refused without a rule.
    pub(crate) impostor_body: Template,
    /// The body for another form of a closed path: the operator's if it shows the form, else the
    /// default, because the rule says nothing about the path as written.
    pub(crate) form_body: Template,
    pub(crate) form_content_type: String,
}

/// A text with slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Slot(Slot),
}

words! {
    /// A value that a [`Template`] can show, as its slot names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Slot {
        ProductToken = "product_token",
        /// The rule as robots.txt has it, `Disallow: /private/`.
        Rule = "rule",
        Line = "line",
        RobotsTxt = "robots_txt",
        /// The id of the decision, as in the records.
        Id = "id",
        Host = "host",
        Path = "path",
        /// The form of the path that the rule closes.
        Form = "form",
    }
}

const DEFAULT_TYPE: &str = "text/plain; charset=utf-8";

/// The `Retry-After` of a 429: as long, a crawler may use its copy of the rules (RFC 9309 §2.4).
const RETRY_AFTER: &str = "86400";

const DEFAULT_BODY: &str = "\
{product_token} is not allowed to fetch this page.

The rules of {host} disallow it:
  {rule}
  (line {line} of {robots_txt})

Decision {id}
";

const DEFAULT_IMPOSTOR_BODY: &str = "\
The User-Agent of this request says that it comes from {product_token}. What the
operator of {product_token} publishes says that it does not.

Decision {id}
";

const DEFAULT_FORM_BODY: &str = "\
{product_token} is not allowed to fetch this page.

The rules of {host} allow this path as it is written. But the server may read it as
  {form}
and the rules disallow that:
  {rule}
  (line {line} of {robots_txt})

Decision {id}
";

pub(super) fn read(section: &Fields<'_>) -> Block {
    let status = section.get_with("status", status);
    let mut fields =
        section.read("fields", |at| Some(http_fields::of_refusal(at))).unwrap_or_default();
    let has = |name: &str| fields.iter().any(|(other, _)| other == name);
    if status == 429 && !has("retry-after") {
        fields.push(("retry-after".to_owned(), RETRY_AFTER.to_owned()));
    } else if status == 401 && !has("www-authenticate") {
        let message = "401 without WWW-Authenticate is no answer (RFC 9110 §15.5.2)";
        let help = "add 'fields: { WWW-Authenticate: License }', or write 403";
        section.at.child("status").refuse(message, help);
    }
    let content_type = section.get_with("content_type", content_type);
    let own = section.read("body", template);
    let shows_form = |body: &Template| body.0.contains(&Piece::Slot(Slot::Form));
    let own_for_forms = own.clone().filter(shows_form);
    let form_content_type = match own_for_forms {
        Some(_) => content_type.clone(),
        None => DEFAULT_TYPE.to_owned(),
    };
    let or_default = |body: Option<Template>, text| {
        let default = || parse_template(text).expect("the default bodies have known slots only");
        body.unwrap_or_else(default)
    };
    Block {
        status,
        fields,
        content_type,
        impostor_body: or_default(own.clone(), DEFAULT_IMPOSTOR_BODY),
        body: or_default(own, DEFAULT_BODY),
        form_body: or_default(own_for_forms, DEFAULT_FORM_BODY),
        form_content_type,
    }
}

fn status(at: &At<'_>) -> Option<u16> {
    let help = "write 401, 402, 403, 404, 410, 429 or 451";
    at.number("does not tell a crawler that it is refused", help)
}

fn content_type(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    if text.is_empty() || text.bytes().any(|b| !(b' '..=b'~').contains(&b)) {
        return at.refused("not a header value", "write for example text/html; charset=utf-8");
    }
    Some(text.to_owned())
}

fn template(at: &At<'_>) -> Option<Template> {
    let refuse = |slot: String| {
        let known: Vec<String> = Slot::ALL.map(|slot| format!("{{{}}}", slot.as_str())).into();
        let message = format!("unknown slot '{{{}}}'", shown(&slot));
        at.refuse(message, format!("the slots are {}", known.join(", ")));
    };
    parse_template(at.text()?).map_err(refuse).ok()
}

/// Reads a text with `{slots}`; `{{` and `}}` stand for one brace. `Err` is the name of an unknown
/// slot.
fn parse_template(text: &str) -> Result<Template, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        let doubled = after.strip_prefix(brace);
        if doubled.is_some() || brace == "}" {
            literal.push_str(brace);
            rest = doubled.unwrap_or(after);
            continue;
        }
        let Some((name, after)) = after.split_once('}') else {
            return Err(after.chars().take(20).collect());
        };
        pieces.push(Piece::Text(std::mem::take(&mut literal)));
        pieces.push(Piece::Slot(Slot::from_word(name).ok_or_else(|| name.to_owned())?));
        rest = after;
    }
    pieces.push(Piece::Text(literal + rest));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Ok(Template(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_text_and_known_slots() {
        let text = |t: &str| Piece::Text(t.to_owned());
        for (template, expected) in [
            ("plain", Ok(vec![text("plain")])),
            ("a {id} b", Ok(vec![text("a "), Piece::Slot(Slot::Id), text(" b")])),
            ("{host}{path}", Ok(vec![Piece::Slot(Slot::Host), Piece::Slot(Slot::Path)])),
            ("{{literal}} {x}}", Err("x".to_owned())),
            ("{{literal}} } {{", Ok(vec![text("{literal} } {")])),
            ("", Ok(vec![])),
            ("{nobody}", Err("nobody".to_owned())),
            ("{open", Err("open".to_owned())),
        ] {
            assert_eq!(parse_template(template), expected.map(Template), "{template:?}");
        }
    }
}
