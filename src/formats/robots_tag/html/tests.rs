//! The rules in documents, as tables and as a property.

use proptest::prelude::*;

use super::*;

fn is_crawler(token: &ProductToken) -> bool {
    ["googlebot", "googlebot-news", "otherbot", "description"].contains(&token.key())
}

/// The rules of a document for Googlebot, and the codes of the findings.
fn rules_and_codes(document: &str) -> (String, Vec<&'static str>) {
    let Document { metas, diagnostics } = read_html(document.as_bytes(), is_crawler);
    let older: Vec<&RobotsTag> = metas.iter().map(|meta| &meta.tag).collect();
    let token = ProductToken::new("Googlebot");
    let rules = crate::formats::robots_tag::effective(&RobotsTag::new(), &older, token.as_ref());
    (rules.join(" "), diagnostics.iter().map(|finding| finding.code).collect())
}

fn check(cases: &[(&str, &str, &[&str])]) {
    for (document, rules, codes) in cases {
        assert_eq!(rules_and_codes(document), ((*rules).to_owned(), codes.to_vec()), "{document}");
    }
}

#[test]
fn draft_3_1_2_the_elements_for_a_crawler_are_united() {
    check(&[
        ("", "", &[]),
        // The draft's example, for a crawler that it names and for one that it doesn't.
        (
            "<meta name=\"robots\" content=\"noindex\">\n\
             <meta name=\"googlebot\" content=\"nosnippet\">",
            "noindex nosnippet",
            &[],
        ),
        (
            "<meta name=\"robots\" content=\"noindex\">\n\
             <meta name=\"otherbot\" content=\"nosnippet\">",
            "noindex",
            &[],
        ),
        ("<meta name=robots content=noindex>", "noindex", &[]),
        ("<META NAME=ROBOTS CONTENT=NOINDEX>", "noindex", &[]),
        ("<meta name=' robots ' content=' noindex , nofollow,'>", "nofollow noindex", &[]),
        ("<meta name=Googlebot content=noindex>", "noindex", &[]),
        ("<meta name=otherbot content=noindex>", "", &[]),
        ("<meta name=googlebot-news content=noindex>", "", &[]),
        (
            "<meta name=robots content=nofollow><meta name=googlebot content=noindex>",
            "nofollow noindex",
            &[],
        ),
        (
            "<meta name=robots content=noindex><meta name=robots content='noindex, noarchive'>",
            "noarchive noindex",
            &[],
        ),
        (
            "<meta name=robots content=max-snippet:50><meta name=googlebot content=max-snippet:20>",
            "max-snippet:20",
            &[],
        ),
        ("<meta name=robots content=noindex><meta name=googlebot content=index>", "noindex", &[]),
        ("<meta name=robots content=none>", "nofollow noindex", &[]),
        ("<meta name=robots content='index, follow, all'>", "", &[]),
        ("<meta name=robots content='noindex&#44;nofollow'>", "nofollow noindex", &[]),
        (
            "<meta name=robots content='unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex'>",
            "noindex unavailable_after: Friday, 25-Jun-10 15:00:00 GMT",
            &[],
        ),
        (
            "<meta name=robots content='max-snippet: 20, max-image-preview:LARGE'>",
            "max-image-preview:large max-snippet:20",
            &[],
        ),
    ]);
}

#[test]
fn elements_for_no_crawler_are_ignored() {
    check(&[
        ("<meta charset=utf-8><meta name=viewport content='width=device-width, none'>", "", &[]),
        // The name of a crawler here, and still with another meaning.
        ("<meta name=description content=noindex>", "", &[]),
        ("<meta name=keywords content='noindex, all'>", "", &[]),
        ("<meta name=og:robots content=noindex>", "", &[]),
        ("<meta name=someword content=noindex>", "", &[]),
        ("<meta http-equiv=refresh content=0><meta property=og:title content=none>", "", &[]),
        ("<meta name content=noindex><meta content=noindex><meta>", "", &[]),
    ]);
}

#[test]
fn draft_4_the_elements_of_the_head_count() {
    check(&[
        ("<body><meta name=robots content=noindex>", "", &["robots_tag.meta_outside_head"]),
        ("<template><meta name=robots content=noindex>", "", &["robots_tag.meta_outside_head"]),
        (
            "<noscript><meta name=robots content=noindex></noscript>",
            "noindex",
            &["robots_tag.meta_in_noscript"],
        ),
        ("<head></head><meta name=robots content=noindex><body>", "noindex", &[]),
    ]);
}

#[test]
fn probable_mistakes_are_reported() {
    check(&[
        ("<meta name=robots>", "", &["robots_tag.meta_without_content"]),
        ("<meta name=robots content=' '>", "", &["robots_tag.meta_without_content"]),
        ("<meta http-equiv=X-Robots-Tag content=noindex>", "", &["robots_tag.meta_misspelt"]),
        ("<meta property=robots content=noindex>", "", &["robots_tag.meta_misspelt"]),
        ("<meta name=robot content=noindex>", "", &["robots_tag.meta_misspelt"]),
        ("<meta name='robots,googlebot' content=noindex>", "", &["robots_tag.meta_misspelt"]),
        ("<meta name=x-robots-tag content=noindex>", "", &["robots_tag.meta_misspelt"]),
        (
            "<meta name=robots content='noindex, googlebot: nofollow'>",
            "noindex",
            &["robots_tag.name_in_content"],
        ),
        ("<meta name=robots content='noindex nofollow'>", "", &["robots_tag.not_understood"]),
        ("<meta name=robots content='noidnex'>", "noidnex", &["robots_tag.unknown_rule"]),
        ("<meta name=robots content='all, noindex'>", "noindex", &["robots_tag.contradiction"]),
        ("\u{feff}<meta name=robots content=noindex>", "noindex", &[]),
    ]);
    for octets in [&b"\xff\xfe<\0m\0"[..], b"\xfe\xff\0<", b"<\0m\0e\0", b"\0<\0m"] {
        let document = read_html(octets, is_crawler);
        assert_eq!(document.diagnostics[0].code, "robots_tag.utf16");
    }
}

