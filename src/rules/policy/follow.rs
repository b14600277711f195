//! The lists of crawlers that others maintain and a policy follows: `catalogue.follow`.

use std::{
    collections::HashSet,
    io,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use sha2::{Digest, Sha256};

use crate::{
    base::escape::{hex, shown},
    rules::crawlers::{Catalogue, Followed, accepted_names},
};

use super::{
    catalogue_file::{Open, OtherFile},
    fields::Fields,
    host::split_port,
    shape::At,
    yaml::{Node, Value},
};

const LONGEST_URL: usize = 2_000;
const NAMES: [&str; 3] = ["user_agents", "product_tokens", "crawler_sets"];

/// The lists that a policy follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    pub(crate) folder: PathBuf,
    /// The lists. The first that has a name counts.
    pub(crate) lists: Vec<FollowedList>,
}

/// A list that others maintain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedList {
    pub(crate) url: String,
    pub(crate) every: Duration,
}

impl Following {
    /// The file of the last good copy of a list.
    pub(crate) fn copy_of(&self, list: &FollowedList) -> PathBuf {
        let hash = Sha256::digest(list.url.as_bytes());
        let hash: String = hex(hash.iter().take(6));
        self.folder.join(format!("list-{hash}.json"))
    }

    pub(crate) fn accepted(&self) -> PathBuf {
        self.folder.join("accepted")
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.lists.iter().map(|list| self.copy_of(list)).chain([self.accepted()])
    }
}

/// Reads the lists of the section `catalogue`. `database` is the file of the records.
pub(super) fn read(fields: &Fields<'_>, database: Option<&Path>) -> Option<Following> {
    let mut lists: Vec<FollowedList> = Vec::new();
    let folder: Option<PathBuf> = fields.get("folder");
    for at in fields.take("follow")?.elements() {
        let Some(fields) = at.fields() else { continue };
        let help = "write 'format: ai-robots-json', the form of robots.json of ai.robots.txt";
        fields.required("format", help, At::word);
        let every = fields.get("every");
        let help = "write 'url: https://…/robots.json', the address of the list";
        let Some(at) = fields.require("url", help) else { continue };
        let Some(url) = url(&at) else { continue };
        if lists.iter().any(|list| list.url == url) {
            at.refuse(format!("'{}' stands here twice", shown(&url)), "remove one");
            continue;
        }
        lists.push(FollowedList { url, every });
    }
    let beside = || database.and_then(Path::parent).unwrap_or_else(|| Path::new("data"));
    let folder = folder.unwrap_or_else(|| beside().join("catalogue"));
    Some(Following { folder, lists })
}

/// Reads the URL of a list: HTTPS, or HTTP on this machine.
fn url(at: &At<'_>) -> Option<String> {
    let text = at.text()?.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = split_port(authority).map_or(authority, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse().is_ok_and(|one: IpAddr| one.is_loopback());
    let is_url = text.len() <= LONGEST_URL
        && text.bytes().all(|octet| octet.is_ascii_graphic())
        && !host.is_empty()
        && (scheme == "https" || (scheme == "http" && is_here));
    if is_url && !authority.contains('@') {
        return Some(text.to_owned());
    }
    // A text with a user may have a password.
    let shown =
        if text.contains('@') { "the text".to_owned() } else { format!("'{}'", shown(text)) };
    let message = format!("{shown} is not a URL to fetch a list from");
    let help = "write https://HOST/PATH, without a password; http:// is for this machine alone";
    at.refused(message, help)
}

/// The catalogue with the crawlers of the kept copies, and the bytes of these. A name that the policy
/// writes itself needs no acceptance.
pub(super) fn join(
    known: Catalogue,
    following: &Following,
    root: &At<'_>,
    open: &mut Open<'_>,
) -> (Catalogue, Vec<u8>) {
    let at = root.child("catalogue").child("follow");
    let mut read = |file: &Path| match open(OtherFile::Followed, file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            warn(&at, file, &error.to_string());
            Vec::new()
        }
    };
    let mut all = read(&following.accepted());
    let mut accepted = accepted_names(&all);
    collect(root.node, false, &mut accepted);
    let mut with_lists = known;
    for list in &following.lists {
        let file = following.copy_of(list);
        let bytes = read(&file);
        if bytes.is_empty() {
            continue;
        }
        all.extend_from_slice(&bytes);
        let made = Followed::read(&bytes).and_then(|followed| {
            let entries = followed.entries(&with_lists, &list.url, &accepted);
            with_lists.with_entries(entries).map_err(|findings| {
                findings.into_iter().next().map_or_else(String::new, |finding| finding.message)
            })
        });
        match made {
            Ok(made) => with_lists = made,
            Err(error) => warn(&at, &file, &error),
        }
    }
    note_pending(&at, &with_lists);
    (with_lists, all)
}

fn warn(at: &At<'_>, file: &Path, error: &str) {
    let file = shown(file.display().to_string());
    let message = format!("'{file}' can't be read, so its crawlers are left out: {error}");
    let help = "run this as the user of the server, or delete the file: the next fetch writes it";
    at.warn("policy.followed_copy", message, help);
}

