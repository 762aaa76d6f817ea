//! What `Unit` does with all nodes of a unit at once.

use crate::engine::Engine;
use crate::foundation::Error;
use crate::script::row::{Module, func, more};
use crate::world::unit::UnitId;

pub static UNIT: Module = more(
    "Unit",
    &[func(
        "copy_scene_graph_local_from",
        copy_scene_graph_local_from,
        &[("unit", "a unit"), ("source", "another unit with as many nodes")],
        "Places every node of a unit as those of another are placed relative to their parents, the \
         root, too: what falls apart begins as what stood there.",
    )],
);

fn copy_scene_graph_local_from(
    engine: &mut Engine,
    unit: UnitId,
    source: UnitId,
) -> Result<(), Error> {
    let scene = &mut engine.units.scene;
    let (to, from) = (unit.row(), source.row());
    let (count, wanted) = (scene.count(to), scene.count(from));
    if count != wanted {
        return Err(crate::error!(
            "argument #2 'source': unit \"{}\" has {wanted} nodes, and unit \"{}\" has {count}: \
             they must be alike",
            engine.units.of(source).resource.name,
            engine.units.of(unit).resource.name
        ));
    }
    for node in 0..count {
        let pose = scene.local(from, node);
        scene.set_local(to, node, &pose);
    }
    Ok(())
}
