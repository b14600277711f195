//! Secrets in paths: everybody can read robots.txt.

use crate::base::escape::shown;

use super::subject::{Findings, Subject};

/// Parameters whose values are secrets.
const KEYS: &str = "access_token api_key apikey auth auth_token key passwd password pwd secret sid sig \
    signature token";
/// The shortest value of such a parameter.
const LEAST_VALUE: usize = 8;
/// The shortest part of a path that is a random key.
const LEAST_KEY: usize = 20;

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    for (_, rule) in subject.rules() {
        let Some(secret) = secret(&rule.text) else { continue };
        let message = format!(
            "{} tells everybody '{}', which looks like a secret: robots.txt is public",
            rule.quoted(),
            shown(secret)
        );
        let help = "remove the rule, renew the secret, and protect the page with a password";
        findings.warn(rule.at, "lint.secret", message, help);
    }
}

fn secret(text: &str) -> Option<&str> {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let values = query.split('&').filter_map(|pair| pair.split_once('='));
    let is_secret = |key: &str, value: &str| {
        let key = key.trim_matches('*').to_ascii_lowercase();
        let is_word = |octet: u8| octet.is_ascii_alphanumeric() || b"-_.~%".contains(&octet);
        KEYS.split(' ').any(|one| one == key)
            && value.len() >= LEAST_VALUE
            && value.bytes().all(is_word)
            && value.bytes().any(|octet| octet.is_ascii_digit())
    };
    let mut values = values.map(|(key, value)| (key, value.trim_end_matches(['$', '*'])));
    let in_query = values.find(|(key, value)| is_secret(key, value) || is_random(value));
    let in_path = || {
        let parts = path.split(['/', '=']).map(|part| part.trim_matches(['*', '$']));
        parts.into_iter().find(|part| is_random(part))
    };
    in_query.map(|(_, value)| value).or_else(in_path)
}

/// Whether a text is a random key: many hexadecimal digits, or letters of both cases and digits in
/// no order. A UUID is one; the name of a file, with its ending, is none.
fn is_random(text: &str) -> bool {
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let bare = text.len() - text.matches('-').count();
    let is_hexadecimal = text.bytes().all(|octet| octet.is_ascii_hexdigit() || octet == b'-');
    if is_hexadecimal && bare >= 32 {
        return digits >= 4 && count(u8::is_ascii_alphabetic) >= 4;
    }
    let is_key = |octet: u8| octet.is_ascii_alphanumeric();
    let kinds = |octet: u8| match octet {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    };
    // In a title or a date, letters of one case and digits stand together.
    let changes = text.as_bytes().windows(2).filter(|two| kinds(two[0]) != kinds(two[1])).count();
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).count();
    text.len() >= LEAST_KEY
        && text.bytes().all(is_key)
        && numbers >= 3
        && count(u8::is_ascii_lowercase) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && changes * 2 >= text.len()
}

#[cfg(test)]
mod tests {
    use super::secret;

    #[test]
    fn a_secret_is_random_or_the_value_of_a_parameter_for_secrets() {
        for (text, expected) in [
            (
                "/preview/3f2a91c07d5e4b1a9c8e7f6a5b4c3d2e/",
                Some("3f2a91c07d5e4b1a9c8e7f6a5b4c3d2e"),
            ),
            (
                "/share/1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                Some("1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
            ),
            ("/x/aK3nQ9zP1mW7rT5yB2cD", Some("aK3nQ9zP1mW7rT5yB2cD")),
            ("/*?token=abc123def456", Some("abc123def456")),
            ("/api?a=1&api_key=s3cr3t-value$", Some("s3cr3t-value")),
            ("/*?token=", None),
            ("/*?key=*", None),
            ("/*?key=category", None),
            ("/?sort=abc123def456", None),
            ("/static/app.d41d8cd98f00b204e9800998ecf8427e.css", None),
            ("/2026/11/22/thisIsALongTitleWithCamelCase2026", None),
            ("/articles/11111111111111111111111111111111/", None),
            ("/wp-content/uploads/IMG20261122WA00012345678", None),
            ("/private/secret/password/", None),
            ("/", None),
        ] {
            assert_eq!(secret(text), expected, "{text}");
        }
    }
}
