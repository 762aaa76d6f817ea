//! Names inside of resources that become 32-bit ids: nodes, buses, parameters. Equal hashes are
//! refused by the compilers. This finds names that differ in upper and lower case alone.

use super::finding::{CheckFinding, CheckRule};
use crate::resource_kinds::HASHED_NAMES;
use engine_resource::store::ResourceStore;
use std::collections::HashMap;

/// Returns a warning for each pair of such names in a resource.
pub fn confusable(store: &ResourceStore) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for entry in &store.index().entries {
        let rows = HASHED_NAMES.iter().filter(|row| row.kind == entry.resource.kind);
        for row in rows {
            // Data that cannot be read is reported where it is used.
            let names = store.read_variant(entry).and_then(|bytes| (row.names)(&bytes));
            let path = &entry.files[0].path;
            for (one, other) in pairs(&names.unwrap_or_default()) {
                let noun = row.noun;
                let text = format!(
                    "{path}: the {noun} '{one}' and '{other}' differ in upper and lower case \
                     alone: they are two {noun}, which are easily confused: rename one"
                );
                let variant = entry.properties.to_string();
                let finding = CheckFinding::warning(CheckRule::Name, text);
                findings.push(CheckFinding { variant, ..finding });
            }
        }
    }
    findings
}

/// Returns the pairs of names that are equal in lower case.
fn pairs(names: &[String]) -> Vec<(&str, &str)> {
    let mut by_lower: HashMap<String, &str> = HashMap::new();
    let mut found = Vec::new();
    for name in names {
        if let Some(other) = by_lower.insert(name.to_lowercase(), name)
            && other != name
        {
            found.push((other, name.as_str()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_alone_are_pairs() {
        let names = ["root", "Lid", "lid", "lid", "Ünter", "ünter"].map(str::to_string);
        assert_eq!(pairs(&names), [("Lid", "lid"), ("Ünter", "ünter")]);
        assert_eq!(pairs(&[]), []);
    }
}
