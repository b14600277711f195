//! `beadle explain`: the verdict and the action for a request, with their reasons.

use std::{
    io::Write,
    net::IpAddr,
    path::{Path, PathBuf},
};

use clap_complete::ArgValueCompleter;
use jiff::Timestamp;

use crate::{
    base::escape,
    formats::robots::{
        self, Access, Explanation, Form, Matcher, ReadOptions, Scope, Target, Verdict,
    },
    program::{
        cli::robots::memory,
        console::{
            ConfigFile, Error, Exit, Format, completions, input, json, load_with_database, refuse,
        },
    },
    review::explanation::{self, Line, Question, RuleRow, Rungs, VerdictRow, group_lines},
    rules::{
        crawlers::{Catalogue, Class, Name},
        enforce::{self, Moment},
        policy,
    },
    serving::gate::{self, BadTarget, Gate},
    state::publication::Handles,
};

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
    #[arg(long, short = 't', value_name = "TOKEN", add = ArgValueCompleter::new(completions::tokens))]
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
        (Some(path), Some(token), _) => explain_file(args, path, token, out),
        (None, None, Some(user_agent)) => explain_request(args, user_agent, out),
        _ => refuse(
            "no crawler named (add --user-agent to use the policy, or --robots-txt and \
             --product-token to use a file)",
        ),
    }
}

/// The decision of the policy about each request, with the editions that count.
fn explain_request(args: &Args, user_agent: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config)?;
    let now = Timestamp::now();
    let memory = memory(&policy)?;
    let handles = Handles::at_rest(&policy, &memory, args.client_ip.is_some(), now);
    let handles = handles.map_err(|error| Error::Refused(error.to_string()))?;
    let gate = Gate::new(&handles, &policy);
    let published = gate.published();
    for target in &args.targets {
        let question =
            Question { target, user_agent, address: args.client_ip, standing: None, site: None };
        let moment = Moment::at(now);
        let explained = explanation::explain(&gate, &published, &question, moment, Rungs::AtStart);
        let explained = explained.map_err(|fault| Error::Refused(fault.to_string()))?;
        match args.format {
            Format::Json => json(out, &explained)?,
            Format::Text => {
                writeln!(out, "{}", explained.verdict.target)?;
                print(&explained.lines, out)?;
            }
        }
    }
    Ok(Exit::Fine)
}

#[derive(Debug, PartialEq, Eq)]
struct Groups {
    /// By RFC 9309.
    by_rfc: Option<Scope>,
    /// At the proxy, with the default `star_binds`.
    at_proxy: Option<Scope>,
    /// If a list in one user-agent line names each crawler in it.
    by_list: Option<Scope>,
}

impl Groups {
    /// The groups for a crawler with this token. `*` stands for a crawler without a group of its own.
    fn of(matcher: &Matcher, catalogue: &Catalogue, token: &str) -> Self {
        if token.trim() == "*" {
            return Self { by_rfc: matcher.star(), at_proxy: matcher.star(), by_list: None };
        }
        let declared = Name::Declared(token);
        let known = catalogue.find(token).map_or(declared, Name::Known);
        // The RFC knows no aliases: a group of exactly this name comes first.
        let named = if matcher.group(token).is_some() { declared } else { known };
        let star_binds = policy::default_star_binds();
        Self {
            // RFC 9309 §2.2.1 binds each crawler without a group of its own by `*`.
            by_rfc: enforce::group_for(matcher, &Class::ALL, named),
            at_proxy: enforce::group_for(matcher, &star_binds, known),
            by_list: enforce::listed_group(matcher, enforce::group_names(known)),
        }
    }

    /// Whether the proxy allows what the group disallows, because a list allows it.
    fn is_excused_by_list(&self, matcher: &Matcher, target: &Target<'_>) -> bool {
        let access = |group: Option<Scope>| Some(matcher.verdict(group?, target).access);
        access(self.at_proxy) == Some(Access::Disallow)
            && access(self.by_list) == Some(Access::Allow)
    }

