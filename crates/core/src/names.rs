//! The nearest valid name, for errors that help.

use alloc::vec::Vec;

/// The one of `names` most like `typed`, if any is close enough to be what was meant: at most a third of its letters
/// differ, or one begins with the other.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let begins = |name: &str| typed.len() >= 2 && (name.starts_with(typed) || typed.starts_with(name));
    let ranked = names.into_iter().map(|name| (!begins(name), distance(typed, name), name));
    let (unlike, distance, name) = ranked.min()?;
    let longest = name.len().max(typed.len());
    // Of the single letters that nodes are often called, none is like another.
    (!unlike || distance <= 1 + longest / 3 && distance < longest).then_some(name)
}

/// Edits (insert, delete, replace) between two names, case aside (Wagner and Fischer, 1974).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replace = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_the_name_and_nonsense_finds_none() {
        let names = ["droptail", "red", "fred", "choke", "blue", "sfb", "faba"];
        assert_eq!(nearest("drptail", names), Some("droptail"));
        assert_eq!(nearest("drop", names), Some("droptail"));
        assert_eq!(nearest("FABA", names), Some("faba"));
        assert_eq!(nearest("quicksilver", names), None);
        assert_eq!((nearest("D", ["A", "B"]), nearest("b", ["A", "B"])), (None, Some("B")));
    }
}
