//! The evidence bundle of one crawler, to download.

use std::path::Path as File;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::IntoResponse,
};
use jiff::Timestamp;

use super::{
    conditions::Asked,
    crawler::{Wanted, unknown},
    frame::{Answer, ask, condition, live, notice},
    span::Days,
    words::sentence,
};
use crate::{
    desk::admin::View,
    records::{
        record::{Error, Violation},
        tally::Claimant,
        violations::Store,
    },
    review::report::{
        bundle::{self, file_name, gather, pack},
        terms::{Names, Refusal},
    },
    state::publication::read_policy,
};

/// What a request for a bundle leads to.
enum Outcome {
    /// The octets of the zip, and the product token of its records.
    Bundle(Vec<u8>, String),
    /// Nobody knows the name; holds a sentence with the repair.
    Unknown(String),
    /// Nobody knows the site; holds a sentence with the repair.
    UnknownSite(String),
    /// There is nothing to prove.
    NoViolations,
    /// The policy file can't be used; holds the reason.
    NoPolicy(String),
}

pub(super) async fn download(
    State(view): State<View>,
    token: Result<Path<String>, PathRejection>,
    Asked(wanted, mut faults): Asked<Wanted>,
) -> Answer {
    let live = live(&view)?;
    let token = token.map(|Path(token)| token).unwrap_or_default();
    let (file, now) = (live.policy_file.clone(), (view.now)());
    let days = Days::wanted(&wanted.days, &mut faults);
    // No bundle of another span than the one that was meant goes to an operator.
    if !faults.is_empty() {
        return Ok(notice(&view, StatusCode::BAD_REQUEST, "No bundle", &faults.join(" ")));
    }
    let site = condition(&wanted.site);
    let made = ask(&view, move |store| outcome(store, &file, &token, site.as_deref(), days, now));
    Ok(match made.await? {
        Outcome::Bundle(zip, token) => {
            let name = format!("attachment; filename=\"{}\"", file_name(&token));
            let kind = "application/zip".to_owned();
            ([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], zip)
                .into_response()
        }
        Outcome::Unknown(why) => unknown(&view, &why),
        Outcome::UnknownSite(why) => {
            notice(&view, StatusCode::NOT_FOUND, "No such site", &sentence(&why))
        }
        Outcome::NoViolations => {
            let text = "No violation of this crawler is recorded in this time, so there is nothing \
                        to prove. Choose a longer span.";
            notice(&view, StatusCode::NOT_FOUND, "No violations", text)
        }
        Outcome::NoPolicy(why) => {
            let text = format!("The bundle needs the settings of the policy file. {why}");
            notice(&view, StatusCode::SERVICE_UNAVAILABLE, "The policy file can't be used", &text)
        }
    })
}

fn outcome(
    store: &Store,
    file: &File,
    token: &str,
    site: Option<&str>,
    days: Days,
    now: Timestamp,
) -> Result<Outcome, Error> {
    // The rules in force have no form to judge records by; the file has.
    let read = match read_policy(file) {
        Ok(read) => read,
        Err(error) => return Ok(Outcome::NoPolicy(format!("{}: {error}.", file.display()))),
    };
    let Some(policy) = read.policy else {
        return Ok(Outcome::NoPolicy(format!("Repair {}.", file.display())));
    };
    if token == Violation::NAMELESS {
        let why = "clients without a name have no operator to send evidence to (name a crawler)";
        return Ok(Outcome::Unknown(why.to_owned()));
    }
    let product_token = match Names::from(&policy).product_token(store, token) {
        Ok(token) => token,
        Err(Refusal::Term(why)) => return Ok(Outcome::Unknown(why)),
        Err(Refusal::Store(error)) => return Err(error),
    };
    let named = site.map(|site| Names::from(&policy).site(store, site)).transpose();
    let site = match named {
        Ok(site) => site,
        Err(Refusal::Term(why)) => return Ok(Outcome::UnknownSite(why)),
        Err(Refusal::Store(error)) => return Err(error),
    };
    let span = days.until(now);
    let wanted = bundle::Wanted {
        product_token: &product_token,
        site: site.as_deref(),
        claimant: Claimant::Crawler,
        since: span.from,
        until: span.until,
        made: now,
    };
    let made = gather(store, &policy, &wanted)?;
    let Some(made) = made else { return Ok(Outcome::NoViolations) };
    Ok(Outcome::Bundle(pack(&made.files), product_token))
}
