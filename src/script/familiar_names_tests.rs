//! Tests of the table of names: it has no word twice.

use super::*;

#[test]
fn aliases_of_a_target_differ_and_are_trimmed() {
    let mut targets = std::collections::HashSet::new();
    for row in FAMILIAR_NAMES {
        assert!(targets.insert(row.target), "{} has two rows", row.target);
        for alias in row.aliases() {
            assert!(!alias.is_empty(), "{} has an empty alias", row.target);
            let same = row.aliases().filter(|other| other.eq_ignore_ascii_case(alias)).count();
            assert_eq!(same, 1, "{}: '{alias}' is there twice", row.target);
        }
    }
}

#[test]
fn missing_functions_mean_functions_only() {
    assert_eq!(equivalent("Sound", "play"), Some("Sound.trigger"));
    assert_eq!(equivalent("GameObject", "Find"), Some("World.unit_by_name"));
    assert_eq!(equivalent("Sound", "xyzzy"), None);
}
