//! `Signature-Input` and `Signature` to signatures (RFC 9421 §4).

use sfv::{BareItem, Dictionary, InnerList, ListEntry, ListSerializer, Parameters};

use super::{
    agent::{self, AgentUrl},
    component::{self, Component, Source},
    fields,
    message::{Fields, Message},
    reason::Reason,
};

/// The tag of the signatures by which crawlers say who they are.
const TAG: &str = "web-bot-auth";
/// The most signatures of one message that are looked at, of every tag.
const MAX_SIGNATURES: usize = 4;

/// What a request says of its sender by signatures.
#[derive(Clone, Debug)]
pub enum Reading {
    /// There is no signature of Web Bot Auth: nothing is said.
    Unsigned,
    /// There is at least one, and none that could be verified.
    Invalid(Reason),
    /// Those that are worth verifying, in order. Each is judged by itself, so others beside them
    /// that are malformed are left out.
    Signed(Vec<Signature>),
}

/// A signature, read and complete, not verified.
#[derive(Clone, Debug)]
pub struct Signature {
    label: String,
    created: i64,
    expires: i64,
    key_id: String,
    alg: Option<String>,
    nonce: Option<String>,
    agent: Result<AgentUrl, Reason>,
    pub(super) components: Vec<Component>,
    /// The value of `@signature-params`: the inner list and its parameters, serialised.
    pub(super) parameters: String,
    pub(super) value: Vec<u8>,
}

/// Reads the signatures of a request. A request without `Signature-Input` costs one look for it.
pub fn read(message: &Message<'_>) -> Reading {
    let members = match inputs(message.fields, TAG) {
        Ok(members) if members.is_empty() => return Reading::Unsigned,
        Ok(members) => members,
        Err(reason) => return Reading::Invalid(reason),
    };
    match read_all(message, &members) {
        Ok(signatures) => Reading::Signed(signatures),
        Err(reason) => Reading::Invalid(reason),
    }
}

fn read_all(
    message: &Message<'_>,
    members: &[(String, InnerList)],
) -> Result<Vec<Signature>, Reason> {
    let values = values(message.fields)?;
    let agents = fields::value(message.fields, agent::FIELD)?;
    let agents = agents.map(|value| agent::Field::read(&value)).transpose();
    let mut signatures = Vec::with_capacity(members.len());
    let mut refused = None;
    for (label, list) in members {
        let signature = Signature::read(label, list, &values).and_then(|mut signature| {
            signature.find_agent(agents.as_ref().map(Option::as_ref).map_err(|error| *error))?;
            Ok(signature)
        });
        match signature {
            Ok(signature) => signatures.push(signature),
            Err(reason) => refused = refused.or(Some(reason)),
        }
    }
    match refused {
        Some(reason) if signatures.is_empty() => Err(reason),
        _ => Ok(signatures),
    }
}

/// The members of `Signature-Input` with this tag.
pub(super) fn inputs(fields: &dyn Fields, tag: &str) -> Result<Vec<(String, InnerList)>, Reason> {
    let Some(value) = fields::value(fields, "signature-input")? else { return Ok(Vec::new()) };
    let members = fields::dictionary(&value, Reason::SignatureInputUnreadable)?;
    if members.len() > MAX_SIGNATURES {
        return Err(Reason::TooManySignatures);
    }
    let mut ours = Vec::new();
    for (label, member) in members {
        match member {
            ListEntry::InnerList(list) if string(&list.params, "tag") == Some(tag) => {
                ours.push((label.as_str().to_owned(), list));
            }
            ListEntry::InnerList(_) => {}
            ListEntry::Item(_) => return Err(Reason::SignatureInputUnreadable),
        }
    }
    Ok(ours)
}

/// The members of `Signature`.
pub(super) fn values(fields: &dyn Fields) -> Result<Dictionary, Reason> {
    let value = fields::value(fields, "signature")?.ok_or(Reason::SignatureValueUnreadable)?;
    fields::dictionary(&value, Reason::SignatureValueUnreadable)
}

