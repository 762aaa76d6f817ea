//! The Lua modules `BlendShape` and `AnimationCurves`: the weights of the morph targets of units,
//! and values of animations without a player.

use crate::api::unit::animation::{character, find_clip};
use crate::api_row::{ModuleRows, NodeFlag, func, module};
use crate::argument::{NameOrIndex, TextArgument};
use engine_foundation::suggest::hint;
use engine_foundation::{Error, Quat, Vec3, error};
use engine_runtime::Engine;
use engine_world::animation::{Character, MORPH_WEIGHT_MAX};
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit");
const TARGET_ARG: (&str, &str) = (
    "target",
    "the name of a morph target, or its index in `BlendShape.names`; a name means the targets of \
     all meshes that have it",
);

pub static BLEND_SHAPE: ModuleRows = module(
    "BlendShape",
    "Morph targets (blend shapes, shape keys) change the shape of a mesh, for example of a face. \
     They come with glTF models. Each has a weight: 0 is the shape of the mesh, and 1 that of the \
     target. Animations of the model can move the weights, too.",
    r#"local world = Application.new_world()
local face = World.spawn_unit(world, "models/face")
for index, target in ipairs(BlendShape.names(face)) do print(index, target) end
BlendShape.set_blend_weight(face, "smile", 0.5)
assert(BlendShape.blend_weight(face, "smile") == 0.5)
Application.release_world(world)"#,
    &[
        func(
            "names",
            names,
            &[UNIT_ARG],
            "Returns the names of the morph targets of a unit's model, mesh by mesh. Targets \
             without a name in the file are `target_1`, `target_2` and so on.",
        )
        .pure(),
        func(
            "blend_weight",
            blend_weight,
            &[UNIT_ARG, TARGET_ARG],
            "Returns the weight of a morph target, as of the last update of the world.",
        )
        .pure(),
        func(
            "set_blend_weight",
            set_blend_weight,
            &[UNIT_ARG, TARGET_ARG, ("weight", "0 is the shape of the mesh, 1 that of the target")],
            "Sets the weight of a morph target. While an animation moves it, the animation wins in \
             each update of the world.",
        ),
    ],
);

pub static ANIMATION_CURVES: ModuleRows = module(
    "AnimationCurves",
    "The values of animations at any time, without playing them: where the hand is at the end of a \
     throw, or how far a door has opened.",
    r#"local world = Application.new_world()
local orc = World.spawn_unit(world, "models/orc")
local hip = Unit.node(orc, "Hip")
local position, rotation = AnimationCurves.sample(orc, "Rise", hip, 0.5)
print(position, rotation)
assert(position.z > 0)
Application.release_world(world)"#,
    &[func(
        "sample",
        sample,
        &[
            UNIT_ARG,
            ("animation", "the name of an animation, as for `Unit.crossfade_animation`"),
            ("node", "the name or the index of a node that belongs to the model"),
            ("time", "seconds from the start of the animation, limited to its length"),
        ],
        "Returns the position, the rotation and the scale of a node relative to its parent, at a \
         time of an animation. Nodes that it does not move are as in the model; of additive \
         animations, the result is the difference.",
    )
    .returns(&["position in metres", "rotation", "scale"])
    .node(NodeFlag::Query)],
);

/// Returns the numbers of the morph targets that an argument means.
fn targets(character: &Character, target: &NameOrIndex) -> Result<Vec<u16>, Error> {
    let model = &character.model;
    match target {
        NameOrIndex::Name(name) => model.find_morphs(name.as_str()),
        NameOrIndex::Index(index) => {
            let count = model.morph_names().count();
            match (1..=count as i64).contains(index) {
                true => Ok(vec![*index as u16 - 1]),
                false => Err(error!(
                    "the model '{}' has {count} morph targets, and {index} is not the index of one",
                    model.name
                )),
            }
        }
    }
}

/// Returns the number of the bone that an argument `node` means.
pub fn find_bone(character: &Character, node: &NameOrIndex) -> Result<usize, Error> {
    let model = &character.model;
    match node {
        NameOrIndex::Name(name) => {
            let (name, names) = (name.as_str(), model.skeleton.names().iter().map(String::as_str));
            model.skeleton.find(name).map(usize::from).ok_or_else(|| {
                error!("the model '{}' has no node '{name}'{}", model.name, hint(name, names))
            })
        }
        NameOrIndex::Index(index) => {
            let node = index.checked_sub(1).and_then(|node| u16::try_from(node).ok());
            let bone =
                node.and_then(|node| character.nodes.iter().position(|it| *it == Some(node)));
            bone.ok_or_else(|| {
                error!(
                    "argument 'node' must be the name or the index of a node of the model '{}', \
                     got {index}",
                    model.name
                )
            })
        }
    }
}

fn names(engine: &mut Engine, unit: UnitId) -> Vec<String> {
    let character = engine.worlds.animations.of(unit.row());
    let names = character.into_iter().flat_map(|character| character.model.morph_names());
    names.map(str::to_string).collect()
}

/// Returns the character of a unit with morph targets.
fn shaped(engine: &mut Engine, unit: UnitId) -> Result<&mut Character, Error> {
    let has = engine.worlds.animations.of(unit.row()).is_some_and(|it| !it.model.morphs.is_empty());
    if !has {
        let name = &engine.worlds.units.of(unit).resource.name;
        return Err(error!("unit \"{name}\" has no morph targets: its model has none"));
    }
    character(engine, unit)
}

fn blend_weight(engine: &mut Engine, unit: UnitId, target: NameOrIndex) -> Result<f64, Error> {
    let character = shaped(engine, unit)?;
    let found = targets(character, &target)?;
    let weight = found.first().and_then(|target| character.morph_weight(*target));
    Ok(f64::from(weight.unwrap_or(0.0)))
}

fn set_blend_weight(
    engine: &mut Engine,
    unit: UnitId,
    target: NameOrIndex,
    weight: f64,
) -> Result<(), Error> {
    let most = f64::from(MORPH_WEIGHT_MAX);
    if !(-most..=most).contains(&weight) {
        return Err(error!(
            "argument 'weight' must be -{most} to {most} (MORPH_WEIGHT_MAX), got {weight}"
        ));
    }
    let character = shaped(engine, unit)?;
    for target in targets(character, &target)? {
        character.set_morph_weight(target, weight as f32);
    }
    Ok(())
}

fn sample(
    engine: &mut Engine,
    unit: UnitId,
    animation: TextArgument,
    node: NameOrIndex,
    time: f64,
) -> Result<(Vec3, Quat, Vec3), Error> {
    let clip = find_clip(engine, unit, animation.as_str())?;
    let character = character(engine, unit)?;
    let bone = find_bone(character, &node)?;
    let model = character.model.clone();
    let sampled = engine.worlds.animations.sample(&model, clip, bone, time as f32);
    let NodePose { position, rotation, scale } = sampled?;
    Ok((position, rotation, scale))
}
