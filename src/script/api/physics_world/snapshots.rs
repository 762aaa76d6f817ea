//! The native part of `PhysicsWorld.snapshot` and `PhysicsWorld.restore`, whose rest is in
//! lua/world/physics/snapshots.lua.

use super::PHYSICS;
use crate::api_row::{ModuleRows, func, more};
use crate::return_value::ManyResults;
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle};
use engine_runtime::Engine;
use engine_world::physics::{PhysicsWorldId, SnapshotId};

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = more(
    "PhysicsWorld",
    &[
        func(
            "physics_snapshot",
            physics_snapshot,
            &[PHYSICS],
            "Stores a state. Returns the snapshot and the navigation meshes that are part of it.",
        )
        .public_name("PhysicsWorld.snapshot"),
        func(
            "physics_restore",
            physics_restore,
            &[PHYSICS, ("snapshot", "")],
            "Restores a state. Returns the navigation meshes that were restored.",
        )
        .public_name("PhysicsWorld.restore"),
        func(
            "has_snapshot",
            has_snapshot,
            &[("snapshot", "")],
            "Returns true if the snapshot was not dropped.",
        ),
    ],
);

fn list(meshes: Vec<Handle>) -> ScriptValue {
    let numbers = meshes.into_iter().map(|mesh| ScriptValue::Number(mesh.to_number()));
    ScriptValue::List(numbers.collect())
}

fn physics_snapshot(engine: &mut Engine, physics: PhysicsWorldId) -> Result<ManyResults, Error> {
    let kept = engine.snapshot_physics(physics)?;
    let meshes = list(engine.meshes_of_snapshot(kept));
    Ok(ManyResults(vec![ScriptValue::Number(kept.0.to_number()), meshes]))
}

fn physics_restore(
    engine: &mut Engine,
    physics: PhysicsWorldId,
    kept: SnapshotId,
) -> Result<ScriptValue, Error> {
    engine.restore_physics(physics, kept).map(list)
}

fn has_snapshot(engine: &mut Engine, snapshot: f64) -> bool {
    let handle = Handle::from_number(snapshot);
    handle.is_some_and(|handle| engine.worlds.physics.snapshots.get(handle).is_some())
}
