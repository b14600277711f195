use super::*;
use crate::rules::policy;

/// The admin listener, or the refusals.
fn admin(server: &str) -> Result<Option<Admin>, Vec<String>> {
    let text = format!(
        "server: {{ {server} }}\nsites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.map(|policy| policy.server.admin).ok_or_else(|| {
        let refusals = findings.into_iter().filter(|one| one.code.starts_with("policy.bad"));
        refusals.map(|one| one.message).collect()
    })
}

#[test]
fn an_admin_listener_is_an_address_a_mapping_or_off() {
    let exact = |host: &str| Host::Exact(host.to_owned());
    let at = |address: &str, hosts| {
        Ok(Some(Admin {
            address: address.parse().expect(address),
            hosts,
            token_file: None,
            edit: false,
        }))
    };
    let beadle = || vec![exact("beadle"), Host::Below(".ops.example".to_owned())];
    let refused = |text: &str| Err(vec![text.to_owned()]);
    for (server, expected) in [
        ("", at("127.0.0.1:9090", Vec::new())),
        ("admin: \"off\"", Ok(None)),
        ("admin: \"[::1]:1\"", at("[::1]:1", Vec::new())),
        ("admin: { address: 127.0.0.1:1 }", at("127.0.0.1:1", Vec::new())),
        ("admin: { hosts: [beadle, \"*.Ops.example\"] }", at("127.0.0.1:9090", beadle())),
        ("admin: { address: 127.0.0.1:1, hosts: [Beadle] }", {
            at("127.0.0.1:1", vec![exact("beadle")])
        }),
        ("admin: { address: 0.0.0.0:1, token_file: /run/token }", {
            let token_file = Some(PathBuf::from("/run/token"));
            Ok(Some(Admin {
                address: "0.0.0.0:1".parse().expect("an address"),
                hosts: Vec::new(),
                token_file,
                edit: false,
            }))
        }),
        (
            "admin: 192.0.2.1:1",
            refused("server.admin: 192.0.2.1:1 is open to other machines, without a token"),
        ),
        (
            "admin: { address: \"[::]:1\", hosts: [beadle] }",
            refused("server.admin.address: [::]:1 is open to other machines, without a token"),
        ),
        (
            "admin: { hosts: [\"beadle:9090\"] }",
            refused("server.admin.hosts[0]: 'beadle:9090' is not a host"),
        ),
        (
            "admin: { address: 0.0.0.0:8080 }",
            refused("server.admin.address: a listener has this address"),
        ),
        (
            "listen: [127.0.0.1:9090], admin: { hosts: [beadle] }",
            refused("server.listen: 127.0.0.1:9090 is the admin listener's"),
        ),
    ] {
        assert_eq!(admin(server), expected, "{server}");
    }
}
