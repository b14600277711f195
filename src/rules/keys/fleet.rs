//! The keys of `fleet`.

use super::{
    section::{Absent, Key, Section, Shape},
    values::{FILE, NAME, SHARED},
};

/// `fleet`.
pub static FLEET: Section = Section {
    path: "fleet",
    one_of: &[],
    keys: &[
        Key {
            name: "shared",
            shape: SHARED,
            absent: Absent::Required,
            meaning: "the Valkey or Redis server that all nodes share: `redis://`, `rediss://` \
                      with TLS, `+sentinel` or `+cluster`. The URL has no password",
        },
        Key {
            name: "node",
            shape: NAME,
            absent: Absent::Words("`BEADLE_FLEET_NODE`, else the host's name"),
            meaning: "name of this node, different from those of all others",
        },
        Key {
            name: "password_file",
            shape: FILE,
            absent: Absent::Words("`BEADLE_FLEET_PASSWORD`, else no password"),
            meaning: "file of the server's password; not readable by every user",
        },
        Key {
            name: "ca_file",
            shape: FILE,
            absent: Absent::Words("the system's authorities"),
            meaning: "PEM file of the authorities that the server's certificate comes from",
        },
        Key {
            name: "prefix",
            shape: NAME,
            absent: Absent::Value("beadle"),
            meaning: "what every key on the server begins with, at most 32 characters. Two fleets \
                      on one server have two prefixes",
        },
        Key {
            name: "alone",
            shape: Shape::Choice(&["excuse", "judge"]),
            absent: Absent::Value("excuse"),
            meaning: "what a node does with violations while it hears nothing of the others: it \
                      excuses them, or it judges by the rules that it knows",
        },
    ],
};
