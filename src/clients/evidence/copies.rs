//! The last good copies of published evidence, in a folder of the policy.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use sha2::{Digest, Sha256};

use crate::base::escape::hex;

/// A folder with the last good copies. The file name is a hash, so no URL can choose another file.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    folder: Option<PathBuf>,
    kind: &'static str,
    failures: Arc<AtomicU64>,
}

impl Copies {
    pub(super) fn new(folder: Option<&Path>, kind: &'static str) -> Self {
        Self { folder: folder.map(Path::to_owned), kind, failures: Arc::default() }
    }

    pub(super) fn read(&self, url: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(url)?).ok()
    }

    /// The last time at which the source had this content.
    pub(super) fn modified(&self, url: &str) -> Option<SystemTime> {
        std::fs::metadata(self.path(url)?).ok()?.modified().ok()
    }

    /// Notes that the source still has the content of the copy.
    pub(super) fn touch(&self, url: &str) {
        let Some(path) = self.path(url) else { return };
        let file = File::options().write(true).open(&path);
        match file.and_then(|file| file.set_modified(SystemTime::now())) {
            Ok(()) => self.note_saved(),
            Err(error) => self.complain(&error, &path),
        }
    }

    pub(super) fn write(&self, url: &str, octets: &[u8]) {
        let Some(path) = self.path(url) else { return };
        let new = path.with_extension("new");
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder
            .and_then(|()| std::fs::write(&new, octets))
            .and_then(|()| std::fs::rename(&new, &path));
        match written {
            Ok(()) => self.note_saved(),
            Err(error) => self.complain(&error, &path),
        }
    }

    /// Logs a failure, unless the last copy failed too: most often it is the folder that fails.
    fn complain(&self, error: &std::io::Error, path: &Path) {
        if self.failures.fetch_add(1, Ordering::Relaxed) == 0 {
            let path = path.display();
            tracing::warn!(%error, %path, "copies of published evidence are not saved");
        }
    }

    fn note_saved(&self) {
        let failures = self.failures.swap(0, Ordering::Relaxed);
        if failures > 0 {
            tracing::info!(failures, "copies of published evidence are saved again");
        }
    }

    fn path(&self, url: &str) -> Option<PathBuf> {
        let hash: String = hex(Sha256::digest(url).iter().take(8));
        Some(self.folder.as_ref()?.join(format!("{}-{hash}", self.kind)))
    }
}
