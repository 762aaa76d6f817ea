//! The Lua module `Unit`: functions for the root motion of units, and for the parts of bones that
//! animation changes.

use super::animation::character;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{Integer, TextArgument};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Mat4, error};
use engine_runtime::Engine;
use engine_world::animation::{BoneMode, LEVEL_MAX, RootMode};
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "set_animation_root_mode",
            set_animation_root_mode,
            &[
                UNIT_ARG,
                ("mode", "`ignore` (as for a new unit), `position`, or `position_and_rotation`"),
            ],
            "Sets the effect of root motion: the movement that animations take out of their pose, \
             as their files say. `ignore` leaves the unit where it is, `position` moves it, and \
             `position_and_rotation` moves and turns it. A unit with a mover moves with its \
             collisions.",
        ),
        func(
            "animation_root_mode",
            animation_root_mode,
            &[UNIT_ARG],
            "Returns the effect of root motion on a unit: the mode that \
             `Unit.set_animation_root_mode` has set.",
        )
        .pure(),
        func(
            "animation_wanted_root_pose",
            animation_wanted_root_pose,
            &[UNIT_ARG],
            "Returns the pose in the world to which the root motion of the last update leads: the \
             current pose and, in the mode `ignore`, the movement of that update.",
        )
        .pure(),
        func(
            "set_animation_bone_mode",
            set_animation_bone_mode,
            &[
                UNIT_ARG,
                (
                    "mode",
                    "`transform` (as for a new unit), `position_and_rotation`, `rotation` or \
                     `ignore`",
                ),
            ],
            "Sets the parts of nodes that animation changes. With `rotation`, nodes keep the \
             distances and sizes of the unit, so that characters of other proportions can use the \
             animations. With `ignore`, only state machines and root motion go on.",
        ),
        func(
            "animation_bone_mode",
            animation_bone_mode,
            &[UNIT_ARG],
            "Returns the parts of nodes that animation changes: the mode that \
             `Unit.set_animation_bone_mode` has set.",
        )
        .pure(),
        func(
            "set_bones_lod",
            set_bones_lod,
            &[
                UNIT_ARG,
                (
                    "lod",
                    "0 to evaluate the pose in every update of the world, 1 in every second, 2 in \
                     every fourth, 3 in every eighth, with the bones of that level in the field \
                     `lod_bones` of the component; nil by the distance to the camera or the size \
                     in its picture, as the fields `lod_distance` and `lod_size` say",
                ),
            ],
            "Sets the level of detail of a unit's animation. State machines, events and root \
             motion go on in every update.",
        ),
    ],
);

fn set_animation_root_mode(
    engine: &mut Engine,
    unit: UnitId,
    mode: TextArgument,
) -> Result<(), Error> {
    character(engine, unit)?.root_mode = mode_of(&RootMode::ALL, mode.as_str())?;
    Ok(())
}

/// Returns the mode of a name.
fn mode_of<T: Copy>(modes: &[(&'static str, T)], name: &str) -> Result<T, Error> {
    let found = modes.iter().find(|(known, _)| *known == name);
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        let names: Vec<&str> = modes.iter().map(|(known, _)| *known).collect();
        error!(
            "argument #2 'mode' must be one of {}, got '{name}'{}",
            names.join(", "),
            hint(name, names)
        )
    })
}

fn set_animation_bone_mode(
    engine: &mut Engine,
    unit: UnitId,
    mode: TextArgument,
) -> Result<(), Error> {
    let mode = mode_of(&BoneMode::ALL, mode.as_str())?;
    character(engine, unit)?.set_bone_mode(mode);
    Ok(())
}

fn set_bones_lod(engine: &mut Engine, unit: UnitId, lod: Option<Integer>) -> Result<(), Error> {
    let level = lod.map(|Integer(lod)| match u8::try_from(lod) {
        Ok(level) if level <= LEVEL_MAX => Ok(level),
        _ => Err(error!("argument #2 'lod' must be 0 to {LEVEL_MAX}, got {lod}")),
    });
    character(engine, unit)?.detail.level = level.transpose()?;
    Ok(())
}

fn animation_bone_mode(engine: &mut Engine, unit: UnitId) -> Result<String, Error> {
    Ok(character(engine, unit)?.bone_mode().name().to_string())
}

fn animation_root_mode(engine: &mut Engine, unit: UnitId) -> Result<String, Error> {
    Ok(character(engine, unit)?.root_mode.name().to_string())
}

fn animation_wanted_root_pose(engine: &mut Engine, unit: UnitId) -> Result<Mat4, Error> {
    let character = character(engine, unit)?;
    let (mode, delta) = (character.root_mode, character.root_delta);
    let pose = engine.worlds.units.scene.world(unit.row(), 0);
    Ok(match mode {
        RootMode::Ignore => pose * Mat4::from_rotation_translation(delta.rotation, delta.position),
        _ => pose,
    })
}
