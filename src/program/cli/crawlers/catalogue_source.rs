//! The source of the catalogue: the built-in one, a policy or a file.

use std::path::PathBuf;

use crate::{
    program::console::{ConfigFile, Error, load},
    rules::{
        crawlers::Catalogue,
        policy::{built_in_catalogue, catalogue_of, read_catalogue_file},
    },
    state::publication,
};

/// The catalogue to use; the built-in one by default.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Use the catalogue of this policy, with the policy's own crawlers.
    #[arg(long, short, value_name = "FILE|URL", conflicts_with = "catalogue")]
    config: Option<PathBuf>,
    /// Use this catalogue file.
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,
}

impl Source {
    pub(super) fn read(&self) -> Result<Catalogue, Error> {
        match (&self.config, &self.catalogue) {
            (Some(file), _) => {
                let (policy, _) = load(&ConfigFile::of(file))?;
                Ok(Catalogue::clone(&policy.catalogue))
            }
            (None, Some(file)) => {
                let name = file.display().to_string();
                let bytes = publication::read_catalogue_file(file)
                    .map_err(|error| Error::Refused(format!("{name}: {error}")))?;
                let read = read_catalogue_file(&name, &bytes).map_err(Error::Findings)?;
                catalogue_of(read).map_err(Error::Findings)
            }
            (None, None) => Ok(built_in_catalogue()),
        }
    }
}
