//! What real origins make of a request target, as functions. Each agrees with its origin on thousands
//! of hostile targets (`tests/all/origins`).
//!
//! A model takes the target that Beadle forwards: it begins with `/`, has no fragment, and is
//! printable ASCII. The answer is the target of what the origin resolves, in the one spelling that
//! robots.txt uses for it: no dot or doubled segment is left unless the origin's application
//! sees it, reserved octets are literal, `?`, `#` and `%` of a name are encoded, and an empty query is
//! dropped. `None` is an origin that refuses.

#![allow(dead_code, reason = "each program uses its part of this")]

/// An origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// The target that it resolves.
    pub(crate) resolve: fn(&[u8]) -> Option<Vec<u8>>,
    /// How often it decodes.
    pub(crate) decode_depth: u8,
    /// Whether it finds a path in any case.
    pub(crate) is_case_insensitive: bool,
}

const fn usual(name: &'static str, resolve: fn(&[u8]) -> Option<Vec<u8>>) -> Model {
    Model { name, resolve, decode_depth: 1, is_case_insensitive: false }
}

/// Every origin.
pub(crate) const ALL: [Model; 18] = [
    usual("nginx", nginx),
    usual("nginx merge_slashes off", nginx_unmerged),
    Model { decode_depth: 2, ..usual("nginx proxy_pass $uri", nginx_twice) },
    Model { is_case_insensitive: true, ..usual("nginx location ~*", nginx_location) },
    usual("apache", apache),
    usual("jetty files", jetty_files),
    usual("jetty servlet", jetty),
    usual("php files", php_files),
    usual("php parse_url", php_parse_url),
    usual("gunicorn", gunicorn),
    usual("waitress", waitress),
    usual("starlette files", starlette_files),
    usual("starlette route", starlette_route),
    usual("http.server", http_server),
    usual("express files", express_files),
    Model { is_case_insensitive: true, ..usual("express routes", express_routes) },
    usual("node new URL", node_url),
    usual("go files", go_files),
];

/// What applications make of the paths that they are given: the steps of origins, put together.
pub(crate) const COMPOSED: [Model; 5] = [
    usual("files that may be left", climbing),
    usual("php parse_url, then files", |target| files(&php_parse_url(target)?)),
    usual("node new URL, then routes", node_pathname),
    usual("servlets, then files", |target| files(&jetty(target)?)),
    usual("gunicorn, then bottle", bottle),
];

/// The model of this name.
pub(crate) fn model(name: &str) -> Model {
    ALL.into_iter().find(|model| model.name == name).expect("there is a model of this name")
}

// === nginx

fn nginx(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    Some(spelled(&nginx_uri(path)?, query))
}

/// `$uri`: each octet is decoded before it is taken for a slash or a dot.
fn nginx_uri(path: &[u8]) -> Option<Vec<u8>> {
    let path = decode(path)?;
    (!path.contains(&0)).then_some(())?;
    dots(&merge(&path), Above::Refuse)
}

/// `location ~* ^(.*)$`, where `$` is also before a line end.
fn nginx_location(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let uri = nginx_uri(path)?;
    Some(spelled(one_line(&uri)?, query))
}

/// The file system merges the slashes that are left.
fn nginx_unmerged(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode(path)?;
    (!path.contains(&0)).then_some(())?;
    Some(spelled(&merge(&dots(&path, Above::Refuse)?), query))
}

/// nginx in front of nginx: `proxy_pass` writes `$uri` as it is, decoded, into the request line.
fn nginx_twice(target: &[u8]) -> Option<Vec<u8>> {
    let (path, _) = cut(target);
    let uri = nginx_uri(path)?;
    let end = uri.iter().position(|octet| *octet <= b' ' || *octet == 0x7f).unwrap_or(uri.len());
    let (sent, rest) = uri.split_at(end);
    let after_spaces = rest.iter().position(|octet| *octet != b' ').unwrap_or(rest.len());
    let (_, rest) = rest.split_at(after_spaces);
    // What follows a line end makes no difference to the path.
    let version = rest.strip_prefix(b"HTTP/1.").map(|rest| rest.get(1..).unwrap_or_default());
    let ends_well = |rest: &[u8]| rest.starts_with(b"\n") || rest.starts_with(b"\r\n");
    if !(rest.is_empty() || ends_well(rest) || version.is_some_and(ends_well)) {
        return None;
    }
    let sent = sent.split(|octet| *octet == b'#').next().unwrap_or_default();
    let (path, query) = cut(sent);
    Some(spelled(&nginx_uri(path)?, query))
}

// === Apache

