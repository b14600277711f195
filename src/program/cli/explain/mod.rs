//! `beadle explain`: the verdict and the action for a request, with their reasons.

use std::io::Write;

use crate::program::console::{Error, Exit};

pub(super) use self::args::Args;

mod args; // the arguments
mod explanation_lines; // lines, printed
mod file; // the verdict of a robots.txt
mod request; // the decision of a policy

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    match (&args.robots_txt, &args.product_token, &args.user_agent) {
        (Some(path), Some(token), _) => file::explain(args, path, token, out),
        (None, None, Some(user_agent)) => request::explain(args, user_agent, out),
        _ => Err(Error::Refused(
            "no crawler named (add --user-agent to use the policy, or --robots-txt and \
             --product-token to use a file)"
                .to_owned(),
        )),
    }
}
