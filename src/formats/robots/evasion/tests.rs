//! The forms of a target, by tables.

use proptest::prelude::*;

use super::{step::STEPS, *};
use crate::formats::robots::{Access, Form, Matcher, Target, parse};

fn found(target: &str, reading: Reading) -> Vec<String> {
    let target = Target::read_by(target.as_bytes(), reading);
    let forms = target.evasions().into_iter().map(|form| form.escape_ascii().to_string());
    forms.collect()
}

#[test]
fn evasion_forms_are_those_that_an_origin_may_see() {
    for (target, forms) in [
        ("/private/x", &[][..]),
        ("/.well-known/x", &[]),
        ("/a?u=http://x/../y;z", &[]),
        ("//private/x", &["/private/x", "/x"]),
        ("/./private/x", &["/private/x"]),
        ("/x/../private/x", &["/private/x"]),
        ("/%2e%2E/private/", &["/private/", "/"]),
        ("/private%2fx", &["/private/x"]),
        ("/private%5cx", &["/private/x"]),
        ("/private\\x", &["/private/x"]),
        ("/private;j=1/x;k", &["/private/x", "/private;j=1/x"]),
        ("/package/@types%2Fnext.js/", &["/package/@types/next.js/"]),
        ("/?q=a%3Bb", &[]),
        ("/%40admin/x", &["/@admin/x"]),
        ("/Special%3A/x", &["/Special:/x"]),
        ("/doc.pdf?", &["/doc.pdf"]),
        ("/?filter%5bsecret%5d=1", &["/?filter[secret]=1"]),
        ("/?q=admin%2Fx", &["/?q=admin/x"]),
        ("/?q=a%26b%3Dc%3F%23%2B", &[]),
        ("/who%3F%23%25", &[]),
        ("/%c0%afprivate/x", &["/%C3%80%C2%AFprivate/x", "/private/x"]),
        ("/%2570rivate", &[]),
        ("/a/b/..", &["/a/", "/a"]),
        ("/..", &["/"]),
        ("/../www/x", &["/www/x", "/x"]),
        ("/doc.pdf/", &[]),
        ("/doc.pdf//", &["/doc.pdf/", "/doc.pdf"]),
        ("/doc.pdf%2f", &["/doc.pdf/", "/doc.pdf"]),
        ("/x%0a", &["/x"]),
        ("/%u0070rivate", &["/private"]),
        ("/%E9", &["/%C3%A9", "/"]),
        ("/private//..//x", &["/private/../x", "/private//x", "/x", "/private/x"]),
    ] {
        assert_eq!(found(target, Reading::default()), forms, "{target}");
    }
}

#[test]
fn a_form_that_two_letters_make_is_listed_once() {
    for target in ["/;%3?", "/;a/%6@?", "/%3?x", "/\\%3?%2b=%3d", "/x%ff%3??"] {
        let found = found(target, Reading::default());
        let different: std::collections::HashSet<&String> = found.iter().collect();
        assert_eq!(different.len(), found.len(), "{target}: {found:?}");
    }
}

#[test]
fn a_declared_reading_adds_forms() {
    let reading = Reading { decode_depth: 2, ..Reading::default() };
    assert_eq!(found("/%2570rivate/x", reading), ["/private/x"]);
    assert_eq!(found("/a%252Fb", reading), ["/a%2Fb", "/a/b"]);
    assert_eq!(found("/%252570", reading), ["/%2570"], "once more, and no further");
    assert_eq!(found("/%252570", Reading { decode_depth: 3, ..reading }), ["/%2570", "/p"]);
    let reading = Reading { case_insensitive: true, ..Reading::default() };
    assert_eq!(found("/PRIVATE/X", reading), ["/private/x"]);
    assert_eq!(found("/A%2FB?%4A", reading), ["/A/B?J", "/a%2fb?j", "/a/b?j"]);
}