#[test]
fn elements_and_findings_have_their_place() {
    let text = "\u{feff}<title>\u{e9}</title>\r\n\
        <i></i>é<meta name=robot>\n  <meta\nname=robots content=x:y>";
    let document = read_html(text.replace("<i></i>é", "").as_bytes(), is_crawler);
    let places: Vec<_> = document
        .diagnostics
        .iter()
        .map(|finding| (finding.code, finding.place.line, finding.place.column))
        .collect();
    assert_eq!(
        places,
        [
            ("robots_tag.meta_misspelt", Some(2), Some(1)),
            ("robots_tag.name_in_content", Some(3), Some(3)),
        ]
    );
    let meta = &document.metas[0];
    assert_eq!((meta.line, meta.content.as_str(), &meta.scope), (3, "x:y", &Scope::Any));
    assert!(text.replace("<i></i>é", "")[meta.offset..].starts_with("<meta\nname=robots"));
    let column = read_html("<!-- é --><meta name=robots>".as_bytes(), is_crawler);
    assert_eq!(column.diagnostics[0].place.column, Some(11));
}

#[test]
fn a_hostile_document_is_read_within_limits() {
    let meta = "<meta name=robots content=noindex>";
    let cut = |text: String| {
        let document = read_html(text.as_bytes(), is_crawler);
        let codes: Vec<_> = document.diagnostics.iter().map(|one| one.code).collect();
        (document.metas.len(), codes)
    };
    let none: [&str; 0] = [];
    let space = " ".repeat(MAX_DOCUMENT_BYTES - meta.len());
    assert_eq!(cut(format!("{space}{meta}")), (1, none.to_vec()));
    assert_eq!(cut(format!("{space} {meta}")), (0, vec!["robots_tag.head_cut"]));
    assert_eq!(cut(format!("<body>{space} {meta}")), (0, none.to_vec()));
    assert_eq!(cut(meta.repeat(MAX_METAS)), (MAX_METAS, none.to_vec()));
    let more = (MAX_METAS, vec!["robots_tag.too_many_metas"]);
    assert_eq!(cut(meta.repeat(MAX_METAS + 1)), more);
    let long = format!("<meta name=robots content='noindex,{}'>", "nofollow,".repeat(1_000));
    assert_eq!(cut(long), (1, vec!["robots_tag.too_long"]));
    let attributes: String = (0..60_000).map(|n| format!(" a{n}=1")).collect();
    assert_eq!(cut(format!("<meta{attributes} name=robots content=noindex>")).0, 1);
    assert_eq!(cut("<template>".repeat(50_000)).0, 0);
    assert!(cut("<meta property=robots>".repeat(40_000)).1.len() <= 32);
}

proptest! {
    #[test]
    fn reading_never_panics_and_pieces_make_no_difference(
        octets in foreign(),
        cuts in prop::collection::vec(0usize..200, 0..6),
    ) {
        let whole = read_html(&octets, is_crawler);
        let mut reader = DocumentReader::default();
        let mut rest = octets.as_slice();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            prop_assert!(reader.feed(piece));
            rest = after;
        }
        reader.feed(rest);
        prop_assert_eq!(&reader.finish(is_crawler), &whole);
        for meta in &whole.metas {
            let tag = octets[meta.offset..].to_ascii_lowercase();
            prop_assert!(tag.starts_with(b"<meta"));
        }
        // The field can express the rules of all elements.
        let tag = whole.tag();
        let field = tag.to_field().unwrap_or_default();
        prop_assert_eq!(crate::formats::robots_tag::read(&[field.as_bytes()]).0, tag);
    }
}

/// Octets near enough to a document to reach every branch.
fn foreign() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        8 => prop::sample::select(vec![
            "<meta name=robots content=noindex>", "<meta name=\"googlebot\" content='a, b:c'/>",
            "<meta ", "name=", "content=", "robots", "noindex", "none", "\"", "'", ">", "/>",
            "</", "<", "<!--", "-->", "<!", "<!doctype html>", "<html>", "<head>", "</head>",
            "<body>", "<title>", "</title>", "<script>", "</script>", "<noscript>", "<style>",
            "</noscript>", "<template>", "</template>", "&#44;", "&amp", "&#0;", "&#xd800;",
            "&notit;", " ", "\n", "\r", "\r\n", "\0", "é", "=", "http-equiv=", "]]>", "x",
            "<![CDATA[", "\u{feff}", "</p a=b>", "<p ==x =y>",
        ]).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(word, 0..32).prop_map(|words| words.concat())
}
