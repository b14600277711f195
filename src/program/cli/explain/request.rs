//! The decision of a policy about a request (`--config`), with the editions that count.

use std::io::Write;

use jiff::Timestamp;

use crate::{
    program::{
        cli::memory,
        console::{Error, Exit, Format, json, load_with_database},
    },
    review::explanation::{self, Question, Rungs},
    rules::enforce::Moment,
    serving::gate::Gate,
    state::publication::Handles,
};

use super::{args::Args, explanation_lines::print};

pub(super) fn explain(args: &Args, user_agent: &str, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(&args.config)?;
    let now = Timestamp::now();
    let memory = memory::read(&policy)?;
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
                print(out, &explained.lines)?;
            }
        }
    }
    Ok(Exit::Fine)
}
