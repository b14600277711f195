//! Random preferences, and what robots.txt and the matrix of the running proxy give back of them.
//!
//! The expected answers are a naive reading of each policy. It knows nothing of the program's code.

use std::{collections::BTreeMap, fmt::Write, process::Command};

use beadle::formats::{
    robots::{self, Matcher, Target},
    usage::{Carrier, Category, Preference, Statement},
};
use serde_json::Value;

use crate::support::{
    client::{Request, Response},
    conditions::is_full_size,
    dice::Dice,
    free_port,
    origin::Origin,
    program::{PROGRAM, Setup, json_lines},
};

/// Crawlers, and the names that only stand in robots.txt.
const NAMES: [&str; 7] =
    ["GPTBot", "bingbot", "CCBot", "UnlistedBot", "Googlebot", GOOGLE, "Applebot-Extended"];
const GOOGLE: &str = "Google-Extended";
/// Some are equally long, and the last three overlap others.
const PATTERNS: [&str; 10] =
    ["/", "/$", "/a/", "/b/", "/a/b/", "/a/b/c", "/ab/c$", "/*.pdf", "/*.pdf$", "/*/c"];
const PATHS: [&str; 8] =
    ["/", "/a/", "/a/b/c", "/a/b/x.pdf", "/a/x.pdf?y", "/ab/c", "/b/c/d", "/c/x.pdf"];
const CATEGORIES: [&str; 3] = ["train-ai", "search", "ai-input"];
const USAGE: Carrier = Carrier::ContentUsage;
const TRAIN: usize = 0;
const SEARCH: usize = 1;

/// `true` is yes.
type Said = [Option<bool>; 3];

/// An entry of `preferences`. Without paths it is for the whole site, without names for all.
struct Wish {
    paths: Vec<&'static str>,
    names: Vec<&'static str>,
    said: Said,
}

/// A group of the policy; `true` is an allow rule.
struct Group {
    name: &'static str,
    rules: Vec<(bool, &'static str)>,
}

struct Site {
    groups: Vec<Group>,
    wishes: Vec<Wish>,
    carriers: Vec<Carrier>,
    closes: bool,
    has_tdm: bool,
    has_license: bool,
}

// === a random policy

fn some<T: Copy>(dice: &mut Dice, all: &[T], most: usize) -> Vec<T> {
    let mut left = all.to_vec();
    let count = dice.roll(most + 1).min(left.len());
    (0..count).map(|_| left.swap_remove(dice.roll(left.len()))).collect()
}

impl Site {
    fn random(dice: &mut Dice) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for name in ["*"].into_iter().chain(some(dice, &NAMES, 2)) {
            let rules = some(dice, &PATTERNS, 3).into_iter().map(|one| (dice.roll(2) == 0, one));
            groups.push(Group { name, rules: rules.collect() });
        }
        let mut wishes: Vec<Wish> = Vec::new();
        for _ in 0..=dice.roll(6) {
            let paths = if dice.roll(3) == 0 { Vec::new() } else { some(dice, &PATTERNS, 2) };
            let names = if dice.roll(2) == 0 { Vec::new() } else { some(dice, &NAMES, 3) };
            let said = [0; 3].map(|_| [None, Some(true), Some(false)][dice.roll(3)]);
            let wish = Wish { paths, names, said };
            if said != [None; 3] && !wishes.iter().any(|one| one.contradicts(&wish)) {
                wishes.push(wish);
            }
        }
        let carriers = match dice.roll(4) {
            0 => vec![USAGE],
            1 => vec![Carrier::ContentSignal],
            _ => Carrier::ALL.to_vec(),
        };
        let mut is = || dice.roll(2) == 0;
        Self { groups, wishes, carriers, closes: is(), has_tdm: is(), has_license: is() }
    }

