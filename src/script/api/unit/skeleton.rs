//! The Lua module `Unit`: the bones of units with animations, and their drawing as lines.

use super::animation::character;
use crate::api_row::{ModuleRows, NodeFlag, func, module, more};
use engine_foundation::Error;
use engine_runtime::Engine;
use engine_world::unit::UnitId;

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "bones",
            bones,
            &[("unit", "a unit")],
            "Returns the names of a unit's bones: those of the nodes of its model, parents before \
             children. `Unit.node` returns the index of the node of a bone.",
        )
        .pure(),
        func(
            "debug_draw_skeleton",
            debug_draw_skeleton,
            &[("unit", "a unit"), ("enabled", "true to draw, false to stop")],
            "Draws the bones of a unit as lines over its world, in each update of the world. Not \
             in releases.",
        )
        .node(NodeFlag::Hidden),
    ],
);

/// Native functions in the prelude's table `core`.
pub static CORE: ModuleRows = module(
    "core",
    "Skeletons, for the prelude.",
    "assert(core == nil)",
    &[func(
        "draw_skeletons",
        draw_skeletons,
        &[],
        "Draws the skeletons of all characters, or no longer.",
    )],
);

fn bones(engine: &mut Engine, unit: UnitId) -> Result<Vec<String>, Error> {
    Ok(character(engine, unit)?.model.skeleton.names().to_vec())
}

fn debug_draw_skeleton(engine: &mut Engine, unit: UnitId, enabled: bool) -> Result<(), Error> {
    character(engine, unit)?;
    engine.worlds.animations.skeletons.set(unit, enabled);
    Ok(())
}

fn draw_skeletons(engine: &mut Engine) {
    let skeletons = &mut engine.worlds.animations.skeletons;
    skeletons.all = !skeletons.all;
}
