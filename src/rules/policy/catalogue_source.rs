//! The `catalogue` key: a file that replaces the built-in catalogue, and lists to follow.

use std::path::{Path, PathBuf};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::{crawlers::CatalogueFile, keys},
};

use super::{
    catalogue_file,
    fields::Fields,
    findings::Findings,
    follow::{self, Following},
    other_files::{Open, OtherFile},
    scalar,
    shape::At,
    yaml::Value,
};

/// What a policy says about the catalogue.
#[derive(Default)]
pub(super) struct CatalogueSource {
    pub(super) named: Option<NamedFile>,
    pub(super) following: Option<Following>,
}

/// The catalogue file that a policy names.
pub(super) struct NamedFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) file: CatalogueFile,
}

/// Reads the key: the name of a file, or a section. `database` is the file of the records. Returns
/// `None`, with findings, if there is no catalogue.
pub(super) fn read(
    at: &At<'_>,
    database: Option<&Path>,
    open: &mut Open<'_>,
    findings: &mut Findings,
) -> Option<CatalogueSource> {
    if !matches!(at.node.value, Value::Map(_)) {
        let named = Some(named_file(at, open, findings)?);
        return Some(CatalogueSource { named, following: None });
    }
    let fields = Fields::of(Some(at), &keys::CATALOGUE, findings);
    let following = follow::read(&fields, database, findings);
    let named = match fields.take("file") {
        Some(at) => Some(named_file(&at, open, findings)?),
        None => None,
    };
    Some(CatalogueSource { named, following })
}

/// Opens and reads the catalogue file that a policy names. Returns `None`, with findings, if that
/// fails.
fn named_file(at: &At<'_>, open: &mut Open<'_>, findings: &mut Findings) -> Option<NamedFile> {
    let path = scalar::path(at, findings)?;
    let bytes = match open(OtherFile::Catalogue, &path) {
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
    Some(NamedFile { path, bytes, file })
}
