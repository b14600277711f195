//! The questions about one page, and the answers of an origin.

use derive_more::Display;

use crate::{
    base::escape,
    formats::robots::{Steps, Target},
};

/// The most requests to an origin: those of a plan, and its first one again where the origin wants HTTPS.
pub const MOST_REQUESTS: usize = 40;

/// The questions about one page, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The folder of the page, with the slash at its end.
    pub(super) folder: String,
    pub(super) questions: Vec<Question>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) about: About,
    pub(super) target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Page,
    /// The answer for a path that does not exist.
    Absence,
    /// Whether the origin takes this step.
    Step(Steps),
    /// Whether it ignores case.
    Case,
    /// Whether it decodes this often.
    Depth(u8),
}

impl Plan {
    /// The plan for a page; `None` unless its path is in normal form, names a page below a folder, and has
    /// no query and no other form.
    pub fn of(path: &str) -> Option<Self> {
        let target = Target::new(path.as_bytes());
        let is_plain = target.letter() == path.as_bytes() && target.evasions().is_empty();
        let (folder, page) = path.rsplit_once('/').filter(|_| is_plain && !path.contains('?'))?;
        if folder.is_empty() || page.is_empty() {
            return None;
        }
        let mut questions = Vec::new();
        let mut ask = |about, target: String| questions.push(Question { about, target });
        ask(About::Page, path.to_owned());
        ask(About::Page, path.to_owned());
        ask(About::Absence, format!("{folder}/no-such-{page}"));
        for (step, targets) in steps(path, folder, page) {
            targets.into_iter().for_each(|target| ask(About::Step(step), target));
        }
        for other in [format!("{folder}/{}", swapped(page)), swapped(path)] {
            if other != path {
                ask(About::Case, other);
            }
        }
        let (first, rest) = page.split_at(page.chars().next().map_or(0, char::len_utf8));
        if let [octet @ b'!'..=b'~'] = first.as_bytes() {
            ask(About::Depth(2), format!("{folder}/%25{octet:02x}{rest}"));
            ask(About::Depth(3), format!("{folder}/%2525{octet:02x}{rest}"));
        }
        questions.truncate(MOST_REQUESTS - 1);
        Some(Self { folder: format!("{folder}/"), questions })
    }

    /// The next target to ask for; `None` at the end.
    pub fn next(&self, answers: &[Answer]) -> Option<&str> {
        let question = self.questions.get(answers.len())?;
        self.obstacle(answers).is_none().then_some(&question.target)
    }

    /// Why these answers say nothing, as far as they go.
    pub(super) fn obstacle(&self, answers: &[Answer]) -> Option<Obstacle> {
        let asked = || self.questions.iter().zip(answers);
        if let Some((target, why)) = asked().find_map(|(one, answer)| Some((one, answer.end()?))) {
            return Some(Obstacle::Stopped(target.target.clone(), why));
        }
        let page = answers.first()?;
        asked().find_map(|(question, answer)| match (question.about, answer) {
            (About::Page, Answer::Page(200, None)) => Some(Obstacle::TooLarge),
            (About::Page, Answer::Page(200, _)) if answer != page => Some(Obstacle::Changing),
            (About::Page, Answer::Page(status, _)) if *status != 200 => {
                Some(Obstacle::Missing(*status))
            }
            (About::Absence, _) if answer == page => Some(Obstacle::Everywhere),
            _ => None,
        })
    }
}

/// The forms of a page, by the step that makes the page of each.
fn steps(path: &str, folder: &str, page: &str) -> Vec<(Steps, Vec<String>)> {
    // A slash of another spelling: alone, and behind segments that are resolved away.
    let slash = |slash: &str| {
        let targets = ["", "/no-such{}..", "/."].map(|before| before.replace("{}", slash));
        targets.map(|before| format!("{folder}{before}{slash}{page}")).to_vec()
    };
    let mut all = vec![
        (Steps::MERGE_SLASHES, vec![format!("{folder}//{page}"), format!("/{path}")]),
        (Steps::DROP_AUTHORITY, vec![format!("//no-such{path}"), format!("///no-such{path}")]),
        (Steps::DROP_PARAMETERS, vec![format!("{path};x=1"), format!("{folder};x=1/{page}")]),
        (Steps::DECODE_SLASH, slash("%2F")),
        (Steps::DECODE_BACKSLASH, slash("%5C")),
        (Steps::DROP_EMPTY_QUERY, vec![format!("{path}?")]),
        (
            Steps::TRIM_SLASHES,
            ["/", "//", "%2F", "%2F."].map(|end| format!("{path}{end}")).to_vec(),
        ),
        (Steps::TRIM_DOTS, [".", "%20"].map(|end| format!("{path}{end}")).to_vec()),
    ];
    let escaped = |at: usize, octet: u8, escape: String| {
        let (before, rest) = path.split_at(at);
        (octet, format!("{before}{escape}{}", rest.get(1..).unwrap_or_default()))
    };
    let octets = || path.bytes().enumerate();
    let reserved = octets().find(|(_, octet)| b":@!&'()+,=".contains(octet));
    if let Some((at, octet)) = reserved {
        all.push((Steps::DECODE_RESERVED, vec![escaped(at, octet, format!("%{octet:02X}")).1]));
    }
    // Digits of ten and more, and of nine, have a careless spelling that a URL may contain.
    let careless = |octet: u8| match octet & 0xF {
        9 => Some('@'),
        10 => Some(':'),
        13 => Some('='),
        _ => None,
    };
    let start = folder.len() + 1;
    let letter = octets().skip(start).find_map(|(at, octet)| {
        let digit = careless(octet).filter(|_| octet.is_ascii_alphabetic())?;
        let careless = escaped(at, octet, format!("%{:X}{digit}", octet >> 4)).1;
        Some(vec![escaped(at, octet, format!("%u00{octet:02x}")).1, careless])
    });
    all.extend(letter.map(|targets| (Steps::DECODE_UNICODE, targets)));
    all
}

fn swapped(text: &str) -> String {
    let swap = |letter: char| match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    text.chars().map(swap).collect()
}

/// The most octets of a page.
pub const MOST_BYTES: usize = 64 << 10;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response; without its body if that has more than [`MOST_BYTES`].
    Page(u16, Option<Vec<u8>>),
    /// None, for this reason.
    Nothing(String),
}

/// The reason why nothing is known of an origin.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Obstacle {
    /// Occurs when the page itself is not there.
    #[display("the page answers {_0} (name one that answers 200)")]
    Missing(u16),
    /// Occurs when the page is too large to compare.
    #[display("the page has more than 64 KiB (name a smaller one)")]
    TooLarge,
    /// Occurs when the page has another content each time.
    #[display("the page differs each time (name a static one, such as an image)")]
    Changing,
    /// Occurs when the page answers for a path that does not exist.
    #[display(
        "a path that does not exist has the same answer (name a page whose content depends on the path)"
    )]
    Everywhere,
    /// Occurs when this target is refused, or not answered.
    #[display("stopped at {}: {_1}", escape::shown(_0))]
    Stopped(String, String),
    /// Occurs when no question was answered.
    #[display("not asked yet")]
    Unasked,
}

impl Answer {
    /// Why a plan ends here, if it does.
    pub(super) fn end(&self) -> Option<String> {
        match self {
            Self::Page(status @ (403 | 429 | 500..), _) => Some(format!("status {status}")),
            Self::Page(..) => None,
            Self::Nothing(why) => Some(escape::shown(why)),
        }
    }
}
