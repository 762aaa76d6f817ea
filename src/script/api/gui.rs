//! `Gui`, its part in Rust: transforms, clipping, ends of objects, questions; and what the prelude
//! needs to make Guis. Drawing itself is in gui_fast.rs, under the prelude's lua/gui.lua.

use super::gui_fast::{plane_of, plane_within};
use crate::engine::{Build, Engine};
use crate::foundation::{Error, Handle, Mat4, Vec2};
use crate::packet::gui::Space;
use crate::script::arg::{AnyNumber, Text};
use crate::script::ret::Expected;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::gui::{Affine, GuiId, Making, Mode, Refused, Seen, What};
use crate::world::WorldId;

const GUI_ARG: (&str, &str) = ("gui", "a Gui");
const OBJECT_ARG: (&str, &str) = ("object", "the number that drawing it returned");

pub static GUI: Module = module(
    "Gui",
    "What is drawn in two dimensions, on the screen or on a plane in a world.",
    r#"local gui = World.create_screen_gui(Application.main_world(), "immediate")
Gui.push(gui)
Gui.translate(gui, Vector2(100, 100))
Gui.rotate(gui, math.pi / 4)
Gui.rect(gui, Vector3(-10, -10, 1), Vector2(20, 20), Color.red())
Gui.pop(gui)"#,
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
        hot("pop", pop, &[GUI_ARG], "Brings back the transform that was kept last."),
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
        hot("pop_clip", pop_clip, &[GUI_ARG], "Ends the clip that was pushed last."),
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
        ),
        func(
            "destroy_rect",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a rectangle of a retained Gui.",
        ),
        func(
            "destroy_rect_3d",
            destroy_rect,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a rectangle of a retained Gui.",
        ),
        func(
            "destroy_bitmap",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a bitmap or a nine-patch of a retained Gui.",
        ),
        func(
            "destroy_bitmap_3d",
            destroy_bitmap,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a bitmap or a nine-patch of a retained Gui.",
        ),
        func(
            "destroy_triangle",
            destroy_triangle,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a triangle of a retained Gui.",
        ),
        func(
            "destroy_text",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a text of a retained Gui.",
        ),
        func(
            "destroy_text_3d",
            destroy_text,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a text of a retained Gui.",
        ),
        func(
            "destroy_shape",
            destroy_shape,
            &[GUI_ARG, OBJECT_ARG],
            "Ends a line, circle, arc or polygon of a retained Gui.",
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
             frame, or else in the one before. Kept in tests, and in development from the first \
             call on; in a release it gives nil and says so.",
        ),
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
        func("destroy_gui", destroy_gui, &[("world", ""), ("gui", "")], "Ends a Gui."),
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

fn gui_source(engine: &mut Engine, material: Value) -> Expected<f64> {
    let found = match &material {
        Value::Text(name) => engine.source(name),
        _ => Err(crate::error!("there is no such material")),
    };
    Expected(found.map(|source| source.0.into()).map_err(|error| error.message))
}

fn mode(immediate: bool) -> Mode {
    if immediate { Mode::Immediate } else { Mode::Retained }
}

fn create_screen_gui(
    engine: &mut Engine,
    world: WorldId,
    immediate: bool,
) -> Result<GuiId, Error> {
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

fn destroy_gui(engine: &mut Engine, world: WorldId, gui: GuiId) -> Result<(), Error> {
    if engine.guis.gui(gui).making.world != Some(world.0) {
        return Err(crate::error!("this Gui belongs to another world"));
    }
    let place = crate::script::place();
    engine.guis.destroy(gui, engine.frame.index, &place);
    Ok(())
}
