//! What clients send is text on every page, and does nothing.

use crate::{
    desks::{Desks, HOSTILE, HOSTILE_NAME, HOSTILE_PATH, TRAP},
    support::{
        origin::Origin,
        program::{Beadle, Setup},
    },
    tab::Tab,
    table::places,
};

/// What makes text do something: scripts that are not the desk's own, handlers, other addresses.
pub(crate) const ACTIVE: &str = "[...document.querySelectorAll('*')].filter(it =>
    (it.tagName === 'SCRIPT' && !it.getAttribute('src')?.startsWith('/assets/'))
    || ['STYLE', 'BASE', 'IFRAME', 'OBJECT', 'EMBED', 'IMG'].includes(it.tagName)
    || [...it.attributes].some(one => one.name.startsWith('on') || one.name === 'style'
        || (['href', 'src', 'action'].includes(one.name) && !/^([/#?]|data:,$|https:)/.test(one.value)))
    ).map(it => it.outerHTML.slice(0, 200))";

#[test]
fn a_user_agent_that_looks_like_a_script_is_shown_and_does_nothing() {
    let desks = Desks::start();
    let Some(mut tab) = Tab::open(&desks.busy) else { return };
    // The page of every violation that a hostile client committed. All others are among every page.
    let mut seen = Vec::new();
    for record in desks.busy.log() {
        let text = record["user_agent"].as_str().expect("a text").to_owned();
        if HOSTILE.contains(&text.as_str()) {
            let path = format!("/violations/{}", record["id"].as_str().expect("an id"));
            tab.go(&path);
            let shown = tab.text("document.querySelector('main').innerText");
            assert!(shown.contains(&text), "{text}: {shown}");
            let found = [tab.texts(ACTIVE), tab.faults()];
            assert!(found.iter().all(Vec::is_empty), "{path}: {found:?}");
            seen.push(text);
        }
    }
    assert!(HOSTILE.iter().all(|text| seen.iter().any(|one| one == text)), "{seen:?}");
    tab.go("/violations");
    let shown = tab.text("document.querySelector('main').innerText");
    let path = HOSTILE_PATH.replace('"', "%22").replace('<', "%3C").replace('>', "%3E");
    assert!(shown.contains(HOSTILE_NAME) && shown.contains(TRAP), "{shown}");
    assert!(shown.contains(&path) || shown.contains(HOSTILE_PATH), "{shown}");
}

#[test]
fn a_script_that_comes_while_somebody_looks_is_text_too() {
    let origin = Origin::plain();
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let desk: Beadle = Setup::site(origin.port, rules).start();
    let Some(mut tab) = Tab::open(&desk) else { return };
    tab.go("/");
    if !places(&mut tab).iter().any(|place| place == "/live") {
        return;
    }
    tab.go("/live");
    tab.wait_until("document.getElementById('state').textContent.includes('Connected')");
    for (number, user_agent) in HOSTILE.iter().enumerate() {
        desk.get(HOSTILE_PATH, user_agent);
        let rows = "document.querySelectorAll('#live tbody tr').length";
        tab.wait_until(&format!("{rows} === {}", number + 1));
    }
    let active = tab.texts(ACTIVE);
    assert!(active.is_empty(), "{active:?}");
    let faults = tab.faults();
    assert!(faults.is_empty(), "{faults:?}");
}
