//! The Lua module `Unit`: characters that share poses, and values of the curves that move a unit.

use super::animation::character;
use crate::api::blend_shape::find_bone;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::{Integer, NameOrIndex, RestArguments, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::suggest::hint;
use engine_foundation::{Error, error};
use engine_runtime::Engine;
use engine_world::animation::{Character, MergeOptions};
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");

/// Names of the options, and their largest values.
const OPTIONS: [(&str, f64); 3] =
    [("clock_fidelity", 1.0), ("max_drift", 10.0), ("max_start_time", 10.0)];

/// Parameters of nodes, and the number of their values.
const PARAMETERS: [(&str, usize); 3] = [("position", 3), ("rotation", 4), ("scale", 3)];

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "set_animation_merge_options",
            set_animation_merge_options,
            &[
                UNIT_ARG,
                (
                    "options",
                    "names and values in turn: `\"max_start_time\", 0.2` lets a state begin up to \
                     0.2 seconds after its start, where another character is; `\"max_drift\", 0.1` \
                     shares poses whose times differ by up to 0.1 seconds; `\"clock_fidelity\", \
                     0.9` plays up to 10 % faster or slower until the times are equal; without \
                     options, only equal poses are shared; false evaluates each pose again",
                ),
            ],
            "Lets a unit show the pose of another unit with the same model, state machine and \
             options that is in the same state, so that the pose is evaluated once. Events, root \
             motion and variables are still those of each unit.",
        ),
        func(
            "animation_get_curve_value",
            animation_get_curve_value,
            &[
                UNIT_ARG,
                ("node", "the name or the index of a node of the unit's model"),
                (
                    "parameter",
                    "`position`, `rotation` or `scale`, or the name of a morph target of the \
                     node's mesh",
                ),
                (
                    "index",
                    "1 by default: the number of the value: x, y and z are 1 to 3, and w of a \
                     rotation is 4",
                ),
            ],
            "Returns true and a value that the animation of a unit had in the last update of the \
             world, relative to the parent of the node; or false if no animation moves the node. \
             `AnimationCurves.sample` returns values at other times.",
        )
        .pure()
        .returns(&["animated", "value"]),
    ],
);

fn set_animation_merge_options(
    engine: &mut Engine,
    unit: UnitId,
    options: RestArguments,
) -> Result<(), Error> {
    let character = character(engine, unit)?;
    let read = match &options.0[..] {
        [ScriptValue::Boolean(false)] => None,
        pairs => Some(read_options(pairs)?),
    };
    character.set_merge_options(read);
    Ok(())
}

/// Reads names and values in turn.
fn read_options(pairs: &[ScriptValue]) -> Result<MergeOptions, Error> {
    let names = || OPTIONS.iter().map(|(name, _)| *name);
    let mut read = MergeOptions::DEFAULT;
    for pair in pairs.chunks(2) {
        let [ScriptValue::Text(name), value] = pair else {
            return Err(error!(
                "the options must be names and numbers in turn, as in \"max_drift\", 0.1"
            ));
        };
        let Some((_, most)) = OPTIONS.iter().find(|(known, _)| known == name) else {
            let all: Vec<&str> = names().collect();
            return Err(error!(
                "there is no option '{name}'{}: they are {}",
                hint(name, names()),
                all.join(", ")
            ));
        };
        let number = match value {
            ScriptValue::Number(number) if (0.0..=*most).contains(number) => *number as f32,
            _ => return Err(error!("option '{name}' must be a number, 0 to {most}")),
        };
        match name.as_str() {
            "clock_fidelity" => read.clock_fidelity = number,
            "max_drift" => read.max_drift = number,
            _ => read.max_start_time = number,
        }
    }
    Ok(read)
}

fn animation_get_curve_value(
    engine: &mut Engine,
    unit: UnitId,
    node: NameOrIndex,
    parameter: TextArgument,
    index: Option<Integer>,
) -> Result<(bool, Option<f64>), Error> {
    let index = index.map_or(1, |Integer(index)| index);
    let character = character(engine, unit)?;
    let bone = find_bone(character, &node)?;
    let found = curve_value(character, (bone, parameter.as_str()), index)?;
    Ok((found.is_some(), found.map(f64::from)))
}

/// Returns a value of the last update; `None` if it is not animated.
fn curve_value(
    character: &Character,
    (bone, parameter): (usize, &str),
    index: i64,
) -> Result<Option<f32>, Error> {
    let model = &character.model;
    let morphs = model.morphs.iter().find(|it| usize::from(it.bone) == bone);
    let targets = || morphs.iter().flat_map(|it| &it.names).map(String::as_str);
    let count = PARAMETERS.iter().find(|(name, _)| *name == parameter).map(|(_, count)| *count);
    let target = targets().position(|name| name == parameter);
    let Some(count) = count.or(target.map(|_| 1)) else {
        let known: Vec<&str> = PARAMETERS.iter().map(|it| it.0).chain(targets()).collect();
        return Err(error!(
            "argument #3 'parameter' must be one of {}, got '{parameter}'{}",
            known.join(", "),
            hint(parameter, known)
        ));
    };
    if !(1..=count as i64).contains(&index) {
        return Err(error!("argument #4 'index' must be 1 to {count} for a {parameter}"));
    }
    let index = index as usize - 1;
    if let (Some(target), Some(morphs)) = (target, morphs) {
        return Ok(character.animated_morph(morphs.first + target as u16));
    }
    Ok(character.animated_bone(bone).map(|transform| match parameter {
        "position" => transform.position[index],
        "rotation" => transform.rotation.to_array()[index],
        _ => transform.scale[index],
    }))
}
