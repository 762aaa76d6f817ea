//! The Rust part of the Lua module `Gui`: transforms, clipping, removal of objects, queries, and
//! the functions that the prelude needs to create Guis. The rows of the drawing functions are in
//! gui/rows.rs.

mod arguments;
mod draw_call;
mod draw_functions;
pub(super) mod drawing_state;
pub(super) mod rows;
mod shape_functions;
mod text;
pub(super) mod text_rows;

use crate::api::gui::draw_call::{plane_of, plane_within};
use crate::api_row::{ModuleRows, NodeFlag, func, hidden, hot, module, more};
use crate::argument::{ByteArgument, MaybeHandle, TextArgument, material_message};
use crate::describe_value;
use crate::return_value::ExpectedResult;
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle, Mat4};
use engine_frame_packet::gui::GuiSpace;
use engine_frame_packet::text::{FontNumber, TextRequest};
use engine_gui::tessellation::POINTS_MAX;
use engine_gui::{Affine2, DrawRefused, DrawnObject, GuiDesc, GuiId, GuiMode, PrimitiveKind};
use engine_materials::MaterialId;
use engine_render::GuiDraw;
use engine_runtime::{BuildMode, Engine, TextureGuiDesc, WorldDraw};
use engine_world::WorldId;
use std::ops::Range;

const GUI_ARG: (&str, &str) = ("gui", "a Gui");
const OBJECT_ARG: (&str, &str) = ("object", "the number that its drawing function returned");

pub static GUI_OBJECT: ModuleRows = module(
    "GuiObject",
    "An object of a retained Gui: a rectangle, a picture, a text or a shape. The drawing functions \
     of `Gui` return it; the functions that change or destroy an object take it.",
    r#"local hud = World.create_screen_gui(Application.main_world())
local bar = Gui.rect(hud, Vector3(20, 20, 1), Vector2(100, 10))
assert(GuiObject.alive(bar))
Gui.destroy_rect(hud, bar)
assert(not GuiObject.alive(bar))"#,
    &[hot(
        "alive",
        object_alive,
        &[("object", "a number that may be the handle of a Gui's object; nil and false are none")],
        "Returns true if the handle refers to an existing object. Never raises for a stale handle.",
    )
    .pure()
    .node(NodeFlag::Hidden)],
);

pub static GUI: ModuleRows = more(
    "Gui",
    &hidden([
        hot(
            "alive",
            alive,
            &[("gui", "a number that may be a Gui's handle; nil and false are none")],
            "Returns true if the handle refers to an existing Gui. Never raises for a stale \
             handle.",
        )
        .pure(),
        hot(
            "push",
            push,
            &[GUI_ARG],
            "Saves the transform for what is drawn next, until `Gui.pop` restores it.",
        ),
        hot("pop", pop, &[GUI_ARG], "Restores the transform that was saved last.").when_full(),
        hot(
            "rotate",
            rotate,
            &[GUI_ARG, ("angle", "radians counterclockwise, around the origin")],
            "Rotates everything that is drawn next.",
        ),
        hot("pop_clip", pop_clip, &[GUI_ARG], "Ends the clip rectangle that was pushed last.")
            .when_full(),
        func(
            "move",
            move_to,
            &[GUI_ARG, ("pose", "on the screen, x and z of its translation are right and up")],
            "Moves the whole Gui. This takes effect in the same frame.",
        ),
        func(
            "reset",
            reset,
            &[GUI_ARG],
            "Removes everything that was drawn: all objects of a retained Gui, or what an \
             immediate Gui drew in this frame. Also resets the transforms and clip rectangles.",
        )
        .when_full(),
        func(
            "destroy_rect",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a rectangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_rect_3d",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a rectangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_bitmap",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a bitmap or a nine-patch of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_bitmap_3d",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a bitmap or a nine-patch of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_triangle",
            destroy_triangle,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a triangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_text",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a text of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_text_3d",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a text of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_shape",
            destroy_shape,
            &[GUI_ARG, OBJECT_ARG],
            "Destroys a line, circle, ellipse, arc or polygon of a retained Gui.",
        )
        .when_full(),
        func(
            "material",
            gui_material,
            &[GUI_ARG, ("name", "the name of a material, or of a texture that acts as one")],
            "Returns the material that draws everything with that name, in every Gui. Drawing \
             functions take the material in place of the name. `Material.set_scalar` and similar \
             functions change it. `Material.new` creates a separate material.",
        ),
        func(
            "resolution",
            resolution,
            &[("gui", "a Gui; the screen if left out")],
            "Returns a Gui's width and height: in units of the picture (logical pixels without a \
             design resolution), or in metres in a world.",
        )
        .returns(&["width in its units", "height in its units"])
        .pure(),
        func(
            "inspect",
            inspect,
            &[GUI_ARG],
            "Returns what a Gui shows, as a list of tables in the order of layers. Each has \
             `kind`, `layer`, `left`, `bottom`, `right`, `top`, `red`, `green`, `blue`, `alpha`, \
             and where they apply `name`, `text` and `object`. For an immediate Gui, the list has \
             what was drawn so far in this frame or, if that is nothing, in the previous frame. \
             The engine records this from the first call on. In a release, returns nil and the \
             reason.",
        )
        .returns(&["objects a list of tables, or nil", "reason why there is none"]),
    ]),
);