/// Dots and slashes count where they are literal; then the rest is decoded. A slash that is still
/// encoded is refused.
fn apache(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let mut literal = Vec::new();
    let mut at = 0;
    while let Some(&octet) = path.get(at) {
        if octet != b'%' {
            literal.push(octet);
            at += 1;
            continue;
        }
        match escape(path, at)? {
            octet if is_unreserved(octet) => literal.push(octet),
            _ => literal.extend_from_slice(&path[at..at + 3]),
        }
        at += 3;
    }
    let path = dots(&merge(&literal), Above::Refuse)?;
    let escapes = path.windows(3).filter(|three| three[0] == b'%');
    for three in escapes {
        if matches!(three, b"%2f" | b"%2F" | b"%00") {
            return None;
        }
    }
    Some(spelled(&decode(&path)?, query))
}

// === Jetty

fn jetty(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = jetty_cut(target)?;
    Some(spelled(&jetty_path(path)?, query))
}

/// A file is found by its exact path only.
fn jetty_files(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = jetty_cut(target)?;
    let path = jetty_path(path)?;
    (merge(&path) == path).then(|| spelled(&path, query))
}

/// A `?` begins no query where a digit is awaited.
fn jetty_cut(target: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let mut in_parameters = false;
    let mut at = 0;
    while let Some(&octet) = target.get(at) {
        match octet {
            b'?' => break,
            b'/' => in_parameters = false,
            b';' => in_parameters = true,
            b'%' if !in_parameters => at += jetty_escape(target, at)?.1 - 1,
            _ => {}
        }
        at += 1;
    }
    let (path, query) = target.split_at(at);
    Some((path, query.get(1..).filter(|query| !query.is_empty())))
}

/// Parameters go first, up to the next literal slash. Empty segments are segments. In a path with
/// nothing else to do, only the last parameter goes.
fn jetty_path(path: &[u8]) -> Option<Vec<u8>> {
    let first = parameters(path);
    let is_simple = !path[..first].contains(&b'%')
        && !path[first..].contains(&b'/')
        && !path[..first].windows(2).any(|two| two == b"/.");
    if is_simple {
        let last = path.iter().rposition(|octet| *octet == b';').unwrap_or(path.len());
        return Some(path[..last].to_vec());
    }
    let mut without = Vec::new();
    for segment in path.split(|octet| *octet == b'/').skip(1) {
        let end = parameters(segment);
        let name = String::from_utf8_lossy(&segment[..end]).to_ascii_lowercase();
        let is_dots = matches!(&*name.replace("%2e", ".").replace("%u002e", "."), "." | "..");
        (!(is_dots && end < segment.len())).then_some(())?;
        without.push(b'/');
        without.extend_from_slice(&segment[..end]);
    }
    let path = jetty_text(&without)?;
    (!path.contains(&0)).then_some(())?;
    dots(&path, Above::Refuse)
}

/// Where the parameters of a segment begin. A `;` may be a digit.
fn parameters(segment: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&octet) = segment.get(at) {
        at += match octet {
            b';' => return at,
            b'%' if segment.get(at + 1) == Some(&b'u') => 6,
            b'%' => 3,
            _ => 1,
        };
    }
    segment.len()
}

/// `%XX` as UTF-8, or all octets as ISO 8859-1; `%uXXXX` is a character.
fn jetty_text(path: &[u8]) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(&octet) = path.get(at) {
        let (number, length) = match octet {
            b'%' => jetty_escape(path, at)?,
            octet => (u32::from(octet), 1),
        };
        let character = char::from_u32(number)?;
        text.push(character);
        if length == 6 {
            octets.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            octets.push(u8::try_from(number).ok()?);
        }
        at += length;
    }
    Some(match std::str::from_utf8(&octets) {
        Ok(_) => octets,
        Err(_) => text.into_bytes(),
    })
}

/// The number that is encoded at `at`, and the length of its code.
fn jetty_escape(octets: &[u8], at: usize) -> Option<(u32, usize)> {
    let (start, length) = if octets.get(at + 1) == Some(&b'u') { (2, 6) } else { (1, 3) };
    let mut digits = octets.get(at + start..at + length)?.iter();
    let number = digits.try_fold(0, |sum, digit| Some(sum << 4 | jetty_digit(*digit)?))?;
    Some((number, length))
}

/// A hex digit as Jetty computes it: `:` to `?` are 10 to 15, and `@` is 9.
fn jetty_digit(digit: u8) -> Option<u32> {
    let digit = u32::from(digit);
    let value = (digit & 0x1f) + (digit >> 6) * 0x19;
    value.checked_sub(0x10).filter(|value| *value < 16)
}

