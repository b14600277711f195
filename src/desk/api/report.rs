//! A review of a span of time and the scorecard of a crawler, as the command line writes them.

use axum::response::Response;

use super::inquiry::{Inquiry, of_type};
use crate::{
    desk::admin::problem::{Kind, Problem},
    records::record::Violation,
    review::report::{
        review::{self, Review, json_lines},
        score::{Score, json_line},
        terms::Names,
    },
};

/// The lines of a review as an array.
pub(super) fn review(inquiry: &Inquiry) -> Result<Response, Problem> {
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let answers = review::Answers::of(&store, span, inquiry.site(&store)?)?;
    let rulebook = inquiry.rulebook()?;
    let lines = json_lines(&Review::of(&answers, rulebook.catalogue()));
    // Each line is an object, and a line feed within one is escaped.
    Ok(of_type("application/json", format!("[{}]", lines.trim_end().replace('\n', ","))))
}

pub(super) fn score(inquiry: &Inquiry) -> Result<Response, Problem> {
    let token = inquiry.part(0);
    if token == Violation::NAMELESS {
        let detail = "clients without a name have no scorecard (name a crawler)";
        return Err(Problem::new(Kind::NOT_FOUND, detail));
    }
    let (span, store, rulebook) = (inquiry.span()?, inquiry.store()?, inquiry.rulebook()?);
    let token = Names::from(&*rulebook).counted_token(&store, token).map_err(Problem::of_path)?;
    let score = Score::of(&store, rulebook.catalogue(), span, inquiry.site(&store)?, token)?;
    Ok(of_type("application/json", json_line(&score)))
}