/// Native functions in the prelude's table `core`, on which the prelude's functions of the same
/// names are built. They have the names of the public functions, which error messages show.
pub static WORLD_CORE: ModuleRows = module(
    "World",
    "Guis, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "create_screen_gui",
            create_screen_gui,
            &[("world", ""), ("immediate", "")],
            "Creates a Gui on the screen.",
        ),
        func(
            "create_world_gui",
            create_world_gui,
            &[("world", ""), ("pose", ""), ("width", ""), ("height", ""), ("immediate", "")],
            "Creates a Gui in a world.",
        ),
        func(
            "create_texture_gui",
            create_texture_gui,
            &[
                ("world", ""),
                ("texture", ""),
                ("width", ""),
                ("height", ""),
                ("immediate", ""),
                ("keeps", ""),
                ("nearest", ""),
            ],
            "Creates a Gui that is drawn into a texture.",
        ),
        func("destroy_gui", destroy_gui, &[("world", ""), ("gui", "")], "Destroys a Gui.")
            .when_full(),
    ],
);

pub static GUI_CORE: ModuleRows = module(
    "Gui",
    "Queries of Guis, for the prelude.",
    "assert(core == nil)",
    &[func(
        "word_wrap",
        word_wrap,
        &[("gui", ""), ("text", ""), ("font", ""), ("size", ""), ("width", "")],
        "Breaks a text into lines.",
    )
    .pure()],
);

pub static CORE: ModuleRows = module(
    "core",
    "Guis, for the prelude.",
    "assert(core == nil)",
    &[
        hot(
            "gui_translate",
            translate,
            &[GUI_ARG, ("x", ""), ("y", "")],
            "Moves everything that is drawn next.",
        )
        .public_name("Gui.translate"),
        hot(
            "gui_scale",
            scale,
            &[GUI_ARG, ("x", ""), ("y", "")],
            "Scales everything that is drawn next.",
        )
        .public_name("Gui.scale"),
        hot(
            "gui_push_clip",
            push_clip,
            &[GUI_ARG, ("x", ""), ("y", ""), ("width", ""), ("height", "")],
            "Clips everything that is drawn next to a rectangle.",
        )
        .public_name("Gui.push_clip"),
        func("gui_refusal", gui_refusal, &[], "Returns why the last drawing call was refused.")
            .pure(),
        func(
            "gui_source",
            gui_source,
            &[("material", "")],
            "Returns the source number of a texture or material.",
        )
        .pure(),
        func("gui_font", gui_font, &[("name", "")], "Returns the number of a font.").pure(),
        func(
            "console_gui",
            console_gui,
            &[],
            "Returns the Gui over everything else, and shows it in this frame.",
        ),
        func(
            "points_max",
            points_max,
            &[],
            "Returns the maximum number of points of a polygon or polyline.",
        )
        .pure(),
        func("draws", draws, &[], "Returns what each draw call of the last frame drew.").pure(),
    ],
);

