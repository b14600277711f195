//! The lists of crawlers that the policy follows: fetched, judged, and kept as what they add.
//!
//! A kept copy is a file of the policy. So the publisher reads the policy again when it changes.

use std::{path::PathBuf, sync::Arc};

use tokio::{sync::Notify, task::AbortHandle};

use crate::{
    base::escape::bounded,
    outside::{
        alerts::ListTrouble,
        remote::{Address, Document, Failure, Fetched, Follower, KeptCopy, Remote},
    },
    rules::{
        crawlers::{Catalogue, Followed, ListUpdate, accepted_names, read_list},
        policy::{FollowedList, Following, MAX_CATALOGUE_BYTES, Policy},
    },
};

use super::{files::read_file, handles::Handles};

const LOGGED: usize = 2_000;

/// The tasks that fetch the lists, each with its list and the folder of what is kept.
#[derive(Debug, Default)]
pub(super) struct ListFollowers {
    tasks: Vec<(Followee, AbortHandle)>,
    now: Arc<Notify>,
}

impl ListFollowers {
    /// Follows the lists of a policy, and no others. A new one is fetched at once.
    pub(super) fn follow(&mut self, policy: &Policy, handles: &Handles) {
        let wanted: Vec<Followee> = policy.following.iter().flat_map(Followee::of).collect();
        self.tasks.retain(|(known, task)| {
            let stays = wanted.contains(known);
            if !stays {
                task.abort();
                handles.list_troubles.note(&known.list.url, None);
            }
            stays
        });
        for followee in wanted {
            if !self.tasks.iter().any(|(known, _)| *known == followee) {
                let task = followee.clone().run(handles.clone(), Arc::clone(&self.now));
                self.tasks.push((followee, tokio::spawn(task).abort_handle()));
            }
        }
    }

    pub(super) fn fetch_now(&self) {
        self.now.notify_waiters();
    }
}

impl Drop for ListFollowers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(|(_, task)| task.abort());
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Followee {
    list: FollowedList,
    copy: PathBuf,
    accepted: PathBuf,
}

impl Followee {
    fn of(following: &Following) -> impl Iterator<Item = Self> {
        following.lists.iter().map(|list| Self {
            list: list.clone(),
            copy: following.copy_of(list),
            accepted: following.accepted(),
        })
    }

    async fn run(self, handles: Handles, now: Arc<Notify>) {
        let remote = Address::parse(&self.list.url)
            .and_then(|address| Remote::new(address, None, self.copy.clone()));
        let remote = match remote {
            Ok(remote) => remote,
            Err(failure) => return self.report(&handles, false, reason(&failure)),
        };
        let kept = remote.copy.clone();
        let mut follower = Follower::start(remote, self.list.every);
        follower.fetch_now();
        let (mut last, mut left_out) = (Vec::new(), Vec::new());
        loop {
            let answer = tokio::select! {
                answer = follower.answer() => answer,
                () = now.notified() => {
                    follower.fetch_now();
                    continue;
                }
            };
            match answer.map(|answer| answer.fetched) {
                None => return,
                Some(Ok(Fetched::New(document))) => last = document.bytes,
                // A list with many new names gives more of them.
                Some(Ok(Fetched::Unchanged)) => {}
                Some(Err(failure)) => {
                    self.report(&handles, false, reason(&failure));
                    continue;
                }
            }
            let known = Arc::clone(&handles.published.load().policy.policy.catalogue);
            let (bytes, kept, own) = (last.clone(), kept.clone(), self.clone());
            let taken = tokio::task::spawn_blocking(move || own.take(&bytes, &known, &kept)).await;
            match taken.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(update) => self.log(&handles, update, &mut left_out),
                Err(reason) => self.report(&handles, true, reason),
            }
        }
    }

    /// Takes over a list that is plausible, and keeps what it adds.
    fn take(&self, bytes: &[u8], known: &Catalogue, kept: &KeptCopy) -> Result<ListUpdate, String> {
        let (listed, _) = read_list(bytes)?;
        let copy = kept.last_good().and_then(|document| Followed::read(&document.bytes));
        let before = copy.unwrap_or_default();
        let accepted = read_file(&self.accepted, MAX_CATALOGUE_BYTES).unwrap_or_default();
        let mut after = before.clone();
        let update = after.update(&listed, known, &accepted_names(&accepted))?;
        if after != before {
            let folder = self.copy.parent().map_or(Ok(()), std::fs::create_dir_all);
            let kept = folder.and_then(|()| kept.keep(&Document::unsigned(after.bytes())));
            kept.map_err(|error| format!("{}: {error}", self.copy.display()))?;
        }
        Ok(update)
    }

    fn log(&self, handles: &Handles, update: ListUpdate, told: &mut Vec<String>) {
        let (list, names) =
            (&self.list.url, |names: &[String]| bounded(names.join(", ").as_bytes(), LOGGED));
        if handles.list_troubles.note(list, None) {
            tracing::info!(list, "the list of crawlers is in use again");
        }
        let ListUpdate { new, gone, left_out, waiting } = update;
        if !new.is_empty() || !gone.is_empty() {
            let (new, gone) = (names(&new), names(&gone));
            tracing::warn!(list, new, gone, waiting, "crawlers of a followed list changed");
        }
        if *told != left_out {
            *told = left_out;
            let left_out = names(told);
            tracing::warn!(list, left_out, "names that also stand for other programs are left out");
        }
    }

    fn report(&self, handles: &Handles, is_refused: bool, reason: String) {
        let url = &self.list.url;
        let trouble = ListTrouble { url: url.clone(), reason, is_refused };
        if handles.list_troubles.note(url, Some(&trouble)) {
            let (code, error) = ("catalogue.list", trouble.reason);
            tracing::error!(code, list = url, error, "the last good list of crawlers stays in use");
        }
    }
}

fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Fetch(failure) => failure.to_string(),
        other => other.to_string().replace("the policy", "the list"),
    }
}
