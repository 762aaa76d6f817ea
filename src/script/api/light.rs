//! `Light`: lights of units. And what a world has around it: `World.set_sky`, whose options the
//! prelude reads (lua/mesh.lua).

use crate::engine::Engine;
use crate::foundation::{Error, Handle, Mat4, Quat, Vec3, suggest};
use crate::packet::scene::Sky;
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::world::WorldId;
use crate::world::light::{BRIGHTNESS_MAX, LightId, LightLook, LightType, SHADOW_BIAS_MAX};
use crate::world::mesh_part::check_light;
use crate::world::scene::Pose;
use crate::world::unit::UnitId;
use std::f64::consts::FRAC_PI_2;

const LIGHT_ARG: (&str, &str) = ("light", "a light");

pub static LIGHT: Module = module(
    "Light",
    "Lights are components of units: `Unit.light` finds them. They shine from their node, or along \
     its y axis. With the intensity 1, a white wall that faces an omni or a spot light one metre \
     away, or a directional light, is as bright as white can be shown.",
    r#"local world = Application.new_world()
local lamp = Unit.light(World.spawn_unit(world, "core/units/light"), 1)
Light.set_color(lamp, Color(255, 200, 120))
Light.set_intensity(lamp, 20)
assert(Light.type(lamp) == "omni")
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("light", "a number that may be a light's handle")],
            "Whether the handle leads to a light that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("unit", unit, &[LIGHT_ARG], "The unit that the light is of.").pure(),
        func("node", node, &[LIGHT_ARG], "Which of its unit's nodes it hangs on.").pure(),
        func("type", kind, &[LIGHT_ARG], "\"omni\", \"spot\" or \"directional\".").pure(),
        func(
            "set_type",
            set_type,
            &[LIGHT_ARG, ("type", "\"omni\", \"spot\" or \"directional\"")],
            "Sets how it shines: to all sides, in a cone, or from infinitely far away.",
        ),
        hot("color", color, &[LIGHT_ARG], "Its colour as linear light: red, green, blue.").pure(),
        hot("intensity", intensity, &[LIGHT_ARG], "How bright it is.").pure(),
        hot(
            "set_intensity",
            set_intensity,
            &[LIGHT_ARG, ("intensity", "0 or more; 1 makes white walls white, see above")],
            "Sets how bright it is.",
        ),
        hot(
            "falloff_end",
            falloff_end,
            &[LIGHT_ARG],
            "Metres to where it ends; without a set one, to where it can no longer be seen.",
        )
        .pure(),
        hot(
            "set_falloff_end",
            set_falloff_end,
            &[LIGHT_ARG, ("distance", "metres; 0: as far as it can be seen")],
            "Sets how far it shines. Lights that reach less cost less.",
        ),
        hot(
            "spot_angle_start",
            spot_angle_start,
            &[LIGHT_ARG],
            "Radians from its axis to where a spot light begins to fade.",
        )
        .pure(),
        hot(
            "spot_angle_end",
            spot_angle_end,
            &[LIGHT_ARG],
            "Radians from its axis to where a spot light ends.",
        )
        .pure(),
        hot(
            "set_spot_angle_start",
            set_spot_angle_start,
            &[LIGHT_ARG, ("angle", "radians, from 0 to half of pi")],
            "Sets where a spot light begins to fade; its end is never less.",
        ),
        hot(
            "set_spot_angle_end",
            set_spot_angle_end,
            &[LIGHT_ARG, ("angle", "radians, above 0, at most half of pi")],
            "Sets where a spot light ends; its start is never more.",
        ),
        func("casts_shadows", casts_shadows, &[LIGHT_ARG], "Whether it casts shadows.").pure(),
        func(
            "set_casts_shadows",
            set_casts_shadows,
            &[LIGHT_ARG, ("casts", "whether it casts shadows; omni lights cannot")],
            "Sets whether it casts shadows.",
        ),
        func(
            "shadow_depth_bias",
            shadow_depth_bias,
            &[LIGHT_ARG],
            "How far its shadows are kept off what casts them; 1 is usual.",
        )
        .pure(),
        func(
            "set_shadow_depth_bias",
            set_shadow_depth_bias,
            &[LIGHT_ARG, ("bias", "from 0 to 100, 1 is usual")],
            "Sets how far its shadows are kept off what casts them: more takes stripes off \
             surfaces that it grazes, less brings shadows of thin things up to their feet.",
        ),
        func("enabled", enabled, &[LIGHT_ARG], "Whether it shines.").pure(),
        func(
            "set_enabled",
            set_enabled,
            &[LIGHT_ARG, ("enabled", "whether it shines")],
            "Switches it on or off.",
        ),
        func("local_pose", local_pose, &[LIGHT_ARG], "Where it is relative to its node.").pure(),
        func(
            "set_local_pose",
            set_local_pose,
            &[LIGHT_ARG, ("pose", "a matrix without shear")],
            "Moves and turns it relative to its node.",
        ),
        func(
            "local_position",
            local_position,
            &[LIGHT_ARG],
            "Where it is relative to its node, in metres.",
        )
        .pure(),
        func(
            "set_local_position",
            set_local_position,
            &[LIGHT_ARG, ("position", "metres from its node")],
            "Moves it relative to its node.",
        ),
        func(
            "local_rotation",
            local_rotation,
            &[LIGHT_ARG],
            "How it is turned relative to its node.",
        )
        .pure(),
        func(
            "set_local_rotation",
            set_local_rotation,
            &[LIGHT_ARG, ("rotation", "relative to its node")],
            "Turns it relative to its node.",
        ),
        func("world_pose", world_pose, &[LIGHT_ARG], "Where it is in the world.").pure(),
        func(
            "world_position",
            world_position,
            &[LIGHT_ARG],
            "Where it is in the world, in metres.",
        )
        .pure(),
        func("world_rotation", world_rotation, &[LIGHT_ARG], "How it is turned in the world.")
            .pure(),
    ],
);

