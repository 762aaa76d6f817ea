//! The Lua modules `Debug` and `LineObject`: lines and text drawn over a world for game developers.

use crate::api_row::{ModuleRows, func, hidden, hot, module};
use crate::argument::{Integer, TextArgument};
use engine_foundation::{Color, Error, Mat4, Vec3};
use engine_runtime::{BuildMode, Engine};
use engine_world::WorldId;
use engine_world::debug_lines::{
    self, DebugLine, LINES_MAX, LineObject, LineObjectId, SEGMENTS, SEGMENTS_MAX,
};

const SECONDS: (&str, &str) = ("seconds", "seconds for which it is shown; one frame if left out");
const COLOR: (&str, &str) = ("color", "its colour; white if left out");
const OBJECT: (&str, &str) = ("line_object", "the line object to add to");
const PARTS: (&str, &str) = ("segments", "the number of segments of a circle; 20 if left out");

pub static DEBUG: ModuleRows = module(
    "Debug",
    "Lines, boxes, spheres and texts for developers: shown over the picture of every world, even \
     if something is in front of them. In a release nothing is shown.",
    r#"Debug.line(Vector3(0, 0, 0), Vector3(0, 0, 2), Color.red(), 1.5)
Debug.text("enemies: 12")
Debug.world_text("here", Vector3(0, 0, 2), Color.yellow())"#,
    &hidden([
        func(
            "line",
            line,
            &[("from", "one end"), ("to", "the other end"), COLOR, SECONDS],
            "Shows a line.",
        ),
        func(
            "box",
            show_box,
            &[
                ("pose", "its centre and axes"),
                ("extents", "half of its size along each axis"),
                COLOR,
                SECONDS,
            ],
            "Shows the edges of a box.",
        ),
        func(
            "sphere",
            sphere,
            &[("center", "its centre"), ("radius", "its radius in metres"), COLOR, SECONDS],
            "Shows a sphere as three circles.",
        ),
        func(
            "axes",
            axes,
            &[
                ("pose", "the pose to show"),
                ("length", "length of the axes in metres; 1 if left out"),
                SECONDS,
            ],
            "Shows the axes of a pose: x red, y green, z blue.",
        ),
        func(
            "text",
            text,
            &[("text", "one line"), COLOR, SECONDS],
            "Shows a line of text in a list at the top left of the screen.",
        ),
        func(
            "world_text",
            world_text,
            &[
                ("text", "one line"),
                ("position", "a point in the world"),
                COLOR,
                SECONDS,
                ("size", "size of the letters, in logical pixels; 16 if left out"),
            ],
            "Shows a line of text at a point in the world.",
        ),
        func("clear", clear, &[], "Removes everything that is still shown.").when_full(),
    ]),
);

pub static LINE_OBJECT: ModuleRows = module(
    "LineObject",
    "Lines that are collected once, and shown in each frame in which they are dispatched. \
     `World.create_line_object` creates a line object.",
    r#"local world = Application.main_world()
local lines = World.create_line_object(world)
LineObject.add_sphere(lines, Color.yellow(), Vector3(0, 5, 0), 1)
LineObject.dispatch(world, lines)
World.destroy_line_object(world, lines)"#,
    &hidden([
        hot(
            "add_line",
            add_line,
            &[OBJECT, ("color", "its colour"), ("from", "one end"), ("to", "the other end")],
            "Adds a line.",
        ),
        func(
            "add_axes",
            add_axes,
            &[
                OBJECT,
                ("pose", "the pose to show"),
                ("length", "length of the axes in metres; 1 if left out"),
            ],
            "Adds the axes of a pose: x red, y green, z blue.",
        ),
        func(
            "add_box",
            add_box,
            &[
                OBJECT,
                ("color", "its colour"),
                ("pose", "its centre and axes"),
                ("extents", "half of its size along each axis"),
            ],
            "Adds the edges of a box.",
        ),
        func(
            "add_sphere",
            add_sphere,
            &[
                OBJECT,
                ("color", "its colour"),
                ("center", "its centre"),
                ("radius", "its radius in metres"),
                PARTS,
            ],
            "Adds a sphere as three circles.",
        ),
        func(
            "add_half_sphere",
            add_half_sphere,
            &[
                OBJECT,
                ("color", "its colour"),
                ("center", "its centre"),
                ("radius", "its radius in metres"),
                ("normal", "the direction in which it bulges; up if left out"),
                PARTS,
            ],
            "Adds a half sphere.",
        ),
        func(
            "add_circle",
            add_circle,
            &[
                OBJECT,
                ("color", "its colour"),
                ("center", "its centre"),
                ("radius", "its radius in metres"),
                ("normal", "perpendicular to the circle; up if left out"),
                PARTS,
            ],
            "Adds a circle.",
        ),
        func(
            "add_capsule",
            add_capsule,
            &[
                OBJECT,
                ("color", "its colour"),
                ("from", "the centre of one end"),
                ("to", "the centre of the other end"),
                ("radius", "its radius in metres"),
                PARTS,
            ],
            "Adds a capsule.",
        ),
        func(
            "add_cone",
            add_cone,
            &[
                OBJECT,
                ("color", "its colour"),
                ("from", "the centre of its base"),
                ("to", "its tip"),
                ("radius", "radius of its base, in metres"),
                PARTS,
            ],
            "Adds a cone.",
        ),
        func("reset", reset, &[OBJECT], "Removes all of its lines.").when_full(),
        func(
            "dispatch",
            dispatch,
            &[
                ("world", "the world that it belongs to"),
                ("line_object", "the line object to show"),
            ],
            "Shows its lines in this frame.",
        ),
    ]),
);

