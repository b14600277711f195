//! The logs and the sink of records, and what earlier runs left in the database.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    base::metrics::Metrics,
    program::console::{Error, database},
    records::{
        forward::Settings as SharedSettings,
        lines::{Log, LogTarget},
        violations::{OnDamage, Settings, Sink, Store},
    },
    rules::policy::{self, Database, Policy},
    state::{
        exchange::host_name,
        publication::{self, Memory},
    },
};

use super::successor;

pub(super) fn open_store(
    policy: &Policy,
    policy_file: &Path,
) -> Result<(Arc<Sink>, Memory), Error> {
    let settings = &policy.violations;
    let log = match &settings.log {
        Some(policy::Log::File(file)) => Some(file),
        Some(policy::Log::Stdout) | None => None,
    };
    let clickhouse = settings.database.as_ref().and_then(Database::clickhouse);
    let spool = clickhouse.map(|clickhouse| clickhouse.spool.as_path());
    for file in [settings.local_database(), spool, log.map(PathBuf::as_path)].into_iter().flatten()
    {
        create_folder(file, policy_file)?;
    }
    // The process before this one still writes: its database can't take another form meanwhile.
    let used = settings.local_database().filter(|_| successor::is_one());
    used.map(Store::open_read_only).transpose()?;
    let shared = clickhouse.map(|clickhouse| {
        let node = policy.fleet.as_ref().and_then(|fleet| fleet.node.clone());
        Ok::<_, Error>(SharedSettings {
            server: database::settings(clickhouse)?,
            folder: clickhouse.spool.clone(),
            limit: clickhouse.spool_size,
            // The name of the fleet, else that of the machine.
            node: node.or_else(host_name).unwrap_or_else(|| "node".to_owned()),
            retention: Some(settings.retention),
        })
    });
    let sink = Sink::start(Settings {
        database: settings.local_database().map(Path::to_owned),
        shared: shared.transpose()?,
        on_damage: match settings.on_damage {
            policy::OnDamage::Keep => OnDamage::Keep,
            policy::OnDamage::Rotate => OnDamage::Rotate,
        },
        log: settings.log.as_ref().map(target),
        queue: settings.queue,
        detail: settings.detail,
        retention: Some(settings.retention),
        max_size: Some(settings.max_size),
        editions: publication::KEPT,
    })?;
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

pub(super) fn open_access_log(
    policy: &Policy,
    policy_file: &Path,
    metrics: &Arc<Metrics>,
) -> Result<Option<Arc<Log>>, Error> {
    let Some(access_log) = &policy.server.access_log else { return Ok(None) };
    if let policy::Log::File(file) = &access_log.log {
        create_folder(file, policy_file)?;
    }
    let log = Log::start(&target(&access_log.log), Arc::clone(metrics));
    let log = log.map_err(|error| Error::Refused(format!("server.access_log: {error}")))?;
    Ok(Some(Arc::new(log)))
}

fn target(log: &policy::Log) -> LogTarget {
    match log {
        policy::Log::File(file) => LogTarget::File(file.clone()),
        policy::Log::Stdout => LogTarget::Stdout,
    }
}

/// Creates the folder of a file below that of the policy, such as `data/`. Another missing folder may be
/// a typing error.
fn create_folder(file: &Path, policy_file: &Path) -> Result<(), Error> {
    let beside = policy_file.parent().unwrap_or(policy_file);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    let is_ours = |folder: &&Path| {
        let below = folder.strip_prefix(beside).unwrap_or_else(|_| Path::new("/"));
        below.components().all(|part| matches!(part, Component::Normal(_)))
    };
    let Some(folder) = folder.filter(is_ours) else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::Refused(format!("the folder of {}: {error}", file.display())))?;
    tracing::info!(folder = %folder.display(), "folder created beside the policy");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_below_that_of_the_policy_is_created() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = folder.path().join("etc");
        std::fs::create_dir(&beside).expect("ours");
        let policy = beside.join("beadle.yaml");
        for (file, is_created) in [
            (beside.join("data/beadle.db"), true),
            (beside.join("data/more/beadle.db"), true),
            (beside.join("../elsewhere/beadle.db"), false),
            (folder.path().join("var/beadle.db"), false),
        ] {
            create_folder(&file, &policy).expect("nothing is in the way");
            let found = file.parent().is_some_and(Path::is_dir);
            assert_eq!(found, is_created, "{}", file.display());
        }
        // A policy in the working directory has no folder of its own in its name.
        let file = folder.path().join("typo/beadle.db");
        create_folder(&file, Path::new("beadle.yaml")).expect("nothing is in the way");
        assert!(!folder.path().join("typo").exists());
    }
}
