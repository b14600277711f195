//! `beadle init`: a first policy, by a few questions or by options.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use crate::{
    advice::{
        comparison::Replaced,
        starter::{Answers, Dialogue, Preset, Wish, policy_text, suggest},
    },
    base::{escape, fetch::page},
    program::console::{Error, Exit, control_runtime, input, remark, write_file},
    state::publication,
};

/// The largest page that is read for signs of its software.
const MAX_PAGE: usize = 4 << 20;

/// Write a first policy
///
/// Asks on a terminal for the site, its kind, and which crawlers may come. Looks at the site's
/// robots.txt and first page, and at the origin's robots.txt. Writes a policy with comments and
/// tests that records violations and refuses nothing, and shows the next commands:
///
///   beadle init
///   beadle init --url https://www.example.com --origin http://127.0.0.1:3000 --yes
///   beadle init --host www.example.com --preset wordpress --purpose training=disallow --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The running site; its robots.txt stays in force.
    #[arg(long)]
    url: Option<String>,
    /// The host of the site (default: that of the URL, else www.example.com).
    #[arg(long)]
    host: Option<String>,
    /// The server behind Beadle (default: http://127.0.0.1:3000).
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// The kind of site: wordpress, mediawiki, discourse, shop, forge or documentation; none for no
    /// preset. By default, the site's first page tells.
    #[arg(long, value_name = "NAME", value_parser = Preset::read)]
    preset: Option<Kind>,
    /// Which crawlers may come: a topic (search, training, answers, archives, seo) or a purpose of the
    /// catalogue, with allow or disallow. Repeat it for more.
    #[arg(long = "purpose", value_name = "PURPOSE=allow|disallow", value_parser = Wish::read)]
    purposes: Vec<Wishes>,
    /// Ask nothing; use the defaults.
    #[arg(long, short)]
    yes: bool,
    /// The file to write.
    #[arg(long, short, value_name = "FILE", default_value = "beadle.yaml")]
    output: PathBuf,
    /// Replace that file if it exists.
    #[arg(long)]
    force: bool,
}

type Kind = Option<Preset>;

type Wishes = Vec<Wish>;

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    if !args.force && args.output.exists() {
        let file = escape::path(&args.output);
        return Err(Error::Refused(format!(
            "{file} exists (name another file with --output, or replace it with --force)"
        )));
    }
    let (mut lines, mut output) = (io::stdin().lock(), io::stderr());
    let mut dialogue = Dialogue { input: &mut lines, output: &mut output };
    let mut url = args.url.clone();
    if asks && url.is_none() {
        let answer = dialogue.ask("URL of the running site, empty if there is none", "")?;
        url = Some(answer).filter(|url| !url.is_empty());
    }
    let seen = url.as_deref().map(look).transpose()?;
    let (has_robots_txt, seen) = seen.unwrap_or_default();
    let named = url.as_deref().and_then(page::host);
    let usual = args.host.clone().or(named).unwrap_or_else(|| "www.example.com".to_owned());
    let (host, origin) = match asks {
        true => (
            dialogue.ask("Host of the site", &usual)?,
            dialogue.ask("Server behind Beadle", args.origin.as_deref().unwrap_or(ORIGIN))?,
        ),
        false => (usual, args.origin.clone().unwrap_or_else(|| ORIGIN.to_owned())),
    };
    let preset = match (args.preset, asks) {
        (Some(preset), _) => preset,
        (None, true) => dialogue.preset(seen)?,
        (None, false) => seen,
    };
    let mut wishes: Vec<Wish> = args.purposes.concat();
    if asks && wishes.is_empty() {
        wishes = dialogue.wishes()?;
    }
    let is_named = asks || args.origin.is_some();
    let mut answers = Answers { host, origin, preset, wishes, has_robots_txt };
    let mut text = policy_text(&answers);
    let (policy, findings) = crate::rules::policy::read("the answers", text.as_bytes());
    let Some(policy) = policy else { return Err(Error::Findings(findings)) };
    // The rules of the origin that a policy replaces. A server that does not answer has no rules yet.
    let mut replaced: Option<Replaced> = None;
    if is_named {
        let answers = control_runtime()?.block_on(publication::replaced(&policy, PATIENCE));
        let answers = answers.map_err(|error| Error::Output(io::Error::other(error)))?;
        replaced = answers.into_values().flatten().find(|replaced| !replaced.is_empty());
    }
    if replaced.is_some() {
        answers.has_robots_txt = true;
        text = policy_text(&answers);
    }
    write_file(&args.output, text.as_bytes(), args.force)?;
    let file = escape::path(&args.output);
    if has_robots_txt {
        writeln!(out, "The site's robots.txt stays; the policy adds to it (source: merge).")?;
    }
    if let Some(replaced) = replaced {
        writeln!(out, "The origin's robots.txt stays; the policy adds to it (source: merge).")?;
        writeln!(out, "Without 'source: merge', {}:", replaced.summary())?;
        replaced.lines().iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    writeln!(out, "{file}: written. Next:")?;
    writeln!(out, "  beadle test {file}")?;
    writeln!(out, "  beadle serve --config {file}")?;
    writeln!(out, "As a service, Beadle may write only to /var/lib/beadle: name the database")?;
    writeln!(out, "/var/lib/beadle/violations.db in the policy.")?;
    Ok(Exit::Fine)
}

const ORIGIN: &str = "http://127.0.0.1:3000";

/// The most time for the robots.txt of the origin.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether a site has a robots.txt, and the preset for its first page. A site that does not answer has
/// neither.
fn look(url: &str) -> Result<(bool, Option<Preset>), Error> {
    if !page::is_url(url) {
        let url = escape::shown(url);
        return Err(Error::Refused(format!("'{url}' is no URL (write https://www.example.com)")));
    }
    let root = page::root(url);
    let urls = [format!("{root}/robots.txt"), format!("{root}/")];
    let mut pages = input::pages(&urls, None, MAX_PAGE)?.into_iter();
    let (robots_txt, first) = (pages.next(), pages.next());
    if let Some(Err(failure)) = &robots_txt {
        remark(&format!("{failure} (the policy is made without a look at the site)"));
    }
    let has_robots_txt = robots_txt.and_then(Result::ok).and_then(page::Page::into_file).is_some();
    let preset = first.and_then(Result::ok).and_then(|page| {
        let fields = page.fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        suggest(fields, &page.body)
    });
    Ok((has_robots_txt, preset))
}
