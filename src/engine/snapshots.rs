//! Snapshots of a world's physics and animation.

use super::{Engine, Worlds};
use engine_foundation::Error;
use engine_world::physics::{PhysicsWorldId, SnapshotId};
use engine_world::tilemap::TilemapInstance;

impl Engine {
    /// Takes a snapshot of a physics world, with the characters of the world.
    ///
    /// # Errors
    /// Returns an error if there are too many snapshots, or no memory for another one.
    pub fn snapshot_physics(&mut self, physics: PhysicsWorldId) -> Result<SnapshotId, Error> {
        let Worlds { physics: tables, animations, units, .. } = &mut self.worlds;
        let animation = animations.snapshot(tables.world(physics).world, units, tables)?;
        let kept = tables.snapshot(physics)?;
        let snapshot = tables.snapshots.get_mut(kept.0).expect("it was added");
        snapshot.animation = Some(animation);
        Ok(kept)
    }

    /// Restores a snapshot of a physics world, with the characters of the world. Bodies of tile
    /// maps keep the tiles that they have.
    ///
    /// # Errors
    /// Returns an error if the snapshot is of another physics world.
    pub fn restore_physics(
        &mut self,
        physics: PhysicsWorldId,
        kept: SnapshotId,
    ) -> Result<(), Error> {
        let Worlds { physics: tables, animations, units, .. } = &mut self.worlds;
        tables.restore(physics, kept, units)?;
        let snapshot = tables.snapshots.get_mut(kept.0).expect("it was restored");
        if let Some(animation) = snapshot.animation.take() {
            animations.restore(&animation, units, tables);
            let snapshot = tables.snapshots.get_mut(kept.0).expect("it was restored");
            snapshot.animation = Some(animation);
        }
        let world = self.worlds.physics.world(physics).world;
        let units = &self.worlds.units;
        let of_world = |map: &TilemapInstance| units.of(map.unit).world == world;
        self.worlds.scenes.maps.note_restored_bodies(&mut self.assets.tilemaps, of_world);
        Ok(())
    }
}
