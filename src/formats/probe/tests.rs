//! The questions and what answers say, by tables.

use super::{plan::About, *};
use crate::formats::robots::{Reading, Steps};

const PAGE: &str = "/docs/index.html";

fn plan() -> Plan {
    Plan::of(PAGE).expect("a page below a folder")
}

fn page(status: u16, body: &str) -> Answer {
    Answer::Page(status, Some(body.as_bytes().to_vec()))
}

/// The answers of an origin, as far as the plan asks for them.
fn ask(plan: &Plan, origin: impl Fn(usize, &str) -> Answer) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some(target) = plan.next(&answers) {
        answers.push(origin(answers.len(), target));
    }
    answers
}

fn found(origin: impl Fn(&str) -> Answer) -> Result<Found, Obstacle> {
    let plan = plan();
    plan.read(&ask(&plan, |_, target| origin(target)))
}

#[test]
fn a_plan_names_the_forms_of_its_page() {
    let plan = plan();
    let targets: Vec<&str> = plan.questions.iter().map(|one| &*one.target).collect();
    assert_eq!(
        targets,
        [
            "/docs/index.html",
            "/docs/index.html",
            "/docs/no-such-index.html",
            "/docs//index.html",
            "//docs/index.html",
            "//no-such/docs/index.html",
            "///no-such/docs/index.html",
            "/docs/index.html;x=1",
            "/docs;x=1/index.html",
            "/docs%2Findex.html",
            "/docs/no-such%2F..%2Findex.html",
            "/docs/.%2Findex.html",
            "/docs%5Cindex.html",
            "/docs/no-such%5C..%5Cindex.html",
            "/docs/.%5Cindex.html",
            "/docs/index.html?",
            "/docs/index.html/",
            "/docs/index.html//",
            "/docs/index.html%2F",
            "/docs/index.html%2F.",
            "/docs/index.html.",
            "/docs/index.html%20",
            "/docs/%u0069ndex.html",
            "/docs/%6@ndex.html",
            "/docs/INDEX.HTML",
            "/DOCS/INDEX.HTML",
            "/docs/%2569ndex.html",
            "/docs/%252569ndex.html",
        ]
    );
    let has = |page: &str, target: &str| {
        let plan = Plan::of(page).expect(page);
        assert!(plan.questions.len() < MOST_REQUESTS, "{page}: one may be asked again");
        plan.questions.iter().any(|one| one.target == target)
    };
    assert!(has("/wiki/Special:Pages", "/wiki/Special%3APages"));
    assert!(has("/a/b/c.png", "/a/b/no-such%2F..%2Fc.png"));
    assert!(!has("/a/123", "/a/123%3A"), "no letter, no question about letters");
    assert!(!has("/wiki/b", "/wiki/%u0062"), "both spellings, or none");
}

#[test]
fn a_plan_is_about_a_page_below_a_folder() {
    for path in
        ["/a", "/", "", "a/b", "/a/", "/a/b/", "//a/b", "/a/../b", "/a/b?c", "/a/b;c", "/a/%62"]
    {
        assert_eq!(Plan::of(path), None, "{path}");
    }
    assert!(Plan::of("/a/%C3%A9.html").is_some());
}

#[test]
fn an_answer_equal_to_the_page_is_a_step_that_the_origin_takes() {
    for (target, expected) in [
        ("/docs//index.html", Steps::MERGE_SLASHES),
        ("//docs/index.html", Steps::MERGE_SLASHES),
        ("/docs/.%2Findex.html", Steps::DECODE_SLASH),
        ("/docs/.%5Cindex.html", Steps::DECODE_BACKSLASH),
        ("/docs/index.html;x=1", Steps::DROP_PARAMETERS),
        ("/docs/index.html%20", Steps::TRIM_DOTS),
        ("/docs/%6@ndex.html", Steps::DECODE_UNICODE),
    ] {
        let answer = |asked: &str| match asked == target || asked == PAGE {
            true => page(200, "the page"),
            false => page(404, "none"),
        };
        let found = found(answer).expect(target);
        assert_eq!(found.taken, Steps::NONE.with(expected), "{target}");
        assert!(!found.not_taken.has(expected), "{target}");
        assert!(found.not_taken.has(match expected {
            Steps::DROP_AUTHORITY => Steps::MERGE_SLASHES,
            _ => Steps::DROP_AUTHORITY,
        }));
    }
}

#[test]
fn case_and_depth_are_found_as_well() {
    let answer = |asked: &str| {
        let decoded = asked.replace("%25", "%").replace("%69", "i");
        match decoded.eq_ignore_ascii_case(PAGE) {
            true => page(200, "the page"),
            false => page(404, "none"),
        }
    };
    let found = found(answer).expect("an answer");
    assert!(found.case_insensitive);
    assert_eq!(found.decode_depth, 2);
    let reading = found.reading(Reading::default(), b"/elsewhere");
    assert_eq!((reading.case_insensitive, reading.decode_depth), (true, 2));
    assert_eq!(reading.steps, Steps::ALL);
}

