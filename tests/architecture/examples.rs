//! For each rule, code that breaks it in every spelling that was thought of, and code that keeps it.

use crate::{
    circles::circles, names::misleading, program::Program, rules::faults, source::Source,
    uses::misstatements,
};

/// Everything that is wrong with these files.
fn said(files: &[(&str, &str)]) -> String {
    let sources = files.iter().map(|(path, text)| Source::of(path, text)).collect();
    let program = Program::of(sources);
    let faults: Vec<String> = program.sources.iter().flat_map(faults).collect();
    [faults, misstatements(&program), circles(&program)].concat().join("\n")
}

fn assert_caught(examples: &[(&str, &str, &str)]) {
    for (path, text, sentence) in examples {
        let found = said(&[(path, text)]);
        assert!(found.contains(sentence), "{path}: {text}\nsaid: {found}\nnot: {sentence}");
    }
}

#[test]
fn rooms_use_earlier_rooms_by_their_names() {
    let order = "robots may know the rooms before it, but uses crawlers";
    let by_super = "never reached by super::";
    let hand_on = "a room hands on no names of another one: name their owner";
    assert_caught(&[
        ("formats/robots/parse.rs", "use crate::rules::crawlers::Claim;", order),
        ("formats/robots/parse.rs", "fn f() { let a = '\"'; crate::rules::crawlers::g(a) }", order),
        ("formats/robots/parse.rs", "fn f() { vec![1, crate::rules::crawlers::g()]; }", order),
        ("formats/robots/parse.rs", "fn f(a: Vec<crate::rules::crawlers::A>) {}", order),
        ("formats/robots/parse.rs", "use crate::rules as r; type A = r::crawlers::A;", order),
        ("formats/robots/parse.rs", "#[a(with = \"crate::rules::crawlers::b\")] struct A;", order),
        (
            "formats/robots/parse.rs",
            "use crate::{\n    base::escape,\n    rules::crawlers::{self, Claim},\n};",
            "src/formats/robots/parse.rs:3: robots may know",
        ),
        ("desk/admin/login.rs", "use crate::desk::pages::frame;", "but uses pages"),
        ("serving/proxy/a.rs", "use crate::{base::text, desk::{admin::View}};", "but uses admin"),
        ("desk/api/a.rs", "use crate::nowhere::{a, b};", "'b' is no room: a path names the street"),
        ("base/util/a.rs", "use crate::formats::robots;", "'util' is no room of the design"),
        (
            "base/escape.rs",
            "use crate::rules::policy::Policy;",
            "the base knows no room, but escape uses policy",
        ),
        ("main.rs", "fn main() { beadle::serving::proxy::run() }", "main may know cli only"),
        ("rules/policy/yaml.rs", "use super::super::enforce;", by_super),
        ("rules/policy/yaml.rs", "use super::{super::enforce::{A, B}};", by_super),
        ("rules/policy/mod.rs", "use super::enforce;", by_super),
        ("records/violations/mod.rs", "pub use crate::records::tally;", hand_on),
        ("desk/api/a.rs", "pub(crate) use crate::{base::text};", hand_on),
        ("desk/api/a.rs", "use crate::base::text;\npub(super) use text::Text;", hand_on),
        ("desk/api/a.rs", "pub type Text = crate::base::text::Text;", hand_on),
        ("desk/api/a.rs", "use crate::desk::admin::*;", "an import says which names it brings"),
    ]);
}

