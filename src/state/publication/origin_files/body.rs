//! The body of a response with the status 200, as the text of a robots.txt.
//!
//! Crawlers expect UTF-8 (§2.3), read at least 500 KiB (§2.5), and follow every line that they can
//! parse, whatever the type of the response is (§2.3.1.1). Beadle publishes the same rules as text in
//! UTF-8. Each step that changes the bytes, or that is probably a mistake, leaves a remark.

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};

use crate::{
    base::{diagnostic::Diagnostic, escape, text::lines},
    formats::robots,
};

use super::access_result::{AccessResult, Fault};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The result of an access with this body, and the remarks about it. `octets` are at most
/// [`robots::LEAST_BYTES`]; the body is longer if it `is_cut`.
pub(super) fn result(
    octets: Bytes,
    is_cut: bool,
    content_type: Option<&[u8]>,
) -> (AccessResult, Vec<Diagnostic>) {
    let mut remarks = Vec::new();
    if octets.contains(&0) || UTF_16.iter().any(|mark| octets.starts_with(mark)) {
        return (AccessResult::Failed(Fault::Binary), remarks);
    }
    let Some(text) = in_utf8(octets, content_type, &mut remarks) else {
        return (AccessResult::Failed(Fault::Binary), remarks);
    };
    let text = match text.starts_with(BYTE_ORDER_MARK) {
        true => text.slice(BYTE_ORDER_MARK.len()..),
        false => text,
    };
    let text = match is_cut || text.len() > robots::LEAST_BYTES {
        true => cut(&text, &mut remarks),
        false => text,
    };
    let is_html = is_html(content_type);
    if !is_html && !is_document(&text) {
        return (AccessResult::File(text), remarks);
    }
    let (file, _) = robots::parse(&text);
    if file.rule_count() == 0 && (is_document(&text) || !robots::has_known_line(&text)) {
        let message = "the origin answers with a document without rules in place of a robots.txt";
        let remark = Diagnostic::error("origin_robots.html", message);
        remarks.push(remark.help("send the file as text/plain, or answer 404 if there is none"));
        return (AccessResult::Document, remarks);
    }
    let message = "the rules are sent as an HTML page; some crawlers refuse that";
    let remark = Diagnostic::warning("origin_robots.html", message);
    remarks.push(remark.help("send the file as text/plain"));
    (AccessResult::File(text), remarks)
}

/// The body in UTF-8; `None` if it is not in the declared encoding. Octets outside UTF-8 without a
/// declared encoding stay: crawlers compare them as octets.
fn in_utf8(
    body: Bytes,
    content_type: Option<&[u8]>,
    remarks: &mut Vec<Diagnostic>,
) -> Option<Bytes> {
    let declared = charset(content_type).and_then(Encoding::for_label);
    let Some(encoding) = declared.filter(|one| *one != UTF_8) else { return Some(body) };
    if str::from_utf8(&body).is_ok() {
        return Some(body);
    }
    let (text, has_errors) = encoding.decode_without_bom_handling(&body);
    let name = escape::text(encoding.name().as_bytes());
    let message = format!("the file is sent in {name}; Beadle publishes it in UTF-8");
    let help = "save it as UTF-8 (RFC 9309 §2.3); some crawlers read it as that";
    remarks.push(Diagnostic::warning("origin_robots.not_utf8", message).help(help));
    (!has_errors).then(|| Bytes::from(text.into_owned()))
}

fn cut(text: &Bytes, remarks: &mut Vec<Diagnostic>) -> Bytes {
    let message = "the file has more than 500 KiB; the first 500 KiB count";
    let help = "write fewer or shorter rules; crawlers need not read more (RFC 9309 §2.5)";
    remarks.push(Diagnostic::error("origin_robots.too_large", message).help(help));
    text.slice_ref(robots::whole_lines(text, robots::LEAST_BYTES))
}

/// Whether a text is no robots.txt: it begins as HTML or JSON does, or says something, but in no
/// line of a known name.
fn is_document(text: &[u8]) -> bool {
    let is_said =
        |line: &[u8]| !line.trim_ascii().is_empty() && !line.trim_ascii().starts_with(b"#");
    matches!(text.trim_ascii_start().first(), Some(b'<' | b'{' | b'['))
        || (lines(text).any(is_said) && !robots::has_known_line(text))
}

fn is_html(content_type: Option<&[u8]>) -> bool {
    let essence = content_type.and_then(|value| value.split(|&b| b == b';').next());
    essence.map(<[u8]>::trim_ascii).is_some_and(|essence| {
        let html = [&b"text/html"[..], b"application/xhtml+xml"];
        html.into_iter().any(|html| essence.eq_ignore_ascii_case(html))
    })
}

