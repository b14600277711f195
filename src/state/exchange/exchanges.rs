//! One exchange after the other, until the server ends.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use redis::Pipeline;
use tokio::{
    sync::{mpsc, oneshot},
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    rules::{enforce::Moment, policy::Alone},
    state::{
        fleet::{Beat, Position},
        publication::{FleetPort, Handles},
    },
};

use super::{
    load::load,
    member::Member,
    round::{Answer, READ_AT_ONCE, Round},
    server::{Failure, Link, Replies},
    settings::Settings,
};

const EVERY: Duration = Duration::from_millis(200);
/// How often this node looks whether it is alone.
const WATCH: Duration = Duration::from_millis(250);
/// How often a report is written, registers are trimmed, the bytes of editions are refreshed, and the
/// lease of alerts is renewed.
const REPORT: Duration = Duration::from_secs(5);
const TRIM: Duration = Duration::from_secs(60);
const REWRITE: Duration = Duration::from_secs(3_600);
const LEASE: Duration = Duration::from_secs(4);
/// How often a node states its editions again while another run has its name.
const STATEMENT: Duration = Duration::from_secs(1);
/// How often the node with the lease reads the alerts that the server keeps.
const NOTICES: Duration = Duration::from_secs(1);
/// A clock that was set back by less is no trouble: time synchronisation does it.
const SHOWN: Duration = Duration::from_secs(5);
const GOODBYE: Duration = Duration::from_secs(2);

/// A running exchange.
#[derive(Debug)]
pub struct Exchange {
    goodbye: mpsc::Sender<oneshot::Sender<()>>,
}

impl Exchange {
    /// Tells what is left and says goodbye, in two seconds at most.
    pub async fn leave(self) {
        let (said, is_said) = oneshot::channel();
        if self.goodbye.send(said).await.is_ok() {
            // Without an answer, the others find out by themselves.
            let _ = timeout(GOODBYE, is_said).await;
        }
    }
}

/// Starts the exchange. The receiver is answered when the first registers are in force.
pub fn start(
    settings: Settings,
    handles: Handles,
    port: FleetPort,
) -> (Exchange, oneshot::Receiver<()>) {
    let (loaded, is_loaded) = oneshot::channel();
    let (goodbye, goodbyes) = mpsc::channel(1);
    handles.conduct.start_collecting();
    let excuses = settings.alone == Alone::Excuse;
    handles.fellowship.is_alone.store(true, Ordering::Relaxed);
    handles.conduct.keep_contact(Duration::ZERO, excuses);
    let member = Member::new(settings, handles.clone(), port, loaded);
    tokio::spawn(watch(handles, excuses));
    tokio::spawn(run(member, goodbyes));
    (Exchange { goodbye }, is_loaded)
}

async fn run(mut member: Member, mut goodbyes: mpsc::Receiver<oneshot::Sender<()>>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            Some(announcement) = member.announcements.recv() => {
                member.take_announcement(announcement);
            }
            said = goodbyes.recv() => {
                let left = member.leave().await;
                if let Err(failure) = left {
                    tracing::debug!(error = %failure, "no goodbye to the fleet");
                }
                let _ = said.map(|said| said.send(()));
                return;
            }
        }
        if let Err(failure) = member.step().await {
            member.failed(&failure);
        }
        member.answer_announcements();
        member.show();
    }
}

impl Member {
    /// Connects if there is no connection, and exchanges until there is nothing more to read.
    async fn step(&mut self) -> Result<(), Failure> {
        if self.moment().steady < self.dues.attempt {
            return Ok(());
        }
        if self.link.is_none() {
            let link = Link::open(&self.settings, self.hint.clone()).await?;
            self.link = Some(link);
            if let Some((last, _)) = self.progress.answered {
                self.state.roster.miss_live(last);
            }
            // The others may have forgotten it.
            self.statement.at = 0;
            self.meet().await?;
        }
        while self.exchange(false).await? {}
        Ok(())
    }

    async fn leave(&mut self) -> Result<(), Failure> {
        // Without the fleet's time, no exchange tells anything, however often it is tried.
        if self.fleet_time(self.moment()).is_none() {
            return Ok(());
        }
        loop {
            self.exchange(false).await?;
            if self.gossip.is_told() {
                break;
            }
        }
        self.exchange(true).await.map(drop)
    }

    /// Asks a new server for its time and its mark.
    async fn meet(&mut self) -> Result<(), Failure> {
        self.state.clocks.forget();
        for _ in 0..3 {
            let mut commands = Pipeline::new();
            commands.cmd("TIME");
            commands.cmd("GET").arg(&self.settings.keys.mark);
            commands.cmd("HGET").arg(&self.settings.keys.beats).arg(&self.settings.node);
            let sent = self.moment().steady;
            let mut replies = self.ask(&commands).await?;
            let received = self.moment().steady;
            self.state.clocks.note(sent, received, replies.time()?);
            let mark: Option<String> = replies.next()?;
            let beat: Option<Vec<u8>> = replies.next()?;
            let beat = beat.and_then(|text| Beat::read(&text));
            // An older copy of the data, or a replica that lags, has the mark and an older beat.
            let is_older = beat.is_none_or(|beat| self.gossip.is_beyond(&beat));
            self.compare_mark(mark.filter(|_| !is_older));
        }
        let moment = self.moment();
        if self.progress.started.is_none() {
            self.progress.started = self.fleet_time(moment).map(|(now, _)| now);
        }
        Ok(())
    }

