//! The keys of an enforcement by behaviour: `ladder`, `breaker` and `crawl_delay`.

use std::{fmt, time::Duration};

use crate::{
    diagnostic::Diagnostic,
    policy::{
        Enforcement,
        shape::{At, Fields, Findings, shown},
        yaml::Value,
    },
    robots::Pace,
};

/// How a crawler climbs and comes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// In which time violations are counted (default 1 h).
    pub period: Duration,
    /// The share of its requests that must be violations for it to climb (default 10 %).
    pub share: Share,
    /// How many there must be at least (default 10).
    pub min_violations: u64,
    /// The pace of a crawler on the rung `throttle` that has none of its own (default one request
    /// every 10 s).
    pub throttle: Pace,
}

/// When nothing is refused any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// The share of all requests whose refusal opens it (default 50 %).
    pub share: Share,
    /// How many requests there must be at least (default 200).
    pub min_requests: u64,
    /// In which time they are counted (default 60 s).
    pub window: Duration,
    /// For how long it stays open (default 10 min).
    pub pause: Duration,
}

/// What is done with a request that comes sooner than the pace allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaceMode {
    /// It is counted.
    Log,
    /// It is answered with 429.
    Throttle,
}

/// A part of a whole, in tenths of a per cent: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u16);

impl Default for Ladder {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(3_600),
            share: Share(100),
            min_violations: 10,
            throttle: Pace::new(1, Duration::from_secs(10))
                .expect("a request every 10 s is a pace"),
        }
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            share: Share(500),
            min_requests: 200,
            window: Duration::from_secs(60),
            pause: Duration::from_secs(600),
        }
    }
}

impl Share {
    /// Whether `part` is at least this share of `whole`. Of nothing it is.
    pub const fn is_reached(self, part: u64, whole: u64) -> bool {
        part as u128 * 1_000 >= whole as u128 * self.0 as u128
    }

    /// `10%`, `2.5%`, `100%`.
    fn parse(text: &str) -> Option<Self> {
        let (whole, part) = match text.strip_suffix('%')?.trim_end().split_once('.') {
            Some((whole, part)) => (whole, part),
            None => (text.strip_suffix('%')?.trim_end(), "0"),
        };
        let is_number = |digits: &str, most: usize| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
        };
        if !is_number(whole, 3) || !is_number(part, 1) {
            return None;
        }
        let share = whole.parse::<u16>().ok()? * 10 + part.parse::<u16>().ok()?;
        (1..=1_000).contains(&share).then_some(Self(share))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (whole, 0) => write!(f, "{whole}%"),
            (whole, part) => write!(f, "{whole}.{part}%"),
        }
    }
}

/// Reads the keys into `enforcement`, whose values stay where they say nothing. A site on the ladder
/// has both the ladder and the breaker; elsewhere there is a breaker where one is asked for, because
/// who writes `mode: block` means it.
pub(super) fn read(
    fields: &Fields<'_>,
    is_on_ladder: bool,
    enforcement: &mut Enforcement,
    findings: &mut Findings,
) {
    let ladder = fields.take("ladder");
    if let Some(at) = ladder.as_ref().filter(|_| !is_on_ladder) {
        findings.add(
            at,
            Diagnostic::warning("policy.idle_ladder", "nobody is on the ladder")
                .help("set 'mode: ladder', or remove this"),
        );
    }
    let ladder = ladder.map_or_else(Ladder::default, |at| read_ladder(&at, findings));
    enforcement.ladder = is_on_ladder.then_some(ladder);
    enforcement.breaker = match fields.take("breaker") {
        Some(at) if at.node.is_text("off") => None,
        Some(at) => Some(read_breaker(&at, findings)),
        None => is_on_ladder.then(Breaker::default),
    };
    const PACE_MODES: [(&str, PaceMode); 2] =
        [("log", PaceMode::Log), ("throttle", PaceMode::Throttle)];
    enforcement.crawl_delay =
        fields.take("crawl_delay").and_then(|at| at.choice(&PACE_MODES, findings));
}

fn read_ladder(at: &At<'_>, findings: &mut Findings) -> Ladder {
    let mut ladder = Ladder::default();
    let keys = ["period", "share", "min_violations", "throttle"];
    let Some(fields) = at.fields(&keys, findings) else { return ladder };
    let minute_to_week = Duration::from_secs(60)..=Duration::from_secs(7 * 86_400);
    set(&mut ladder.period, duration(&fields, "period", minute_to_week, findings));
    set(&mut ladder.share, share(&fields, findings));
    set(&mut ladder.min_violations, count(&fields, "min_violations", findings));
    set(&mut ladder.throttle, pace(&fields, findings));
    ladder
}