/// For the prelude, under the names by which games know them.
pub static CORE: Module = module(
    "Light",
    "Lights, for the prelude.",
    "assert(core == nil)",
    &[func("set_color", set_color, &[LIGHT_ARG, ("color", "")], "Sets its colour.")],
);

/// The same for `World`.
pub static WORLD_CORE: Module = module(
    "World",
    "The sky, for the prelude.",
    "assert(core == nil)",
    &[
        func("set_sky", set_sky, &[("world", ""), ("sky", "")], "Sets what is around a world."),
        func("sky", sky, &[("world", "")], "What is around a world.").pure(),
    ],
);

fn alive(engine: &mut Engine, light: AnyNumber) -> bool {
    let handle = Handle::from_number(light.0);
    handle.is_some_and(|handle| engine.scenes.lights.slots.get(handle).is_some())
}

fn look(engine: &mut Engine, light: LightId) -> LightLook {
    engine.scenes.lights.slots.get(light.0).expect("the handle was checked").look
}

fn change(engine: &mut Engine, light: LightId) -> &mut LightLook {
    &mut engine.scenes.lights.change(light).look
}

fn unit(engine: &mut Engine, light: LightId) -> UnitId {
    let row = engine.scenes.lights.slots.get(light.0).expect("the handle was checked").unit;
    UnitId(engine.units.slots.handle_at(row as usize).expect("lights end with their units"))
}

fn node(engine: &mut Engine, light: LightId) -> f64 {
    let light = engine.scenes.lights.slots.get(light.0).expect("the handle was checked");
    f64::from(light.node) + 1.0
}

fn kind(engine: &mut Engine, light: LightId) -> String {
    look(engine, light).kind.name().to_string()
}

fn set_type(engine: &mut Engine, light: LightId, kind: Text) -> Result<(), Error> {
    let word = kind.as_str();
    let Some(kind) = LightType::of(word) else {
        let hint = suggest::hint(word, LightType::NAMES);
        return Err(crate::error!(
            "argument #2 'type' must be \"omni\", \"spot\" or \"directional\", got \
             \"{word}\"{hint}"
        ));
    };
    let made = LightLook { kind, ..look(engine, light) };
    check_light(&made).map_err(|fault| crate::error!("argument #2 'type': {}", fault.message))?;
    *change(engine, light) = made;
    Ok(())
}

fn color(engine: &mut Engine, light: LightId) -> Vec3 {
    look(engine, light).color.into()
}

