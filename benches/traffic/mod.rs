//! Traffic for the benchmarks: a policy of a hundred rules, and requests.
//!
//! The User-Agents are 140 browsers and 60 crawlers and tools, in their documented forms. The paths
//! are those of a shop with a blog. The policy only logs, so Beadle refuses no request.

pub(crate) mod user_agents; // browsers, crawlers and tools

/// The requested host.
pub(crate) const HOST: &str = "www.example.com";

/// The targets. Their number and the number of User-Agents have no common divisor, so going through
/// both in step gives every pair.
///
/// Of 23 targets, one is disallowed for all crawlers, three for AI crawlers, and four get tags.
pub(crate) const TARGETS: [&str; 23] = [
    "/",
    "/index.html",
    "/about",
    "/contact?ref=footer",
    "/blog/",
    "/blog/2026/11/why-the-sea-is-salt",
    "/blog/2026/09/a-short-history-of-lighthouses?utm_source=feed",
    "/blog/tag/harbours/page/4",
    "/products/",
    "/products/lamps/storm-lantern-no-7",
    "/products/lamps/storm-lantern-no-7?colour=brass&size=l",
    "/products/ropes/manila-12mm",
    "/products/ropes/manila-12mm/reviews?page=3",
    "/static/css/site.3f9a1c.css",
    "/static/js/app.77b2e0.js",
    "/static/img/hero@2x.webp",
    "/images/lighthouse%20at%20dusk.jpg",
    "/press/2026/annual-report",
    "/press/kit",
    "/archive/2019/03/index.html",
    "/archive/2012/",
    "/sitemap.xml",
    "/search?q=brass+lantern&sort=price",
];

/// Every pair of a target and a User-Agent, in step, as lines with a tab between them.
pub(crate) fn pairs(user_agents: &[String]) -> String {
    (0..user_agents.len() * TARGETS.len())
        .filter_map(|number| {
            let target = TARGETS.get(number % TARGETS.len())?;
            let user_agent = user_agents.get(number % user_agents.len())?;
            Some(format!("{target}\t{user_agent}\n"))
        })
        .collect()
}

/// The number of rules in [`policy`].
pub(crate) const RULES: usize = 100;

/// The policy: [`RULES`] rules in six groups, two sets by purpose, one crawler outside the
/// catalogue, tags on some paths, and logged violations.
pub(crate) fn policy(listen: &str, database: &str, origin: &str) -> String {
    let list = |rules: &[String]| rules.join(", ");
    let quoted = |rule: String| format!("{rule:?}");
    let star: Vec<String> = ["/admin/", "/cart", "/checkout", "/login", "/search", "/tmp/"]
        .into_iter()
        .map(str::to_owned)
        .chain((0..24).map(|number| format!("/internal/area-{number:02}/")))
        .chain(["/*?session=", "/*/print$", "/*.sql$", "/*&sid="].map(str::to_owned))
        .map(quoted)
        .collect();
    let star_allow: Vec<String> =
        ["/admin/help", "/search/about", "/tmp/*.css$", "/internal/area-07/open", "/cart/terms"]
            .map(|rule| quoted(rule.to_owned()))
            .to_vec();
    let ai: Vec<String> = ["/archive/", "/*/reviews", "/search", "/members/"]
        .into_iter()
        .map(str::to_owned)
        .chain((0..18).map(|number| format!("/collections/{number:02}/*/full")))
        .map(quoted)
        .collect();
    let seo: Vec<String> = ["/search".to_owned()]
        .into_iter()
        .chain((0..11).map(|number| format!("/reports/20{:02}/", 10 + number)))
        .map(quoted)
        .collect();
    let google: Vec<String> =
        (0..9).map(|number| quoted(format!("/experiments/{number}/*.html$"))).collect();
    let bing: Vec<String> =
        (0..8).map(|number| quoted(format!("/experiments/{number}/"))).collect();
    let rules = [&star, &star_allow, &ai, &seo, &google, &bing].map(Vec::len);
    // The text below has the other three, four and three rules.
    assert_eq!(rules.iter().sum::<usize>() + 10, RULES, "the policy has as many rules as it says");
    format!(
        r#"server:
  listen: ["{listen}"]
  admin: "off"
  threads: 1
violations:
  database: "{database}"
crawler_sets:
  ai: {{ purposes: [ai-training, ai-search] }}
  seo: {{ purposes: [seo] }}
sites:
  - hosts: [{HOST}, "*.example.org"]
    origin: {origin}
    robots_txt:
      groups:
        - user_agents: ["*"]
          disallow: [{star}]
          allow: [{star_allow}]
          crawl_delay: 5
        - user_agents: ["set:ai"]
          disallow: [{ai}]
          allow: ["/archive/open/", "/press/", "/*/reviews/summary"]
        - user_agents: ["set:seo"]
          disallow: [{seo}]
        - user_agents: [Googlebot]
          disallow: ["/search", {google}]
          allow: ["/search/about", "/experiments/4/open.html", "/"]
        - user_agents: [bingbot]
          disallow: ["/search", {bing}]
        - user_agents: [HarbourPriceWatch]
          disallow: ["/products/", "/*?"]
      sitemaps: [https://{HOST}/sitemap.xml]
    robots_tag:
      - paths: [/archive/]
        rules: {{ "*": [noarchive], Googlebot: [nosnippet] }}
      - paths: [/press/]
        rules: {{ "*": [noindex, nosnippet] }}
      - content_types: [application/pdf]
        rules: {{ "*": [noindex] }}
      - statuses: [4xx]
        rules: {{ "*": [noindex] }}
    enforcement:
      mode: log
      overrides:
        - user_agents: [UptimeRobot]
          mode: "off"
"#,
        star = list(&star),
        star_allow = list(&star_allow),
        ai = list(&ai),
        seo = list(&seo),
        google = list(&google),
        bing = list(&bing),
    )
}