fn alive(engine: &mut Engine, gui: MaybeHandle) -> bool {
    let handle = gui.handle();
    handle.is_some_and(|handle| engine.drawing.guis.slots().get(handle).is_some())
}

fn push(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.transform_stack(gui).push().map_err(Error::new)
}

fn pop(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.transform_stack(gui).pop().map_err(Error::new)
}

fn translate(engine: &mut Engine, gui: GuiId, x: f64, y: f64) {
    let offset = [x as f32, y as f32];
    engine.drawing.guis.transform_stack(gui).apply(Affine2::translation(offset));
}

fn rotate(engine: &mut Engine, gui: GuiId, angle: f64) {
    engine.drawing.guis.transform_stack(gui).apply(Affine2::rotation(angle as f32));
}

fn scale(engine: &mut Engine, gui: GuiId, x: f64, y: f64) {
    let factors = [x as f32, y as f32];
    engine.drawing.guis.transform_stack(gui).apply(Affine2::scaling(factors));
}

fn push_clip(
    engine: &mut Engine,
    gui: GuiId,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
) -> Result<(), Error> {
    if engine.drawing.guis.gui(gui).desc.space == GuiSpace::World {
        return Err(engine_foundation::error!(
            "a Gui in the world cannot be clipped: draw into a texture and show that instead \
             (World.create_texture_gui)"
        ));
    }
    let rectangle = [x, y, x + width, y + height].map(|edge| edge as f32);
    engine.drawing.guis.transform_stack(gui).push_clip(rectangle).map_err(Error::new)
}

fn pop_clip(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.drawing.guis.transform_stack(gui).pop_clip().map_err(Error::new)
}

fn move_to(engine: &mut Engine, gui: GuiId, pose: Mat4) {
    let pose = match engine.drawing.guis.gui(gui).desc.space {
        GuiSpace::Screen | GuiSpace::Overlay => plane_within(pose),
        GuiSpace::World => plane_of(pose),
    };
    engine.drawing.guis.set_pose(gui, pose);
}

fn reset(engine: &mut Engine, gui: GuiId) {
    let location = crate::script_location();
    engine.drawing.guis.reset(gui, engine.frame.index, &location);
}

macro_rules! destroys {
    ($($name:ident $kind:ident,)*) => {
        $(fn $name(engine: &mut Engine, gui: GuiId, object: f64) -> Result<(), Error> {
            destroy(engine, gui, PrimitiveKind::$kind, object)
        })*
    };
}

destroys! {
    destroy_rect Rect,
    destroy_bitmap Bitmap,
    destroy_triangle Triangle,
    destroy_text Text,
    destroy_shape Shape,
}

fn destroy(engine: &mut Engine, gui: GuiId, kind: PrimitiveKind, object: f64) -> Result<(), Error> {
    let location = crate::script_location();
    let ended =
        engine.drawing.guis.destroy_object(gui, kind, object, (engine.frame.index, &location));
    ended.map_err(|DrawRefused| Error::new(engine.drawing.guis.take_refusal()))
}

fn resolution(engine: &mut Engine, gui: Option<GuiId>) -> (f64, f64) {
    let size = match gui {
        Some(gui) => engine.drawing.gui_size(&engine.devices, gui),
        None => engine.devices.window.picture_size(),
    };
    (size.x.into(), size.y.into())
}

