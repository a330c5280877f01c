//! Texts of a file reach terminals, figures and pages. None may have a control character.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Fault;

/// Refuses control characters in all texts and keys of a table, except tabs and line ends.
///
/// A terminal obeys control characters, and a figure in SVG with one is no XML. The rule holds for every text: also for
/// those that only a discipline, a source or `[sweep]` reads.
pub(crate) fn check(table: &DeTable<'_>) -> Result<(), Fault> {
    table.iter().try_for_each(|(key, value)| {
        check_text(key.get_ref(), key.span())?;
        check_value(value)
    })
}

fn check_value(value: &Spanned<DeValue<'_>>) -> Result<(), Fault> {
    match value.get_ref() {
        DeValue::String(text) => check_text(text, value.span()),
        DeValue::Array(items) => items.iter().try_for_each(check_value),
        DeValue::Table(table) => check(table),
        _ => Ok(()),
    }
}

fn check_text(text: &str, span: Range<usize>) -> Result<(), Fault> {
    let lines = text.replace("\r\n", "\n");
    match lines.chars().find(|letter| is_control(*letter)) {
        Some(found) => {
            let message = format!("a text has no control characters, found U+{:04X}", u32::from(found));
            Err(Fault::value(span, message))
        }
        None => Ok(()),
    }
}

/// Also the characters that turn the direction of a line, so that it reads as another one, and those that XML lacks.
fn is_control(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        check_text(text, 0..0).err().map(|fault| fault.message)
    }

    #[test]
    fn texts_have_lines_tabs_and_letters_of_all_languages() {
        for text in ["", "two\nlines\r\nand\ta tab", "ü 漢 \u{200f}שלום é\u{301}"] {
            assert_eq!(found(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_first_control_character_is_named() {
        let refused = ["a\u{1b}[2J\u{7}", "a\rb", "\u{0}", "\u{7f}", "\u{9b}1m", "\u{202e}cba", "\u{fffe}"];
        let names = ["001B", "000D", "0000", "007F", "009B", "202E", "FFFE"];
        for (text, name) in refused.iter().zip(names) {
            assert_eq!(found(text), Some(format!("a text has no control characters, found U+{name}")), "{text:?}");
        }
    }
}