    fn yaml(&self, host: &str, origin: u16) -> String {
        let mut text = format!("  - hosts: [{host}]\n    origin: http://127.0.0.1:{origin}\n");
        text.push_str("    robots_txt:\n      groups:\n");
        for Group { name, rules } in &self.groups {
            let list = |allow| {
                let of = rules.iter().filter(|(is, _)| *is == allow).map(|(_, one)| *one);
                format!("{:?}", of.collect::<Vec<_>>())
            };
            let (allow, disallow) = (list(true), list(false));
            let rules = format!("allow: {allow}, disallow: {disallow}");
            let _ = writeln!(text, "        - {{ user_agents: [\"{name}\"], {rules} }}");
        }
        text.push_str(if self.wishes.is_empty() { "" } else { "    preferences:\n" });
        for Wish { paths, names, said } in &self.wishes {
            let mut keys = Vec::new();
            keys.extend((!paths.is_empty()).then(|| format!("paths: {paths:?}")));
            keys.extend((!names.is_empty()).then(|| format!("user_agents: {names:?}")));
            for (category, said) in CATEGORIES.iter().zip(said) {
                keys.extend(
                    said.map(|yes| format!("{category}: {}", ["no", "yes"][usize::from(yes)])),
                );
            }
            let _ = writeln!(text, "      - {{ {} }}", keys.join(", "));
        }
        let carriers: Vec<String> =
            self.carriers.iter().map(|one| one.as_str().to_lowercase()).collect();
        let _ = writeln!(text, "    carriers: [{}]", carriers.join(", "));
        let _ = writeln!(text, "    control_tokens: {}\n    tdm: {}", self.closes, self.has_tdm);
        if self.has_license {
            text.push_str("    license: https://site.example/license.xml\n");
        }
        text
    }
}

impl Wish {
    /// Whether both say different things to the same crawler about the same path: the policy is refused.
    fn contradicts(&self, other: &Self) -> bool {
        let meet = |a: &[&str], b: &[&str]| {
            a.is_empty() && b.is_empty() || a.iter().any(|one| b.contains(one))
        };
        let differ = |(one, other): (&Option<bool>, &Option<bool>)| matches!((one, other), (Some(one), Some(other)) if one != other);
        meet(&self.paths, &other.paths)
            && meet(&self.names, &other.names)
            && self.said.iter().zip(&other.said).any(differ)
    }
}

// === a naive reading of it

fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((b'$', [])), _) => path.is_empty(),
        (Some((b'*', rest)), next) => {
            matches(rest, path) || next.is_some_and(|(_, later)| matches(pattern, later))
        }
        (Some((octet, rest)), Some((next, later))) => octet == next && matches(rest, later),
        (Some(_), None) => false,
    }
}

fn applies(pattern: &str, path: &str) -> bool {
    matches(pattern.as_bytes(), path.as_bytes())
}

/// Whether each path of `inner` is one of `outer`, as far as the texts tell.
fn is_below(inner: &str, outer: &str) -> bool {
    inner == outer || !outer.contains(['*', '$']) && inner.starts_with(outer)
}

fn strictest(said: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let said: Vec<bool> = said.into_iter().flatten().collect();
    if said.contains(&false) { Some(false) } else { said.first().copied() }
}

