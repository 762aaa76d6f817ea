//! `Gui`, its part in Rust: transforms, clipping, ends of objects, questions; and what the prelude
//! needs to make Guis. Drawing itself is in gui_fast.rs, under the prelude's lua/gui.lua.

use super::gui_fast::{plane_of, plane_within};
use crate::engine::{Build, Engine, WorldDraw};
use crate::foundation::{Error, Handle, Mat4, Vec2, log};
use crate::packet::gui::Space;
use crate::packet::text::{FontNumber, Request};
use crate::script::arg::{AnyNumber, Bytes, Text, material_words};
use crate::script::describe;
use crate::script::ret::Expected;
use crate::script::row::{Module, func, hot, module, more};
use crate::script::value::Value;
use crate::system::gui::{Affine, GuiId, Making, Mode, Refused, Seen, SourceNumber, What};
use crate::system::materials::MaterialId;
use crate::system::render::Draw;
use crate::world::WorldId;
use std::ops::Range;

const GUI_ARG: (&str, &str) = ("gui", "a Gui");
const OBJECT_ARG: (&str, &str) = ("object", "the number that drawing it returned");

pub static GUI_OBJECT: Module = module(
    "GuiObject",
    "One thing that a retained Gui keeps: a rectangle, a picture, a text, a shape. The drawing \
     functions of `Gui` give it, and take it again to change or destroy it.",
    r#"local hud = World.create_screen_gui(Application.main_world())
local bar = Gui.rect(hud, Vector3(20, 20, 1), Vector2(100, 10))
assert(GuiObject.alive(bar))
Gui.destroy_rect(hud, bar)
assert(not GuiObject.alive(bar))"#,
    &[hot(
        "alive",
        object_alive,
        &[("object", "a number that may be the handle of a Gui's object")],
        "Whether the handle leads to an object that is there. Never raises for a stale handle.",
    )
    .pure()],
);

pub static GUI: Module = more(
    "Gui",
    &[
        hot(
            "alive",
            alive,
            &[("gui", "a number that may be a Gui's handle")],
            "Whether the handle leads to a Gui that is there. Never raises for a stale handle.",
        )
        .pure(),
        hot(
            "push",
            push,
            &[GUI_ARG],
            "Keeps the transform of what is drawn next, for `Gui.pop` to bring it back.",
        ),
        hot("pop", pop, &[GUI_ARG], "Brings back the transform that was kept last.").when_full(),
        hot(
            "translate",
            translate,
            &[GUI_ARG, ("offset", "to the right and up")],
            "Moves what is drawn next.",
        ),
        hot(
            "rotate",
            rotate,
            &[GUI_ARG, ("angle", "radians against the clock, around the origin")],
            "Turns what is drawn next.",
        ),
        hot(
            "scale",
            scale,
            &[GUI_ARG, ("scale", "1 is unchanged; from the origin")],
            "Sizes what is drawn next.",
        ),
        hot(
            "push_clip",
            push_clip,
            &[GUI_ARG, ("position", "the left bottom of the rectangle"), ("size", "its size")],
            "Cuts off what is drawn next outside of a rectangle, rounded to whole pixels, and \
             outside of the rectangles before it, until `Gui.pop_clip`. Only on the screen and on \
             textures.",
        ),
        hot("pop_clip", pop_clip, &[GUI_ARG], "Ends the clip that was pushed last.").when_full(),
        func(
            "move",
            move_to,
            &[GUI_ARG, ("pose", "on the screen, x and z of its translation are right and up")],
            "Moves the whole Gui, from what it shows in this frame on.",
        ),
        func(
            "reset",
            reset,
            &[GUI_ARG],
            "Removes what was drawn: all objects, or what an immediate Gui drew in this frame. \
             Transforms and clips are as at the start.",
        )
        .when_full(),
        func(
            "destroy_rect",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a rectangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_rect_3d",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a rectangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_bitmap",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a bitmap or a nine-patch of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_bitmap_3d",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a bitmap or a nine-patch of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_triangle",
            destroy_triangle,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a triangle of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_text",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a text of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_text_3d",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a text of a retained Gui.",
        )
        .when_full(),
        func(
            "destroy_shape",
            destroy_shape,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a line, circle, arc or polygon of a retained Gui.",
        )
        .when_full(),
        func(
            "material",
            gui_material,
            &[GUI_ARG, ("name", "a material's name, or a texture's, which stands in for one")],
            "The material that everything with that name is drawn with, in every Gui. Drawing \
             functions take it in place of the name, and `Material.set_scalar` and its like change \
             it. `Material.new` makes one apart.",
        ),
        func(
            "resolution",
            resolution,
            &[("gui", "a Gui; that of the screen if none")],
            "Width and height of what a Gui draws on: logical pixels, or metres in a world.",
        )
        .pure(),
        func(
            "inspect",
            inspect,
            &[GUI_ARG],
            "What a Gui shows, as a list of tables in the order of layers: `kind`, `layer`, \
             `left`, `bottom`, `right`, `top`, `red`, `green`, `blue`, `alpha`, and where they \
             apply `name`, `text` and `object`. Of an immediate Gui what was drawn so far in this \
             frame, or else in the one before. Kept from the first call on; in a release it gives \
             nil and says so.",
        ),
    ],
);

