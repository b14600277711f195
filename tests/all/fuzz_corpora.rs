//! The checks of the fuzz targets, for every input of their corpora: seeds, and inputs that once
//! broke something. `fuzz/README.md` says how to find more.

use std::path::Path;

#[path = "../../fuzz/checks/editions.rs"]
mod editions;
#[path = "../../fuzz/checks/forms.rs"]
pub(crate) mod forms;
#[path = "../../fuzz/checks/html.rs"]
mod html;
#[path = "../../fuzz/checks/matching.rs"]
mod matching;
#[path = "../../fuzz/checks/robots.rs"]
mod robots;
#[path = "../../fuzz/checks/robots_tag.rs"]
mod robots_tag;
#[path = "../../fuzz/checks/signature.rs"]
mod signature;
#[path = "../../fuzz/checks/target.rs"]
mod target;
#[path = "../../fuzz/checks/user_agent.rs"]
mod user_agent;
#[path = "../../fuzz/checks/x_robots_tag.rs"]
mod x_robots_tag;

type Check = fn(&[u8]);

const CHECKS: [(&str, Check); 10] = [
    ("editions", editions::holds_for),
    ("forms", forms::holds_for),
    ("html", html::holds_for),
    ("matching", matching::holds_for),
    ("robots", robots::holds_for),
    ("robots_tag", robots_tag::holds_for),
    ("signature", signature::holds_for),
    ("target", target::holds_for),
    ("user_agent", user_agent::holds_for),
    ("x_robots_tag", x_robots_tag::holds_for),
];

#[test]
fn every_input_of_the_corpora_passes() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let folders = std::fs::read_dir(&corpora).expect("there are corpora").count();
    assert_eq!(folders, CHECKS.len(), "each target has a corpus, and each corpus a target");
    for (target, holds_for) in CHECKS {
        let inputs = std::fs::read_dir(corpora.join(target)).expect("each target has a corpus");
        let mut count = 0;
        for input in inputs {
            let path = input.expect("the folder can be read").path();
            let octets = std::fs::read(&path).expect("the file can be read");
            // The output of a failed test ends with the input.
            eprintln!("{}", path.display());
            holds_for(&octets);
            count += 1;
        }
        assert!(count > 1, "{target} has inputs");
    }
}
