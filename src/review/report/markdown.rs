//! A document as Markdown with tables, as GitHub and many wikis read it.

use super::{
    document::{Cell, Document, Table, bar, spark},
    number::grouped,
};

const BAR: usize = 12;

pub(crate) fn markdown(document: &Document) -> String {
    let mut out = format!("# {}\n", escape(&document.title));
    for sentence in &document.lead {
        out.push_str(&format!("\n{}\n", escape(sentence)));
    }
    for section in &document.sections {
        out.push_str(&format!("\n## {}\n", escape(&section.heading)));
        push_table(&mut out, &section.table);
        for sentence in &section.remarks {
            out.push_str(&format!("\n{}\n", escape(sentence)));
        }
    }
    out
}

fn push_table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    out.push('\n');
    push_row(out, table.columns().map(|(heading, _)| escape(heading)));
    let marks = table.columns().map(|(_, cell)| if cell.is_number() { "---:" } else { "---" });
    push_row(out, marks.map(str::to_owned));
    for row in &table.rows {
        let cells = row.iter().map(|cell| match cell {
            Cell::Text(text) | Cell::Number(text) => escape(text.trim_start()),
            Cell::Code(text) => code(text),
            Cell::Bar(part, whole) => bar(*part, *whole, BAR),
            Cell::Trend(numbers) => code(&spark(numbers)),
        });
        push_row(out, cells);
    }
    if table.more > 0 {
        out.push_str(&format!("\nAnd {} more.\n", grouped(table.more as u64)));
    }
}

fn push_row(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    for cell in cells {
        out.push_str(&format!(" {cell} |"));
    }
    out.push('\n');
}

/// The text as it is: no tag, link or emphasis.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // An address becomes a link by its colon, its at sign, or the dot of `www.`.
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' | '@' | '.' | ':'
                if !is_plain(c, text) =>
            {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether the character means nothing in this text.
fn is_plain(c: char, text: &str) -> bool {
    match c {
        '.' => !text.to_ascii_lowercase().contains("www."),
        ':' => !text.contains("://") && !text.to_ascii_lowercase().contains("mailto:"),
        _ => false,
    }
}

/// The text as code. The marks around it are longer than those in it.
fn code(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let marks = "`".repeat(longest + 1);
    // In a table, a bar ends the cell even in code.
    let text = text.replace('|', "\\|");
    let is_blank = text.chars().all(|c| c == ' ');
    match text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        _ if is_blank => String::new(),
        true => format!("{marks} {text} {marks}"),
        false => format!("{marks}{text}{marks}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        for (text, escaped) in [
            ("GPTBot", "GPTBot"),
            ("12.5", "12.5"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a|b", "a\\|b"),
            ("[x](javascript:1)", "\\[x\\](javascript:1)"),
            ("http://evil.example", "http\\://evil.example"),
            ("www.evil.example", "www\\.evil\\.example"),
            ("@team", "\\@team"),
            ("\\x1b", "\\\\x1b"),
            ("=1+1", "=1+1"),
        ] {
            assert_eq!(escape(text), escaped);
        }
        for (text, shown) in [
            ("/a", "`/a`"),
            ("/a|b", "`/a\\|b`"),
            ("/a`b", "``/a`b``"),
            ("`", "`` ` ``"),
            (" ", ""),
        ] {
            assert_eq!(code(text), shown);
        }
    }
}
