//! What the answers say.

use std::fmt;

use super::plan::{About, Answer, Obstacle, Plan};
use crate::formats::robots::{Reading, Steps, stays_in};

/// What is known of an origin by its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The folder of the page, with the slash at its end.
    pub folder: String,
    /// The steps that the origin takes.
    pub taken: Steps,
    /// The steps that it does not take in this folder.
    pub(crate) not_taken: Steps,
    /// Whether it ignores case.
    pub case_insensitive: bool,
    /// How often it decodes a path.
    pub decode_depth: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Taken,
    NotTaken,
    Unclear,
}

impl Plan {
    /// What the answers say, in the order of the questions.
    ///
    /// # Errors
    /// They say nothing.
    pub fn read(&self, answers: &[Answer]) -> Result<Found, Obstacle> {
        if let Some(obstacle) = self.obstacle(answers) {
            return Err(obstacle);
        }
        let [page, _, absence, ..] = answers else { return Err(Obstacle::Unasked) };
        let mut found = Found {
            folder: self.folder.clone(),
            taken: Steps::NONE,
            not_taken: Steps::NONE,
            case_insensitive: false,
            decode_depth: 1,
        };
        let mut unclear = Steps::NONE;
        for (question, answer) in self.questions.iter().zip(answers) {
            match (question.about, sign(answer, page, absence)) {
                (About::Step(step), Sign::Taken) => found.taken = found.taken.with(step),
                (About::Step(step), Sign::NotTaken) => found.not_taken = found.not_taken.with(step),
                (About::Step(step), Sign::Unclear) => unclear = unclear.with(step),
                (About::Case, Sign::Taken) => found.case_insensitive = true,
                (About::Depth(depth), Sign::Taken) => found.decode_depth = depth,
                (About::Page | About::Absence | About::Case | About::Depth(_), _) => {}
            }
        }
        found.not_taken = found.not_taken.without(found.taken).without(unclear);
        Ok(found)
    }
}

fn sign(answer: &Answer, page: &Answer, absence: &Answer) -> Sign {
    match answer {
        _ if answer == page => Sign::Taken,
        Answer::Page(400.., _) => Sign::NotTaken,
        _ if answer == absence => Sign::NotTaken,
        _ => Sign::Unclear,
    }
}

impl Found {
    /// What is known of two origins: a step counts if one of them takes it.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let taken = self.taken.with(other.taken);
        Self {
            taken,
            not_taken: self.not_taken.common(other.not_taken).without(taken),
            case_insensitive: self.case_insensitive || other.case_insensitive,
            decode_depth: self.decode_depth.max(other.decode_depth),
            ..self
        }
    }

    /// Whether steps are left out for a target.
    pub fn covers(&self, target: &[u8]) -> bool {
        self.not_taken != Steps::NONE && stays_in(target, &self.folder)
    }

    /// How the origin reads a target, if it reads others in the way that is `known`. Steps that it does not
    /// take are left out in the folder alone.
    pub fn reading(&self, known: Reading, target: &[u8]) -> Reading {
        let steps = known.steps.with(self.taken.common(Steps::TRIM_DOTS));
        let is_narrow = self.covers(target);
        Reading {
            case_insensitive: known.case_insensitive || self.case_insensitive,
            decode_depth: known.decode_depth.max(self.decode_depth),
            steps: if is_narrow { steps.without(self.not_taken) } else { steps },
        }
    }
}

/// `takes merge_slashes, but not decode_slash below /docs/`.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut taken = vec![self.taken.names()];
        if self.case_insensitive {
            taken.push("case_insensitive".to_owned());
        }
        if self.decode_depth > 1 {
            taken.push(format!("decode_depth {}", self.decode_depth));
        }
        taken.retain(|name| !name.is_empty());
        let taken = if taken.is_empty() { "no step".to_owned() } else { taken.join(", ") };
        write!(f, "takes {taken}")?;
        match self.not_taken.names() {
            none if none.is_empty() => Ok(()),
            names => write!(f, "; below {}, it does not take {names}", self.folder),
        }
    }
}