fn charset(content_type: Option<&[u8]>) -> Option<&[u8]> {
    content_type?.split(|&b| b == b';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_at(parameter.iter().position(|&b| b == b'=')?);
        let is_charset = name.trim_ascii().eq_ignore_ascii_case(b"charset");
        let quoted = value.get(1..)?.trim_ascii();
        let plain = quoted.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
        is_charset.then(|| plain.unwrap_or(quoted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "User-agent: *\nDisallow: /x\n";

    /// The result in short, with the codes of its remarks.
    fn read(content_type: &str, octets: impl Into<Vec<u8>>, is_cut: bool) -> String {
        let content_type = (!content_type.is_empty()).then_some(content_type.as_bytes());
        let (result, remarks) = result(Bytes::from(octets.into()), is_cut, content_type);
        let codes: String = remarks
            .iter()
            .map(|remark| {
                assert!(remark.help.is_some(), "{remark}");
                format!(" {} {}", remark.severity, remark.code.trim_start_matches("origin_robots."))
            })
            .collect();
        match result {
            AccessResult::File(text) => format!("{:?}{codes}", String::from_utf8_lossy(&text)),
            other => format!("{}{codes}", other.code()),
        }
    }

    #[test]
    fn rfc9309_2_3_1_1_a_file_counts_whatever_its_type_is() {
        let file = format!("{FILE:?}");
        for content_type in
            ["", "text/plain", "text/plain; charset=utf-8", "text/htmlx", "application/pdf", "a"]
        {
            assert_eq!(read(content_type, FILE, false), file, "{content_type}");
        }
        for content_type in ["text/html", "Text/HTML ; charset=utf-8", "application/xhtml+xml"] {
            let expected = format!("{file} warning html");
            assert_eq!(read(content_type, FILE, false), expected, "{content_type}");
        }
        for text in ["", "\n", "# nothing\n", "Disallow: /<x>\n", "Sitemap: https://a.example/s"] {
            assert_eq!(read("text/plain", text, false), format!("{text:?}"));
        }
        for text in ["useragent : *", "404: gone\nCrawl-delay: 5", "Request-rate: 1/5"] {
            assert_eq!(read("text/plain", text, false), format!("{text:?}"));
        }
        let sitemap = "Sitemap: https://a.example/s\n";
        assert_eq!(read("text/html", sitemap, false), format!("{sitemap:?} warning html"));
    }

    #[test]
    fn a_document_without_rules_is_no_file() {
        let page = "<!doctype html><title>App</title>";
        for (content_type, text) in [
            ("text/html", page),
            ("", page),
            ("text/plain", "\u{feff} \t\r\n<html>"),
            ("text/html", ""),
            ("application/json", r#"{"error": "not found"}"#),
            ("text/plain", "# hello\n\nNot found\n"),
            ("text/html", "Not found"),
            ("text/plain", "404: Not found\nsorry"),
            ("text/plain", "Error: it is gone\n"),
            ("text/html", "<p>\nSitemap: https://a.example/s\n"),
        ] {
            let expected = "origin_robots.html error html";
            assert_eq!(read(content_type, text, false), expected, "{content_type} {text}");
        }
    }

    #[test]
    fn rfc9309_2_5_the_first_500_kib_count_up_to_a_line_end() {
        let most = vec![b'#'; robots::LEAST_BYTES];
        assert!(!read("", most.clone(), false).contains("too_large"));
        assert_eq!(read("", most, true), "\"\" error too_large");
        let cut = format!("{FILE}Allow: /");
        assert_eq!(read("", cut, true), format!("{FILE:?} error too_large"));
        // In UTF-8 it is longer.
        let latin = [vec![b'\xe9'; robots::LEAST_BYTES - 9], b"\nAllow: /".to_vec()].concat();
        let expected = "\"\" warning not_utf8 error too_large";
        assert_eq!(read("text/plain; charset=latin1", latin, false), expected);
    }

    #[test]
    fn rfc9309_2_3_a_file_is_published_in_utf8_without_a_byte_order_mark() {
        let latin = b"Disallow: /caf\xe9 \x80\n";
        let decoded = format!("{:?} warning not_utf8", "Disallow: /caf\u{e9} \u{20ac}\n");
        for (content_type, octets, expected) in [
            ("text/plain", &b"\xef\xbb\xbfAllow: /\n"[..], "\"Allow: /\\n\"".to_owned()),
            ("text/plain; charset=iso-8859-1", latin, decoded.clone()),
            ("text/plain;x=y; Charset=\"Windows-1252\"", latin, decoded),
            // Declared wrongly, as a server does for every text.
            (
                "text/plain; charset=iso-8859-1",
                "Allow: /caf\u{e9}".as_bytes(),
                format!("{:?}", "Allow: /caf\u{e9}"),
            ),
            (
                "text/plain; charset=shift_jis",
                b"# \x82\xa0\n",
                "\"# \u{3042}\\n\" warning not_utf8".to_owned(),
            ),
            (
                "text/plain; charset=shift_jis",
                b"\x82\n",
                "origin_robots.binary warning not_utf8".to_owned(),
            ),
            ("text/plain", b"\xff\xfeU\0", "origin_robots.binary".to_owned()),
            ("text/plain; charset=utf-16", b"\0U\0s", "origin_robots.binary".to_owned()),
            ("", b"User-agent: *\0", "origin_robots.binary".to_owned()),
        ] {
            assert_eq!(read(content_type, octets, false), expected, "{content_type}");
        }
        // Without a declared encoding, octets stay what they are.
        let unknown = Some(&b"text/plain; charset=unheard-of"[..]);
        let (result, remarks) = result(Bytes::from_static(latin), false, unknown);
        assert_eq!((result, remarks), (AccessResult::File(Bytes::from_static(latin)), vec![]));
    }
}
