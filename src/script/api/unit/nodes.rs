//! The Lua module `Unit`: functions on all nodes of a unit at once.

use crate::api_row::{ModuleRows, func, more};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::unit::UnitId;

pub static UNIT: ModuleRows = more(
    "Unit",
    &[func(
        "copy_scene_graph_local_from",
        copy_scene_graph_local_from,
        &[("unit", "a unit"), ("source", "another unit with the same number of nodes")],
        "Copies the local poses of all nodes of another unit, including the root. Use it, for \
         example, to replace an intact object with a broken one in the same pose.",
    )],
);

fn copy_scene_graph_local_from(
    engine: &mut Engine,
    unit: UnitId,
    source: UnitId,
) -> Result<(), Error> {
    let scene = &mut engine.worlds.units.scene;
    let (to, from) = (unit.row(), source.row());
    let (count, wanted) = (scene.count(to), scene.count(from));
    if count != wanted {
        return Err(engine_foundation::error!(
            "argument #2 'source': unit \"{}\" has {wanted} nodes, and unit \"{}\" has {count}: \
             they must be alike",
            engine.worlds.units.of(source).resource.name,
            engine.worlds.units.of(unit).resource.name
        ));
    }
    for node in 0..count {
        let pose = scene.local(from, node);
        scene.set_local(to, node, &pose);
    }
    Ok(())
}
