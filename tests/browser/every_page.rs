//! What holds on every page: nothing goes wrong, everybody can read it, and it fits.

use std::sync::Arc;

use crate::{
    desks::Desks,
    foreign_text,
    support::{conditions::is_full_size, origin::Origin, program::Setup, wait_for},
    tab::{Axe, Key, PAPER, PHONE, Tab, WIDE},
    table::{Page, pages},
};

/// Elements that stick out of the window, other than within something that scrolls, and tables that
/// no sheet holds.
const MISFITS: &str = "(width => {
    const scrolls = it => it && it !== document.body && (
        ['auto', 'scroll'].includes(getComputedStyle(it).overflowX) || scrolls(it.parentElement));
    const named = it => `<${it.tagName.toLowerCase()} class='${it.getAttribute('class') ?? ''}'> `
        + `${Math.round(it.getBoundingClientRect().right)}: ${it.textContent.trim().slice(0, 60)}`;
    const all = [...document.querySelectorAll('body *:not(.skip)')];
    const out = all.filter(it => it.getBoundingClientRect().right > width + 1
        && !scrolls(it.parentElement)).map(it => `sticks out: ${named(it)}`);
    const page = document.documentElement.scrollWidth;
    if (page > width) out.push(`the page is ${page} wide`);
    for (const table of document.querySelectorAll('table'))
        if (!table.closest('.sheet')) out.push(`no sheet: ${named(table)}`);
    return out;
})";

/// What paper would cut off: it has no scrolling.
const CUT: &str = "[...document.querySelectorAll('main, main *')]
    .filter(it => it.getClientRects().length > 0 && !it.closest('svg, input, select, textarea'))
    .filter(it => getComputedStyle(it).overflowX !== 'visible' && it.scrollWidth > it.clientWidth + 1)
    .map(it => `<${it.tagName} class='${it.className}'> ${it.scrollWidth} > ${it.clientWidth}: `
        + it.textContent.trim().slice(0, 60))";

/// Of the element with the focus: its name, and a fault where the focus is not seen.
const FOCUS: &str = "(it => {
    const style = getComputedStyle(it), box = it.getBoundingClientRect();
    const is_ringed = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    const is_there = box.width > 0 && box.bottom > 0 && box.right > 0
        && box.top < innerHeight && box.left < innerWidth;
    const name = `${it.tagName} ${it.textContent.trim().slice(0, 40)}`;
    return [it === document.body ? '' : name, is_ringed && is_there ? '' : `${name}: not seen`];
})(document.activeElement)";

/// Looks for faults on a page, and leaves the tab as it was: wide, light, of a screen.
type Check = fn(&mut Tab, &Page, &Axe) -> Vec<String>;

/// What holds on every page, in this order: the first ones look at the page as it came.
const CHECKS: [(&str, Check); 6] = [
    ("nothing goes wrong and nothing comes from outside", faults),
    ("what clients send does nothing", |tab, _, _| tab.texts(foreign_text::ACTIVE)),
    ("the focus is seen wherever it is", unseen_focus),
    ("the page fits a phone and has a dark side", misfits),
    ("axe finds no fault, in light and dark, on a screen and a phone", axe),
    ("paper shows everything", cut_by_paper),
];

#[test]
fn everybody_can_read_every_page_and_nothing_goes_wrong_on_it() {
    let Some(axe) = Axe::read() else { return };
    let Some((desks, mut tab)) = start() else { return };
    let pages = pages(&desks, &mut tab);
    let visit = |tab: &mut Tab, pages: &[Page]| {
        let mut found = Vec::new();
        for page in pages {
            tab.turn_to(desks.of(page.desk));
            tab.go(&page.path);
            for (what, check) in CHECKS {
                let faults = check(tab, page, &axe).into_iter();
                found.extend(
                    faults.map(|it| format!("{:?} {}: {what}: {it}", page.desk, page.path)),
                );
            }
        }
        found
    };
    let (some, others) = pages.split_at(pages.len() / 2);
    let found = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut tab = Tab::open(&desks.busy).expect("there is a browser");
            visit(&mut tab, others)
        });
        let mut found = visit(&mut tab, some);
        found.extend(other.join().expect("it says what it found"));
        found
    });
    assert!(found.is_empty(), "{} faults\n{}\n", found.len(), found.join("\n"));
    // The watch is awake: what a page must not do is noticed, and the policy stops it.
    tab.go("/");
    tab.value(
        "{ const script = document.createElement('script'); script.textContent = 'open = 1';
           document.body.append(script); fetch('https://evil.example/').catch(() => {}); 0 }",
    );
    tab.wait_until("open !== 1");
    let faults = tab.faults().join("\n");
    assert!(faults.contains("policy: script-src") && faults.contains("evil.example"), "{faults}");
}

fn faults(tab: &mut Tab, _: &Page, _: &Axe) -> Vec<String> {
    tab.look(PHONE, true);
    tab.look(WIDE, false);
    // Neither does a person's hand set anything off.
    tab.value("document.querySelectorAll('main *').forEach(it => it.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })))");
    tab.faults()
}

