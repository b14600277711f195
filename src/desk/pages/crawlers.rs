//! All crawlers and other programs of a span, sorted and filtered by the address of the page; the crawlers
//! that impostors claim to be, and who stands on which rung.

use std::cmp::Reverse;

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    chart::trend,
    conditions::{Asked, Days, OfDays, condition},
    frame::{Answer, Frame, ask, live},
    link::{self, Link},
    sheet::Part,
    words::{exact, known_site, second},
};
use crate::{
    base::escape::shown,
    clients::conduct::{LadderKey, RungStep},
    desk::admin::{View, html},
    records::tally::Claimant,
    review::report::{
        Cell, Impostors, Section, Table, Tally,
        number::{grouped, share},
        review::{Answers, CrawlerRow, Review},
    },
    rules::crawlers::Purpose,
};

const ROWS: usize = 200;
/// The filter for programs that the catalogue does not know.
const UNKNOWN: &str = "unknown";

/// The page as its address has it. An empty text is no condition.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Wanted {
    days: String,
    site: String,
    purpose: String,
    sort: String,
}

#[derive(Template)]
#[template(path = "crawlers.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    lead: Vec<String>,
    faults: Vec<String>,
    spans: Vec<Link>,
    wanted: Wanted,
    sites: Vec<Choice>,
    purposes: Vec<Choice>,
    rows: Vec<Row>,
    more: String,
}

pub(super) struct Choice {
    pub(super) value: String,
    pub(super) name: String,
    pub(super) is_here: bool,
}

pub(super) struct Row {
    pub(super) link: String,
    pub(super) name: String,
    about: String,
    /// In the order of [`ORDERS`], behind the name.
    pub(super) numbers: Vec<String>,
    pub(super) trend: String,
}

/// A column, and the order of the rows by it: its name in the address, and the heading.
struct Order {
    key: &'static str,
    heading: &'static str,
    of: Of,
}

/// What a column has. Rows are sorted by name, or by what numbers come first.
enum Of {
    Name,
    Number(fn(&Tally) -> u64),
    /// A part of the requests.
    Share(fn(&Tally) -> u64),
    Change,
}

const ORDERS: [Order; 13] = [
    Order { key: "name", heading: "crawler", of: Of::Name },
    Order { key: "requests", heading: "requests", of: Of::Number(|now| now.all.requests) },
    Order { key: "limited", heading: "limited", of: Of::Number(|now| now.limited) },
    Order { key: "", heading: "violations", of: Of::Number(|now| now.all.violations) },
    Order { key: "share", heading: "share", of: Of::Share(|now| now.all.violations) },
    Order { key: "change", heading: "change", of: Of::Change },
    Order { key: "never", heading: "never", of: Of::Number(|now| now.never) },
    Order { key: "older", heading: "older", of: Of::Number(|now| now.older) },
    Order { key: "this", heading: "this", of: Of::Number(|now| now.current) },
    Order { key: "fetches", heading: "fetches", of: Of::Number(|now| now.fetches) },
    Order { key: "confirmed", heading: "confirmed", of: Of::Share(|now| now.confirmed) },
    Order { key: "false", heading: "false", of: Of::Share(|now| now.contradicted) },
    Order { key: "open", heading: "open", of: Of::Share(Tally::open) },
];

impl Of {
    fn number(&self, row: &CrawlerRow<'_>) -> u64 {
        match self {
            Self::Name => 0,
            Self::Number(of) => of(&row.now),
            Self::Share(of) => in_millionths(of(&row.now), row.now.all.requests),
            Self::Change => row.now.all.violations.abs_diff(row.before.all.violations),
        }
    }

    fn text(&self, review: &Review<'_>, row: &CrawlerRow<'_>) -> String {
        let (now, before) = (&row.now, &row.before);
        match self {
            Self::Name => row.name(),
            Self::Number(of) => grouped(of(now)),
            Self::Share(of) => share(of(now), now.all.requests),
            Self::Change => review.change(now.all.violations, Some(before.all.violations)),
        }
    }
}

pub(super) async fn page(
    State(view): State<View>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let live = live(&view)?;
    let days = Days::wanted(&wanted.days, &mut faults);
    let span = days.until((view.now)());
    let site = condition(&wanted.site);
    let published = live.handles.published.load_full();
    let rulebook = std::sync::Arc::clone(&published.rulebook);
    let asked = ask(&view, move |store| {
        let (site, faults) = known_site(store, &rulebook, site)?;
        Ok((Answers::of(store, span, site)?, faults))
    });
    let (answers, unknown) = asked.await?;
    let sites = published.rulebook.sites().iter().map(|site| site.name.as_str());
    let review = Review::of(&answers, published.rulebook.catalogue());
    let here: Vec<_> = review.crawlers.iter().filter(|row| row.now.all.requests > 0).collect();
    let order = ORDERS.iter().find(|order| order.key == wanted.sort).unwrap_or(&ORDERS[3]);
    faults.extend(unknown);
    faults.extend(wanted.unknown_order());
    let wanted = Wanted { days: days.condition(), sort: order.key.to_owned(), ..wanted };
    let mut rows: Vec<_> = here.iter().filter(|row| wanted.takes(row)).collect();
    match order.of {
        Of::Name => {
            rows.sort_by_cached_key(|row| (row.product_token.to_ascii_lowercase(), row.claimant))
        }
        _ => rows.sort_by_cached_key(|row| Reverse(order.of.number(row))),
    }
    faults.extend(wanted.unknown_purpose());
    Ok(html(&Page {
        frame: Frame::new(&view, "/crawlers"),
        lead: review.lead(),
        faults,
        spans: days.links(|days| Wanted { days: days.to_owned(), ..wanted.clone() }.link()),
        sites: choices(sites, &wanted.site, "all sites"),
        purposes: choices(purposes(&here).into_iter(), &wanted.purpose, "all purposes"),
        rows: rows
            .iter()
            .take(ROWS)
            .map(|one| row(&review, one, &wanted.days, &wanted.site))
            .collect(),
        more: grouped(rows.len().saturating_sub(ROWS) as u64),
        wanted,
    }))
}