fn set_color(engine: &mut Engine, light: LightId, color: Vec3) -> Result<(), Error> {
    if color.min_element() < 0.0 || color.max_element() > BRIGHTNESS_MAX {
        return Err(crate::error!(
            "argument #2 'color' must have parts from 0 to {BRIGHTNESS_MAX}, got Vector3({}, {}, \
             {})",
            color.x,
            color.y,
            color.z
        ));
    }
    change(engine, light).color = color.to_array();
    Ok(())
}

fn intensity(engine: &mut Engine, light: LightId) -> f64 {
    look(engine, light).intensity.into()
}

/// A number from 0 to the most.
fn within(number: f64, most: f32, argument: &str) -> Result<f32, Error> {
    match (0.0..=f64::from(most)).contains(&number) {
        true => Ok(number as f32),
        false => {
            Err(crate::error!("argument #2 '{argument}' must be from 0 to {most}, got {number}"))
        }
    }
}

fn set_intensity(engine: &mut Engine, light: LightId, intensity: f64) -> Result<(), Error> {
    let intensity = within(intensity, BRIGHTNESS_MAX, "intensity")?;
    change(engine, light).intensity = intensity;
    Ok(())
}

fn falloff_end(engine: &mut Engine, light: LightId) -> f64 {
    look(engine, light).reach().into()
}

fn set_falloff_end(engine: &mut Engine, light: LightId, distance: f64) -> Result<(), Error> {
    let distance = within(distance, BRIGHTNESS_MAX, "distance")?;
    change(engine, light).falloff_end = distance;
    Ok(())
}

fn spot_angle_start(engine: &mut Engine, light: LightId) -> f64 {
    look(engine, light).spot_start.into()
}

fn spot_angle_end(engine: &mut Engine, light: LightId) -> f64 {
    look(engine, light).spot_end.into()
}

fn check_angle(angle: f64, least: bool) -> Result<f32, Error> {
    if !(angle > 0.0 || least && angle == 0.0) || angle > FRAC_PI_2 + 1e-6 {
        return Err(crate::error!(
            "argument #2 'angle' must be above 0 and at most half of pi radians, got {angle}: \
             math.rad makes radians of degrees"
        ));
    }
    Ok(angle.min(FRAC_PI_2) as f32)
}

fn set_spot_angle_start(engine: &mut Engine, light: LightId, angle: f64) -> Result<(), Error> {
    let angle = check_angle(angle, true)?;
    let look = change(engine, light);
    look.spot_start = angle;
    look.spot_end = look.spot_end.max(angle);
    Ok(())
}

fn set_spot_angle_end(engine: &mut Engine, light: LightId, angle: f64) -> Result<(), Error> {
    let angle = check_angle(angle, false)?;
    let look = change(engine, light);
    look.spot_end = angle;
    look.spot_start = look.spot_start.min(angle);
    Ok(())
}

fn casts_shadows(engine: &mut Engine, light: LightId) -> bool {
    look(engine, light).casts_shadows
}

fn set_casts_shadows(engine: &mut Engine, light: LightId, casts: bool) -> Result<(), Error> {
    let made = LightLook { casts_shadows: casts, ..look(engine, light) };
    check_light(&made).map_err(|fault| crate::error!("argument #2 'casts': {}", fault.message))?;
    *change(engine, light) = made;
    Ok(())
}

fn shadow_depth_bias(engine: &mut Engine, light: LightId) -> f64 {
    look(engine, light).shadow_bias.into()
}

fn set_shadow_depth_bias(engine: &mut Engine, light: LightId, bias: f64) -> Result<(), Error> {
    change(engine, light).shadow_bias = within(bias, SHADOW_BIAS_MAX, "bias")?;
    Ok(())
}

fn enabled(engine: &mut Engine, light: LightId) -> bool {
    look(engine, light).enabled
}

fn set_enabled(engine: &mut Engine, light: LightId, enabled: bool) {
    change(engine, light).enabled = enabled;
}

fn local_pose(engine: &mut Engine, light: LightId) -> Mat4 {
    engine.scenes.lights.slots.get(light.0).expect("the handle was checked").local
}

fn set_local_pose(engine: &mut Engine, light: LightId, pose: Mat4) -> Result<(), Error> {
    check_pose(pose)?;
    engine.scenes.lights.change(light).local = pose;
    Ok(())
}

