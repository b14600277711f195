//! The account at an authority.

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use instant_acme::{Account, AccountBuilder, AccountCredentials, Error, NewAccount};
use serde::{Deserialize, Serialize};

use crate::{
    base::{escape, whole_file},
    rules::policy::Acme,
};

/// The account as its file keeps it. The key in it is secret.
#[derive(Deserialize, Serialize)]
struct Kept {
    contact: Vec<String>,
    credentials: AccountCredentials,
}

/// Opens the account of the settings. Registers one, if there is none yet.
pub(super) async fn open(acme: &Acme) -> Result<Account, String> {
    let file = file(acme);
    let kept = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return register(acme).await,
        Err(error) => return Err(format!("{}: {error}", escape::path(&file))),
    };
    let Kept { contact, credentials } = serde_json::from_slice(&kept).map_err(|error| {
        format!("{}: {error} (remove the file to register anew)", escape::path(&file))
    })?;
    let account = builder(acme)?.from_credentials(credentials).await.map_err(said)?;
    if contact != acme.contact {
        let addresses: Vec<&str> = acme.contact.iter().map(String::as_str).collect();
        account.update_contacts(&addresses).await.map_err(said)?;
        // The credentials are no values that could be copied, so they are read once more.
        let Kept { credentials, .. } = serde_json::from_slice(&kept).map_err(|e| e.to_string())?;
        keep(acme, credentials)?;
    }
    Ok(account)
}

/// Forgets an account that its authority doesn't know any more.
pub(super) fn forget(acme: &Acme) {
    let file = file(acme);
    if let Err(error) = std::fs::remove_file(&file) {
        tracing::warn!(file = escape::path(&file), %error, "an unknown ACME account stays");
    }
}

async fn register(acme: &Acme) -> Result<Account, String> {
    let contact: Vec<&str> = acme.contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let registered = builder(acme)?.create(&new, acme.directory.clone(), None).await;
    let (account, credentials) = registered.map_err(said)?;
    keep(acme, credentials)?;
    tracing::info!(directory = acme.directory, "ACME account registered");
    Ok(account)
}

fn builder(acme: &Acme) -> Result<AccountBuilder, String> {
    match &acme.root {
        Some(root) => Account::builder_with_root(root)
            .map_err(|error| format!("{}: {}", escape::path(root), said(error))),
        None => Account::builder().map_err(said),
    }
}

fn keep(acme: &Acme, credentials: AccountCredentials) -> Result<(), String> {
    let kept = Kept { contact: acme.contact.clone(), credentials };
    let text = serde_json::to_vec_pretty(&kept).map_err(|error| error.to_string())?;
    write_private(&file(acme), &text)
}

fn file(acme: &Acme) -> PathBuf {
    acme.state_folder().join("account.json")
}

/// An error with its causes, as it may be shown. The authority wrote a part of it.
pub(super) fn said(error: Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    escape::bounded(text.as_bytes(), 500)
}

/// Replaces a file for this user alone. Missing folders are created. A reader sees the old content or the new one, even
/// after a power failure.
pub(super) fn write_private(file: &Path, content: &[u8]) -> Result<(), String> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| whole_file::replace(file, content, |_| Ok(())))
        .map_err(|error| format!("{}: {error}", escape::path(file)))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_for_this_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a/b/account.json");
        for content in ["first", "second"] {
            write_private(&file, content.as_bytes()).expect("it can be written");
            assert_eq!(fs::read_to_string(&file).expect("a file"), content);
            // An attempt that was cut off.
            let name = format!("account.json.{}.new", std::process::id());
            fs::write(file.with_file_name(name), "half").expect("ours");
        }
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    }
}
