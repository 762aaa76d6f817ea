//! The Lua module `Unit`: functions for the animations of units.

use crate::api_row::{ModuleRows, func, more};
use crate::argument::{Integer, TextArgument};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_runtime::Engine;
use engine_world::animation::{Character, LAYERS_MAX, PlayOptions};
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const ID_ARG: (&str, &str) = ("id", "the result of `Unit.crossfade_animation`");

/// Maximum duration of a cross-fade in seconds, and maximum speed of a clip.
const BLEND_SECONDS_MAX: f64 = 3600.0;
const SPEED_MAX: f64 = 1000.0;

/// Types of cross-fades.
const TYPES: [&str; 3] = ["normal", "additive", "offset"];

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "has_animation_blender",
            has_animation_blender,
            &[UNIT_ARG],
            "Returns true if the unit can play animations: it has the component `animation`.",
        )
        .pure(),
        func(
            "animation_names",
            animation_names,
            &[UNIT_ARG],
            "Returns the names of the animations of the unit's model. It can play others, too: see \
             `Unit.crossfade_animation`.",
        )
        .pure(),
        func(
            "animation_get_length",
            animation_get_length,
            &[UNIT_ARG, ("animation", "the name of an animation")],
            "Returns the length of an animation in seconds.",
        )
        .pure(),
        func(
            "crossfade_animation",
            crossfade_animation,
            &[
                UNIT_ARG,
                ("animation", "the name of an animation"),
                (
                    "layer",
                    "a number from 1, 1 by default; higher layers replace lower ones for the nodes \
                     that their animations move",
                ),
                (
                    "blend_time",
                    "seconds in which the animation replaces the others of its layer; 0 by default",
                ),
                (
                    "loop",
                    "true to start again at the end, false to keep the last pose; by default as \
                     the animation file says, and false for animations of models",
                ),
                (
                    "type",
                    "`normal` replaces the animations of the layer, `additive` (or `offset`) adds \
                     the difference from the pose of the model to them; by default as \
                     the animation file says",
                ),
            ],
            "Starts an animation: one of the model, `models/orc#Walk` of another model with bones \
             of the same names, or the name of an animation file. Returns a number for the \
             functions `crossfade_animation_…`.",
        ),
        func(
            "crossfade_animation_set_speed",
            crossfade_animation_set_speed,
            &[UNIT_ARG, ID_ARG, ("speed", "1 is normal, negative numbers play backward")],
            "Sets the speed of an animation. Does nothing if it has ended.",
        ),
        func(
            "crossfade_animation_set_time",
            crossfade_animation_set_time,
            &[UNIT_ARG, ID_ARG, ("time", "seconds from its start")],
            "Sets the time of an animation. Does nothing if it has ended.",
        ),
        func(
            "is_crossfading_animation",
            is_crossfading_animation,
            &[UNIT_ARG, ("id", "the result of `Unit.crossfade_animation`; any if omitted")],
            "Returns true while an animation plays: until it reaches its end without `loop`, or \
             another one has replaced it.",
        )
        .pure(),
        func(
            "stop_animation",
            stop_animation,
            &[
                UNIT_ARG,
                ("layer", "the layer, from 1; all by default"),
                ("blend_time", "seconds in which the animations fade out; 0 by default"),
            ],
            "Ends the animations of a unit. Its nodes return to the pose of its model.",
        ),
        func(
            "play_simple_animation",
            play_simple_animation,
            &[
                UNIT_ARG,
                ("from", "the start in seconds; 0 by default"),
                ("to", "the end in seconds; the end of the animation by default"),
                ("loop", "true to start again at the end; false by default"),
                ("speed", "1 by default; negative numbers play from the end to the start"),
                ("animation", "the name of an animation; the first of the model by default"),
            ],
            "Plays a part of an animation on layer 1, in place of the one that this function \
             started before.",
        ),
        func(
            "stop_simple_animation",
            stop_simple_animation,
            &[UNIT_ARG],
            "Ends the animation that `Unit.play_simple_animation` started.",
        ),
    ],
);

