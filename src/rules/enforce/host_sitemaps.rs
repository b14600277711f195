//! The sitemaps of a site whose URLs name the requested host.

use bytes::Bytes;

use crate::rules::policy::{REQUESTED_HOST, RobotsTxt, host_in_url};

use super::{edition::Edition, edition_id::EditionId};

/// A robots.txt without the host in the URLs of its sitemaps.
#[derive(Debug, Default)]
pub(super) struct HostSitemaps {
    /// What stands before, between and after the hosts; empty without such URLs.
    pieces: Vec<Vec<u8>>,
}

impl HostSitemaps {
    /// Finds the sitemaps of the policy in an edition. An older edition may have none of them.
    pub(super) fn new(edition: &Edition, robots_txt: &RobotsTxt, own_host: &str) -> Self {
        let own_host = host_in_url(own_host);
        let mut lines: Vec<(String, &str)> = robots_txt
            .host_sitemaps
            .iter()
            .map(|url| (format!("Sitemap: {}\n", url.replace(REQUESTED_HOST, &own_host)), &**url))
            .collect();
        if lines.is_empty() {
            return Self::default();
        }
        let (mut pieces, mut piece) = (Vec::new(), Vec::new());
        for line in edition.bytes().split_inclusive(|octet| *octet == b'\n') {
            // An equal line that names no host stays.
            let found = lines.iter().position(|(own, _)| own.as_bytes() == line);
            let Some((_, url)) = found.map(|at| lines.swap_remove(at)) else {
                piece.extend_from_slice(line);
                continue;
            };
            piece.extend_from_slice(b"Sitemap: ");
            for (number, part) in url.split(REQUESTED_HOST).enumerate() {
                if number > 0 {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.extend_from_slice(part.as_bytes());
            }
            piece.push(b'\n');
        }
        pieces.push(piece);
        Self { pieces }
    }

    /// The file for a host, with its entity tag. `None` if it is that of every host.
    pub(super) fn file(&self, host: &str) -> Option<(Bytes, EditionId)> {
        if self.pieces.len() < 2 {
            return None;
        }
        let bytes = self.pieces.join(host_in_url(host).as_bytes());
        let id = EditionId::of(&bytes);
        Some((bytes.into(), id))
    }
}
