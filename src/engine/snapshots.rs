//! Snapshots of a world's physics, animation and navigation.

use super::navigation::Navigation;
use super::{Engine, Worlds};
use engine_foundation::{Error, Handle};
use engine_navigation::NavigationMeshId;
use engine_navigation::snapshot::NavigationSnapshot;
use engine_world::WorldId;
use engine_world::physics::{PhysicsWorldId, SnapshotId};
use engine_world::tilemap::TilemapInstance;

impl Navigation {
    /// Returns the meshes of a world, without platforms. Meshes of triangles are of no world: they
    /// count as those of the main world.
    fn meshes_of_world(&self, world: WorldId, is_main: bool) -> Vec<Handle> {
        let owner = |mesh: Handle| {
            let id = NavigationMeshId(mesh);
            let level = self.levels.iter().find(|level| level.has_mesh(id));
            let of_world = || self.of_worlds.iter().find(|(_, known)| known.0 == mesh);
            level.map(|level| level.world).or_else(|| of_world().map(|(world, _)| *world))
        };
        let is_wanted = |mesh: &Handle| {
            let is_of_world = owner(*mesh).map_or(is_main, |owner| owner == world);
            is_of_world && self.agents.platform(*mesh).is_none()
        };
        self.meshes.iter().map(|(mesh, _)| mesh).filter(is_wanted).collect()
    }
}

impl Engine {
    /// Takes a snapshot of a physics world, with the characters and the navigation of the world.
    ///
    /// # Errors
    /// Returns an error if there are too many snapshots, or no memory for another one.
    pub fn snapshot_physics(&mut self, physics: PhysicsWorldId) -> Result<SnapshotId, Error> {
        let Worlds { physics: tables, animations, units, navigation, agents, main, .. } =
            &mut self.worlds;
        let world = tables.world(physics).world;
        let animation = animations.snapshot(world, units, tables)?;
        let roots = navigation.meshes_of_world(world, *main == Some(world));
        let Navigation { meshes, agents: of_meshes, .. } = navigation;
        let meshes = NavigationSnapshot::take(meshes, of_meshes, &roots)?;
        let kept = tables.snapshot(physics)?;
        let snapshot = tables.snapshots.get_mut(kept.0).expect("it was added");
        snapshot.animation = Some(animation);
        snapshot.navigation = Some((meshes, agents.snapshot(world, units)));
        Ok(kept)
    }

    /// Returns the navigation meshes of which a snapshot has the state.
    pub fn meshes_of_snapshot(&self, kept: SnapshotId) -> Vec<Handle> {
        let kept = self.worlds.physics.snapshots.get(kept.0);
        let navigation = kept.and_then(|kept| kept.navigation.as_ref());
        navigation.map_or_else(Vec::new, |(meshes, _)| meshes.meshes().collect())
    }

    /// Restores a snapshot of a physics world, with the characters and the navigation of the world.
    /// Bodies of tile maps keep the tiles that they have. Returns the navigation meshes that were
    /// restored.
    ///
    /// # Errors
    /// Returns an error if the snapshot is of another physics world, or if the system cannot start
    /// another thread.
    pub fn restore_physics(
        &mut self,
        physics: PhysicsWorldId,
        kept: SnapshotId,
    ) -> Result<Vec<Handle>, Error> {
        let Worlds { physics: tables, animations, units, navigation, agents, .. } =
            &mut self.worlds;
        tables.restore(physics, kept, units)?;
        let snapshot = tables.snapshots.get_mut(kept.0).expect("it was restored");
        let mut restored = Vec::new();
        if let Some((meshes, of_units)) = &snapshot.navigation {
            let Navigation { meshes: living, agents: of_meshes, .. } = navigation;
            restored = meshes.restore(living, of_meshes, &self.devices.tasks)?;
            agents.restore(of_units, units);
        }
        if let Some(animation) = snapshot.animation.take() {
            animations.restore(&animation, units, tables);
            let snapshot = tables.snapshots.get_mut(kept.0).expect("it was restored");
            snapshot.animation = Some(animation);
        }
        let world = self.worlds.physics.world(physics).world;
        let units = &self.worlds.units;
        let of_world = |map: &TilemapInstance| units.of(map.unit).world == world;
        self.worlds.scenes.maps.note_restored_bodies(&mut self.assets.tilemaps, of_world);
        Ok(restored)
    }
}
