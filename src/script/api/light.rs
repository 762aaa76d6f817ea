//! The Lua module `Light`: lights of units.

use crate::api::light_flat::{flat, height, set_flat, set_height};
use crate::api::light_layers::{layers, set_layers, set_texture};
use crate::api::light_source::{
    set_source_angle, set_source_height, set_source_radius, set_source_width, source_angle,
    source_height, source_radius, source_width,
};
use crate::api::unit::node_remedy;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{Integer, MaybeHandle, NameOrIndex, TextArgument};
use engine_foundation::{Error, Mat4, Quat, Vec3, suggest};
use engine_runtime::Engine;
use engine_world::light::{BRIGHTNESS_MAX, LightId, LightSettings, LightType, SHADOW_BIAS_MAX};
use engine_world::light_component::check_light;
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;
use std::f64::consts::FRAC_PI_2;

const LIGHT_ARG: (&str, &str) = ("light", "a light");

pub static LIGHT: ModuleRows = module(
    "Light",
    "Lights are components of units: `Unit.light` finds them. They shine from their node, or along \
     its y axis. With an intensity of 1, a white wall that faces the light is as bright as white \
     can be shown. For omni and spot lights, this applies at a distance of one metre.",
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
            &[("light", "a number that may be a light's handle; nil and false are none")],
            "Returns true if the handle refers to an existing light. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[LIGHT_ARG], "Returns the unit that the light belongs to.").pure(),
        func("node", node, &[LIGHT_ARG], "Returns the index of the node that it is attached to.")
            .pure(),
        func(
            "type",
            kind,
            &[LIGHT_ARG],
            "Returns its type: \"omni\", \"spot\", \"directional\", \"rectangle\" or \"disc\".",
        )
        .pure(),
        func(
            "set_type",
            set_type,
            &[
                LIGHT_ARG,
                ("type", "\"omni\", \"spot\", \"directional\", \"rectangle\" or \"disc\""),
            ],
            "Sets how it shines: in all directions, in a cone, from infinitely far away, or from a \
             rectangle or disc to one side.",
        ),
        hot("color", color, &[LIGHT_ARG], "Returns its colour as linear light: red, green, blue.")
            .pure(),
        hot("intensity", intensity, &[LIGHT_ARG], "Returns its intensity.").pure(),
        hot(
            "set_intensity",
            set_intensity,
            &[
                LIGHT_ARG,
                ("intensity", "0 or more; 1 shows white walls as white, as described above"),
            ],
            "Sets its intensity.",
        ),
        hot(
            "falloff_end",
            falloff_end,
            &[LIGHT_ARG],
            "Returns the distance at which it ends, in metres. If none is set, this is where it is \
             no longer visible.",
        )
        .pure(),
        hot(
            "set_falloff_end",
            set_falloff_end,
            &[LIGHT_ARG, ("distance", "metres; 0: as far as it is visible")],
            "Sets the distance at which it ends. Lights with a shorter range cost less.",
        ),
        hot(
            "spot_angle_start",
            spot_angle_start,
            &[LIGHT_ARG],
            "Returns the angle from its axis at which a spot light begins to fade, in radians.",
        )
        .pure(),
        hot(
            "spot_angle_end",
            spot_angle_end,
            &[LIGHT_ARG],
            "Returns the angle from its axis at which a spot light ends, in radians.",
        )
        .pure(),
        hot(
            "set_spot_angle_start",
            set_spot_angle_start,
            &[LIGHT_ARG, ("angle", "radians, from 0 to half of pi")],
            "Sets the angle at which a spot light begins to fade. If its end is at a smaller \
             angle, the end moves there, too.",
        ),
        hot(
            "set_spot_angle_end",
            set_spot_angle_end,
            &[LIGHT_ARG, ("angle", "radians, above 0, at most half of pi")],
            "Sets the angle at which a spot light ends. If its start is at a larger angle, the \
             start moves there, too.",
        ),
        func("casts_shadows", casts_shadows, &[LIGHT_ARG], "Returns true if it casts shadows.")
            .pure(),
        func(
            "set_casts_shadows",
            set_casts_shadows,
            &[LIGHT_ARG, ("casts", "true if it casts shadows")],
            "Sets whether it casts shadows.",
        ),
        func(
            "shadow_depth_bias",
            shadow_depth_bias,
            &[LIGHT_ARG],
            "Returns how far its shadows are kept away from the objects that cast them; 1 is \
             usual.",
        )
        .pure(),
        func(
            "set_shadow_depth_bias",
            set_shadow_depth_bias,
            &[LIGHT_ARG, ("bias", "from 0 to 100; 1 is usual")],
            "Sets how far its shadows are kept away from the objects that cast them. Raise it to \
             remove stripes from surfaces at a low angle to the light. Lower it to close gaps \
             between thin objects and their shadows.",
        ),
        func(
            "source_radius",
            source_radius,
            &[LIGHT_ARG],
            "Returns the radius of its source in metres, if it is an omni or spot light.",
        )
        .pure(),
        func(
            "set_source_radius",
            set_source_radius,
            &[LIGHT_ARG, ("radius", "from 0 to 10 metres; 0: a point")],
            "Sets the radius of the source of an omni or spot light. The larger it is, the softer \
             are its shadows, the more so far from the objects that cast them. The setting \
             `render.shadow_filter` and the quality can switch this off.",
        ),
        func(
            "source_angle",
            source_angle,
            &[LIGHT_ARG],
            "Returns the angle that its source has in the sky, in radians, if it is a directional \
             light.",
        )
        .pure(),
        func(
            "set_source_angle",
            set_source_angle,
            &[
                LIGHT_ARG,
                ("angle", "radians, from 0 to a ninth of pi; 0.00925 is the real sun, 0 a point"),
            ],
            "Sets the angle that the source of a directional light has in the sky, from one side \
             to the other. The larger it is, the softer are its shadows, the more so far from the \
             objects that cast them.",
        ),
        func(
            "source_width",
            source_width,
            &[LIGHT_ARG],
            "Returns its width in metres, along its x axis, if it is a rectangle or disc.",
        )
        .pure(),
        func(
            "set_source_width",
            set_source_width,
            &[LIGHT_ARG, ("width", "from 0.01 to 100 metres")],
            "Sets the width of a rectangle or disc. A larger light has the same intensity, and so \
             is less bright itself.",
        ),
        func(
            "source_height",
            source_height,
            &[LIGHT_ARG],
            "Returns its height in metres, along its z axis, if it is a rectangle or disc.",
        )
        .pure(),
        func(
            "set_source_height",
            set_source_height,
            &[LIGHT_ARG, ("height", "from 0.01 to 100 metres")],
            "Sets the height of a rectangle or disc.",
        ),
        func(
            "layers",
            layers,
            &[LIGHT_ARG],
            "Returns its light layers: the sum of 1 for the first layer, 2 for the second, 4, 8, \
             and so on, up to 128 for the eighth.",
        )
        .pure(),
        func(
            "set_layers",
            set_layers,
            &[LIGHT_ARG, ("layers", "a sum of layers, from 0 to 255; 255 is all")],
            "Sets its light layers. It lights only meshes that share a layer with it: \
             `Mesh.set_light_layers`. All lights and meshes are in all layers at first.",
        ),
        func(
            "set_texture",
            set_texture,
            &[LIGHT_ARG, ("name", "the name of a texture; nil: none")],
            "Sets the texture through which it shines. A spot light shows it on surfaces, within \
             its cone. Around an omni light, the columns of the texture go around its y axis, and \
             the rows from the direction of the axis to the opposite one, as in textures from \
             `.ies` files. For other lights, a texture is an error.",
        ),
        func("flat", flat, &[LIGHT_ARG], "Returns true if it is a light of 2D games.").pure(),
        func(
            "set_flat",
            set_flat,
            &[LIGHT_ARG, ("flat", "true for a light of 2D games")],
            "Sets whether an omni or spot light lights sprites evenly: it is brightest at its \
             position, fades to its range, and the direction of sprites matters only if they have \
             a normal texture. For other lights, true is an error.",
        ),
        func(
            "height",
            height,
            &[LIGHT_ARG],
            "Returns its height in metres in front of sprites with a normal texture, if it is \
             flat.",
        )
        .pure(),
        func(
            "set_height",
            set_height,
            &[LIGHT_ARG, ("height", "from 0 to 10000 metres")],
            "Sets the height of a flat light in front of sprites with a normal texture. With 0, it \
             lights only slopes that face it.",
        ),
        func("enabled", enabled, &[LIGHT_ARG], "Returns true if it is switched on.").pure(),
        func(
            "set_enabled",
            set_enabled,
            &[LIGHT_ARG, ("enabled", "true to switch it on")],
            "Switches it on or off.",
        ),
        func("local_pose", local_pose, &[LIGHT_ARG], "Returns its pose relative to its node.")
            .pure(),
        func(
            "set_local_pose",
            set_local_pose,
            &[LIGHT_ARG, ("pose", "a matrix without shear")],
            "Sets its position and rotation relative to its node.",
        ),
        func(
            "local_position",
            local_position,
            &[LIGHT_ARG],
            "Returns its position relative to its node, in metres.",
        )
        .pure(),
        func(
            "set_local_position",
            set_local_position,
            &[LIGHT_ARG, ("position", "relative to its node, in metres")],
            "Sets its position relative to its node.",
        ),
        func(
            "local_rotation",
            local_rotation,
            &[LIGHT_ARG],
            "Returns its rotation relative to its node.",
        )
        .pure(),
        func(
            "set_local_rotation",
            set_local_rotation,
            &[LIGHT_ARG, ("rotation", "relative to its node")],
            "Sets its rotation relative to its node.",
        ),
        func("world_pose", world_pose, &[LIGHT_ARG], "Returns its pose in the world.").pure(),
        func(
            "world_position",
            world_position,
            &[LIGHT_ARG],
            "Returns its position in the world, in metres.",
        )
        .pure(),
        func("world_rotation", world_rotation, &[LIGHT_ARG], "Returns its rotation in the world.")
            .pure(),
    ],
);

