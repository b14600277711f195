//! `beadle audit`: what pages and their site tell a crawler.

use std::{collections::BTreeMap, io::Write};

use crate::{
    base::{
        escape,
        fetch::page::{is_url, root},
        product_token::ProductToken,
    },
    program::{
        cli::report::screen,
        console::{
            exit::{Error, Exit},
            output::json,
            web,
        },
    },
    review::{
        audit::{Audit, Page, Site, document},
        report,
    },
    rules::policy::built_in_catalogue,
};

/// The largest page, in octets.
const MAX_PAGE: usize = 4 << 20;

/// Show what pages and their site tell a crawler
///
/// Fetches the pages, robots.txt, ai.txt and tdmrep.json of their site. Shows what robots.txt,
/// Robots-Tag, X-Robots-Tag and meta elements say together, where they contradict each other, and the
/// signals about AI (Content-Signal, Content-Usage, RSL, TDMRep, ai.txt):
///
///   beadle audit https://www.example.com/
///   beadle audit --product-token GPTBot https://www.example.com/ https://www.example.com/drafts/
///   beadle audit --format html https://www.example.com/ > audit.html
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
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per page.
    Json,
    /// One HTML file.
    Html,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let token = ProductToken::new(&args.product_token).ok_or_else(|| {
        let name = escape::shown(&args.product_token);
        Error::Refused(format!("'{name}' is not a product token (write for example Googlebot)"))
    })?;
    if let Some(url) = args.urls.iter().find(|url| !is_url(url)) {
        let url = escape::shown(url);
        return Err(Error::Refused(format!("'{url}' is no URL (write https://www.example.com/)")));
    }
    let user_agent = format!("Mozilla/5.0 (compatible; {token}; {})", crate::base::fetch::PRODUCT);
    let catalogue = built_in_catalogue();
    let mut sites: BTreeMap<String, Site> = BTreeMap::new();
    let mut audits = Vec::with_capacity(args.urls.len());
    let pages = web::get(&args.urls, Some(&user_agent), MAX_PAGE)?;
    for (url, page) in args.urls.iter().zip(pages) {
        let page = page.map_err(Error::Refused)?;
        let root = root(url).to_owned();
        if !sites.contains_key(&root) {
            let urls = Site::PATHS.map(|path| format!("{root}{path}"));
            let answers = web::get(&urls, Some(&user_agent), MAX_PAGE)?;
            sites.insert(root.clone(), Site::of(answers.into_iter().map(Result::ok)));
        }
        let site = sites.get(&root).cloned().unwrap_or_default();
        audits.push(Audit::of(&catalogue, &token, &site, &Page::of(url, page)));
    }
    match args.format {
        Format::Json => audits.iter().try_for_each(|audit| json(out, audit))?,
        Format::Html => write!(out, "{}", report::html(&document(&audits)))?,
        Format::Text => write!(out, "{}", report::text(&document(&audits), screen(None)))?,
    }
    let has_conflict = audits.iter().any(|audit| !audit.conflicts.is_empty());
    Ok(if has_conflict { Exit::Findings } else { Exit::Fine })
}
