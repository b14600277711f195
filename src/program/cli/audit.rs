//! `beadle audit`: what pages and their site tell a crawler.

use std::{collections::BTreeMap, io::Write};

use clap_complete::ArgValueCompleter;

use crate::{
    base::{
        escape,
        fetch::page::{is_url, root},
        product_token::ProductToken,
    },
    program::{
        cli::{crawlers::purpose_of, report::screen},
        console::{Error, Exit, completions, input, json, refuse},
    },
    review::{
        audit::{self, Audit, Page, Row, Site, document, matrix_document},
        report,
    },
    rules::{crawlers::Catalogue, policy::built_in_catalogue},
};

/// The largest page, in octets.
const MAX_PAGE: usize = 4 << 20;

/// Show what pages and their site tell a crawler
///
/// Fetches the pages, robots.txt, ai.txt and tdmrep.json of their site. Shows what robots.txt,
/// Robots-Tag, X-Robots-Tag and meta elements say together, where they contradict each other, and the
/// signals about AI (Content-Signal, Content-Usage, RSL, TDMRep, ai.txt). With --matrix, shows which
/// crawlers may fetch the pages and the first page, train with them and show them in search, and which
/// carrier says so:
///
///   beadle audit https://www.example.com/
///   beadle audit --product-token GPTBot https://www.example.com/ https://www.example.com/drafts/
///   beadle audit --format html https://www.example.com/ > audit.html
///   beadle audit --matrix https://www.example.com/press/
///   beadle audit --matrix --user-agent GPTBot --purpose ai-search https://www.example.com/
///
/// Exits with 0 without a contradiction, with 1 if there is one, and with 2 if a page can't be fetched.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The pages.
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,
    /// The crawler, by its product token. The requests carry its name, and that of Beadle.
    #[arg(long, short = 't', value_name = "TOKEN", default_value = "Googlebot")]
    product_token: String,
    /// Show what many crawlers may do. The requests carry the name of Beadle alone.
    #[arg(long, conflicts_with = "product_token")]
    matrix: bool,
    /// A crawler of the matrix, by its product token (default: 20 well-known ones).
    #[arg(long = "user-agent", value_name = "TOKEN", requires = "matrix")]
    user_agents: Vec<String>,
    /// The crawlers of the matrix by purpose, such as search, ai-training or ai-search.
    #[arg(long = "purpose", value_name = "PURPOSE", requires = "matrix",
        add = ArgValueCompleter::new(completions::purposes))]
    purposes: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per page, or per page and crawler.
    Json,
    /// One HTML file.
    Html,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    if let Some(url) = args.urls.iter().find(|url| !is_url(url)) {
        let url = escape::shown(url);
        return refuse(format!("'{url}' is no URL (write https://www.example.com/)"));
    }
    let catalogue = built_in_catalogue();
    if args.matrix {
        return matrix(args, &catalogue, out);
    }
    let token = token(&args.product_token)?;
    let user_agent = format!("Mozilla/5.0 (compatible; {token}; {})", crate::base::fetch::PRODUCT);
    let answers = fetch(&args.urls, Some(&user_agent))?;
    let audit = |(site, page): &(Site, Page)| Audit::of(&catalogue, &token, site, page);
    let audits: Vec<Audit> = answers.iter().map(audit).collect();
    match args.format {
        Format::Json => audits.iter().try_for_each(|audit| json(out, audit))?,
        Format::Html => write!(out, "{}", report::html(&document(&audits)))?,
        Format::Text => write!(out, "{}", report::text(&document(&audits), screen(None)))?,
    }
    Ok(exit(audits.iter().any(|audit| !audit.conflicts.is_empty())))
}

/// The answers for many crawlers about the first page of each site and the pages.
fn matrix(args: &Args, catalogue: &Catalogue, out: &mut dyn Write) -> Result<Exit, Error> {
    let tokens = crawlers(args, catalogue)?;
    let mut urls: Vec<String> = Vec::new();
    for url in &args.urls {
        let first = format!("{}/", root(url));
        for url in [first, url.clone()] {
            if !urls.contains(&url) && url != root(&url) {
                urls.push(url);
            }
        }
    }
    let answers = fetch(&urls, None)?;
    let pages: Vec<(u16, Vec<Row>)> = answers
        .iter()
        .map(|(site, page)| {
            let row = |token: &ProductToken| Row::of(catalogue, token, site, page);
            (page.status, tokens.iter().map(row).collect())
        })
        .collect();
    let mut rows = pages.iter().flat_map(|(_, rows)| rows);
    match args.format {
        Format::Json => rows.clone().try_for_each(|row| json(out, row))?,
        Format::Html => write!(out, "{}", report::html(&matrix_document(&pages)))?,
        Format::Text => write!(out, "{}", report::text(&matrix_document(&pages), screen(None)))?,
    }
    Ok(exit(rows.any(|row| !row.conflicts.is_empty())))
}

fn crawlers(args: &Args, catalogue: &Catalogue) -> Result<Vec<ProductToken>, Error> {
    let named = args.user_agents.iter().map(|name| token(name)).collect::<Result<_, _>>()?;
    let purposes = args.purposes.iter().map(|name| purpose_of(name));
    Ok(audit::crawlers(catalogue, named, &purposes.collect::<Result<Vec<_>, _>>()?))
}

fn token(name: &str) -> Result<ProductToken, Error> {
    ProductToken::new(name).ok_or_else(|| {
        let name = escape::shown(name);
        Error::Refused(format!("'{name}' is not a product token (write for example Googlebot)"))
    })
}

/// The pages, each with the files of its site.
fn fetch(urls: &[String], user_agent: Option<&str>) -> Result<Vec<(Site, Page)>, Error> {
    let mut sites: BTreeMap<&str, Site> = BTreeMap::new();
    let pages = input::pages(urls, user_agent, MAX_PAGE)?;
    let mut answers = Vec::with_capacity(urls.len());
    for (url, page) in urls.iter().zip(pages) {
        let page = page.map_err(Error::Refused)?;
        let root = root(url);
        if !sites.contains_key(root) {
            let urls = Site::PATHS.map(|path| format!("{root}{path}"));
            let answers = input::pages(&urls, user_agent, MAX_PAGE)?;
            sites.insert(root, Site::of(answers.into_iter().map(Result::ok)));
        }
        let site = sites.get(root).cloned().unwrap_or_default();
        answers.push((site, Page::of(url, page)));
    }
    Ok(answers)
}

const fn exit(has_conflict: bool) -> Exit {
    if has_conflict { Exit::Findings } else { Exit::Fine }
}
