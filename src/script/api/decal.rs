//! The Lua module `Decal`: decals of units.

use super::light_layers::layers_of;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{MaybeHandle, NameOrIndex, TextArgument};
use engine_foundation::{Color, Error, Vec3, suggest};
use engine_runtime::Engine;
use engine_world::decal::{
    DISTANCE_MAX, DecalChannel, DecalId, DecalSettings, LIFETIME_MAX, check_decal,
};
use engine_world::decal_component::order_of;
use engine_world::unit::UnitId;

const DECAL_ARG: (&str, &str) = ("decal", "a decal");

pub static DECAL: ModuleRows = module(
    "Decal",
    "Decals are components of units: `Unit.decal` finds them. A decal is a box that projects \
     pictures onto opaque meshes, along the y axis of its node.",
    r##"local world = Application.new_world()
local mark = Unit.decal(World.spawn_unit(world, "core/units/decal"), 1)
Decal.set_size(mark, Vector3(2, 1, 2))
Decal.set_color(mark, Color("#802010"))
assert(Decal.opacity(mark) == 1)
Application.release_world(world)"##,
    &[
        hot(
            "alive",
            alive,
            &[("decal", "a number that may be a decal's handle; nil and false are none")],
            "Returns true if the handle refers to an existing decal. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[DECAL_ARG], "Returns the unit that the decal belongs to.").pure(),
        func("node", node, &[DECAL_ARG], "Returns the index of the node that it is attached to.")
            .pure(),
        func("enabled", enabled, &[DECAL_ARG], "Returns true if it is switched on.").pure(),
        func(
            "set_enabled",
            set_enabled,
            &[DECAL_ARG, ("enabled", "true to switch it on")],
            "Switches it on or off.",
        ),
        func(
            "size",
            size,
            &[DECAL_ARG],
            "Returns its width, the depth of the projection, and its height, in metres.",
        )
        .pure(),
        func(
            "set_size",
            set_size,
            &[DECAL_ARG, ("size", "width, depth of the projection, and height, in metres")],
            "Sets its size.",
        ),
        func("color", color, &[DECAL_ARG], "Returns the factor for its colour.").pure(),
        func(
            "set_color",
            set_color,
            &[DECAL_ARG, ("color", "a colour; its alpha is a factor for the opacity")],
            "Sets the factor for its colour.",
        ),
        hot("opacity", opacity, &[DECAL_ARG], "Returns its opacity.").pure(),
        hot(
            "set_opacity",
            set_opacity,
            &[DECAL_ARG, ("opacity", "from 0 to 1")],
            "Sets its opacity, which applies to all that it changes.",
        ),
        func(
            "color_strength",
            color_strength,
            &[DECAL_ARG],
            "Returns how much of its colour is applied.",
        )
        .pure(),
        func(
            "set_color_strength",
            set_color_strength,
            &[DECAL_ARG, ("strength", "from 0 to 1; 0 keeps the colour of the surface")],
            "Sets how much of its colour is applied.",
        ),
        func(
            "normal_strength",
            normal_strength,
            &[DECAL_ARG],
            "Returns the factor for the slopes of its normal texture.",
        )
        .pure(),
        func(
            "set_normal_strength",
            set_normal_strength,
            &[DECAL_ARG, ("strength", "from 0 to 16; 1 shows the texture as it is")],
            "Sets the factor for the slopes of its normal texture.",
        ),
        func("roughness", roughness, &[DECAL_ARG], "Returns its roughness; nil: it has none.")
            .pure(),
        func(
            "set_roughness",
            set_roughness,
            &[DECAL_ARG, ("roughness", "from 0 to 1; nil keeps that of the surface")],
            "Sets its roughness, or the factor for that of its texture.",
        ),
        func("emissive", emissive, &[DECAL_ARG], "Returns the factor for the light that it emits.")
            .pure(),
        func(
            "set_emissive",
            set_emissive,
            &[DECAL_ARG, ("factor", "0 or more; 1 is as bright as white")],
            "Sets the factor for the light that it emits.",
        ),
        func(
            "texture",
            texture,
            &[DECAL_ARG, ("channel", "\"color\", \"normal\", \"roughness\" or \"emissive\"")],
            "Returns the name of one of its textures; nil: it has none.",
        )
        .pure(),
        func(
            "set_texture",
            set_texture,
            &[
                DECAL_ARG,
                ("channel", "\"color\", \"normal\", \"roughness\" or \"emissive\""),
                ("name", "the name of a texture; nil: none"),
            ],
            "Sets one of its textures. The alpha of the colour is the part of the surface that the \
             decal covers. Roughness is the green channel.",
        ),
        func("order", order, &[DECAL_ARG], "Returns its order.").pure(),
        func(
            "set_order",
            set_order,
            &[DECAL_ARG, ("order", "a whole number, from -1000000 to 1000000")],
            "Sets its order: decals with a higher order cover others.",
        ),
        func(
            "layers",
            layers,
            &[DECAL_ARG],
            "Returns its light layers: the sum of 1 for the first layer, 2 for the second, 4, 8, \
             and so on, up to 128 for the eighth.",
        )
        .pure(),
        func(
            "set_layers",
            set_layers,
            &[DECAL_ARG, ("layers", "a sum of layers, from 0 to 255; 255 is all")],
            "Sets its light layers. It is projected only onto meshes that share a layer with it: \
             `Mesh.set_light_layers`.",
        ),
        func(
            "angle_fade",
            angle_fade,
            &[DECAL_ARG],
            "Returns the angles in radians from which it fades, and at which it is no longer \
             visible.",
        )
        .returns(&["begin in radians", "finish in radians"])
        .pure(),
        func(
            "set_angle_fade",
            set_angle_fade,
            &[
                DECAL_ARG,
                ("begin", "radians between the surface and the projection"),
                ("finish", "radians, at most half of pi"),
            ],
            "Sets the angles from which it fades, and at which it is no longer visible.",
        ),
        func(
            "distance_fade",
            distance_fade,
            &[DECAL_ARG],
            "Returns the distances in metres from which it fades, and at which it is no longer \
             visible; 0: it is visible at any distance.",
        )
        .returns(&["begin in metres", "finish in metres"])
        .pure(),
        func(
            "set_distance_fade",
            set_distance_fade,
            &[
                DECAL_ARG,
                ("begin", "metres from the camera"),
                ("finish", "metres; 0: it is visible at any distance"),
            ],
            "Sets the distances from which it fades, and at which it is no longer visible.",
        ),
        func(
            "lifetime",
            lifetime,
            &[DECAL_ARG],
            "Returns the seconds of game time until it is no longer visible, and the seconds at \
             the end in which it fades. nil: it stays; 0: it is over.",
        )
        .returns(&["time left in seconds", "fade in seconds"])
        .pure(),
        func(
            "set_lifetime",
            set_lifetime,
            &[
                DECAL_ARG,
                ("seconds", "seconds of game time from now; 0: it stays"),
                ("fade", "seconds at the end in which it fades; 1 by default"),
            ],
            "Sets after which time it is no longer visible. Its unit stays until it is destroyed.",
        ),
    ],
);

fn alive(engine: &mut Engine, decal: MaybeHandle) -> bool {
    decal.handle().is_some_and(|handle| engine.worlds.scenes.decals.slots.get(handle).is_some())
}

fn settings(engine: &Engine, decal: DecalId) -> DecalSettings {
    engine.worlds.scenes.decals.slots.get(decal.0).expect("the handle was checked").settings
}

/// Sets changed settings if they are valid. An error names the argument with a number and a name.
fn change(
    engine: &mut Engine,
    decal: DecalId,
    argument: (u32, &str),
    edit: impl FnOnce(&mut DecalSettings),
) -> Result<(), Error> {
    let mut changed = settings(engine, decal);
    edit(&mut changed);
    let (number, name) = argument;
    check_decal(&changed).map_err(|error| {
        engine_foundation::error!("argument #{number} '{name}': {}", error.message)
    })?;
    engine.worlds.scenes.decals.change(decal).settings = changed;
    Ok(())
}

fn unit(engine: &mut Engine, decal: DecalId) -> UnitId {
    let row = engine.worlds.scenes.decals.slots.get(decal.0).expect("the handle was checked").unit;
    UnitId(engine.worlds.units.slots.handle_at(row as usize).expect("decals end with their units"))
}

fn node(engine: &mut Engine, decal: DecalId) -> u64 {
    let decal = engine.worlds.scenes.decals.slots.get(decal.0).expect("the handle was checked");
    u64::from(decal.node) + 1
}

fn enabled(engine: &mut Engine, decal: DecalId) -> bool {
    settings(engine, decal).enabled
}

fn set_enabled(engine: &mut Engine, decal: DecalId, enabled: bool) {
    engine.worlds.scenes.decals.change(decal).settings.enabled = enabled;
}

fn size(engine: &mut Engine, decal: DecalId) -> Vec3 {
    Vec3::from_array(settings(engine, decal).size)
}

fn set_size(engine: &mut Engine, decal: DecalId, size: Vec3) -> Result<(), Error> {
    change(engine, decal, (2, "size"), |it| it.size = size.to_array())
}

fn color(engine: &mut Engine, decal: DecalId) -> Color {
    settings(engine, decal).color
}

fn set_color(engine: &mut Engine, decal: DecalId, color: Color) {
    let [red, green, blue, alpha] = color.to_bytes().map(f32::from);
    let color = Color { red, green, blue, alpha };
    engine.worlds.scenes.decals.change(decal).settings.color = color;
}

fn opacity(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).opacity.into()
}

