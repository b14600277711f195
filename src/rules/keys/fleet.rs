//! The keys of `fleet`.

use super::{
    section::{
        Absent::{Required, Value, Words},
        Section,
        Shape::Choice,
        key,
    },
    values::{FILE, NAME, SHARED},
};

/// `fleet`.
pub static FLEET: Section = Section {
    path: "fleet",
    one_of: &[],
    keys: &[
        key("shared", SHARED, Required).means(
            "the Valkey or Redis server that all nodes share: `redis://`, `rediss://` with TLS, \
             `+sentinel` or `+cluster`. The URL has no password",
        ),
        key("node", NAME, Words("`BEADLE_FLEET_NODE`, else the host's name"))
            .means("name of this node, different from those of all others"),
        key("password_file", FILE, Words("`BEADLE_FLEET_PASSWORD`, else no password"))
            .means("file of the server's password; not readable by every user"),
        key("ca_file", FILE, Words("the system's authorities"))
            .means("PEM file of the authorities that the server's certificate comes from"),
        key("prefix", NAME, Value("beadle")).means(
            "what every key on the server begins with, at most 32 characters. Two fleets on one \
             server have two prefixes",
        ),
        key("alone", Choice(&["excuse", "judge"]), Value("excuse")).means(
            "what a node does with violations while it hears nothing of the others: it excuses \
             them, or it judges by the rules that it knows",
        ),
    ],
};
