//! The check of a game: it compiles all variants for all platforms, finds references that lead
//! nowhere, and spawns every unit, model and level. Reads the game's folder, and writes only
//! compiled data. The lint of scripts is in src/script/lint/, the output in src/command/check/.

mod agents;
mod animations;
mod field_lines;
mod finding;
mod graphs;
mod models;
mod names;
mod platforms;
pub mod references;
mod spawn;
mod tilemaps;
mod variants;

use finding::merge_causes;
pub use finding::{CheckFinding, CheckRule, unique};
pub use platforms::{CheckedPlatform, compile_all, names as platform_names, static_name};
pub use spawn::SpawnCounts;
pub(crate) use spawn::describe;

use engine_platform as platform;
use engine_resource::variant::VariantProperties;
use engine_script::lint::CreatedResources;
use references::ReferenceFinder;
use std::collections::HashSet;
use std::path::Path;

/// Returns the findings in compiled resources: missing references, missing base variants, names
/// that are easily confused, tiles that no tile set has, and warnings of models and clips.
/// `created` has the resources that scripts create.
pub fn check_resources(
    root: &Path,
    platforms: &[CheckedPlatform],
    created: &CreatedResources,
) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for platform in platforms {
        let mut finder = ReferenceFinder::new(root, platform, created);
        let missing = finder.findings();
        findings.extend(missing.into_iter().map(|finding| platform.locate(finding)));
        let others = variants::missing_base_variants(platform.store.index())
            .into_iter()
            .chain(names::confusable(&platform.store))
            .chain(tilemaps::unknown_tiles(&platform.store))
            .chain(models::warnings(&platform.store))
            .chain(animations::warnings(&platform.store));
        findings.extend(others.map(|finding| platform.locate(finding)));
    }
    unique(findings)
}

/// Spawns every unit, model and level for a frame, with each set of variants. Returns the findings,
/// and the numbers of resources that were spawned without preferred variants. `preferred` is the
/// only set if there is one.
pub fn spawn_all(
    root: &Path,
    platforms: &[CheckedPlatform],
    preferred: Option<&VariantProperties>,
) -> (Vec<CheckFinding>, SpawnCounts) {
    // Until now a signal ended the process at once, even during a long compile.
    platform::install_signal_handlers();
    let mut findings = Vec::new();
    let mut counts = SpawnCounts::default();
    // A problem that does not depend on the variant is reported for the first run only.
    let mut reported = HashSet::new();
    for checked in platforms {
        let (mut runs, left_out) = variants::spawn_runs(checked, &platforms[0]);
        if let Some(preferred) = preferred {
            runs.retain(|run| run.preferred.is_base());
            runs.iter_mut().for_each(|run| run.preferred = preferred.clone());
        }
        let is_first = std::ptr::eq(checked, &platforms[0]);
        findings.extend(left_out);
        for run in runs {
            let (found, spawned) = spawn::spawn(root, checked, &run, &mut reported);
            findings.extend(found);
            if is_first && (preferred.is_some() || run.preferred.is_base()) {
                counts = spawned;
            }
        }
    }
    (merge_causes(unique(findings)), counts)
}