impl Wanted {
    fn link(&self) -> String {
        link::with("/crawlers", self)
    }

    fn is_filtered(&self) -> bool {
        !(self.site.is_empty() && self.purpose.is_empty())
    }

    fn unfiltered(&self) -> String {
        Self { site: String::new(), purpose: String::new(), ..self.clone() }.link()
    }

    fn sorted_by(&self, key: &str) -> String {
        Self { sort: key.to_owned(), ..self.clone() }.link()
    }

    fn unknown_purpose(&self) -> Option<String> {
        let purpose = condition(&self.purpose)?.to_ascii_lowercase();
        let is_known = purpose == UNKNOWN || Purpose::from_word(&purpose).is_some();
        (!is_known).then(|| format!("No crawlers have the purpose '{}'.", shown(&purpose)))
    }

    fn unknown_order(&self) -> Option<String> {
        let is_known = ORDERS.iter().any(|order| order.key == self.sort);
        let keys = ORDERS.iter().map(|order| order.key).filter(|key| !key.is_empty());
        (!is_known).then(|| {
            let keys = keys.collect::<Vec<_>>().join(", ");
            format!("'{}' is no column to sort by: choose one of {keys}.", shown(&self.sort))
        })
    }

    fn takes(&self, row: &CrawlerRow<'_>) -> bool {
        self.purpose.is_empty() || purpose(row).eq_ignore_ascii_case(self.purpose.trim())
    }
}

fn in_millionths(part: u64, whole: u64) -> u64 {
    let share = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn purpose(row: &CrawlerRow<'_>) -> &'static str {
    row.entry.map_or(UNKNOWN, |entry| entry.purpose().as_str())
}

/// The purposes of these rows, in the order of the catalogue.
fn purposes(rows: &[&CrawlerRow<'_>]) -> Vec<&'static str> {
    let known = Purpose::ALL.iter().map(|purpose| purpose.as_str()).chain([UNKNOWN]);
    known.filter(|one| rows.iter().any(|row| purpose(row) == *one)).collect()
}

/// The options of a filter: all, those that there are, and the one that is asked for.
pub(super) fn choices<'a>(
    values: impl Iterator<Item = &'a str>,
    here: &str,
    all: &str,
) -> Vec<Choice> {
    let choice = |value: &str| Choice {
        value: value.to_owned(),
        name: value.to_owned(),
        is_here: value.eq_ignore_ascii_case(here),
    };
    let mut choices =
        vec![Choice { value: String::new(), name: all.to_owned(), is_here: here.is_empty() }];
    choices.extend(values.map(choice));
    if !choices.iter().any(|one| one.is_here) {
        choices.push(choice(here));
    }
    choices
}

pub(super) fn row(review: &Review<'_>, row: &CrawlerRow<'_>, days: &str, site: &str) -> Row {
    let about = match row.entry {
        Some(entry) => [entry.operator(), Some(entry.purpose().as_str())],
        None => {
            [row.now.class().map(|class| class.as_str()).filter(|class| *class != "none"), None]
        }
    };
    Row {
        link: match row.claimant {
            Claimant::Crawler => {
                link::crawler(row.product_token.as_str(), &[("days", days), ("site", site)])
            }
            Claimant::Impostor => {
                link::impostors(&row.product_token, site, &exact(review.span.from))
            }
        },
        name: row.name(),
        about: about.into_iter().flatten().collect::<Vec<_>>().join(", "),
        numbers: ORDERS.iter().skip(1).map(|order| order.of.text(review, row)).collect(),
        trend: trend(&row.bars),
    }
}

/// A page of tables alone.
#[derive(Template)]
#[template(path = "tables.html", config = "src/desk/pages/askama.toml")]
struct Tables {
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
    Ok(html(&Tables {
        frame: Frame::new(&view, "/crawlers"),
        title: "Crawlers that impostors claim to be",
        lead,
        faults,
        spans: days.links(|days| link::with_query("/impostors", &[("days", days)])),
        tables: vec![Part {
            section: Section { heading: String::new(), ..Impostors::section(&all) },
            links: links.collect(),
        }],
    }))
}

pub(super) async fn ladder(State(view): State<View>) -> Answer {
    let published = live(&view)?.handles.published.load_full();
    let sites = (0..published.rulebook.sites().len()).filter_map(|number| published.site(number));
    let with_ladder = sites.filter(|(site, _)| site.enforcement.ladder.is_some());
    let tables: Vec<_> = with_ladder
        .map(|(site, served)| {
            let all = served.conduct.above_observe(site);
            let columns = ["crawler", "standing", "rung", "since", "comes down"];
            let table = Table::new(columns, ROWS, all.iter().map(on_rung));
            let remark = match all.is_empty() {
                true => "All crawlers are on the lowest rung.",
                false => "A crawler comes down then if it obeys the rules from now on.",
            };
            let names = all.iter().map(|(step, _)| &step.key.product_token);
            let links = names.map(|name| link::crawler(name, &[])).collect();
            Part { section: Section::new(&site.name, table).remark(remark), links }
        })
        .collect();
    Ok(html(&Tables {
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
    }))
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