#[test]
fn an_answer_that_is_neither_the_page_nor_an_error_says_nothing() {
    for (answer, is_known) in [
        (page(404, "none"), true),
        (page(400, "bad"), true),
        (page(200, "no such page"), true),
        (page(200, "you asked for //docs"), false),
        (page(301, ""), false),
        (Answer::Page(200, None), false),
    ] {
        let found = found(|asked| match asked {
            PAGE => page(200, "the page"),
            "/docs/no-such-index.html" => page(200, "no such page"),
            "//docs/index.html" => answer.clone(),
            _ => page(404, "none"),
        });
        let found = found.expect("an answer");
        assert_eq!(found.taken, Steps::NONE);
        assert_eq!(found.not_taken.has(Steps::MERGE_SLASHES), is_known, "{answer:?}");
    }
}

#[test]
fn a_page_that_is_no_measure_says_nothing() {
    let obstacle = |first: Answer, second: Answer, absence: Answer| {
        let plan = plan();
        let first = [first, second, absence];
        let answers =
            ask(&plan, |at, _| first.get(at).cloned().unwrap_or_else(|| page(404, "none")));
        (plan.read(&answers), answers.len())
    };
    let good = || page(200, "the page");
    assert!(obstacle(good(), good(), page(404, "")).0.is_ok());
    for (first, second, absence, expected, asked) in [
        (page(404, ""), good(), good(), Obstacle::Missing(404), 1),
        (page(204, ""), good(), good(), Obstacle::Missing(204), 1),
        (good(), page(200, "another"), good(), Obstacle::Changing, 2),
        (good(), page(302, ""), good(), Obstacle::Missing(302), 2),
        (good(), good(), good(), Obstacle::Everywhere, 3),
        (Answer::Page(200, None), good(), good(), Obstacle::TooLarge, 1),
    ] {
        let found = obstacle(first, second, absence);
        assert_eq!(found, (Err(expected), asked));
    }
    assert_eq!(plan().read(&[]), Err(Obstacle::Unasked));
}

#[test]
fn nothing_is_asked_or_known_after_an_answer_of_a_firewall() {
    for (answer, why) in [
        (page(403, ""), "status 403"),
        (page(429, ""), "status 429"),
        (page(500, ""), "status 500"),
        (page(503, ""), "status 503"),
        (Answer::Nothing("reset by peer".to_owned()), "reset by peer"),
    ] {
        let plan = plan();
        for place in 0..plan.questions.len() {
            let answers = ask(&plan, |at, asked| match (at == place, asked == PAGE) {
                (true, _) => answer.clone(),
                (false, true) => page(200, "the page"),
                (false, false) => page(404, "none"),
            });
            assert_eq!(answers.len(), place + 1);
            let target = plan.questions[place].target.clone();
            assert_eq!(plan.read(&answers), Err(Obstacle::Stopped(target, why.to_owned())));
        }
    }
}

#[test]
fn a_step_that_no_origin_takes_is_left_out_below_the_folder() {
    let answer = |taken: &'static str| {
        move |asked: &str| match asked == PAGE || asked == taken {
            true => page(200, "the page"),
            false => page(404, "none"),
        }
    };
    let merges = found(answer("/docs//index.html")).expect("an answer");
    let decodes = found(answer("/docs%2Findex.html")).expect("an answer");
    let both = merges.clone().or(&decodes);
    let known = Reading::default();
    for (target, found, left_out) in [
        ("/docs/a;b", &merges, true),
        ("/docs/a/../b;c", &merges, false),
        ("/docs/..%2Fa", &merges, false),
        ("/other/a;b", &merges, false),
        ("/docs/a;b", &both, true),
    ] {
        let steps = found.reading(known, target.as_bytes()).steps;
        assert_eq!(!steps.has(Steps::DROP_PARAMETERS), left_out, "{target}");
        assert!(steps.has(Steps::LEAVE_ROOT.with(Steps::DECODE_QUERY)), "they can't be asked");
    }
    let steps = |found: &Found| found.reading(known, b"/docs/a").steps;
    assert!(!steps(&merges).has(Steps::DECODE_SLASH) && steps(&both).has(Steps::DECODE_SLASH));
    assert!(!steps(&decodes).has(Steps::MERGE_SLASHES) && steps(&both).has(Steps::MERGE_SLASHES));
    let only_merging = Reading { steps: Steps::NONE.with(Steps::MERGE_SLASHES), ..known };
    let steps = decodes.reading(only_merging, b"/other").steps;
    assert_eq!(steps, only_merging.steps, "a step that the policy leaves out stays out");
}

#[test]
fn each_question_is_about_one_thing() {
    let plan = plan();
    let count = |about| plan.questions.iter().filter(|one| one.about == about).count();
    assert_eq!((count(About::Page), count(About::Absence)), (2, 1));
    assert_eq!((count(About::Case), count(About::Depth(2)), count(About::Depth(3))), (2, 1, 1));
}
