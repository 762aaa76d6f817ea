//! The Lua module `ShadingEnvironment`, and the functions of `World` that create environments.

use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Color, Error, Vec2, Vec3, Vec4, error, suggest};
use engine_frame_packet::shading_environment::{ShadingEnvironment, ShadingValue, ValueKind};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::shading::{BLENDED_MAX, ShadingEnvironmentId, TEXTURES, WEIGHT_MAX, range_of};

const ENVIRONMENT: (&str, &str) = ("environment", "a shading environment");
const NAME: (&str, &str) = ("name", "the name of a value");

pub static SHADING_ENVIRONMENT: ModuleRows = module(
    "ShadingEnvironment",
    "Values of sky, fog, exposure and post effects that a view shows. \
     `World.create_shading_environment` creates one. Values that it does not set are those of its \
     world.",
    r#"local world = Application.new_world()
local environment = World.create_shading_environment(world)
ShadingEnvironment.set_scalar(environment, "exposure", 1.5)
ShadingEnvironment.set_color(environment, "fog_color", Color(120, 130, 160))
ShadingEnvironment.apply(environment)
assert(ShadingEnvironment.scalar(environment, "exposure") == 1.5)
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[(
                "environment",
                "a number that may be an environment's handle; nil and false are none",
            )],
            "Returns true if the handle refers to an existing shading environment. Never raises \
             for a stale handle.",
        )
        .pure(),
        func(
            "apply",
            apply,
            &[ENVIRONMENT],
            "From now on, views of its world show this environment, unless \
             `Application.render_world` names another one.",
        ),
        func(
            "blend",
            blend,
            &[
                ENVIRONMENT,
                (
                    "resources",
                    "a list of names of shading environments, each followed by its weight: \
                     { \"day\", 0.75, \"rain\", 0.25 }",
                ),
            ],
            "Makes the environment the weighted mean of resources. Values that a resource does not \
             list count as those of the world. Values that were set before are reset.",
        ),
        func(
            "names",
            names,
            &[],
            "Returns the names of all values, in the order of the manual's table.",
        )
        .pure(),
        hot("scalar", scalar, &[ENVIRONMENT, NAME], "Returns a value that is one number.").pure(),
        hot(
            "set_scalar",
            set_scalar,
            &[ENVIRONMENT, NAME, ("value", "the number")],
            "Sets a value that is one number.",
        ),
        func("vector2", vector2, &[ENVIRONMENT, NAME], "Returns a value of two numbers.").pure(),
        func(
            "set_vector2",
            set_vector2,
            &[ENVIRONMENT, NAME, ("value", "the vector")],
            "Sets a value of two numbers.",
        ),
        func(
            "vector3",
            vector3,
            &[ENVIRONMENT, NAME],
            "Returns a value of three numbers; colours as linear light.",
        )
        .pure(),
        func(
            "set_vector3",
            set_vector3,
            &[ENVIRONMENT, NAME, ("value", "the vector; linear light for a colour")],
            "Sets a value of three numbers, or a colour to linear light.",
        ),
        func("vector4", vector4, &[ENVIRONMENT, NAME], "Returns a value of four numbers.").pure(),
        func(
            "set_vector4",
            set_vector4,
            &[ENVIRONMENT, NAME, ("value", "the vector")],
            "Sets a value of four numbers.",
        ),
        func(
            "set_color",
            set_color,
            &[ENVIRONMENT, NAME, ("color", "the colour, without its alpha")],
            "Sets a value that is a colour.",
        ),
        func("choice", choice, &[ENVIRONMENT, NAME], "Returns a value that is one of some names.")
            .pure(),
        func(
            "set_choice",
            set_choice,
            &[ENVIRONMENT, NAME, ("choice", "one of the names that the value can have")],
            "Sets a value that is one of some names.",
        ),
        func(
            "texture",
            texture,
            &[ENVIRONMENT, ("name", "\"color_table\" or \"sky_texture\"")],
            "Returns the name of one of its textures, or nil.",
        )
        .pure(),
        func(
            "set_texture",
            set_texture,
            &[
                ENVIRONMENT,
                ("name", "\"color_table\" or \"sky_texture\""),
                ("texture", "the name of a texture; nil: that of its resources, if any"),
            ],
            "Sets one of its textures: a table of colours for grading, or a map of the sky, shown \
             with the `sky_mode` \"texture\".",
        ),
    ],
);

/// Native functions of `World`.
pub static WORLD: ModuleRows = crate::api_row::more(
    "World",
    &[
        func(
            "create_shading_environment",
            create,
            &[
                ("world", "a world"),
                ("name", "a `.shading_environment` resource; the values of the world if left out"),
            ],
            "Creates a shading environment. Views show it after `ShadingEnvironment.apply`, or if \
             it is passed to `Application.render_world`.",
        ),
        func(
            "destroy_shading_environment",
            destroy,
            &[("world", "the world of the environment"), ENVIRONMENT],
            "Destroys a shading environment. Views that showed it have the values of the world \
             again.",
        )
        .when_full(),
        func(
            "set_shading_environment",
            set_resource,
            &[
                ("world", "the world of the environment"),
                ENVIRONMENT,
                ("name", "a `.shading_environment` resource"),
            ],
            "Gives an environment the values of another resource. Values that were set before are \
             reset.",
        ),
        func(
            "shading_environment",
            applied,
            &[("world", "a world")],
            "Returns the environment that `ShadingEnvironment.apply` gave the world, or nil.",
        )
        .pure(),
    ],
);