fn set_opacity(engine: &mut Engine, decal: DecalId, opacity: f64) -> Result<(), Error> {
    change(engine, decal, (2, "opacity"), |it| it.opacity = opacity as f32)
}

fn color_strength(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).color_strength.into()
}

fn set_color_strength(engine: &mut Engine, decal: DecalId, strength: f64) -> Result<(), Error> {
    change(engine, decal, (2, "strength"), |it| it.color_strength = strength as f32)
}

fn normal_strength(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).normal_strength.into()
}

fn set_normal_strength(engine: &mut Engine, decal: DecalId, strength: f64) -> Result<(), Error> {
    change(engine, decal, (2, "strength"), |it| it.normal_strength = strength as f32)
}

fn roughness(engine: &mut Engine, decal: DecalId) -> Option<f64> {
    settings(engine, decal).roughness.map(f64::from)
}

fn set_roughness(engine: &mut Engine, decal: DecalId, roughness: Option<f64>) -> Result<(), Error> {
    change(engine, decal, (2, "roughness"), |it| it.roughness = roughness.map(|it| it as f32))
}

fn emissive(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).emissive.into()
}

fn set_emissive(engine: &mut Engine, decal: DecalId, factor: f64) -> Result<(), Error> {
    change(engine, decal, (2, "factor"), |it| it.emissive = factor as f32)
}

