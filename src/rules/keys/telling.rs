//! The keys of `alerts`, `reports` and `email`: what people are told.

use super::{
    section::{
        Absent::{Required, Value, Words},
        NONE, Section,
        Shape::{self, Choice, List},
        key,
    },
    values::{COUNT, EMAIL, EVENTS, FILE, HOST, MAIL_SERVER, TIME, URL, WEEKLY},
};

/// `alerts[]`.
pub static ALERT: Section = Section {
    path: "alerts[]",
    one_of: &["email_to", "url"],
    keys: &[
        key("url", URL, NONE)
            .means("where events go, `https://` or `http://`; may be a private address"),
        key("format", Choice(&["json", "slack", "teams", "discord", "ntfy"]), Value("json"))
            .means("what the receiver at `url` reads"),
        key("secret_file", FILE, NONE).means(
            "the secret that signs events, 16 bytes at least; not readable by every user. Required \
             with `format: json`",
        ),
        key("email_to", Shape::Some(&EMAIL), NONE)
            .means("e-mail addresses, in place of `url`. The section `email` names the server"),
        key("digest", TIME, Words("each event at once"))
            .means("how long to collect events for one e-mail. Needs `violations.database`"),
        key("on", Shape::Some(&Choice(&EVENTS)), Words("all")).means("the events to send"),
        key("violations_per_minute", COUNT, Value("600"))
            .means("violations at a site in one minute, above which `violation_rate` is sent"),
        key("impostors_per_minute", COUNT, Value("60")).means(
            "requests of impostors at a site in one minute, above which `impostors` is sent",
        ),
    ],
};

/// `reports[]`.
pub static REPORT: Section = Section {
    path: "reports[]",
    one_of: &[],
    keys: &[
        key("every", WEEKLY, Required)
            .means("when to send the report, in UTC: a day of the week or `day`, and the time"),
        key("to", Shape::Some(&EMAIL), Required).means("e-mail addresses"),
        key("sites", List(&HOST), Words("all, as one"))
            .means("hosts of the sites, each with its report"),
    ],
};

/// `email`.
pub static MAIL: Section = Section {
    path: "email",
    one_of: &[],
    keys: &[
        key("server", MAIL_SERVER, Required)
            .means("the SMTP server. Without a port, the usual one of `tls`: 587, 465 or 25"),
        key("tls", Choice(&["starttls", "implicit", "none"]), Value("starttls"))
            .means("how to encrypt the connection. Beadle never falls back to an open one"),
        key("from", EMAIL, Required).means("the sender's address"),
        key("username", Shape::Text, Words("no login")).means("the user at the server"),
        key("password_file", FILE, NONE)
            .means("the file with the user's password; not readable by every user"),
    ],
};
