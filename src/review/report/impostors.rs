//! The crawlers that impostors claim to be: how often, since when, from which networks.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::{
    document::{Cell, Section, Table},
    span::Span,
};
use crate::{
    base::escape,
    records::{
        counts::{Dimension, Place, Question},
        record::Error,
        tally::{Claimant, PlaceKind},
        violations::Store,
    },
};

/// The most networks of a crawler that are named.
const NETWORKS: usize = 5;

/// The requests of all impostors of one crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Impostors {
    /// The crawler whose name they use.
    pub(crate) product_token: String,
    pub(crate) requests: u64,
    pub(crate) violations: u64,
    /// The first hour in which some came, as far as counts are kept.
    #[serde(serialize_with = "hour")]
    pub(crate) since: Option<Timestamp>,
    /// The networks with the most violations in the span. Other requests are not counted by network.
    pub(crate) networks: Vec<(String, u64)>,
    pub(crate) more_networks: usize,
}

fn hour<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.strftime("%FT%H:%M:%SZ").to_string()).serialize(serializer)
}

impl Impostors {
    /// The impostors of each crawler in a span, at one site or at all, the most requests first.
    pub(crate) fn all(store: &Store, span: Span, site: Option<&str>) -> Result<Vec<Self>, Error> {
        let site = site.map(str::to_owned);
        let claimant = Some(Claimant::Impostor);
        let question = Question { claimant, site, ..span.question() };
        let by = vec![Dimension::ProductToken];
        let mut all = Vec::new();
        for one in store.counted(&Question { by, ..question.clone() })? {
            let product_token = one.key.first().map(ToString::to_string).unwrap_or_default();
            let of_it = Question { product_token: Some(product_token.clone()), ..question.clone() };
            let mut places = store.places(PlaceKind::Network, &of_it, usize::MAX)?;
            let more_networks = places.len().saturating_sub(NETWORKS);
            places.truncate(NETWORKS);
            let network = |Place { key, violations }| (key.to_string(), violations);
            let always = Question { since: Timestamp::MIN, ..of_it };
            all.push(Self {
                product_token,
                requests: one.requests,
                violations: one.violations,
                since: store.first_hour(&always)?,
                networks: places.into_iter().map(network).collect(),
                more_networks,
            });
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.requests));
        Ok(all)
    }

    pub(crate) fn section(all: &[Self]) -> Section {
        let headings =
            ["claims to be", "requests", "violations", "first seen", "networks with violations"];
        let remark = match all.is_empty() {
            true => "No impostor came in this time.",
            false => {
                "Requests and violations are of this span. \"First seen\" is the first hour in all \
                 counts that are kept. Networks are counted for violations alone."
            }
        };
        let table = Table::new(headings, usize::MAX, all.iter().map(Self::cells));
        Section::new("", table).remark(remark)
    }

    fn cells(&self) -> [Cell; 5] {
        let since = self.since.map(|at| at.strftime("%F %H:00").to_string()).unwrap_or_default();
        let name = escape::shown(&self.product_token);
        let networks = self.network_words();
        [name.into(), self.requests.into(), self.violations.into(), since.into(), networks.into()]
    }

    /// The networks in words: `192.0.2.0/24 (12), 198.51.100.0/24 (3), and 4 more`.
    fn network_words(&self) -> String {
        let each = self.networks.iter();
        let named = each.map(|(network, violations)| format!("{network} ({violations})"));
        let more = (self.more_networks > 0).then(|| format!("and {} more", self.more_networks));
        named.chain(more).collect::<Vec<_>>().join(", ")
    }
}
