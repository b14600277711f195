use super::*;
use crate::rules::policy;

fn access_log(value: &str) -> Result<Option<AccessLog>, Vec<String>> {
    let text = format!(
        "server: {{ {value} }}\nsites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.map(|policy| policy.server.access_log).ok_or_else(|| {
        let refusals = findings.into_iter().filter(|one| one.code != "policy.no_match");
        refusals.map(|one| one.message).collect()
    })
}

#[test]
fn an_access_log_is_a_file_or_a_mapping() {
    let log = |log, format| Ok(Some(AccessLog { log, format }));
    let file = || Log::File("/var/log/access.log".into());
    for (value, expected) in [
        ("", Ok(None)),
        ("access_log: stdout", log(Log::Stdout, AccessFormat::Json)),
        ("access_log: /var/log/access.log", log(file(), AccessFormat::Json)),
        ("access_log: { file: /var/log/access.log }", log(file(), AccessFormat::Json)),
        (
            "access_log: { file: stdout, format: combined }",
            log(Log::Stdout, AccessFormat::Combined),
        ),
    ] {
        assert_eq!(access_log(value), expected, "{value}");
    }
    for (value, says) in [
        ("access_log: { format: combined }", "server.access_log"),
        ("access_log: { file: a.log, format: common }", "server.access_log.format"),
        ("access_log: { file: a.log, fromat: json }", "server.access_log"),
        ("access_log: []", "server.access_log"),
    ] {
        let refusals = access_log(value).expect_err(value);
        assert!(refusals.iter().any(|one| one.contains(says)), "{value}: {refusals:?}");
    }
}