/// A light shines along an axis: each must have a length, and not lie where the others do.
fn check_pose(pose: Mat4) -> Result<(), Error> {
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
    let [x, y, z] = axes.map(Vec3::normalize_or_zero);
    match x.cross(y).dot(z).abs() > 1e-6 {
        true => Ok(()),
        false => Err(crate::error!(
            "argument #2 'pose' is flat: an axis of it has length 0, or lies where the others do"
        )),
    }
}

fn local_position(engine: &mut Engine, light: LightId) -> Vec3 {
    local_pose(engine, light).w_axis.truncate()
}

fn set_local_position(engine: &mut Engine, light: LightId, position: Vec3) {
    engine.scenes.lights.change(light).local.w_axis = position.extend(1.0);
}

fn local_rotation(engine: &mut Engine, light: LightId) -> Quat {
    Pose::of(local_pose(engine, light)).rotation
}

fn set_local_rotation(engine: &mut Engine, light: LightId, rotation: Quat) -> Result<(), Error> {
    if (rotation.length() - 1.0).abs() > 1e-3 {
        return Err(crate::error!(
            "argument #2 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let position = local_position(engine, light);
    let pose = Mat4::from_rotation_translation(rotation.normalize(), position);
    engine.scenes.lights.change(light).local = pose;
    Ok(())
}

fn world_pose(engine: &mut Engine, light: LightId) -> Mat4 {
    let light = *engine.scenes.lights.slots.get(light.0).expect("the handle was checked");
    engine.units.scene.world(light.unit, usize::from(light.node)) * light.local
}

fn world_position(engine: &mut Engine, light: LightId) -> Vec3 {
    world_pose(engine, light).w_axis.truncate()
}

fn world_rotation(engine: &mut Engine, light: LightId) -> Quat {
    Pose::of(world_pose(engine, light)).rotation
}

/// The lights of a unit, by the prelude's words: which one, from 1, or by its part's name.
pub(super) fn of_unit(
    engine: &Engine,
    unit: UnitId,
    which: &Value,
) -> Result<Option<LightId>, Error> {
    let lights = engine.scenes.lights.of_unit(unit.row());
    let place = match which {
        Value::Number(number) => super::mesh_unit::place(*number, lights.len()),
        Value::Text(name) => {
            let parts = &engine.units.of(unit).resource.seen.lights;
            parts.iter().position(|part| part.name == *name)
        }
        _ => return Err(crate::error!("argument #2 'light' must be a number or a name")),
    };
    Ok(place.and_then(|place| lights.get(place).copied()))
}

/// Twelve numbers of colours (top, horizon, ground, fog), exposure, fog density, whether it is
/// shown, whether light is mapped.
fn set_sky(engine: &mut Engine, world: WorldId, sky: Value) -> Result<(), Error> {
    let Value::List(items) = sky else {
        return Err(crate::error!("the prelude gives a list"));
    };
    let number = |at: usize| match items.get(at) {
        Some(Value::Number(number)) => *number as f32,
        _ => 0.0,
    };
    let color = |at: usize| [number(at), number(at + 1), number(at + 2)];
    let sky = Sky {
        top: color(0),
        horizon: color(3),
        ground: color(6),
        fog_color: color(9),
        exposure: number(12),
        fog_density: number(13),
        shown: number(14) != 0.0,
        tone_mapping: number(15) != 0.0,
    };
    engine.set_sky(world, sky);
    Ok(())
}

/// Twelve numbers of colours, then the four others.
fn sky(engine: &mut Engine, world: WorldId) -> Value {
    let sky = engine.sky(world);
    let colors = [sky.top, sky.horizon, sky.ground, sky.fog_color];
    let [shown, mapping] = [sky.shown, sky.tone_mapping].map(|it| f32::from(u8::from(it)));
    let others = [sky.exposure, sky.fog_density, shown, mapping];
    let numbers = colors.iter().flatten().chain(&others);
    Value::List(numbers.map(|number| Value::Number(f64::from(*number))).collect())
}

/// Which of a unit's nodes, from 0.
pub(super) fn node_of(engine: &Engine, unit: UnitId, node: Option<Integer>) -> Result<u16, Error> {
    let (node, count) = (node.map_or(1, |node| node.0), engine.units.scene.count(unit.row()));
    match node >= 1 && node <= count as i64 {
        true => Ok(node as u16 - 1),
        false => {
            Err(crate::error!("argument 'node': the unit has the nodes 1 to {count}, got {node}"))
        }
    }
}
