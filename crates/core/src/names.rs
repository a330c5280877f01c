//! Finds the nearest valid name for an error message. Python uses it too.

use alloc::vec::Vec;
use core::mem;

/// The name most similar to `typed`; among equals the first. `None` if more than a third of the letters differ and
/// neither text is the beginning of the other.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ranked = names.into_iter().map(|name| (NameDistance::new(typed, name), name));
    let (unlike, name) = ranked.min_by_key(|&(unlike, _)| unlike)?;
    let longest = name.len().max(typed.len());
    // Single letters, a common name for nodes, are never similar.
    (!unlike.unrelated || unlike.edits <= 1 + longest / 3 && unlike.edits < longest).then_some(name)
}

/// Distance of a name from the typed text. Earlier fields decide first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NameDistance {
    /// The edit distance. At most one if the typed text is the beginning of the name, at most two if the name is the
    /// beginning of the text. `queue delya` is therefore taken for `queue delay`, not for `queue`.
    capped_edits: usize,
    /// Whether neither text is the beginning of the other.
    unrelated: bool,
    edits: usize,
    /// Whether the first letters differ: typing errors are rare in the first letter.
    first_letter: bool,
}

impl NameDistance {
    fn new(typed: &str, name: &str) -> NameDistance {
        let edits = distance(typed, name);
        let (capped_edits, unrelated) = match () {
            () if typed.len().min(name.len()) < 2 => (edits, true),
            () if begins(name, typed) => (edits.min(1), false),
            () if begins(typed, name) => (edits.min(2), false),
            () => (edits, true),
        };
        let first = |word: &str| word.bytes().next().map(|letter| letter.to_ascii_lowercase());
        NameDistance { capped_edits, unrelated, edits, first_letter: first(typed) != first(name) }
    }
}

fn begins(word: &str, beginning: &str) -> bool {
    word.as_bytes().get(..beginning.len()).is_some_and(|part| part.eq_ignore_ascii_case(beginning.as_bytes()))
}

/// Edit distance, ignoring case: insert, delete, replace, or swap two neighbors. Each letter is edited at most once
/// (optimal string alignment, after Damerau, CACM 7(3), 1964). The crate `strsim` needs std.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let (mut before, mut row) = (above.clone(), above.clone());
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        mem::swap(&mut before, &mut above);
        mem::swap(&mut above, &mut row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn a_typing_error_finds_the_name_and_nonsense_finds_none() {
        let names = ["droptail", "red", "fred", "choke", "blue", "sfb", "faba", "pie"];
        assert_eq!(nearest("drptail", names), Some("droptail"));
        assert_eq!(nearest("drop", names), Some("droptail"));
        assert_eq!(nearest("FABA", names), Some("faba"));
        assert_eq!(nearest("rde", names), Some("red"));
        assert_eq!(nearest("rred", ["fred", "red"]), Some("red"));
        assert_eq!(nearest("maxpp", ["max_p", "maxp"]), Some("maxp"));
        assert_eq!(nearest("quicksilver", names), None);
        assert_eq!(
            (nearest("D", ["A", "B"]), nearest("b", ["A", "B"]), nearest("bottom", ["B"])),
            (None, Some("B"), None)
        );
    }

    #[test]
    fn a_name_with_a_typing_error_precedes_a_name_that_is_the_beginning_of_the_text() {
        let names = ["queue", "queue delay", "delay variation"];
        assert_eq!(nearest("queue delya", names), Some("queue delay"));
        assert_eq!(nearest("queue of the link", names), Some("queue"));
        assert_eq!(nearest("delay", names), Some("delay variation"));
    }

    #[test]
    fn an_exchange_of_neighbors_is_one_edit() {
        // By hand; in the last case each letter is edited once, where Damerau's own distance is 2.
        for (a, b, edits) in [
            ("rde", "red", 1),
            ("dealy", "delay", 1),
            ("abcd", "badc", 2),
            ("", "abc", 3),
            ("red", "RED", 0),
            ("ca", "abc", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
