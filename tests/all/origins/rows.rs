//! Spellings of a disallowed path. The bytes of each row serve the page when an origin is asked
//! directly. The program refuses the same bytes, and the origin gets none of them.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use super::house::{House, Origin, ROUTES, Shows};
use crate::support::{
    client::{Client, Request},
    free_port,
    origin_models::spelled,
    program::{Beadle, Setup},
    shown,
};

/// The rules of a site, and the settings of its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rules {
    group: &'static str,
    origin: &'static str,
}

const fn rules(group: &'static str) -> Rules {
    Rules { group, origin: "" }
}

const PRIVATE: Rules = rules("disallow: [/private/]");
const ONLY_PUBLIC: Rules = rules("disallow: [/], allow: [/public/]");
const ADMIN: Rules = rules("disallow: [/@admin/]");
const SPECIAL: Rules = rules("disallow: ['/Special:']");
const PLUS: Rules = rules("disallow: [/a+b/]");
const PAIR: Rules = rules("disallow: ['/a;b/']");
const QUERY: Rules = rules("disallow: ['/*?filter[secret]=', '/*?q=admin/']");
const PDF: Rules = rules("disallow: ['/*.pdf$']");
const EXACT: Rules = rules("disallow: ['/private/x$']");
const LATIN: Rules = rules("disallow: [/%C3%A9]");
const SPELT: Rules = rules("disallow: [/a, /private/], allow: ['/a%2Bb/']");
const LAST_PARAMETER: Rules = rules("disallow: ['/x;y$']");
const BACKSLASH: Rules = rules("disallow: ['/a%5Cb/']");
const EMPTY_SEGMENT: Rules = rules("disallow: [/a//]");
const PAGE: Rules = rules("disallow: ['/*?page=', '/*&page=']");
const PAGE_NAME: Rules = rules("disallow: ['/*?page_name=']");
const BRACKET: Rules = rules("disallow: ['/*filter[']");
const SLASH_SPELT: Rules = rules("disallow: [/a/, /private/], allow: ['/a%2Fx']");
const SHORTER_SPELT: Rules = rules("disallow: [/a/private], allow: ['/a%2F']");
const TWICE: Rules = Rules { origin: "decode_depth: 2", ..PRIVATE };
const TWICE_EXACT: Rules = Rules { origin: "decode_depth: 2", ..EXACT };
const ANY_CASE: Rules = Rules { origin: "case_insensitive: true", ..PRIVATE };

/// What the program says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// 200, with the page.
    Goes,
    /// 403: the path as sent is disallowed.
    Letter,
    /// 403: what the origin makes of it is disallowed. No violation.
    Form,
}

use Fate::{Form, Goes, Letter};

