//! The Lua module `Unit`: the pictures of two-dimensional skeletons.

use super::animation::character;
use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use crate::return_value::WholeNumber;
use engine_foundation::suggest::hint;
use engine_foundation::{Color, Error, error};
use engine_runtime::Engine;
use engine_world::sprite_component::check_layer;
use engine_world::sprite_skeleton::SpriteSkeleton;
use engine_world::unit::UnitId;

const UNIT_ARG: (&str, &str) = ("unit", "a unit with a skeleton");
const SLOT_ARG: (&str, &str) = ("slot", "the name of a slot");

pub static UNIT: ModuleRows = more(
    "Unit",
    &[
        func(
            "has_skeleton",
            has_skeleton,
            &[("unit", "a unit")],
            "Returns true if the unit has the component `skeleton`: pictures at the bones of a \
             two-dimensional model.",
        )
        .pure(),
        func(
            "skeleton_slots",
            skeleton_slots,
            &[UNIT_ARG],
            "Returns the names of the slots of a unit's skeleton, the farthest first.",
        )
        .pure(),
        func(
            "skeleton_parts",
            skeleton_parts,
            &[UNIT_ARG, SLOT_ARG],
            "Returns the names of the parts that a slot can show.",
        )
        .pure(),
        func(
            "skeleton_part",
            skeleton_part,
            &[UNIT_ARG, SLOT_ARG],
            "Returns the name of the part that a slot shows; nil if the slot is empty.",
        )
        .pure(),
        func(
            "set_skeleton_part",
            set_skeleton_part,
            &[UNIT_ARG, SLOT_ARG, ("part", "the name of a part of the slot; nil empties the slot")],
            "Sets the part that a slot shows while no animation chooses it. A skin exchanges \
             pictures that animations choose.",
        ),
        func(
            "skeleton_skins",
            skeleton_skins,
            &[UNIT_ARG],
            "Returns the names of the skins of a unit's skeleton.",
        )
        .pure(),
        func(
            "skeleton_skin",
            skeleton_skin,
            &[UNIT_ARG],
            "Returns the name of the skin of a unit; nil if it has none.",
        )
        .pure(),
        func(
            "set_skeleton_skin",
            set_skeleton_skin,
            &[UNIT_ARG, ("skin", "the name of a skin; nil shows the pictures of the slots")],
            "Sets the skin of a unit: other pictures for some of the parts.",
        ),
        func(
            "skeleton_part_tint",
            skeleton_part_tint,
            &[UNIT_ARG, SLOT_ARG],
            "Returns the colour that was set by `Unit.set_skeleton_part_tint`; white by default.",
        )
        .pure(),
        func(
            "set_skeleton_part_tint",
            set_skeleton_part_tint,
            &[UNIT_ARG, SLOT_ARG, ("color", "the factor for the picture; white changes nothing")],
            "Tints the picture of a slot, in addition to the colours of the skeleton and of its \
             animations. The alpha of the colour sets its opacity.",
        ),
        func(
            "skeleton_tint",
            skeleton_tint,
            &[UNIT_ARG],
            "Returns the colour that all pictures of a unit's skeleton are multiplied with.",
        )
        .pure(),
        func(
            "set_skeleton_tint",
            set_skeleton_tint,
            &[UNIT_ARG, ("color", "the factor for all pictures; white changes nothing")],
            "Tints all pictures of a unit's skeleton. The alpha of the colour sets their opacity.",
        ),
        func(
            "skeleton_layer",
            skeleton_layer,
            &[UNIT_ARG],
            "Returns the layer of a unit's skeleton.",
        )
        .pure(),
        func(
            "set_skeleton_layer",
            set_skeleton_layer,
            &[UNIT_ARG, ("layer", "a whole number; sprites are on layer 0 by default")],
            "Sets the layer of a unit's skeleton. It is drawn over lower layers and below higher \
             ones.",
        ),
    ],
);

/// Returns the skeleton of a unit.
fn skeleton(engine: &Engine, unit: UnitId) -> Result<&SpriteSkeleton, Error> {
    engine.worlds.scenes.skeletons.of(unit.row()).ok_or_else(|| {
        let name = &engine.worlds.units.of(unit).resource.name;
        error!(
            "the unit '{name}' has no skeleton: give it a model from a .skeleton file, or a \
             component 'skeleton'"
        )
    })
}

/// Returns the skeleton of a unit for changes.
fn change(engine: &mut Engine, unit: UnitId) -> Result<&mut SpriteSkeleton, Error> {
    skeleton(engine, unit)?;
    Ok(engine.worlds.skeleton_mut(unit).expect("it exists"))
}

fn has_skeleton(engine: &mut Engine, unit: UnitId) -> bool {
    engine.worlds.scenes.skeletons.of(unit.row()).is_some()
}

