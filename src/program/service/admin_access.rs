//! The admin listener's access, and counts in memory for its pages.

use std::os::unix::fs::PermissionsExt as _;

use crate::{
    desk::admin,
    program::console::Error,
    records::{
        counts::{CountsInMemory, Question},
        tally::PlaceKind,
        violations::Location,
    },
    rules::policy,
};

/// Reads the counts of a database into memory. The pages name a failure.
pub(super) fn read_counts(database: &Location, counts: &CountsInMemory) {
    let Ok(store) = database.open() else { return };
    let (store, all) = (store.sharing(counts), Question::default());
    let _ = store.counted(&all);
    let _ = store.places(PlaceKind::Path, &all, 0);
}

/// The token of the admin listener, if the policy names its file.
pub(crate) fn admin_token(admin: &policy::Admin) -> Result<Option<String>, Error> {
    let Some(file) = &admin.token_file else { return Ok(None) };
    let unreadable = |error: std::io::Error| refused(admin, &error.to_string());
    let found = std::fs::metadata(file).map_err(unreadable)?;
    if found.is_file() && found.permissions().mode() & 0o002 != 0 {
        return Err(refused(admin, "every user may write it (run 'chmod o-w' on it)"));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let token = text.trim();
    if token.len() < admin::SHORTEST_TOKEN {
        let fewest = admin::SHORTEST_TOKEN;
        let why = format!(
            "the token is shorter than {fewest} characters (make one with 'openssl rand -hex 24')"
        );
        return Err(refused(admin, &why));
    }
    Ok(Some(token.to_owned()))
}

fn refused(admin: &policy::Admin, why: &str) -> Error {
    let file = admin.token_file.iter().map(|file| file.display().to_string()).collect::<String>();
    Error::Refused(format!("server.admin.token_file: {file}: {why}"))
}
