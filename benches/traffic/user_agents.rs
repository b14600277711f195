//! User-Agents as browsers, crawlers and tools send them.

/// All of them, browsers and crawlers mixed as in an access log: seven and three of ten.
pub(crate) fn mixed() -> Vec<String> {
    let (browsers, crawlers) = (browsers(), crawlers());
    let mut mixed = Vec::with_capacity(browsers.len() + crawlers.len());
    for (seven, three) in browsers.chunks(7).zip(crawlers.chunks(3)) {
        mixed.extend(seven.iter().cloned());
        mixed.extend(three.iter().map(|crawler| (*crawler).to_owned()));
    }
    mixed
}

/// 140 browsers and apps.
pub(crate) fn browsers() -> Vec<String> {
    const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
    const DESKTOPS: [&str; 4] = [
        "Windows NT 10.0; Win64; x64",
        "Macintosh; Intel Mac OS X 10_15_7",
        "X11; Linux x86_64",
        "X11; CrOS x86_64 14541.0.0",
    ];
    const PHONES: [&str; 16] = [
        "K",
        "Pixel 6",
        "Pixel 7a",
        "Pixel 8 Pro",
        "SM-A546B",
        "SM-S918B",
        "SM-G991U",
        "SM-T870",
        "moto g power (2022)",
        "M2101K6G",
        "2201117TY",
        "CPH2451",
        "RMX3630",
        "XQ-DC54",
        "ONEPLUS A6013",
        "CUBOT P80",
    ];
    let mut all = Vec::new();
    for system in DESKTOPS {
        for version in [109, 120, 124, 128, 131, 134, 136, 138, 140, 142] {
            all.push(format!(
                "Mozilla/5.0 ({system}) {WEBKIT} Chrome/{version}.0.0.0 Safari/537.36"
            ));
        }
    }
    for system in &DESKTOPS[..2] {
        for version in [131, 134, 138, 140, 142] {
            all.push(format!(
                "Mozilla/5.0 ({system}) {WEBKIT} Chrome/{version}.0.0.0 Safari/537.36 \
                 Edg/{version}.0.0.0"
            ));
        }
        all.push(format!(
            "Mozilla/5.0 ({system}) {WEBKIT} Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0"
        ));
    }
    for system in ["Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10.15"]
        .into_iter()
        .chain(["X11; Linux x86_64", "X11; Ubuntu; Linux x86_64", "Android 14; Mobile"])
    {
        for version in [115, 128, 140, 144, 145] {
            all.push(format!(
                "Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0"
            ));
        }
    }
    for version in ["15.6.1", "16.6", "17.4.1", "17.6", "18.3", "18.6", "26.0", "26.1"] {
        all.push(format!(
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like \
             Gecko) Version/{version} Safari/605.1.15"
        ));
    }
    for version in ["15_8_3", "16_7_10", "17_5_1", "17_7", "18_1", "18_3_2", "18_6", "18_7"] {
        for device in ["iPhone; CPU iPhone OS", "iPad; CPU OS"] {
            let short = version.split_once('_').map_or(version, |(major, _)| major);
            all.push(format!(
                "Mozilla/5.0 ({device} {version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/{short}.0 Mobile/15E148 Safari/604.1"
            ));
        }
    }
    for (phone, android) in PHONES.into_iter().zip((10..=15).cycle()) {
        all.push(format!(
            "Mozilla/5.0 (Linux; Android {android}; {phone}) {WEBKIT} Chrome/141.0.0.0 Mobile \
             Safari/537.36"
        ));
    }
    for (phone, version) in PHONES.iter().skip(4).zip([21, 23, 25, 26, 27, 28, 29]) {
        all.push(format!(
            "Mozilla/5.0 (Linux; Android 13; {phone}) {WEBKIT} SamsungBrowser/{version}.0 \
             Chrome/121.0.0.0 Mobile Safari/537.36"
        ));
    }
    for phone in &PHONES[..8] {
        all.push(format!(
            "Mozilla/5.0 (Linux; Android 14; {phone} Build/UP1A.231005.007; wv) {WEBKIT} \
             Version/4.0 Chrome/139.0.7258.94 Mobile Safari/537.36 Instagram 390.0.0.43.81 Android \
             (34/14; 420dpi; 1080x2201; Google/google; {phone}; en_GB; 769544512)"
        ));
    }
    for version in [391, 402, 417, 420, 433, 441, 452, 460] {
        all.push(format!(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
             like Gecko) Mobile/21G93 [FBAN/FBIOS;FBAV/{version}.0.0.29.107;FBDV/iPhone14,5;FBMD/\
             iPhone;FBSN/iOS;FBSV/17.6.1;FBSS/3;FBLC/en_US;FBOP/5]"
        ));
    }
    all
}

/// 60 crawlers, fetchers and tools.
pub(crate) fn crawlers() -> [&'static str; 60] {
    CRAWLERS
}

const CRAWLERS: [&str; 60] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like \
     Gecko) Chrome/141.0.7390.122 Mobile Safari/537.36 (compatible; Googlebot/2.1; \
     +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; \
     +http://www.google.com/bot.html) Chrome/141.0.7390.122 Safari/537.36",
    "Googlebot-Image/1.0",
    "Mediapartners-Google",
    "AdsBot-Google (+http://www.google.com/adsbot.html)",
    "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)",
    "GoogleOther",
    "FeedFetcher-Google; (+http://www.google.com/feedfetcher.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; \
     +http://www.bing.com/bingbot.htm) Chrome/136.0.0.0 Safari/537.36",
    "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
     Version/17.4 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
    "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
    "Mozilla/5.0 (compatible; SeznamBot/4.0; +https://o-seznam.cz/napoveda/vyhledavani/)",
    "Mozilla/5.0 (Linux; Android 7.0;) AppleWebKit/537.36 (KHTML, like Gecko) Mobile \
     Safari/537.36 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)",
    "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; \
     +https://openai.com/gptbot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-SearchBot/1.0; \
     +https://openai.com/searchbot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; \
     +https://openai.com/bot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; \
     +claudebot@anthropic.com)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; \
     +Claude-User@anthropic.com)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; \
     +https://perplexity.ai/perplexitybot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; \
     +https://perplexity.ai/perplexity-user)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile \
     Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; \
     +https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36",
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Twitterbot/1.0",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "TelegramBot (like TwitterBot)",
    "WhatsApp/2.23.20.0",
    "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
    "Mozilla/5.0 (compatible; MJ12bot/v2.0.2; http://mj12bot.com/)",
    "Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)",
    "Mozilla/5.0 (compatible; BLEXBot/1.0; +http://webmeup-crawler.com/)",
    "Mozilla/5.0 (compatible; DataForSeoBot/1.0; +https://dataforseo.com/dataforseo-bot)",
    "serpstatbot/2.1 (advanced backlink tracking bot; https://serpstatbot.com/)",
    "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
    "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers; like FeedFetcher-Google)",
    "Mozilla/5.0 (compatible; ImagesiftBot; +imagesift.com)",
    "Timpibot/0.8 (+http://www.timpi.io)",
    "curl/8.5.0",
    "Wget/1.21.4",
    "python-requests/2.32.3",
    "Go-http-client/1.1",
    "Scrapy/2.11.2 (+https://scrapy.org)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
     HeadlessChrome/138.0.0.0 Safari/537.36",
    "Mozilla/5.0 (compatible; LanternIndexBot/1.3; +https://lantern-index.example/bot)",
    "HarbourPriceWatch/2.4 (+https://prices.example/about)",
];
