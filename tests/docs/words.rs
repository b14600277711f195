//! The pages are written in plain English: short sentences, the field's words.

use crate::page::pages;

/// Words that make riddles. A page has a plainer one.
const RIDDLES: [&str; 9] =
    ["whom", "whoever", "whose sake", "nobody", "shall", "of which", "herewith", "thereof", "lest"];

/// The most words in a sentence of running text.
const LONGEST: usize = 25;

/// The running text: paragraphs and lists, without code, tables and headings.
fn sentences(prose: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in prose.lines() {
        let line = line.trim();
        let is_text = !line.is_empty() && !line.starts_with(['#', '|', '!']);
        let begins = line.starts_with("- ")
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if !is_text || begins {
            paragraphs.push(String::new());
        }
        if is_text && let Some(last) = paragraphs.last_mut() {
            last.push_str(line);
            last.push(' ');
        }
    }
    let sentences = paragraphs.iter().flat_map(|text| text.split(['.', ':', ';', '?']));
    sentences.map(str::to_owned).collect()
}

#[test]
fn no_page_speaks_in_riddles() {
    for page in pages() {
        let prose = page.prose().to_lowercase();
        let words = prose.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let text = format!(" {} ", words.collect::<Vec<_>>().join(" "));
        for riddle in RIDDLES {
            assert!(!text.contains(&format!(" {riddle} ")), "{}: '{riddle}'", page.name());
        }
    }
}

#[test]
fn no_sentence_is_long() {
    for page in pages().iter().filter(|page| !page.name().ends_with("SUMMARY.md")) {
        for sentence in sentences(&page.prose()) {
            let count = sentence.split_whitespace().count();
            assert!(count <= LONGEST, "{}: {count} words: {sentence}", page.name());
        }
    }
}