/// Returns the channel of an argument.
fn channel_of(channel: &TextArgument) -> Result<DecalChannel, Error> {
    let word = channel.as_str();
    DecalChannel::of(word).ok_or_else(|| {
        let hint = suggest::hint(word, DecalChannel::NAMES);
        engine_foundation::error!(
            "argument #2 'channel' must be \"color\", \"normal\", \"roughness\" or \"emissive\", \
             got \"{word}\"{hint}"
        )
    })
}

fn texture(
    engine: &mut Engine,
    decal: DecalId,
    channel: TextArgument,
) -> Result<Option<String>, Error> {
    let channel = channel_of(&channel)?;
    let texture = settings(engine, decal).textures[channel as usize];
    Ok(texture.map(|texture| engine.assets.textures.name(texture).to_string()))
}

fn set_texture(
    engine: &mut Engine,
    decal: DecalId,
    channel: TextArgument,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    let channel = channel_of(&channel)?;
    let assets = &mut engine.assets;
    let texture = name.map(|name| assets.textures.find(&mut assets.store, name.as_str()));
    let texture = texture.transpose()?;
    engine.worlds.scenes.decals.change(decal).settings.textures[channel as usize] = texture;
    Ok(())
}

fn order(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).order.into()
}

fn set_order(engine: &mut Engine, decal: DecalId, order: f64) -> Result<(), Error> {
    let order = order_of(order)
        .map_err(|error| engine_foundation::error!("argument #2 'order': {}", error.message))?;
    engine.worlds.scenes.decals.change(decal).settings.order = order;
    Ok(())
}