// === PHP

/// The built-in server. It also looks for a file at each folder above the path.
fn php_files(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode_leniently(path);
    (!path.contains(&0)).then_some(())?;
    Some(spelled(&dots(&merge(&path), Above::Stay)?, query))
}

/// `rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH))`.
fn php_parse_url(target: &[u8]) -> Option<Vec<u8>> {
    let is_relative = target.starts_with(b"//");
    let mut has_port = false;
    let mut is_path = !is_relative;
    if let Some(colon) = target.iter().position(|octet| *octet == b':') {
        let before_query = target.iter().position(|octet| *octet == b'?').unwrap_or(target.len());
        if colon + 1 < target.len() && colon < before_query {
            let after = &target[colon + 1..];
            let digits = after.iter().take(6).take_while(|octet| octet.is_ascii_digit()).count();
            let is_port =
                (1..6).contains(&digits) && matches!(after.get(digits), None | Some(b'/'));
            if is_port {
                let port: u32 = std::str::from_utf8(&after[..digits]).ok()?.parse().ok()?;
                (port <= 65_535).then_some(())?;
                has_port = true;
                is_path = false;
            }
        }
    }
    let mut rest = target;
    if !is_path {
        rest = rest.strip_prefix(b"//").unwrap_or(rest);
        let host_end = rest.iter().position(|octet| b"/?".contains(octet)).unwrap_or(rest.len());
        let (mut host, path) = rest.split_at(host_end);
        if let Some(at) = host.iter().rposition(|octet| *octet == b'@') {
            host = &host[at + 1..];
        }
        let is_literal = host.first() == Some(&b'[') && host.last() == Some(&b']');
        if let Some(colon) = host.iter().rposition(|octet| *octet == b':').filter(|_| !is_literal) {
            let port = &host[colon + 1..];
            if !has_port {
                (port.len() <= 5).then_some(())?;
                if !port.is_empty() {
                    let digits = port.iter().take_while(|octet| octet.is_ascii_digit()).count();
                    let digits = std::str::from_utf8(&port[..digits]).ok()?;
                    let port: u32 = digits.parse().ok()?;
                    (port <= 65_535).then_some(())?;
                }
            }
            host = &host[..colon];
        }
        (!host.is_empty()).then_some(())?;
        rest = path;
    }
    let (path, query) = cut(rest);
    (!path.is_empty()).then(|| spelled(&decode_leniently(path), query))
}

// === Python

/// `PATH_INFO`.
fn gunicorn(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    Some(spelled(&decode_leniently(path), query))
}

fn waitress(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode_leniently(path);
    let slashes = path.iter().take_while(|octet| **octet == b'/').count();
    Some(spelled(&path[slashes.saturating_sub(1)..], query))
}

/// `PATH_INFO` as text, without invalid sequences.
fn bottle(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode_leniently(path);
    let text: String = path.utf8_chunks().map(|chunk| chunk.valid()).collect();
    Some(spelled(text.as_bytes(), query))
}

/// The path as text, each invalid sequence replaced.
fn asgi_path(path: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(&decode_leniently(path)).into_owned().into_bytes()
}

/// `os.path.normpath` below the folder. Whether a path that left the folder comes back is the
/// question of [`climbing`].
fn starlette_files(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = asgi_path(path);
    one_line(&path)?;
    (!path.contains(&0)).then_some(())?;
    let path = dots(&merge(&path), Above::Refuse)?;
    Some(spelled(without_last_slash(&path), query))
}

/// A regular expression that ends in `$`, which a line end may follow.
fn starlette_route(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = asgi_path(path);
    Some(spelled(one_line(&path)?, query))
}

/// `SimpleHTTPRequestHandler.translate_path`.
fn http_server(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let ends_in_slash = path.ends_with(b"/");
    let path = asgi_path(path);
    (!path.contains(&0)).then_some(())?;
    let path = dots(&merge(&path), Above::Stay)?;
    let mut path = without_last_slash(&path).to_vec();
    if ends_in_slash && path != b"/" {
        path.push(b'/');
    }
    Some(spelled(&path, query))
}

// === Node

/// `express.static`.
fn express_files(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode(path)?;
    (!path.contains(&0) && std::str::from_utf8(&path).is_ok()).then_some(())?;
    let path = normpath(&path)?;
    let climbs = path.split(|octet| b"/\\".contains(octet)).any(|segment| segment == b"..");
    (!climbs).then(|| spelled(&path, query))
}

