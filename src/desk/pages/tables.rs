//! Pages of tables alone: the crawlers that impostors claim to be, and who stands on which rung.

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;

use super::{
    conditions::Asked,
    frame::{Answer, Frame, ask, live},
    link::{self, Link},
    sheet::Part,
    span::{Days, OfDays},
    time::second,
};
use crate::{
    base::escape::shown,
    clients::conduct::{LadderKey, RungStep},
    desk::admin::{View, html},
    records::tally::Claimant,
    review::report::{Cell, Impostors, Section, Table},
};

const MOST_ROWS: usize = 200;

#[derive(Template)]
#[template(path = "tables.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    title: &'static str,
    lead: &'static str,
    faults: Vec<String>,
    spans: Vec<Link>,
    tables: Vec<Part>,
}

pub(super) async fn impostors(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<OfDays>,
) -> Answer {
    let days = Days::wanted(&wanted.days, &mut faults);
    let span = days.until((view.now)());
    let all = ask(&view, move |store| Impostors::all(store, span, None)).await?;
    let lead = match view.live.get().map(|live| live.handles.published.load().verifier.is_some()) {
        Some(false) => "Claims are not checked now: the policy has no section 'evidence'.",
        _ => "Evidence contradicts the claims of these clients: they are other programs.",
    };
    let since = second(span.from);
    let links = all.iter().map(|one| link::impostors(&one.product_token, "", &since));
    let page = Page {
        frame: Frame::new(&view, "/crawlers"),
        title: "Crawlers that impostors claim to be",
        lead,
        faults,
        spans: days.links(|days| link::with_query("/impostors", &[("days", days)])),
        tables: vec![Part {
            section: Section { heading: String::new(), ..Impostors::section(&all) },
            links: links.collect(),
        }],
    };
    Ok(html(&page))
}

pub(super) async fn ladder(State(view): State<View>) -> Answer {
    let published = live(&view)?.handles.published.load_full();
    let sites = (0..published.rulebook.sites().len()).filter_map(|number| published.site(number));
    let with_ladder = sites.filter(|(site, _)| site.enforcement.ladder.is_some());
    let tables: Vec<_> = with_ladder
        .map(|(site, served)| {
            let all = served.conduct.above_observe(site);
            let columns = ["crawler", "standing", "rung", "since", "comes down"];
            let table = Table::new(columns, MOST_ROWS, all.iter().map(on_rung));
            let remark = match all.is_empty() {
                true => "All crawlers are on the lowest rung.",
                false => "A crawler comes down then if it obeys the rules from now on.",
            };
            let names = all.iter().map(|(step, _)| &step.key.product_token);
            let links = names.map(|name| link::crawler(name, &[])).collect();
            Part { section: Section::new(&site.name, table).remark(remark), links }
        })
        .collect();
    let page = Page {
        frame: Frame::new(&view, "/crawlers"),
        title: "Who stands on the ladder",
        lead: match tables.is_empty() {
            true => "No site has mode: ladder, so no crawler climbs.",
            false => {
                "Violations moved these crawlers up, at sites with mode: ladder. Each return doubles \
                 the time on a rung."
            }
        },
        faults: Vec::new(),
        spans: Vec::new(),
        tables,
    };
    Ok(html(&page))
}

fn on_rung((step, comes_down): &(RungStep, Timestamp)) -> [Cell; 5] {
    let LadderKey { product_token, outcome, network, .. } = &step.key;
    let standing = outcome.as_str();
    let name = Claimant::of(standing).name(&shown(product_token));
    let name = match network {
        Some(from) => format!("{name} and others from {from}"),
        None => name,
    };
    let rung = step.rung.as_str().to_owned();
    [name, standing.to_owned(), rung, second(step.at), second(*comes_down)].map(Cell::from)
}
