//! What is left of a spool after a crash, and what is known of damage.

use std::fs;

use super::*;

const LIMIT: u64 = 64 << 20;

fn frame(kind: u8, records: u32, bytes: &[u8]) -> Frame<'_> {
    Frame { kind, records, bytes }
}

fn open(folder: &tempfile::TempDir) -> Spool {
    Spool::open(folder.path(), LIMIT).expect("it is free")
}

/// The kinds, records and payloads of all frames that wait.
fn waiting(spool: &mut Spool) -> Vec<(u8, u32, Vec<u8>)> {
    let found = spool.oldest(u64::MAX).expect("it is readable").into_iter();
    found.filter(|one| !one.is_damaged).map(|one| (one.kind, one.records, one.bytes)).collect()
}

/// A folder whose spool has frames of these bytes, of a record each, and is closed.
fn folder_with(frames: &[Vec<u8>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spool = open(&folder);
    let frames: Vec<_> = frames.iter().map(|bytes| frame(1, 1, bytes)).collect();
    spool.append(&frames).expect("there is room");
    folder
}

#[test]
fn frames_come_back_in_order_and_go_when_they_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spool = open(&folder);
    assert_eq!((spool.records(), spool.since()), (0, None));
    spool.append(&[frame(1, 2, b"ab"), frame(2, 0, b"")]).expect("there is room");
    spool.append(&[frame(1, 1, b"c")]).expect("there is room");
    assert_eq!((spool.records(), spool.bytes()), (3, 3 + 3 * ROW));
    let expected = [(1, 2, b"ab".to_vec()), (2, 0, Vec::new()), (1, 1, b"c".to_vec())];
    assert_eq!(waiting(&mut spool), expected);
    let first = spool.oldest(1).expect("it is readable");
    assert_eq!((first.len(), first[0].is_old), (1, false));
    spool.remove(&first).expect("it is writable");
    assert_eq!((waiting(&mut spool), spool.records()), (expected[1..].to_vec(), 1));
    let rest = spool.oldest(u64::MAX).expect("it is readable");
    spool.remove(&rest).expect("it is writable");
    assert_eq!((spool.bytes(), spool.records(), spool.since()), (0, 0, None));
}

#[test]
fn a_later_run_has_what_an_earlier_one_left() {
    let folder = folder_with(&[b"a".to_vec(), b"b".to_vec()]);
    let mut spool = open(&folder);
    assert_eq!(spool.records(), 2);
    spool.append(&[frame(1, 1, b"c")]).expect("there is room");
    let found = spool.oldest(u64::MAX).expect("it is readable");
    assert_eq!(found.iter().map(|one| one.is_old).collect::<Vec<_>>(), [true, true, false]);
    assert!(spool.since().is_some());
}

#[test]
fn a_folder_has_one_user() {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let _first = open(&folder);
        let second = Spool::open(folder.path(), LIMIT);
        assert!(matches!(second, Err(Error { obstacle: Obstacle::Locked, .. })), "{second:?}");
    }
}

#[test]
fn the_limit_holds_and_room_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spool = Spool::open(folder.path(), 10_000).expect("it is new");
    let bytes = vec![7; 1000];
    let mut written = 0;
    let refusal = loop {
        match spool.append(&[frame(1, 1, &bytes)]) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refusal.obstacle, Obstacle::SpoolFull(10_000)), "{refusal}");
    assert_eq!((written, spool.records()), (9, 9));
    assert!(spool.bytes() <= 10_000);
    let first = spool.oldest(1).expect("it is readable");
    spool.remove(&first).expect("it is writable");
    spool.append(&[frame(1, 1, &bytes)]).expect("there is room again");
}

#[test]
fn the_file_becomes_small_when_nothing_waits() {
    let folder = folder_with(&vec![vec![7; 1 << 20]; 40]);
    let length = || fs::metadata(folder.path().join(NAME)).expect("it is there").len();
    assert!(length() > 40 << 20);
    let mut spool = open(&folder);
    let all = spool.oldest(u64::MAX).expect("it is readable");
    spool.remove(&all).expect("it is writable");
    drop(spool);
    assert!(length() < 1 << 20, "{}", length());
}

#[test]
fn a_database_that_is_deleted_or_replaced_while_it_is_used_is_written_again() {
    for is_replaced in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = open(&folder);
        spool.append(&[frame(1, 1, b"a"), frame(1, 1, b"b")]).expect("there is room");
        let taken = spool.oldest(1).expect("it is readable");
        fs::remove_file(folder.path().join(NAME)).expect("it is there");
        if is_replaced {
            fs::write(folder.path().join(NAME), "another").expect("the folder is ours");
        }
        spool.append(&[frame(1, 1, b"c")]).expect("there is room");
        spool.remove(&taken).expect("frames have other numbers now, so this one is sent again");
        assert_eq!((spool.records(), spool.take_lost()), (3, 0));
        drop(spool);
        let mut spool = open(&folder);
        assert_eq!(spool.records(), 3);
        assert_eq!(waiting(&mut spool), ["a", "b", "c"].map(|one| (1, 1, one.into())));
    }
}

#[test]
fn a_damaged_frame_is_set_aside_and_counts_against_the_limit() {
    let folder = folder_with(&[b"a frame of some length".to_vec(), b"another frame".to_vec()]);
    let path = folder.path().join(NAME);
    let mut bytes = fs::read(&path).expect("it is there");
    let at = bytes.windows(7).position(|part| part == b"a frame").expect("it is in it");
    bytes[at] ^= 1;
    fs::write(&path, &bytes).expect("it is writable");
    let mut spool = open(&folder);
    assert_eq!(waiting(&mut spool), [(1, 1, b"another frame".to_vec())]);
    let all = spool.oldest(u64::MAX).expect("it is readable");
    let aside = spool.set_aside(&all[0]).expect("it is writable");
    assert_eq!(fs::read(aside).expect("it is there"), b"` frame of some length");
    spool.remove(&all).expect("it is writable");
    assert_eq!(spool.bytes(), 22);
    drop(spool);
    assert_eq!(open(&folder).bytes(), 22);
}

#[test]
fn a_database_that_is_none_any_more_is_set_aside() {
    for damage in [&b"no database at all, and of some length"[..], &[0; 4096]] {
        let folder = folder_with(&[b"a".to_vec()]);
        fs::write(folder.path().join(NAME), damage).expect("it is writable");
        let mut spool = open(&folder);
        assert_eq!(spool.records(), 0);
        spool.append(&[frame(1, 1, b"b")]).expect("there is room");
        assert_eq!(waiting(&mut spool), [(1, 1, b"b".to_vec())]);
    }
}

/// Pages of zeros, one after the other: what is whole is sent, and the rest is counted.
#[test]
fn a_database_with_damaged_pages_keeps_what_can_be_read() {
    let frames: Vec<Vec<u8>> = (0..200_u8).map(|one| vec![one; 900]).collect();
    let whole = fs::read(folder_with(&frames).path().join(NAME)).expect("it is there");
    let mut partly = 0;
    for page in 1..whole.len() / 4096 {
        let folder = folder_with(&[]);
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        fs::write(folder.path().join(NAME), &bytes).expect("it is writable");
        let mut spool = open(&folder);
        let found = waiting(&mut spool);
        assert!(found.iter().all(|(.., bytes)| frames.contains(bytes)), "page {page}");
        assert!(found.is_sorted_by_key(|(.., bytes)| bytes[0]), "page {page}");
        partly += usize::from(found.len() > 150 && found.len() < 200);
    }
    assert!(partly > 40, "{partly} of 50 pages have frames");
}