impl Signature {
    /// Reads one, without its agent.
    pub(super) fn read(label: &str, list: &InnerList, values: &Dictionary) -> Result<Self, Reason> {
        let value = match values.get(label) {
            Some(ListEntry::Item(item)) => item.bare_item.as_byte_sequence(),
            _ => None,
        };
        let value = value.ok_or(Reason::SignatureValueUnreadable)?.to_vec();
        let (created, expires) = (time(&list.params, "created"), time(&list.params, "expires"));
        let key_id = string(&list.params, "keyid").ok_or(Reason::MissingFields)?.to_owned();
        let created = created.ok_or(Reason::MissingFields)?;
        let expires = expires.ok_or(Reason::MissingFields)?;
        if expires <= created {
            return Err(Reason::BadWindow);
        }
        let alg = match list.params.get("alg") {
            None => None,
            Some(BareItem::String(alg)) if alg.as_str().starts_with("hmac") => {
                return Err(Reason::HmacForbidden);
            }
            Some(BareItem::String(alg)) => Some(alg.as_str().to_owned()),
            Some(_) => return Err(Reason::SignatureInputUnreadable),
        };
        Ok(Self {
            label: label.to_owned(),
            created,
            expires,
            key_id,
            alg,
            nonce: string(&list.params, "nonce").map(str::to_owned),
            agent: Err(Reason::SignatureAgentAbsent),
            components: component::all(list)?,
            parameters: inner_list(list),
            value,
        })
    }

    /// Holds the signature to what Web Bot Auth demands of it, and finds its agent.
    fn find_agent(&mut self, field: Result<Option<&agent::Field>, Reason>) -> Result<(), Reason> {
        let is_target = |c: &Component| matches!(c.source, Source::Authority | Source::TargetUri);
        if !self.components.iter().any(is_target) {
            return Err(Reason::TargetNotCovered);
        }
        // A signature without an agent can still be right; it only says nothing of the signer.
        let Some(field) = field? else { return Ok(()) };
        self.agent = match field.agent(&self.label, &self.components) {
            Err(reason) if reason != Reason::SignatureAgentParameters => return Err(reason),
            agent => agent,
        };
        Ok(())
    }

    /// The label: the member of the three fields that belongs to this signature.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// When it was made, in seconds since 1970.
    pub fn created(&self) -> i64 {
        self.created
    }

    /// From when on it counts no more, in seconds since 1970.
    pub fn expires(&self) -> i64 {
        self.expires
    }

    /// The name of the key: its thumbprint (RFC 7638), in base64url.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The algorithm, where it is named.
    pub fn alg(&self) -> Option<&str> {
        self.alg.as_deref()
    }

    /// What the signer made unique, if it did.
    pub fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }

    /// Where the signer's keys are published.
    ///
    /// # Errors
    /// [`Reason::SignatureAgentAbsent`] or [`Reason::SignatureAgentParameters`] where nothing says
    /// so. The signature cannot be verified then.
    pub fn agent(&self) -> Result<&AgentUrl, Reason> {
        self.agent.as_ref().map_err(|reason| *reason)
    }

    /// The identifiers of the covered components, as they are signed: `"@authority"`.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.components.iter().map(|component| component.identifier.as_str())
    }
}

/// An inner list as the one member of a list is written.
fn inner_list(list: &InnerList) -> String {
    let mut written = String::with_capacity(256);
    let mut outer = ListSerializer::with_buffer(&mut written);
    let mut inner = outer.inner_list();
    inner.items(&list.items);
    let _ = inner.finish().parameters(&list.params).finish();
    written
}

fn string<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p str> {
    Some(parameters.get(name)?.as_string()?.as_str())
}

/// A time in seconds; an Integer, not a Date (RFC 9421 §2.3).
fn time(parameters: &Parameters, name: &str) -> Option<i64> {
    Some(i64::from(parameters.get(name)?.as_integer()?))
}
