//! The product tokens that a text in a User-Agent stands for.
//!
//! Other programs look for a text anywhere in the User-Agent. Beadle looks for product tokens as whole
//! words. A text that is no name of a crawler is not carried over.

use crate::{
    base::product_token::ProductToken,
    rules::crawlers::{Catalogue, is_findable},
};

use super::{
    draft::Loss,
    regex::{self, Found},
};

/// The product tokens of an expression, and what is lost of it.
pub(super) fn of_expression(
    catalogue: &Catalogue,
    text: &str,
    place: &str,
    is_caseless: bool,
) -> (Vec<String>, Vec<Loss>) {
    let expression = match regex::read(text) {
        Ok(expression) => expression,
        Err(why) => {
            let why = format!("{why}: no list of names, so no product token follows from it");
            return (Vec::new(), vec![Loss::new(place, text, why)]);
        }
    };
    let (mut tokens, mut losses) = (Vec::new(), Vec::new());
    for found in &expression.found {
        match of_text(catalogue, found) {
            Ok((found, loss)) => {
                tokens.extend(found);
                losses.extend(loss.map(|(what, why)| Loss::new(place, what, why)));
            }
            Err((what, why)) => losses.push(Loss::new(place, what, why)),
        }
    }
    if expression.has_dot {
        let why = "a '.' without a backslash stands for any character; it is read as a dot";
        losses.push(Loss::new(place, text, why));
    }
    if !is_caseless && !expression.ignores_case {
        let why =
            "the source distinguishes upper and lower case; Beadle does not, as RFC 9309 says";
        losses.push(Loss::new(place, text, why));
    }
    (tokens, losses)
}

/// A text, and why it is not carried over.
type Refusal = (String, String);

/// The tokens that a text stands for, and perhaps what is different about them.
fn of_text(
    catalogue: &Catalogue,
    found: &Found,
) -> Result<(Vec<String>, Option<Refusal>), Refusal> {
    let refuse = |text: &str, why: &str| Err((text.to_owned(), why.to_owned()));
    let Some(literal) = found.literal() else {
        return refuse("a text with a gap", "it is no product token");
    };
    let name = literal.trim();
    if name.is_empty() {
        return refuse(".*", "it finds every client, also people, whom Beadle never judges");
    }
    if name.contains('/') {
        let why = "it is no product token: a crawler is named without a version or an address";
        return refuse(name, why);
    }
    if ProductToken::new(name).is_none() {
        return refuse(name, "it is no product token");
    }
    let lower = name.to_ascii_lowercase();
    let is_known = catalogue.find(name).is_some();
    if !is_known && !is_findable(name) {
        return refuse(name, "it is a word of browsers; Beadle never judges people");
    }
    let contains = |token: &ProductToken| token.key().contains(&lower);
    let longer = catalogue
        .iter()
        .filter(|crawler| crawler.is_identifiable() && contains(crawler.product_token()));
    let longer = longer.map(|crawler| crawler.product_token().as_str().to_owned());
    let mut tokens: Vec<String> = vec![name.to_owned()];
    tokens.extend(longer.filter(|token| !token.eq_ignore_ascii_case(name)));
    let anchored = (found.at_start, found.at_end);
    let why = match anchored {
        (false, false) => None,
        _ => Some("the source finds it at one end of the User-Agent; Beadle finds it anywhere"),
    };
    Ok((tokens, why.map(|why| (name.to_owned(), why.to_owned()))))
}

/// The crawlers that obey a group for one of these tokens without being found by the source, by the
/// documentation of their operators.
pub(super) fn followers(catalogue: &Catalogue, tokens: &[&str]) -> Vec<Loss> {
    let has =
        |name: &ProductToken| tokens.iter().any(|token| token.eq_ignore_ascii_case(name.key()));
    let mut losses = Vec::new();
    for crawler in catalogue.iter().filter(|crawler| !has(crawler.product_token())) {
        let Some(group) = crawler.groups().find(|name| has(name)) else { continue };
        let why = format!(
            "it obeys the group for {group} by its operator's documentation, so the rules bind it too; \
             the source does not find it"
        );
        losses.push(Loss::new("crawlers", crawler.product_token().as_str(), why));
    }
    losses
}
