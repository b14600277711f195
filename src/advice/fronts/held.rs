//! The findings that hold at the fronts of one site, and who met them.

use std::{collections::BTreeMap, fmt};

use super::{
    finding::Finding,
    question::{Asker, Question},
    repairs,
};

/// The findings that hold: by target, with the one who met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(BTreeMap<(String, Asker), Finding>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) site: String,
    pub(crate) target: String,
    pub(crate) askers: Vec<String>,
    /// What the first of them met.
    pub(crate) finding: Finding,
}

impl Held {
    /// Takes what the answer to a question says, in place of what the one before said.
    pub(crate) fn take(&mut self, question: &Question, finding: Option<Finding>) {
        let key = (question.target.clone(), question.asker.clone());
        match finding {
            Some(finding) => drop(self.0.insert(key, finding)),
            None => drop(self.0.remove(&key)),
        }
    }

    /// Forgets what is not asked any more: other targets of those who asked in this round, and crawlers
    /// that never ask again.
    pub(crate) fn forget(&mut self, round: &[Question], crawlers: &[String]) {
        self.0.retain(|(target, asker), _| {
            let mut own = round.iter().filter(|one| one.asker == *asker).peekable();
            match asker {
                Asker::Crawler(token) if !crawlers.contains(token) => false,
                _ => own.peek().is_none() || own.any(|one| one.target == *target),
            }
        });
    }

    /// All of them, of this site: one for each kind and target.
    pub(crate) fn troubles(&self, site: &str) -> Vec<Trouble> {
        let mut all: Vec<Trouble> = Vec::new();
        for ((target, asker), finding) in &self.0 {
            let (site, target, asker) = (site.to_owned(), target.clone(), asker.to_string());
            let trouble = Trouble { site, target, askers: Vec::new(), finding: finding.clone() };
            let known = all.iter().position(|one| one.is_same(&trouble));
            let at = known.unwrap_or(all.len());
            if known.is_none() {
                all.push(trouble);
            }
            all.get_mut(at).into_iter().for_each(|one| one.askers.push(asker.clone()));
        }
        all
    }
}

impl Trouble {
    /// Whether both are about the same thing.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_there = self.site == other.site && self.target == other.target;
        is_there && self.finding.kind == other.finding.kind
    }

    pub(crate) const fn cause(&self) -> &'static str {
        repairs::cause(self.finding.kind)
    }

    pub(crate) fn repair(&self) -> String {
        repairs::repair(self.finding.kind, self.finding.product)
    }
}

/// `www.example.com: / is refused with 403, asked as GPTBot (Server: nginx)`.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { site, askers, finding, .. } = self;
        write!(f, "{site}: {}, asked as {}", finding.text, askers.join(", "))?;
        match finding.server.as_str() {
            "" => Ok(()),
            server => write!(f, " (Server: {server})"),
        }
    }
}
