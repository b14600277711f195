//! What crawlers may do with a page of a site: crawl it, train with it, show it in search.

use askama::Template;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

use super::here::SiteInForce;
use crate::{
    base::{escape, product_token::ProductToken},
    desk::{
        admin::{View, html},
        pages::{
            conditions::Asked,
            frame::{Answer, Frame, work},
        },
    },
    formats::robots::Target,
    review::audit::{self, Row, Use},
    rules::crawlers::Purpose,
};

const MOST: usize = 100;
/// The longest path, in octets.
const LONGEST: usize = 2_048;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::desk::pages) struct Wanted {
    path: String,
    crawler: String,
    purpose: String,
}

#[derive(Template)]
#[template(path = "robots_matrix.html", config = "src/desk/pages/askama.toml")]
struct Page {
    frame: Frame,
    faults: Vec<String>,
    name: String,
    site: String,
    wanted: Wanted,
    purposes: Vec<&'static str>,
    rows: Vec<Row>,
    more: usize,
    contradictions: Vec<String>,
}

pub(in crate::desk::pages) async fn page(
    State(view): State<View>,
    Path(name): Path<String>,
    Asked(wanted, faults): Asked<Wanted>,
) -> Answer {
    let site = SiteInForce::find(&view, &name)?;
    let frame = Frame::new(&view, "/robots");
    let page = work(move || fill(frame, &site, wanted, faults)).await?;
    Ok(html(&page))
}

fn fill(frame: Frame, here: &SiteInForce, mut wanted: Wanted, mut faults: Vec<String>) -> Page {
    let site = here.site();
    if !wanted.path.starts_with('/') || wanted.path.len() > LONGEST {
        if !wanted.path.is_empty() {
            faults.push(format!("A path begins with '/' and has {LONGEST} octets at most."));
        }
        "/".clone_into(&mut wanted.path);
    }
    let mut token = |name: &str| {
        let token = ProductToken::new(name);
        if token.is_none() {
            let name = escape::bounded(name.as_bytes(), 100);
            faults.push(format!("'{name}' is no product token: write for example Googlebot."));
        }
        token
    };
    let names = wanted.crawler.split([',', ' ']).filter(|name| !name.is_empty());
    let named: Vec<ProductToken> = names.take(MOST).filter_map(&mut token).collect();
    let purpose = Purpose::from_word(&wanted.purpose);
    if purpose.is_none() && !wanted.purpose.is_empty() {
        let name = escape::bounded(wanted.purpose.as_bytes(), 100);
        faults.push(format!("There is no purpose '{name}'."));
    }
    let catalogue = here.published.rulebook.catalogue();
    let mut tokens = audit::crawlers(catalogue, named, purpose.as_slice());
    let more = tokens.len().saturating_sub(MOST);
    tokens.truncate(MOST);
    let url = format!("https://{}{}", here.name, wanted.path);
    let answer = audit::Page::in_force(site, url, Target::new(wanted.path.as_bytes()).letter());
    let files = audit::Site::from(site);
    let rows: Vec<Row> =
        tokens.iter().map(|token| Row::of(catalogue, token, &files, &answer)).collect();
    Page {
        frame,
        faults,
        name: here.name.clone(),
        site: here.path(),
        wanted,
        purposes: Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect(),
        more,
        contradictions: audit::contradictions(&rows),
        rows,
    }
}

impl Page {
    /// The answers about crawling, training and search: the word, its class, and what decides.
    fn answers(&self, row: &Row) -> [(String, &'static str, String); 3] {
        [Use::Crawl, Use::TrainAi, Use::Search].map(|about| {
            let text = row.shown(about);
            let (word, by) = text.split_once(", ").unwrap_or((&text, ""));
            let class = match word {
                "yes" => "good",
                "no" => "bad",
                _ => "plain",
            };
            (word.to_owned(), class, by.to_owned())
        })
    }
}
