//! The sink of records, and what earlier runs left in the database.

use std::{path::Path, sync::Arc};

use jiff::Timestamp;

use crate::{
    console::exit::Error,
    policy::{self, Policy},
    publication::{self, Memory},
    violations::{LogTarget, OnDamage, Settings, Sink},
};

/// Opens the database and the log of the policy.
///
/// # Errors
/// A file can't be used.
pub(super) fn open_store(
    policy: &Policy,
    policy_file: &Path,
) -> Result<(Arc<Sink>, Memory), Error> {
    let settings = &policy.violations;
    let refused = |error: crate::violations::Error| Error::Refused(error.to_string());
    let log = match &settings.log {
        Some(policy::Log::File(file)) => Some(file),
        Some(policy::Log::Stdout) | None => None,
    };
    for file in [settings.database.as_ref(), log].into_iter().flatten() {
        // Beadle creates `data/` beside the policy. Another missing folder may be a typing error.
        let beside = policy_file.parent().unwrap_or(policy_file);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let is_ours = |folder: &&Path| folder.is_relative() || folder.starts_with(beside);
        if let Some(folder) = folder.filter(is_ours) {
            std::fs::create_dir_all(folder).map_err(|error| {
                Error::Refused(format!("the folder of {}: {error}", file.display()))
            })?;
        }
    }
    let sink = Sink::start(Settings {
        database: settings.database.clone(),
        on_damage: match settings.on_damage {
            policy::OnDamage::Keep => OnDamage::Keep,
            policy::OnDamage::Rotate => OnDamage::Rotate,
        },
        log: settings.log.as_ref().map(|log| match log {
            policy::Log::File(file) => LogTarget::File(file.clone()),
            policy::Log::Stdout => LogTarget::Stdout,
        }),
        queue: settings.queue,
        detail: settings.detail,
        retention: Some(settings.retention),
        max_size: Some(settings.max_size),
        editions: publication::KEPT,
    })
    .map_err(refused)?;
    // The database is Beadle's, or the sink would have refused it. Without its memory, requests are
    // judged without their grace; without the site, not at all.
    let memory = Memory::read_latest(policy, Timestamp::now()).unwrap_or_else(|error| {
        tracing::error!(
            code = error.code(), %error,
            "earlier editions and fetches of robots.txt can't be read: they start anew"
        );
        Memory::default()
    });
    Ok((Arc::new(sink), memory))
}