fn inspect(engine: &mut Engine, gui: GuiId) -> ExpectedResult<ScriptValue> {
    if engine.game.build == BuildMode::Release {
        return ExpectedResult(Err("a release keeps no copy of what Guis show".to_string()));
    }
    engine.drawing.guis.enable_recording();
    let table = |drawn: DrawnObject| {
        let [left, bottom, right, top] = drawn.bounds;
        let [red, green, blue, alpha] = drawn.color;
        let number = |name: &str, value: f64| (name.to_string(), ScriptValue::Number(value));
        let mut fields = vec![
            ("kind".to_string(), ScriptValue::Text(drawn.primitive.to_string())),
            number("layer", drawn.layer.into()),
            number("left", left.into()),
            number("bottom", bottom.into()),
            number("right", right.into()),
            number("top", top.into()),
            number("red", red.into()),
            number("green", green.into()),
            number("blue", blue.into()),
            number("alpha", alpha.into()),
        ];
        if !drawn.name.is_empty() {
            fields.push(("name".to_string(), ScriptValue::Text(drawn.name)));
        }
        fields.extend(drawn.text.map(|text| ("text".to_string(), ScriptValue::Text(text))));
        if drawn.object > 0 {
            fields.push(number("object", drawn.object as f64));
        }
        ScriptValue::Table(fields)
    };
    ExpectedResult(Ok(ScriptValue::List(
        engine.drawing.guis.inspect(gui).into_iter().map(table).collect(),
    )))
}

fn gui_refusal(engine: &mut Engine) -> String {
    engine.drawing.guis.take_refusal()
}

fn gui_material(engine: &mut Engine, _gui: GuiId, name: TextArgument) -> Result<MaterialId, Error> {
    let found = engine.assets.find_material(name.as_str());
    found.map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))
}

fn gui_source(engine: &mut Engine, material: ScriptValue) -> ExpectedResult<f64> {
    let found = match &material {
        ScriptValue::Text(name) => engine.drawing.source(&mut engine.assets, name),
        ScriptValue::Number(number) => match Handle::from_number(*number) {
            Some(handle) if engine.assets.materials.slots().get(handle).is_some() => {
                engine.drawing.material_source(&mut engine.assets, MaterialId(handle))
            }
            _ => Err(Error::new(material_message(engine, *number))),
        },
        _ => Err(engine_foundation::error!("there is no such material")),
    };
    ExpectedResult(found.map(|source| source.0.into()).map_err(|error| error.message))
}

fn gui_font(engine: &mut Engine, name: TextArgument) -> ExpectedResult<f64> {
    let found = engine.assets.text.find(&mut engine.assets.store, name.as_str());
    ExpectedResult(found.map(|font| font.0.into()).map_err(|error| error.message))
}

fn word_wrap(
    engine: &mut Engine,
    _gui: GuiId,
    text: ByteArgument,
    font: f64,
    size: f64,
    width: f64,
) -> Result<Vec<String>, Error> {
    let text = text.as_slice();
    let request = TextRequest {
        font: FontNumber(font as u32),
        text,
        size: size as f32,
        max_width: width as f32,
        ..TextRequest::DEFAULT
    };
    let lines = engine.assets.text.word_wrap(&request)?;
    // The text is valid UTF-8, because otherwise it would have no lines.
    let line_text = |line: &Range<usize>| String::from_utf8_lossy(&text[line.clone()]).into_owned();
    Ok(lines.iter().map(line_text).collect())
}

fn mode(immediate: bool) -> GuiMode {
    if immediate { GuiMode::Immediate } else { GuiMode::Retained }
}

fn create_screen_gui(engine: &mut Engine, world: WorldId, immediate: bool) -> Result<GuiId, Error> {
    engine.drawing.new_screen_gui(Some(world), mode(immediate))
}