/// A route is compared with the path as sent, in any case, with a slash at its end or without.
fn express_routes(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    Some(with_query(without_last_slash(path).to_vec(), query))
}

/// `path.join(root, decodeURIComponent(new URL(request.url, base).pathname))`.
fn node_url(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = after_authority(path)?;
    let slashes = with_slashes(path);
    // The parser of Node 20 looks for dot segments at the first "/." only.
    let names = slashes.get(1..).unwrap_or_default();
    let first = names.windows(2).position(|two| two == b"/.").map(|at| names.get(at + 2));
    let is_trusted = !path.iter().any(|octet| b"%\\\"<>`{}".contains(octet))
        && !names.starts_with(b".")
        && !matches!(first, Some(None | Some(b'.' | b'/')));
    let pathname = if is_trusted { slashes } else { url_dots(&slashes) };
    joined(&pathname, query)
}

/// [`node_url`] with a parser that keeps to the URL standard.
pub(crate) fn node_url_by_the_standard(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    joined(&url_dots(&with_slashes(after_authority(path)?)), query)
}

/// The path of a URL that may begin with `//host` or `/\host`, with any number of slashes.
fn after_authority(path: &[u8]) -> Option<&[u8]> {
    let is_slash = |octet: &u8| b"/\\".contains(octet);
    let slashes = path.iter().take_while(|octet| is_slash(octet)).count();
    if slashes < 2 {
        return Some(path);
    }
    let rest = &path[slashes..];
    let end = rest.iter().position(is_slash).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    is_url_host(host).then_some(if path.is_empty() { b"/" } else { path })
}

fn with_slashes(path: &[u8]) -> Vec<u8> {
    path.iter().map(|octet| if *octet == b'\\' { b'/' } else { *octet }).collect()
}

fn joined(pathname: &[u8], query: Option<&[u8]>) -> Option<Vec<u8>> {
    let path = decode(pathname)?;
    (!path.contains(&0) && std::str::from_utf8(&path).is_ok()).then_some(())?;
    Some(spelled(&normpath(&path)?, query))
}

/// A route that is compared with the path of `new URL(request.url, base)`.
fn node_pathname(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    Some(with_query(url_dots(&with_slashes(after_authority(path)?)), query))
}

/// Node's `path.normalize`: a slash at the end stays, and none comes from a dot segment.
fn normpath(path: &[u8]) -> Option<Vec<u8>> {
    let whole = dots(&merge(path), Above::Refuse)?;
    let is_folder = path.ends_with(b"/");
    Some(if is_folder { whole } else { without_last_slash(&whole).to_vec() })
}

/// Dot segments by the URL standard, where `%2e` is a dot.
fn url_dots(path: &[u8]) -> Vec<u8> {
    let is_one = |segment: &[u8]| segment == b"." || segment.eq_ignore_ascii_case(b"%2e");
    let is_two = |segment: &[u8]| {
        let lower = segment.to_ascii_lowercase();
        matches!(&*lower, b".." | b".%2e" | b"%2e." | b"%2e%2e")
    };
    let plain = path.split(|octet| *octet == b'/').map(|segment| match segment {
        one if is_one(one) => &b"."[..],
        two if is_two(two) => b"..",
        other => other,
    });
    let plain = plain.collect::<Vec<_>>().join(&b'/');
    dots(&plain, Above::Stay).unwrap_or_default()
}

/// Whether the URL standard takes it for user, host and port. Names in other scripts and addresses
/// are beyond this.
fn is_url_host(authority: &[u8]) -> bool {
    let host = authority.rsplit(|octet| *octet == b'@').next().unwrap_or_default();
    let (host, port) = match host.iter().position(|octet| *octet == b':') {
        Some(colon) => (&host[..colon], &host[colon + 1..]),
        None => (host, &b""[..]),
    };
    let Ok(port) = std::str::from_utf8(port) else { return false };
    let is_port = port.is_empty() || port.parse::<u16>().is_ok() && !port.starts_with('+');
    let host = decode_leniently(host);
    let is_forbidden = |octet: &u8| {
        *octet <= b' ' || *octet == 0x7f || b"#/:<>?@[\\]^|%".contains(octet) || !octet.is_ascii()
    };
    is_port && !host.is_empty() && !host.iter().any(is_forbidden)
}

// === Go

fn go_files(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = decode(path)?;
    (!path.contains(&0)).then_some(())?;
    let ends_in_slash = path.ends_with(b"/");
    let path = dots(&merge(&path), Above::Stay)?;
    let mut path = without_last_slash(&path).to_vec();
    if ends_in_slash && path != b"/" {
        path.push(b'/');
    }
    Some(spelled(&path, query))
}

