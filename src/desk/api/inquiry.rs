//! A request to the API with what its answer is made of, and the answer.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde::Serialize;

use super::query::Query;
use crate::{
    base::escape,
    desk::admin::{
        Live, View,
        problem::{Kind, Problem},
    },
    records::violations::Store,
    review::report::{
        Span,
        terms::{self, Names, Refusal, disorder},
    },
    rules::enforce::Rulebook,
};

/// The start of a span, unless the request says another one.
const SINCE: &str = "7d";

pub(super) struct Inquiry {
    pub(super) view: View,
    pub(super) query: Query,
    pub(super) now: Timestamp,
    /// The variable parts of the path, decoded.
    pub(super) path: Vec<String>,
}

impl Inquiry {
    pub(super) fn part(&self, number: usize) -> &str {
        self.path.get(number).map_or("", String::as_str)
    }

    pub(super) fn store(&self) -> Result<Store, Problem> {
        let Some(database) = &self.view.database else {
            let detail = "the policy names no database, so nothing is kept (set \
                          violations.database, and restart Beadle)";
            return Err(Problem::new(Kind::NO_DATABASE, detail));
        };
        Ok(database.open()?.sharing(&self.view.counts))
    }

    pub(super) fn live(&self) -> Result<&Live, Problem> {
        self.view.live.get().ok_or_else(|| {
            Problem::new(Kind::NOT_READY, "the policy has not taken effect yet (try again)")
        })
    }

    pub(super) fn rulebook(&self) -> Result<Arc<Rulebook>, Problem> {
        Ok(Arc::clone(&self.live()?.handles.published.load().rulebook))
    }

    /// The site that the request names, as records name it.
    pub(super) fn site(&self, store: &Store) -> Result<Option<String>, Problem> {
        self.term("site", |names, text| names.site(store, text))
    }

    pub(super) fn crawler(&self, store: &Store) -> Result<Option<String>, Problem> {
        self.term("crawler", |names, text| names.product_token(store, text))
    }

    pub(super) fn purpose(&self, store: &Store) -> Result<Option<String>, Problem> {
        self.term("purpose", |names, text| names.purpose(store, text))
    }

    fn term(
        &self,
        parameter: &str,
        read: impl FnOnce(Names<'_>, &str) -> Result<String, Refusal>,
    ) -> Result<Option<String>, Problem> {
        if self.query.text(parameter).is_none() {
            return Ok(None);
        }
        let rulebook = self.rulebook()?;
        self.read(parameter, |text| read(Names::from(&*rulebook), text))
    }

    pub(super) fn read<T>(
        &self,
        parameter: &str,
        read: impl FnOnce(&str) -> Result<T, Refusal>,
    ) -> Result<Option<T>, Problem> {
        let read = self.query.text(parameter).map(read).transpose();
        read.map_err(|refusal| Problem::of_parameter(parameter, refusal))
    }

    pub(super) fn times(&self) -> Result<(Option<Timestamp>, Option<Timestamp>), Problem> {
        let time = |text: &str| terms::time(text, self.now);
        let (since, until) = (self.read("since", time)?, self.read("until", time)?);
        if let (Some(since), Some(until)) = (since, until) {
            self.in_order(since, until)?;
        }
        Ok((since, until))
    }

    /// The hours that counts are asked for: the last seven days, unless the request says others.
    pub(super) fn span(&self) -> Result<Span, Problem> {
        let (since, until) = self.times()?;
        let until = until.unwrap_or(self.now);
        let usual = || terms::time(SINCE, until).unwrap_or(Timestamp::MIN);
        let since = since.unwrap_or_else(usual);
        self.in_order(since, until)?;
        Ok(Span::new(since, until, self.now))
    }

    fn in_order(&self, since: Timestamp, until: Timestamp) -> Result<(), Problem> {
        let text = self.query.text("until").unwrap_or_default();
        let Some(repair) = disorder(since, until, text) else { return Ok(()) };
        let parameter = if text.is_empty() { "since" } else { "until" };
        let detail = format!("the end, {until:.0}, is not after the start, {since:.0} ({repair})");
        Err(Problem::value(parameter, detail))
    }
}

pub(super) fn text_of(time: Timestamp) -> String {
    format!("{time:.0}")
}

pub(super) fn quoted(text: &str) -> String {
    escape::bounded(text.as_bytes(), 100)
}

pub(super) fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_vec(value).map_err(|error| {
        tracing::error!(%error, "answer of the API not written");
        Problem::new(Kind::FAILED, "the answer failed; the log has the error")
    })?;
    Ok(of_type("application/json", text))
}

pub(super) fn of_type(media_type: &'static str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}