/// Rows are many and alike, so the first elements stand for all.
fn unseen_focus(tab: &mut Tab, page: &Page, _: &Axe) -> Vec<String> {
    let mut found = Vec::new();
    for stop in 0..if is_full_size() { 40 } else { 16 } {
        tab.press(Key::Tab);
        let [name, fault] = &tab.texts(FOCUS)[..] else { panic!("two texts") };
        let is_first = stop == 0 && !page.path.starts_with("/login");
        if is_first && name != "A To the content" {
            found.push(format!("the first stop is {name}"));
        }
        if name.is_empty() {
            break;
        }
        found.extend((!fault.is_empty()).then(|| fault.clone()));
    }
    found
}

fn misfits(tab: &mut Tab, _: &Page, _: &Axe) -> Vec<String> {
    let colour = "getComputedStyle(document.body).backgroundColor";
    let light = tab.text(colour);
    let mut found = tab.texts(&format!("{MISFITS}({WIDE})"));
    tab.look(PHONE, true);
    found.extend(tab.texts(&format!("{MISFITS}({PHONE})")));
    if tab.text(colour) == light {
        found.push("dark is as light".to_owned());
    }
    tab.look(WIDE, false);
    found
}

fn axe(tab: &mut Tab, _: &Page, axe: &Axe) -> Vec<String> {
    let modes = [(WIDE, false), (PHONE, true), (WIDE, true), (PHONE, false)];
    let mut found = Vec::new();
    for (width, is_dark) in modes.into_iter().take(if is_full_size() { 4 } else { 2 }) {
        tab.look(width, is_dark);
        let mode = format!("{width} {}", if is_dark { "dark" } else { "light" });
        found.extend(tab.axe(axe, is_dark).into_iter().map(|fault| format!("{mode}: {fault}")));
    }
    tab.look(WIDE, false);
    found
}

fn cut_by_paper(tab: &mut Tab, _: &Page, _: &Axe) -> Vec<String> {
    tab.look(PAPER, false);
    tab.media("print", false);
    let mut found = tab.texts(&format!("{MISFITS}({PAPER})"));
    found.extend(tab.texts(CUT).into_iter().map(|cut| format!("cut: {cut}")));
    let printed = tab.printed();
    if !printed.starts_with(b"%PDF") {
        found.push(format!("no PDF, {} bytes", printed.len()));
    }
    tab.look(WIDE, false);
    found
}

#[test]
fn a_chart_shows_the_first_requests_and_that_nothing_was_counted_before() {
    let origin = Origin::plain();
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let desk = Setup::site(origin.port, rules).start();
    let Some(mut tab) = Tab::open(&desk) else { return };
    for _ in 0..20 {
        desk.get("/private/", "GPTBot/1.2");
    }
    let widths = |class: &str| {
        format!(
            "[...document.querySelectorAll('svg.wide rect.{class}')]
                .map(it => it.getBoundingClientRect()).filter(box => box.height > 20)
                .map(box => box.width)"
        )
    };
    for page in ["/", "/crawlers/GPTBot"] {
        for (days, fewest) in [(1, 24), (7, 8), (30, 31), (90, 30)] {
            // The counts are in the database a second later.
            let bars = wait_for("a bar", || {
                tab.go(&format!("{page}?days={days}"));
                let bars = tab.value(&widths("log"));
                bars.get(0).is_some().then_some(bars)
            });
            let width =
                tab.value("document.querySelector('svg.wide').getBoundingClientRect().width");
            let width = width.as_f64().expect("a number");
            // Midnight or a new hour may part the requests.
            for bar in bars.as_array().expect("a list") {
                let bar = bar.as_f64().expect("a number");
                assert!(bar > 4.0 && bar < width / 6.0, "{page} {days}: {bar} of {width}");
            }
            let rows =
                "[...document.querySelectorAll('details tbody tr')].map(it => it.textContent)";
            let rows = tab.texts(rows);
            assert!(rows.len() >= fewest, "{page} {days}: {rows:?}");
            let is_uncounted = |row: &String| row.ends_with("not counted");
            let uncounted = rows.iter().take_while(|row| is_uncounted(row)).count();
            assert_eq!(uncounted, rows.iter().filter(|row| is_uncounted(row)).count(), "{rows:?}");
            // The scorecard knows the first day, and not its hour.
            if page == "/" || days > 1 {
                assert!(uncounted + 2 >= rows.len(), "{page} {days}: {rows:?}");
            }
            if uncounted > 0 {
                let areas = tab.value(&widths("uncounted"));
                let area = areas[0].as_f64().unwrap_or_default();
                let least = width * 0.7 * uncounted as f64 / rows.len() as f64;
                assert!(area > least, "{page} {days}: {area} of {width}");
                let style = "getComputedStyle(document.querySelector('svg.wide .uncounted')).fill";
                assert!(tab.text(style).contains("#uncounted"), "{}", tab.text(style));
            }
        }
    }
}

/// The desks and a browser; `None` if there is no browser.
fn start() -> Option<(Arc<Desks>, Tab)> {
    let desks = Desks::start();
    let tab = Tab::open(&desks.busy)?;
    Some((desks, tab))
}