fn alive(engine: &mut Engine, environment: MaybeHandle) -> bool {
    let handle = environment.handle();
    handle.is_some_and(|handle| engine.worlds.shading.slots.get(handle).is_some())
}

fn create(
    engine: &mut Engine,
    world: WorldId,
    name: Option<TextArgument>,
) -> Result<ShadingEnvironmentId, Error> {
    let shading = &mut engine.worlds.shading;
    let Some(name) = name else { return shading.create(world) };
    shading.resource(&mut engine.assets.store, name.as_str())?;
    let environment = shading.create(world)?;
    shading.of_mut(environment).resources = vec![(name.as_str().to_string(), 1.0)];
    Ok(environment)
}

fn check_world(
    engine: &mut Engine,
    world: WorldId,
    environment: ShadingEnvironmentId,
) -> Result<(), Error> {
    match engine.worlds.shading.of_mut(environment).world == world {
        true => Ok(()),
        false => Err(error!("argument #2 'environment': it belongs to another world")),
    }
}

fn destroy(
    engine: &mut Engine,
    world: WorldId,
    environment: ShadingEnvironmentId,
) -> Result<(), Error> {
    check_world(engine, world, environment)?;
    let location = crate::script_location();
    engine.worlds.shading.destroy(environment, engine.frame.index, &location);
    Ok(())
}

fn set_resource(
    engine: &mut Engine,
    world: WorldId,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<(), Error> {
    check_world(engine, world, environment)?;
    let resources = vec![(name.as_str().to_string(), 1.0)];
    engine.worlds.shading.blend(&mut engine.assets.store, environment, resources)
}

fn applied(engine: &mut Engine, world: WorldId) -> Option<ShadingEnvironmentId> {
    engine.worlds.shading.applied(world)
}

fn apply(engine: &mut Engine, environment: ShadingEnvironmentId) {
    engine.worlds.shading.apply(environment);
}

fn blend(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    resources: ScriptValue,
) -> Result<(), Error> {
    let must = || {
        error!(
            "argument #2 'resources' must be a list of names, each followed by its weight from 0 \
             to {WEIGHT_MAX}: {{ \"day\", 0.75, \"rain\", 0.25 }}"
        )
    };
    let ScriptValue::List(items) = resources else { return Err(must()) };
    if items.len() > 2 * BLENDED_MAX {
        return Err(error!(
            "argument #2 'resources' has {} names, and {BLENDED_MAX} are the most (BLENDED_MAX)",
            items.len() / 2
        ));
    }
    if items.is_empty() || items.len() % 2 != 0 {
        return Err(must());
    }
    let pair = |pair: &[ScriptValue]| match pair {
        [ScriptValue::Text(name), ScriptValue::Number(weight)]
            if (0.0..=WEIGHT_MAX).contains(weight) =>
        {
            Some((name.clone(), *weight as f32))
        }
        _ => None,
    };
    let resources: Option<Vec<_>> = items.chunks(2).map(pair).collect();
    let resources = resources.ok_or_else(must)?;
    if resources.iter().all(|(_, weight)| *weight <= 0.0) {
        return Err(error!("argument #2 'resources': one of the weights must be above 0"));
    }
    engine.worlds.shading.blend(&mut engine.assets.store, environment, resources)
}

fn names(_: &mut Engine) -> Vec<String> {
    ShadingEnvironment::values().map(|(_, row)| row.name.to_string()).collect()
}

/// Names the type of a value, and the functions for it.
fn functions(row: &ShadingValue) -> &'static str {
    match row.kind {
        ValueKind::Scalar => "a number: use scalar and set_scalar",
        ValueKind::Vector2 => "a vector of two numbers: use vector2 and set_vector2",
        ValueKind::Vector3 => "a vector of three numbers: use vector3 and set_vector3",
        ValueKind::Color => "a colour: use set_color, or vector3 and set_vector3 for linear light",
        ValueKind::Vector4 => "a vector of four numbers: use vector4 and set_vector4",
        ValueKind::Choice(_) => "one of some names: use choice and set_choice",
    }
}

/// Finds a value of a type. Returns the index of its first float.
fn find(
    name: TextArgument,
    is_kind: impl Fn(ValueKind) -> bool,
) -> Result<(usize, &'static ShadingValue), Error> {
    let name = name.as_str();
    let (first, row) = ShadingEnvironment::find(name).ok_or_else(|| {
        let names = ShadingEnvironment::values().map(|(_, row)| row.name);
        error!("argument #2 'name': there is no value '{name}'{}", suggest::hint(name, names))
    })?;
    match is_kind(row.kind) {
        true => Ok((first, row)),
        false => Err(error!("argument #2 'name': '{name}' is {}", functions(row))),
    }
}