fn skeleton_slots(engine: &mut Engine, unit: UnitId) -> Result<Vec<String>, Error> {
    let slots = &skeleton(engine, unit)?.rig.sprite_skeleton.slots;
    Ok(slots.iter().map(|slot| slot.name.clone()).collect())
}

fn skeleton_parts(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
) -> Result<Vec<String>, Error> {
    let rig = &skeleton(engine, unit)?.rig;
    let slot = rig.find_slot(slot.as_str())?;
    Ok(rig.sprite_skeleton.slots[slot].parts.iter().map(|part| part.name.clone()).collect())
}

fn skeleton_part(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
) -> Result<Option<String>, Error> {
    let rig = skeleton(engine, unit)?.rig.clone();
    let slot = rig.find_slot(slot.as_str())?;
    let known = &rig.sprite_skeleton.slots[slot];
    // Without a character, the skeleton is at rest.
    let animated = engine.worlds.animations.of(unit.row());
    let part = animated.map_or(usize::from(known.part), |character| character.slot_part(slot));
    let part = part.checked_sub(1).and_then(|part| known.parts.get(part));
    Ok(part.map(|part| part.name.clone()))
}

fn set_skeleton_part(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
    part: Option<TextArgument>,
) -> Result<(), Error> {
    let rig = skeleton(engine, unit)?.rig.clone();
    let index = rig.find_slot(slot.as_str())?;
    let parts = &rig.sprite_skeleton.slots[index].parts;
    let part = match part {
        None => 0,
        Some(wanted) => {
            let wanted = wanted.as_str();
            let found = parts.iter().position(|known| known.name == wanted);
            1 + found.ok_or_else(|| {
                let near = hint(wanted, parts.iter().map(|known| known.name.as_str()));
                error!("the slot '{}' has no part '{wanted}'{near}", slot.as_str())
            })?
        }
    };
    character(engine, unit)?.set_slot_part(index, part);
    change(engine, unit).map(drop)
}

fn skeleton_skins(engine: &mut Engine, unit: UnitId) -> Result<Vec<String>, Error> {
    let skins = &skeleton(engine, unit)?.rig.sprite_skeleton.skins;
    Ok(skins.iter().map(|skin| skin.name.clone()).collect())
}

fn skeleton_skin(engine: &mut Engine, unit: UnitId) -> Result<Option<String>, Error> {
    let skeleton = skeleton(engine, unit)?;
    let skin = skeleton.skin.map(|skin| &skeleton.rig.sprite_skeleton.skins[usize::from(skin)]);
    Ok(skin.map(|skin| skin.name.clone()))
}

fn set_skeleton_skin(
    engine: &mut Engine,
    unit: UnitId,
    skin: Option<TextArgument>,
) -> Result<(), Error> {
    let rig = skeleton(engine, unit)?.rig.clone();
    let skin = skin.map(|skin| rig.find_skin(skin.as_str())).transpose()?;
    change(engine, unit)?.skin = skin;
    Ok(())
}

fn skeleton_part_tint(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
) -> Result<Color, Error> {
    let skeleton = skeleton(engine, unit)?;
    let slot = skeleton.rig.find_slot(slot.as_str())?;
    Ok(color_of(skeleton.slots[slot].tint))
}

fn set_skeleton_part_tint(
    engine: &mut Engine,
    unit: UnitId,
    slot: TextArgument,
    color: Color,
) -> Result<(), Error> {
    let index = skeleton(engine, unit)?.rig.find_slot(slot.as_str())?;
    change(engine, unit)?.slots[index].tint = color.to_bytes();
    Ok(())
}

fn skeleton_tint(engine: &mut Engine, unit: UnitId) -> Result<Color, Error> {
    Ok(color_of(skeleton(engine, unit)?.placement.tint))
}

fn set_skeleton_tint(engine: &mut Engine, unit: UnitId, color: Color) -> Result<(), Error> {
    change(engine, unit)?.placement.tint = color.to_bytes();
    Ok(())
}

fn skeleton_layer(engine: &mut Engine, unit: UnitId) -> Result<WholeNumber, Error> {
    Ok(WholeNumber(skeleton(engine, unit)?.placement.layer.into()))
}

fn set_skeleton_layer(engine: &mut Engine, unit: UnitId, layer: f64) -> Result<(), Error> {
    check_layer(layer).map_err(|message| error!("argument #2 'layer' {message}"))?;
    change(engine, unit)?.placement.layer = layer as i32;
    Ok(())
}

fn color_of([red, green, blue, alpha]: [u8; 4]) -> Color {
    let [red, green, blue, alpha] = [red, green, blue, alpha].map(f32::from);
    Color { red, green, blue, alpha }
}
