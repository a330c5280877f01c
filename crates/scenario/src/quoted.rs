//! What messages quote of the input: a bounded part, and no control character.

/// The most characters of one quotation.
const LONGEST: usize = 80;

/// A text outside of quotes: cut, and control characters escaped.
pub(crate) fn cut(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST).collect();
    let rest = if shown.len() < text.len() { "..." } else { "" };
    escaped(&shown) + rest
}

/// The text with control characters escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// The message with long quotations (in quotes or backticks) cut, and control characters escaped.
pub(crate) fn printable(message: &str) -> String {
    let mut shown = String::with_capacity(message.len().min(1024));
    // The delimiter of the current quotation, and its length so far.
    let mut quoted: Option<(char, usize)> = None;
    let mut escaped = false;
    for c in message.chars() {
        let ends = quoted.is_some_and(|(delimiter, _)| c == delimiter && !escaped);
        escaped = c == '\\' && !escaped;
        let hidden = match &mut quoted {
            Some((_, length)) if !ends => {
                *length += 1;
                if *length == LONGEST + 1 {
                    shown.push_str("...");
                }
                *length > LONGEST
            }
            _ => false,
        };
        if ends {
            quoted = None;
        } else if quoted.is_none() && matches!(c, '"' | '`') {
            quoted = Some((c, 0));
        }
        match c {
            _ if hidden => {}
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_quotation_is_cut_and_the_sentence_around_it_is_kept() {
        let message = |n| format!("`qdiscs[0]`: expected a discipline, found {:?}: see the list", "y".repeat(n));
        assert_eq!(printable(&message(LONGEST)), message(LONGEST));
        let cut = printable(&message(5000));
        assert_eq!(cut, message(LONGEST).replace("\": see", "...\": see"));
    }

    #[test]
    fn a_quotation_ends_at_its_own_delimiter() {
        let message = format!("{:?} and `{}`", "a \" b ` c".repeat(20), "k".repeat(100));
        let shown = printable(&message);
        assert!(shown.contains("...\" and `kkk") && shown.ends_with("k...`"), "{shown}");
    }

    #[test]
    fn a_text_without_quotes_is_cut_too() {
        assert_eq!(cut("--set a=\u{1b}b"), "--set a=\\u{1b}b");
        assert_eq!(cut(&"\u{e4}".repeat(LONGEST)), "\u{e4}".repeat(LONGEST));
        assert_eq!(cut(&"\u{e4}".repeat(LONGEST + 1)), "\u{e4}".repeat(LONGEST) + "...");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("no group `a\u{1b}[31m`"), "no group `a\\u{1b}[31m`");
        assert_eq!(printable("a tab\there, an umlaut \u{e4}"), "a tab\\there, an umlaut \u{e4}");
    }
}
