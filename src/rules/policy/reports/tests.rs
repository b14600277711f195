use super::*;
use crate::rules::policy::{self, MailTls, Policy};

/// The policy with these sections, or the message and the repair of the first refusal.
fn read(sections: &str) -> Result<Policy, String> {
    let text = format!(
        "{sections}\nsites: [{{ hosts: [a.example, '*.b.example'], origin: 'http://127.0.0.1:3' }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.ok_or_else(|| {
        let first = findings.first().expect("a refused policy has findings");
        format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default())
    })
}

#[test]
fn a_time_of_the_week_is_found_in_utc() {
    let second = |time: &str| time.parse::<jiff::Timestamp>().expect("a time").as_second();
    for (every, now, last) in [
        ("monday 08:00", "2026-11-23T08:00:00Z", Some("2026-11-23T08:00:00Z")),
        ("monday 08:00", "2026-11-23T07:59:59Z", Some("2026-11-16T08:00:00Z")),
        ("sunday 23:59", "2026-11-23T07:59:59Z", Some("2026-11-22T23:59:00Z")),
        ("thursday 00:00", "1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00Z")),
        ("day 06:30", "2026-11-23T06:00:00Z", Some("2026-11-22T06:30:00Z")),
        ("monday 24:00", "2026-11-23T06:00:00Z", None),
        ("monday 8:00", "2026-11-23T06:00:00Z", None),
        ("monday +8:00", "2026-11-23T06:00:00Z", None),
        ("someday 08:00", "2026-11-23T06:00:00Z", None),
    ] {
        let found = Every::parse(every).map(|every| every.last(second(now)));
        assert_eq!(found, last.map(second), "{every} {now}");
    }
}

#[test]
fn mail_needs_a_server_and_a_report_a_database() {
    const SERVER: &str = "email: { server: smtp.example.com, from: b@a.example }";
    const REPORT: &str = "every: monday 08:00, to: a@a.example";
    const KEPT: &str = "violations: { database: x.db }";
    let of = |report: &str| read(&format!("{KEPT}\n{SERVER}\nreports: {{ {report} }}"));
    let reports =
        of(&format!("{REPORT}, sites: [x.b.example, a.example]")).expect("a policy").reports;
    let [report, _] = reports.as_slice() else { panic!("each site has one: {reports:?}") };
    assert_eq!(
        (report.every.text.as_str(), report.to[0].as_str()),
        ("monday 08:00", "a@a.example")
    );
    assert_eq!(report.site.as_deref(), Some("a.example"));
    let all = of(REPORT).expect("a policy").reports;
    assert!(all[0].site.is_none() && all[0].key() != report.key());
    for (found, part) in [
        (of(&format!("{REPORT}, sites: c.example")), "no site has the host"),
        (of("every: monday, to: a@a.example"), "is no day"),
        (of("every: monday 08:00"), "'reports.to' is missing"),
        (read(&format!("{KEPT}\nreports: {{ {REPORT} }}")), "no mail server"),
        (read(&format!("{SERVER}\nreports: {{ {REPORT} }}")), "no database"),
    ] {
        let found = found.map(|policy| policy.reports).expect_err(part);
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn the_port_of_a_server_follows_its_encryption_and_a_login_needs_one() {
    let of = |keys: &str| read(&format!("email: {{ from: b@a.example, {keys} }}"));
    for (keys, host, port, tls) in [
        ("server: smtp.example.com", "smtp.example.com", 587, MailTls::StartTls),
        ("server: 127.0.0.1, tls: implicit", "127.0.0.1", 465, MailTls::Implicit),
        ("server: '[::1]:2525', tls: none", "::1", 2525, MailTls::None),
    ] {
        let email = of(keys).expect(keys).email.expect(keys);
        assert_eq!((email.server, email.tls), ((host.to_owned(), port), tls));
        assert_eq!(email.login, None);
    }
    let login = "server: a, username: u, password_file: p";
    let email = of(login).expect(login).email.expect(login);
    assert_eq!(email.login, Some(("u".to_owned(), "p".into())));
    for (keys, part) in [
        ("server: 'smtp://a'", "is not a server"),
        ("server: a, username: u", "half of a login"),
        ("server: a, password_file: p", "half of a login"),
        ("server: a, tls: none, username: u, password_file: p", "open connection"),
        ("tls: none", "'email.server' is missing"),
    ] {
        let found = of(keys).map(|policy| policy.email).expect_err(keys);
        assert!(found.contains(part), "{found}");
    }
}