#[test]
fn a_step_that_the_origin_does_not_take_makes_no_form() {
    for (step, target, form) in [
        ("merge_slashes", "/a//b", "/a/b"),
        ("drop_authority", "//q/b", "/b"),
        ("leave_root", "/../www/x", "/x"),
        ("decode_slash", "/a%2Fb", "/a/b"),
        ("decode_backslash", "/a%5Cb", "/a/b"),
        ("read_backslash", "/a\\b", "/a/b"),
        ("decode_reserved", "/%40a", "/@a"),
        ("decode_reserved", "/a%3Bb", "/a;b"),
        ("decode_unicode", "/%u0070", "/p"),
        ("decode_unicode", "/pr%6@", "/pri"),
        ("decode_latin_1", "/%E9", "/%C3%A9"),
        ("drop_invalid_utf8", "/pri%ADvate/", "/private/"),
        ("drop_parameters", "/a;b/c", "/a/c"),
        ("drop_parameters", "/a;b;c", "/a;b"),
        ("trim_slashes", "/a//", "/a"),
        ("trim_line_feed", "/a%0A", "/a"),
        ("trim_dots", "/a.", "/a"),
        ("trim_dots", "/a/b.%20.", "/a/b"),
        ("drop_empty_query", "/a?", "/a"),
        ("decode_query", "/?a%5B=b", "/?a[=b"),
        ("name_variables", "/?a.b=c", "/?a_b=c"),
    ] {
        let (name, one) = Steps::NAMED.into_iter().find(|(name, _)| *name == step).expect(step);
        let by = |steps| found(target, Reading { steps, ..Reading::default() });
        assert!(by(Steps::NONE.with(one)).iter().any(|made| made == form), "{name}: {target}");
        let others = Steps::ALL.with(Steps::TRIM_DOTS).without(one);
        let is_left = by(others).iter().any(|made| made == form);
        // What a `\\` as sent may be is also what its escape may be.
        assert_eq!(is_left, step == "read_backslash", "{name}: {target}");
    }
}

#[test]
fn dot_segments_are_resolved_whatever_else_the_origin_does() {
    let reading = Reading { steps: Steps::NONE, ..Reading::default() };
    for target in ["/x/../private/a", "/./private/a", "/x/%2e%2E/private/a", "/../private/a"] {
        assert_eq!(found(target, reading), ["/private/a"], "{target}");
        assert_eq!(judge("disallow: /private/", target, reading), DOTS, "{target}");
    }
    for target in ["//private/a", "/private;x/a", "/x/..%2Fprivate/a", "/private%2Fa"] {
        assert_eq!(judge("disallow: /private/", target, reading), ALLOW, "{target}");
    }
}

#[test]
fn all_steps_are_those_that_have_a_name() {
    let all = Steps::NAMED.iter().fold(Steps::NONE, |all, (_, step)| all.with(*step));
    assert_eq!(all.without(Steps::TRIM_DOTS), Steps::ALL);
    assert_eq!(Steps::ALL.without(Steps::ALL), Steps::NONE);
    assert_eq!(Steps::NONE.names(), "");
    for steps in [Steps::NONE, Steps::ALL, all] {
        assert_eq!(Steps::of_names(&steps.names()), steps);
    }
    let merging = Steps::NONE.with(Steps::MERGE_SLASHES);
    assert_eq!(Steps::of_names("merge_slashes, of_tomorrow"), merging);
}

/// The verdict for `target` by these lines of a group for `*`.
fn judge(rules: &str, target: &str, reading: Reading) -> (Access, Form) {
    let text = format!("user-agent: *\n{}", rules.replace(", ", "\n"));
    let matcher = Matcher::new(&parse(text.as_bytes()).0);
    let scope = matcher.star().expect("a group");
    let verdict = matcher.verdict(scope, &Target::read_by(target.as_bytes(), reading));
    let explained = matcher.explain(scope, &Target::read_by(target.as_bytes(), reading)).verdict;
    assert_eq!(explained, verdict, "{target}");
    (verdict.access, verdict.form)
}

const ALLOW: (Access, Form) = (Access::Allow, Form::Letter);
/// Disallowed by the letter, with dot segments resolved.
const DOTS: (Access, Form) = (Access::Disallow, Form::Letter);
const OTHER: (Access, Form) = (Access::Disallow, Form::Other);

