//! A person without a mouse goes everywhere and does everything.

use crate::{
    desks::{Desks, TOKEN},
    tab::{Key, Tab},
};

#[test]
fn the_keyboard_goes_through_the_navigation_to_a_filter_and_a_violation() {
    let desks = Desks::start();
    let Some(mut tab) = Tab::open(&desks.busy) else { return };
    tab.go("/");
    tab.press(Key::Tab);
    assert_eq!(tab.text("document.activeElement.textContent"), "To the content");
    tab.press(Key::Enter);
    tab.wait_until("location.hash === '#content'");
    tab.press(Key::Tab);
    assert_eq!(tab.value("document.querySelector('main').contains(document.activeElement)"), true);
    // A part that is folded opens by the keyboard too.
    tab.tab_to("the table of the chart", "it.tagName === 'SUMMARY'");
    tab.press(Key::Space);
    tab.wait_until("document.activeElement.parentElement.open");

    let places = tab.texts("[...document.querySelectorAll('nav a')].map(a => a.pathname)");
    for place in &places {
        tab.go("/");
        tab.tab_to(place, &format!("it.closest('nav') && it.pathname === '{place}'"));
        tab.loads(|tab| tab.press(Key::Enter));
        assert_eq!(tab.path(), *place);
        let here = tab.text("document.querySelector('nav [aria-current=page]').pathname");
        assert_eq!(here, *place);
    }

    tab.go("/violations");
    tab.tab_to("the crawler", "it.name === 'crawler'");
    tab.enter("GPTBot");
    tab.tab_to("the path", "it.name === 'path'");
    tab.enter("/articles/*");
    tab.loads(|tab| tab.press(Key::Enter));
    let path = tab.path();
    assert!(path.starts_with("/violations?"), "{path}");
    assert!(path.contains("crawler=GPTBot") && path.contains("path=%2Farticles%2F*"), "{path}");
    tab.tab_to("a row", "it.closest('tbody')");
    let row = tab.text("document.activeElement.pathname");
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!(tab.path(), row);
    let text = tab.text("document.querySelector('main').innerText");
    assert!(text.contains("GPTBot") && text.contains("/articles/2026/tides"), "{text}");
    tab.tab_to("more of it", "it.pathname === '/violations' && it.closest('main')");
    tab.loads(|tab| tab.press(Key::Enter));
    assert!(tab.path().starts_with("/violations?"), "{}", tab.path());
    // And back, with Shift.
    tab.press(Key::Tab);
    tab.press(Key::Tab);
    tab.press(Key::Back);
    assert_eq!(tab.text("document.activeElement.textContent"), "To the content");
}

#[test]
fn a_person_logs_in_and_out_by_the_keyboard() {
    let desks = Desks::start();
    let Some(mut tab) = Tab::open(&desks.locked) else { return };
    tab.go("/violations?action=log");
    assert_eq!(tab.path(), "/login?next=%2Fviolations%3Faction%3Dlog");
    tab.wait_until("document.activeElement.name === 'token'");
    tab.enter("not-the-token-at-all");
    tab.loads(|tab| tab.press(Key::Enter));
    assert!(tab.text("document.body.innerText").contains("This is not the token."));
    tab.wait_until("document.activeElement.name === 'token'");
    tab.enter(TOKEN);
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!(tab.path(), "/violations?action=log");
    tab.tab_to("the way out", "it.textContent === 'Log out'");
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!(tab.path(), "/login");
    tab.go("/");
    assert_eq!(tab.path(), "/login?next=%2F");
}
