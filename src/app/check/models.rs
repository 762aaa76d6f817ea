//! Warnings of models: parts of their files that are left out, and triangles that contradict their
//! normals. The compiler stored them in the models' data.

use super::finding::{CheckFinding, CheckRule};
use engine_models::data::ModelData;
use engine_resource::resource_kind::kind_names;
use engine_resource::store::ResourceStore;

/// Returns the warnings of all models.
pub fn warnings(store: &ResourceStore) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let entries = &store.index().entries;
    for entry in entries.iter().filter(|entry| entry.resource.kind == kind_names::MODEL) {
        // Data that cannot be read is reported where it is used.
        let data = store.read_variant(entry).and_then(|bytes| ModelData::read(&bytes));
        for warning in data.iter().flat_map(|data| &data.warnings) {
            let text = format!("{}: {warning}", entry.files[0].path);
            let finding = CheckFinding::warning(CheckRule::Model, text);
            findings.push(CheckFinding { variant: entry.properties.to_string(), ..finding });
        }
    }
    findings
}