#[test]
fn every_order_of_the_steps_is_judged() {
    for (rules, target) in [
        ("disallow: /private/", "/a%5cb/..%2fprivate/x"),
        ("disallow: /, allow: /public/", "/public/a%5cb%5cc/..%2f..%2fsecret.html"),
        ("disallow: /private/", "/x%2f..;%2fa/private/x"),
        ("disallow: /private/", "/pub%2Fprivate./..//private%2Fx"),
        ("disallow: /private/x", "/private//..//x"),
        ("disallow: /private/", "//q/private/x"),
        ("disallow: /private/", "///q/private/x"),
        ("disallow: /private/", "/\\q/private/x"),
        ("disallow: /private/", "/%5c%5Cq/private/x"),
        ("disallow: /private/", "/..%3b/private/x"),
        ("disallow: /@admin", "/%40admin/x"),
        ("disallow: /a+b", "/a%2Bb/x"),
        ("disallow: /*?filter[secret]=", "/?filter%5bsecret%5d=1"),
        ("disallow: /?q=admin/", "//?q=admin%2Fx"),
        ("disallow: /*.pdf$", "/doc.pdf?"),
        ("disallow: /*.pdf$", "/doc.pdf/."),
        ("disallow: /private$", "/private/x%2f.."),
        ("disallow: /private/", "/a%5cb\\..%2fprivate/x"),
        ("disallow: /a%5Cb/", "/\\q/a%5cb/x"),
        ("disallow: /a//", "///a//x"),
        ("disallow: /%C3%83%C2%A9", "/%E9/..;/%C3%A9"),
        ("disallow: /private/", "/pri%advate/x"),
        ("disallow: /private/", "//q/pri%C0%AFvate%E2%82/x"),
        ("disallow: /private/", "/x/.%ff./private/x"),
        ("disallow: /caf%C3%A9/", "/caf%ff%c3%a9%a9/x"),
        ("disallow: /x;y$", "/x;y;"),
        ("disallow: /x;y$", "//x;y;"),
        ("disallow: /private/", "/pr%6@vate/x"),
        ("disallow: /private/", "/a%6?/../private/x"),
        ("disallow: /private/", "/a/..%2f..%2froot/private/x"),
    ] {
        assert_eq!(judge(rules, target, Reading::default()), OTHER, "{target}");
    }
}

#[test]
fn a_query_form_counts_for_rules_that_name_the_query() {
    for (rules, target, verdict) in [
        ("disallow: /*/admin/", "/login?next=%2Fadmin%2F", ALLOW),
        ("disallow: /*q=admin/", "/?q=admin%2F", OTHER),
        ("disallow: /*?sid=", "/login?next=%2Fa%3Fsid%3D1", ALLOW),
        ("disallow: /*sid=", "/login?next=%2Fa%3Fsid%3D1", ALLOW),
        ("disallow: /*/filter/*=", "/login?return=%2Ffilter%2Fred&x=1", ALLOW),
        // The rule that decides otherwise is no bar to the one that names the query.
        ("disallow: /?q=a/, disallow: /*/admin/", "/?q=a%2Fadmin%2F", OTHER),
    ] {
        assert_eq!(judge(rules, target, Reading::default()), verdict, "{target}");
    }
}

#[test]
fn php_gives_names_to_parameters() {
    for (rules, target, verdict) in [
        ("disallow: /*?s=", "/?+s=a", OTHER),
        ("disallow: /*?s=", "/?%20s=a", OTHER),
        ("disallow: /*&s=", "/?a&++s=b", OTHER),
        ("disallow: /*?s=", "/?x=+s=a", ALLOW),
        ("disallow: /*?s=", "/+s=a", ALLOW),
        ("disallow: /*?filter_x=", "/?filter.x=a", OTHER),
        ("disallow: /*?filter_x=", "/?filter%20x=a", OTHER),
        ("disallow: /*?filter_x=", "/?+filter[x=a", OTHER),
        ("disallow: /*?filter_x=", "/?filter%5Bx=a", OTHER),
        ("disallow: /*?filter_x=", "/?filter%26x=a", ALLOW),
        ("disallow: /*?filter_x[", "/?filter.x%5Ba.b%5D=a", OTHER),
        ("disallow: /*?*a_b", "/?x[a.b]=a", ALLOW),
        ("disallow: /*?*=a_b", "/?x=a.b", ALLOW),
        ("disallow: /*?, allow: /*?filter.x=", "/?filter.x=a", ALLOW),
        ("disallow: /*?filter_, allow: /*?filter.x=", "/?filter.x=a", OTHER),
        ("disallow: /*filter[", "/?filter%5Bx%5D=a", OTHER),
        ("disallow: /a/filter[", "/?filter%5Bx%5D=a", ALLOW),
    ] {
        assert_eq!(judge(rules, target, Reading::default()), verdict, "{rules}: {target}");
    }
}

