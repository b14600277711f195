//! Events as letters.

use crate::outside::mail::Letter;

use super::{
    chats::lines,
    event::{Event, Message},
};

pub(super) fn of(Message { id, event }: &Message, to: &[String]) -> Letter {
    let subject = format!("{}: {}", event.title(), event.summary);
    Letter { id: id.clone(), to: to.to_vec(), subject, text: text(event), html: None }
}

pub(super) fn text(event: &Event) -> String {
    let time = event.at.strftime("%F %H:%M:%S UTC");
    let lines: String = lines(event).map(|line| line + "\n").collect();
    format!("{lines}event: {}\ntime: {time}\n", event.kind)
}
