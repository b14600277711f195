//! Findings as annotations of GitHub's workflows: `::warning file=a.yaml,line=3,col=5,title=code::message`.

use super::{Diagnostic, Severity};

/// The finding as a workflow command, without the line end. The repair is the second line of the
/// annotation.
pub fn github(finding: &Diagnostic) -> String {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let place = &finding.place;
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let properties = [
        ("file", place.file.clone()),
        ("line", number(place.line)),
        ("col", number(place.column)),
        ("title", Some(finding.code.to_owned())),
    ];
    let properties: Vec<String> = properties
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", property(&value?))))
        .collect();
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    format!("::{kind} {}::{}", properties.join(","), data(&message))
}

/// A message: the characters that end a command are encoded.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property: `:` and `,` end it too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_has_its_place_and_no_foreign_command() {
        let finding = Diagnostic::warning("policy.regex_pattern", "'/a%20/b' is odd\n::error::x")
            .at(3, 5)
            .in_file("a,b:c.yaml")
            .help("write '/a'");
        assert_eq!(
            github(&finding),
            "::warning file=a%2Cb%3Ac.yaml,line=3,col=5,title=policy.regex_pattern::'/a%2520/b' is \
             odd%0A::error::x%0Ahelp: write '/a'"
        );
    }

    #[test]
    fn a_note_is_a_notice_and_an_unknown_place_is_left_out() {
        let finding = Diagnostic::note("robots.html", "x");
        assert_eq!(github(&finding), "::notice title=robots.html::x");
        assert_eq!(github(&Diagnostic::error("a.b", "x").at(2, 0)), "::error line=2,title=a.b::x");
    }
}
