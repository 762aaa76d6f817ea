//! Tiles of maps that no tile set has. The engine draws nothing there and warns, and only a player
//! who reaches the level would see the warning.

use super::finding::{CheckFinding, CheckRule};
use engine_resource::resource_kind::kind_names;
use engine_resource::store::ResourceStore;
use engine_tilemaps::MapFile;

/// Returns a warning for each unknown tile of a map, as the engine logs them when it reads the map.
pub fn unknown_tiles(store: &ResourceStore) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for entry in &store.index().entries {
        if entry.resource.kind != kind_names::TILEMAP {
            continue;
        }
        // Data that cannot be read is reported where it is used.
        let map_file = store.read_variant(entry).and_then(|bytes| MapFile::read(&bytes));
        let messages = map_file.map(|map_file| map_file.unknown_tiles);
        for text in messages.unwrap_or_default() {
            let variant = entry.properties.to_string();
            let finding = CheckFinding::warning(CheckRule::Tilemap, text);
            findings.push(CheckFinding { variant, ..finding });
        }
    }
    findings
}
