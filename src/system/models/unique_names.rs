//! Unique names within a model: unnamed items get a name, and duplicate names get a suffix.

use std::collections::{HashMap, HashSet};

/// Set of the names assigned so far.
#[derive(Default)]
pub struct UniqueNames {
    known: HashSet<String>,
    /// Last number appended to a duplicated name, where the search for the next one begins.
    numbers: HashMap<String, usize>,
    /// Names that several items have.
    pub duplicate_names: Vec<String>,
    /// Messages about renamed items.
    pub warnings: Vec<String>,
    reserved: Option<&'static str>,
}

impl UniqueNames {
    /// Returns a set for nodes. The name of a unit's first node, `root`, is reserved.
    pub fn of_nodes() -> UniqueNames {
        let mut names = UniqueNames { reserved: Some("root"), ..UniqueNames::default() };
        names.known.insert("root".to_string());
        names
    }

    /// Returns a unique name. If `name` is missing, it is built from `noun` and `index`.
    pub fn add(&mut self, name: Option<&str>, noun: &str, index: usize) -> String {
        let own_name = name.filter(|name| !name.is_empty());
        let wanted = own_name.map_or_else(|| format!("{noun}_{index}"), str::to_string);
        if self.known.insert(wanted.clone()) {
            return wanted;
        }
        let before = self.numbers.get(&wanted).copied();
        let mut number = before.unwrap_or(1) + 1;
        let mut other = format!("{wanted}#{number}");
        while !self.known.insert(other.clone()) {
            number += 1;
            other = format!("{wanted}#{number}");
        }
        self.numbers.insert(wanted.clone(), number);
        if self.reserved == Some(&wanted) {
            self.warnings.push(format!(
                "a {noun} is named '{wanted}', as the first {noun} of every unit is: here it is \
                 '{other}'"
            ));
        } else {
            self.warnings.push(format!(
                "two {noun}s are named '{wanted}': the second is '{other}' here; rename one"
            ));
            if before.is_none() {
                self.duplicate_names.push(wanted);
            }
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_names_are_distinct() {
        let mut names = UniqueNames::of_nodes();
        let names_to_add = [Some("a"), None, Some("a"), Some("a#2"), Some("root"), Some("")];
        let unique_names: Vec<_> =
            names_to_add.iter().enumerate().map(|(i, name)| names.add(*name, "node", i)).collect();
        assert_eq!(unique_names, ["a", "node_1", "a#2", "a#2#2", "root#2", "node_5"]);
        assert_eq!(names.duplicate_names, ["a", "a#2"]);
        assert_eq!(
            names.warnings[0],
            "two nodes are named 'a': the second is 'a#2' here; rename one"
        );
        assert!(names.warnings[2].contains("as the first node of every unit is"));
    }
}
