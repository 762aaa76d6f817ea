//! The surroundings of a world for the prelude: the sky, `World.set_sky`, whose options the prelude
//! reads (lua/world/light.lua), and reflection probes.

use crate::api::fog_volumes::set_fog_volumes;
use crate::api_row::{ModuleRows, func, module};
use crate::value::ScriptValue;
use engine_foundation::{Error, Quat, Vec3};
use engine_frame_packet::reflection_probe::PROBES_MAX;
use engine_frame_packet::scene::{SkyFrame, SkyVisibility};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::environment::Environment;
use engine_world::reflection_probe::ReflectionProbe;

/// Native functions of `World` for the prelude, with the names of the public functions.
pub static WORLD_CORE: ModuleRows = module(
    "World",
    "The sky, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "set_sky",
            set_sky,
            &[("world", ""), ("sky", "")],
            "Sets the surroundings of a world.",
        ),
        func("sky", sky, &[("world", "")], "Returns the surroundings of a world.").pure(),
        func(
            "set_reflection_probes",
            set_reflection_probes,
            &[("world", ""), ("numbers", ""), ("textures", "")],
            "Replaces the reflection probes of a world.",
        )
        .public_name("World.set_reflection_probes"),
        func(
            "set_fog_volumes",
            set_fog_volumes,
            &[("world", ""), ("numbers", "")],
            "Replaces the fog volumes of a world.",
        )
        .public_name("World.set_fog_volumes"),
    ],
);

/// Sets a world's surroundings from a list: twelve numbers of colors (top, horizon, ground, fog),
/// exposure, fog density, visibility (0 hidden, 1 shown, 2 in perspective), and flags for tone
/// mapping and the default sun.
fn set_sky(engine: &mut Engine, world: WorldId, sky: ScriptValue) -> Result<(), Error> {
    let ScriptValue::List(items) = sky else {
        return Err(engine_foundation::error!("the prelude gives a list"));
    };
    let number = |at: usize| match items.get(at) {
        Some(ScriptValue::Number(number)) => *number as f32,
        _ => 0.0,
    };
    let color = |at: usize| [number(at), number(at + 1), number(at + 2)];
    let sky = SkyFrame {
        top: color(0),
        horizon: color(3),
        ground: color(6),
        fog_color: color(9),
        exposure: number(12),
        fog_density: number(13),
        shown: VISIBILITIES[(number(14) as usize).min(VISIBILITIES.len() - 1)],
        tone_mapping: number(15) != 0.0,
    };
    engine.worlds.set_environment(world, Environment { sky, sun: number(16) != 0.0 });
    Ok(())
}

/// Number of numbers of a reflection probe in the prelude's list.
const PROBE_NUMBERS: usize = 16;

/// Replaces the reflection probes of a world: sixteen numbers of each (position, rotation, size,
/// center, distance, priority, intensity), and the names of their textures.
fn set_reflection_probes(
    engine: &mut Engine,
    world: WorldId,
    numbers: ScriptValue,
    textures: ScriptValue,
) -> Result<(), Error> {
    let items = |value: ScriptValue| match value {
        ScriptValue::List(items) => items,
        _ => Vec::new(),
    };
    let (numbers, textures) = (items(numbers), items(textures));
    if textures.len() > PROBES_MAX {
        return Err(engine_foundation::error!(
            "{} probes, and {PROBES_MAX} are the most of a world (PROBES_MAX)",
            textures.len()
        ));
    }
    let number = |at: usize| match numbers.get(at) {
        Some(ScriptValue::Number(number)) => *number as f32,
        _ => 0.0,
    };
    let mut probes = Vec::with_capacity(textures.len());
    for (index, texture) in textures.into_iter().enumerate() {
        let ScriptValue::Text(texture) = texture else { continue };
        let found = engine.assets.find_drawable_texture(&texture);
        found
            .map_err(|error| engine_foundation::error!("probe {}: {}", index + 1, error.message))?;
        let at = |offset: usize| number(index * PROBE_NUMBERS + offset);
        let vector = |offset: usize| Vec3::new(at(offset), at(offset + 1), at(offset + 2));
        probes.push(ReflectionProbe {
            position: vector(0),
            rotation: Quat::from_xyzw(at(3), at(4), at(5), at(6)).normalize(),
            size: vector(7),
            center: vector(10),
            texture,
            blend_distance: at(13),
            priority: at(14) as i32,
            intensity: at(15),
        });
    }
    engine.worlds.set_reflection_probes(world, probes);
    Ok(())
}

/// Visibilities of a sky, by the numbers that the prelude uses.
const VISIBILITIES: [SkyVisibility; 3] =
    [SkyVisibility::Hidden, SkyVisibility::Shown, SkyVisibility::Perspective];

/// Returns a world's surroundings as a list: twelve numbers of colors, then the five others.
fn sky(engine: &mut Engine, world: WorldId) -> ScriptValue {
    let Environment { sky, sun } = engine.worlds.environment(world);
    let colors = [sky.top, sky.horizon, sky.ground, sky.fog_color];
    let [mapping, sun] = [sky.tone_mapping, sun].map(|it| f32::from(u8::from(it)));
    let shown = VISIBILITIES.iter().position(|one| *one == sky.shown).unwrap_or(0) as f32;
    let others = [sky.exposure, sky.fog_density, shown, mapping, sun];
    let numbers = colors.iter().flatten().chain(&others);
    ScriptValue::List(numbers.map(|number| ScriptValue::Number(f64::from(*number))).collect())
}