fn is_off(engine: &Engine) -> bool {
    engine.game.build == BuildMode::Release
}

/// Returns the game time until which a drawing is shown.
fn end_time(engine: &Engine, seconds: Option<f64>) -> f64 {
    seconds.map_or(-1.0, |seconds| engine.frame.total + seconds)
}

fn bytes(color: Option<Color>) -> [u8; 4] {
    color.unwrap_or(Color::WHITE).to_bytes()
}

fn show(engine: &mut Engine, lines: &[DebugLine], seconds: Option<f64>) -> Result<(), Error> {
    if is_off(engine) {
        return Ok(());
    }
    let until = end_time(engine, seconds);
    engine.worlds.lines.show(None, lines, until).map_err(Error::new)
}

fn line(
    engine: &mut Engine,
    from: Vec3,
    to: Vec3,
    color: Option<Color>,
    seconds: Option<f64>,
) -> Result<(), Error> {
    show(engine, &[DebugLine { from, to, color: bytes(color) }], seconds)
}

fn show_box(
    engine: &mut Engine,
    pose: Mat4,
    extents: Vec3,
    color: Option<Color>,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let mut lines = Vec::new();
    debug_lines::add_box(pose, extents, bytes(color), &mut lines);
    show(engine, &lines, seconds)
}

fn sphere(
    engine: &mut Engine,
    center: Vec3,
    radius: f64,
    color: Option<Color>,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let mut lines = Vec::new();
    debug_lines::add_sphere(center, radius as f32, SEGMENTS, bytes(color), &mut lines);
    show(engine, &lines, seconds)
}

fn axes(
    engine: &mut Engine,
    pose: Mat4,
    length: Option<f64>,
    seconds: Option<f64>,
) -> Result<(), Error> {
    let mut lines = Vec::new();
    debug_lines::add_axes(pose, length.unwrap_or(1.0) as f32, &mut lines);
    show(engine, &lines, seconds)
}

/// Default text size in logical pixels.
const TEXT_SIZE: f64 = 16.0;

fn text(
    engine: &mut Engine,
    text: TextArgument,
    color: Option<Color>,
    seconds: Option<f64>,
) -> Result<(), Error> {
    show_text(engine, None, text, color, seconds, TEXT_SIZE)
}

fn world_text(
    engine: &mut Engine,
    text: TextArgument,
    position: Vec3,
    color: Option<Color>,
    seconds: Option<f64>,
    size: Option<f64>,
) -> Result<(), Error> {
    show_text(engine, Some(position), text, color, seconds, size.unwrap_or(TEXT_SIZE))
}

fn show_text(
    engine: &mut Engine,
    at: Option<Vec3>,
    text: TextArgument,
    color: Option<Color>,
    seconds: Option<f64>,
    size: f64,
) -> Result<(), Error> {
    if size <= 0.0 {
        return Err(engine_foundation::error!("argument #5 'size' must be above 0, got {size}"));
    }
    if is_off(engine) {
        return Ok(());
    }
    let (until, color) = (end_time(engine, seconds), color.unwrap_or(Color::WHITE));
    engine.worlds.lines.add_text(at, text.as_str(), size as f32, color, until).map_err(Error::new)
}

fn clear(engine: &mut Engine) {
    engine.worlds.lines.clear();
}

/// Adds the lines that `make` creates to a line object.
fn add(
    engine: &mut Engine,
    object: LineObjectId,
    make: impl FnOnce(&mut Vec<DebugLine>),
) -> Result<(), Error> {
    let object = engine.worlds.lines.objects.get_mut(object.0).expect("it was checked");
    if object.lines.len() >= LINES_MAX {
        return Err(engine_foundation::error!(
            "this line object has {LINES_MAX} lines already (LINES_MAX)"
        ));
    }
    make(&mut object.lines);
    Ok(())
}

