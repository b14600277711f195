//! The crawlers of a policy: the built-in catalogue or a file in its place, the policy's own, and those of
//! lists to follow.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::crawlers::{Catalogue, CatalogueFile},
};

use super::{
    catalogue_file::{self, Open, OtherFile},
    crawler_entries,
    fields::{Fields, Setting},
    follow::{self, Following},
    shape::At,
};

pub(super) struct Known {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) version: String,
    pub(super) file: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) following: Option<Following>,
    pub(super) kept: Vec<u8>,
}

/// Reads `catalogue`, the name of a file or a section, and `crawlers`. `database` is the file of the
/// records. Returns `None`, with findings, if there is no catalogue.
pub(super) fn read(
    (root, policy): (&At<'_>, &Fields<'_>),
    database: Option<&Path>,
    open: &mut Open<'_>,
) -> Option<Known> {
    let section = policy.section("catalogue");
    let following = follow::read(&section, database);
    let named = policy.take("catalogue").filter(|at| !at.is_map()).or_else(|| section.take("file"));
    let (file, bytes, known) = match named {
        Some(at) => {
            let (path, bytes, known) = named_file(&at, open)?;
            (Some(path), bytes, Some(known))
        }
        None => (None, Vec::new(), None),
    };
    if known.is_none() && following.is_none() && policy.take("crawlers").is_none() {
        let version = catalogue_file::built_in_version().to_owned();
        let (catalogue, kept) = (catalogue_file::shared(), Vec::new());
        return Some(Known { catalogue, version, file, bytes, following, kept });
    }
    let known = known.unwrap_or_else(catalogue_file::built_in_file);
    let version = known.version.clone();
    let catalogue = crawler_entries::read(known, policy);
    let (catalogue, kept) = match &following {
        Some(following) => follow::join(catalogue, following, root, open),
        None => (catalogue, Vec::new()),
    };
    Some(Known { catalogue: Arc::new(catalogue), version, file, bytes, following, kept })
}

fn named_file(at: &At<'_>, open: &mut Open<'_>) -> Option<(PathBuf, Vec<u8>, CatalogueFile)> {
    let path = PathBuf::read(at)?;
    let bytes = match open(OtherFile::Catalogue, &path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let shown = shown(path.display().to_string());
            return at.refused_as(
                "policy.catalogue",
                format!("'{shown}' can't be read: {error}"),
                "'beadle crawlers update --from URL' writes it; without the key the built-in \
                 catalogue is used",
            );
        }
    };
    let file = match catalogue_file::read_file(&path.display().to_string(), &bytes) {
        Ok(file) => file,
        Err(refused) => {
            let shown = shown(path.display().to_string());
            at.refuse_as(
                "policy.catalogue",
                format!("'{shown}' is refused, for the reasons given with its name"),
                "put back the last good file, or remove the key to use the built-in catalogue",
            );
            refused.into_iter().for_each(|finding| at.sink.push(finding));
            return None;
        }
    };
    let built_in = catalogue_file::built_in_version();
    if file.version.as_str() < built_in {
        let message =
            format!("the catalogue is of {}, the built-in one of {built_in}", file.version);
        let warning = Diagnostic::warning("policy.old_catalogue", message)
            .help("remove the key to use the built-in one, or run 'beadle crawlers update'");
        at.add(warning);
    }
    Some((path, bytes, file))
}
