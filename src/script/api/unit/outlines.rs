//! The Lua module `Unit`: lines around the shapes of units on the screen.

use crate::api_row::{ModuleRows, func, more};
use engine_foundation::{Color, Error};
use engine_frame_packet::outline::{OUTLINE_WIDTH_MAX, OutlineStyle};
use engine_runtime::Engine;
use engine_world::mesh::MeshId;
use engine_world::unit::UnitId;
use std::sync::Arc;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
/// Width of an outline in pixels, if none is passed.
const WIDTH: f64 = 2.0;

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "set_outline",
            set_outline,
            &[
                UNIT_ARG,
                ("color", "a colour; nil: no outline"),
                ("width", "pixels, above 0, at most 32; 2 by default"),
                ("through", "true to show it also through what hides the unit; false by default"),
            ],
            "Sets a line around all meshes that the unit has now, for example of a unit that is \
             selected. It is drawn over the tone-mapped picture, and is never darkened or blurred.",
        ),
        func(
            "has_outline",
            has_outline,
            &[UNIT_ARG],
            "Returns true if one of the unit's meshes has an outline.",
        )
        .pure(),
    ],
);

/// Returns the meshes of a unit.
fn meshes(engine: &Engine, unit: UnitId) -> Vec<MeshId> {
    let meshes = &engine.worlds.scenes.meshes;
    let slots = meshes.of_unit(unit.row());
    slots.filter_map(|slot| meshes.slots.handle_at(slot).map(MeshId)).collect()
}

fn set_outline(
    engine: &mut Engine,
    unit: UnitId,
    color: Option<Color>,
    width: Option<f64>,
    through: Option<bool>,
) -> Result<(), Error> {
    let width = width.unwrap_or(WIDTH);
    if !(width > 0.0 && width <= f64::from(OUTLINE_WIDTH_MAX)) {
        return Err(engine_foundation::error!(
            "argument #3 'width' must be above 0 and at most {OUTLINE_WIDTH_MAX} \
             (OUTLINE_WIDTH_MAX), got {width}"
        ));
    }
    let outline = color.map(|color| OutlineStyle {
        color: color.to_bytes(),
        width: width as f32,
        through: through.unwrap_or(false),
    });
    for mesh in meshes(engine, unit) {
        if engine.worlds.scenes.meshes.of(mesh).extra.outline != outline {
            let mesh = engine.worlds.scenes.meshes.change(mesh);
            Arc::make_mut(&mut mesh.extra).outline = outline;
        }
    }
    Ok(())
}

fn has_outline(engine: &mut Engine, unit: UnitId) -> bool {
    let has = |mesh: &MeshId| engine.worlds.scenes.meshes.of(*mesh).extra.outline.is_some();
    meshes(engine, unit).iter().any(has)
}
