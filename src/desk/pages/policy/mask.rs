//! Secrets in URLs. User and password are hidden, and everything after the host: many services put
//! a secret there.

/// What stands for the hidden part.
const HIDDEN: char = '…';
/// What may follow a URL without being a part of it.
const AFTER: [char; 5] = ['"', '\'', ',', '}', ']'];

/// The text with nothing of its URLs but their scheme and host.
pub(in crate::desk::pages) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = authority(rest) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(char::is_whitespace).unwrap_or(from.len());
        let (url, next) = from.split_at(end);
        let bare = url.trim_end_matches(AFTER);
        out.push_str(&masked_url(bare));
        out.push_str(url.get(bare.len()..).unwrap_or_default());
        rest = next;
    }
    out.push_str(rest);
    out
}

/// Where the authority of the first URL begins: after `://`, in which JSON may escape the slashes.
fn authority(text: &str) -> Option<usize> {
    let marks = ["://", ":\\/\\/"];
    let found = marks.iter().filter_map(|mark| Some((text.find(mark)?, mark.len())));
    found.min().map(|(at, length)| at + length)
}

/// The host of what follows `://`, and what stands for the rest.
fn masked_url(url: &str) -> String {
    let (user, rest) = match url.rsplit_once('@') {
        Some((_, rest)) => (true, rest),
        None => (false, url),
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let mut out = String::new();
    if user {
        out.extend([HIDDEN, '@']);
    }
    if is_host(host) {
        out.push_str(host);
    } else {
        out.push(HIDDEN);
    }
    match path {
        "" | "/" => out.push_str(path),
        _ => out.extend(['/', HIDDEN]),
    }
    out
}

/// Whether it is a host with or without a port: no part of a user or a password.
fn is_host(text: &str) -> bool {
    let is_name =
        |host: &str| host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._*".contains(&b));
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    if let Some((address, port)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_address = address.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b));
        return is_address && port.strip_prefix(':').is_none_or(is_port);
    }
    match text.split_once(':') {
        None => is_name(text),
        Some((host, port)) => is_name(host) && is_port(port),
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn of_a_url_scheme_and_host_remain() {
        for (text, expected) in [
            ("no URL: at all", "no URL: at all"),
            ("origin: http://127.0.0.1:3000", "origin: http://127.0.0.1:3000"),
            ("origin: \"https://[::1]:3000/\"", "origin: \"https://[::1]:3000/\""),
            ("{ url: https://hooks.example/T0/s3cret?x=y, on: [a] }", {
                "{ url: https://hooks.example/…, on: [a] }"
            }),
            ("- 'https://me:s3cret@a.example/x' # y", "- 'https://…@a.example/…' # y"),
            ("https://me:s3/cr@et@a.example", "https://…@a.example"),
            ("\"https:\\/\\/a.example\\/s3cret\"", "\"https:\\/\\/a.example/…\""),
            ("https://me:s3cr", "https://…"),
            ("a http://b/c d https://e:f@g/", "a http://b/… d https://…@g/"),
            ("https://", "https://"),
            ("ftp://user:s3cret@h http://s3cret_ü/", "ftp://…@h http://…/"),
        ] {
            let shown = masked(text);
            assert_eq!(shown, expected, "{text}");
            assert!(!shown.contains("s3c"), "{shown}");
        }
    }
}
