//! Lines of every server.

use super::*;

const UA: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";

struct Line {
    format: &'static str,
    line: String,
    host: Option<&'static str>,
    target: &'static str,
    user_agent: Option<&'static str>,
}

fn line(format: &'static str, line: impl Into<String>) -> Line {
    Line { format, line: line.into(), host: None, target: "/a?b=c", user_agent: Some(UA) }
}

fn lines() -> Vec<Line> {
    let common = r#"192.0.2.7 - - [22/Nov/2026:20:30:05 +0100] "GET /a?b=c HTTP/1.1" 200 5"#;
    vec![
        line("combined", format!("{common} \"-\" \"{UA}\"")),
        line("combined", format!("{common} \"https://x/\" \"{UA}\" \"198.51.100.1\" 0.005")),
        Line { user_agent: None, ..line("common", common) },
        Line { user_agent: None, ..line("combined", format!("{common} \"-\" \"-\"")) },
        Line {
            host: Some("www.example.com:443"),
            ..line("vhost_combined", format!("www.example.com:443 {common} \"-\" \"{UA}\""))
        },
        line(
            "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
             \"$http_referer\" \"$http_user_agent\"",
            format!("{common} \"-\" \"{UA}\""),
        ),
        Line {
            host: Some("www.example.com"),
            ..line(
                "$time_iso8601|$remote_addr|$host|$request_method|$request_uri|$status|${http_user_agent}|",
                format!("2026-11-22T20:30:05+01:00|192.0.2.7|www.example.com|GET|/a?b=c|200|{UA}|"),
            )
        },
        Line {
            host: Some("www.example.com"),
            ..line(
                "%{%Y-%m-%dT%H:%M:%S%z}t %v %a \\\"%m %U%q %H\\\" %>s \\\"%{User-agent}i\\\"",
                format!(
                    "2026-11-22T20:30:05+0100 www.example.com 192.0.2.7 \"GET /a?b=c HTTP/1.1\" 200 \"{UA}\""
                ),
            )
        },
        Line {
            host: Some("www.example.com"),
            ..line(
                "caddy",
                format!(
                    r#"{{"level":"info","ts":1795375805.0,"logger":"http.log.access","request":{{"remote_ip":"192.0.2.7","remote_port":"4","client_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"www.example.com","uri":"/a?b=c","headers":{{"User-Agent":["{UA}"]}}}},"status":200}}"#
                ),
            )
        },
        Line {
            host: Some("www.example.com"),
            ..line(
                "traefik",
                format!(
                    r#"{{"ClientAddr":"192.0.2.7:4711","ClientHost":"192.0.2.7","DownstreamStatus":200,"RequestHost":"www.example.com","RequestMethod":"GET","RequestPath":"/a?b=c","StartUTC":"2026-11-22T19:30:05Z","request_User-Agent":"{UA}","time":"2026-11-22T19:30:06Z"}}"#
                ),
            )
        },
        line(
            "traefik",
            format!("{common} \"-\" \"{UA}\" 17 \"web@docker\" \"http://10.0.0.1:80\" 2ms"),
        ),
        Line {
            host: Some("www.example.com"),
            ..line(
                "cloudflare",
                format!(
                    r#"{{"ClientIP":"192.0.2.7","ClientRequestHost":"www.example.com","ClientRequestMethod":"GET","ClientRequestURI":"/a?b=c","ClientRequestUserAgent":"{UA}","EdgeResponseStatus":200,"EdgeStartTimestamp":1795375805000000000}}"#
                ),
            )
        },
        Line {
            host: Some("www.example.com"),
            ..line(
                "beadle",
                format!(
                    r#"{{"schema":1,"id":"x","time":"2026-11-22T19:30:05Z","site":"www.example.com","client_ip":"192.0.2.7","method":"GET","host":"www.example.com","path":"/a?b=c","user_agent":"{UA}","status":200}}"#
                ),
            )
        },
        Line {
            host: Some("www.example.com"),
            ..line(
                "haproxy",
                format!(
                    r#"Nov 22 19:30:05 lb haproxy[14389]: 192.0.2.7:33317 [22/Nov/2026:19:30:05.000] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {{www.example.com|{UA}}} {{}} "GET /a?b=c HTTP/1.1""#
                ),
            )
        },
        Line {
            host: Some("www.example.com:443"),
            target: "https://www.example.com:443/a?b=c",
            ..line(
                "alb",
                format!(
                    r#"h2 2026-11-22T19:30:05.000000Z app/lb/1 192.0.2.7:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://www.example.com:443/a?b=c HTTP/2.0" "{UA}" ECDHE TLSv1.2 arn "Root=1" "www.example.com""#
                ),
            )
        },
    ]
}

#[test]
fn lines_of_every_server_are_read_and_told_apart() {
    for Line { format, line, host, target, user_agent } in lines() {
        let named = Format::of(format).expect(format);
        let is_pattern = format.contains(['$', '%']);
        let detected = match is_pattern {
            true => named.clone(),
            false => detect([line.as_bytes()]).unwrap_or_else(|| panic!("{line}")),
        };
        for format in [named, detected] {
            let entry = format
                .parse(line.as_bytes(), &mut Columns::default())
                .unwrap_or_else(|fault| panic!("{fault:?}: {line}"))
                .expect("an entry");
            let at: jiff::Timestamp = "2026-11-22T19:30:05Z".parse().expect("a time");
            assert_eq!(entry.time, at.as_microsecond(), "{line}");
            assert_eq!(entry.client, Some([192, 0, 2, 7].into()), "{line}");
            assert_eq!(&*entry.method, b"GET", "{line}");
            assert_eq!(&*entry.target, target.as_bytes(), "{line}");
            assert_eq!(entry.host.as_deref(), host.map(str::as_bytes), "{line}");
            assert_eq!(entry.user_agent.as_deref(), user_agent.map(str::as_bytes), "{line}");
            assert_eq!(entry.status, 200, "{line}");
        }
    }
}

