//! The list of violations shows what its address says.

use serde_json::Value;

use crate::{desks::Desks, support::week::SITE, tab::Tab};

const ROWS: &str = "[...document.querySelectorAll('tbody tr td:first-child a')]
    .map(a => a.pathname.split('/').pop())";

/// Whether a filter selects a record.
type Holds = Box<dyn Fn(&Value) -> bool>;

#[test]
fn each_filter_shows_the_records_that_it_names() {
    let desks = Desks::start();
    let desk = &desks.busy;
    let Some(mut tab) = Tab::open(desk) else { return };
    // All records, by the verb that lists them.
    let listed = desk.verb(&["violations", "--format", "json", "--limit", "1000"]);
    let records = crate::support::program::json_lines(&listed);
    assert!(records.len() > 190, "{}", String::from_utf8_lossy(&listed.stderr));
    let is = |name: &'static str, value: &'static str| move |record: &Value| record[name] == value;
    let day = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(48);
    let day = day.strftime("%Y-%m-%d").to_string();
    let since = day.clone();
    let cases: Vec<(&str, &str, Holds)> = vec![
        ("crawler", "GPTBot", Box::new(is("product_token", "GPTBot"))),
        ("crawler", "gptbot", Box::new(is("product_token", "GPTBot"))),
        ("crawler", "NoSuchBot", Box::new(|_| false)),
        (
            "crawler",
            "<script>alert(1)</script>",
            Box::new(is("product_token", "<script>alert(1)</script>")),
        ),
        ("site", SITE, Box::new(is("site", SITE))),
        ("site", "shop.example", Box::new(is("site", "shop.example"))),
        ("purpose", "seo", Box::new(is("purpose", "seo"))),
        ("action", "log", Box::new(is("action", "log"))),
        ("action", "throttle", Box::new(is("action", "throttle"))),
        ("action", "block", Box::new(is("action", "block"))),
        (
            "path",
            "/search",
            Box::new(|record| {
                record["path"].as_str().is_some_and(|path| path.starts_with("/search"))
            }),
        ),
        (
            "path",
            "*?page=3$",
            Box::new(|record| {
                record["path"].as_str().is_some_and(|path| path.ends_with("?page=3"))
            }),
        ),
        (
            "since",
            &day,
            Box::new(move |record| record["time"].as_str().is_some_and(|time| *time >= *since)),
        ),
    ];
    for (name, value, holds) in &cases {
        // A person fills in the form; the address then has the filter.
        tab.go("/violations");
        tab.loads(|tab| {
            let value = serde_json::to_string(value).expect("a text");
            tab.value(&format!(
                "{{ const form = document.querySelector('form.filter');
                   form.elements['{name}'].value = {value}; form.requestSubmit(); 0 }}"
            ));
        });
        let path = tab.path();
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        assert!(path.contains(&format!("{name}={value}")), "{path}");
        let mut shown = tab.texts(ROWS);
        while let Value::String(next) =
            tab.value("document.querySelector('a[rel=next]')?.href ?? 0")
        {
            tab.loads(|tab| {
                tab.value("document.querySelector('a[rel=next]').click()");
            });
            assert_eq!(tab.text("location.href"), next);
            shown.extend(tab.texts(ROWS));
        }
        let id = |record: &Value| record["id"].as_str().expect("an id").to_owned();
        let mut meant: Vec<String> = records.iter().filter(|one| holds(one)).map(id).collect();
        shown.sort_unstable();
        meant.sort_unstable();
        assert_eq!(shown, meant, "{path}");
    }
    // Two conditions hold together, and the form keeps them.
    tab.go(&format!("/violations?site={SITE}&crawler=GPTBot&action=block&path=/articles/"));
    let both = "[...document.querySelectorAll('tbody tr')].every(row => row.innerText.includes('GPTBot') \
                && row.innerText.includes('/articles/') && row.innerText.includes('block'))";
    assert_eq!(tab.value(both), true);
    let kept = tab.texts("['site', 'crawler', 'action', 'path'].map(name => document.querySelector(`[name=${name}]`).value)");
    assert_eq!(kept, [SITE, "GPTBot", "block", "/articles/"]);
    tab.loads(|tab| {
        tab.value("[...document.querySelectorAll('main form a')].find(a => a.pathname === '/violations').click()");
    });
    assert_eq!(tab.path(), "/violations");
}