#[test]
fn what_the_allow_rule_spells_is_not_decoded() {
    for (rules, target, verdict) in [
        ("disallow: /wiki/, allow: /wiki/C%2B%2B", "/wiki/C%2B%2B", ALLOW),
        ("disallow: /wiki/, allow: /wiki/C%2B%2B", "/wiki/C%2B%2B/x;y", ALLOW),
        ("disallow: /wiki/, allow: /wiki/C%2B%2B", "/wiki/C%2b%2b?a=b", ALLOW),
        ("disallow: /wiki/x, allow: /wiki/AC%2FDC", "/wiki/AC%2FDC/../x", DOTS),
        ("disallow: /wiki/x, allow: /wiki/AC%2FDC", "/wiki/AC%2FDC/..%2f..%2fx", OTHER),
        ("disallow: /private, allow: /*%2Fpublic/", "/x%2Fpublic/../../private", DOTS),
        ("disallow: /wiki/, allow: /*C%2B%2B$", "/wiki/C%2B%2B", ALLOW),
        ("disallow: /a, allow: /a;v=1", "/a;v=1", ALLOW),
        ("disallow: /a, allow: /a;v=1", "/a;v=1/../b/../a", DOTS),
        ("disallow: /, allow: /a%3Bb", "/a%3bb/x", ALLOW),
        ("disallow: /private/, allow: /a%3Bb", "/private%3B/x", OTHER),
        ("disallow: /c/, allow: //c/", "//c/x", ALLOW),
        ("disallow: /c/, allow: //c/", "//c/../c/x", OTHER),
        ("disallow: /?q=, allow: /?q=a%2Fb", "/?q=a%2fb", ALLOW),
        ("disallow: /private/, allow: /a%2F", "/a%2F../private/x", OTHER),
        ("disallow: /private/, allow: /*%2F", "/a%2F..%2Fprivate/x", OTHER),
        ("disallow: /public, allow: /*%2Fpublic", "/x/..%2Fpublic/a", OTHER),
        ("disallow: /, allow: /a%2Bb", "/a%2Bb?u=http://q/../x", ALLOW),
        ("disallow: /w/, allow: /w/load.php?", "/w/load.php?", ALLOW),
        ("disallow: /w/*.pdf$, allow: /w/a;v=1", "/w/a;v=1.pdf?", OTHER),
        // What an origin makes of the rule's own spelling, whatever else it does to the path.
        ("disallow: /wiki/, allow: /wiki/AC%2FDC", "/wiki/AC%2FDC", ALLOW),
        ("disallow: /wiki/, allow: /wiki/AC%2FDC", "//wiki/AC%2FDC", ALLOW),
        ("disallow: /wiki/, allow: /wiki/AC%2FDC", "/x/../wiki/AC%2fDC/a;b", ALLOW),
        ("disallow: /wiki/, allow: /wiki/AC%2FDC", "//wiki/AC/DC", OTHER),
        ("disallow: /wiki/, allow: /wiki/AC%2FDC", "//wiki/AC%2FDC%2F..%2Fx", OTHER),
        ("disallow: /wiki/, allow: /wiki/AC%2FDC%2B", "//wiki/AC%2FDC%2B", ALLOW),
        ("disallow: /wiki/, allow: /wiki/AC%5CDC", "//wiki/AC%5CDC", ALLOW),
        ("disallow: /wiki/, allow: /wiki/AC%5CDC", "//wiki/AC%2FDC", OTHER),
        ("disallow: /a/, allow: /a%2F", "/x%2F../a/x", OTHER),
        ("disallow: /*?q=, allow: /*?q=a%2Fb", "//?q=a%2Fb", ALLOW),
        // What is disallowed more specifically stays so.
        ("disallow: /a/private, allow: /a%2F", "/a%2Fprivate", OTHER),
        ("disallow: /a/private, allow: /a%2F", "/a%2Fpublic", ALLOW),
        ("disallow: /a/priv, allow: /a%2Fp", "/a%2Fprivate", OTHER),
        ("disallow: /a/pri, allow: /a%2Fp", "/a%2Fprivate", ALLOW),
        ("disallow: /, allow: /private*%2F", "/private/.%2fx", OTHER),
        // Two rules that match the letter and the form have the same order for both.
        ("disallow: /*/*?, allow: /a%2Bb", "/a%2Bb/x?a", ALLOW),
        // Spelled as the rule spells it, wherever it comes to stand; not so in another spelling.
        ("disallow: /wiki/, allow: /wiki/C%2B%2B, allow: /a", "/a/..%2Fwiki/C%2B%2B", ALLOW),
        ("disallow: /wiki/, allow: /wiki/C%2B%2B, allow: /a", "/a/..%2Fwiki/C++", OTHER),
    ] {
        assert_eq!(judge(rules, target, Reading::default()), verdict, "{rules}: {target}");
    }
}

