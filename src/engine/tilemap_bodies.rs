//! Bodies of tile maps in worlds: changed tiles reach the physics before its next step.

use super::Engine;
use engine_foundation::Error;
use engine_tilemaps::TilemapId;
use engine_world::WorldId;
use engine_world::tilemap::TilemapInstances;
use engine_world::tilemap_collision::{self, CollisionSettings};
use std::sync::Arc;

impl Engine {
    /// Applies the edited tiles of a world's maps to their bodies.
    ///
    /// # Errors
    /// Returns the error of the first map whose body cannot be built.
    pub(super) fn apply_tile_edits(&mut self, world: WorldId) -> Result<(), Error> {
        if self.worlds.scenes.maps.of.is_empty() {
            return Ok(());
        }
        self.with_maps(|engine, maps| {
            let mut host = engine.component_host();
            let mut result = Ok(());
            for map in maps.iter_mut().filter(|map| map.collision.is_some()) {
                if host.units.of(map.unit).world == world {
                    result = result.and(tilemap_collision::apply_edits(&mut host, map));
                }
            }
            result
        })
    }

    /// Replaces the collision of a unit's map, or removes it. Returns false for a map that a script
    /// created.
    ///
    /// # Errors
    /// Returns an error if the world has no physics, if a filter or material does not exist, or if
    /// the map has too many edges.
    pub fn set_tilemap_collision(
        &mut self,
        id: TilemapId,
        settings: Option<CollisionSettings>,
    ) -> Result<bool, Error> {
        let Some(map) = self.worlds.unit_map(&self.assets, id) else { return Ok(false) };
        if settings.is_some() {
            let unit = map.unit;
            self.physics_world(self.worlds.units.of(unit).world)?;
        }
        self.with_maps(|engine, maps| {
            let map = maps.iter_mut().find(|map| map.map == id).expect("it was found");
            let settings = settings.map(Arc::new);
            tilemap_collision::replace(&mut engine.component_host(), map, settings)
        })?;
        Ok(true)
    }

    /// Calls a function with the maps of all units, which are not in the engine meanwhile.
    fn with_maps<R>(&mut self, each: impl FnOnce(&mut Engine, &mut TilemapInstances) -> R) -> R {
        let mut maps = std::mem::take(&mut self.worlds.scenes.maps);
        let result = each(self, &mut maps);
        self.worlds.scenes.maps = maps;
        result
    }
}
