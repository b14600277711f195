//! Tests of hosts that move to another site, and of names that a site drops.

use super::*;

/// A rulebook of these sites, each with its hosts, a group and its disallowed paths.
fn sites(sites: &[(&str, &str, &str)], from: f64, previous: Option<&Rulebook>) -> Rulebook {
    let mut text = "sites:\n".to_owned();
    for (hosts, group, disallow) in sites {
        text.push_str(&format!(
            "  - {{ hosts: [{hosts}], origin: \"http://127.0.0.1:1\", robots_txt: {{ groups: \
             [{{ user_agents: [\"{group}\"], disallow: [{disallow}] }}] }} }}\n"
        ));
    }
    let policy: policy::Policy = text.parse().unwrap();
    Rulebook::compile(&policy, at(from), previous)
}

#[test]
fn a_host_that_moves_to_another_site_keeps_its_editions() {
    let ledger = Ledger::default();
    let before = [("a.example, b.example", "*", "/x"), ("\"*.c.example\"", "*", "/x")];
    let book = sites(&before, 0.0, None);
    for after in [
        // Split off, renamed, taken out of a wildcard.
        vec![("a.example", "*", "/x"), ("b.example", "*", "/x, /y")],
        vec![("new.example, a.example, b.example", "*", "/x, /y")],
        vec![("\"*.c.example\"", "*", "/x"), ("www.c.example", "*", "/x, /y")],
    ] {
        let next = sites(&after, 10.0, Some(&book));
        let site = next.sites().last().expect("a site");
        let client = |hour| Client { site, ..client(&ledger, &next, 1, at(hour)) };
        let request = |hour| client(hour).request(&next, "GPTBot", "/y");
        assert_eq!(request(11.0), "pass robots.disallow.grace never", "{after:?}");
        assert_eq!(request(34.0), "log robots.disallow never", "{after:?}");
    }
}

#[test]
fn the_fetches_of_a_bot_count_whether_the_site_names_it_or_not() {
    let ledger = Ledger::default();
    let named = sites(&[("a.example", "AcmeBot", "/x")], 0.0, None);
    client(&ledger, &named, 1, at(1.0)).fetch(&named, "AcmeBot");
    let without = sites(&[("a.example", "GPTBot", "/x")], 2.0, Some(&named));
    client(&ledger, &without, 1, at(3.0)).fetch(&without, "AcmeBot");
    let again = sites(&[("a.example", "AcmeBot", "/x")], 4.0, Some(&without));
    let request =
        |number| client(&ledger, &again, number, at(5.0)).request(&again, "AcmeBot", "/x");
    assert_eq!(request(1), "pass robots.disallow.grace older");
}
