//! The lines of the signature base, component by component (RFC 9421 §2).

use super::*;

/// This component's value in the base of this message.
fn value(component: &str, message: &Message<'_>) -> Result<String, Reason> {
    let own = line(
        "signature-input",
        format!(r#"k=("@authority" {component});created=1;expires=2;keyid="x";tag="web-bot-auth""#),
    );
    let mut lines = vec![own, line("signature", "k=:AA==:")];
    for name in ["x", "y", "d"] {
        message.fields.each_line(name, &mut |value| lines.push(line(name, value)));
    }
    let message = Message { fields: &lines, ..*message };
    let base = signature_base(&signatures(&message)[0], &message)?;
    let base = String::from_utf8(base).expect("a base is ASCII");
    let line = base.lines().nth(1).expect("the second component has a line");
    let value = line.strip_prefix(component).and_then(|rest| rest.strip_prefix(": "));
    Ok(value.expect("a line begins with the identifier").to_owned())
}

#[test]
fn rfc9421_2_2_components_derived_from_the_request() {
    let nothing: Vec<Line> = Vec::new();
    let message = Message { method: "PoSt", ..message(&nothing) };
    for (component, target, expected) in [
        (r#""@method""#, "/", "PoSt"),
        (r#""@scheme""#, "/", "https"),
        (r#""@target-uri""#, "/a?b", "https://example.com/a?b"),
        (r#""@request-target""#, "/a?b", "/a?b"),
        (r#""@request-target""#, "*", "*"),
        (r#""@path""#, "/a%2F/../b?c", "/a%2F/../b"),
        (r#""@path""#, "/?c", "/"),
        (r#""@query""#, "/a?b=c&d?", "?b=c&d?"),
        (r#""@query""#, "/a?", "?"),
        (r#""@query""#, "/a", "?"),
    ] {
        let message = Message { target: target.as_bytes(), ..message };
        assert_eq!(value(component, &message).as_deref(), Ok(expected), "{component} {target}");
    }
    for component in [r#""@path""#, r#""@query""#, r#""@target-uri""#, r#""@query-param";name="a""#]
    {
        for target in ["", "*", "http://example.com/", "example.com:443"] {
            let message = Message { target: target.as_bytes(), ..message };
            assert_eq!(value(component, &message), Err(Reason::ComponentUnreadable), "{target}");
        }
    }
}

#[test]
fn rfc9421_2_2_3_the_authority_is_in_lower_case_without_the_default_port() {
    for (scheme, authority, expected) in [
        (Scheme::Https, "EXAMPLE.com:443", "example.com"),
        (Scheme::Https, "example.com:80", "example.com:80"),
        (Scheme::Http, "example.com:80", "example.com"),
        (Scheme::Http, "example.com:443", "example.com:443"),
        (Scheme::Https, "example.com:", "example.com"),
        (Scheme::Https, "[2001:DB8::443]", "[2001:db8::443]"),
        (Scheme::Https, "[2001:db8::1]:443", "[2001:db8::1]"),
        (Scheme::Https, "", ""),
    ] {
        let list = r#"("@authority" "signature-agent";key="k")"#;
        let line = format!("\"@authority\": {expected}");
        let agent = format!("k=\"{AGENT}\"");
        let fields = fields(&agent, list, &parameters(), &[&line, AGENT_LINE]);
        let message = Message { scheme, authority: authority.as_bytes(), ..message(&fields) };
        assert_eq!(judged(&message), "verified", "{authority}");
    }
}

#[test]
fn rfc9421_2_2_8_a_parameter_of_the_query() {
    let nothing: Vec<Line> = Vec::new();
    let target = b"/path?param=value&foo=bar&baz=batman&qux=&var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something&bad=%zz%&twice=1&twice=1&alone";
    let message = Message { target, ..message(&nothing) };
    for (name, expected) in [
        // Examples of the RFC.
        ("baz", Ok("batman")),
        ("qux", Ok("")),
        ("param", Ok("value")),
        ("var", Ok("this%20is%20a%20big%0Amultiline%20value")),
        ("bar", Ok("with%20plus%20whitespace")),
        ("fa%C3%A7ade%22%3A%20", Ok("something")),
        // Other cases.
        ("bad", Ok("%25zz%25")),
        ("alone", Ok("")),
        ("none", Err(Reason::ComponentAbsent)),
        ("twice", Err(Reason::ComponentUnreadable)),
    ] {
        let component = format!(r#""@query-param";name="{name}""#);
        assert_eq!(value(&component, &message), expected.map(str::to_owned), "{name}");
    }
}

#[test]
fn rfc9421_2_1_a_field_is_all_its_lines() {
    let fields = vec![
        line("X", " one \t"),
        line("x", "two"),
        line("x", ""),
        line("Y", ""),
        line("D", "a=1, b=2;x=1;y=2"),
        line("D", "c=(a  b), d"),
    ];
    let message = message(&fields);
    for (component, expected) in [
        (r#""x""#, Ok("one, two, ")),
        (r#""y""#, Ok("")),
        (r#""z""#, Err(Reason::ComponentAbsent)),
        (r#""d""#, Ok("a=1, b=2;x=1;y=2, c=(a  b), d")),
        (r#""d";key="a""#, Ok("1")),
        (r#""d";key="b""#, Ok("2;x=1;y=2")),
        (r#""d";key="c""#, Ok("(a b)")),
        (r#""d";key="d""#, Ok("?1")),
        (r#""d";key="e""#, Err(Reason::ComponentAbsent)),
        (r#""z";key="a""#, Err(Reason::ComponentAbsent)),
        (r#""x";key="a""#, Err(Reason::ComponentUnreadable)),
    ] {
        assert_eq!(value(component, &message), expected.map(str::to_owned), "{component}");
    }
}

#[test]
fn rfc9421_2_5_no_value_forges_another_line() {
    for octets in [&b"a\nb"[..], b"a\r\n b", b"a\rb", b"a\0b", b"\xff", b"caf\xc3\xa9", b"\x7f"] {
        let fields = vec![line("x", octets)];
        let message = message(&fields);
        assert_eq!(value(r#""x""#, &message), Err(Reason::ComponentUnreadable), "{octets:?}");
        let by_target = [b"/", octets].concat();
        let message = Message { target: &by_target, ..message };
        assert_eq!(value(r#""@path""#, &message), Err(Reason::ComponentUnreadable));
    }
}

#[test]
fn the_signature_base_is_bounded() {
    let fields = vec![line("x", vec![b'x'; 8 * 1024 + 1])];
    assert_eq!(value(r#""x""#, &message(&fields)), Err(Reason::FieldTooLarge));
    let fields = vec![line("x", vec![b'x'; 4 * 1024]), line("x", vec![b'x'; 4 * 1024 - 2])];
    assert!(value(r#""x""#, &message(&fields)).is_ok());

    let three = r#"("@authority" "signature-agent";key="k" "x-1" "x-2" "x-3")"#;
    let mut fields = fields_with_agent(three);
    fields.extend(["x-1", "x-2", "x-3"].map(|name| line(name, vec![b'x'; 6_000])));
    assert_eq!(judged(&message(&fields)), "base-too-large");

    // The limit includes reads.
    let members = r#"("@authority" "signature-agent";key="k" "d";key="a" "d";key="b" "d";key="c")"#;
    let mut fields = fields_with_agent(members);
    fields.push(line("d", format!("a, b, c, z=\"{}\"", "z".repeat(6_000))));
    assert_eq!(judged(&message(&fields)), "base-too-large");
    let parameters = r#"("@authority" "signature-agent";key="k" "@query-param";name="a" "@query-param";name="b")"#;
    let fields = fields_with_agent(parameters);
    let target = format!("/?a&b&{}", "z".repeat(9_000));
    let message = Message { target: target.as_bytes(), ..message(&fields) };
    assert_eq!(judged(&message), "base-too-large");
}

fn fields_with_agent(list: &str) -> Vec<Line> {
    fields(&format!("k=\"{AGENT}\""), list, &parameters(), &[])
}

#[test]
fn rfc9421_2_3_the_parameters_are_signed_in_their_order_as_rfc_9651_writes_them() {
    let fields = vec![
        line(
            "signature-input",
            "  k=(  \"@authority\"   \"@path\" );tag=\"web-bot-auth\";  expires=2;created=1;keyid=\"\\\"x\\\\\";\
             flag;no=?0;d=1.50;at=@7",
        ),
        line("signature", "k=:AA==:"),
    ];
    let message = message(&fields);
    let base =
        signature_base(&signatures(&message)[0], &message).expect("all components are present");
    let expected = "\"@authority\": example.com\n\"@path\": /path\n\"@signature-params\": \
        (\"@authority\" \"@path\");tag=\"web-bot-auth\";expires=2;created=1;keyid=\"\\\"x\\\\\";flag;no=?0;d=1.5;at=@7";
    assert_eq!(String::from_utf8(base).as_deref(), Ok(expected));
}
