//! A site's ninety days, drawn at random but always the same: crawlers, paths and networks, each with
//! few that are frequent and many that are rare.

/// The length of the time with records.
pub(crate) const DAYS: u64 = 90;
/// The sites, the share of the first being the largest.
pub(crate) const SITES: [&str; 3] = ["www.example.com", "shop.example.com", "blog.example.org"];
pub(crate) const CRAWLERS: usize = 150;
pub(crate) const PATHS: usize = 20_000;
pub(crate) const NETWORKS: usize = 5_000;
pub(crate) const RULES: usize = 40;
/// The operators that send people.
pub(crate) const OPERATORS: [&str; 5] =
    ["OpenAI", "Perplexity", "Google", "Microsoft", "Anthropic"];

/// The names of the most frequent crawlers; the others are numbered.
const KNOWN: [(&str, &str); 20] = [
    ("GPTBot", "ai-training"),
    ("Bytespider", "ai-training"),
    ("ClaudeBot", "ai-training"),
    ("CCBot", "ai-training"),
    ("Googlebot", "search"),
    ("bingbot", "search"),
    ("AhrefsBot", "seo"),
    ("SemrushBot", "seo"),
    ("Amazonbot", "ai-training"),
    ("Applebot", "search"),
    ("meta-externalagent", "ai-training"),
    ("PerplexityBot", "ai-search"),
    ("OAI-SearchBot", "ai-search"),
    ("YandexBot", "search"),
    ("DotBot", "seo"),
    ("MJ12bot", "seo"),
    ("PetalBot", "search"),
    ("DataForSeoBot", "seo"),
    ("ImagesiftBot", "ai-training"),
    ("archive.org_bot", "archive"),
];

/// A generator of random numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Numbers of which the first are the most frequent (Zipf).
pub(crate) struct Skew(Vec<f64>);

impl Skew {
    pub(crate) fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=count).map(|rank| (rank as f64).powf(-exponent));
        let mut sums: Vec<f64> = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        sums.iter_mut().for_each(|one| *one /= sum);
        Self(sums)
    }

    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let wanted = random.fraction();
        self.0.partition_point(|sum| *sum < wanted).min(self.0.len() - 1)
    }

    /// The share of one number.
    pub(crate) fn share(&self, number: usize) -> f64 {
        self.0[number] - number.checked_sub(1).map_or(0.0, |before| self.0[before])
    }
}

pub(crate) fn token(crawler: usize) -> String {
    KNOWN.get(crawler).map_or_else(|| format!("Crawler{crawler}"), |(name, _)| (*name).to_owned())
}

/// Every third crawler of the unknown ones has no purpose.
pub(crate) fn purpose(crawler: usize) -> Option<&'static str> {
    match KNOWN.get(crawler) {
        Some((_, purpose)) => Some(purpose),
        None => [None, Some("ai-training"), Some("seo")][crawler % 3],
    }
}

pub(crate) fn class(crawler: usize) -> &'static str {
    if crawler % 10 == 9 { "automation" } else { "crawler" }
}

pub(crate) fn standing(crawler: usize, random: &mut Random) -> &'static str {
    match (crawler < KNOWN.len(), random.below(20)) {
        (true, 0) => "contradicted",
        (true, _) => "confirmed",
        (false, 0) => "unverifiable",
        (false, _) => "unknown",
    }
}

/// Most crawlers are only logged; some are blocked, and few are slowed down now and then.
pub(crate) fn action(crawler: usize, random: &mut Random) -> &'static str {
    match (crawler % 3, random.below(200)) {
        (_, 0) => "throttle",
        (1, _) => "block",
        _ => "log",
    }
}

pub(crate) fn read(crawler: usize, random: &mut Random) -> &'static str {
    match (crawler % 4, random.below(10)) {
        (0, _) | (_, 0) => "never",
        (_, 1) => "older",
        _ => "current",
    }
}

pub(crate) fn network(number: usize) -> String {
    format!("{}.{}.{}.0/24", 11 + number % 83, number / 83 % 200, number * 7 % 256)
}

/// The rule that holds the path: the first rules hold the most paths.
pub(crate) fn rule(path: usize) -> usize {
    (path % 211).min(path * 31 % 97).min(path * 17 % 53) % RULES
}

pub(crate) fn pattern(rule: usize) -> String {
    match rule % 4 {
        0 => format!("/section-{rule}/"),
        1 => format!("/archive/{rule}/*/print"),
        2 => format!("/*/private-{rule}/"),
        _ => format!("/feeds/{rule}"),
    }
}

/// A path that its rule matches, without a query.
pub(crate) fn path(number: usize) -> String {
    let rule = rule(number);
    match rule % 4 {
        0 => format!("/section-{rule}/articles/{number}-a-title-of-some-words"),
        1 => format!("/archive/{rule}/{number}/print"),
        2 => format!("/en/private-{rule}/files/report-{number}.pdf"),
        _ => format!("/feeds/{rule}/{number}.xml"),
    }
}

/// The edition of robots.txt in force: one a week for each site.
pub(crate) fn edition(site: usize, hour: u64) -> String {
    let number = site as u64 * 1000 + hour / (7 * 24);
    format!("{:016x}", Random(number).next())
}

pub(crate) fn robots_txt(site: usize, week: u64) -> String {
    let rules: String = (0..RULES).map(|rule| format!("Disallow: {}\n", pattern(rule))).collect();
    format!("# {} in week {week}\nUser-agent: *\n{rules}Allow: /\n", SITES[site])
}

/// The hour of the day makes a difference of a factor of three.
pub(crate) fn weight(hour: u64) -> f64 {
    let angle = (hour % 24) as f64 / 24.0 * std::f64::consts::TAU;
    1.0 + 0.5 * angle.sin()
}
