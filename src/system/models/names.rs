//! Names within a model: what has none is given one, and what has another's is told apart.

use std::collections::{HashMap, HashSet};

/// The names that were given so far.
#[derive(Default)]
pub struct Names {
    known: HashSet<String>,
    /// What stood last behind a name that others have: where to go on.
    numbers: HashMap<String, usize>,
    /// Names that more than one has.
    pub twice: Vec<String>,
    /// What was done about them, in words.
    pub warnings: Vec<String>,
    reserved: Option<&'static str>,
}

impl Names {
    /// For nodes: the first node of every unit is the unit's own.
    pub fn of_nodes() -> Names {
        let mut names = Names { reserved: Some("root"), ..Names::default() };
        names.known.insert("root".to_string());
        names
    }

    /// A name that nothing else has; `what` and `index` make one where there is none.
    pub fn add(&mut self, name: Option<&str>, what: &str, index: usize) -> String {
        let given = name.filter(|name| !name.is_empty());
        let wanted = given.map_or_else(|| format!("{what}_{index}"), str::to_string);
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
                "a {what} is named '{wanted}', as the first {what} of every unit is: here it is \
                 '{other}'"
            ));
        } else {
            self.warnings.push(format!(
                "two {what}s are named '{wanted}': the second is '{other}' here; rename one"
            ));
            if before.is_none() {
                self.twice.push(wanted);
            }
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_have_the_same_name() {
        let mut names = Names::of_nodes();
        let given = [Some("a"), None, Some("a"), Some("a#2"), Some("root"), Some("")];
        let made: Vec<_> =
            given.iter().enumerate().map(|(i, name)| names.add(*name, "node", i)).collect();
        assert_eq!(made, ["a", "node_1", "a#2", "a#2#2", "root#2", "node_5"]);
        assert_eq!(names.twice, ["a", "a#2"]);
        assert_eq!(
            names.warnings[0],
            "two nodes are named 'a': the second is 'a#2' here; rename one"
        );
        assert!(names.warnings[2].contains("as the first node of every unit is"));
    }
}
