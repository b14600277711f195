//! The pages and commands that are measured. A page that the program does not have is skipped.

/// A page and the time that it may take, in milliseconds.
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) limit: u64,
}

const PAGE: u64 = 100;
const FILTER: u64 = 300;

/// All pages. `id` is the id of a record, `middle` a day and `before` a record halfway back.
pub(crate) fn all(id: &str, middle: &str, before: u64) -> Vec<Page> {
    let pages = [
        "/",
        "/?days=1",
        "/?days=7",
        "/?days=30",
        "/?days=90",
        "/violations",
        "/violations/{id}",
        "/crawlers",
        "/crawlers?days=30",
        "/crawlers?days=90",
        "/crawlers/GPTBot",
        "/crawlers/GPTBot?days=30",
        "/crawlers/GPTBot?days=90",
        "/crawlers/Crawler140?days=90",
        "/robots",
        "/robots/www.example.com",
        "/policy",
        "/try",
        "/live",
        "/api/v1/openapi.json",
        "/api/v1/violations",
        "/api/v1/crawlers",
        "/api/v1/counts",
        "/healthz",
        "/metrics",
    ];
    let filters = [
        // One condition: frequent, rare, absent.
        "site=www.example.com",
        "site=BLOG.example.org",
        "site=absent.example",
        "crawler=GPTBot",
        "crawler=Crawler149",
        "crawler=Absent",
        "purpose=ai-training",
        "purpose=archive",
        "action=block",
        "action=throttle",
        // Paths: frequent, rare, absent, with wildcards.
        "path=/section-0/",
        "path=/archive/1/*/print",
        "path=/feeds/3/{rare}.xml$",
        "path=/absent/",
        "path=*.pdf$",
        "path=*report-19",
        "path=/*q=00ff",
        "path=*absent*word$",
        // Several conditions.
        "crawler=GPTBot&action=throttle",
        "crawler=Crawler149&action=throttle",
        "site=blog.example.org&purpose=archive&action=throttle",
        "site=blog.example.org&crawler=Crawler120",
        "crawler=Crawler149&path=/section-0/",
        "crawler=GPTBot&path=/feeds/3/",
        "purpose=seo&path=*.pdf$&site=shop.example.com",
        "action=block&crawler=GPTBot",
        // Times and pages far back.
        "since={middle}",
        "since={middle}&crawler=Crawler149",
        "until={middle}",
        "until={middle}&crawler=GPTBot",
        "until={middle}&path=/absent/",
        "before={before}",
        "before={before}&site=blog.example.org&action=block",
        "before=5000",
        "before=5000&crawler=GPTBot",
    ];
    let fill = |text: &str| {
        let before = before.to_string();
        text.replace("{id}", id)
            .replace("{middle}", middle)
            .replace("{before}", &before)
            .replace("{rare}", "19995")
    };
    let pages = pages.iter().map(|path| Page { path: fill(path), limit: PAGE });
    let filters = filters
        .iter()
        .map(|query| Page { path: format!("/violations?{}", fill(query)), limit: FILTER });
    pages.chain(filters).collect()
}

/// The commands that ask the database.
pub(crate) const COMMANDS: [&str; 12] = [
    "violations",
    "violations --product-token GPTBot --action throttle",
    "violations --path /absent/",
    "violations --since 7d --by crawler",
    "violations --since 90d --by crawler",
    "violations --since 90d --by path",
    "report --since 7d",
    "report --since 30d",
    "report --since 90d",
    "crawlers score GPTBot --since 7d",
    "crawlers score GPTBot --since 30d",
    "crawlers score Bytespider --since 90d",
];
