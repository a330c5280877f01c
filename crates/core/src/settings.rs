//! Settings as users write them: `minth=25%,maxth=50%`, after the name of a discipline or traffic source.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Parameters and values in the order written.
pub type Settings = Vec<(String, String)>;

/// Maximum depth of brackets: parsing and building nested disciplines uses stack.
const MAX_DEPTH: usize = 8;

/// Splits `text` at `separators` outside of square and round brackets.
///
/// # Errors
/// Unbalanced brackets, or brackets nested too deeply.
pub fn split<'t>(text: &'t str, separators: &[char]) -> Result<Vec<&'t str>, String> {
    let (mut parts, mut open, mut start) = (Vec::new(), Vec::new(), 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => open.push(letter),
            ']' | ')' => {
                let opening = if letter == ']' { '[' } else { '(' };
                if open.pop() != Some(opening) {
                    return Err(format!("a `{letter}` without its `{opening}` in \"{text}\""));
                }
            }
            _ if open.is_empty() && separators.contains(&letter) => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
        if open.len() > MAX_DEPTH {
            return Err(format!("brackets are nested more than {MAX_DEPTH} deep"));
        }
    }
    if let Some(opening) = open.pop() {
        return Err(format!("a `{opening}` without its `{}` in \"{text}\"", if opening == '[' { ']' } else { ')' }));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

/// Adds a setting. A value may contain `,`, `;` and `=` only within brackets.
///
/// # Errors
/// A malformed or repeated setting.
pub fn add(settings: &mut Settings, name: &str, value: &str) -> Result<(), String> {
    check(name, value)?;
    if settings.iter().any(|(known, _)| known == name) {
        return Err(given_twice(name));
    }
    settings.push((name.to_string(), value.to_string()));
    Ok(())
}

/// Checks the form of one setting.
fn check(name: &str, value: &str) -> Result<(), String> {
    let plain = |text: &str| !text.is_empty() && split(text, &[',', ';', '=']).is_ok_and(|parts| parts.len() == 1);
    if !plain(name) || name.contains(['[', ']', '(', ')']) || !plain(value) {
        return Err(format!("expected settings as in \"red:minth=25%,maxp=0.1\", found \"{name}={value}\""));
    }
    Ok(())
}

fn given_twice(name: &str) -> String {
    format!("`{name}` is given twice")
}

/// Splits `NAME` or `NAME:KEY=VALUE,KEY=VALUE` into name and settings. `None` if there is no name.
///
/// # Errors
/// The first malformed setting.
pub fn read(text: &str) -> Result<Option<(&str, Settings)>, String> {
    let (name, written) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let name = name.trim();
    if name.is_empty() || name.contains(['[', ']', '(', ')', ';', ',', '=']) {
        return Ok(None);
    }
    let (mut settings, mut names) = (Settings::new(), BTreeSet::new());
    for setting in written.map_or(Ok(Vec::new()), |written| split(written, &[',']))? {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, value) = (name.trim(), value.trim());
        check(name, value)?;
        // A set: a search among all earlier settings would take quadratic time for a long text.
        if !names.insert(name) {
            return Err(given_twice(name));
        }
        settings.push((name.to_string(), value.to_string()));
    }
    Ok(Some((name, settings)))
}

/// Writes `name` and its settings in the form that [`read`] accepts.
///
/// # Errors
/// The formatter's.
pub fn write(f: &mut fmt::Formatter<'_>, name: &str, settings: &Settings) -> fmt::Result {
    f.write_str(name)?;
    for (index, (name, value)) in settings.iter().enumerate() {
        write!(f, "{}{name}={value}", if index == 0 { ':' } else { ',' })?;
    }
    Ok(())
}

/// Borrows settings as pairs of strings.
pub fn pairs(settings: &Settings) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Declares a type written as a name with settings. The text names the expected input in errors.
#[macro_export]
macro_rules! named_settings {
    ($(#[$meta:meta])* $named:ident, $expected:literal) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $named {
            /// Its name in the registry.
            pub name: String,
            /// Parameter and value, in the order written.
            pub settings: $crate::settings::Settings,
        }

        impl $named {
            /// A value named `name`, without settings.
            pub fn named(name: &str) -> $named {
                $named { name: name.into(), settings: Vec::new() }
            }

            /// Adds one setting. A value may hold `,`, `;` and `=` only between brackets.
            ///
            /// # Errors
            /// A malformed or repeated setting.
            pub fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
                $crate::settings::add(&mut self.settings, name, value)
            }
        }

        impl core::fmt::Display for $named {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::settings::write(f, &self.name, &self.settings)
            }
        }

        /// Parses the form only. The registry checks the name.
        impl core::str::FromStr for $named {
            type Err = String;

            fn from_str(text: &str) -> Result<$named, String> {
                let expected = || alloc::format!(concat!("expected ", $expected, ", found {:?}"), text);
                let (name, settings) = $crate::settings::read(text)?.ok_or_else(expected)?;
                Ok($named { name: name.into(), settings })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_between_brackets_of_either_kind_do_not_separate() {
        let text = "size=pareto(10KB,1.2),on=[0s 1Mbit/s; 5s (a,b)],gap=exp(5ms)";
        assert_eq!(
            split(text, &[',']).unwrap(),
            ["size=pareto(10KB,1.2)", "on=[0s 1Mbit/s; 5s (a,b)]", "gap=exp(5ms)"]
        );
    }

    #[test]
    fn brackets_that_do_not_match_are_refused() {
        for bad in ["a(b", "a)b", "a(b]", "[a(b])", ")("] {
            assert!(split(bad, &[',']).is_err(), "{bad:?} was accepted");
        }
    }
}
