//! The names, parameters and values that users may write for each discipline, and the values that are refused.

use aqm::registry::{DisciplineEntry, ENTRIES, Group, boxed, find};
use aqm::{BuildError, LinkInfo, ParameterInfo, Rate};

const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 3);

fn parameters() -> impl Iterator<Item = (&'static DisciplineEntry, ParameterInfo)> {
    ENTRIES.iter().flat_map(|entry| entry.fields().into_iter().map(move |field| (entry, field)))
}

/// Every name of the parameter, its current name first.
fn names(field: &ParameterInfo) -> Vec<&'static str> {
    [&[field.name], field.also, field.renamed_from].concat()
}

#[test]
fn rows_are_sorted_and_described() {
    assert!(ENTRIES.is_sorted_by(|a, b| a.name < b.name), "one row a name, in alphabetical order");
    for entry in ENTRIES {
        let one_line = |text: &str| !text.is_empty() && text.lines().count() == 1;
        assert!(one_line(entry.summary) && entry.summary.ends_with('.'), "{}: a sentence", entry.name);
        let citation = entry.citation;
        assert!(one_line(citation) && !citation.ends_with('.'), "{}: a phrase without a full stop", entry.name);
        // The first preset is the source of the defaults: the paper, or for modern disciplines an RFC or Linux.
        let sources: &[&str] = if entry.group == Group::Modern { &["paper", "rfc", "linux"] } else { &["paper"] };
        assert!(sources.contains(&entry.presets()[0].name), "{}: {}", entry.name, entry.presets()[0].name);
        assert!(entry.presets()[0].settings.is_empty(), "{}: the first preset is the defaults", entry.name);
        assert_eq!(find(entry.name).unwrap().name, entry.name);
        let has = |name| entry.fields().iter().any(|field| field.name == name);
        assert!(has("limit"), "{}: every discipline takes a limit", entry.name);
        assert_eq!(has("ecn"), entry.abilities.ecn, "{}: `ecn` is a parameter of those that mark", entry.name);
    }
}

#[test]
fn every_parameter_is_documented() {
    for (entry, field) in parameters() {
        let what = format!("{}:{}", entry.name, field.name);
        assert!(field.doc.ends_with('.') && field.doc.len() > 15, "{what}: \"{}\"", field.doc);
        assert!(!field.kind.is_empty() && !field.default.is_empty(), "{what}");
    }
}

#[test]
fn defaults_lie_in_their_ranges_and_every_other_name_sets_the_same_parameter() {
    for (entry, field) in parameters() {
        for name in names(&field) {
            let values = entry.resolve(&[(name, &field.default)]);
            let values = values.unwrap_or_else(|error| panic!("{}:{name}={}: {error}", entry.name, field.default));
            assert!(values.contains(&(field.name, field.default.clone())), "{}:{name}: {values:?}", entry.name);
        }
    }
}