#[test]
fn crates_clocks_sockets_and_effects_have_their_rooms() {
    let clock = "a clock is read in fetch, forward, lines";
    let socket = "sockets are opened in connections, edge, proxy";
    let effect = "robots does no input and no output: ";
    let print = "nothing is printed outside cli";
    let build = "is read in version only";
    let unwrap = "no unwrap outside tests";
    assert_caught(&[
        (
            "rules/enforce/a.rs",
            "use pingora::Error;",
            "the crate 'pingora' is known in edge/ and proxy/ only",
        ),
        (
            "records/violations/a.rs",
            "use rusqlite as sql;",
            "known in lines/database.rs and spool and violations/store/ only",
        ),
        ("rules/policy/a.rs", "fn f() { serde_yaml::from_str(x) }", "policy/yaml.rs and import/"),
        ("program/cli/serve.rs", "use {axum};", "admin/ and pages/ and api/ and cli/demo.rs only"),
        ("rules/enforce/a.rs", "#[tokio::main] fn f() {}", "the crate 'tokio' is known in"),
        ("rules/enforce/a.rs", "fn f() { jiff::Timestamp::now(); }", clock),
        ("records/tally/a.rs", "use std::time as t;\nfn f() { t::Instant::now(); }", clock),
        ("records/tally/a.rs", "use std::time::Instant as I;\nfn f() { g(I::now) }", clock),
        ("records/tally/a.rs", "fn f(a: A) { format!(\"{:?}\", a.b.elapsed()); }", clock),
        ("records/tally/a.rs", "fn f(a: A) { a.elapsed(); }", clock),
        ("serving/gate/a.rs", "use tokio::{io, net::{TcpStream as S}};", socket),
        ("desk/pages/a.rs", "use std::net;\nfn f() { net::UdpSocket::bind(a) }", socket),
        ("serving/proxy/a.rs", "fn f() { println!(); }", print),
        ("serving/proxy/a.rs", "fn f() { let quote = '\"'; std::eprint!(\"{quote}\"); }", print),
        ("serving/proxy/a.rs", "fn f() { g! { if x { dbg!(x) } } }", print),
        ("formats/robots/a.rs", "use std::{fs, thread};", effect),
        ("formats/robots/a.rs", "use std::{self as s};\nfn f() { s::fs::read(\"a\"); }", effect),
        ("formats/robots/a.rs", "fn f() { ::std::process::exit(1) }", effect),
        ("formats/robots/a.rs", "struct A { b: std::time::SystemTime }", effect),
        ("formats/robots/a.rs", "pub async fn f() {}", effect),
        ("formats/robots/a.rs", "fn f() { g(async {}) }", effect),
        ("formats/robots/a.rs", "fn f() { g(async || {}) }", effect),
        ("formats/robots/a.rs", "fn f() { g!(a.b().await) }", effect),
        ("desk/api/status.rs", "fn f() { let x = env!(\"CARGO_PKG_VERSION\"); }", build),
        ("desk/api/status.rs", "const A: &str = concat!(\"a\", option_env!(\"B\"));", build),
        ("program/cli/a.rs", "fn f() { let x = y.unwrap(); }", unwrap),
        ("program/cli/a.rs", "fn f() { assert!(y.unwrap()); y.map(Option::unwrap) }", unwrap),
    ]);
}

#[test]
fn files_have_their_sizes_names_and_docs() {
    assert_caught(&[
        ("rules/policy/yaml.rs", &"\n".repeat(451), "at most 450 lines, not 451"),
        ("rules/policy/shared.rs", "", "named by a noun, not by a participle: shared"),
        ("rules/policy/mod.rs", "//! A policy.\n", "ends with the line 'May use: …'"),
    ]);
}

#[test]
fn a_file_is_not_named_as_another_one_or_as_a_room() {
    let found = |paths: &[&str]| {
        let sources = paths.iter().map(|path| Source::of(path, "")).collect();
        misleading(&Program::of(sources)).join("\n")
    };
    let sentence = "a file's name tells its room";
    for paths in [
        &["outside/acme/private.rs", "outside/tls/private.rs"][..],
        &["outside/acme/private.rs", "outside/tls/private/mod.rs"],
        &["outside/tls/fleet.rs"],
        &["outside/tls/serving.rs"],
    ] {
        assert!(found(paths).contains(sentence), "{paths:?}");
    }
    for paths in [
        &["outside/acme/mod.rs", "outside/tls/mod.rs", "outside/tls/pair.rs", "base/text.rs"][..],
        &["outside/acme/private.rs", "desk/api/private.rs"],
        &["formats/robots/emit.rs", "formats/robots_tag/emit.rs"],
    ] {
        assert!(!found(paths).contains(sentence), "{paths:?}");
    }
}

