//! Covering arrays: few combinations of choices in which every two choices meet.

use std::collections::BTreeSet;

/// A choice: a feature, and one of its levels.
pub type Choice = (usize, usize);

/// Every two choices of different features, the earlier feature first, if each feature has so many levels.
pub fn all_pairs(levels: &[usize]) -> Vec<(Choice, Choice)> {
    let levels = levels.iter().enumerate();
    let choices: Vec<Choice> =
        levels.flat_map(|(feature, count)| (0..*count).map(move |level| (feature, level))).collect();
    let later = |one: Choice| choices.iter().filter(move |other| other.0 > one.0).map(move |other| (one, *other));
    choices.iter().copied().flat_map(later).collect()
}

/// Rows with a level for each feature, in which every two choices that may meet do so at least once. Greedy: each row
/// starts with a pair that is missing and takes for each other feature the level that meets most of the missing ones.
pub fn pairs(levels: &[usize], may_meet: impl Fn(Choice, Choice) -> bool) -> Vec<Vec<usize>> {
    let pairs = all_pairs(levels).into_iter();
    let mut missing: BTreeSet<(Choice, Choice)> = pairs.filter(|(one, other)| may_meet(*one, *other)).collect();
    let mut rows = Vec::new();
    while let Some(&(one, other)) = missing.first() {
        let row = row(levels, [one, other], &missing, &may_meet);
        let choices: Vec<Choice> = row.iter().copied().enumerate().collect();
        let before = missing.len();
        missing.retain(|(one, other)| !(choices[one.0] == *one && choices[other.0] == *other));
        assert!(missing.len() < before, "{one:?} and {other:?} may meet, but not in a row");
        rows.push(row);
    }
    rows
}

fn row(
    levels: &[usize],
    start: [Choice; 2],
    missing: &BTreeSet<(Choice, Choice)>,
    may_meet: impl Fn(Choice, Choice) -> bool,
) -> Vec<usize> {
    let mut chosen = start.to_vec();
    for (feature, count) in levels.iter().enumerate() {
        if chosen.iter().any(|(known, _)| *known == feature) {
            continue;
        }
        let news =
            |choice: Choice| chosen.iter().filter(|c| missing.contains(&(choice.min(**c), choice.max(**c)))).count();
        let allowed = (0..*count).map(|level| (feature, level));
        let allowed = allowed.filter(|choice| chosen.iter().all(|c| may_meet((*c).min(*choice), (*c).max(*choice))));
        chosen.push(allowed.max_by_key(|choice| news(*choice)).expect("a feature has a level that meets any others"));
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, level)| level).collect()
}

#[test]
fn every_two_choices_meet_in_few_rows() {
    let levels = [4, 3, 3, 2, 2, 2, 2, 2];
    // The third level of the second feature never meets the first of the first.
    let may_meet = |one: Choice, other: Choice| (one, other) != ((0, 0), (1, 2));
    let rows = pairs(&levels, may_meet);
    assert!(rows.len() < 24, "{} rows; all combinations are 1152", rows.len());
    assert!(rows.iter().all(|row| (row[0], row[1]) != (0, 2)));
    for (one, other) in all_pairs(&levels) {
        let met = rows.iter().any(|row| (row[one.0], row[other.0]) == (one.1, other.1));
        assert_eq!(met, may_meet(one, other), "{one:?} {other:?}");
    }
}