    /// Whether the RFC binds the crawler by `*`, and the proxy does not.
    fn is_bound_by_rfc_alone(&self, matcher: &Matcher) -> bool {
        self.at_proxy.is_none() && self.by_rfc.is_some() && self.by_rfc == matcher.star()
    }
}

/// The verdict of any robots.txt for a crawler, as RFC 9309 reads the file.
fn explain_file(args: &Args, file: &Path, token: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let bytes = input::read_file(file, input::MAX_ROBOTS_TXT)?;
    let options = ReadOptions { lenient: args.lenient };
    let (robots_txt, findings) = robots::parse_with(&bytes, options);
    let matcher = Matcher::new(&robots_txt);
    let catalogue = policy::built_in_catalogue();
    let groups = Groups::of(&matcher, &catalogue, token);
    for text in &args.targets {
        let target = Target::of_url(text.as_bytes());
        let verdict = groups.by_rfc.map(|group| matcher.verdict_letter(group, &target));
        let row = VerdictRow {
            target: escape::text(text.as_bytes()),
            path: escape::text(target.letter()),
            product_token: Some(token.to_owned()),
            verdict: verdict.map_or(Access::Allow, |verdict| verdict.access).as_str(),
            group: groups
                .by_rfc
                .map(|group| matcher.tokens(group).into_iter().map(str::to_owned).collect()),
            rule: verdict.and_then(|verdict| verdict.rule).map(RuleRow::of),
        };
        if args.format == Format::Json {
            json(out, &row)?;
            continue;
        }
        let name = escape::shown(token);
        let mut lines = vec![Line::new("verdict", format!("{} for {name}", row.verdict))];
        match groups.by_rfc {
            Some(group) => lines.extend(group_lines(&matcher, group, &target.as_sent(), None)),
            None => lines.push(Line::new("group", "none names it, and there is none for *")),
        }
        if groups.is_bound_by_rfc_alone(&matcher) {
            let note =
                format!("the proxy does not bind {name} by '*': it fetches pages for people");
            lines.push(Line::new("note", note));
        }
        if groups.is_excused_by_list(&matcher, &target) {
            let note = format!("the proxy allows it, as the rules under a list with {name} do");
            lines.push(Line::new("note", note));
        } else if let Some(group) = groups.at_proxy {
            lines.extend(
                other_form(&matcher.explain(group, &target), verdict).into_iter().flatten(),
            );
        }
        match gate::received_target(robots::origin_form(text.as_bytes())) {
            // RFC 9309 reads any text as a target.
            Ok(_) | Err(BadTarget::NoPath) => {}
            Err(fault) => {
                lines.push(Line::new("note", format!("the proxy answers 400: {fault}")));
            }
        }
        writeln!(out, "{}", row.target)?;
        print(&lines, out)?;
    }
    if args.format == Format::Text {
        let name = file.display().to_string();
        for finding in findings {
            writeln!(out, "{}", finding.in_file(&name))?;
        }
    }
    Ok(Exit::Fine)
}

/// The lines for a target that is allowed as sent, and not with dot segments resolved or in another
/// form.
fn other_form(explanation: &Explanation<'_>, as_sent: Option<Verdict<'_>>) -> Option<[Line; 2]> {
    let Explanation { verdict, path, matches, .. } = explanation;
    let is_allowed = as_sent.is_none_or(|as_sent| as_sent.access == Access::Allow);
    let is_closed = is_allowed && verdict.access == Access::Disallow;
    let rule = verdict.rule.filter(|_| is_closed)?;
    // A path with more forms than are judged is held to every rule, whether it matches or not.
    let is_cut = matches.first().is_none_or(|first| first.rule != rule);
    let path = escape::text(path);
    let note = match verdict.form {
        Form::Letter => format!("violation at the proxy: crawlers resolve the path to {path}"),
        Form::Other if is_cut => {
            "other form at the proxy: origins may read the path in too many ways".to_owned()
        }
        Form::Other => format!("other form at the proxy: an origin may read the path as {path}"),
    };
    let (directive, pattern) = (rule.directive.field_name(), escape::shown(&rule.pattern));
    let rule = format!("{directive}: {pattern}   (robots.txt line {})", rule.line);
    Some([Line::new("note", note), Line::new("", rule)])
}