fn read_breaker(at: &At<'_>, findings: &mut Findings) -> Breaker {
    let mut breaker = Breaker::default();
    if !matches!(at.node.value, Value::Map(_)) {
        findings.refuse(
            at,
            "neither off nor a mapping",
            "write off, or for example { share: 50%, pause: 10m }",
        );
        return breaker;
    }
    let keys = ["share", "min_requests", "window", "pause"];
    let Some(fields) = at.fields(&keys, findings) else { return breaker };
    let second_to_hour = Duration::from_secs(1)..=Duration::from_secs(3_600);
    let second_to_day = Duration::from_secs(1)..=Duration::from_secs(86_400);
    set(&mut breaker.share, share(&fields, findings));
    set(&mut breaker.min_requests, count(&fields, "min_requests", findings));
    set(&mut breaker.window, duration(&fields, "window", second_to_hour, findings));
    set(&mut breaker.pause, duration(&fields, "pause", second_to_day, findings));
    breaker
}

fn set<T>(value: &mut T, read: Option<T>) {
    if let Some(read) = read {
        *value = read;
    }
}

fn duration(
    fields: &Fields<'_>,
    key: &str,
    range: std::ops::RangeInclusive<Duration>,
    findings: &mut Findings,
) -> Option<Duration> {
    fields.take(key)?.duration(range, findings)
}