impl Site {
    /// What is said to a crawler about a pattern: by the entries about it, for the crawler before those
    /// for all, then by those about the paths around it, then by those about the whole site.
    fn about(&self, name: &str, pattern: &str) -> Said {
        let wishes = |outer: &'static str, named: bool| {
            self.wishes.iter().filter(move |wish| {
                let is_for = if named { wish.names.contains(&name) } else { wish.names.is_empty() };
                let is_about = if outer.is_empty() {
                    wish.paths.is_empty()
                } else {
                    wish.paths.contains(&outer)
                };
                is_for && is_about
            })
        };
        let mut around: Vec<&'static str> =
            PATTERNS.into_iter().filter(|one| is_below(pattern, one)).collect();
        around.sort_by_key(|one| std::cmp::Reverse(one.len()));
        around.push("");
        let mut found = Said::default();
        for outer in around {
            for wish in wishes(outer, true).chain(wishes(outer, false)) {
                for (found, said) in found.iter_mut().zip(wish.said) {
                    *found = found.or(said);
                }
            }
        }
        found
    }

    /// What the table of a carrier says to a crawler about a path. The longest pattern decides, and the
    /// stricter of equally long ones. `Content-Usage` can't say `ai-input`.
    fn table(&self, name: &str, path: &str, carrier: Carrier) -> Said {
        let known = |mut said: Said| {
            if carrier == USAGE {
                said[2] = None;
            }
            said
        };
        let is_for = |wish: &&Wish| wish.names.is_empty() || wish.names.contains(&name);
        let mut patterns: Vec<&str> =
            self.wishes.iter().filter(is_for).flat_map(|wish| wish.paths.clone()).collect();
        patterns.retain(|one| applies(one, path) && known(self.about(name, one)) != [None; 3]);
        let longest = patterns.iter().map(|one| one.len()).max();
        patterns.retain(|one| Some(one.len()) == longest);
        if patterns.is_empty() {
            return known(self.about(name, ""));
        }
        let each: Vec<Said> = patterns.iter().map(|one| known(self.about(name, one))).collect();
        [0, 1, 2].map(|category| strictest(each.iter().map(|said| said[category])))
    }

    /// What responses say: what each crawler reads.
    fn field(&self, path: &str) -> Said {
        let named = self.wishes.iter().flat_map(|wish| wish.names.clone());
        let each: Vec<Said> =
            [""].into_iter().chain(named).map(|name| self.table(name, path, USAGE)).collect();
        [0, 1, 2].map(|category| {
            each[0][category].filter(|said| each.iter().all(|one| one[category] == Some(*said)))
        })
    }

    /// What the file of TDMRep says: a row for each path, with what responses say about it.
    fn tdm_file(&self, path: &str) -> Option<bool> {
        let paths = self.wishes.iter().flat_map(|wish| wish.paths.clone()).chain(["/"]);
        // A path of which each is the longest pattern.
        let itself = |one: &str| match one.strip_suffix('$') {
            Some(path) => path.to_owned(),
            None => format!("{one} "),
        };
        let rows = paths.map(|one| (one.len(), one, self.field(&itself(one))[TRAIN]));
        let rows = rows.filter_map(|(length, one, said)| Some((length, one, said?)));
        let applying: Vec<_> = rows.filter(|(_, one, _)| applies(one, path)).collect();
        let longest = applying.iter().map(|row| row.0).max();
        strictest(applying.iter().filter(|row| Some(row.0) == longest).map(|row| Some(row.2)))
    }

    fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The rule of a group about a path, with its length.
    fn rule(&self, name: &str, path: &str) -> Option<(bool, usize)> {
        let group = self.group(name).or_else(|| self.group("*"))?;
        let rules = group.rules.iter().filter(|(_, pattern)| applies(pattern, path));
        let rules = rules.map(|(allow, pattern)| (pattern.len(), *allow));
        rules.max().map(|(length, allow)| (allow, length))
    }

    /// What the group of a control token says about training; `Err` where the table leaves it open.
    fn control(&self, name: &str, path: &str) -> Result<Option<bool>, ()> {
        let rule = self.rule(name, path);
        let is_for = |wish: &&Wish| wish.names.is_empty() || wish.names.contains(&name);
        let wishes = || self.wishes.iter().filter(is_for);
        let is_named = self.group(name).is_some();
        let paths: Vec<&str> = wishes().flat_map(|wish| wish.paths.clone()).collect();
        let whole = if paths.contains(&"/") { "/" } else { "" };
        let is_closed =
            paths.iter().chain([&whole]).any(|one| self.about(name, one)[TRAIN] == Some(false));
        if is_named || !self.closes || !is_closed {
            // Only a rule of a group of its own permits.
            return match rule {
                Some((true, _)) if !is_named => Err(()),
                rule => Ok(rule.map(|(allow, _)| allow)),
            };
        }
        let carrier = Carrier::ContentSignal;
        let about = paths.iter().filter(|one| applies(one, path));
        let longest = about.map(|one| one.len()).max().unwrap_or(1);
        match (self.table(name, path, carrier)[TRAIN], rule) {
            (Some(false), _) => Ok(Some(false)),
            (Some(true), Some((false, length))) => Ok(Some(length <= longest)),
            (Some(true), _) => Ok(Some(true)),
            (None, Some((false, _))) => Ok(Some(false)),
            // Another pattern, or a rule that was left out for it, may close the path.
            (None, _) => Err(()),
        }
    }

    /// The answers of the matrix, and whether carriers contradict each other about training.
    fn answers(&self, name: &str, path: &str) -> Option<([&'static str; 3], bool)> {
        let is_control = name.ends_with("-Extended");
        let is_closed = !is_control && self.rule(name, path).is_some_and(|(allow, _)| !allow);
        let governing: &[&str] = match name {
            "Googlebot" => &[GOOGLE],
            name if is_control => &[name],
            _ => &[],
        };
        let mut train = vec![self.field(path)[TRAIN]];
        let mut search = vec![self.field(path)[SEARCH]];
        train.extend(self.has_tdm.then(|| self.tdm_file(path)));
        for carrier in &self.carriers {
            train.push(self.table(name, path, *carrier)[TRAIN]);
            search.push(self.table(name, path, *carrier)[SEARCH]);
        }
        let mut open = false;
        for token in governing {
            match self.control(token, path) {
                Ok(said) => train.push(said),
                Err(()) => open = true,
            }
        }
        if open {
            return None;
        }
        let contradicts = train.contains(&Some(true)) && train.contains(&Some(false));
        if is_closed {
            return Some((["no"; 3], contradicts));
        }
        let word = |said| match said {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unsaid",
        };
        let fetch = |word| if is_control { "null" } else { word };
        let answers = [fetch("yes"), word(strictest(train)), fetch(word(strictest(search)))];
        Some((answers, contradicts))
    }
}