fn parts(parts: Option<Integer>) -> Result<u32, Error> {
    let parts = parts.map_or(SEGMENTS.into(), |parts| parts.0);
    if !(3..=i64::from(SEGMENTS_MAX)).contains(&parts) {
        return Err(engine_foundation::error!(
            "'segments' must be 3 to {SEGMENTS_MAX}, got {parts}"
        ));
    }
    Ok(parts as u32)
}

fn add_line(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    from: Vec3,
    to: Vec3,
) -> Result<(), Error> {
    let color = color.to_bytes();
    add(engine, object, |lines| lines.push(DebugLine { from, to, color }))
}

fn add_axes(
    engine: &mut Engine,
    object: LineObjectId,
    pose: Mat4,
    length: Option<f64>,
) -> Result<(), Error> {
    let length = length.unwrap_or(1.0) as f32;
    add(engine, object, |lines| debug_lines::add_axes(pose, length, lines))
}

fn add_box(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    pose: Mat4,
    extents: Vec3,
) -> Result<(), Error> {
    add(engine, object, |lines| debug_lines::add_box(pose, extents, color.to_bytes(), lines))
}

fn add_sphere(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    center: Vec3,
    radius: f64,
    segments: Option<Integer>,
) -> Result<(), Error> {
    let (radius, parts) = (radius as f32, parts(segments)?);
    add(engine, object, |lines| {
        debug_lines::add_sphere(center, radius, parts, color.to_bytes(), lines)
    })
}

fn add_half_sphere(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    center: Vec3,
    radius: f64,
    normal: Option<Vec3>,
    segments: Option<Integer>,
) -> Result<(), Error> {
    let (normal, parts) = (normal.unwrap_or(Vec3::Z), parts(segments)?);
    add(engine, object, |lines| {
        debug_lines::add_half_sphere(center, radius as f32, normal, parts, color.to_bytes(), lines);
    })
}

fn add_circle(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    center: Vec3,
    radius: f64,
    normal: Option<Vec3>,
    segments: Option<Integer>,
) -> Result<(), Error> {
    let (normal, parts) = (normal.unwrap_or(Vec3::Z), parts(segments)?);
    add(engine, object, |lines| {
        debug_lines::add_circle(center, radius as f32, normal, parts, color.to_bytes(), lines);
    })
}

fn add_capsule(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    from: Vec3,
    to: Vec3,
    radius: f64,
    segments: Option<Integer>,
) -> Result<(), Error> {
    let (radius, parts) = (radius as f32, parts(segments)?);
    add(engine, object, |lines| {
        debug_lines::add_capsule(from, to, radius, parts, color.to_bytes(), lines);
    })
}

fn add_cone(
    engine: &mut Engine,
    object: LineObjectId,
    color: Color,
    from: Vec3,
    to: Vec3,
    radius: f64,
    segments: Option<Integer>,
) -> Result<(), Error> {
    let (radius, parts) = (radius as f32, parts(segments)?);
    add(engine, object, |lines| {
        debug_lines::add_cone(from, to, radius, parts, color.to_bytes(), lines)
    })
}

fn reset(engine: &mut Engine, object: LineObjectId) {
    let object = engine.worlds.lines.objects.get_mut(object.0).expect("it was checked");
    object.lines.clear();
}

fn of_world(engine: &Engine, world: WorldId, object: LineObjectId) -> Result<(), Error> {
    let object = engine.worlds.lines.objects.get(object.0).expect("it was checked");
    match object.world == world.0 {
        true => Ok(()),
        false => Err(engine_foundation::error!("this line object belongs to another world")),
    }
}

fn dispatch(engine: &mut Engine, world: WorldId, object: LineObjectId) -> Result<(), Error> {
    of_world(engine, world, object)?;
    if is_off(engine) {
        return Ok(());
    }
    engine.worlds.lines.dispatch(object).map_err(Error::new)
}

/// Native function of a row in `World`.
pub fn create_line_object(engine: &mut Engine, world: WorldId) -> Result<LineObjectId, Error> {
    let object = LineObject { world: world.0, lines: Vec::new() };
    let added = engine.worlds.lines.objects.add(object).map(LineObjectId);
    added.ok_or_else(|| {
        engine_foundation::error!(
            "{} line objects already exist (LINE_OBJECTS_MAX): destroy one first",
            debug_lines::LINE_OBJECTS_MAX
        )
    })
}

pub fn destroy_line_object(
    engine: &mut Engine,
    world: WorldId,
    object: LineObjectId,
) -> Result<(), Error> {
    of_world(engine, world, object)?;
    let location = crate::script_location();
    engine.worlds.lines.objects.remove(object.0, "", engine.frame.index, &location);
    Ok(())
}