fn note_pending(at: &At<'_>, catalogue: &Catalogue) {
    let pending = catalogue.iter().filter(|one| one.is_pending());
    let names: Vec<&str> = pending.map(|one| one.product_token().as_str()).collect();
    if names.is_empty() {
        return;
    }
    let shown = shown(names.join(", "));
    let message = format!("{} of followed lists are never refused: {shown}", names.len());
    let help = "'beadle crawlers accept NAME…' enforces the rules for them";
    at.note("policy.pending_crawlers", message, help);
}

fn collect(node: &Node, is_name: bool, found: &mut HashSet<String>) {
    match &node.value {
        Value::Text(text) if is_name => {
            found.insert(text.trim().to_ascii_lowercase());
        }
        Value::List(items) => items.iter().for_each(|item| collect(item, is_name, found)),
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            collect(value, is_name || NAMES.contains(&key.text.as_str()), found);
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::policy::{self, OtherFile};

    const SITES: &str = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\", \
        robots_txt: { groups: [{ user_agents: [WrittenBot, \"purpose:ai-training\"], disallow: [/] }] } }]\n";

    #[test]
    fn wrong_values_are_errors_with_the_repair() {
        let list = "url: \"https://a.example/robots.json\", format: ai-robots-json";
        for (follow, message, help) in [
            (format!("{{ {list}, every: 1s }}"), "'1s' is out of range", "from 1h to 7d"),
            (list.replace("ai-robots-json", "x"), "unknown value 'x'", "write one of ai-robots"),
            (
                list.replace(", format: ai-robots-json", ""),
                "'catalogue.follow[0].format' is missing",
                "ai-robots-json",
            ),
            ("format: ai-robots-json".to_owned(), "follow[0].url' is missing", "the address"),
            (list.replace("https", "http"), "is not a URL", "for this machine alone"),
            (
                list.replace("https://", "https://u:secret@"),
                "the text is not a URL",
                "without a password",
            ),
            (list.replace("https://a.example", "ftp://x"), "is not a URL", "write https"),
            (list.replace("https:", "https"), "is not a URL", "write https"),
            (format!("{list} }}, {{ {list}"), "stands here twice", "remove one"),
            (format!("{list}, ever: 1d"), "unknown key", "did you mean 'every'"),
        ] {
            let follow = if follow.starts_with('{') { follow } else { format!("{{ {follow} }}") };
            let text = format!("catalogue: {{ follow: [{follow}] }}\n{SITES}");
            let (policy, findings) = policy::read("p", text.as_bytes());
            let found: Vec<String> = findings.iter().map(|one| format!("{one:#}")).collect();
            assert!(policy.is_none(), "{follow}");
            let is_found = |one: &String| one.contains(message) && one.contains(help);
            assert!(found.iter().any(is_found), "{follow}: {found:#?}");
            assert!(!found.iter().any(|one| one.contains("secret")), "{found:#?}");
        }
    }

    #[test]
    fn kept_lists_add_crawlers_and_what_the_policy_names_is_accepted() {
        let text = format!(
            "violations: {{ database: data/x.db }}\ncatalogue:\n  follow:\n    \
             - {{ url: \"http://127.0.0.1:1/robots.json\", format: ai-robots-json }}\n{SITES}"
        );
        let crawler = |name: &str| {
            format!(
                r#"{{"name":"x","product_token":"{name}","operator":null,"purpose":"ai-training"}}"#
            )
        };
        let crawlers = ["NewBot", "OldBot", "writtenbot", "GPTBot"].map(crawler).join(",");
        let kept = format!(r#"{{"names":9,"crawlers":[{crawlers}]}}"#);
        let read = |kept: &str| {
            let mut open = |_: OtherFile, file: &std::path::Path| match file.to_str() {
                Some("data/catalogue/accepted") => Ok(b"oldbot\n".to_vec()),
                Some(name) if name.starts_with("data/catalogue/list-") => Ok(kept.into()),
                _ => Err(std::io::ErrorKind::NotFound.into()),
            };
            policy::read_with("p", text.as_bytes(), &mut open)
        };
        let (policy, findings) = read(&kept);
        let policy = policy.expect("a good policy");
        let pending: Vec<&str> = policy
            .catalogue
            .iter()
            .filter(|one| one.is_pending())
            .map(|one| one.product_token().as_str())
            .collect();
        assert_eq!(pending, ["NewBot"]);
        let is_of_list = |name| policy.catalogue.find(name).and_then(|one| one.list()).is_some();
        assert!(is_of_list("OldBot") && is_of_list("WrittenBot") && !is_of_list("GPTBot"));
        let note = findings.iter().find(|one| one.code == "policy.pending_crawlers");
        assert!(note.is_some_and(|one| one.message.contains("NewBot")), "{findings:?}");
        // A copy that is no copy adds nothing.
        let (other, findings) = read("<html>");
        assert!(findings.iter().any(|one| one.code == "policy.followed_copy"), "{findings:?}");
        assert_ne!(other.expect("a good policy").fingerprint, policy.fingerprint);
    }
}
