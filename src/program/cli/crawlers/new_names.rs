//! `beadle crawlers accept`: crawlers of followed lists that the operator accepts.

use std::{fs::OpenOptions, io::Write};

use crate::{
    base::escape,
    program::console::{ConfigFile, Error, Exit, load},
    rules::crawlers::Crawler,
};

/// Accept crawlers of the lists that the policy follows
///
/// Rules are enforced for an accepted crawler as for any other. A running server takes it within a
/// second.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Names of crawlers. Without any, lists those that wait.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    config: ConfigFile,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let (policy, _) = load(&args.config)?;
    let Some(following) = &policy.following else {
        let name = args.config.name();
        return Err(Error::Refused(format!("{name} follows no list (add 'catalogue.follow')")));
    };
    let pending: Vec<&Crawler> = policy.catalogue.iter().filter(|one| one.is_pending()).collect();
    if args.names.is_empty() {
        for crawler in pending {
            let (token, purpose) = (crawler.product_token(), crawler.purpose().as_str());
            writeln!(out, "{token:<28} {purpose:<13} {}", crawler.list().unwrap_or_default())?;
        }
        return Ok(Exit::Fine);
    }
    let mut lines = String::new();
    for name in &args.names {
        let known = policy.catalogue.find(name).filter(|known| known.list().is_some());
        let known = known.ok_or_else(|| {
            let (name, help) = (escape::shown(name), "without names, the command lists them");
            Error::Refused(format!("no followed list has a crawler named '{name}' ({help})"))
        })?;
        lines.push_str(known.product_token().as_str());
        lines.push('\n');
    }
    let file = following.accepted();
    std::fs::create_dir_all(&following.folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&file))
        .and_then(|mut file| file.write_all(lines.as_bytes()))
        .map_err(|error| Error::Refused(format!("{}: {error}", escape::path(&file))))?;
    lines.lines().try_for_each(|token| writeln!(out, "{token}: accepted"))?;
    Ok(Exit::Fine)
}
