//! The policy changed on the desk, and a page of another site that tries to.

use std::fs;

use crate::{
    desks::TOKEN,
    support::{
        BROWSER,
        origin::{After, Origin},
        program::{Beadle, Setup},
    },
    tab::{Key, Tab},
};

const SITE: &str =
    "    robots_txt: { source: policy, groups: [{ user_agents: [GPTBot], disallow: [/] }] }
    enforcement: { mode: log }  # for a week
";

fn policy(beadle: &Beadle) -> String {
    fs::read_to_string(beadle.policy_file()).expect("the policy")
}

#[test]
fn a_person_blocks_a_crawler_and_a_page_of_another_site_does_not() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    fs::write(&token, TOKEN).expect("ours");
    let admin = format!("{{ address: $ADMIN, token_file: {}, edit: true }}", token.display());
    let beadle = Setup::site(origin.port, SITE).admin(&admin).start();
    let before = policy(&beadle);
    assert_eq!(beadle.get("/a", "GPTBot/1.2").status, 200);
    let Some(mut tab) = Tab::open(&beadle) else { return };
    tab.go("/login?next=/change?site=site.example%26crawler=GPTBot%26act=block");
    tab.tab_to("the token", "it.name === 'token'");
    tab.enter(TOKEN);
    tab.loads(|tab| tab.press(Key::Enter));
    let shown = tab.text("document.querySelector('main').innerText");
    assert!(shown.contains("GPTBot: block") && shown.contains("# for a week"), "{shown}");
    let name = tab.text("document.querySelector('[name=file]').value");

    // The browser has the login, and another origin of the same machine has a form.
    let form = format!(
        "<!doctype html><title>a</title><form method=post action='http://localhost:{}/change'>\
         <input name=site value=site.example><input name=crawler value=GPTBot>\
         <input name=act value=block><input name=file value={name}></form>\
         <form method=post action='http://localhost:{}/alerts/test'></form>",
        beadle.admin, beadle.admin
    );
    let evil = Origin::playing(move |exchange| {
        exchange.read_body();
        exchange.answer("200 OK", &["Content-Type: text/html"], form.as_bytes());
        After::Keep
    });
    let open = format!("location.assign('http://localhost:{}/'), 1", evil.port);
    for number in [0, 1] {
        tab.loads(|tab| drop(tab.value(&open)));
        tab.loads(|tab| drop(tab.value(&format!("document.forms[{number}].submit(), 1"))));
        let shown = tab.text("document.body.innerText");
        assert!(shown.contains("sent from another site"), "{number}: {shown}");
    }
    assert_eq!(policy(&beadle), before);

    // The person's own click does it, and takes it back.
    tab.go("/change?site=site.example&crawler=GPTBot&act=block");
    tab.tab_to("the button", "it.tagName === 'BUTTON' && it.closest('main')");
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!((tab.path(), beadle.get("/a", "GPTBot/1.2").status), ("/change".to_owned(), 403));
    assert!(tab.text("document.body.innerText").contains("it is in force"));
    assert_ne!(policy(&beadle), before);
    tab.go("/change?site=site.example&crawler=GPTBot&act=nothing");
    tab.tab_to("the button", "it.tagName === 'BUTTON' && it.closest('main')");
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!((policy(&beadle), beadle.get("/a", "GPTBot/1.2").status), (before, 200));
    assert_eq!(beadle.get("/a", BROWSER).status, 200);
}