fn count(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> Option<u64> {
    let count = fields.take(key)?.integer(1..=1_000_000, findings)?;
    u64::try_from(count).ok()
}

fn share(fields: &Fields<'_>, findings: &mut Findings) -> Option<Share> {
    const HELP: &str = "write a percentage from 0.1% to 100%, for example 10%";
    let at = fields.take("share")?;
    let message = match &at.node.value {
        Value::Integer(n) => format!("{n} has no '%'"),
        Value::Float(n) => format!("{n} has no '%'"),
        _ => {
            let text = at.text(findings)?;
            match Share::parse(text) {
                Some(share) => return Some(share),
                None => format!("'{}' is not a share", shown(text)),
            }
        }
    };
    findings.refuse(&at, message, HELP);
    None
}

fn pace(fields: &Fields<'_>, findings: &mut Findings) -> Option<Pace> {
    const HELP: &str = "write requests and a time, for example 1/10s or 10/1m";
    let at = fields.take("throttle")?;
    let message = match &at.node.value {
        Value::Integer(n) => format!("{n} is not a pace"),
        Value::Float(n) => format!("{n} is not a pace"),
        _ => {
            let text = at.text(findings)?;
            match Pace::parse(text) {
                Some(pace) => return Some(pace),
                None if is_too_fast(text) => {
                    format!("'{}' is faster than a thousand requests a second", shown(text))
                }
                None => format!("'{}' is not a pace", shown(text)),
            }
        }
    };
    findings.refuse(&at, message, HELP);
    None
}

/// Whether it would be a pace with fewer requests.
fn is_too_fast(text: &str) -> bool {
    text.split_once('/').is_some_and(|(requests, time)| {
        let is_number = requests.bytes().all(|b| b.is_ascii_digit());
        let is_some = requests.bytes().any(|b| b != b'0');
        is_number && is_some && Pace::parse(&format!("1/{time}")).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{self, Mode};

    #[test]
    fn ours_a_share_is_a_percentage() {
        for (text, expected) in [
            ("10%", Some("10%")),
            ("2.5 %", Some("2.5%")),
            ("100%", Some("100%")),
            ("0.1%", Some("0.1%")),
            ("0%", None),
            ("100.1%", None),
            ("0.05%", None),
            ("10", None),
            ("-1%", None),
            ("%", None),
            (".5%", None),
            ("99999%", None),
            ("", None),
        ] {
            let found = Share::parse(text).map(|share| share.to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
        let tenth = Share(100);
        for (part, whole, is_reached) in
            [(1, 10, true), (9, 91, false), (0, 1, false), (0, 0, true), (u64::MAX, u64::MAX, true)]
        {
            assert_eq!(tenth.is_reached(part, whole), is_reached, "{part} of {whole}");
        }
    }

    fn enforcement(text: &str) -> (Option<Enforcement>, Vec<String>) {
        let text = format!(
            "evidence: {{ folder: x }}\nsites: [{{ hosts: [a.example], origin: \
             \"http://127.0.0.1:1\", enforcement: {{ {text} }} }}]"
        );
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        let said = findings
            .into_iter()
            .filter(|one| !one.code.starts_with("policy.no_") && one.code != "policy.open_site")
            .map(|one| format!("{} ({})", one.message, one.help.unwrap_or_default()))
            .collect();
        (policy.map(|policy| policy.sites[0].enforcement.clone()), said)
    }

    #[test]
    fn ours_the_breaker_is_there_by_itself_only_on_the_ladder() {
        let on = Some(Breaker::default());
        let some = Breaker { share: Share(250), ..Breaker::default() };
        for (text, mode, ladder, breaker) in [
            ("mode: log", Mode::Log, None, None),
            ("mode: throttle", Mode::Throttle, None, None),
            ("mode: block", Mode::Block, None, None),
            ("mode: block, breaker: {}", Mode::Block, None, on),
            ("mode: ladder", Mode::Log, Some(Ladder::default()), on),
            ("mode: ladder, breaker: off", Mode::Log, Some(Ladder::default()), None),
            (
                "mode: ladder, breaker: { share: 25% }",
                Mode::Log,
                Some(Ladder::default()),
                Some(some),
            ),
        ] {
            let (found, said) = enforcement(text);
            let found = found.unwrap_or_else(|| panic!("{text}: {said:?}"));
            assert_eq!(
                (found.mode, found.ladder, found.breaker),
                (mode, ladder, breaker),
                "{text}"
            );
        }
    }

    #[test]
    fn ours_every_value_of_the_ladder_can_be_set() {
        let (found, said) = enforcement(
            "mode: ladder, crawl_delay: log, \
             ladder: { period: 30m, share: 5.5%, min_violations: 3, throttle: 2/1m }, \
             breaker: { share: 60%, min_requests: 5, window: 10s, pause: 1m }",
        );
        let found = found.unwrap_or_else(|| panic!("{said:?}"));
        let ladder = found.ladder.expect("it is asked for");
        let shown = (ladder.period.as_secs(), ladder.share.to_string(), ladder.min_violations);
        assert_eq!(shown, (1_800, "5.5%".to_owned(), 3));
        assert_eq!(ladder.throttle.to_string(), "2 requests every 60 s");
        let breaker = found.breaker.expect("it is asked for");
        let seconds = Duration::from_secs;
        assert_eq!((breaker.window, breaker.pause), (seconds(10), seconds(60)));
        assert_eq!((breaker.share.to_string(), breaker.min_requests), ("60%".to_owned(), 5));
        assert_eq!(found.crawl_delay, Some(PaceMode::Log));
    }

    #[test]
    fn ours_what_is_no_value_is_refused_with_its_repair() {
        for (text, message) in [
            (
                "mode: ladder, ladder: { share: 10 }",
                "share: 10 has no '%' (write a percentage from",
            ),
            ("mode: ladder, ladder: { share: 110% }", "'110%' is not a share (write a percentage"),
            ("mode: ladder, ladder: { throttle: fast }", "'fast' is not a pace (write requests"),
            ("mode: ladder, ladder: { throttle: 5 }", "5 is not a pace (write requests"),
            ("mode: ladder, ladder: { throttle: 0/1s }", "'0/1s' is not a pace (write requests"),
            (
                "mode: ladder, ladder: { throttle: 2000/1s }",
                "'2000/1s' is faster than a thousand requests a second (write requests",
            ),
            ("mode: ladder, ladder: { min_violations: 0 }", "0 is out of range (write a number"),
            ("mode: ladder, ladder: { period: 1s }", "'1s' is out of range (write a time"),
            ("mode: block, breaker: on", "breaker: neither off nor a mapping (write off"),
            ("mode: log, crawl_delay: block", "unknown value 'block' (write one of log, throttle)"),
            ("mode: block, ladder: {}", "nobody is on the ladder (set 'mode: ladder'"),
            ("mode: ladders", "unknown value 'ladders' (did you mean 'ladder'?"),
        ] {
            let (_, said) = enforcement(text);
            assert!(said.iter().any(|one| one.contains(message)), "{text}: {said:?}");
        }
    }
}
