//! `beadle robots`: the robots.txt that a policy publishes.

use std::io::Write;

use crate::{
    cli::{ConfigFile, Error, Exit, load},
    enforce::Edition,
    policy::Policy,
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
    let number = site_number(&policy, args.site.as_deref())?;
    if let Some(site) = policy.sites.get(number) {
        out.write_all(
            Edition::publish(&site.robots_txt, jiff::Timestamp::UNIX_EPOCH, None).bytes(),
        )?;
    }
    Ok(Exit::Fine)
}

/// The number of the site with this host; the only site where none is named.
pub(super) fn site_number(policy: &Policy, host: Option<&str>) -> Result<usize, Error> {
    let names = || policy.sites.iter().map(|site| site.name()).collect::<Vec<_>>().join(", ");
    let Some(host) = host else {
        return match policy.sites.as_slice() {
            [_] => Ok(0),
            _ => Err(Error::Refused(format!("name the site with --site (one of {})", names()))),
        };
    };
    let host = host.to_ascii_lowercase();
    let has_it = |site: &crate::policy::Site| {
        site.hosts.iter().any(|one| match one {
            crate::policy::Host::Exact(exact) => *exact == host,
            crate::policy::Host::Below(suffix) => {
                host.ends_with(suffix.as_str()) || one.as_str() == host
            }
        })
    };
    policy.sites.iter().position(has_it).ok_or_else(|| {
        let host = crate::escape::text(host.as_bytes());
        Error::Refused(format!("no site has the host '{host}' (the sites are {})", names()))
    })
}
