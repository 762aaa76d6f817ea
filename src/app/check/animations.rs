//! Warnings of clips and state machines: root motion that moves nothing, transitions that are never
//! taken.

use super::finding::{CheckFinding, CheckRule};
use engine_resource::store::ResourceStore;
use engine_world::animation::animation_warnings;

/// Returns the warnings of all animation files, of the clips of skeleton files, and of all state
/// machines.
pub fn warnings(store: &ResourceStore) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for entry in &store.index().entries {
        // Data that cannot be read is reported where it is used.
        let found = animation_warnings(&entry.resource.kind, || store.read_variant(entry));
        for warning in found.into_iter().flatten() {
            let line = warning.line.map_or(String::new(), |line| format!(":{line}"));
            let text = format!("{}{line}: {}", entry.files[0].path, warning.text);
            let finding = CheckFinding::warning(CheckRule::Animation, text);
            findings.push(CheckFinding { variant: entry.properties.to_string(), ..finding });
        }
    }
    findings
}
