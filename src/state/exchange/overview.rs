//! All nodes of a fleet as the shared server knows them, for operators.

use redis::Pipeline;

use crate::state::fleet::{Beat, Report};

use super::{failure::Failure, load::reports, replies::Replies, server::Link, settings::Settings};

/// The nodes of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub(crate) now: i64,
    /// The node of each beat, with its report if it has one, by name.
    pub nodes: Vec<(Beat, Option<Report>)>,
}

/// Asks the shared server for all nodes.
pub async fn overview(settings: &Settings) -> Result<Overview, Failure> {
    let mut hint = None;
    let mut failure = Failure::Late;
    // A cluster may send us on.
    for _ in 0..3 {
        let found = match Link::open(settings, hint.clone()).await {
            Ok(mut link) => ask(&mut link, settings).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(overview) => return Ok(overview),
            Err(Failure::Elsewhere(Some(place))) => {
                hint = Some(place.clone());
                failure = Failure::Elsewhere(Some(place));
            }
            Err(error) => return Err(error),
        }
    }
    Err(failure)
}

async fn ask(link: &mut Link, settings: &Settings) -> Result<Overview, Failure> {
    let mut commands = Pipeline::new();
    commands.cmd("HVALS").arg(&settings.keys.beats);
    commands.cmd("TIME");
    let mut replies = Replies::new(link.ask(&commands).await?);
    let beats: Vec<Vec<u8>> = replies.next()?;
    let mut beats: Vec<Beat> = beats.iter().filter_map(|text| Beat::read(text)).collect();
    let time = replies.time()?;
    beats.retain(|beat| !beat.gone);
    beats.sort_by(|a, b| a.node.cmp(&b.node));
    let reports = reports(link, &settings.keys, &beats).await?;
    let of = |beat: &Beat| reports.iter().find(|one| one.node == beat.node).cloned();
    let nodes = beats.iter().map(|beat| (beat.clone(), of(beat))).collect();
    Ok(Overview { now: time.div_euclid(1_000), nodes })
}
