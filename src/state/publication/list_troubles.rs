//! What is wrong with the lists of crawlers that the policy follows.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use crate::outside::alerts::ListTrouble;

/// What is wrong with the last fetch of each list, by its URL.
#[derive(Clone, Debug, Default)]
pub struct ListTroubles(Arc<Mutex<BTreeMap<String, ListTrouble>>>);

impl ListTroubles {
    /// The troubles as they are now.
    pub fn all(&self) -> Vec<ListTrouble> {
        self.0.lock().values().cloned().collect()
    }

    /// Notes a fetch. Whether its trouble is another one than before.
    pub(super) fn note(&self, url: &str, trouble: Option<&ListTrouble>) -> bool {
        let mut troubles = self.0.lock();
        let before = troubles.remove(url);
        troubles.extend(trouble.map(|trouble| (url.to_owned(), trouble.clone())));
        before.as_ref() != trouble
    }
}
