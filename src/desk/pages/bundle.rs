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
    crawler::NO_CRAWLER,
    frame::{Answer, ask, condition, live, notice},
    span::{Days, OfSite},
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
        bundle::{Wanted, file_name, gather, pack},
        terms::{Names, Refusal},
    },
    state::publication::read_policy,
};

/// Why there is no bundle: the status, the title and the text of a page.
type Refused = (StatusCode, &'static str, String);

pub(super) async fn download(
    State(view): State<View>,
    token: Result<Path<String>, PathRejection>,
    Asked(wanted, mut faults): Asked<OfSite>,
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
    let made = ask(&view, move |store| bundle(store, &file, &token, site.as_deref(), days, now));
    let (zip, token) = match made.await? {
        Ok(made) => made,
        Err((status, title, text)) => return Ok(notice(&view, status, title, &text)),
    };
    let name = format!("attachment; filename=\"{}\"", file_name(&token));
    let kind = "application/zip".to_owned();
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], zip).into_response())
}

/// The octets of the zip, and the product token of its records.
fn bundle(
    store: &Store,
    file: &File,
    token: &str,
    site: Option<&str>,
    days: Days,
    now: Timestamp,
) -> Result<Result<(Vec<u8>, String), Refused>, Error> {
    let no_policy = |why: String| {
        let text = format!("The bundle needs the settings of the policy file. {why}");
        Ok(Err((StatusCode::SERVICE_UNAVAILABLE, "The policy file can't be used", text)))
    };
    let unknown = |title, why: &str| Ok(Err((StatusCode::NOT_FOUND, title, sentence(why))));
    // The rules in force have no form to judge records by; the file has.
    let read = match read_policy(file) {
        Ok(read) => read,
        Err(error) => return no_policy(format!("{}: {error}.", file.display())),
    };
    let Some(policy) = read.policy else {
        return no_policy(format!("Repair {}.", file.display()));
    };
    if token == Violation::NAMELESS {
        let why = "clients without a name have no operator to send evidence to (name a crawler)";
        return unknown(NO_CRAWLER, why);
    }
    let names = Names::from(&policy);
    let token = names.product_token(store, token).map_err(|refusal| (NO_CRAWLER, refusal));
    let site = || site.map(|site| names.site(store, site)).transpose();
    let named = token.and_then(|token| Ok((token, site().map_err(|why| ("No such site", why))?)));
    let (product_token, site) = match named {
        Ok(named) => named,
        Err((title, Refusal::Term(why))) => return unknown(title, &why),
        Err((_, Refusal::Store(error))) => return Err(error),
    };
    let span = days.until(now);
    let wanted = Wanted {
        product_token: &product_token,
        site: site.as_deref(),
        claimant: Claimant::Crawler,
        since: span.from,
        until: span.until,
        made: now,
    };
    let Some(made) = gather(store, &policy, &wanted)? else {
        let text = "No violation of this crawler is recorded in this time, so there is nothing to \
                    prove. Choose a longer span.";
        return Ok(Err((StatusCode::NOT_FOUND, "No violations", text.to_owned())));
    };
    Ok(Ok((pack(&made.files), product_token)))
}
