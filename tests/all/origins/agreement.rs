//! Each model gives what its origin resolves, for hostile targets from a fixed seed.

use super::house::{House, Origin, ROUTES, Shows};
use crate::support::{
    client::Request,
    conditions::is_full_size,
    hostile,
    origin_models::{node_url_by_the_standard, path_of},
    shown,
};

const SEED: u64 = 20_260_401;

#[test]
fn every_model_agrees_with_its_origin() {
    let house = House::shared();
    let count = if is_full_size() { 20_000 } else { 300 };
    std::thread::scope(|scope| {
        for origin in &house.origins {
            let house = &*house;
            scope.spawn(move || compare(house, origin, count));
        }
    });
}

fn compare(house: &House, origin: &Origin, count: usize) {
    let name = origin.model.name;
    let mut choose = hostile::choices(SEED);
    let mut pages = 0;
    for _ in 0..count {
        let target = hostile::target(&mut choose);
        let request = Request::get(&target).field("Connection", "close").bytes();
        let page = origin.resolved(&request);
        let expected = served(house, origin.shows, (origin.model.resolve)(&target));
        let is_node = name == "node new URL";
        let by_the_standard =
            || served(house, origin.shows, node_url_by_the_standard(&target)) == page;
        pages += usize::from(page.is_some());
        let [page, expected] = [&page, &expected]
            .map(|path| path.as_deref().map_or_else(|| "nothing".to_owned(), shown));
        assert!(
            page == expected || is_node && by_the_standard(),
            "{name} serves {page} for {}, its model {expected}",
            shown(&target)
        );
    }
    let least = if origin.shows == Shows::Routes { 0 } else { count / 20 };
    assert!(pages > least, "{name} served {pages} pages: what was asked tells little");
}

/// What an origin that resolves a path in this way has to serve.
fn served(house: &House, shows: Shows, resolved: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let resolved = resolved?;
    let path = path_of(&resolved);
    match shows {
        Shows::Everything => Some(path),
        Shows::Files => house.file(&path),
        Shows::FilesAbove => {
            let ends = path.iter().enumerate().filter(|(_, octet)| **octet == b'/');
            let mut ends: Vec<_> = ends.map(|(at, _)| at).skip(1).collect();
            ends.push(path.len());
            ends.iter().rev().find_map(|end| house.file(&path[..*end]))
        }
        Shows::Routes => {
            let path = resolved.split(|octet| *octet == b'?').next().unwrap_or_default();
            let mut routes = ROUTES.iter().map(|route| route.as_bytes());
            routes.find(|route| route.eq_ignore_ascii_case(path)).map(<[u8]>::to_vec)
        }
    }
}