fn layers(engine: &mut Engine, decal: DecalId) -> f64 {
    settings(engine, decal).layers.into()
}

fn set_layers(engine: &mut Engine, decal: DecalId, layers: f64) -> Result<(), Error> {
    engine.worlds.scenes.decals.change(decal).settings.layers = layers_of(layers)?;
    Ok(())
}

/// Returns the argument of a fade that is wrong, if one is: the beginning if it is not in the range
/// from 0 to a number, and else the end.
fn fade_argument(begin: f64, most: f64) -> (u32, &'static str) {
    if (0.0..=most).contains(&begin) { (3, "finish") } else { (2, "begin") }
}

fn angle_fade(engine: &mut Engine, decal: DecalId) -> (f64, f64) {
    let [begin, finish] = settings(engine, decal).angle_fade;
    (begin.into(), finish.into())
}

fn set_angle_fade(
    engine: &mut Engine,
    decal: DecalId,
    begin: f64,
    finish: f64,
) -> Result<(), Error> {
    let argument = fade_argument(begin, std::f64::consts::FRAC_PI_2);
    change(engine, decal, argument, |it| it.angle_fade = [begin as f32, finish as f32])
}

fn distance_fade(engine: &mut Engine, decal: DecalId) -> (f64, f64) {
    let [begin, finish] = settings(engine, decal).distance_fade;
    (begin.into(), finish.into())
}

fn set_distance_fade(
    engine: &mut Engine,
    decal: DecalId,
    begin: f64,
    finish: f64,
) -> Result<(), Error> {
    let argument = fade_argument(begin, DISTANCE_MAX.into());
    change(engine, decal, argument, |it| it.distance_fade = [begin as f32, finish as f32])
}

fn lifetime(engine: &mut Engine, decal: DecalId) -> (Option<f64>, Option<f64>) {
    let now = engine.frame.total;
    let decal = engine.worlds.scenes.decals.slots.get(decal.0).expect("the handle was checked");
    let [seconds, fade] = decal.settings.lifetime.map(f64::from);
    let passed = now - decal.begin.unwrap_or(now);
    ((seconds > 0.0).then(|| (seconds - passed).max(0.0)), Some(fade))
}

fn set_lifetime(
    engine: &mut Engine,
    decal: DecalId,
    seconds: f64,
    fade: Option<f64>,
) -> Result<(), Error> {
    let fade = fade.unwrap_or(1.0);
    let is_valid = (0.0..=f64::from(LIFETIME_MAX)).contains(&seconds);
    let argument = if is_valid { (3, "fade") } else { (2, "seconds") };
    change(engine, decal, argument, |it| it.lifetime = [seconds as f32, fade as f32])?;
    let now = engine.frame.total;
    engine.worlds.scenes.decals.change(decal).begin = Some(now);
    Ok(())
}

/// Finds a decal of a unit by its name or index.
pub(super) fn of_unit(engine: &Engine, unit: UnitId, which: NameOrIndex) -> Option<DecalId> {
    let decals = engine.worlds.scenes.decals.of_unit(unit.row());
    let parts = &engine.worlds.units.of(unit).resource.template.decals;
    let at = which.position(parts.iter().map(|part| &part.name[..]), decals.len())?;
    decals.get(at).copied()
}
