//! The code of scripts, between `%{` and `}%`: assertions on the kernel's `tcp_info`, and variables.
//!
//! Scripts write Python. They use four statements of it, and the reader knows no others: `assert LEFT == RIGHT,
//! MESSAGE`, `NAME = VALUE`, `NAME += VALUE` and `print(...)`. A value is a number or a name.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    Assert { left: Operand, right: Operand },
    Assign { name: String, value: Operand },
    Increase { name: String, by: Operand },
    Print,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Number(i64),
    Name(String),
}

/// The names that scripts give to the states of congestion avoidance, in the order of Linux's `tcp_ca_state`.
pub const CA_STATES: [&str; 5] = ["TCP_CA_Open", "TCP_CA_Disorder", "TCP_CA_CWR", "TCP_CA_Recovery", "TCP_CA_Loss"];

/// Reads the text between the braces.
pub fn parse(text: &str) -> Result<Vec<Instruction>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    lines.flat_map(|line| line.split(';')).map(str::trim).filter(|line| !line.is_empty()).map(instruction).collect()
}

fn instruction(text: &str) -> Result<Instruction, String> {
    let unknown = || format!("`{text}` is no assertion, assignment or `print` that the reader knows");
    if let Some(asserted) = text.strip_prefix("assert ") {
        // A message may contain a comma; the comparison does not.
        let comparison = asserted.split(',').next().unwrap_or_default();
        let (left, right) = comparison.split_once("==").ok_or_else(unknown)?;
        let (left, right) = (operand(left).ok_or_else(unknown)?, operand(right).ok_or_else(unknown)?);
        return Ok(Instruction::Assert { left, right });
    }
    if text.starts_with("print(") && text.ends_with(')') {
        return Ok(Instruction::Print);
    }
    let (name, value) = text.split_once('=').ok_or_else(unknown)?;
    let value = operand(value).ok_or_else(unknown)?;
    let (name, increases) = name.trim().strip_suffix('+').map_or((name, false), |name| (name, true));
    match operand(name) {
        Some(Operand::Name(name)) if increases => Ok(Instruction::Increase { name, by: value }),
        Some(Operand::Name(name)) => Ok(Instruction::Assign { name, value }),
        _ => Err(unknown()),
    }
}

fn operand(text: &str) -> Option<Operand> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let number = match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        return number.ok().map(Operand::Number);
    }
    let name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.then(|| Operand::Name(text.into()))
}

/// The variables of a script, and the names that it asked for in vain.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    values: BTreeMap<String, i64>,
    /// Fields of `tcp_info` for which our sender has no counterpart: assertions on them are not checked.
    pub unchecked: BTreeSet<String>,
    /// Assertions checked.
    pub checked: usize,
}

impl Variables {
    /// Carries out `code`; `read` gives the sender's value of a field of `tcp_info`, if it has one. The error tells the
    /// first assertion that does not hold.
    pub fn run(&mut self, code: &[Instruction], read: impl Fn(&str) -> Option<i64>) -> Result<(), String> {
        for instruction in code {
            match instruction {
                Instruction::Print => {}
                Instruction::Assign { name, value } => {
                    if let Some(value) = self.value(value, &read)? {
                        self.values.insert(name.clone(), value);
                    }
                }
                Instruction::Increase { name, by } => {
                    let by = self.value(by, &read)?.unwrap_or_default();
                    *self.values.get_mut(name).ok_or_else(|| format!("`{name}` has no value"))? += by;
                }
                Instruction::Assert { left, right } => {
                    let (Some(actual), Some(expected)) = (self.value(left, &read)?, self.value(right, &read)?) else {
                        continue;
                    };
                    self.checked += 1;
                    if actual != expected {
                        return Err(difference(left, actual, expected));
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of an operand; `None` for a field that our sender does not have.
    fn value(&mut self, operand: &Operand, read: impl Fn(&str) -> Option<i64>) -> Result<Option<i64>, String> {
        let name = match operand {
            Operand::Number(number) => return Ok(Some(*number)),
            Operand::Name(name) => name,
        };
        if let Some(state) = CA_STATES.iter().position(|state| state == name) {
            return Ok(Some(state as i64));
        }
        if name.starts_with("tcpi_") {
            let value = read(name);
            if value.is_none() {
                self.unchecked.insert(name.clone());
            }
            return Ok(value);
        }
        self.values.get(name).map(|value| Some(*value)).ok_or_else(|| format!("`{name}` has no value"))
    }
}

/// What an assertion expected and what it found.
fn difference(field: &Operand, actual: i64, expected: i64) -> String {
    let Operand::Name(name) = field else { return format!("{actual} instead of {expected}") };
    let shown = |value: i64| match CA_STATES.get(value as usize) {
        Some(state) if name == "tcpi_ca_state" => state.trim_start_matches("TCP_CA_").to_string(),
        _ => value.to_string(),
    };
    let field = name.trim_start_matches("tcpi_").trim_start_matches("snd_");
    format!("`{field}` is {} instead of {}", shown(actual), shown(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<Variables, String> {
        let mut variables = Variables::default();
        let read = |name: &str| match name {
            "tcpi_snd_cwnd" => Some(10),
            "tcpi_ca_state" => Some(3),
            _ => None,
        };
        variables.run(&parse(text)?, read)?;
        Ok(variables)
    }

    #[test]
    fn assertions_compare_the_senders_fields_with_numbers_and_variables() {
        let text = "n = 0x9; n += 1\nassert tcpi_snd_cwnd == n, 'a, b' # ten\nassert tcpi_ca_state == TCP_CA_Recovery";
        assert_eq!(run(text).unwrap().checked, 2);
        assert_eq!(run("assert tcpi_snd_cwnd == 7").unwrap_err(), "`cwnd` is 10 instead of 7");
        assert_eq!(run("assert tcpi_ca_state == TCP_CA_Open").unwrap_err(), "`ca_state` is Recovery instead of Open");
    }

    #[test]
    fn a_field_that_the_sender_does_not_have_is_listed_and_not_checked() {
        let variables = run("assert tcpi_reordering == 3").unwrap();
        assert_eq!((variables.checked, variables.unchecked.len()), (0, 1));
    }

    #[test]
    fn other_python_is_an_error() {
        for text in ["if x: y", "assert x", "assert x in (1, 2)", "import os", "3 = x", "x = y + 1", "x += z"] {
            assert!(run(text).is_err(), "{text}");
        }
    }
}