/// What the prelude's functions of the same names stand on, in its table `core`; they carry the
/// names by which games know them for the words of errors.
pub static WORLD_CORE: Module = module(
    "World",
    "Guis, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "create_screen_gui",
            create_screen_gui,
            &[("world", ""), ("immediate", "")],
            "Makes a Gui on the screen.",
        ),
        func(
            "create_world_gui",
            create_world_gui,
            &[("world", ""), ("pose", ""), ("width", ""), ("height", ""), ("immediate", "")],
            "Makes a Gui in a world.",
        ),
        func(
            "create_texture_gui",
            create_texture_gui,
            &[("world", ""), ("texture", ""), ("width", ""), ("height", ""), ("immediate", "")],
            "Makes a Gui that is drawn into a texture.",
        ),
        func("destroy_gui", destroy_gui, &[("world", ""), ("gui", "")], "Ends a Gui.").when_full(),
    ],
);

pub static GUI_CORE: Module = module(
    "Gui",
    "Questions to Guis, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "word_wrap",
            word_wrap,
            &[("gui", ""), ("text", ""), ("font", ""), ("size", ""), ("width", "")],
            "The lines of a text.",
        )
        .pure(),
        func(
            "has_all_glyphs",
            has_all_glyphs,
            &[("gui", ""), ("text", ""), ("font", "")],
            "Whether a font has them.",
        )
        .pure(),
        func("texture_size", texture_size, &[("gui", ""), ("source", "")], "Its size.").pure(),
    ],
);

pub static CORE: Module = module(
    "core",
    "Guis, for the prelude.",
    "assert(core == nil)",
    &[
        func("gui_refusal", gui_refusal, &[], "Why the last drawing function did nothing.").pure(),
        func("gui_source", gui_source, &[("material", "")], "The number of a texture or material.")
            .pure(),
        func("gui_font", gui_font, &[("name", "")], "The number of a font.").pure(),
        func("gui_source_size", gui_source_size, &[("source", "")], "Its width and height.").pure(),
        func("console_gui", console_gui, &[], "The Gui over everything, shown in this frame."),
        func("console_key", console_key, &[], "The name of the console's key.").pure(),
        func("log_lines", log_lines, &[("count", "")], "The last lines of the log.").pure(),
        func("draws", draws, &[], "What each draw call of the last frame draws.").pure(),
    ],
);

fn alive(engine: &mut Engine, gui: AnyNumber) -> bool {
    let handle = Handle::from_number(gui.0);
    handle.is_some_and(|handle| engine.guis.slots().get(handle).is_some())
}

fn push(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.guis.pen(gui).push().map_err(Error::new)
}

fn pop(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.guis.pen(gui).pop().map_err(Error::new)
}

fn translate(engine: &mut Engine, gui: GuiId, offset: Vec2) {
    engine.guis.pen(gui).apply(Affine::translation(offset.to_array()));
}

fn rotate(engine: &mut Engine, gui: GuiId, angle: f64) {
    engine.guis.pen(gui).apply(Affine::rotation(angle as f32));
}

fn scale(engine: &mut Engine, gui: GuiId, scale: Vec2) {
    engine.guis.pen(gui).apply(Affine::scaling(scale.to_array()));
}

fn push_clip(engine: &mut Engine, gui: GuiId, position: Vec2, size: Vec2) -> Result<(), Error> {
    if engine.guis.gui(gui).making.space == Space::World {
        return Err(crate::error!(
            "a Gui in the world cannot be clipped: draw into a texture and show that instead \
             (World.create_texture_gui)"
        ));
    }
    let corner = position + size;
    let rectangle = [position.x, position.y, corner.x, corner.y];
    engine.guis.pen(gui).push_clip(rectangle).map_err(Error::new)
}