    /// Tells everything again if the server lost its data.
    fn compare_mark(&mut self, mark: Option<String>) {
        let is_lost = self.progress.mark.is_some() && mark != self.progress.mark;
        if is_lost && let Some((now, shift)) = self.fleet_time(self.moment()) {
            tracing::warn!(
                code = "fleet.data_lost",
                "the fleet's server has lost its data: this node writes its part again"
            );
            self.state.cursor = Position::default();
            self.progress.needs_registers = true;
            self.tell_again(now, shift);
        }
        if let Some(mark) = mark.as_deref().filter(|_| mark != self.progress.mark) {
            // A random name that each node knows, and nobody else.
            self.handles.own_requests.share(mark);
        }
        self.progress.mark = mark;
    }

    async fn ask(&mut self, commands: &Pipeline) -> Result<Replies, Failure> {
        Ok(Replies::new(connected(&mut self.link)?.ask(commands).await?))
    }

    /// One exchange. Whether there is more to read.
    async fn exchange(&mut self, is_goodbye: bool) -> Result<bool, Failure> {
        let moment = self.moment();
        let Some((now, shift)) = self.fleet_time(moment) else { return Ok(false) };
        self.note_step(shift, moment);
        if self.progress.needs_registers && !is_goodbye {
            let (link, span) = (connected(&mut self.link)?, (now, self.settings.window));
            let registers = load(link, &self.settings.keys, span, shift).await?;
            self.take_registers(registers, moment);
        }
        // What requests change from here on belongs to the next exchange.
        self.collect(moment, (now, shift));
        let steady = moment.steady;
        if self.dues.rewrite <= steady {
            self.dues.rewrite = steady.saturating_add(REWRITE);
            self.written.clear();
        }
        if self.absence.has_rival(steady) && self.dues.statement <= steady {
            // Its beats are overwritten: so it shows that it is there.
            self.dues.statement = steady.saturating_add(STATEMENT);
            self.statement.at = 0;
        }
        let mut editions = self.state_editions(now);
        let is_due = self.dues.report <= steady || is_goodbye;
        let report = is_due.then(|| self.report(now, shift));
        let published = self.handles.published.load_full();
        let wanted = self.state.wanted(&published);
        let apart = !self.absent((now, steady)).is_empty();
        let beat = Beat { apart, ..self.gossip.beat(self.progress.applied, is_goodbye) };
        // Never the mark of before: if the server loses its data, every node has to see it.
        let mark = format!("{}-{now}", self.gossip.run);
        let fellowship = Arc::clone(&self.handles.fellowship);
        let alerts = &fellowship.alerts;
        let policy = &published.policy.policy;
        let can_send = !(policy.alerts.is_empty() && policy.reports.is_empty());
        self.progress.has_lease &= can_send;
        let is_leased = self.dues.lease <= steady && !is_goodbye && can_send;
        let reads_notices = self.progress.has_lease && self.dues.notices <= steady;
        let is_trimmed = self.dues.trim <= steady;
        let periods = match self.rewrites && is_due {
            true => self.state.known_periods(now),
            false => Vec::new(),
        };
        if !periods.is_empty() {
            editions.extend(self.state.known_bytes());
        }
        let (handed, settled) = (alerts.waiting(), alerts.settled());
        let round = Round {
            keys: &self.settings.keys,
            gossip: &self.gossip,
            beat: &beat,
            mark: &mark,
            cursor: self.state.cursor,
            now,
            report: report.as_ref(),
            editions,
            wanted,
            removed: &self.removed,
            periods,
            trims: is_trimmed,
            lease: is_leased.then_some(self.progress.has_lease),
            notices: self.notices(&handed, shift),
            settled: &settled,
            reported: alerts.reported().filter(|_| is_leased).unwrap_or_default(),
            reads_notices,
        };
        let (commands, writes) = round.commands();
        let link = connected(&mut self.link)?;
        let sent = self.handles.clock.moment().steady;
        let answer = link.ask(&commands).await?;
        let received = self.handles.clock.moment().steady;
        let mut answer = round.read(Replies::new(answer), writes)?;
        let written: Vec<String> = round.editions.into_iter().map(|(id, _)| id).collect();
        self.written.extend(written);
        alerts.handed(&handed);
        // Only now: after a failure, they are to be removed yet.
        self.removed.clear();
        self.rewrites &= !is_due;
        self.state.clocks.note(sent, received, answer.time);
        for (due, every, was_done) in [
            (&mut self.dues.report, REPORT, is_due),
            (&mut self.dues.trim, TRIM, is_trimmed),
            (&mut self.dues.lease, LEASE, is_leased),
            (&mut self.dues.notices, NOTICES, reads_notices),
        ] {
            if was_done {
                *due = steady.saturating_add(every);
            }
        }
        if reads_notices || !self.progress.has_lease {
            self.take_notices(std::mem::take(&mut answer.notices), shift);
            let reported = std::mem::take(&mut answer.reported);
            alerts.set_reported(self.progress.has_lease.then_some(reported));
            // Only now: what was removed is in the list of before.
            alerts.removed(&settled);
        }
        self.finish(answer, moment, is_leased)
    }

