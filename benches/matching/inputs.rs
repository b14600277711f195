//! Inputs for matching: files of many rules, paths for them, and hostile paths. A fixed formula
//! makes them, so every run measures the same octets.

use std::fmt::Write;

/// A typical file: 21 rules, six of them with wildcards.
pub(crate) const SMALL: &str = "\
User-agent: *
Disallow: /admin/
Disallow: /cart
Disallow: /checkout
Disallow: /account/
Disallow: /search
Allow: /search/about
Disallow: /api/
Allow: /api/docs/
Disallow: /tmp/
Disallow: /internal/
Disallow: /cgi-bin/
Disallow: /login
Disallow: /print/
Disallow: /drafts/
Allow: /press/kit/
Disallow: /*?session=
Disallow: /*/feed/
Disallow: /*.php$
Disallow: /*&sort=
Disallow: /products/*/reviews
Allow: /downloads/*.pdf$
";

/// The number of paths for a file.
const PATHS: usize = 1000;

/// A minimal generator of pseudo-random numbers, the same in every run.
pub(crate) struct Numbers(u64);

/// The text of a robots.txt of one group, and its patterns.
pub(crate) struct File {
    pub(crate) text: String,
    patterns: Vec<String>,
}

impl Numbers {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit` (Knuth's linear congruential generator, its upper half).
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    /// A word of two or three syllables. Three letters have about 10 bits of entropy, as in
    /// English. An index by three letters depends on this number.
    fn word(&mut self) -> String {
        let mut word = String::new();
        for _ in 0..2 + self.below(2) {
            for letters in [&b"bcdfghjklmnprstvwz"[..], b"aeiouy", b"dklmnprstx"] {
                word.push(char::from(letters[self.below(letters.len())]));
            }
        }
        word
    }

    /// A path as on shops and archives, of about 37 octets.
    fn path(&mut self) -> String {
        let number = self.below(10_000);
        let [section, first, second, name] = std::array::from_fn(|_| self.word());
        format!("/{section}/{first}-{second}/{name}-{number}")
    }
}

impl File {
    /// `count` rules; one in `wild` has wildcards, or none if it is 0.
    pub(crate) fn large(count: usize, wild: usize) -> Self {
        let mut numbers = Numbers::from_seed(9309);
        let pattern = |index: usize| {
            let path = numbers.path();
            if wild == 0 || !index.is_multiple_of(wild) {
                return path;
            }
            let [first, second] = [numbers.word(), numbers.word()];
            match index / wild % 6 {
                0 => format!("/{first}/*/{second}"),
                1 => format!("/*/{first}-{second}/"),
                2 => format!("/*?{first}="),
                3 => format!("/{first}/*.{second}$"),
                4 => format!("*{first}*{second}"),
                _ => format!("{path}/*/{first}$"),
            }
        };
        Self::of((0..count).map(pattern).collect())
    }

    /// `count` rules `/*/*/*/word$`.
    pub(crate) fn slashes(count: usize) -> Self {
        let mut numbers = Numbers::from_seed(2);
        Self::of((0..count).map(|_| format!("/*/*/*/{}$", numbers.word())).collect())
    }

    /// `count` different rules with this many stars, an `a` or a `b` between them, and `last` at
    /// the end. A path of `ab` has every letter, but not `aa`. So a rule with `aa` at its end needs
    /// a search of the whole path.
    pub(crate) fn letters(count: usize, stars: usize, last: &str) -> Self {
        let pattern = |index: usize| {
            let letter = |star: usize| if index >> (star % 12) & 1 == 0 { "*a" } else { "*b" };
            format!("/{}*{last}", (1..stars).map(letter).collect::<String>())
        };
        Self::of((0..count).map(pattern).collect())
    }

    /// The file [`SMALL`].
    pub(crate) fn small() -> Self {
        let patterns = SMALL.lines().skip(1).filter_map(|line| line.split_once(": "));
        Self {
            text: SMALL.to_owned(),
            patterns: patterns.map(|(_, pattern)| pattern.to_owned()).collect(),
        }
    }

    fn of(patterns: Vec<String>) -> Self {
        let mut text = "User-agent: *\n".to_owned();
        for (index, pattern) in patterns.iter().enumerate() {
            let directive = if index % 5 == 4 { "Allow" } else { "Disallow" };
            let _ = writeln!(text, "{directive}: {pattern}"); // writing to a String can't fail
        }
        Self { text, patterns }
    }

    /// Paths; three in ten match a rule by `is_match`. Some others begin like a rule.
    pub(crate) fn paths(&self, is_match: impl Fn(&str) -> bool) -> Vec<String> {
        let mut numbers = Numbers::from_seed(3);
        let mut paths = Vec::with_capacity(PATHS);
        while paths.len() < PATHS {
            let pattern = &self.patterns[numbers.below(self.patterns.len())];
            let wanted = paths.len() % 10 < 3;
            let path = if wanted {
                let word = numbers.word();
                let path = pattern.replace('*', &word);
                let path = if path.starts_with('/') { path } else { format!("/{path}") };
                path.strip_suffix('$').map_or_else(|| format!("{path}/{word}"), str::to_owned)
            } else {
                match numbers.below(4) {
                    0 => format!("{}{}", &pattern[..pattern.len() / 2], numbers.path())
                        .replace(['*', '$'], "x"),
                    1 => format!("{}?page={}", numbers.path(), numbers.below(100)),
                    _ => numbers.path(),
                }
            };
            if path.starts_with('/') && is_match(&path) == wanted {
                paths.push(path);
            }
        }
        paths
    }
}

/// `/` and then repetitions of `text`, `length` octets in total.
pub(crate) fn octets(text: &str, length: usize) -> String {
    let mut path = format!("/{}", text.repeat(length / text.len() + 1));
    path.truncate(length);
    path
}

/// A path of usual segments, `length` octets in total.
pub(crate) fn long(length: usize) -> String {
    let mut numbers = Numbers::from_seed(4);
    let mut path = String::new();
    while path.len() < length {
        path.push_str(&numbers.path());
    }
    path.truncate(length);
    path
}

/// Evasive forms of `path` that some origins read as `path`.
pub(crate) fn evasion(path: &str, number: usize) -> String {
    match number % 4 {
        0 => format!("/{path}"),
        1 => format!("/x/..{path}"),
        2 => format!("{};id=1", path.split('?').next().unwrap_or_default()),
        _ => format!("/.{}", path.replacen('/', "%2F", 2).replacen("%2F", "/", 1)),
    }
}

/// `path` with some octets percent-encoded, which does not change its meaning (RFC 9309 §2.2.2).
pub(crate) fn encoded(path: &str) -> String {
    path.replace('a', "%61").replace('o', "%6f")
}
