//! Components `agent` with a class of characters that no level of the game has. Units are spawned
//! without their level, so that only a player would see the warning.

use engine_foundation::compact_sort::CompactSort;
use engine_foundation::suggest;
use engine_resource::resource_kind::kind_names;
use engine_runtime::Engine;
use engine_world::level_navigation::file_of;
use engine_world::level_resource::LevelResource;
use std::collections::BTreeSet;

/// Returns a location and a message for each unit that was spawned whose class no level has. There
/// are none if no level has navigation: the units can be for other games.
pub fn unknown_classes(engine: &mut Engine) -> Vec<(String, String)> {
    let Engine { worlds, assets, .. } = engine;
    let resources = assets.store.index().entries.iter().map(|entry| &entry.resource);
    let levels = resources.filter(|resource| resource.kind == kind_names::LEVEL);
    let levels: BTreeSet<String> = levels.map(|resource| resource.name.clone()).collect();
    let mut known = BTreeSet::new();
    for name in levels {
        let level = LevelResource::read(&mut assets.store, &name);
        let file = level.and_then(|of| file_of(&mut assets.store, of.navigation.as_ref()));
        // Classes of files with errors are not known, and the errors come first.
        let Ok(file) = file else { return Vec::new() };
        known.extend(file.into_iter().flat_map(|file| file.classes).map(|class| class.name));
    }
    if known.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for unit in worlds.units.resources.values() {
        let Some(component) = &unit.template.agent else { continue };
        let Some(class) = component.class.as_ref().filter(|class| !known.contains(*class)) else {
            continue;
        };
        let hint = suggest::hint(class, known.iter().map(String::as_str));
        findings.push((
            format!("unit \"{}\", component '{}'", unit.name, component.name),
            format!(
                "the unit gets no agent in any level: no navigation of the game has agents \
                 '{class}'{hint}"
            ),
        ));
    }
    findings.sort_compact();
    findings
}