    /// Takes the answer of an exchange that began at this moment. Whether there is more to read.
    fn finish(&mut self, answer: Answer, began: Moment, is_leased: bool) -> Result<bool, Failure> {
        let sent = u64::try_from(self.gossip.sent()).unwrap_or_default();
        self.handles.metrics.fleet_news("sent", sent);
        self.answered(began.steady);
        if is_leased {
            self.progress.has_lease = answer.lease.as_deref() == Some(self.gossip.run.as_str());
            let alerts = &self.handles.fellowship.alerts;
            alerts.is_shared.store(answer.lease.is_some(), Ordering::Relaxed);
        }
        let moment = self.moment();
        let Some((now, shift)) = self.fleet_time(moment) else { return Ok(false) };
        self.note_step(shift, moment);
        let has_more = answer.entries.len() >= READ_AT_ONCE;
        self.state.take_editions(answer.editions);
        self.take_news(answer.entries, (now, shift), moment);
        if self.state.heard.has_gap() {
            self.handles.metrics.fleet_gap();
            self.progress.needs_registers = true;
        }
        let own = self.settings.node.clone();
        let beat = Beat { at: now, ..self.gossip.beat(self.progress.applied, false) };
        if self.absence.note_beats(&beat, &answer.beats, moment.steady) {
            // Both have told the others what they read, in one name.
            self.handles.conduct.keep_contact(Duration::ZERO, self.excuses());
        }
        let was_here = answer.beats.iter().any(|beat| beat.node == own && !beat.apart);
        self.absence.note_first(answer.mark.as_deref(), was_here, moment.steady);
        if self.state.take_beats(answer.beats, now) {
            self.forget_fetches();
        }
        self.note_horizon((now, shift));
        self.hand_over(shift);
        self.compare_mark(answer.mark);
        if !has_more && self.is_level() {
            let is_whole = self.absent((now, moment.steady)).is_empty();
            if is_whole {
                self.succeeded(began.steady);
            }
            if is_whole || !self.absence.waits(moment.steady) {
                self.answer_loaded();
            }
        }
        Ok(has_more || (!self.gossip.is_told() && self.gossip.has_room()))
    }

    fn show(&self) {
        let is_up = self.link.is_some() && self.trouble.is_none();
        let metrics = &self.handles.metrics;
        let now = self.fleet_time(self.moment());
        let (nodes, lag) = now.map_or((0, 0), |(now, _)| {
            (self.state.roster.count(now) + 1, self.state.roster.lag(now))
        });
        if !self.is_alone() {
            self.handles.conduct.note_nodes(nodes);
        }
        metrics.fleet(is_up, nodes, lag, now.map_or(0, |(_, shift)| -shift.0));
        let mut troubles = Vec::new();
        if !self.progress.has_joined {
            troubles.push("the fleet is not known yet".to_owned());
        }
        let now = now.map(|(now, _)| (now, self.moment().steady));
        troubles.extend(now.into_iter().flat_map(|now| self.absent(now)));
        let behind = self.handles.clock.behind();
        if behind >= SHOWN {
            let seconds = behind.as_secs();
            troubles.push(format!(
                "the clock was set back by {seconds} s: until it is right or Beadle restarts, the time \
                 of before goes on"
            ));
        }
        if let Some((code, _)) = self.trouble {
            troubles.push(format!("{}: {code}", self.settings.address));
        }
        let shown = self.handles.fellowship.troubles.load();
        if **shown != troubles {
            self.handles.fellowship.troubles.store(Arc::new(troubles));
        }
    }
}

fn connected(link: &mut Option<Link>) -> Result<&mut Link, Failure> {
    link.as_mut().ok_or_else(|| Failure::Unreachable("no connection".to_owned()))
}

/// Notes when this node becomes alone, even while an exchange waits for the server.
async fn watch(handles: Handles, excuses: bool) {
    let mut was_alone = true;
    handles.metrics.fleet_alone(true);
    loop {
        let is_alone = handles.conduct.is_alone(handles.clock.moment());
        // Each time: a late answer may have said otherwise.
        handles.fellowship.is_alone.store(is_alone, Ordering::Relaxed);
        if is_alone != was_alone {
            was_alone = is_alone;
            if is_alone {
                handles.fellowship.alerts.is_shared.store(false, Ordering::Relaxed);
            }
            handles.metrics.fleet_alone(is_alone);
            match is_alone {
                true => tracing::error!(
                    code = "fleet.alone",
                    excuses,
                    "alone: this node hears nothing of the others"
                ),
                false => tracing::info!(code = "fleet.together", "in exchange with the fleet"),
            }
        }
        sleep(WATCH).await;
    }
}