/// Native functions for the prelude, with the names of the public functions.
pub static CORE: ModuleRows = module(
    "Light",
    "Lights, for the prelude.",
    "assert(core == nil)",
    &[func("set_color", set_color, &[LIGHT_ARG, ("color", "")], "Sets its colour.")],
);

fn alive(engine: &mut Engine, light: MaybeHandle) -> bool {
    let handle = light.handle();
    handle.is_some_and(|handle| engine.worlds.scenes.lights.slots.get(handle).is_some())
}

pub(super) fn settings(engine: &mut Engine, light: LightId) -> LightSettings {
    engine.worlds.scenes.lights.slots.get(light.0).expect("the handle was checked").settings
}

pub(super) fn change(engine: &mut Engine, light: LightId) -> &mut LightSettings {
    &mut engine.worlds.scenes.lights.change(light).settings
}

fn unit(engine: &mut Engine, light: LightId) -> UnitId {
    let row = engine.worlds.scenes.lights.slots.get(light.0).expect("the handle was checked").unit;
    UnitId(engine.worlds.units.slots.handle_at(row as usize).expect("lights end with their units"))
}

fn node(engine: &mut Engine, light: LightId) -> u64 {
    let light = engine.worlds.scenes.lights.slots.get(light.0).expect("the handle was checked");
    u64::from(light.node) + 1
}