#[test]
fn a_name_leads_to_its_definition_whoever_hands_it_on() {
    const POLICY: &str = "//! May use: robots.\npub use crate::formats::robots::A;";
    for (files, sentence) in [
        (
            &[
                ("rules/policy/mod.rs", POLICY),
                ("rules/enforce/mod.rs", "//! May use: policy.\nuse crate::rules::policy::A;"),
            ][..],
            "src/rules/enforce/mod.rs:1: it uses robots, its doc doesn't say so",
        ),
        (
            &[("rules/enforce/mod.rs", "//! May use: policy.")],
            "src/rules/enforce/mod.rs:1: its doc allows policy, which it doesn't use",
        ),
        (
            &[
                ("state/publication/servers/mod.rs", "//! May use: policy.\nuse super::b::{B};"),
                ("state/publication/b.rs", ""),
            ],
            "src/state/publication/servers/mod.rs:1: it uses b, its doc doesn't say so",
        ),
        (
            &[
                ("serving/edge/a.rs", "pub type Session = pingora::Session;"),
                ("desk/admin/b.rs", "use crate::serving::edge::a::{Session};"),
            ],
            "src/desk/admin/b.rs:1: the crate 'pingora' is known in edge/ and proxy/ only",
        ),
        (
            &[
                ("formats/robots/a.rs", "use super::disk;\nfn f() { disk::read(\"a\"); }"),
                ("formats/robots/mod.rs", "use std::fs as disk;"),
            ],
            "src/formats/robots/a.rs:2: robots does no input and no output: std::fs::read",
        ),
        (
            &[
                ("desk/api/a/mod.rs", "mod b;\npub use self::b::B;\nfn f(b: B) {}"),
                ("desk/api/a/b.rs", "pub struct B(super::A);"),
            ],
            "crate::desk::api::a::b -> crate::desk::api::a::mod (src/desk/api/a/b.rs:1), \
             crate::desk::api::a::mod -> crate::desk::api::a::b (src/desk/api/a/mod.rs:3)",
        ),
        (
            &[
                ("desk/api/a/b.rs", "use super::super::c;"),
                ("desk/api/a/d.rs", ""),
                ("desk/api/c.rs", "fn f() { vec![super::a::d::f()]; }"),
            ],
            "crate::desk::api::a -> crate::desk::api::c (src/desk/api/a/b.rs:1), ",
        ),
        (
            &[
                ("base/text.rs", "use crate::base::escape;"),
                ("base/escape.rs", "mod inner { fn f() { super::super::text::f() } }"),
            ],
            "crate::base::escape -> crate::base::text",
        ),
    ] {
        let found = said(files);
        assert!(found.contains(sentence), "{files:?}\nsaid: {found}\nnot: {sentence}");
    }
}

#[test]
fn code_that_keeps_the_rules_is_not_blamed() {
    for files in [
        &[("formats/robots/parse.rs", "use crate::base::escape; // crate::rules::policy")][..],
        &[("formats/robots/a.rs", "fn f() { let text = \"crate::rules::policy \\\" println!\"; }")],
        &[("formats/robots/a.rs", "use std::{net::{IpAddr, SocketAddr}, time::Duration};")],
        &[(
            "formats/robots/a.rs",
            "pub(in crate::formats::robots) fn f(http: A) { g(http); http.x }",
        )],
        &[(
            "formats/robots/parse.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::rules::policy;\n    fn f() { x.unwrap(); }\n}",
        )],
        &[(
            "formats/robots/a.rs",
            "impl A { #[cfg(test)]\n fn f() { std::fs::read(x).unwrap(); } }",
        )],
        &[(
            "rules/policy/yaml.rs",
            "use super::shape; use axum_like::x; use serde_yaml::from_str;",
        )],
        &[(
            "serving/proxy/mod.rs",
            "//! The path.\n//!\n//! May use: policy, metrics.\n\
             use crate::{rules::policy::{self, enforce}, base::metrics};",
        )],
        &[(
            "program/cli/mod.rs",
            "//! Verbs.\n//!\n//! May use: everything.\nfn f() { println!(); Instant::now(); }",
        )],
        &[("main.rs", "use std::process::ExitCode;\nfn main() { beadle::program::cli::run() }")],
        // A map of its folder makes no circle.
        &[
            ("desk/api/a/b.rs", "use super::C;\n#[cfg(test)]\nmod tests { use super::super::A; }"),
            ("desk/api/a/c.rs", "pub struct C; // use super::b::B;"),
            ("desk/api/a/mod.rs", "mod b;\nmod c;\npub use b::B;\npub use self::c::{C, D as E};"),
        ],
    ] {
        assert_eq!(said(files), "", "{files:?}");
    }
}
