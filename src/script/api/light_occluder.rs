//! The Lua module `LightOccluder`: shapes of units that cast shadows of lights. The prelude reads
//! lists of points (lua/world/light_occluders.lua).

use crate::api_row::{ModuleRows, func, hot, module, more};
use crate::argument::{ByteArgument, MaybeHandle};
use engine_foundation::{Error, Vec2};
use engine_runtime::Engine;
use engine_world::light_occluder::{
    LightOccluderId, OccluderInstance, OccluderShape, check_point, check_size,
};
use engine_world::unit::UnitId;

const OCCLUDER_ARG: (&str, &str) = ("light_occluder", "a light occluder");
const POSITION_ARG: (&str, &str) =
    ("position", "relative to its node, in the plane, in metres; 0, 0 by default");

pub static LIGHT_OCCLUDER: ModuleRows = module(
    "LightOccluder",
    "Light occluders are components of units: `Unit.light_occluder` finds them. They are shapes in \
     the plane of sprites that cast shadows of lights, and are not visible themselves.",
    r#"local world = Application.new_world("2d")
local unit = World.spawn_unit(world, "core/units/light_occluder")
local wall = Unit.light_occluder(unit, 1)
LightOccluder.set_box(wall, Vector2(4, 0.5))
assert(LightOccluder.shape(wall) == "box")
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[(
                "light_occluder",
                "a number that may be a light occluder's handle; nil and false are none",
            )],
            "Returns true if the handle refers to an existing light occluder. Never raises for a \
             stale handle.",
        )
        .pure(),
        func("unit", unit, &[OCCLUDER_ARG], "Returns the unit that the occluder belongs to.")
            .pure(),
        func(
            "node",
            node,
            &[OCCLUDER_ARG],
            "Returns the index of the node that it is attached to.",
        )
        .pure(),
        func(
            "shape",
            shape,
            &[OCCLUDER_ARG],
            "Returns its shape: \"box\", \"circle\", \"polygon\" or \"line\".",
        )
        .pure(),
        func(
            "set_box",
            set_box,
            &[OCCLUDER_ARG, ("size", "width and height in metres"), POSITION_ARG],
            "Makes it a box.",
        ),
        func(
            "set_circle",
            set_circle,
            &[OCCLUDER_ARG, ("radius", "in metres"), POSITION_ARG],
            "Makes it a circle.",
        ),
        func(
            "height",
            height,
            &[OCCLUDER_ARG],
            "Returns the height of its walls to each side of the plane, in metres.",
        )
        .pure(),
        func(
            "set_height",
            set_height,
            &[OCCLUDER_ARG, ("height", "from 0.001 to 10000 metres")],
            "Sets the height of its walls to each side of the plane. Lights that are higher above \
             the plane shine over it.",
        ),
        func("enabled", enabled, &[OCCLUDER_ARG], "Returns true if it casts shadows.").pure(),
        func(
            "set_enabled",
            set_enabled,
            &[OCCLUDER_ARG, ("enabled", "true if it casts shadows")],
            "Switches its shadows on or off.",
        ),
    ],
);

/// Native functions on which the prelude's functions are built.
pub static CORE: ModuleRows = more(
    "LightOccluder",
    &[
        func(
            "set_occluder_polygon",
            set_polygon,
            &[OCCLUDER_ARG, ("points", "")],
            "Makes it a polygon with the bytes of points.",
        )
        .public_name("LightOccluder.set_polygon"),
        func(
            "set_occluder_line",
            set_line,
            &[OCCLUDER_ARG, ("points", "")],
            "Makes it a line with the bytes of points.",
        )
        .public_name("LightOccluder.set_line"),
    ],
);

fn of(engine: &Engine, occluder: LightOccluderId) -> &OccluderInstance {
    engine.worlds.scenes.occluders.table.get(occluder.0)
}

fn alive(engine: &mut Engine, occluder: MaybeHandle) -> bool {
    let slots = &engine.worlds.scenes.occluders.table.slots;
    occluder.handle().is_some_and(|handle| slots.get(handle).is_some())
}

fn unit(engine: &mut Engine, occluder: LightOccluderId) -> UnitId {
    let row = of(engine, occluder).unit as usize;
    UnitId(engine.worlds.units.slots.handle_at(row).expect("occluders end with their units"))
}

fn node(engine: &mut Engine, occluder: LightOccluderId) -> u64 {
    u64::from(of(engine, occluder).node) + 1
}

fn shape(engine: &mut Engine, occluder: LightOccluderId) -> String {
    of(engine, occluder).settings.shape.name().to_string()
}

/// Sets a shape and its position. An error names the second argument.
fn set_shape(
    engine: &mut Engine,
    occluder: LightOccluderId,
    (shape, argument): (OccluderShape, &str),
    position: Vec2,
) -> Result<(), Error> {
    shape.check().map_err(|error| {
        engine_foundation::error!("argument #2 '{argument}': {}", error.message)
    })?;
    check_point("position", position)
        .map_err(|error| engine_foundation::error!("argument #3 'position': {}", error.message))?;
    let models = &mut engine.assets.models;
    engine.worlds.scenes.occluders.set_shape(models, occluder, (shape, position))
}

fn set_box(
    engine: &mut Engine,
    occluder: LightOccluderId,
    size: Vec2,
    position: Option<Vec2>,
) -> Result<(), Error> {
    let shape = OccluderShape::Box(size.to_array());
    set_shape(engine, occluder, (shape, "size"), position.unwrap_or(Vec2::ZERO))
}

fn set_circle(
    engine: &mut Engine,
    occluder: LightOccluderId,
    radius: f64,
    position: Option<Vec2>,
) -> Result<(), Error> {
    let shape = OccluderShape::Circle(radius as f32);
    set_shape(engine, occluder, (shape, "radius"), position.unwrap_or(Vec2::ZERO))
}

/// Returns the points in bytes, two floats each.
fn vectors(points: ByteArgument) -> Vec<Vec2> {
    let word = |four: &[u8]| f32::from_le_bytes(four.try_into().expect("four bytes"));
    let points = points.as_slice().chunks_exact(8);
    points.map(|pair| Vec2::new(word(&pair[..4]), word(&pair[4..]))).collect()
}

fn set_polygon(
    engine: &mut Engine,
    occluder: LightOccluderId,
    points: ByteArgument,
) -> Result<(), Error> {
    let shape = OccluderShape::Polygon(vectors(points).into());
    set_shape(engine, occluder, (shape, "points"), Vec2::ZERO)
}

fn set_line(
    engine: &mut Engine,
    occluder: LightOccluderId,
    points: ByteArgument,
) -> Result<(), Error> {
    let shape = OccluderShape::Line(vectors(points).into());
    set_shape(engine, occluder, (shape, "points"), Vec2::ZERO)
}

fn height(engine: &mut Engine, occluder: LightOccluderId) -> f64 {
    of(engine, occluder).settings.height.into()
}

fn set_height(engine: &mut Engine, occluder: LightOccluderId, height: f64) -> Result<(), Error> {
    check_size("height", height as f32)
        .map_err(|error| engine_foundation::error!("argument #2 'height': {}", error.message))?;
    engine.worlds.scenes.occluders.table.get_changed(occluder.0).settings.height = height as f32;
    Ok(())
}

fn enabled(engine: &mut Engine, occluder: LightOccluderId) -> bool {
    of(engine, occluder).settings.enabled
}

fn set_enabled(engine: &mut Engine, occluder: LightOccluderId, enabled: bool) {
    engine.worlds.scenes.occluders.table.get_changed(occluder.0).settings.enabled = enabled;
}
