//! A file in quarantine, and the button that publishes it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    support::{
        BROWSER,
        origin::{After, Origin},
        program::{Beadle, Setup},
        wait_for,
    },
    tab::{Key, Tab},
};

/// The site's page, and the one of its quarantine.
const SITE: &str = "/robots/site.example";
pub(crate) const QUARANTINE: &str = "/robots/site.example/quarantine";

const OPEN: &str =
    "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /articles/\n";
const CLOSED: &str = "# staging\nUser-agent: *\nDisallow: /\n";

/// A program whose origin closed the whole site.
pub(crate) struct Quarantined {
    pub(crate) beadle: Beadle,
    _origin: Origin,
}

impl Quarantined {
    pub(crate) fn start() -> Self {
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let origin = Origin::playing(move |exchange| {
            exchange.read_body();
            let file = if closed.load(Ordering::Acquire) { CLOSED } else { OPEN };
            exchange.answer("200 OK", &["Content-Type: text/plain"], file.as_bytes());
            After::Keep
        });
        let setup = Setup::site(origin.port, "    robots_txt: { source: origin }\n");
        let beadle = setup.clone().start();
        let one = Self { beadle, _origin: origin };
        wait_for("the first file", || (one.served() == OPEN).then_some(()));
        is_closed.store(true, Ordering::Release);
        // A new policy in force fetches the origin's file at once.
        one.beadle.reload(&setup.sections("# again\n"));
        wait_for("the quarantine", || {
            (one.beadle.admin_page(QUARANTINE).status == 200).then_some(())
        });
        one
    }

    fn served(&self) -> String {
        self.beadle.get("/robots.txt", BROWSER).text()
    }
}

#[test]
fn the_overview_leads_to_the_button_and_the_button_publishes_the_file() {
    const SHOWN: &str = "document.querySelector('main').innerText";
    let one = Quarantined::start();
    let Some(mut tab) = Tab::open(&one.beadle) else { return };
    tab.go("/");
    tab.tab_to("the file in quarantine", &format!("it.pathname === '{QUARANTINE}'"));
    tab.loads(|tab| tab.press(Key::Enter));
    let shown = tab.text(SHOWN);
    for part in ["Publish this file", "# staging", "allow -> disallow", "by 'Disallow: /' (line 3)"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(one.served(), OPEN, "a look publishes nothing");
    // A person may leave it there.
    tab.tab_to("the way back", &format!("it.pathname === '{SITE}' && it.closest('form')"));
    tab.loads(|tab| tab.press(Key::Enter));
    assert_eq!(tab.path(), SITE);
    tab.tab_to("the quarantine", &format!("it.pathname === '{QUARANTINE}'"));
    tab.loads(|tab| tab.press(Key::Enter));

    // Discarded, it is no alarm any more, and can still be published.
    tab.tab_to("the button that discards", "it.value === 'discard'");
    tab.loads(|tab| tab.press(Key::Space));
    assert!(tab.text(SHOWN).contains("It was discarded at"));
    wait_for("the end of the alarm", || {
        tab.go("/");
        (!tab.text(SHOWN).contains("quarantine")).then_some(())
    });
    assert_eq!(one.served(), OPEN);
    tab.go(QUARANTINE);
    tab.tab_to("the button", "it.value === 'accept'");
    tab.loads(|tab| tab.press(Key::Space));
    assert_eq!(tab.path(), SITE);
    let shown = tab.text(SHOWN);
    assert!(shown.contains("was accepted at") || shown.contains("# staging"), "{shown}");
    let faults = tab.faults();
    assert!(faults.is_empty(), "{faults:?}");
    wait_for("the file", || (one.served() == CLOSED).then_some(()));
    // The page of the site shows it once the database has its edition.
    wait_for("the page without a quarantine", || {
        tab.go(SITE);
        let shown = tab.text(SHOWN);
        let is_waiting = shown.contains("quarantine") || shown.contains("accepted");
        (shown.contains("# staging") && !is_waiting).then_some(())
    });
    // Nothing is left to decide, and the page says why.
    tab.go(QUARANTINE);
    let shown = tab.text(SHOWN);
    assert!(shown.contains("Nothing in quarantine") && !shown.contains("Publish"), "{shown}");
}