#[test]
fn case_is_folded_in_rules_and_forms_where_it_is_declared() {
    let reading = Reading { case_insensitive: true, ..Reading::default() };
    for (rules, target, verdict) in [
        ("disallow: /private/", "/PRIVATE/x", OTHER),
        ("disallow: /Private/", "/private/x", OTHER),
        ("disallow: /, allow: /Public/", "/Public/x", ALLOW),
        ("disallow: /P/, allow: /p/q", "/P/Q", (Access::Disallow, Form::Letter)),
        ("disallow: /x/, allow: /X/Y", "/X/y", ALLOW),
        ("disallow: /x/, allow: /X/Y", "/X/Y", ALLOW),
        ("disallow: /%C3%84%2f", "/%c3%84%2F", (Access::Disallow, Form::Letter)),
        ("disallow: /a/b", "/A%2fB", OTHER),
        ("disallow: /*.PDF$", "/a.pdf?", OTHER),
        ("disallow: /?Q=a/", "/?q=A%2F", OTHER),
    ] {
        assert_eq!(judge(rules, target, reading), verdict, "{rules}: {target}");
    }
    assert_eq!(judge("disallow: /private/", "/PRIVATE/x", Reading::default()), ALLOW);
}

#[test]
fn a_target_with_too_many_forms_is_judged_by_every_rule() {
    let hostile = "//a;b/%2F..%5c..;/%40/..//%3bc%2f./%2f%5C/d;e/..%2f%5c//f/../g";
    let target = Target::new(hostile.as_bytes());
    assert!(target.is_cut());
    assert_eq!(judge("disallow: /nowhere/else", hostile, Reading::default()), OTHER);
    assert_eq!(judge("allow: /", hostile, Reading::default()), ALLOW);
}

#[test]
fn many_parameters_are_no_many_forms() {
    let list = (0..500).map(|at| format!("{at}.5,5.2;")).collect::<String>();
    let target = format!("/route/v1/driving/{list}?x=1");
    assert!(!Target::new(target.as_bytes()).is_cut());
    assert_eq!(judge("disallow: /search", &target, Reading::default()), ALLOW);
}

#[test]
fn hostile_targets_are_bounded() {
    let dots = "/a/..".repeat(13_000);
    assert_eq!(found(&dots, Reading::default()), ["/"]);
    let slashes = "/".repeat(1_000_000);
    assert_eq!(found(&slashes, Reading::default()), ["/"]);
    let mixed = "/a//;b/%2F..".repeat(5_000);
    let target = Target::new(mixed.as_bytes());
    let octets: usize = target.evasions().iter().map(Vec::len).sum();
    assert!(target.is_cut() && octets <= MAX_OCTETS, "{octets}");
}

proptest! {
    #[test]
    fn whatever_the_steps_make_in_any_order_is_a_form(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "/", "/", "a", "b", "..", ".", ";", "%2f", "%5C", "\\", "%3b", "%40", "%252e", "%3F",
            ]),
            0..9,
        ),
        order in prop::collection::vec(0..=STEPS.len(), 0..7),
    ) {
        let target = format!("/{}", pieces.concat());
        let reading = Reading { decode_depth: 2, ..Reading::default() };
        let target = Target::read_by(target.as_bytes(), reading);
        let mut path = target.letter().to_vec();
        let mut may_decode = true;
        for step in order {
            match STEPS.get(step) {
                Some((_, step)) => {
                    let mut made = Vec::new();
                    path = if step(&path, &mut made, Decoded::Plain) { made } else { path };
                }
                None if may_decode => {
                    may_decode = false;
                    path = decoding::decode_again(&path).pop().unwrap_or(path);
                }
                None => {}
            }
        }
        let is_form = path == target.letter() || target.evasions().contains(&path);
        prop_assert!(is_form || target.is_cut(), "{}", String::from_utf8_lossy(&path));
    }

    #[test]
    fn fewer_steps_make_no_other_forms(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "/", "a", "..", ".", ";", "%2f", "%5C", "\\", "%3b", "%u0070", "%E9", "%0A", "?",
            ]),
            0..9,
        ),
        kept in any::<u32>(),
    ) {
        let target = format!("/{}", pieces.concat());
        let each = Steps::NAMED.iter().enumerate().filter(|(at, _)| kept >> at & 1 == 1);
        let steps = each.fold(Steps::NONE, |all, (_, (_, step))| all.with(*step));
        let reading = Reading { steps: steps.without(Steps::TRIM_DOTS), ..Reading::default() };
        let all = Target::new(target.as_bytes());
        let narrowed = Target::read_by(target.as_bytes(), reading);
        let mut forms = all.evasions();
        forms.push(all.letter().to_vec());
        for form in narrowed.evasions() {
            prop_assert!(all.is_cut() || forms.contains(&form), "{}", form.escape_ascii());
        }
    }
}