fn create_world_gui(
    engine: &mut Engine,
    world: WorldId,
    pose: Mat4,
    width: f64,
    height: f64,
    immediate: bool,
) -> Result<GuiId, Error> {
    if !(width > 0.0 && height > 0.0) {
        return Err(engine_foundation::error!(
            "width and height must be above 0, got {width} and {height}"
        ));
    }
    let making = GuiDesc {
        world: Some(world.0),
        space: GuiSpace::World,
        mode: mode(immediate),
        pose: plane_of(pose),
        size: [width as f32, height as f32],
        target: None,
        keeps: false,
    };
    engine.drawing.guis.create(making).map_err(Error::new)
}

#[allow(clippy::too_many_arguments, reason = "the prelude's call as it is")]
fn create_texture_gui(
    engine: &mut Engine,
    world: WorldId,
    texture: TextArgument,
    width: f64,
    height: f64,
    immediate: bool,
    keeps: bool,
    nearest: bool,
) -> Result<GuiId, Error> {
    let size = whole_size(width, height)?;
    let desc = TextureGuiDesc { size, mode: mode(immediate), keeps, nearest };
    engine.drawing.new_texture_gui(&mut engine.assets, world, texture.as_str(), desc)
}

/// Checks the width and height of a texture that is a render target.
pub(in crate::api) fn whole_size(width: f64, height: f64) -> Result<(u32, u32), Error> {
    let most = f64::from(u32::MAX);
    let is_whole = |side: f64| (1.0..=most).contains(&side) && side.fract() == 0.0;
    match is_whole(width) && is_whole(height) {
        true => Ok((width as u32, height as u32)),
        false => Err(engine_foundation::error!(
            "width and height must be whole numbers above 0, got {} and {}",
            describe_value::number(width),
            describe_value::number(height)
        )),
    }
}

fn console_gui(engine: &mut Engine) -> Result<GuiId, Error> {
    engine.drawing.console_gui()
}

fn points_max(_: &mut Engine) -> f64 {
    POINTS_MAX as f64
}

fn draws(engine: &mut Engine) -> ScriptValue {
    fn number(name: &str, value: f64) -> (String, ScriptValue) {
        (name.to_string(), ScriptValue::Number(value))
    }
    let worlds = engine.world_draws();
    let of_gui = |draw: &GuiDraw| {
        let name = engine.drawing.drawn_name(draw).map(|name| ScriptValue::Text(name.to_string()));
        ScriptValue::Table(vec![
            number("gui", draw.gui as f64),
            number("layer", draw.key.layer.into()),
            number("count", draw.count.into()),
            number("material", draw.key.material.0.into()),
            number("texture", draw.key.texture.0.into()),
            ("name".to_string(), name.unwrap_or(ScriptValue::Nil)),
        ])
    };
    let of_world = |draw: WorldDraw| {
        let text =
            |name: &str, text: Option<String>| Some((name.to_string(), ScriptValue::Text(text?)));
        let fields = [
            Some(number("world", draw.world.to_number())),
            text("pass", Some(draw.pass.to_string())),
            text("what", Some(draw.kind.to_string())),
            text("name", draw.name),
            Some(number("part", draw.part.into())),
            text("unit", draw.unit),
            text("material", draw.material),
            Some(number("count", draw.count.into())),
        ];
        ScriptValue::Table(fields.into_iter().flatten().collect())
    };
    let worlds = worlds.into_iter().map(of_world);
    ScriptValue::List(worlds.chain(engine.drawing.draws().iter().map(of_gui)).collect())
}

fn destroy_gui(engine: &mut Engine, world: WorldId, gui: GuiId) -> Result<(), Error> {
    if engine.drawing.guis.gui(gui).desc.world != Some(world.0) {
        return Err(engine_foundation::error!("this Gui belongs to another world"));
    }
    let location = crate::script_location();
    engine.drawing.guis.destroy(gui, engine.frame.index, &location);
    Ok(())
}

fn object_alive(engine: &mut Engine, object: MaybeHandle) -> bool {
    object.handle().is_some_and(|handle| engine.drawing.guis.has_object(handle))
}
