//! Variants in a check: resources without one that every game can use, and the sets of preferred
//! properties with which units and levels are spawned.

use super::finding::{CheckFinding, CheckRule};
use super::platforms::CheckedPlatform;
use engine_foundation::compact_sort::CompactSort;
use engine_resource::index::{IndexEntry, ResourceIndex};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::variant::{PREFERENCES_MAX, VariantProperties};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of sets of properties with which resources are spawned, for each platform. The
/// variants of further sets are only compiled.
pub const SPAWN_SETS_MAX: usize = 64;

/// Kinds that are spawned.
pub const SPAWNED: [&str; 3] = [kind_names::UNIT, kind_names::MODEL, kind_names::LEVEL];

/// One run of the script that spawns resources.
#[derive(Debug, PartialEq)]
pub struct SpawnRun {
    /// The preferred properties.
    pub preferred: VariantProperties,
    /// The resources to spawn; all of the game if `None`.
    pub resources: Option<Vec<ResourceName>>,
}

/// Returns a warning for each resource that has only variants with properties. References to such a
/// resource are errors of their own.
pub fn missing_base_variants(index: &ResourceIndex) -> Vec<CheckFinding> {
    let is_broken = |resource: &ResourceName| {
        let base = |failed: &&_| {
            let failed: &&engine_resource::index::FailedVariant = failed;
            failed.resource == *resource && failed.properties.is_base()
        };
        index.broken.iter().find(base).is_some()
    };
    let resources = index.entries.chunk_by(|a, b| a.resource == b.resource);
    let without_base = resources.filter(|variants| {
        variants.iter().all(|entry| !entry.properties.is_base())
            && !is_broken(&variants[0].resource)
    });
    without_base.map(base_variant_warning).collect()
}

fn base_variant_warning(variants: &[IndexEntry]) -> CheckFinding {
    let ResourceName { kind, name } = &variants[0].resource;
    let kind = if kind == kind_names::LUA { "script" } else { kind };
    let path = &variants[0].files[0].path;
    let sets: Vec<String> =
        variants.iter().map(|entry| format!("\"{}\"", entry.properties)).collect();
    let text = format!(
        "{path}: the {kind} '{name}' has only the variants {}: it is missing until the game \
         prefers one of them: add a file without properties",
        sets.join(", ")
    );
    let variant = variants[0].properties.to_string();
    CheckFinding { variant, ..CheckFinding::warning(CheckRule::Variant, text) }
}

/// Returns the runs of a platform: one with all resources, for the first platform, `native`;
/// one with the resources that differ, for another platform; and one for each set of properties,
/// with the resources that it affects. Also returns a warning if sets are left out.
pub fn spawn_runs(
    platform: &CheckedPlatform,
    native: &CheckedPlatform,
) -> (Vec<SpawnRun>, Option<CheckFinding>) {
    let index = platform.store.index();
    let is_first = platform.name == native.name;
    let is_different = |entry: &&IndexEntry| {
        is_first
            || !native.store.index().variants(&entry.resource).iter().any(|other| {
                other.properties == entry.properties && other.data_content == entry.data_content
            })
    };
    let different: Vec<&IndexEntry> = index.entries.iter().filter(is_different).collect();
    let base = VariantProperties::default();
    let mut runs = Vec::new();
    match is_first {
        true => runs.push(SpawnRun { preferred: base, resources: None }),
        false => {
            let changed = different.iter().filter(|entry| entry.properties.is_base());
            let resources = affected(index, changed.map(|entry| &entry.resource).collect());
            add_run(&mut runs, base, resources);
        }
    }
    let sets: BTreeSet<&VariantProperties> =
        different.iter().map(|entry| &entry.properties).filter(|set| !set.is_base()).collect();
    let usable = |set: &&&VariantProperties| set.properties().count() <= PREFERENCES_MAX;
    for set in sets.iter().filter(usable).take(SPAWN_SETS_MAX) {
        let changed = different.iter().filter(|entry| entry.properties == **set);
        let resources = affected(index, changed.map(|entry| &entry.resource).collect());
        add_run(&mut runs, (**set).clone(), resources);
    }
    let left_out = (sets.len() > SPAWN_SETS_MAX).then(|| {
        let text = format!(
            "the game has {} sets of variants, and units are spawned with {SPAWN_SETS_MAX} of them \
             (SPAWN_SETS_MAX)",
            sets.len()
        );
        platform.locate(CheckFinding::warning(CheckRule::Variant, text))
    });
    (runs, left_out)
}

fn add_run(runs: &mut Vec<SpawnRun>, preferred: VariantProperties, resources: Vec<ResourceName>) {
    if !resources.is_empty() {
        runs.push(SpawnRun { preferred, resources: Some(resources) });
    }
}

/// Returns the units, models and levels among some resources and all that refer to them, directly
/// or through others, sorted.
fn affected(index: &ResourceIndex, changed: HashSet<&ResourceName>) -> Vec<ResourceName> {
    // A string in a script can name a resource of any kind.
    let mut users: HashMap<&str, Vec<&IndexEntry>> = HashMap::new();
    for entry in &index.entries {
        for reference in &entry.references {
            users.entry(&reference.name).or_default().push(entry);
        }
    }
    let mut found: HashSet<&ResourceName> = changed;
    let mut queue: Vec<&ResourceName> = found.iter().copied().collect();
    while let Some(resource) = queue.pop() {
        // A part of a container has the container's name at its start, and the script of a
        // component is named by dots or slashes.
        let dotted = resource.name.replace('/', ".");
        let parts = users.iter().filter(|(name, _)| {
            name.strip_prefix(resource.name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                || **name == dotted
        });
        for (_, entries) in parts {
            for entry in entries {
                if found.insert(&entry.resource) {
                    queue.push(&entry.resource);
                }
            }
        }
    }
    let spawned = found.into_iter().filter(|name| SPAWNED.contains(&name.kind.as_str()));
    let mut spawned: Vec<ResourceName> = spawned.cloned().collect();
    spawned.sort_compact();
    spawned
}
