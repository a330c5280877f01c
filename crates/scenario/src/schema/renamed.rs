//! Names that keys had in earlier releases. A file may still use them, and is told the new ones.

use std::borrow::Cow;
use std::sync::LazyLock;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, keys};
use crate::error::Fault;

/// Gives every key of a file its name of today. What it renames is told in `warnings`.
///
/// # Errors
/// A key that is given under both names.
pub(crate) fn rename(file: &mut DeTable<'_>, warnings: &mut Vec<Fault>) -> Result<(), Fault> {
    // Most releases rename nothing, and sweeps read thousands of files.
    static RENAMED: LazyLock<bool> = LazyLock::new(|| any_renamed(&keys()));
    if *RENAMED { rename_in(file, &keys(), warnings) } else { Ok(()) }
}

fn any_renamed(keys: &[Key]) -> bool {
    keys.iter().any(|key| !key.also.is_empty() || key.form.keys.is_some_and(|inner| any_renamed(&inner())))
}

fn rename_in(table: &mut DeTable<'_>, keys: &[Key], warnings: &mut Vec<Fault>) -> Result<(), Fault> {
    for key in keys {
        for old in key.also {
            let Some((written, value)) = table.remove_entry(*old) else { continue };
            let message = format!("`{old}` is called `{}` now", key.name);
            if table.contains_key(key.name) {
                return Err(Fault::plain(written.span(), format!("{message}, which is given too")));
            }
            table.insert(Spanned::new(written.span(), Cow::Borrowed(key.name)), value);
            warnings
                .push(Fault::plain(written.span(), format!("{message}: the old name works until the next release")));
        }
        if let (Some(inner), Some(value)) = (key.form.keys, table.get_mut(key.name)) {
            inside(value, &inner(), warnings)?;
        }
    }
    Ok(())
}

/// The same in a table, or in each table of a list.
fn inside(value: &mut Spanned<DeValue<'_>>, keys: &[Key], warnings: &mut Vec<Fault>) -> Result<(), Fault> {
    match value.get_mut() {
        DeValue::Table(table) => rename_in(table, keys, warnings),
        DeValue::Array(items) => items.iter_mut().try_for_each(|item| inside(item, keys, warnings)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{RawScenario, RawTable, RawTcp};

    /// The schema as it would be if `window` had been called `rwnd`.
    fn renamed(text: &str) -> Result<(String, Vec<String>), String> {
        fn tcp() -> Vec<Key> {
            let window = |key: Key| if key.name == "window" { Key { also: &["rwnd"], ..key } } else { key };
            RawTcp::keys().into_iter().map(window).collect()
        }
        let mut keys = RawScenario::keys();
        keys.iter_mut().filter(|key| key.name == "tcp").for_each(|key| key.form.keys = Some(tcp));
        assert!(any_renamed(&keys));
        let (mut file, mut warnings) = (DeTable::parse(text).unwrap(), Vec::new());
        rename_in(file.get_mut(), &keys, &mut warnings).map_err(|fault| fault.message)?;
        Ok((format!("{:?}", file.get_ref()), warnings.into_iter().map(|fault| fault.message).collect()))
    }

    #[test]
    fn a_key_is_read_under_its_old_name_with_a_warning() {
        let (file, warnings) = renamed("[[tcp]]\nrwnd = 9\n[[tcp]]\nwindow = 7\n").unwrap();
        assert!(!file.contains("rwnd") && file.matches("window").count() == 2, "{file}");
        assert_eq!(warnings, ["`rwnd` is called `window` now: the old name works until the next release"]);
    }

    #[test]
    fn a_key_under_both_names_is_refused() {
        let error = renamed("[[tcp]]\nrwnd = 9\nwindow = 7\n").unwrap_err();
        assert_eq!(error, "`rwnd` is called `window` now, which is given too");
    }
}