fn pop_clip(engine: &mut Engine, gui: GuiId) -> Result<(), Error> {
    engine.guis.pen(gui).pop_clip().map_err(Error::new)
}

fn move_to(engine: &mut Engine, gui: GuiId, pose: Mat4) {
    let pose = match engine.guis.gui(gui).making.space {
        Space::Screen => plane_within(pose),
        Space::World => plane_of(pose),
    };
    engine.guis.set_pose(gui, pose);
}

fn reset(engine: &mut Engine, gui: GuiId) {
    let place = crate::script::place();
    engine.guis.reset(gui, engine.frame.index, &place);
}

macro_rules! destroys {
    ($($name:ident $what:ident,)*) => {
        $(fn $name(engine: &mut Engine, gui: GuiId, object: f64) -> Result<(), Error> {
            destroy(engine, gui, What::$what, object)
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

fn destroy(engine: &mut Engine, gui: GuiId, what: What, object: f64) -> Result<(), Error> {
    let place = crate::script::place();
    let ended = engine.guis.destroy_object(gui, what, object, (engine.frame.index, &place));
    ended.map_err(|Refused| Error::new(engine.guis.take_refusal()))
}

fn resolution(engine: &mut Engine, gui: Option<GuiId>) -> (f64, f64) {
    let size = match gui {
        Some(gui) => engine.gui_size(gui),
        None => engine.window.logical(),
    };
    (size.x.into(), size.y.into())
}

fn inspect(engine: &mut Engine, gui: GuiId) -> Expected<Value> {
    if engine.build == Build::Release {
        return Expected(Err("a release keeps no copy of what Guis show".to_string()));
    }
    engine.guis.keep_shadow();
    let table = |seen: Seen| {
        let [left, bottom, right, top] = seen.bounds;
        let [red, green, blue, alpha] = seen.color;
        let number = |name: &str, value: f64| (name.to_string(), Value::Number(value));
        let mut fields = vec![
            ("kind".to_string(), Value::Text(seen.what.to_string())),
            number("layer", seen.layer.into()),
            number("left", left.into()),
            number("bottom", bottom.into()),
            number("right", right.into()),
            number("top", top.into()),
            number("red", red.into()),
            number("green", green.into()),
            number("blue", blue.into()),
            number("alpha", alpha.into()),
        ];
        if !seen.name.is_empty() {
            fields.push(("name".to_string(), Value::Text(seen.name)));
        }
        fields.extend(seen.text.map(|text| ("text".to_string(), Value::Text(text))));
        if seen.object > 0 {
            fields.push(number("object", seen.object as f64));
        }
        Value::Table(fields)
    };
    Expected(Ok(Value::List(engine.guis.inspect(gui).into_iter().map(table).collect())))
}

fn gui_refusal(engine: &mut Engine) -> String {
    engine.guis.take_refusal()
}

fn gui_material(engine: &mut Engine, _gui: GuiId, name: Text) -> Result<MaterialId, Error> {
    let found = engine.find_material(name.as_str());
    found.map_err(|fault| crate::error!("argument #2 'name': {}", fault.message))
}

fn gui_source(engine: &mut Engine, material: Value) -> Expected<f64> {
    let found = match &material {
        Value::Text(name) => engine.source(name),
        Value::Number(number) => match Handle::from_number(*number) {
            Some(handle) if engine.materials.slots().get(handle).is_some() => {
                engine.material_source(MaterialId(handle))
            }
            _ => Err(Error::new(material_words(engine, *number))),
        },
        _ => Err(crate::error!("there is no such material")),
    };
    Expected(found.map(|source| source.0.into()).map_err(|error| error.message))
}

fn gui_font(engine: &mut Engine, name: Text) -> Expected<f64> {
    let found = engine.text.find(&mut engine.store, name.as_str());
    Expected(found.map(|font| font.0.into()).map_err(|error| error.message))
}

fn word_wrap(
    engine: &mut Engine,
    _gui: GuiId,
    text: Bytes,
    font: f64,
    size: f64,
    width: f64,
) -> Result<Vec<String>, Error> {
    let text = text.as_slice();
    let request = Request {
        font: FontNumber(font as u32),
        text,
        size: size as f32,
        max_width: width as f32,
        ..Request::DEFAULT
    };
    let lines = engine.text.word_wrap(&request)?;
    // It is UTF-8, or there would be no lines of it.
    let words = |line: &Range<usize>| String::from_utf8_lossy(&text[line.clone()]).into_owned();
    Ok(lines.iter().map(words).collect())
}

fn has_all_glyphs(engine: &mut Engine, _gui: GuiId, text: Bytes, font: f64) -> bool {
    engine.text.has_all_glyphs(FontNumber(font as u32), text.as_slice())
}

fn texture_size(engine: &mut Engine, _gui: GuiId, source: f64) -> Vec2 {
    let (width, height) = gui_source_size(engine, source);
    Vec2::new(width as f32, height as f32)
}

fn gui_source_size(engine: &mut Engine, source: f64) -> (f64, f64) {
    let found = engine.guis.source(SourceNumber(source as u32));
    let [width, height] = found.expect("the prelude was given this number").size;
    (width.into(), height.into())
}

fn mode(immediate: bool) -> Mode {
    if immediate { Mode::Immediate } else { Mode::Retained }
}

fn create_screen_gui(engine: &mut Engine, world: WorldId, immediate: bool) -> Result<GuiId, Error> {
    engine.new_screen_gui(Some(world), mode(immediate))
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
        return Err(crate::error!("width and height must be above 0, got {width} and {height}"));
    }
    let making = Making {
        world: Some(world.0),
        space: Space::World,
        mode: mode(immediate),
        pose: plane_of(pose),
        size: [width as f32, height as f32],
        target: None,
    };
    engine.guis.create(making).map_err(Error::new)
}

fn create_texture_gui(
    engine: &mut Engine,
    world: WorldId,
    texture: Text,
    width: f64,
    height: f64,
    immediate: bool,
) -> Result<GuiId, Error> {
    let size = whole_size(width, height)?;
    engine.new_texture_gui(world, texture.as_str(), size, mode(immediate))
}

/// Width and height of a texture that is drawn into.
pub(super) fn whole_size(width: f64, height: f64) -> Result<(u32, u32), Error> {
    let most = f64::from(u32::MAX);
    let is_whole = |side: f64| (1.0..=most).contains(&side) && side.fract() == 0.0;
    match is_whole(width) && is_whole(height) {
        true => Ok((width as u32, height as u32)),
        false => Err(crate::error!(
            "width and height must be whole numbers above 0, got {} and {}",
            describe::number(width),
            describe::number(height)
        )),
    }
}

fn console_gui(engine: &mut Engine) -> Result<GuiId, Error> {
    engine.console_gui()
}

fn console_key(engine: &mut Engine) -> String {
    engine.settings.text("console.key").to_string()
}

fn log_lines(_: &mut Engine, count: f64) -> Vec<String> {
    let mut lines = log::last_lines();
    let first = lines.len().saturating_sub(count as usize);
    lines.split_off(first)
}

fn draws(engine: &mut Engine) -> Value {
    fn number(name: &str, value: f64) -> (String, Value) {
        (name.to_string(), Value::Number(value))
    }
    let worlds = engine.world_draws();
    let of_gui = |draw: &Draw| {
        let name = engine.drawn_name(draw).map(|name| Value::Text(name.to_string()));
        Value::Table(vec![
            number("gui", draw.gui as f64),
            number("layer", draw.key.layer.into()),
            number("count", draw.count.into()),
            number("material", draw.key.material.0.into()),
            number("texture", draw.key.texture.0.into()),
            ("name".to_string(), name.unwrap_or(Value::Nil)),
        ])
    };
    let of_world = |draw: WorldDraw| {
        let text = |name: &str, text: Option<String>| Some((name.to_string(), Value::Text(text?)));
        let fields = [
            Some(number("world", draw.world.to_number())),
            text("pass", Some(draw.pass.to_string())),
            text("what", Some(draw.what.to_string())),
            text("name", draw.name),
            Some(number("part", draw.part.into())),
            text("unit", draw.unit),
            text("material", draw.material),
            Some(number("count", draw.count.into())),
        ];
        Value::Table(fields.into_iter().flatten().collect())
    };
    let worlds = worlds.into_iter().map(of_world);
    Value::List(worlds.chain(engine.draws().iter().map(of_gui)).collect())
}

fn destroy_gui(engine: &mut Engine, world: WorldId, gui: GuiId) -> Result<(), Error> {
    if engine.guis.gui(gui).making.world != Some(world.0) {
        return Err(crate::error!("this Gui belongs to another world"));
    }
    let place = crate::script::place();
    engine.guis.destroy(gui, engine.frame.index, &place);
    Ok(())
}

fn object_alive(engine: &mut Engine, object: AnyNumber) -> bool {
    Handle::from_number(object.0).is_some_and(|handle| engine.guis.has_object(handle))
}
