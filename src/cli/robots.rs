//! `beadle robots`: the robots.txt that a policy publishes.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    cli::{ConfigFile, Error, Exit, load},
    enforce::{Rulebook, Site},
};

/// Print a site's robots.txt, byte for byte as it is served.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The site, by one of its hosts; needed where the policy has several sites.
    #[arg(long, value_name = "HOST")]
    site: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let (policy, _) = load(&args.config.config)?;
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    out.write_all(site(&rulebook, args.site.as_deref())?.edition.bytes())?;
    Ok(Exit::Fine)
}

/// The site that serves this host, or has this name; the only site where none is named.
fn site<'b>(rulebook: &'b Rulebook, host: Option<&str>) -> Result<&'b Site, Error> {
    let sites = rulebook.sites();
    let names = || sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(host) = host else {
        return match sites {
            [only] => Ok(only),
            _ => Err(Error::Refused(format!("name the site with --site (one of {})", names()))),
        };
    };
    let host = host.to_ascii_lowercase();
    let served = rulebook.site_of_host(&host).map(|(_, site)| site);
    served.or_else(|| sites.iter().find(|site| site.name == host)).ok_or_else(|| {
        let host = crate::escape::text(host.as_bytes());
        Error::Refused(format!("no site has the host '{host}' (the sites are {})", names()))
    })
}