/// Returns the character of a unit.
pub(in crate::api) fn character(
    engine: &mut Engine,
    unit: UnitId,
) -> Result<&mut Character, Error> {
    if engine.worlds.animations.of(unit.row()).is_none() {
        let name = &engine.worlds.units.of(unit).resource.name;
        return Err(error!(
            "unit \"{name}\" has no animations: its model has neither animations nor skins, and \
             its file has no component 'animation'"
        ));
    }
    Ok(engine.worlds.animations.of_mut(unit.row()).expect("it was just there"))
}

/// Returns the index of a clip in the model of a unit. A clip of another file is read on the first
/// request.
pub(in crate::api) fn find_clip(
    engine: &mut Engine,
    unit: UnitId,
    name: &str,
) -> Result<u16, Error> {
    let model = &character(engine, unit)?.model;
    if let Some(known) = model.position(name) {
        return Ok(known);
    }
    let model = model.clone();
    engine.worlds.find_clip(&mut engine.assets, &model, name)
}

fn checked_layer(layer: Option<Integer>) -> Result<u8, Error> {
    match layer {
        None => Ok(0),
        Some(Integer(layer)) if (1..=LAYERS_MAX as i64).contains(&layer) => Ok(layer as u8 - 1),
        Some(Integer(layer)) => {
            Err(error!("argument 'layer' must be 1 to {LAYERS_MAX} (LAYERS_MAX), got {layer}"))
        }
    }
}

fn checked_blend(seconds: Option<f64>) -> Result<f32, Error> {
    match seconds {
        None => Ok(0.0),
        Some(seconds) if (0.0..=BLEND_SECONDS_MAX).contains(&seconds) => Ok(seconds as f32),
        Some(seconds) => Err(error!(
            "argument 'blend_time' must be 0 to {BLEND_SECONDS_MAX} seconds, got {seconds}"
        )),
    }
}

fn checked_speed(speed: f64) -> Result<f32, Error> {
    match speed.abs() <= SPEED_MAX {
        true => Ok(speed as f32),
        false => Err(error!("argument 'speed' must be -{SPEED_MAX} to {SPEED_MAX}, got {speed}")),
    }
}

/// Returns the number of a clip; an id that is not one names no clip.
fn checked_id(Integer(id): Integer) -> u32 {
    u32::try_from(id).unwrap_or(0)
}

fn has_animation_blender(engine: &mut Engine, unit: UnitId) -> bool {
    engine.worlds.animations.of(unit.row()).is_some()
}

fn animation_names(engine: &mut Engine, unit: UnitId) -> Vec<String> {
    let character = engine.worlds.animations.of(unit.row());
    let clips = character.into_iter().flat_map(|character| character.model.own_clips());
    clips.map(|clip| clip.name.clone()).collect()
}

fn animation_get_length(
    engine: &mut Engine,
    unit: UnitId,
    animation: TextArgument,
) -> Result<f64, Error> {
    let clip = find_clip(engine, unit, animation.as_str())?;
    let model = &character(engine, unit)?.model;
    Ok(f64::from(model.clips[usize::from(clip)].clip.seconds))
}

fn crossfade_animation(
    engine: &mut Engine,
    unit: UnitId,
    animation: TextArgument,
    layer: Option<Integer>,
    blend_time: Option<f64>,
    loops: Option<bool>,
    kind: Option<TextArgument>,
) -> Result<u64, Error> {
    let clip = find_clip(engine, unit, animation.as_str())?;
    let character = character(engine, unit)?;
    let compiled = &character.model.clips[usize::from(clip)].clip;
    let options = PlayOptions {
        layer: checked_layer(layer)?,
        blend: checked_blend(blend_time)?,
        loops: loops.unwrap_or(compiled.is_looping()),
        adds: checked_type(kind, animation.as_str(), compiled.is_additive())?,
        ..PlayOptions::once(compiled.seconds)
    };
    character.play(clip, options).map(u64::from)
}

