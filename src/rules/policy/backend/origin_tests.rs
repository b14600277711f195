use super::*;

#[test]
fn an_origin_is_scheme_host_and_port() {
    let origin = |tls, host: &str, port| Ok(Origin { tls, host: host.to_owned(), port });
    assert_eq!(parse("http://127.0.0.1:3000"), origin(false, "127.0.0.1", 3000));
    assert_eq!(parse("https://App.Internal/"), origin(true, "app.internal", 443));
    assert_eq!(parse("http://[::1]:80"), origin(false, "::1", 80));
    for text in [
        "127.0.0.1:3000",
        "http://",
        "http://a/b",
        "http://u:p@a",
        "http://a:0",
        "http://a:x",
        "http://a b",
        "http://[::1",
        "ftp://a",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}
