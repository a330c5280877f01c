//! Locates keys in a file, for errors in tables that other programs read, such as `[sweep]`.

use toml::de::{DeTable, DeValue};

use crate::error::SourceText;

/// Line and column of the key at `path`, from 1; `None` if the text is not TOML or has no such key.
///
/// Keys in quotes may hold dots: `sweep.grid.link.rate` is found as `link.rate` in `[sweep.grid]`, as `rate` in
/// `[sweep.grid.link]` and as `"link.rate"`.
pub fn key_position(text: &str, path: &str) -> Option<(u32, u32)> {
    let tree = DeTable::parse(text).ok()?;
    let at = key_offset(tree.get_ref(), path)?;
    let (line, column, _) = SourceText { file: "", text, changes: Vec::new() }.locate(at..at);
    Some((line, column))
}

fn key_offset(table: &DeTable<'_>, path: &str) -> Option<usize> {
    table.iter().find_map(|(key, value)| {
        let rest = path.strip_prefix(key.get_ref().as_ref())?;
        match (rest.strip_prefix('.'), value.get_ref()) {
            (None, _) if rest.is_empty() => Some(key.span().start),
            (Some(rest), DeValue::Table(inner)) => key_offset(inner, rest),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::key_position;

    #[test]
    fn a_key_is_found_in_every_notation() {
        let dotted = "[sweep.grid]\n  link.rate = [1]\n";
        let tables = "a = 1\n[sweep.grid.link]\nlimit = [2]\nrate = [1]\n";
        let quoted = "sweep = { grid = { \"link.rate\" = [1] } }";
        let found = [dotted, tables, quoted].map(|text| key_position(text, "sweep.grid.link.rate"));
        assert_eq!(found, [Some((2, 8)), Some((4, 1)), Some((1, 20))]);
    }

    #[test]
    fn a_missing_key_has_no_position() {
        for path in ["", "b", "aa", "a.b", "a."] {
            assert_eq!(key_position("a = 1", path), None, "{path:?}");
        }
        assert_eq!(key_position("a = ", "a"), None);
    }
}
