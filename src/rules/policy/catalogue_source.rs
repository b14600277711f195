//! The `catalogue` key: a file that replaces the built-in catalogue.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::crawlers::CatalogueFile,
};

use super::{catalogue_file, findings::Findings, scalar::path, shape::At};

/// Reads the bytes of a file that a policy names.
pub(super) type Open<'o> = dyn FnMut(&Path) -> io::Result<Vec<u8>> + 'o;

/// The catalogue file that a policy names.
pub(super) struct CatalogueSource {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) file: CatalogueFile,
}

/// Opens and reads the catalogue file that a policy names. Returns `None`, with findings, if that
/// fails.
pub(super) fn read(
    at: &At<'_>,
    open: &mut Open<'_>,
    findings: &mut Findings,
) -> Option<CatalogueSource> {
    let path = path(at, findings)?;
    let bytes = match open(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let shown = shown(path.display().to_string());
            return findings.refused_as(
                "policy.catalogue",
                at,
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
            findings.refuse_as(
                "policy.catalogue",
                at,
                format!("'{shown}' is refused, for the reasons given with its name"),
                "put back the last good file, or remove the key to use the built-in catalogue",
            );
            refused.into_iter().for_each(|finding| findings.push(finding));
            return None;
        }
    };
    let built_in = catalogue_file::built_in_version();
    if file.version.as_str() < built_in {
        let message =
            format!("the catalogue is of {}, the built-in one of {built_in}", file.version);
        let warning = Diagnostic::warning("policy.old_catalogue", message)
            .help("remove the key to use the built-in one, or run 'beadle crawlers update'");
        findings.add(at, warning);
    }
    Some(CatalogueSource { path, bytes, file })
}