/// Returns true if an animation is added to those below it, although it is a whole pose.
fn checked_type(
    kind: Option<TextArgument>,
    animation: &str,
    is_additive: bool,
) -> Result<bool, Error> {
    match kind.as_ref().map(TextArgument::as_str) {
        None => Ok(false),
        Some("additive" | "offset") => Ok(!is_additive),
        Some("normal") if is_additive => Err(error!(
            "the animation '{animation}' has differences from a pose, and cannot replace others: \
             use the type \"additive\", or the animation that its file names"
        )),
        Some("normal") => Ok(false),
        Some(other) => Err(error!(
            "argument #6 'type' must be one of {}, got '{other}'{}",
            TYPES.join(", "),
            hint(other, TYPES)
        )),
    }
}

fn crossfade_animation_set_speed(
    engine: &mut Engine,
    unit: UnitId,
    id: Integer,
    speed: f64,
) -> Result<(), Error> {
    let speed = checked_speed(speed)?;
    character(engine, unit)?.set_clip_speed(checked_id(id), speed);
    Ok(())
}

fn crossfade_animation_set_time(
    engine: &mut Engine,
    unit: UnitId,
    id: Integer,
    time: f64,
) -> Result<(), Error> {
    character(engine, unit)?.set_clip_time(checked_id(id), time as f32);
    Ok(())
}

fn is_crossfading_animation(
    engine: &mut Engine,
    unit: UnitId,
    id: Option<Integer>,
) -> Result<bool, Error> {
    let character = character(engine, unit)?;
    Ok(match id {
        Some(id) => character.is_playing(checked_id(id)),
        None => character.playing().iter().any(|it| character.is_playing(it.id)),
    })
}

fn stop_animation(
    engine: &mut Engine,
    unit: UnitId,
    layer: Option<Integer>,
    blend_time: Option<f64>,
) -> Result<(), Error> {
    let layer = layer.map(|layer| checked_layer(Some(layer))).transpose()?;
    let blend = checked_blend(blend_time)?;
    character(engine, unit)?.stop(layer, blend);
    Ok(())
}

fn play_simple_animation(
    engine: &mut Engine,
    unit: UnitId,
    from: Option<f64>,
    to: Option<f64>,
    loops: Option<bool>,
    speed: Option<f64>,
    animation: Option<TextArgument>,
) -> Result<(), Error> {
    let speed = checked_speed(speed.unwrap_or(1.0))?;
    let clip = match animation {
        Some(name) => find_clip(engine, unit, name.as_str())?,
        None => {
            let model = &character(engine, unit)?.model;
            if model.own_clips().next().is_none() {
                return Err(error!("the model '{}' has no animations", model.name));
            }
            0
        }
    };
    let character = character(engine, unit)?;
    let seconds = character.model.clips[usize::from(clip)].clip.seconds;
    let range = [from.unwrap_or(0.0) as f32, to.map_or(seconds, |to| to as f32)];
    if !(0.0 <= range[0] && range[0] <= range[1] && range[1] <= seconds) {
        return Err(error!(
            "'from' and 'to' must be ascending times of the animation, from 0 to {seconds} \
             seconds, got {} and {}",
            range[0], range[1]
        ));
    }
    if let Some(before) = character.simple.take() {
        character.end_clip(before);
    }
    let loops = loops.unwrap_or(false);
    let id = character.play(clip, PlayOptions { loops, speed, range, ..PlayOptions::once(0.0) })?;
    character.simple = Some(id);
    Ok(())
}

fn stop_simple_animation(engine: &mut Engine, unit: UnitId) -> Result<(), Error> {
    let character = character(engine, unit)?;
    if let Some(id) = character.simple.take() {
        character.end_clip(id);
    }
    Ok(())
}