fn kind(engine: &mut Engine, light: LightId) -> String {
    settings(engine, light).kind.name().to_string()
}

fn set_type(engine: &mut Engine, light: LightId, kind: TextArgument) -> Result<(), Error> {
    let word = kind.as_str();
    let Some(kind) = LightType::of(word) else {
        let hint = suggest::hint(word, LightType::NAMES);
        return Err(engine_foundation::error!(
            "argument #2 'type' must be \"omni\", \"spot\", \"directional\", \"rectangle\" or \
             \"disc\", got \"{word}\"{hint}"
        ));
    };
    let changed = LightSettings { kind, ..settings(engine, light) };
    check_light(&changed)
        .map_err(|error| engine_foundation::error!("argument #2 'type': {}", error.message))?;
    *change(engine, light) = changed;
    Ok(())
}

fn color(engine: &mut Engine, light: LightId) -> Vec3 {
    settings(engine, light).color.into()
}

fn set_color(engine: &mut Engine, light: LightId, color: Vec3) -> Result<(), Error> {
    if color.min_element() < 0.0 || color.max_element() > BRIGHTNESS_MAX {
        return Err(engine_foundation::error!(
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
    settings(engine, light).intensity.into()
}

/// Checks that a number is from 0 to the maximum.
pub(super) fn check_range(number: f64, most: f32, argument: &str) -> Result<f32, Error> {
    match (0.0..=f64::from(most)).contains(&number) {
        true => Ok(number as f32),
        false => Err(engine_foundation::error!(
            "argument #2 '{argument}' must be from 0 to {most}, got {number}"
        )),
    }
}

pub(crate) fn set_intensity(
    engine: &mut Engine,
    light: LightId,
    intensity: f64,
) -> Result<(), Error> {
    let intensity = check_range(intensity, BRIGHTNESS_MAX, "intensity")?;
    change(engine, light).intensity = intensity;
    Ok(())
}

fn falloff_end(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).range().into()
}

fn set_falloff_end(engine: &mut Engine, light: LightId, distance: f64) -> Result<(), Error> {
    let distance = check_range(distance, BRIGHTNESS_MAX, "distance")?;
    change(engine, light).falloff_end = distance;
    Ok(())
}

fn spot_angle_start(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).spot_start.into()
}

fn spot_angle_end(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).spot_end.into()
}

