//! `Material`: variables and textures of what is drawn with a shader.

use crate::engine::Engine;
use crate::foundation::{Color, Error, Handle, Mat4, Vec2, Vec3, Vec4};
use crate::script::arg::{AnyNumber, Text};
use crate::script::row::{Module, func, hot, module};
use crate::system::materials::MaterialId;

const MATERIAL_ARG: (&str, &str) = ("material", "a material");
const NAME_ARG: (&str, &str) = ("name", "a variable of the material's shader");

pub static MATERIAL: Module = module(
    "Material",
    "With which shader, textures and variables something is drawn. `Gui.material` gives the one \
     that a name stands for; `Material.new` makes one apart.",
    r#"-- waves.material: { shader = "shaders/wave", variables = { speed = 2 } }
if Application.can_get("material", "waves") then
  local waves = Material.new("waves")
  Material.set_scalar(waves, "speed", 0.5)
  Material.destroy(waves)
end"#,
    &[
        func(
            "new",
            new,
            &[("name", "a material's name, or a texture's, which stands in for one")],
            "Makes a material of its own of a material resource: what is set of it is set of it \
             alone. Drawing functions of `Gui` take it in place of a name.",
        ),
        hot(
            "alive",
            alive,
            &[("material", "a number that may be a material's handle")],
            "Whether the handle leads to a material that is there. Never raises for a stale one.",
        )
        .pure(),
        func("name", name, &[MATERIAL_ARG], "The name of the material's resource.").pure(),
        hot(
            "set_scalar",
            set_scalar,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the number")],
            "Sets a variable that is one number (f32, i32 or u32).",
        ),
        hot(
            "set_vector2",
            set_vector2,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the vector")],
            "Sets a variable of two numbers (vec2f).",
        ),
        hot(
            "set_vector3",
            set_vector3,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the vector")],
            "Sets a variable of three numbers (vec3f).",
        ),
        hot(
            "set_vector4",
            set_vector4,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the vector")],
            "Sets a variable of four numbers (vec4f).",
        ),
        hot(
            "set_color",
            set_color,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the colour")],
            "Sets a variable of four numbers (vec4f) to a colour as shaders see it: linear light, \
             alpha multiplied in.",
        ),
        func(
            "set_matrix4x4",
            set_matrix4x4,
            &[MATERIAL_ARG, NAME_ARG, ("value", "the matrix")],
            "Sets a variable that is a matrix (mat4x4f).",
        ),
        func(
            "set_texture",
            set_texture,
            &[
                MATERIAL_ARG,
                ("name", "a texture of the material's shader; \"texture\": what bitmaps show"),
                ("texture", "the name of a texture, or of a sheet's frame"),
            ],
            "Sets one of the material's textures.",
        ),
    ],
);

fn new(engine: &mut Engine, name: Text) -> Result<MaterialId, Error> {
    let made = engine.new_material(name.as_str());
    made.map_err(|fault| crate::error!("argument #1 'name': {}", fault.message))
}

/// For the prelude, which forgets the number that Guis draw with it by.
pub static CORE: Module = module(
    "Material",
    "Materials, for the prelude.",
    "assert(core == nil)",
    &[func("destroy", destroy, &[("material", "")], "Ends a material.").when_full()],
);

fn alive(engine: &mut Engine, material: AnyNumber) -> bool {
    let handle = Handle::from_number(material.0);
    handle.is_some_and(|handle| engine.materials.slots().get(handle).is_some())
}

fn destroy(engine: &mut Engine, material: MaterialId) -> Result<(), Error> {
    let (frame, place) = (engine.frame.index, crate::script::place());
    let ended = engine.materials.destroy(material, frame, &place);
    if ended.is_ok() {
        engine.forget_material(material);
        engine.end_material_source(material);
    }
    ended.map_err(|fault| crate::error!("argument #1 'material': {}", fault.message))
}

fn name(engine: &mut Engine, material: MaterialId) -> String {
    let found = engine.materials.slots().get(material.0);
    found.expect("the handle was checked where it came in").name.clone()
}

fn set(
    engine: &mut Engine,
    material: MaterialId,
    name: Text,
    numbers: &[f32],
    words: &str,
) -> Result<(), Error> {
    if let Some(wrong) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(crate::error!(
            "argument #3 'value' is too large: a shader's numbers end at {}, and one of it is \
             {wrong} there",
            f32::MAX
        ));
    }
    let set = engine.materials.set(material, name.as_str(), numbers, words);
    set.map_err(|fault| crate::error!("argument #2 'name': {}", fault.message))
}

fn set_scalar(engine: &mut Engine, m: MaterialId, name: Text, value: f64) -> Result<(), Error> {
    set(engine, m, name, &[value as f32], "a number")
}

fn set_vector2(engine: &mut Engine, m: MaterialId, name: Text, value: Vec2) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector2")
}

fn set_vector3(engine: &mut Engine, m: MaterialId, name: Text, value: Vec3) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector3")
}

fn set_vector4(engine: &mut Engine, m: MaterialId, name: Text, value: Vec4) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector4")
}

fn set_color(engine: &mut Engine, m: MaterialId, name: Text, value: Color) -> Result<(), Error> {
    let material = engine.materials.slots().get(m.0).expect("the handle was checked");
    if material.surface().is_some() {
        // Surfaces take alpha apart from their colour.
        let [red, green, blue, _] = Color { alpha: 255.0, ..value }.to_light();
        return set(engine, m, name, &[red, green, blue, value.alpha / 255.0], "a Color");
    }
    set(engine, m, name, &value.to_light(), "a Color")
}

fn set_matrix4x4(engine: &mut Engine, m: MaterialId, name: Text, value: Mat4) -> Result<(), Error> {
    set(engine, m, name, &value.to_cols_array(), "a Matrix4x4")
}

fn set_texture(
    engine: &mut Engine,
    material: MaterialId,
    name: Text,
    texture: Text,
) -> Result<(), Error> {
    engine.set_material_texture(material, name.as_str(), texture.as_str())
}
