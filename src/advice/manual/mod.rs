//! The manual: pages for `man`, made of the arguments of the commands and of the keys of a policy.
//!
//! The same arguments and keys give the same bytes: a page has neither a date nor a width.
//!
//! May use: keys, crawlers, version. Must not know: files, what a command does.

mod page; // a command and its options, the keys of a policy, in the language of roff

pub(crate) use self::page::pages;

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn example() -> Command {
        let count = Command::new("count")
            .about("Count some")
            .long_about("Count some\n\nTells 'how many' – and `more`:\n\n  bell count\n  .bell\n\nThat is all.")
            .after_help("Examples:\n  bell count --by day")
            .arg(Arg::new("by").long("by").help("Count by this").value_name("KEY"));
        let hidden = Command::new("secret").hide(true);
        Command::new("bell")
            .about("Ring")
            .disable_help_subcommand(true)
            .subcommand(count)
            .subcommand(hidden)
    }

    fn named(name: &str) -> String {
        let pages = pages(example());
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, ["bell.1", "bell-count.1", "beadle.yaml.5"]);
        pages.iter().find(|page| page.name == name).expect("it is there").text.clone()
    }

    #[test]
    fn a_command_has_its_sections_in_the_order_of_a_manual() {
        let text = named("bell-count.1");
        let heads: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        assert_eq!(
            heads,
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"SEE ALSO\""]
        );
        assert!(text.contains("bell\\-count \\- Count some\n"), "{text}");
        assert!(
            text.contains("\\fBbell\\fR(1)") && text.contains("\\fBbeadle.yaml\\fR(5)"),
            "{text}"
        );
        let above = named("bell.1");
        assert!(above.contains("\\fBbell\\-count\\fR(1)"), "{above}");
        assert!(above.contains(".SH COMMANDS\n.TP\nbell\\-count(1)\nCount some\n"), "{above}");
        assert!(text.contains(".TH bell-count 1 \"\" \"beadle "), "{text}");
    }

    #[test]
    fn examples_keep_their_lines_and_text_is_ascii() {
        let text = named("bell-count.1");
        assert!(text.contains(".nf\nbell count\n\\&.bell\n.fi\n"), "{text}");
        assert!(text.contains("\\*(Aqhow many\\*(Aq \\[u2013] and \\fBmore\\fR:"), "{text}");
        assert!(text.is_ascii() && text.matches(".ds Aq").count() == 2, "{text}");
    }

    #[test]
    fn every_key_of_a_policy_is_in_the_page_of_the_policy() {
        let text = named("beadle.yaml.5");
        for section in
            [&crate::rules::keys::POLICY, &crate::rules::keys::SITE, &crate::rules::keys::ACME]
        {
            for key in section.keys {
                assert!(text.contains(&format!(".TP\n\\fB{}\\fR\n", key.name)), "{}", key.name);
            }
        }
        assert!(text.contains(".SS server.listen[].tls\n"), "{text}");
        assert!(text.contains("Default: \\fBtrue\\fR."), "{text}");
    }
}