fn check_angle(angle: f64, least: bool) -> Result<f32, Error> {
    if !(angle > 0.0 || least && angle == 0.0) || angle > FRAC_PI_2 + 1e-6 {
        return Err(engine_foundation::error!(
            "argument #2 'angle' must be above 0 and at most half of pi radians, got {angle}: \
             math.rad converts degrees to radians"
        ));
    }
    Ok(angle.min(FRAC_PI_2) as f32)
}

fn set_spot_angle_start(engine: &mut Engine, light: LightId, angle: f64) -> Result<(), Error> {
    let angle = check_angle(angle, true)?;
    let settings = change(engine, light);
    settings.spot_start = angle;
    settings.spot_end = settings.spot_end.max(angle);
    Ok(())
}

fn set_spot_angle_end(engine: &mut Engine, light: LightId, angle: f64) -> Result<(), Error> {
    let angle = check_angle(angle, false)?;
    let settings = change(engine, light);
    settings.spot_end = angle;
    settings.spot_start = settings.spot_start.min(angle);
    Ok(())
}

fn casts_shadows(engine: &mut Engine, light: LightId) -> bool {
    settings(engine, light).casts_shadows
}

fn set_casts_shadows(engine: &mut Engine, light: LightId, casts: bool) -> Result<(), Error> {
    let changed = LightSettings { casts_shadows: casts, ..settings(engine, light) };
    check_light(&changed)
        .map_err(|error| engine_foundation::error!("argument #2 'casts': {}", error.message))?;
    *change(engine, light) = changed;
    Ok(())
}

fn shadow_depth_bias(engine: &mut Engine, light: LightId) -> f64 {
    settings(engine, light).shadow_bias.into()
}

