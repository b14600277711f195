//! A request as the rules judge it.

use crate::{
    formats::robots::Target,
    rules::crawlers::{Claim, Class, Name, Standing},
};

use super::knowledge::Knowledge;

/// A request as the rules judge it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'r, 'a> {
    /// What its User-Agent claims.
    pub claim: &'r Claim<'r>,
    /// Whether the client sends no usable User-Agent. Such a client is bound by `*` where the site
    /// says so; a client with an unknown User-Agent is not.
    pub is_nameless: bool,
    /// The requested target.
    pub target: &'a Target<'a>,
}

impl Case<'_, '_> {
    /// The standing of one of the client's names.
    pub(super) fn standing(&self, name: Name<'_>, knowledge: &impl Knowledge) -> Standing {
        let known = name.known().filter(|crawler| !self.claim.is_borrowed(crawler));
        known.map_or(Standing::UNVERIFIABLE, |known| knowledge.standing(known))
    }

    /// The class of a client that `*` can bind without a name: one without a User-Agent, or an app.
    pub(super) fn nameless(&self) -> Option<Class> {
        match self.claim.class() {
            Class::None => self.is_nameless.then_some(Class::None),
            class => (class == Class::App).then_some(class),
        }
    }
}
