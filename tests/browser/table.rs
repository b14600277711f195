//! The pages of the desk.

use crate::{
    desks::Desks,
    quarantine::QUARANTINE,
    support::{program::Beadle, week::SITE},
    tab::Tab,
};

/// The program that a page is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Desk {
    Busy,
    Empty,
    Bare,
    Locked,
    Quarantined,
}

/// A page: its program, the place in the navigation, and its address, with `{id}` for a violation,
/// `{site}` for a site, `{edition}` for one of its editions, `{crawler}` for a crawler and `{name}` for
/// a hostile name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry(Desk, &'static str, &'static str);

/// A page is there if the navigation has its place.
const PAGES: [Entry; 54] = [
    Entry(Desk::Busy, "/", "/"),
    Entry(Desk::Busy, "/", "/?days=1"),
    Entry(Desk::Busy, "/", "/nowhere"),
    Entry(Desk::Busy, "/violations", "/violations"),
    Entry(Desk::Busy, "/violations", "/violations?crawler=GPTBot&action=block"),
    Entry(Desk::Busy, "/violations", "/violations?crawler=NoSuchBot"),
    Entry(Desk::Busy, "/violations", "/violations?since=soon&path=old&crawler=AhrefsBot"),
    Entry(Desk::Busy, "/violations", "/violations?crawler={name}&path={name}"),
    Entry(Desk::Busy, "/violations", "/violations/{id}"),
    Entry(Desk::Busy, "/violations", "/violations/no-such-id"),
    Entry(Desk::Busy, "/crawlers", "/crawlers"),
    Entry(Desk::Busy, "/crawlers", "/crawlers?days=30&purpose=seo"),
    Entry(Desk::Busy, "/crawlers", "/crawlers/{crawler}"),
    Entry(Desk::Busy, "/crawlers", "/crawlers/{name}"),
    Entry(Desk::Busy, "/crawlers", "/impostors"),
    Entry(Desk::Busy, "/crawlers", "/ladder"),
    Entry(Desk::Busy, "/robots", "/robots"),
    Entry(Desk::Busy, "/robots", "/robots/{site}"),
    Entry(Desk::Busy, "/robots", "/robots/{site}/{edition}"),
    Entry(Desk::Busy, "/robots", "/robots/{site}/quarantine"),
    Entry(Desk::Busy, "/robots", "/robots/{site}/matrix?path=/private/"),
    Entry(Desk::Busy, "/robots", "/robots/{site}/matrix?path={name}&crawler={name}&purpose={name}"),
    Entry(Desk::Busy, "/robots", "/robots/{name}"),
    Entry(Desk::Busy, "/policy", "/policy"),
    Entry(Desk::Busy, "/policy", "/policy/history"),
    Entry(Desk::Busy, "/policy", "/change?site={site}&crawler=CCBot&act=block&for=7d"),
    Entry(Desk::Busy, "/policy", "/change?site={name}&crawler={name}&act={name}&until={name}"),
    Entry(Desk::Busy, "/policy", "/policy/edit?site={site}&section=enforcement"),
    Entry(Desk::Busy, "/policy", "/policy/edit?site={name}&section={name}"),
    Entry(Desk::Busy, "/try", "/try"),
    Entry(Desk::Busy, "/try", "/try?user_agent=GPTBot%2F1.2&url=%2Farticles%2F&site={site}"),
    Entry(Desk::Busy, "/try", "/try?user_agent={name}&url=https%3A%2F%2F{site}%2Fprivate%2F"),
    Entry(Desk::Busy, "/try", "/try?user_agent={name}&url={name}&address={name}&site={name}"),
    Entry(Desk::Busy, "/live", "/live"),
    Entry(Desk::Busy, "/live", "/live?crawler={name}"),
    Entry(Desk::Empty, "/", "/"),
    Entry(Desk::Empty, "/violations", "/violations"),
    Entry(Desk::Empty, "/crawlers", "/crawlers"),
    Entry(Desk::Empty, "/crawlers", "/crawlers/{crawler}"),
    Entry(Desk::Empty, "/robots", "/robots"),
    Entry(Desk::Empty, "/live", "/live"),
    Entry(Desk::Bare, "/", "/"),
    Entry(Desk::Bare, "/violations", "/violations"),
    Entry(Desk::Bare, "/crawlers", "/crawlers"),
    Entry(Desk::Bare, "/robots", "/robots"),
    Entry(Desk::Bare, "/policy", "/policy"),
    Entry(Desk::Bare, "/try", "/try"),
    Entry(Desk::Bare, "/live", "/live"),
    Entry(Desk::Locked, "/", "/login"),
    Entry(Desk::Locked, "/", "/login?next={name}"),
    Entry(Desk::Quarantined, "/", "/"),
    Entry(Desk::Quarantined, "/robots", "/robots"),
    Entry(Desk::Quarantined, "/robots", "/robots/site.example"),
    Entry(Desk::Quarantined, "/robots", QUARANTINE),
];

/// A page that is there.
pub(crate) struct Page {
    pub(crate) desk: Desk,
    pub(crate) path: String,
}

impl Desks {
    /// The program of a page.
    pub(crate) fn of(&self, desk: Desk) -> &Beadle {
        match desk {
            Desk::Busy => &self.busy,
            Desk::Empty => &self.empty,
            Desk::Bare => &self.bare,
            Desk::Locked => &self.locked,
            Desk::Quarantined => &self.quarantined.beadle,
        }
    }
}

/// The places of the navigation on the page that is shown.
pub(crate) fn places(tab: &mut Tab) -> Vec<String> {
    tab.texts("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))")
}

/// The pages that are there. Every place of the navigation has one.
pub(crate) fn pages(desks: &Desks, tab: &mut Tab) -> Vec<Page> {
    tab.turn_to(&desks.busy);
    tab.go("/");
    let places = places(tab);
    for place in &places {
        assert!(PAGES.iter().any(|page| page.1 == place), "{place} is not in the table of pages");
    }
    tab.go("/violations?crawler=GPTBot");
    let id = tab.text("document.querySelector('tbody a').pathname.split('/').pop()");
    let mut edition = String::new();
    if places.iter().any(|place| place == "/robots") {
        tab.go(&format!("/robots/{SITE}"));
        let links = format!("[...document.querySelectorAll(`main a[href^='/robots/{SITE}/']`)]");
        let is_id = "/^[0-9a-f]{16}$/.test(id)";
        let ids = format!("{links}.map(link => link.pathname.split('/')[3]).filter(id => {is_id})");
        edition = tab.texts(&ids).swap_remove(0);
    }
    let there = PAGES.iter().filter(|page| places.iter().any(|place| place == page.1));
    let name = "%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let path = |text: &str| {
        let text = text.replace("{id}", &id).replace("{site}", SITE);
        text.replace("{crawler}", "GPTBot").replace("{name}", name).replace("{edition}", &edition)
    };
    there.map(|page| Page { desk: page.0, path: path(page.2) }).collect()
}
