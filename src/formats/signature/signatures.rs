//! The signatures of a request, from `Signature-Input` and `Signature` (RFC 9421 §4).

use sfv::{BareItem, Dictionary, InnerList, ListEntry, ListSerializer, Parameters};

use super::{
    agent::{self, AgentUrl},
    fields::{self, Fields, Message},
    reason::Reason,
    signature_base::{self, Component, Source},
};

const TAG: &str = "web-bot-auth";
/// The most signatures of a request, with any tag.
const MAX_SIGNATURES: usize = 4;

/// The Web Bot Auth signatures of a request.
#[derive(Clone, Debug)]
pub enum Signatures {
    /// The request has no such signature.
    Unsigned,
    /// The request has such signatures, but all are malformed.
    Invalid(Reason),
    /// The well-formed signatures, in order. The caller verifies each by itself.
    Signed(Vec<Signature>),
}

/// A well-formed signature, not verified.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name of this signature's member in the three fields.
    label: String,
    pub(super) created: i64,
    pub(super) expires: i64,
    pub(super) key_id: String,
    pub(super) alg: Option<String>,
    agent: Result<AgentUrl, Reason>,
    pub(super) components: Vec<Component>,
    /// The value of `@signature-params`: the inner list and its parameters, serialised.
    pub(super) parameters: String,
    pub(super) value: Vec<u8>,
}

/// A member of `Signature-Input`.
pub(super) struct Input {
    label: String,
    list: InnerList,
}

/// Reads the signatures of a request. A request without `Signature-Input` costs one lookup.
pub fn read(message: &Message<'_>) -> Signatures {
    let read = inputs(message.fields, TAG).and_then(|inputs| match inputs.is_empty() {
        true => Ok(Signatures::Unsigned),
        false => read_all(message, &inputs).map(Signatures::Signed),
    });
    read.unwrap_or_else(Signatures::Invalid)
}

fn read_all(message: &Message<'_>, inputs: &[Input]) -> Result<Vec<Signature>, Reason> {
    let values = values(message.fields)?;
    let agents = fields::value(message.fields, agent::FIELD)?;
    let agents = agents.map(|value| agent::Field::read(&value)).transpose();
    let mut signatures = Vec::with_capacity(inputs.len());
    let mut refused = None;
    for input in inputs {
        let signature = Signature::read(input, &values).and_then(|mut signature| {
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
pub(super) fn inputs(fields: &dyn Fields, tag: &str) -> Result<Vec<Input>, Reason> {
    let Some(value) = fields::value(fields, "signature-input")? else { return Ok(Vec::new()) };
    let members = fields::dictionary(&value, Reason::SignatureInputUnreadable)?;
    if members.len() > MAX_SIGNATURES {
        return Err(Reason::TooManySignatures);
    }
    let mut inputs = Vec::new();
    for (label, member) in members {
        match member {
            ListEntry::InnerList(list) if string(&list.params, "tag") == Some(tag) => {
                inputs.push(Input { label: label.as_str().to_owned(), list });
            }
            ListEntry::InnerList(_) => {}
            ListEntry::Item(_) => return Err(Reason::SignatureInputUnreadable),
        }
    }
    Ok(inputs)
}

pub(super) fn values(fields: &dyn Fields) -> Result<Dictionary, Reason> {
    let value = fields::value(fields, "signature")?.ok_or(Reason::SignatureValueUnreadable)?;
    fields::dictionary(&value, Reason::SignatureValueUnreadable)
}

impl Signature {
    /// Reads a signature without its agent.
    pub(super) fn read(Input { label, list }: &Input, values: &Dictionary) -> Result<Self, Reason> {
        let value = match values.get(label.as_str()) {
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
            label: label.clone(),
            created,
            expires,
            key_id,
            alg,
            agent: Err(Reason::SignatureAgentAbsent),
            components: signature_base::all(list)?,
            parameters: inner_list(list),
            value,
        })
    }

    /// Checks the requirements of Web Bot Auth, and finds the agent.
    fn find_agent(&mut self, field: Result<Option<&agent::Field>, Reason>) -> Result<(), Reason> {
        let is_target = |c: &Component| matches!(c.source, Source::Authority | Source::TargetUri);
        if !self.components.iter().any(is_target) {
            return Err(Reason::TargetNotCovered);
        }
        // A signature without an agent can be right; it only does not identify the signer.
        let Some(field) = field? else { return Ok(()) };
        self.agent = match field.agent(&self.label, &self.components) {
            Err(reason) if reason != Reason::SignatureAgentParameters => return Err(reason),
            agent => agent,
        };
        Ok(())
    }

    /// Whether some key could verify it: its key id is a thumbprint, and its value is as long as those
    /// of a supported algorithm. No key could verify any other.
    pub(crate) fn is_plausible(&self) -> bool {
        let (is_ed25519, is_rsa) =
            (self.value.len() == 64, (256..=1024).contains(&self.value.len()));
        let is_thumbprint = self.key_id.len() == 43
            && self.key_id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        is_thumbprint
            && match self.alg.as_deref() {
                None => is_ed25519 || is_rsa,
                Some("ed25519") => is_ed25519,
                Some("rsa-pss-sha512") => is_rsa,
                Some(_) => false,
            }
    }

    /// The time of its creation, in seconds since 1970.
    pub fn created(&self) -> i64 {
        self.created
    }

    /// The id of the key: its thumbprint (RFC 7638), in base64url.
    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The agent, whose URL leads to the signer's keys.
    ///
    /// # Errors
    /// [`Reason::SignatureAgentAbsent`] or [`Reason::SignatureAgentParameters`]. Then no verification
    /// is possible.
    pub fn agent(&self) -> Result<&AgentUrl, Reason> {
        self.agent.as_ref().map_err(|reason| *reason)
    }

    /// The identifiers of the covered components, as signed: `"@authority"`.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.components.iter().map(|component| component.identifier.as_str())
    }
}

/// An inner list, serialised as the only member of a list.
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

/// A time in seconds: an Integer, not a Date (RFC 9421 §2.3).
fn time(parameters: &Parameters, name: &str) -> Option<i64> {
    Some(i64::from(parameters.get(name)?.as_integer()?))
}
