//! What is left of a spool after a crash, and what is known of damage.

use std::fs;

use proptest::prelude::*;

use super::{
    folder::Spool,
    segment::{OPEN, SEALED},
    *,
};
use crate::records::record::{Error, Obstacle};

const LIMIT: u64 = 64 << 20;

fn frame(kind: u8, records: u32, bytes: &[u8]) -> Frame<'_> {
    Frame { kind, records, bytes }
}

/// The kinds, records and payloads of all frames that wait.
fn waiting(spool: &mut Spool) -> (Vec<(u8, u32, Vec<u8>)>, Totals) {
    spool.seal().expect("it is writable");
    let (mut frames, mut lost) = (Vec::new(), Totals::default());
    for sealed in spool.oldest(u64::MAX) {
        let contents = sealed.read().expect("it is readable");
        lost.frames += contents.lost.frames;
        lost.records += contents.lost.records;
        frames.extend(contents.frames().map(|one| (one.kind, one.records, one.bytes.to_vec())));
    }
    (frames, lost)
}

/// The only file with this ending.
fn file(folder: &std::path::Path, ending: &str) -> std::path::PathBuf {
    let paths =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut found = paths.filter(|path| path.extension().is_some_and(|one| one == ending));
    found.next().expect("there is one")
}

#[test]
fn frames_come_back_in_order_and_go_when_they_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, recovery) = Spool::open(folder.path(), LIMIT).expect("it is new");
    assert_eq!(recovery, Recovery::default());
    spool.append(&[frame(1, 2, b"ab"), frame(2, 0, b"")]).expect("there is room");
    spool.append(&[frame(1, 1, b"c")]).expect("there is room");
    assert_eq!((spool.records(), spool.sealed()), (3, 0));
    assert!(spool.oldest(u64::MAX).is_empty(), "an open segment is nobody's");
    let (frames, lost) = waiting(&mut spool);
    let expected = [(1, 2, b"ab".to_vec()), (2, 0, Vec::new()), (1, 1, b"c".to_vec())];
    assert_eq!((frames, lost), (expected.to_vec(), Totals::default()));
    let sealed = spool.oldest(u64::MAX);
    spool.remove(&sealed[0]).expect("it is writable");
    assert_eq!((spool.bytes(), spool.records(), spool.since()), (0, 0, None));
}

#[test]
fn a_folder_has_one_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    let second = Spool::open(folder.path(), LIMIT);
    assert!(matches!(second, Err(Error { obstacle: Obstacle::Locked, .. })));
    drop(first);
    assert!(Spool::open(folder.path(), LIMIT).is_ok());
}

#[test]
fn the_limit_holds_and_room_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), 10_000).expect("it is new");
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
    spool.seal().expect("it is writable");
    let sealed = spool.oldest(u64::MAX);
    spool.remove(&sealed[0]).expect("it is writable");
    spool.append(&[frame(1, 1, &bytes)]).expect("there is room again");
}

#[test]
fn a_large_segment_is_sealed_and_oldest_takes_a_few() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    let bytes = vec![7; 1 << 20];
    for _ in 0..9 {
        spool.append(&[frame(1, 1, &bytes)]).expect("there is room");
    }
    assert_eq!(spool.sealed(), 2);
    assert_eq!(spool.oldest(1).len(), 1);
    assert_eq!(spool.oldest(u64::MAX).len(), 2);
}

#[test]
fn a_segment_that_is_deleted_while_it_is_written_is_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    spool.append(&[frame(1, 1, b"a")]).expect("there is room");
    fs::remove_file(file(folder.path(), OPEN)).expect("it is there");
    spool.append(&[frame(1, 1, b"b")]).expect("there is room");
    let (frames, lost) = waiting(&mut spool);
    assert_eq!((frames.len(), lost), (2, Totals::default()));
}

#[test]
fn a_sealed_segment_that_is_gone_counts_as_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    spool.append(&[frame(1, 5, b"a")]).expect("there is room");
    spool.seal().expect("it is writable");
    fs::remove_file(file(folder.path(), SEALED)).expect("it is there");
    let (frames, lost) = waiting(&mut spool);
    assert_eq!((frames.len(), lost), (0, Totals { frames: 1, records: 5 }));
    let sealed = spool.oldest(u64::MAX);
    spool.set_aside(&sealed[0]).expect("it is gone already");
    assert_eq!((spool.bytes(), spool.sealed()), (0, 0));
}