// === what is seen

fn statement(said: Said) -> Statement {
    Category::ALL.into_iter().zip(said).fold(Statement::default(), |all, (category, said)| {
        let preference = |yes| if yes { Preference::Allow } else { Preference::Disallow };
        all.with(category, said.map(preference))
    })
}

/// The file, read by the parser of this project.
fn check_file(site: &Site, text: &[u8], policy: &str) {
    let (file, _) = robots::parse(text);
    let matcher = Matcher::new(&file);
    let text = String::from_utf8_lossy(text);
    for name in NAMES {
        let scope = matcher.group(name).or_else(|| matcher.star()).expect("a group");
        for path in PATHS {
            let target = Target::new(path.as_bytes());
            for carrier in Carrier::ALL {
                let said = matcher.usage_as_written(scope, carrier, &target).statement;
                let expected = match site.carriers.contains(&carrier) {
                    true => statement(site.table(name, path, carrier)),
                    false => Statement::default(),
                };
                assert_eq!(said, expected, "{name} {path} {carrier:?}\n{policy}\n{text}");
            }
        }
    }
    let licences = text.matches("License: https://site.example/license.xml").count();
    assert_eq!(licences, usize::from(site.has_license), "{policy}\n{text}");
}

fn check_fields(site: &Site, path: &str, response: &Response, policy: &str) {
    let said = statement(site.field(path));
    let usage = USAGE.write(&said);
    assert_eq!(response.header("content-usage"), usage.as_deref(), "{path}\n{policy}");
    let reserved = site.field(path)[TRAIN].filter(|_| site.has_tdm);
    let reserved = reserved.map(|yes| if yes { "0" } else { "1" });
    assert_eq!(response.header("tdm-reservation"), reserved, "{path}\n{policy}");
    assert_eq!(response.header("link").is_some(), site.has_license, "{path}\n{policy}");
}

#[test]
fn random_preferences_come_back_from_robots_txt_and_from_the_matrix() {
    let sites = if is_full_size() { 200 } else { 20 };
    let (origin, port) = (Origin::plain(), free_port());
    let mut dice = Dice(30);
    let policies = (1..=sites).map(|number| {
        let (site, host) = (Site::random(&mut dice), format!("127.0.1.{number}"));
        let policy = site.yaml(&host, origin.port);
        (site, host, policy)
    });
    let policies: Vec<(Site, String, String)> = policies.collect();
    let all: String = policies.iter().map(|(_, _, policy)| policy.as_str()).collect();
    // A host for each, at an address of its own.
    let setup = policies.iter().fold(Setup::sites(&all), |setup, (_, host, _)| {
        setup.listener(&format!("\"{host}:{port}\""))
    });
    let beadle = setup.start();
    for (site, host, policy) in &policies {
        let get = |path: &str| Request::get(path).host(host).send(beadle.port);
        let robots = get("/robots.txt").body;
        check_file(site, &robots, policy);
        PATHS.iter().for_each(|path| check_fields(site, path, &get(path), policy));

        let mut command = Command::new(PROGRAM);
        command.args(["audit", "--matrix", "--format", "json"]);
        command.args(NAMES.iter().flat_map(|name| ["--user-agent", name]));
        command.args(PATHS.iter().map(|path| format!("http://{host}:{port}{path}")));
        let rows = json_lines(&command.output().expect("the program can be started"));
        let key = |row: &Value| [&row["url"], &row["product_token"]].map(Value::to_string);
        let rows: BTreeMap<[String; 2], Value> =
            rows.into_iter().map(|row| (key(&row), row)).collect();
        assert_eq!(rows.len(), NAMES.len() * PATHS.len(), "{policy}");
        for (name, path) in NAMES.iter().flat_map(|name| PATHS.map(|path| (name, path))) {
            let key = [format!("\"http://{host}:{port}{path}\""), format!("\"{name}\"")];
            let row = &rows[&key];
            let seen =
                ["crawl", "train_ai", "search"].map(|key| row[key].as_str().unwrap_or("null"));
            let found = row["conflicts"].to_string().contains("audit.training_contradicts");
            if let Some(expected) = site.answers(name, path) {
                let robots = String::from_utf8_lossy(&robots);
                assert_eq!((seen, found), expected, "{name} {path}\n{row}\n{policy}\n{robots}");
            }
        }
    }
}