#[test]
fn w3c_logs_name_their_columns() {
    let iis = "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n\
        #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip \
        cs(User-Agent) cs(Referer) sc-status time-taken\n\
        2026-11-22 19:30:05 10.0.0.1 GET /a b=c 443 - 192.0.2.7 \
        Mozilla/5.0+(compatible;+GPTBot/1.2;++https://openai.com/gptbot) - 200 15\n";
    let cloudfront = format!(
        "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) \
         cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header\n\
         2026-11-22\t19:30:05\tFRA2\t5\t192.0.2.7\tGET\td1.cloudfront.net\t/a\t200\t-\t{}\tb=c\t\
         www.example.com\n",
        UA.replace(' ', "%20").replace('+', "%2B")
    );
    for (text, host) in [(iis, None), (cloudfront.as_str(), Some("www.example.com"))] {
        let format = detect(text.lines().map(str::as_bytes)).expect("a format");
        let mut header = Columns::default();
        let entries: Vec<_> = text
            .lines()
            .filter_map(|line| format.parse(line.as_bytes(), &mut header).expect(line))
            .collect();
        let [entry] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!(&*entry.target, b"/a?b=c");
        assert_eq!(entry.user_agent.as_deref(), Some(UA.as_bytes()));
        assert_eq!(entry.host.as_deref(), host.map(str::as_bytes));
        assert_eq!((entry.client, entry.status), (Some([192, 0, 2, 7].into()), 200));
    }
    let w3c = Format::of("w3c").expect("a format");
    assert_eq!(w3c.parse(b"2026-11-22 19:30:05 x", &mut Columns::default()), Err(Fault::Fields));
}

#[test]
fn a_line_that_is_no_entry_has_a_reason() {
    let rest = r#"200 5 "-" "curl/8""#;
    for (format, line, fault) in [
        (
            "combined",
            format!(r#"192.0.2.7 - - [22/Nov/2026:20:30:05 +0100] "-" {rest}"#),
            Fault::Request,
        ),
        (
            "combined",
            format!(r#"192.0.2.7 - - [22/Nov/2026:20:30:05 +0100] "\x16\x03\x01" {rest}"#),
            Fault::Request,
        ),
        ("combined", format!(r#"192.0.2.7 - - [yesterday] "GET / HTTP/1.1" {rest}"#), Fault::Time),
        (
            "combined",
            format!(r#"www.example.com - - [22/Nov/2026:20:30:05 +0100] "GET / HTTP/1.1" {rest}"#),
            Fault::Address,
        ),
        ("combined", "half a li".to_owned(), Fault::Form),
        ("combined", String::new(), Fault::Form),
        ("json", "{".to_owned(), Fault::Json),
        ("json", "[]".to_owned(), Fault::Json),
        (
            "caddy",
            r#"{"level":"info","ts":1795375805.0,"msg":"serving"}"#.to_owned(),
            Fault::NoRequest,
        ),
        (
            "haproxy",
            "Nov 22 19:30:05 lb haproxy[1]: Proxy http-in started.".to_owned(),
            Fault::Form,
        ),
        ("alb", "h2 2026-11-22T19:30:05Z".to_owned(), Fault::Form),
    ] {
        let format = Format::of(format).expect("a format");
        let found = format.parse(line.as_bytes(), &mut Columns::default());
        assert_eq!(found, Err(fault), "{line}");
    }
}

#[test]
fn escaped_quotes_end_no_value() {
    let format = Format::of("combined").expect("a format");
    let line = br#"192.0.2.7 - - [22/Nov/2026:20:30:05 +0100] "GET /a\"b\\ HTTP/1.1" 200 5 "-" "x\x22y \"z\"""#;
    let entry = format.parse(line, &mut Columns::default()).expect("read").expect("an entry");
    assert_eq!(&*entry.target, br#"/a"b\"#);
    assert_eq!(entry.user_agent.as_deref(), Some(&br#"x"y "z""#[..]));
}

#[test]
fn a_pattern_that_cannot_be_judged_is_refused() {
    for (pattern, says) in [
        ("$remote_addr $request", "no time"),
        ("$time_local $remote_addr", "no request"),
        ("[$time_local] \"$request\"", "no client address"),
        ("$remote_addr$time_local $request", "nothing between them"),
        ("%h %t \"%r\" %", "a % stands at its end"),
        ("combind", "is no log format"),
    ] {
        let refused = Format::of(pattern).expect_err(pattern);
        assert!(refused.contains(says), "{pattern}: {refused}");
    }
}

#[test]
fn an_unknown_log_has_no_format() {
    for line in ["", "hello world", "{\"a\":1}", "#comment", "2026-11-22 something happened"] {
        assert!(detect([line.as_bytes()]).is_none(), "{line}");
    }
}
