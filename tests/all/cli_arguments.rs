//! Arguments of commands: what cannot be used is refused, on any standard output.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    process::{Command, Output},
};

use crate::support::program::{PROGRAM, run_with_input};

fn run(args: &[&OsStr]) -> Output {
    let output = Command::new(PROGRAM).args(args).env_remove("BEADLE_CONFIG").output();
    output.expect("the program can be started")
}

#[test]
fn s147_arguments_that_can_not_be_used_are_refused() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let robots_txt = folder.path().join("robots.txt");
    std::fs::write(&robots_txt, "User-agent: *\nDisallow: /a\n").expect("the folder is ours");
    let explain: [&OsStr; 5] = [
        "explain".as_ref(),
        "--robots-txt".as_ref(),
        robots_txt.as_ref(),
        "--product-token".as_ref(),
        "x".as_ref(),
    ];
    let text = OsStr::new;
    let latin1 = OsStr::from_bytes(b"caf\xe9.yaml");
    for args in [
        [&explain[..], &[text("--format"), text("xml"), text("/a")]].concat(),
        [&explain[..], &[text("--nonsense"), text("/a")]].concat(),
        explain.to_vec(),
        vec![text("check"), latin1],
        vec![text("nonsense")],
        vec![text("violations"), text("--limit"), text("1e9")],
        vec![text("violations"), text("--site"), OsStr::from_bytes(b"\xff")],
    ] {
        let output = run(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!stderr.trim().is_empty(), "{args:?}");
        let control = stderr.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{args:?}: no escape sequence without a terminal");
    }
    // A target is octets, not text.
    let target: OsString = OsStr::from_bytes(b"/a\xe9").to_owned();
    let output = run(&[&explain[..], &[&target]].concat());
    assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
    assert!(!output.stdout.contains(&b'\x1b') && output.stdout.is_ascii(), "{output:?}");
}

#[test]
fn s147_a_compressed_file_is_no_text_and_does_no_harm() {
    let gzip =
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x0b\x2d\x4e\x2d\xd2\x4d\x4c\x00\xff\n\x1b[2J\n";
    for args in [
        &["crawlers", "identify"][..],
        &["tags", "--product-token", "x"],
        &["explain", "--robots-txt", "/dev/stdin", "--product-token", "x", "/a"],
    ] {
        let output = run_with_input(args, gzip);
        assert!(output.status.code().is_some_and(|code| code <= 2), "{args:?}: {output:?}");
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(text.clone()).expect("what is printed is UTF-8");
            assert_eq!(text.chars().find(|c| c.is_control() && *c != '\n'), None, "{args:?}");
        }
    }
}