fn read<const COUNT: usize>(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    is_kind: impl Fn(ValueKind) -> bool,
) -> Result<[f32; COUNT], Error> {
    let (first, _) = find(name, is_kind)?;
    let world = engine.worlds.shading.of_mut(environment).world;
    let of_world = engine.worlds.world_shading(world);
    let values = engine.worlds.shading.resolve(environment, &of_world);
    Ok(std::array::from_fn(|at| values.values.floats()[first + at]))
}

fn write<const COUNT: usize>(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    is_kind: impl Fn(ValueKind) -> bool,
    (argument, floats): (&str, [f32; COUNT]),
) -> Result<(), Error> {
    let (first, row) = find(name, is_kind)?;
    if floats.iter().any(|float| !(row.min..=row.max).contains(float)) {
        let range = range_of(row);
        return Err(error!("argument #3 '{argument}': '{}' must be {range}", row.name));
    }
    engine.worlds.shading.of_mut(environment).own.set(first, &floats);
    Ok(())
}

fn is_scalar(kind: ValueKind) -> bool {
    kind == ValueKind::Scalar
}

fn is_vector3(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Vector3 | ValueKind::Color)
}

fn scalar(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<f64, Error> {
    read::<1>(engine, environment, name, is_scalar).map(|[value]| f64::from(value))
}

fn set_scalar(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    value: f64,
) -> Result<(), Error> {
    write(engine, environment, name, is_scalar, ("value", [value as f32]))
}

fn vector2(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<Vec2, Error> {
    read(engine, environment, name, |kind| kind == ValueKind::Vector2).map(Vec2::from_array)
}

fn set_vector2(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    value: Vec2,
) -> Result<(), Error> {
    write(engine, environment, name, |kind| kind == ValueKind::Vector2, ("value", value.to_array()))
}

fn vector3(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<Vec3, Error> {
    read(engine, environment, name, is_vector3).map(Vec3::from_array)
}

fn set_vector3(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    value: Vec3,
) -> Result<(), Error> {
    write(engine, environment, name, is_vector3, ("value", value.to_array()))
}

fn vector4(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<Vec4, Error> {
    read(engine, environment, name, |kind| kind == ValueKind::Vector4).map(Vec4::from_array)
}

fn set_vector4(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    value: Vec4,
) -> Result<(), Error> {
    write(engine, environment, name, |kind| kind == ValueKind::Vector4, ("value", value.to_array()))
}

fn set_color(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    color: Color,
) -> Result<(), Error> {
    let [red, green, blue, _] = Color { alpha: 255.0, ..color }.to_light();
    let light = [red, green, blue];
    write(engine, environment, name, |kind| kind == ValueKind::Color, ("color", light))
}

fn choices(row: &ShadingValue) -> &'static [&'static str] {
    match row.kind {
        ValueKind::Choice(names) => names,
        _ => &[],
    }
}

fn choice(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<String, Error> {
    let is_choice = |kind| matches!(kind, ValueKind::Choice(_));
    let (_, row) = find(name, is_choice)?;
    let [value] = read::<1>(engine, environment, name, is_choice)?;
    Ok(choices(row)[value as usize].to_string())
}

fn set_choice(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    choice: TextArgument,
) -> Result<(), Error> {
    let (first, row) = find(name, |kind| matches!(kind, ValueKind::Choice(_)))?;
    let (names, wanted) = (choices(row), choice.as_str());
    let at = names.iter().position(|known| *known == wanted).ok_or_else(|| {
        let hint = suggest::hint(wanted, names.iter().copied());
        error!("argument #3 'choice': '{}' must be {}{hint}", row.name, names.join(", "))
    })?;
    engine.worlds.shading.of_mut(environment).own.set(first, &[at as f32]);
    Ok(())
}

fn texture_index(name: TextArgument) -> Result<usize, Error> {
    let name = name.as_str();
    TEXTURES.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = suggest::hint(name, TEXTURES);
        error!("argument #2 'name': an environment has no texture '{name}'{hint}")
    })
}

fn texture(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
) -> Result<Option<String>, Error> {
    let at = texture_index(name)?;
    let world = engine.worlds.shading.of_mut(environment).world;
    let of_world = engine.worlds.world_shading(world);
    let resolved = engine.worlds.shading.resolve(environment, &of_world);
    Ok(resolved.textures[at].as_deref().map(str::to_string))
}

fn set_texture(
    engine: &mut Engine,
    environment: ShadingEnvironmentId,
    name: TextArgument,
    texture: Option<TextArgument>,
) -> Result<(), Error> {
    let at = texture_index(name)?;
    let texture = match texture {
        Some(texture) => {
            let found = engine.assets.find_drawable_texture(texture.as_str());
            found.map_err(|error| error!("argument #3 'texture': {}", error.message))?;
            Some(texture.as_str().into())
        }
        None => None,
    };
    engine.worlds.shading.of_mut(environment).own.textures[at] = texture;
    Ok(())
}