fn print(lines: &[Line], out: &mut dyn Write) -> Result<(), Error> {
    Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn groups(robots_txt: &str, token: &str) -> (Option<String>, Option<String>) {
        let matcher = Matcher::new(&robots::parse(robots_txt.as_bytes()).0);
        let catalogue = policy::built_in_catalogue();
        let groups = Groups::of(&matcher, &catalogue, token);
        let shown = |group: Option<Scope>| Some(matcher.tokens(group?).join(" "));
        (shown(groups.by_rfc), shown(groups.at_proxy))
    }

    #[test]
    fn rfc9309_2_2_1_a_crawler_without_a_group_follows_the_star() {
        const FILE: &str = "User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow: /x\n";
        for (token, by_rfc, at_proxy) in [
            ("*", Some("*"), Some("*")),
            ("GPTBot", Some("*"), Some("*")),
            ("AcmeBot", Some("*"), Some("*")),
            ("googlebot", Some("Googlebot"), Some("Googlebot")),
            ("Googlebot-Image", Some("Googlebot"), Some("Googlebot")),
            // These two deviate by the documentation of their operators.
            ("AdsBot-Google", None, None),
            ("ChatGPT-User", Some("*"), None),
        ] {
            let expected = (by_rfc.map(str::to_owned), at_proxy.map(str::to_owned));
            assert_eq!(groups(FILE, token), expected, "{token}");
        }
        let both = "User-agent: curl\nDisallow: /c\nUser-agent: libcurl\nDisallow: /b\n";
        assert_eq!(groups(both, "libcurl").0.as_deref(), Some("libcurl"), "its own name first");
        let named = "User-agent: ChatGPT-User\nDisallow: /\n";
        let own = Some("ChatGPT-User".to_owned());
        assert_eq!(groups(named, "ChatGPT-User"), (own.clone(), own));
        assert_eq!(groups(named, "GPTBot"), (None, None));
    }

    #[test]
    fn the_text_says_where_the_proxy_binds_otherwise() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("robots.txt");
        std::fs::write(&file, "User-agent: *\nDisallow: /\n").expect("it is writable");
        let explained = |token: &str, format: Format| {
            let Command { mut args } = Command::parse_from(["explain", "/x"]);
            args.format = format;
            let mut out = Vec::new();
            explain_file(&args, &file, token, &mut out).expect("the file can be read");
            String::from_utf8(out).expect("it is UTF-8")
        };
        assert_eq!(
            explained("ChatGPT-User", Format::Text),
            "/x\n  verdict   disallow for ChatGPT-User\n  group     *\n  rule      Disallow: /   \
             (robots.txt line 2, 1 octet)\n  note      the proxy does not bind ChatGPT-User by '*': \
             it fetches pages for people\n"
        );
        assert!(!explained("GPTBot", Format::Text).contains("note"));
        assert!(!explained("ChatGPT-User", Format::Json).contains("note"));

        // RFC 9309 has no lists, so '*' binds GPTBot.
        let list = "User-agent: *\nDisallow: /\nUser-agent: GPTBot, CCBot\nDisallow: /ai/\n";
        std::fs::write(&file, list).expect("it is writable");
        assert_eq!(
            explained("GPTBot", Format::Text).lines().take(5).collect::<Vec<_>>(),
            [
                "/x",
                "  verdict   disallow for GPTBot",
                "  group     *",
                "  rule      Disallow: /   (robots.txt line 2, 1 octet)",
                "  note      the proxy allows it, as the rules under a list with GPTBot do",
            ]
        );
        let is_noted = |token, format| explained(token, format).contains("the proxy allows it");
        assert!(is_noted("CCBot", Format::Text) && !is_noted("bingbot", Format::Text));
        assert!(!is_noted("GPTBot", Format::Json));
        std::fs::write(&file, list.replace("/ai/", "/")).expect("it is writable");
        assert!(!is_noted("GPTBot", Format::Text), "the list disallows it, too");
    }
}
