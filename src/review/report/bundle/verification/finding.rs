//! What a verification finds, and how grave it is.

use crate::base::text::words;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) status: Status,
    pub(crate) file: String,
    /// The line of the file, from 1.
    pub(crate) line: Option<u64>,
    pub(crate) id: Option<String>,
    /// What was found: a sentence, or the field that differs.
    pub(crate) what: String,
    /// The value in the record, where one differs.
    pub(crate) recorded: Option<String>,
    /// The value that the bundle gives.
    pub(crate) recomputed: Option<String>,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Status {
        /// The bundle is not as it was made.
        Changed = "changed",
        /// A record says something else than the bundle gives.
        Differs = "differs",
        /// The bundle can't show it.
        NotRecomputed = "not-recomputed",
        /// Worth knowing; nothing is wrong.
        Remark = "remark",
    }
}

impl Finding {
    pub(super) fn new(status: Status, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            status,
            file: file.into(),
            line: None,
            id: None,
            what: what.into(),
            recorded: None,
            recomputed: None,
        }
    }

    /// With the two values that differ.
    pub(super) fn comparing(
        self,
        recorded: impl Into<String>,
        recomputed: impl Into<String>,
    ) -> Self {
        Self { recorded: Some(recorded.into()), recomputed: Some(recomputed.into()), ..self }
    }

    pub(super) fn changed(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(Status::Changed, file, what)
    }
}