fn set_shadow_depth_bias(engine: &mut Engine, light: LightId, bias: f64) -> Result<(), Error> {
    change(engine, light).shadow_bias = check_range(bias, SHADOW_BIAS_MAX, "bias")?;
    Ok(())
}

fn enabled(engine: &mut Engine, light: LightId) -> bool {
    settings(engine, light).enabled
}

pub(crate) fn set_enabled(engine: &mut Engine, light: LightId, enabled: bool) {
    change(engine, light).enabled = enabled;
}

fn local_pose(engine: &mut Engine, light: LightId) -> Mat4 {
    engine.worlds.scenes.lights.slots.get(light.0).expect("the handle was checked").local
}

fn set_local_pose(engine: &mut Engine, light: LightId, pose: Mat4) -> Result<(), Error> {
    check_pose(pose)?;
    engine.worlds.scenes.lights.change(light).local = pose;
    Ok(())
}

/// Checks the axes of a light's pose, because a light shines along an axis. Each axis must have a
/// length, and must not lie in the plane of the others.
fn check_pose(pose: Mat4) -> Result<(), Error> {
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
    let [x, y, z] = axes.map(Vec3::normalize_or_zero);
    match x.cross(y).dot(z).abs() > 1e-6 {
        true => Ok(()),
        false => Err(engine_foundation::error!(
            "argument #2 'pose' is flat: one of its axes has length 0, or lies in the plane of the \
             others"
        )),
    }
}

fn local_position(engine: &mut Engine, light: LightId) -> Vec3 {
    local_pose(engine, light).w_axis.truncate()
}

fn set_local_position(engine: &mut Engine, light: LightId, position: Vec3) {
    engine.worlds.scenes.lights.change(light).local.w_axis = position.extend(1.0);
}

fn local_rotation(engine: &mut Engine, light: LightId) -> Quat {
    NodePose::of(local_pose(engine, light)).rotation
}

fn set_local_rotation(engine: &mut Engine, light: LightId, rotation: Quat) -> Result<(), Error> {
    if (rotation.length() - 1.0).abs() > 1e-3 {
        return Err(engine_foundation::error!(
            "argument #2 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let position = local_position(engine, light);
    let pose = Mat4::from_rotation_translation(rotation.normalize(), position);
    engine.worlds.scenes.lights.change(light).local = pose;
    Ok(())
}

fn world_pose(engine: &mut Engine, light: LightId) -> Mat4 {
    let light = *engine.worlds.scenes.lights.slots.get(light.0).expect("the handle was checked");
    engine.worlds.units.scene.world(light.unit, usize::from(light.node)) * light.local
}

fn world_position(engine: &mut Engine, light: LightId) -> Vec3 {
    world_pose(engine, light).w_axis.truncate()
}

fn world_rotation(engine: &mut Engine, light: LightId) -> Quat {
    NodePose::of(world_pose(engine, light)).rotation
}

/// Finds a light of a unit by its name or index.
pub(super) fn of_unit(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<LightId> {
    let lights = engine.worlds.scenes.lights.of_unit(unit.row());
    let parts = &engine.worlds.units.of(unit).resource.template.lights;
    let at = which.position(parts.iter().map(|part| &part.name[..]), lights.len())?;
    lights.get(at).copied()
}

/// Returns the 0-based index of a unit's node.
pub(super) fn node_of(engine: &Engine, unit: UnitId, node: Option<Integer>) -> Result<u16, Error> {
    let (node, count) =
        (node.map_or(1, |node| node.0), engine.worlds.units.scene.count(unit.row()));
    match node >= 1 && node <= count as i64 {
        true => Ok(node as u16 - 1),
        false => {
            let remedy = node_remedy(node);
            Err(engine_foundation::error!(
                "argument 'node': the unit has the nodes 1 to {count}, got {node}{remedy}"
            ))
        }
    }
}
