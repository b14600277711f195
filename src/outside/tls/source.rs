//! The files of one certificate, and what was last read from them.

use std::{path::Path, sync::Arc};

use crate::{
    base::{escape, stamp::Stamp},
    rules::policy::CertificateFiles,
};

use super::pair::{Fault, Pair};

#[derive(Debug)]
pub(super) struct Source {
    files: CertificateFiles,
    /// Whether ACME writes the file, which is not there before the first order.
    is_issued: bool,
    pub(super) pair: Option<Arc<Pair>>,
    seen: Stamps,
    last_read: Stamps,
    pub(super) fault: Option<String>,
    pub(super) failure: Option<String>,
}

type Stamps = [Option<Stamp>; 2];

impl Source {
    /// The files as they are at a start.
    ///
    /// # Errors
    /// The operator's files are unusable. What ACME wrote is issued anew.
    pub(super) fn read(files: CertificateFiles, is_issued: bool) -> Result<Self, Fault> {
        let stamps = stamps(&files);
        let mut source = Self {
            files,
            is_issued,
            pair: None,
            seen: stamps.clone(),
            last_read: stamps,
            fault: None,
            failure: None,
        };
        match Pair::read(&source.files) {
            Ok(pair) => source.pair = Some(Arc::new(pair)),
            Err(fault) if !is_issued => return Err(fault),
            Err(fault) if fault.is_absent => {}
            Err(fault) => source.refuse(&fault),
        }
        Ok(source)
    }

    /// Whether a file has changed since the last read, and both are stable since the last check. So a
    /// pair that is being written is left alone.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = stamps(&self.files);
        let has_changed = now == self.seen && now != self.last_read;
        self.seen = now;
        has_changed
    }

    /// Reads the files. The last good pair stays if they are unusable. Returns `taken` or `refused` for a
    /// change.
    pub(super) fn read_again(&mut self) -> Option<&'static str> {
        // A change during the read is another change.
        self.last_read = stamps(&self.files);
        match Pair::read(&self.files) {
            Ok(pair) => {
                let was_refused = self.fault.take().is_some();
                let is_same = self.pair.as_ref().is_some_and(|old| old.chain() == pair.chain());
                if is_same {
                    if was_refused {
                        let file = self.name();
                        tracing::info!(file, "certificate accepted again: it is the present one");
                    }
                    return None;
                }
                let (file, ends) = (self.name(), pair.ends);
                tracing::info!(file, %ends, "certificate taken");
                self.failure = None;
                self.pair = Some(Arc::new(pair));
                Some("taken")
            }
            Err(fault) if self.is_issued && fault.is_absent => None,
            Err(fault) => {
                self.refuse(&fault);
                Some("refused")
            }
        }
    }

    fn refuse(&mut self, fault: &Fault) {
        let error = escape::bounded(fault.to_string().as_bytes(), 500);
        let kept = if self.pair.is_some() { "the last good one stays" } else { "there is none" };
        tracing::error!(code = "tls.certificate_refused", error, "certificate refused: {kept}");
        self.fault = Some(error);
    }

    pub(super) fn is_in(&self, file: &Path) -> bool {
        self.files.certificate == file
    }

    pub(super) fn name(&self) -> String {
        escape::path(&self.files.certificate)
    }
}

fn stamps(files: &CertificateFiles) -> Stamps {
    [Stamp::of(&files.certificate), Stamp::of(&files.key)]
}