#[test]
fn a_damaged_segment_is_set_aside_and_counts_against_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    spool.append(&[frame(1, 5, b"abc"), frame(1, 2, b"def")]).expect("there is room");
    spool.seal().expect("it is writable");
    let path = file(folder.path(), SEALED);
    let mut bytes = fs::read(&path).expect("it is there");
    bytes[8 + 20] ^= 1; // the first payload
    fs::write(&path, &bytes).expect("it is writable");
    let (frames, lost) = waiting(&mut spool);
    assert_eq!(frames, [(1, 2, b"def".to_vec())]);
    assert_eq!(lost, Totals { frames: 1, records: 5 });
    let aside = spool.set_aside(&spool.oldest(u64::MAX)[0]).expect("it is writable");
    assert!(aside.exists());
    assert_eq!(spool.bytes(), bytes.len() as u64);
    drop(spool);
    let (spool, recovery) = Spool::open(folder.path(), LIMIT).expect("it is free");
    assert_eq!((recovery.segments, spool.bytes()), (0, bytes.len() as u64));
}

/// Calls of one to three frames each.
fn calls() -> impl Strategy<Value = Vec<Vec<(u8, u32, Vec<u8>)>>> {
    let frame = (any::<u8>(), 0_u32..9, proptest::collection::vec(any::<u8>(), 0..40));
    proptest::collection::vec(proptest::collection::vec(frame, 1..4), 1..8)
}

/// A folder with these calls; sealed or as a crash leaves it.
fn folder_with(calls: &[Vec<(u8, u32, Vec<u8>)>], is_sealed: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it is new");
    for call in calls {
        let frames: Vec<_> = call.iter().map(|(kind, n, bytes)| frame(*kind, *n, bytes)).collect();
        spool.append(&frames).expect("there is room");
    }
    if is_sealed {
        spool.seal().expect("it is writable");
    }
    folder
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A crash leaves the file cut anywhere: every whole call is there, and nothing of the one that was
    /// interrupted.
    #[test]
    fn a_cut_at_any_byte_leaves_whole_calls(calls in calls(), cut in any::<prop::sample::Index>()) {
        let folder = folder_with(&calls, false);
        let path = file(folder.path(), OPEN);
        let bytes = fs::read(&path).expect("it is there");
        let length = cut.index(bytes.len() + 1);
        fs::write(&path, &bytes[..length]).expect("it is writable");
        let mut end = 8;
        let mut whole = Vec::new();
        for call in &calls {
            end += call.iter().map(|(.., bytes)| 20 + bytes.len()).sum::<usize>();
            if end <= length {
                whole.extend(call.iter().cloned());
            }
        }
        let (mut spool, recovery) = Spool::open(folder.path(), LIMIT).expect("it opens");
        prop_assert!(recovery.damaged.is_empty(), "{recovery:?}");
        prop_assert_eq!(spool.oldest(u64::MAX).iter().all(|one| one.is_old), true);
        let (frames, lost) = waiting(&mut spool);
        prop_assert_eq!(frames, whole);
        prop_assert_eq!(lost, Totals::default());
    }

    /// A sealed segment that is cut or changed loses exactly what is not whole any more.
    #[test]
    fn damage_to_a_sealed_segment_is_counted_exactly(
        calls in calls(),
        at in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let folder = folder_with(&calls, true);
        let path = file(folder.path(), SEALED);
        let mut bytes = fs::read(&path).expect("it is there");
        let at = at.index(bytes.len());
        if cuts {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 0x40;
        }
        fs::write(&path, &bytes).expect("it is writable");
        let all: Vec<_> = calls.concat();
        let sum = all.iter().map(|one| u64::from(one.1)).sum::<u64>();
        let (mut spool, _) = Spool::open(folder.path(), LIMIT).expect("it opens");
        let (frames, lost) = waiting(&mut spool);
        let found = frames.iter().map(|one| u64::from(one.1)).sum::<u64>();
        prop_assert_eq!(lost.records + found, sum);
        prop_assert_eq!(lost.frames + frames.len() as u64, all.len() as u64);
        prop_assert!(cuts || lost.frames <= 1, "one byte damages one frame");
        let mut rest = all.iter();
        prop_assert!(frames.iter().all(|one| rest.any(|known| known == one)), "in order");
    }

    /// A changed byte in a segment that was not sealed is either behind all whole calls, or found.
    #[test]
    fn damage_before_a_whole_call_is_no_crash(calls in calls(), at in any::<prop::sample::Index>()) {
        let folder = folder_with(&calls, false);
        let path = file(folder.path(), OPEN);
        let mut bytes = fs::read(&path).expect("it is there");
        let last: usize = calls.last().map_or(0, |call| call.iter().map(|one| 20 + one.2.len()).sum());
        let at = 8 + at.index(bytes.len() - 8);
        let is_in_last = at >= bytes.len() - last;
        bytes[at] ^= 0x40;
        fs::write(&path, &bytes).expect("it is writable");
        let (mut spool, recovery) = Spool::open(folder.path(), LIMIT).expect("it opens");
        prop_assert!(is_in_last || !recovery.damaged.is_empty());
        let (_, lost) = waiting(&mut spool);
        prop_assert!(is_in_last || lost.frames >= 1, "{lost:?}");
    }
}
