//! Decision ids: read, and explained if no record has one.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::Refusal;
use crate::base::escape::shown;

/// How long a record may wait until it is written.
const WRITTEN: SignedDuration = SignedDuration::from_secs(10);

/// The id in the form of records.
pub(crate) fn read(text: &str) -> Result<String, Refusal> {
    match Uuid::try_parse(text.trim()) {
        Ok(id) => Ok(id.hyphenated().to_string()),
        Err(_) => Err(Refusal::Term(format!(
            "'{}' is no decision id (an id has the form 01a1fac2-c907-705b-afda-7511298981af)",
            shown(text)
        ))),
    }
}

/// The reason why no record has an id. `retention` is how long records are kept.
pub(crate) fn absence(id: &str, retention: Option<Duration>, now: Timestamp) -> String {
    let Some(made) = time(id) else {
        return "it is no id of Beadle, whose ids are UUIDs of version 7".to_owned();
    };
    let retention = retention.and_then(|kept| SignedDuration::try_from(kept).ok());
    let age = now.duration_since(made);
    let made = format!("by its time, {made:.0},");
    match retention {
        _ if age < -WRITTEN => format!("{made} it is ahead of this machine's clock"),
        _ if age < WRITTEN => format!("{made} it may not be written yet: try again"),
        Some(kept) if age > kept => {
            let hours = kept.as_hours();
            let kept = match hours % 24 {
                0 => format!("{}d", hours / 24),
                _ => format!("{hours}h"),
            };
            format!("{made} it is older than 'violations.retention' ({kept})")
        }
        _ => format!(
            "{made} it may be counted without a record (beyond 'violations.detail', or dropped), \
             removed because of 'violations.max_size', or of another server"
        ),
    }
}

fn time(id: &str) -> Option<Timestamp> {
    let id = Uuid::try_parse(id).ok().filter(|id| id.get_version_num() == 7)?;
    let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, nanoseconds.cast_signed()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1fac2-c907-705b-afda-7511298981af";

    #[test]
    fn an_id_is_read_in_every_form_of_a_uuid() {
        for text in [
            ID,
            "01A1FAC2-C907-705B-AFDA-7511298981AF",
            "01a1fac2c907705bafda7511298981af",
            " urn:uuid:01a1fac2-c907-705b-afda-7511298981af",
        ] {
            assert_eq!(read(text).ok().as_deref(), Some(ID), "{text}");
        }
        for text in ["", "01a1fac2", "01a1fac2-c907-705b-afda-7511298981ag", "' OR 1=1 --"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_without_a_record_is_explained_by_its_time() {
        let made = time(ID).expect("version 7");
        let day = Duration::from_secs(86_400);
        for (age, retention, says) in [
            (-60, Some(day), "ahead of this machine's clock"),
            (1, Some(day), "not be written yet"),
            (3_600, Some(day), "violations.detail"),
            (86_401, Some(day), "older than 'violations.retention' (1d)"),
            (86_401, Some(day + day / 2), "violations.detail"),
            (999_999, Some(day + day / 2), "(36h)"),
            (999_999, None, "another server"),
        ] {
            let sentence = absence(ID, retention, made + SignedDuration::from_secs(age));
            assert!(sentence.contains(says), "{age}: {sentence}");
        }
        let other = "7b0e5c4c-2a53-4a1e-8a44-0b2f6e0f6a11";
        assert!(absence(other, None, made).contains("version 7"));
    }
}