// === paths that leave the root

/// What is resolved by an origin that looks only at where a path ends: it may leave the folder and
/// come back by the folder's own name. `model` refuses such paths.
pub(crate) fn climbing(target: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(target);
    let path = merge(&decode_leniently(path));
    let (mut depth, mut above) = (0_i32, 0_i32);
    for segment in path.split(|octet| *octet == b'/') {
        depth += match segment {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        above = above.max(-depth);
    }
    let inside = dots(&path, Above::Stay)?;
    let mut segments = inside.split(|octet| *octet == b'/').skip(1);
    let names = segments.by_ref().take(usize::try_from(above).ok()?).count();
    (above > 0 && names == above as usize).then_some(())?;
    let rest: Vec<_> = segments.collect();
    let path = [&b"/"[..], &rest.join(&b'/')].concat();
    (!rest.is_empty()).then(|| spelled(&path, query))
}

/// A file system's reading of what another origin resolved.
fn files(resolved: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = cut(resolved);
    Some(spelled(&dots(&merge(&decode_leniently(path)), Above::Stay)?, query))
}

// === steps

/// The fate of a `..` at the root.
#[derive(Clone, Copy, PartialEq)]
enum Above {
    Refuse,
    Stay,
}

/// The path, and the query if there is one and it isn't empty.
fn cut(target: &[u8]) -> (&[u8], Option<&[u8]>) {
    match target.iter().position(|octet| *octet == b'?') {
        Some(at) => (&target[..at], Some(&target[at + 1..]).filter(|query| !query.is_empty())),
        None => (target, None),
    }
}

/// The octet that is encoded at `at`.
fn escape(octets: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| char::from(*octets.get(at)?).to_digit(16);
    u8::try_from(digit(at + 1)? << 4 | digit(at + 2)?).ok()
}

/// Every `%XX` once; `None` if a `%` has no digits.
fn decode(octets: &[u8]) -> Option<Vec<u8>> {
    let is_valid = |at: usize| octets[at] != b'%' || escape(octets, at).is_some();
    (0..octets.len()).all(is_valid).then(|| decode_leniently(octets))
}

/// Every `%XX` once.
fn decode_leniently(octets: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        let decoded = (octet == b'%').then(|| escape(octets, at)).flatten();
        out.push(decoded.unwrap_or(octet));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    out
}

fn merge(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_vec();
    path.dedup_by(|octet, before| *octet == b'/' && *before == b'/');
    path
}

/// `.` and `..` removed, with an empty segment for a segment.
fn dots(path: &[u8], above: Above) -> Option<Vec<u8>> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|octet| *octet == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        match segment {
            b"." => {}
            b".." => match kept.pop() {
                None if above == Above::Refuse => return None,
                _ => {}
            },
            segment => kept.push(segment),
        }
        if segments.peek().is_none() && matches!(segment, b"." | b"..") {
            kept.push(b"");
        }
    }
    Some([&b"/"[..], &kept.join(&b'/')].concat())
}

/// The text before the `$` of a regular expression whose `.` is no line end.
fn one_line(path: &[u8]) -> Option<&[u8]> {
    let path = path.strip_suffix(b"\n").unwrap_or(path);
    (!path.contains(&b'\n')).then_some(path)
}

fn without_last_slash(path: &[u8]) -> &[u8] {
    match path.strip_suffix(b"/") {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => path,
    }
}

const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// The target of a resource, with a decoded path.
pub(crate) fn spelled(path: &[u8], query: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for &octet in path {
        if octet.is_ascii_graphic() && !b"?#%".contains(&octet) {
            out.push(octet);
        } else {
            out.extend_from_slice(format!("%{octet:02X}").as_bytes());
        }
    }
    with_query(out, query)
}

/// The query decoded, but for the octets that would be read as another query.
fn with_query(mut target: Vec<u8>, query: Option<&[u8]>) -> Vec<u8> {
    let Some(query) = query else { return target };
    target.push(b'?');
    let mut at = 0;
    while let Some(&octet) = query.get(at) {
        match (octet == b'%').then(|| escape(query, at)).flatten() {
            Some(decoded) if decoded.is_ascii_graphic() && !b"&=+;?%#".contains(&decoded) => {
                target.push(decoded);
                at += 3;
            }
            _ => {
                target.push(octet);
                at += 1;
            }
        }
    }
    target
}

/// The decoded path of a target in this spelling.
pub(crate) fn path_of(target: &[u8]) -> Vec<u8> {
    decode_leniently(cut(target).0)
}
