//! The `block` of an enforcement: the answer to a refused request.

use crate::{base::escape::shown, rules::keys};

use super::{block_fields, findings::Findings, http_fields::HttpFields, shape::At};

/// The answer to a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The status code: 401, 402, 403, 404, 410, 429 or 451 (default 403).
    pub status: u16,
    /// Further fields, none of which frames the message or lets a cache keep it.
    pub fields: HttpFields,
    /// The `Content-Type` of the body (default `text/plain; charset=utf-8`).
    pub content_type: String,
    /// The body.
    pub body: Template,
    /// The body for a proven impostor, which is refused without a rule.
    pub impostor_body: Template,
    /// The body for another form of a closed path: the operator's if it shows the form, else the
    /// default, because the rule says nothing about the path as written.
    pub form_body: Template,
    /// The `Content-Type` of that body.
    pub form_content_type: String,
}

/// A text with slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(pub Vec<Piece>);

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// A value of the refusal.
    Slot(Slot),
}

/// A value that a [`Template`] can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `{product_token}`: the crawler's name.
    ProductToken,
    /// `{rule}`: the rule as robots.txt has it, `Disallow: /private/`.
    Rule,
    /// `{line}`: the rule's line in robots.txt.
    Line,
    /// `{robots_txt}`: the URL of robots.txt.
    RobotsTxt,
    /// `{id}`: the id of the decision, as in the records.
    Id,
    /// `{host}`: the requested host.
    Host,
    /// `{path}`: the requested path.
    Path,
    /// `{form}`: the form of the path that the rule closes.
    Form,
}

/// The default `Content-Type`.
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

/// The default body for other forms of closed paths.
const DEFAULT_FORM_BODY: &str = "\
{product_token} is not allowed to fetch this page.

The rules of {host} allow this path as it is written. But the server may read it as
  {form}
and the rules disallow that:
  {rule}
  (line {line} of {robots_txt})

Decision {id}
";

const SLOTS: [(&str, Slot); 8] = [
    ("product_token", Slot::ProductToken),
    ("rule", Slot::Rule),
    ("line", Slot::Line),
    ("robots_txt", Slot::RobotsTxt),
    ("id", Slot::Id),
    ("host", Slot::Host),
    ("path", Slot::Path),
    ("form", Slot::Form),
];

impl Default for Block {
    fn default() -> Self {
        let template =
            |text| parse_template(text).expect("the default bodies have known slots only");
        Self {
            status: 403,
            fields: HttpFields::new(),
            content_type: DEFAULT_TYPE.to_owned(),
            body: template(DEFAULT_BODY),
            impostor_body: template(DEFAULT_IMPOSTOR_BODY),
            form_body: template(DEFAULT_FORM_BODY),
            form_content_type: DEFAULT_TYPE.to_owned(),
        }
    }
}

/// Reads the section into `block`; a value that it leaves out stays.
pub(super) fn read(at: &At<'_>, block: &mut Block, findings: &mut Findings) {
    let Some(fields) = at.fields(&keys::BLOCK, findings) else { return };
    if let Some(at) = fields.take("status") {
        match at.integer(100..=599, findings) {
            Some(status @ (401..=404 | 410 | 429 | 451)) => {
                block.status = u16::try_from(status).unwrap_or(block.status);
            }
            Some(other) => findings.refuse(
                &at,
                format!("{other} does not tell a crawler that it is refused"),
                "write 401, 402, 403, 404, 410, 429 or 451",
            ),
            None => {}
        }
    }
    if let Some(at) = fields.take("fields") {
        block.fields = block_fields::read(&at, findings);
    }
    let has = |name: &str| block.fields.iter().any(|(other, _)| other == name);
    if block.status == 429 && !has("retry-after") {
        block.fields.push(("retry-after".to_owned(), RETRY_AFTER.to_owned()));
    } else if block.status == 401 && !has("www-authenticate") {
        let message = "401 without WWW-Authenticate is no answer (RFC 9110 §15.5.2)";
        let help = "add 'fields: { WWW-Authenticate: License }', or write 403";
        findings.refuse(&at.child("status"), message, help);
    }
    if let Some((at, text)) =
        fields.take("content_type").and_then(|at| at.text(findings).map(|text| (at, text)))
    {
        if text.is_empty() || text.bytes().any(|b| !(b' '..=b'~').contains(&b)) {
            findings.refuse(
                &at,
                "not a header value",
                "write for example text/html; charset=utf-8",
            );
        } else {
            block.content_type = text.to_owned();
        }
    }
    if let Some((at, text)) =
        fields.take("body").and_then(|at| at.text(findings).map(|text| (at, text)))
    {
        match parse_template(text) {
            Ok(body) => {
                block.impostor_body = body.clone();
                if body.0.contains(&Piece::Slot(Slot::Form)) {
                    block.form_body = body.clone();
                    block.form_content_type.clone_from(&block.content_type);
                }
                block.body = body;
            }
            Err(slot) => {
                let known: Vec<String> =
                    SLOTS.iter().map(|(name, _)| format!("{{{name}}}")).collect();
                let message = format!("unknown slot '{{{}}}'", shown(&slot));
                findings.refuse(&at, message, format!("the slots are {}", known.join(", ")));
            }
        }
    }
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
        if let Some(after) = after.strip_prefix(brace) {
            literal.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            literal.push_str(brace);
            rest = after;
            continue;
        }
        let Some((name, after)) = after.split_once('}') else {
            return Err(after.chars().take(20).collect());
        };
        let slot = SLOTS.iter().find(|(known, _)| *known == name).map(|(_, slot)| *slot);
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Slot(slot.ok_or_else(|| name.to_owned())?));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
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
