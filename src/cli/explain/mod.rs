//! `beadle explain`: why a request would be treated so.

use std::{
    io::Write,
    net::IpAddr,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    cli::{
        config::ConfigFile,
        exit::{Error, Exit},
        output::{Format, json},
    },
    crawlers::Catalogue,
    enforce::Site,
    escape,
    policy::built_in_catalogue,
    robots::{self, Matcher, ReadOptions, Scope, Target},
};

mod decided; // what a policy does with a request

/// Explain the verdict and the action for a request
///
/// With --config and --user-agent, shows the complete decision of a policy. With --robots-txt and
/// --product-token, shows the verdict of any robots.txt for a crawler:
///
///   beadle explain --config beadle.yaml --user-agent GPTBot/1.2 https://www.example.com/private/
///   beadle explain --robots-txt robots.txt --product-token GPTBot /private/ /public/
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The User-Agent of the request.
    #[arg(long, short = 'A', value_name = "UA", conflicts_with = "robots_txt")]
    user_agent: Option<String>,
    /// The client's address. It is compared with the fetched address lists (evidence.folder in the
    /// policy).
    #[arg(long, value_name = "IP", conflicts_with = "robots_txt")]
    client_ip: Option<IpAddr>,
    /// A robots.txt to use instead of a policy.
    #[arg(long, value_name = "FILE")]
    robots_txt: Option<PathBuf>,
    /// The crawler, by its product token.
    #[arg(long, short = 't', value_name = "TOKEN")]
    product_token: Option<String>,
    /// Read the robots.txt as leniently as Google's parser.
    #[arg(long, requires = "robots_txt")]
    lenient: bool,
    /// URLs or paths.
    #[arg(value_name = "URL", required = true)]
    targets: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match (&args.robots_txt, &args.product_token, &args.user_agent) {
        (Some(file), Some(token), _) => by_file(args, file, token, out),
        (None, None, Some(user_agent)) => decided::by_policy(args, &args.config.config, user_agent, out),
        _ => Err(Error::Refused(
            "name --user-agent to ask the policy, or --robots-txt with --product-token to ask a file".to_owned(),
        )),
    }
}

/// The part of a row that both ways of asking have.
#[derive(Serialize)]
struct Judged<'a> {
    target: String,
    path: String,
    product_token: Option<&'a str>,
    verdict: &'static str,
    group: Option<Vec<&'a str>>,
    rule: Option<RuleRow<'a>>,
}

#[derive(Serialize)]
struct RuleRow<'a> {
    directive: &'static str,
    pattern: &'a str,
    line: u32,
}

impl<'a> RuleRow<'a> {
    fn of(rule: &'a robots::Rule) -> Self {
        Self { directive: rule.directive.as_str(), pattern: &rule.pattern, line: rule.line }
    }
}

// --- what a robots.txt says

fn by_file(args: &Args, file: &Path, token: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let bytes = std::fs::read(file)
        .map_err(|error| Error::Refused(format!("{}: {error}", file.display())))?;
    let options = ReadOptions { lenient: args.lenient };
    let (robots_txt, findings) = robots::parse_with(&bytes, options);
    let matcher = Matcher::new(&robots_txt);
    let catalogue = built_in_catalogue();
    let group = group_for(&matcher, &catalogue, token);
    for text in &args.targets {
        let target = Target::of_url(text.as_bytes());
        let verdict = group.map(|group| matcher.verdict_letter(group, &target));
        let row = Judged {
            target: escape::text(text.as_bytes()),
            path: escape::text(target.letter()),
            product_token: Some(token),
            verdict: verdict.map_or(robots::Access::Allow, |verdict| verdict.access).as_str(),
            group: group.map(|group| matcher.tokens(group)),
            rule: verdict.and_then(|verdict| verdict.rule).map(RuleRow::of),
        };
        match args.format {
            Format::Json => json(out, &row)?,
            Format::Text => {
                writeln!(out, "{}", row.target)?;
                line(out, "verdict", &format!("{} for {}", row.verdict, shown(token)))?;
                if let Some(group) = group {
                    group_lines(out, &matcher, group, &target, None)?;
                } else {
                    line(out, "group", "none names it, and there is none for *")?;
                }
            }
        }
    }
    if args.format == Format::Text {
        let name = file.display().to_string();
        for finding in findings {
            writeln!(out, "{}", finding.in_file(&name))?;
        }
    }
    Ok(Exit::Fine)
}

/// The group that a crawler obeys: its own, else along its documented chain, else `*`.
fn group_for(matcher: &Matcher, catalogue: &Catalogue, token: &str) -> Option<Scope> {
    if token.trim() == "*" {
        return matcher.star();
    }
    let known = catalogue.find(token);
    matcher
        .group(token)
        .or_else(|| known?.groups().find_map(|name| matcher.group(name.as_str())))
        .or_else(|| matcher.star().filter(|_| known.is_none_or(|one| !one.ignores_star())))
}

// --- lines for people

/// The group, the rule that decided and the one that lost to it.
fn group_lines(
    out: &mut dyn Write,
    matcher: &Matcher,
    group: Scope,
    target: &Target<'_>,
    site: Option<&Site>,
) -> Result<(), Error> {
    const SHOWN: usize = 5;
    let tokens = matcher.tokens(group);
    let more = tokens.len().saturating_sub(SHOWN);
    let mut names =
        tokens.iter().take(SHOWN).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    line(out, "group", &names)?;
    let explanation = matcher.explain(group, target);
    if explanation.matches.is_empty() {
        return line(out, "rule", "none matches, so it is allowed");
    }
    for (number, matched) in explanation.matches.iter().take(2).enumerate() {
        let rule = matched.rule;
        let directive = rule.directive.field_name();
        let mut text = format!(
            "{directive}: {}   (robots.txt line {}, {} octet{})",
            shown(&rule.pattern),
            rule.line,
            matched.specificity,
            if matched.specificity == 1 { "" } else { "s" }
        );
        if let Some(source) = site.and_then(|site| site.edition().source(rule.line)) {
            text.push_str(&format!(", {source}"));
        }
        line(out, if number == 0 { "rule" } else { "over" }, &text)?;
    }
    if explanation.verdict.form == robots::Form::Evasion {
        let path = escape::text(&explanation.path);
        line(out, "note", &format!("an origin may read the path as {path}"))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, label: &str, value: &str) -> Result<(), Error> {
    Ok(writeln!(out, "  {label:<9} {value}")?)
}

fn shown(text: &str) -> String {
    escape::bounded(text.as_bytes(), 200)
}