#[test]
fn a_name_of_the_reciprocal_sets_the_parameter_to_one_over_its_value() {
    let mut tried = 0;
    for (entry, field) in parameters() {
        for name in field.inverse {
            // Powers of two, so that no digit is lost.
            for (written, reciprocal) in [("64", "0.015625"), ("1", "1"), (" 8 ", "0.125")] {
                let values = entry.resolve(&[(name, written)]).unwrap();
                assert!(
                    values.contains(&(field.name, reciprocal.into())),
                    "{}:{name}={written}: {values:?}",
                    entry.name
                );
            }
            for wrong in ["0", "-2", "0.5", "NaN", "inf", "banana", ""] {
                let Err(BuildError::BadValue { name: told, value, expected }) = entry.resolve(&[(name, wrong)]) else {
                    panic!("{}:{name}={wrong} is accepted", entry.name);
                };
                assert_eq!((told, value.as_str()), (*name, wrong));
                assert!(expected.contains(&format!("`{}`", field.name)), "{expected}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 6, "{tried} names");
}

#[test]
fn a_fixed_switch_accepts_only_the_value_of_its_discipline_and_names_the_other() {
    let mut tried = 0;
    for entry in ENTRIES {
        for switch in entry.fixed() {
            find(switch.otherwise).unwrap();
            let (right, wrong) = if switch.value { ("true", "0") } else { ("off", "1") };
            for name in switch.names {
                assert_eq!(entry.resolve(&[(name, right)]), entry.resolve(&[]), "{}:{name}={right}", entry.name);
                for value in [wrong, "banana"] {
                    let Err(BuildError::BadValue { name: told, expected, .. }) = entry.resolve(&[(name, value)]) else {
                        panic!("{}:{name}={value} is accepted", entry.name);
                    };
                    let names_the_other = expected.contains(&format!("`{}`", switch.otherwise));
                    assert_eq!((told, names_the_other), (*name, value == wrong), "{expected}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried >= 6, "{tried} names");
}

#[test]
fn names_are_used_once_in_a_row() {
    for entry in ENTRIES {
        let fields = entry.fields();
        let mut all: Vec<&str> = fields.iter().flat_map(names).collect();
        all.extend(fields.iter().flat_map(|field| field.inverse));
        all.extend(entry.fixed().iter().flat_map(|switch| switch.names));
        all.push("preset");
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b), "{}: {all:?}", entry.name);
    }
}

#[test]
fn every_preset_builds_and_its_values_as_text_reproduce_themselves() {
    for entry in ENTRIES {
        for preset in entry.presets() {
            let what = format!("{}:preset={}", entry.name, preset.name);
            assert!(!preset.about.is_empty(), "{what}: the preset has no source");
            let values = entry.resolve(&[("preset", preset.name)]).unwrap_or_else(|error| panic!("{what}: {error}"));
            let again: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(entry.resolve(&again).as_ref(), Ok(&values), "{what}");
            boxed::<()>(entry.name, &again, &LINK).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        let names: Vec<&str> = entry.fields().iter().map(|field| field.name).collect();
        let listed: Vec<&str> = entry.resolve(&[]).unwrap().iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, names, "{}: `values` lists every field in order", entry.name);
    }
}

#[test]
fn values_of_a_wrong_kind_or_out_of_range_are_refused_with_the_parameters_name() {
    let mut outside = 0;
    for (entry, field) in parameters() {
        let beyond = out_of_range(&field);
        outside += beyond.len();
        for value in beyond.iter().map(String::as_str).chain(["", "banana", "-1000", "inf", "NaN"]) {
            match entry.resolve(&[(field.name, value)]) {
                Err(BuildError::BadValue { name, value: told, expected }) => {
                    assert_eq!((name, told.as_str()), (field.name, value));
                    assert!(!expected.is_empty(), "{}:{name}={value}: the error names no expected value", entry.name);
                }
                other => panic!("{}:{}={value} (range: {}): {other:?}", entry.name, field.name, field.range),
            }
        }
    }
    // Without any stated range the loop would test no value out of range.
    assert!(outside >= ENTRIES.len() - 1, "{outside} values out of range");
}

/// Values just outside the range as the documentation states it: `0 to 1`, `at least 1ms`, `more than 0 and at most 1`.
fn out_of_range(field: &ParameterInfo) -> Vec<String> {
    let parts = field.range.split(" and ").filter(|part| !part.is_empty());
    let outside = parts.flat_map(|part| {
        if let Some((low, high)) = part.split_once(" to ") {
            return vec![times(low, 0.4), times(high, 2.0)];
        }
        let factors = [("at least ", 0.4), ("more than ", 1.0), ("at most ", 2.0), ("less than ", 1.0)];
        let told = factors.into_iter().find_map(|(words, factor)| Some((part.strip_prefix(words)?, factor)));
        let (bound, factor) = told.unwrap_or_else(|| panic!("`{}`: a range in other words: {part}", field.name));
        vec![times(bound, factor)]
    });
    outside.flatten().collect()
}

/// A bound times `factor`, with its unit; `None` if the product equals the bound.
fn times(bound: &str, factor: f64) -> Option<String> {
    let split = bound.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(bound.len());
    let (digits, unit) = bound.split_at(split);
    let number: f64 = digits.parse().unwrap_or_else(|_| panic!("a bound without a number: {bound}"));
    let factor = if number < 0.0 { 1.0 / factor } else { factor };
    (number != 0.0 || factor == 1.0).then(|| format!("{}{unit}", number * factor))
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    for (entry, field) in parameters() {
        let wrong = format!("{}x", field.name);
        match entry.resolve(&[(&wrong, "1")]) {
            Err(BuildError::UnknownName { what: "parameter", name, nearest, known }) => {
                assert_eq!((name, nearest.as_deref()), (wrong, Some(field.name)), "{}", entry.name);
                assert!(known.contains(&field.name));
            }
            other => panic!("{}:{wrong}: {other:?}", entry.name),
        }
    }
    for entry in ENTRIES {
        let first = entry.presets()[0].name;
        match entry.resolve(&[("preset", &format!("{first}x"))]) {
            Err(BuildError::UnknownName { what: "preset", nearest, .. }) => {
                assert_eq!(nearest.as_deref(), Some(first), "{}", entry.name);
            }
            other => panic!("{}:preset={first}x: {other:?}", entry.name),
        }
        match boxed::<()>(&entry.name.to_uppercase(), &[], &LINK).err() {
            Some(BuildError::UnknownName { what: "discipline", nearest, .. }) => {
                assert_eq!(nearest.as_deref(), Some(entry.name))
            }
            other => panic!("{}: {other:?}", entry.name),
        }
    }
}
