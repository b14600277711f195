//! Hostile request targets, made from a source of choices: random numbers or the bytes of a fuzzer.

#![allow(dead_code, reason = "each program uses its part of this")]

/// The folders and files of the tree that is asked for: names that a step may turn into each other.
pub(crate) const FOLDERS: [&str; 12] = [
    "a", "private", "a;b", "a\\b", "...", "@admin", "a+b", "Special:", "PRIVATE", "public", "b.",
    "c c",
];
pub(crate) const FILES: [&str; 12] =
    ["x", "x;y", "X", "x?y", "x%70", "x.", "y\\x", ".h", "secret.html", "doc.pdf", "x#", "\u{e9}"];

/// How a target begins.
const STARTS: [&str; 16] = [
    "/",
    "/",
    "/",
    "/",
    "//",
    "///",
    "/\\",
    "/./",
    "//q/",
    "/\\q/",
    "/%2f",
    "/../q/",
    "/..%2fq/",
    "/a/..%2f..%2fq/",
    "//q:80/",
    "/;q/",
];

/// What stands between names.
const JOINTS: [&str; 30] = [
    "/",
    "/",
    "/",
    "/",
    "/",
    "/",
    "//",
    "/./",
    "/../",
    "%2f",
    "%2F",
    "/..;/",
    "%2f..%2f",
    "/%2e%2e/",
    "\\",
    "%5c",
    "/;/",
    ";%2f",
    "%2f/",
    "///",
    "/.%2e/",
    "/.;a/",
    "%252f",
    "/..%2f",
    "\\../",
    "%5cb\\../",
    "\\..%2f",
    "%5c../",
    "%2fb/../",
    "//../",
];

/// What may stand behind a name.
const TAILS: [&str; 24] = [
    "", "", "", "", "", "", "", "", ";", ";a=b", "%3b", "%3Bq", ".", "%2e", "%20", "%0a", "%00",
    "%", "%09", "/.", "/..", "?", "/", "%2f..",
];

/// Pieces without order.
const PIECES: [&str; 59] = [
    "/",
    "/",
    "/",
    ".",
    ".",
    "..",
    "%2f",
    "%2F",
    "%5c",
    "%5C",
    "\\",
    ";",
    ";",
    "%3b",
    "%2e",
    "%2E",
    "%25",
    "%252e",
    "%252f",
    "%2570",
    "a",
    "a",
    "private",
    "private",
    "x",
    "x",
    "?",
    "//",
    ":",
    "@",
    "%40",
    "+",
    "%2b",
    "%u002e",
    "%u002f",
    "%u0070",
    "%e9",
    "%c3%a9",
    "%",
    "%2",
    "%zz",
    "%3f",
    "%23",
    "q",
    "*",
    "%70",
    "=",
    "&",
    "%6=",
    "%2;",
    "%:",
    "/private/x",
    "/private/x",
    "..;",
    ":80",
    "|",
    "%7?",
    "/../",
    "%=@",
];

/// A choice below a number.
pub(crate) type Choose<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A target in origin-form: printable ASCII without `#`, not the form of a proxy.
pub(crate) fn target(choose: Choose<'_>) -> Vec<u8> {
    let mut out = String::new();
    match choose(4) {
        0 => {
            out.push('/');
            for _ in 0..1 + choose(12) {
                out.push_str(PIECES[choose(PIECES.len())]);
            }
        }
        kind => {
            out.push_str(STARTS[choose(STARTS.len())]);
            for _ in 0..choose(4) {
                name(&mut out, &FOLDERS, choose);
                out.push_str(joint(kind, choose));
            }
            name(&mut out, &FILES, choose);
            out.push_str(TAILS[choose(TAILS.len())]);
            if choose(8) == 0 {
                out.push_str(["?", "?a=b", "?a%5bb%5d=%2F", "?%3f", "??"][choose(5)]);
            }
        }
    }
    out.into_bytes()
}

/// Usual joints are frequent, or there would be few targets of something that exists.
fn joint(kind: usize, choose: Choose<'_>) -> &'static str {
    let count = if kind == 1 { 6 } else { JOINTS.len() };
    JOINTS[choose(count)]
}

/// A name with some octets encoded: those that must be, and any other once in a while.
fn name(out: &mut String, names: &[&str], choose: Choose<'_>) {
    let count = if choose(3) == 0 { names.len() } else { 2 };
    let name = names[choose(count)];
    let freely = choose(4) == 0;
    for octet in name.bytes() {
        let is_needed = !octet.is_ascii_graphic() || b"?#%".contains(&octet);
        match (is_needed, if freely { choose(6) } else { 0 }) {
            (true, 4) => out.push_str(&format!("%25{octet:02x}")),
            (false, 5) => out.push_str(&format!("%25{octet:02X}")),
            (true, _) | (false, 1) => out.push_str(&format!("%{octet:02X}")),
            (false, 2) => out.push_str(&format!("%{octet:02x}")),
            _ => out.push(char::from(octet)),
        }
    }
}

/// Numbers that look random (splitmix64), the same for the same seed.
pub(crate) fn choices(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = seed;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ value >> 31) % below as u64) as usize
    }
}