/// The rules, the target as sent, the page, and one of the origins that serve it.
type Row = (Rules, &'static str, &'static str, &'static str, Fate);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (PRIVATE, "/private/x", "/private/x", "nginx", Letter),
    (PRIVATE, "//private/x", "/private/x", "nginx", Form),
    (PRIVATE, "///private//x", "/private/x", "nginx", Form),
    (PRIVATE, "/./private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/%2e/private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/.//private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/%2e%2e/private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/.%2E/private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/%2e./private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/b/../..//private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/%70rivate/x", "/private/x", "nginx", Letter),
    (PRIVATE, "/private%2fx", "/private/x", "nginx", Form),
    (PRIVATE, "/%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/%2Fprivate%2Fx", "/private/x", "nginx", Form),
    (PRIVATE, "//%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/.%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/./%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/%2e%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%2f..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%2f../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a/%2e%2e%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%5cb/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%5cb/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%5cb%2f..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a\\b/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%5c..%5cb/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%5cb%5cc/..%2fprivate%2fx", "/private/x", "nginx", Form),
    (PRIVATE, "/..%5cx/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/private;j=1/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/private;/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/private;a=b;c=d/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/private;%2f/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/a;x/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/;a=b/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "//;a/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/x%2f..;%2fa/private/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/x%2f..;/private/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/x%2f%2e%2e;j/private/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/x%2f..;j%2f..%2f../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/%2e%2e%3b/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a;%2f..%2fq/../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "/a%3b/..%2fprivate/x", "/private/x", "nginx", Form),
    (PRIVATE, "/pub%2Fprivate./..//private%2Fx", "/private/x", "node new URL", Form),
    (PRIVATE, "/pub%2Fq/..//private/x", "/private/x", "apache", Form),
    (PRIVATE, "/q%2f..;/../private/x", "/private/x", "apache", Form),
    (PRIVATE, "/a%2fb/../private/x", "/private/x", "apache", Form),
    (PRIVATE, "/a/b%2f../..%2f../private/x", "/private/x", "http.server", Form),
    (PRIVATE, "/private//..//x", "/private/x", "nginx merge_slashes off", Letter),
    (PRIVATE, "//../private/x", "/private/x", "nginx merge_slashes off", Form),
    (PRIVATE, "//.%2e/private/x", "/private/x", "nginx merge_slashes off", Form),
    (PRIVATE, "//./private/x", "/private/x", "nginx", Form),
    (PRIVATE, "//a//../private/x", "/private/x", "nginx", Form),
    (PRIVATE, "//q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q//private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "///q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "////q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/\\q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/\\/q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//\\q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q\\private\\x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q:80/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//u@q/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//u:p@q:80/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//[::1]/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//%71/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q;/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q%2fr/private/x", "/private/x", "php parse_url", Form),
    (PRIVATE, "//q\\r/private/x", "/private/x", "php parse_url", Form),
    (PRIVATE, "//[q/private/x", "/private/x", "php parse_url", Form),
    (PRIVATE, "//q/private%2fx", "/private/x", "node new URL", Form),
    (PRIVATE, "//q/%70rivate/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q/a/..%2fprivate/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q/a%2fb/../private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//q/a/../private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//private/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "//site.example/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/private\\x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a\\..\\private\\x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a/..\\private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a%5cb\\../private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a%5cb\\..%2fprivate/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a%5cb\\..\\private\\x", "/private/x", "node new URL", Form),
    (PRIVATE, "/.\\private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/../private/x", "/private/x", "http.server", Form),
    (PRIVATE, "/%2e%2e/private/x", "/private/x", "http.server", Form),
    (PRIVATE, "/..%2fprivate/x", "/private/x", "http.server", Form),
    (PRIVATE, "/a/..%2f..%2fprivate/x", "/private/x", "http.server", Form),
    (PRIVATE, "/../root/private/x", "/private/x", "starlette files", Form),
    (PRIVATE, "/..%2froot/private/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/a/..%2f..%2froot%2fprivate/x", "/private/x", "node new URL", Form),
    (PRIVATE, "/%u0070rivate/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/a/%u002e%u002e/private/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/private%u002fx", "/private/x", "jetty files", Form),
    (PRIVATE, "/pr%6@vate/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/a%6?/../private/x", "/private/x", "jetty files", Form),
    (PRIVATE, "/private/x%0a", "/private/x", "starlette route", Letter),
    (PRIVATE, "/a/../private/x?q", "/private/x", "nginx", Form),
    (PRIVATE, "/private/./x?", "/private/x", "nginx", Letter),
    (PRIVATE, "/private/../private/x", "/private/x", "nginx", Letter),
    (ONLY_PUBLIC, "/private/x", "/private/x", "nginx", Letter),
    (ONLY_PUBLIC, "/public/../private/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/..%2fprivate/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/a%5cb%5ccc/..%2f..%2fsecret.html", "/secret.html", "nginx", Form),
    (ONLY_PUBLIC, "/public/a%5cb/..%2f..%2fprivate/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/x%2f..%2f..%2fprivate/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public%2f..%2fprivate/x", "/private/x", "nginx", Letter),
    (ONLY_PUBLIC, "/public/..//private/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public//..//private/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/%2e%2e/private/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/a;b%2f../..%2fprivate/x", "/private/x", "nginx", Form),
    (ONLY_PUBLIC, "/public/..%2f%2e%2e%2froot/private/x", "/private/x", "node new URL", Form),
    (ONLY_PUBLIC, "//public/private/x", "/private/x", "node new URL", Letter),
    (ONLY_PUBLIC, "/public/x%2f%2f..%2f..%2f..%2fprivate/x", "/private/x", "nginx merge_slashes off", Form),
    (ADMIN, "/@admin/x", "/@admin/x", "nginx", Letter),
    (ADMIN, "/%40admin/x", "/@admin/x", "nginx", Form),
    (ADMIN, "/%40%61dmin/x", "/@admin/x", "nginx", Form),
    (ADMIN, "/a/..%2f%40admin/x", "/@admin/x", "nginx", Form),
    (ADMIN, "//q/%40admin/x", "/@admin/x", "node new URL", Form),
    (ADMIN, "/%u0040admin/x", "/@admin/x", "jetty files", Form),
    (SPECIAL, "/Special:/x", "/Special:/x", "nginx", Letter),
    (SPECIAL, "/Special%3A/x", "/Special:/x", "nginx", Form),
    (SPECIAL, "/Special%3a/x", "/Special:/x", "nginx", Form),
    (PLUS, "/a+b/x", "/a+b/x", "nginx", Letter),
    (PLUS, "/a%2Bb/x", "/a+b/x", "nginx", Form),
    (PLUS, "/a%2bb/x", "/a+b/x", "nginx", Form),
    (PLUS, "/a%2;b/x", "/a+b/x", "jetty files", Form),
    (PAIR, "/a;b/x", "/a;b/x", "nginx", Letter),
    (PAIR, "/a%3Bb/x", "/a;b/x", "nginx", Form),
    (PAIR, "/a%3bb/x", "/a;b/x", "nginx", Form),
    (QUERY, "/a/x?filter[secret]=1", "/a/x", "nginx", Letter),
    (QUERY, "/a/x?filter%5bsecret%5d=1", "/a/x", "nginx", Form),
    (QUERY, "/a/x?filter%5Bsecret]=1", "/a/x", "nginx", Form),
    (QUERY, "/a/x?q=admin/x", "/a/x", "nginx", Letter),
    (QUERY, "/a/x?q=admin%2Fx", "/a/x", "nginx", Form),
    (QUERY, "/a/x?%71=admin%2fx", "/a/x", "nginx", Form),
    (QUERY, "//a/x?q=admin%2Fx", "/a/x", "nginx", Form),
    (PDF, "/doc.pdf", "/doc.pdf", "nginx", Letter),
    (PDF, "/doc.pdf?", "/doc.pdf", "nginx", Form),
    (PDF, "/doc%2epdf?", "/doc.pdf", "nginx", Form),
    (PDF, "//doc.pdf?", "/doc.pdf", "nginx", Form),
    (PDF, "/a/doc.pdf?", "/a/doc.pdf", "nginx", Form),
    (PDF, "/doc.pdf;", "/doc.pdf", "jetty files", Form),
    (PDF, "/doc.pdf;j=1", "/doc.pdf", "jetty files", Form),
    (PDF, "/doc.pdf;j=1?", "/doc.pdf", "jetty files", Form),
    (PDF, "/doc.pdf/.", "/doc.pdf", "http.server", Form),
    (PDF, "/doc.pdf%2f", "/doc.pdf", "http.server", Form),
    (PDF, "/doc.pdf//", "/doc.pdf", "starlette files", Form),
    (PDF, "/doc.pdf/%2e", "/doc.pdf", "http.server", Form),
    (PDF, "/a/../doc.pdf", "/doc.pdf", "nginx", Letter),
    (EXACT, "/private/x", "/private/x", "nginx", Letter),
    (EXACT, "/private/x?", "/private/x", "nginx", Form),
    (EXACT, "/private/x%0a", "/private/x", "starlette route", Form),
    (EXACT, "/private/x;", "/private/x", "jetty files", Form),
    (EXACT, "/private%2fx", "/private/x", "nginx", Form),
    (LATIN, "/%c3%a9", "/é", "nginx", Letter),
    (LATIN, "/%e9", "/é", "jetty files", Form),
    (LATIN, "/%E9", "/é", "jetty files", Form),
    (PRIVATE, "/a/x", "/a/x", "nginx", Goes),
    (PRIVATE, "/PRIVATE/x", "/PRIVATE/x", "nginx", Goes),
    (PRIVATE, "/a/x?u=http://q/../private/x", "/a/x", "nginx", Goes),
    (PRIVATE, "/a/x%2570", "/a/x%70", "nginx", Goes),
    (PRIVATE, "/.../x", "/.../x", "nginx", Goes),
    (PRIVATE, "/b./.h", "/b./.h", "nginx", Goes),
    (PRIVATE, "/c%20c/x", "/c c/x", "nginx", Goes),
    (PRIVATE, "/a%5Cb/x", "/a\\b/x", "nginx", Goes),
    (PRIVATE, "/a;b/x", "/a;b/x", "nginx", Goes),
    (PRIVATE, "/a/private/x", "/a/private/x", "nginx", Goes),
    (PRIVATE, "/a/../a/x", "/a/x", "nginx", Goes),
    (PRIVATE, "/x?/private/x", "/x", "nginx", Goes),
    (PRIVATE, "/x?x=%2Fprivate%2Fx", "/x", "nginx", Goes),
    (ONLY_PUBLIC, "/public/x", "/public/x", "nginx", Goes),
    (ONLY_PUBLIC, "/public/secret.html?a=b", "/public/secret.html", "nginx", Goes),
    (ADMIN, "/a/@admin/x", "/a/@admin/x", "nginx", Goes),
    (PDF, "/doc.pdf?x=1", "/doc.pdf", "nginx", Goes),
    (EXACT, "/private/x?y", "/private/x", "nginx", Goes),
    (QUERY, "/a/x?q=b", "/a/x", "nginx", Goes),
    (QUERY, "/a/x?p=1%26q=admin/", "/a/x", "nginx", Goes),
    (SPELT, "/a%2Bb/x", "/a+b/x", "nginx", Goes),
    (SPELT, "/a%2Bb//x", "/a+b/x", "nginx", Goes),
    (SPELT, "/a%2Bb/../private/x", "/private/x", "nginx", Form),
    (SPELT, "/a%2Bb/..%2fprivate/x", "/private/x", "nginx", Form),
    (SPELT, "/a%2Bb/%2e%2e/a/x", "/a/x", "nginx", Form),
    (SPELT, "//q/a%2Bb/../private/x", "/private/x", "node new URL", Form),
    (SLASH_SPELT, "/a%2Fx", "/a/x", "nginx", Goes),
    (SLASH_SPELT, "//a%2Fx", "/a/x", "nginx", Goes),
    (SLASH_SPELT, "//a/x", "/a/x", "nginx", Form),
    (SLASH_SPELT, "/private/..%2fa/x", "/a/x", "nginx", Letter),
    (SLASH_SPELT, "/b%2f../a/x", "/a/x", "nginx", Form),
    (SHORTER_SPELT, "/a%2Fx", "/a/x", "nginx", Goes),
    (SHORTER_SPELT, "/a%2Fprivate/x", "/a/private/x", "nginx", Form),
    (BRACKET, "/a/x?filter%5bsecret%5d=1", "/a/x", "nginx", Form),
    (PAGE, "/?page=1", "/by-page/1", "php parse_url", Letter),
    (PAGE, "/?+page=1", "/by-page/1", "php parse_url", Form),
    (PAGE, "/?%20page=1", "/by-page/1", "php parse_url", Form),
    (PAGE, "/?a=b&%20+page=1", "/by-page/1", "php parse_url", Form),
    (PAGE_NAME, "/?page_name=1", "/by-page_name/1", "php parse_url", Letter),
    (PAGE_NAME, "/?page.name=1", "/by-page_name/1", "php parse_url", Form),
    (PAGE_NAME, "/?page+name=1", "/by-page_name/1", "php parse_url", Form),
    (PAGE_NAME, "/?page%20name=1", "/by-page_name/1", "php parse_url", Form),
    (PAGE_NAME, "/?page[name=1", "/by-page_name/1", "php parse_url", Form),
    (PAGE_NAME, "/?page%5Bname=1", "/by-page_name/1", "php parse_url", Form),
    (PAGE_NAME, "/?+page.name=1", "/by-page_name/1", "php parse_url", Form),
    (EXACT, "/private/x//", "/private/x", "starlette files", Form),
    (LAST_PARAMETER, "/x;y;", "/x;y", "jetty files", Form),
    (LAST_PARAMETER, "/x;y;a=b", "/x;y", "jetty files", Form),
    (BACKSLASH, "/a%5Cb/x", "/a\\b/x", "nginx", Letter),
    (BACKSLASH, "/\\q/a%5cb/x", "/a\\b/x", "node new URL", Form),
    (BACKSLASH, "/a%2f..%2fa%5cb/x", "/a\\b/x", "nginx", Form),
    (EMPTY_SEGMENT, "/a//x", "/a//x", "waitress", Letter),
    (EMPTY_SEGMENT, "///a//x", "/a//x", "waitress", Form),
    (EMPTY_SEGMENT, "/%2fa%2f%2fx", "/a//x", "waitress", Form),
    (LATIN, "/x", "/x", "nginx", Goes),
];

/// Rows whose policy says more about the origin.
#[rustfmt::skip]
const TOLD: &[Row] = &[
    (TWICE, "/%2570rivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/%25%37%30rivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/private%252fx", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/%252fprivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/a/%252e%252e/private/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/a%252f..%252fprivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/a/.%252e%2fprivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/a/%25%32%65%252e/private/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/a%255cb/..%252fprivate/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/private%2f%252e/x", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/x%3fy", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/x%3f", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/x%23y", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/x%20", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/x%20HTTP/1.1%0d%0aX:y", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE_EXACT, "/private/%2578", "/private/x", "nginx proxy_pass $uri", Form),
    (TWICE, "/private/x", "/private/x", "nginx proxy_pass $uri", Letter),
    (ANY_CASE, "/PRIVATE/x", "/private/x", "nginx location ~*", Form),
    (ANY_CASE, "/Private/x", "/private/x", "nginx location ~*", Form),
    (ANY_CASE, "/Private/x/", "/private/x", "express routes", Form),
    (ANY_CASE, "/private/x", "/private/x", "nginx location ~*", Letter),
    (ANY_CASE, "/a/../PRIVATE/x", "/private/x", "nginx location ~*", Form),
    (ANY_CASE, "/%50RIVATE/x", "/private/x", "nginx location ~*", Form),
    (ANY_CASE, "//Private/x", "/private/x", "nginx location ~*", Form),
    (TWICE, "/a/x", "/a/x", "nginx proxy_pass $uri", Goes),
    (ANY_CASE, "/A/X", "/a/x", "express routes", Goes),
    (TWICE, "/a/..%2fa/x", "/a/x", "nginx proxy_pass $uri", Goes),
    (TWICE, "/x?x=%252Fprivate%252Fx", "/x", "nginx proxy_pass $uri", Goes),
];

#[test]
fn what_an_origin_serves_by_another_spelling_is_refused() {
    Trial::of(ROWS).hold();
}

#[test]
fn what_a_told_origin_serves_by_another_spelling_is_refused() {
    Trial::of(TOLD).hold();
}

/// Rows, and the program in front of all origins.
struct Trial {
    rows: &'static [Row],
    house: Arc<House>,
    relays: Vec<Relay>,
    beadle: Beadle,
}

impl Trial {
    fn of(rows: &'static [Row]) -> Self {
        let house = House::shared();
        let relays: Vec<_> = house.origins.iter().map(|origin| Relay::to(origin.port)).collect();
        let mut sites = BTreeMap::new();
        for (rules, ..) in rows {
            for (origin, relay) in house.origins.iter().zip(&relays) {
                let host = host(rows, *rules, origin);
                let url = format!("http://127.0.0.1:{}", relay.port);
                let origin = match rules.origin {
                    "" => url,
                    settings => format!("{{ url: {url}, {settings} }}"),
                };
                let group = format!("{{ user_agents: [GPTBot], {} }}", rules.group);
                let site = format!(
                    "  - hosts: [{host}]\n    origin: {origin}\n    robots_txt: {{ groups: [{group}] }}\n    \
                     enforcement: {{ mode: block }}\n"
                );
                sites.insert(host, site);
            }
        }
        let sites: String = sites.into_values().collect();
        let beadle = Setup::sites(&sites).start();
        Self { rows, house, relays, beadle }
    }

    /// Asks directly and through the program. Panics with all rows that fail.
    fn hold(&self) {
        let mut failures = Vec::new();
        let mut refused = Vec::new();
        for row in self.rows {
            let (rules, target, page, by, fate) = *row;
            let mut asked = 0;
            for (origin, relay) in self.house.origins.iter().zip(&self.relays) {
                if !(serves(origin, target, page) || origin.model.name == by) {
                    continue;
                }
                asked += 1;
                let name = origin.model.name;
                let what = format!("{rules:?} {} by {name}", shown(target.as_bytes()));
                let request = Request::get(target)
                    .host(&host(self.rows, rules, origin))
                    .user_agent("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)")
                    .field("Connection", "close")
                    .bytes();
                let folds = origin.model.is_case_insensitive;
                let direct = origin.resolved(&request).unwrap_or_default();
                assert!(is_same(&direct, page.as_bytes(), folds), "{what}: {}", shown(&direct));

                relay.forget();
                let mut client = Client::connect(self.beadle.port);
                client.write(&request);
                let answer = client.response("GET");
                let status = answer.as_ref().map_or(0, |answer| answer.status);
                let sent = relay.bytes();
                match fate {
                    Goes if status == 200 && sent > 0 => {}
                    Letter | Form if status == 403 && sent == 0 => {
                        refused.push((what, fate, target))
                    }
                    _ => failures.push(format!("{what}: {status}, {sent} bytes to the origin")),
                }
            }
            let is_here = self.house.origins.iter().any(|origin| origin.model.name == by);
            assert!(asked > 0 || !is_here, "{target}: no origin serves it");
        }
        for ((what, fate, target), record) in refused.iter().zip(self.beadle.records(refused.len()))
        {
            let is_expected = match record["reason"].as_str() {
                Some("robots.disallow") => *fate == Letter || has_dots(target),
                Some("robots.form") => *fate == Form,
                _ => false,
            };
            if !is_expected {
                failures.push(format!("{what}: {}", record["reason"]));
            }
        }
        let count = failures.len();
        assert!(failures.is_empty(), "{count} fail:\n{}", failures.join("\n"));
    }
}

/// Whether the path has dot segments. Crawlers resolve them, so the letter may be disallowed.
fn has_dots(target: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default().to_ascii_lowercase();
    path.replace("%2e", ".").split('/').any(|segment| matches!(segment, "." | ".."))
}

/// The host of the site with these rules in front of an origin.
fn host(rows: &[Row], rules: Rules, origin: &Origin) -> String {
    let first = rows.iter().position(|(other, ..)| *other == rules);
    format!("rules-{}.port-{}.example", first.unwrap_or_default(), origin.port)
}

/// Whether the origin should serve a page for a target.
fn serves(origin: &Origin, target: &str, page: &str) -> bool {
    let resolved = (origin.model.resolve)(target.as_bytes()).unwrap_or_default();
    let path = resolved.split(|octet| *octet == b'?').next().unwrap_or_default();
    let has_page = origin.shows != Shows::Routes || ROUTES.contains(&page);
    has_page && is_same(path, &spelled(page.as_bytes(), None), origin.model.is_case_insensitive)
}

fn is_same(path: &[u8], other: &[u8], in_any_case: bool) -> bool {
    path == other || in_any_case && path.eq_ignore_ascii_case(other)
}

/// A port in front of an origin that counts the bytes on their way there.
struct Relay {
    port: u16,
    bytes: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
}

impl Relay {
    fn to(origin: u16) -> Self {
        let port = free_port();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is ours");
        let (bytes, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let relay = Self { port, bytes: Arc::clone(&bytes), stopped: Arc::clone(&stopped) };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Ok(client) = client else { continue };
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, origin)) else {
                    continue;
                };
                let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone())
                else {
                    continue;
                };
                let bytes = Arc::clone(&bytes);
                std::thread::spawn(move || copy(client, server, Some(&bytes)));
                std::thread::spawn(move || copy(server_too, client_too, None));
            }
        });
        relay
    }

    fn forget(&self) {
        self.bytes.store(0, Ordering::Release);
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|one| one == part)
}

fn copy(mut from: TcpStream, mut to: TcpStream, count: Option<&AtomicUsize>) {
    let mut buffer = [0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        // The fetch that compares the origin's file with the policy is none of a crawler's.
        let is_comparison = contains(&buffer[..length], b"compared with the policy");
        if let Some(count) = count.filter(|_| !is_comparison) {
            count.fetch_add(length, Ordering::AcqRel);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
