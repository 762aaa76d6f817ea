//! The Lua module `Material`: shader variables and textures of materials.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use engine_foundation::{Color, Error, Mat4, Vec2, Vec3, Vec4};
use engine_materials::MaterialId;
use engine_runtime::Engine;

const MATERIAL_ARG: (&str, &str) = ("material", "a material");
const NAME_ARG: (&str, &str) = ("name", "a variable of the material's shader");

pub static MATERIAL: ModuleRows = module(
    "Material",
    "The shader, textures and variables that something is drawn with. `Gui.material` returns the \
     material of a name; `Material.new` creates a separate one.",
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
            &[("name", "the name of a material, or of a texture that acts as one")],
            "Creates a separate material from a material resource: changes to it affect nothing \
             else. Drawing functions of `Gui` take it in place of a name.",
        ),
        hot(
            "alive",
            alive,
            &[("material", "a number that may be a material's handle; nil and false are none")],
            "Returns true if the handle refers to an existing material. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("name", name, &[MATERIAL_ARG], "Returns the name of the material's resource.").pure(),
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
             with premultiplied alpha.",
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
                ("name", "a texture of the material's shader; \"texture\" is what bitmaps show"),
                ("texture", "the name of a texture, or of a sheet's frame"),
            ],
            "Sets one of the material's textures.",
        ),
    ],
);

fn new(engine: &mut Engine, name: TextArgument) -> Result<MaterialId, Error> {
    let created = engine.assets.new_material(name.as_str());
    created.map_err(|error| engine_foundation::error!("argument #1 'name': {}", error.message))
}

/// Native functions for the prelude, which also removes the number by which Guis draw with the
/// material.
pub static CORE: ModuleRows = module(
    "Material",
    "Materials, for the prelude.",
    "assert(core == nil)",
    &[func("destroy", destroy, &[("material", "")], "Destroys a material.").when_full()],
);

fn alive(engine: &mut Engine, material: MaybeHandle) -> bool {
    let handle = material.handle();
    handle.is_some_and(|handle| engine.assets.materials.slots().get(handle).is_some())
}

fn destroy(engine: &mut Engine, material: MaterialId) -> Result<(), Error> {
    let (frame, location) = (engine.frame.index, crate::script_location());
    let ended = engine.assets.materials.destroy(material, frame, &location);
    if ended.is_ok() {
        engine.worlds.forget_material(material);
        engine.drawing.end_material_source(material);
    }
    ended.map_err(|error| engine_foundation::error!("argument #1 'material': {}", error.message))
}

fn name(engine: &mut Engine, material: MaterialId) -> String {
    let found = engine.assets.materials.slots().get(material.0);
    found.expect("the handle was checked where it came in").name.clone()
}

fn set(
    engine: &mut Engine,
    material: MaterialId,
    name: TextArgument,
    numbers: &[f32],
    type_name: &str,
) -> Result<(), Error> {
    if let Some(wrong) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(engine_foundation::error!(
            "argument #3 'value' is too large: a shader's numbers end at {}, and one of its \
             numbers is {wrong} there",
            f32::MAX
        ));
    }
    let set = engine.assets.materials.set(material, name.as_str(), numbers, type_name);
    set.map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))
}

fn set_scalar(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: f64,
) -> Result<(), Error> {
    set(engine, m, name, &[value as f32], "a number")
}

fn set_vector2(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: Vec2,
) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector2")
}

fn set_vector3(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: Vec3,
) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector3")
}

fn set_vector4(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: Vec4,
) -> Result<(), Error> {
    set(engine, m, name, &value.to_array(), "a Vector4")
}

fn set_color(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: Color,
) -> Result<(), Error> {
    let material = engine.assets.materials.slots().get(m.0).expect("the handle was checked");
    if material.surface().is_some() {
        // Surfaces use alpha separately from the color.
        let [red, green, blue, _] = Color { alpha: 255.0, ..value }.to_light();
        return set(engine, m, name, &[red, green, blue, value.alpha / 255.0], "a Color");
    }
    set(engine, m, name, &value.to_light(), "a Color")
}

fn set_matrix4x4(
    engine: &mut Engine,
    m: MaterialId,
    name: TextArgument,
    value: Mat4,
) -> Result<(), Error> {
    set(engine, m, name, &value.to_cols_array(), "a Matrix4x4")
}

fn set_texture(
    engine: &mut Engine,
    material: MaterialId,
    name: TextArgument,
    texture: TextArgument,
) -> Result<(), Error> {
    engine.assets.set_material_texture(material, name.as_str(), texture.as_str())
}
