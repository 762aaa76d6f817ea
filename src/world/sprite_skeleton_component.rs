//! The row of the component `skeleton`: its fields, and what the engine does with it. The table of
//! skeletons is in sprite_skeleton.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, GROUP, RANGE, VISIBLE, group, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::instance_table::flag;
use super::render_scenes::{RenderScenes, existing_scene, scene_of};
use super::sprite_component::{
    LAYER, LIT, MATERIAL, TINT, appearance, inspect_hidden, inspect_material,
};
use super::sprite_skeleton::{SkeletonComponent, SlotInstance, SpriteRig, SpriteSkeleton};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::{Error, error, log};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use std::sync::Arc;

/// The component `skeleton`.
pub static SKELETON: Component = Component {
    name: "skeleton",
    doc: "Shows the pictures of a two-dimensional model at its bones. Units of models from \
          `.skeleton` files have it.",
    fields: &[
        ComponentField {
            name: "model",
            kind: FieldKind::Resource(kind_names::MODEL),
            default: FieldDefault::None,
            doc: "the model, a `.skeleton` file",
        },
        ComponentField {
            name: "skin",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "the skin of the model that replaces some of its pictures",
        },
        TINT,
        LAYER,
        LIT,
        MATERIAL,
        RANGE,
        VISIBLE,
        GROUP,
    ],
    in_node_order: false,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.skeletons.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.skeletons.hide(row, group, reason, hidden);
    }),
    state: Some(|view, row, hash| view.scenes.skeletons.write_state(row, hash)),
    inspect: Some((InspectSection::Rendering2d, inspect)),
    reload: Some(reload),
};

/// Reads a component `skeleton`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&SKELETON, part);
    let Some(model) = text(fields.tree, "model") else {
        return Err(error!("it names no model: model = \"units/hero\""));
    };
    if builder.template.skeleton.is_some() {
        return Err(error!("a unit has one component 'skeleton', and this is another one"));
    }
    if node != 0 {
        return Err(error!("its pictures are at the bones of its model: leave out 'node'"));
    }
    let placement = appearance(
        fields,
        builder,
        (0, |template, _, resolved| {
            let component = template.skeleton.as_mut().expect("it was read");
            component.placement.material = Some(resolved.material());
        }),
    )?;
    builder.refer(0, ResourceReference::Skeleton(model.to_string()), |template, _, resolved| {
        let component = template.skeleton.as_mut().expect("it was read");
        component.rig = Some(resolved.skeleton());
    });
    let skin = text(fields.tree, "skin").map(str::to_string);
    let visible = fields.boolean("visible");
    let group = group(fields, &mut builder.template)?;
    let (name, rig) = (part.name.clone(), None);
    let component = SkeletonComponent { name, rig, skin, placement, visible, group };
    builder.template.skeleton = Some(component);
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let Some(SkeletonComponent { rig, skin, placement, visible, group, .. }) = &template.skeleton
    else {
        return Ok(());
    };
    let rig = rig.as_ref().expect("the reference was resolved");
    let animated = template.animation.as_ref().and_then(|animation| animation.model.as_ref());
    if let Some(other) = animated.filter(|model| model.name != rig.model) {
        return Err(error!(
            "its model is '{}', and that of the component 'animation' is '{}': name the same",
            rig.model, other.name
        ));
    }
    let skin = skin.as_deref().map(|skin| rig.find_skin(skin)).transpose()?;
    let RenderScenes { skeletons, worlds, .. } = &mut *host.scenes;
    skeletons.check_room()?;
    let scene = scene_of(worlds, world);
    scene.check_room(rig.sprite_skeleton.slots.len())?;
    let slots =
        rig.sprite_skeleton.slots.iter().map(|_| SlotInstance::new(scene.take_slot())).collect();
    let flags = if *visible { 0 } else { flag::HIDDEN };
    let (rig, placement, group) = (rig.clone(), *placement, *group);
    skeletons.add(SpriteSkeleton { unit, rig, skin, placement, flags, group, slots });
    Ok(())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, _: &str) {
    let RenderScenes { skeletons, worlds, .. } = &mut *host.scenes;
    let Some(removed) = skeletons.remove(unit.row()) else { return };
    if let Some(scene) = existing_scene(worlds, world) {
        removed.slots.iter().for_each(|slot| scene.end(slot.draw));
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let Some(skeleton) = view.scenes.skeletons.of(unit.row()) else { return };
    let sprite_skeleton = &skeleton.rig.sprite_skeleton;
    let skin = skeleton.skin.and_then(|skin| sprite_skeleton.skins.get(usize::from(skin)));
    lines.push(format!(
        "skeleton {:?}, {} slots{}, layer {}{}{}",
        skeleton.rig.model,
        sprite_skeleton.slots.len(),
        skin.map_or_else(String::new, |skin| format!(", skin {:?}", skin.name)),
        skeleton.placement.layer,
        inspect_material(view, &skeleton.placement),
        inspect_hidden(skeleton.flags),
    ));
    let character = view.animations.of(unit.row());
    let mut shown = Vec::new();
    for (index, slot) in sprite_skeleton.slots.iter().enumerate() {
        let part = character.map_or(usize::from(slot.part), |it| it.slot_part(index));
        let part = part.checked_sub(1).and_then(|part| slot.parts.get(part));
        shown.push(format!("{} = {:?}", slot.name, part.map_or("", |part| &part.name)));
    }
    lines.push(format!("  parts: {}", shown.join(", ")));
}

/// Refuses the new pictures of a model if a world has no room for the slots that they add.
fn check_reload(host: &mut ComponentHost, rig: &SpriteRig) -> Result<(), Error> {
    let ComponentHost { scenes, units, .. } = host;
    let RenderScenes { skeletons, worlds, .. } = &mut **scenes;
    let mut added: Vec<(WorldId, usize)> = Vec::new();
    for (unit, count) in skeletons.added_slots(rig) {
        let world = units.of(unit).world;
        match added.iter_mut().find(|(known, _)| *known == world) {
            Some((_, sum)) => *sum += count,
            None => added.push((world, count)),
        }
    }
    for (world, count) in added {
        let room = scene_of(worlds, world).check_room(count);
        room.map_err(|error| error!("the skeleton '{}': {}", rig.model, error.message))?;
    }
    Ok(())
}

/// Replaces the pictures of changed models.
fn reload(host: &mut ComponentHost, changed: &ChangedResources) {
    for name in changed.of(ReloadStep::Models) {
        let is_used = host.scenes.skeletons.iter().any(|it| it.rig.model == name.name);
        let Some(model) = host.models.get_loaded(&name.name).filter(|_| is_used) else { continue };
        let rig = SpriteRig::new(model, |texture| host.textures.find(host.store, texture));
        let rig = rig.and_then(|rig| check_reload(host, &rig).map(|()| Arc::new(rig)));
        let rig = match rig {
            Ok(rig) => rig,
            Err(error) => {
                log::error(&format!("{error}: units keep the previous pictures"));
                continue;
            }
        };
        let ComponentHost { scenes, units, .. } = host;
        let RenderScenes { skeletons, worlds, .. } = &mut **scenes;
        let mut ended = Vec::new();
        let take = |unit: UnitId| scene_of(worlds, units.of(unit).world).take_slot();
        let lost = skeletons.reload(&rig, take, |unit, draw| ended.push((unit, draw)));
        for skin in lost {
            log::warning(&format!(
                "the skeleton '{}' has no skin '{skin}' any more: its units show their pictures \
                 without a skin",
                rig.model
            ));
        }
        for (unit, draw) in ended {
            scene_of(worlds, units.of(unit).world).end(draw);
        }
    }
}
