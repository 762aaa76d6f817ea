//! The row of the component `animation`: its fields, and what the engine does with it.

use super::{
    AnimatedModel, BoneSetNames, BoundMachine, ChangedClips, Character, CharacterMachine,
    ClipFiles, PlayOptions, RagdollDescription, bone_nodes, bone_sets, ragdoll_description,
    take_poses,
};
use crate::WorldId;
use crate::component::{ComponentField, FieldDefault, FieldKind};
use crate::component_fields::{ComponentFields, text};
use crate::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use crate::unit::UnitId;
use crate::unit_resource::ComponentSource;
use crate::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::{Error, error, log};
use engine_models::{Model, Models};
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::store::ResourceStore;
use std::sync::Arc;

/// Maximum distance of the first level of detail in metres.
const LOD_DISTANCE_MAX: f32 = 1e6;
/// Maximum size of the first level of detail as a part of the height of the picture.
const LOD_SIZE_MAX: f32 = 10.0;

/// The component `animation`.
pub static ANIMATION: Component = Component {
    name: "animation",
    doc: "Moves the nodes of a model, and meshes with a skin, by the animations of the model. \
          Units of models with skins or animations have it.",
    fields: &[
        ComponentField {
            name: "model",
            kind: FieldKind::Resource(kind_names::MODEL),
            default: FieldDefault::None,
            doc: "the model with the animations and skins",
        },
        ComponentField {
            name: "state_machine",
            kind: FieldKind::Resource(kind_names::STATE_MACHINE),
            default: FieldDefault::None,
            doc: "a state machine that plays the animations",
        },
        ComponentField {
            name: "clip",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "an animation that plays from the spawn on: one of the model, `models/orc#Walk` \
                  of another model, or an animation file",
        },
        ComponentField {
            name: "loop",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(true),
            doc: "true if the animation `clip` starts again at its end ({default})",
        },
        ComponentField {
            name: "ragdoll",
            kind: FieldKind::Checked(ragdoll_description::check),
            default: FieldDefault::None,
            doc: "bodies of the bones, for Unit.start_ragdoll and states of the state machine",
        },
        ComponentField {
            name: "lod_distance",
            kind: FieldKind::Number,
            default: FieldDefault::Number(0.0),
            doc: "metres from the camera beyond which poses are evaluated in every second update, \
                  and farther away in fewer ({default}: in every update)",
        },
        ComponentField {
            name: "lod_size",
            kind: FieldKind::Number,
            default: FieldDefault::Number(0.0),
            doc: "part of the height of the picture below which poses are evaluated in every \
                  second update, and of smaller characters in fewer ({default}: in every update)",
        },
        ComponentField {
            name: "lod_bones",
            kind: FieldKind::Checked(bone_sets::check),
            default: FieldDefault::None,
            doc: "the bones that the state machine moves at each level of detail from 1 on: a list \
                  of names for each level; units without a state machine move all bones",
        },
    ],
    in_node_order: false,
    read,
    spawn,
    end,
    moved: None,
    hide: None,
    state: Some(|view, row, hash| {
        if let Some(character) = view.animations.of(row) {
            character.write_state(hash);
            view.physics.write_ragdoll_state(character.unit, hash);
        }
    }),
    inspect: Some((InspectSection::Animation, inspect)),
    reload: Some(reload),
};

/// The animation of a unit as declared in its resource.
#[derive(Clone, PartialEq, Debug)]
pub struct AnimationComponent {
    /// `None` until the reference is resolved.
    pub model: Option<Arc<AnimatedModel>>,
    pub machine: Option<Arc<BoundMachine>>,
    /// Name of the clip that plays from the spawn on.
    pub clip: Option<String>,
    pub loops: bool,
    pub ragdoll: Option<Arc<RagdollDescription>>,
    /// Distance in metres of the first level of detail; 0 is none.
    pub lod_distance: f32,
    /// Part of the height of the picture of the first level of detail; 0 is none.
    pub lod_size: f32,
    /// Bones at each level of detail.
    pub lod_bones: Option<Arc<BoneSetNames>>,
}

impl AnimationComponent {
    /// Returns true if units can have bodies of ragdolls.
    pub fn needs_physics(&self) -> bool {
        self.ragdoll.is_some() || self.machine.as_ref().is_some_and(|it| it.has_ragdolls())
    }
}

/// Reads a component `animation`.
fn read(part: &ComponentSource, _: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&ANIMATION, part);
    let Some(model) = text(fields.tree, "model") else {
        return Err(match &builder.mesh_model {
            Some(model) => error!(
                "the unit's model '{model}' has neither animations nor skins: remove the \
                 component, or use a model that has"
            ),
            None => error!(
                "it names no model, and the unit has none with animations or skins: \
                 model = \"units/orc\""
            ),
        });
    };
    if builder.template.animation.is_some() {
        return Err(error!("a unit has one component 'animation', and this is another one"));
    }
    let clip = text(fields.tree, "clip").map(str::to_string);
    builder.refer(0, ResourceReference::Animation(model.to_string()), |template, _, resolved| {
        let component = template.animation.as_mut().expect("it was read");
        component.model = Some(resolved.animation());
    });
    if let Some(machine) = text(fields.tree, "state_machine") {
        let (machine, model) = (machine.to_string(), model.to_string());
        let reference = ResourceReference::StateMachine { machine, model };
        builder.refer(0, reference, |template, _, resolved| {
            let component = template.animation.as_mut().expect("it was read");
            component.machine = Some(resolved.state_machine());
        });
    }
    if clip.is_some() && fields.tree.get("state_machine").is_some() {
        return Err(error!(
            "'clip' would hide the animations of its 'state_machine': leave one of them out"
        ));
    }
    if let Some(clip) = &clip {
        let (model, clip) = (model.to_string(), clip.clone());
        builder.refer(0, ResourceReference::Clip { model, clip }, |_, _, _| {});
    }
    let (loops, lod_distance) = (fields.boolean("loop"), fields.number("lod_distance"));
    let lod_size = fields.number("lod_size");
    if !(0.0..=LOD_SIZE_MAX).contains(&lod_size) {
        return Err(error!(
            "'lod_size' is {lod_size}: use a part of the height of the picture, 0 to {LOD_SIZE_MAX}"
        ));
    }
    if !(0.0..=LOD_DISTANCE_MAX).contains(&lod_distance) {
        return Err(error!("'lod_distance' is {lod_distance}: use 0 to {LOD_DISTANCE_MAX} metres"));
    }
    let ragdoll = match fields.tree.get("ragdoll") {
        Some(tree) => RagdollDescription::read(tree)?.map(Arc::new),
        None => None,
    };
    let lod_bones = fields.tree.get("lod_bones").map(bone_sets::read).transpose()?.map(Arc::new);
    builder.template.animation = Some(AnimationComponent {
        model: None,
        machine: None,
        clip,
        loops,
        ragdoll,
        lod_distance,
        lod_size,
        lod_bones,
    });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    _: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let Some(component) = &template.animation else { return Ok(()) };
    spawn_character(host, unit, (template, component)).map_err(|error| {
        let message = format!("component '{}': {}", ANIMATION.name, error.message);
        Error { message, ..error }
    })
}

fn spawn_character(
    host: &mut ComponentHost,
    unit: UnitId,
    (template, component): (&UnitTemplate, &AnimationComponent),
) -> Result<(), Error> {
    let AnimationComponent { model, machine, clip, loops, ragdoll, .. } = component;
    let model = host.animations.current(model.as_ref().expect("the reference was resolved"));
    let nodes = bone_nodes(&model, host.units, unit);
    let mut character = Character::new(unit, model.clone(), nodes);
    (character.detail.near, character.detail.size) = (component.lod_distance, component.lod_size);
    if component.lod_size > 0.0 && model.extent <= 0.0 {
        return Err(error!(
            "'lod_size' needs a model with a size, and '{}' has neither meshes nor bones at \
             different positions: use 'lod_distance'",
            model.name
        ));
    }
    if let Some(names) = &component.lod_bones {
        bone_sets::check_bones(names, &model.skeleton)?;
        character.set_bone_sets(names);
    }
    character.has_inner_parts = has_inner_parts(template, &character.nodes);
    take_poses(&mut character, &host.units.of(unit).resource, None);
    if let Some(name) = clip {
        let index = model.position(name).ok_or_else(|| error!("there is no clip '{name}'"))?;
        let seconds = model.clips[usize::from(index)].clip.seconds;
        character.play(index, PlayOptions { loops: *loops, ..PlayOptions::once(seconds) })?;
    }
    if let Some(machine) = machine {
        character.set_machine(Some(CharacterMachine::new(machine.clone(), unit.row())));
    }
    host.animations.add(character);
    host.animations.prepare_bone_sets(unit, host.units);
    host.units.scene.set_records_edits(unit.row(), true);
    let has_states = machine.as_ref().is_some_and(|machine| machine.has_ragdolls());
    if ragdoll.is_some() || has_states {
        if let Some(filter) = ragdoll.as_ref().and_then(|ragdoll| ragdoll.filter.as_deref()) {
            host.physics.properties.clone().unwrap_or_default().filter(filter)?;
        }
        let physics = template.physics.as_ref();
        let describe = |it| host.animations.describe_ragdoll(it, physics);
        let ragdoll = ragdoll.as_ref().map(describe).transpose()?;
        host.animations.prepare_ragdoll(unit, ragdoll.as_ref())?;
    }
    Ok(())
}

/// Returns true if parts of a unit follow nodes below its first node, or if the first node is that
/// of a bone.
fn has_inner_parts(template: &UnitTemplate, nodes: &[Option<u16>]) -> bool {
    let UnitTemplate { meshes, lights, sprites, maps, .. } = template;
    meshes.iter().any(|mesh| mesh.node != 0)
        || lights.iter().any(|light| light.node != 0)
        || sprites.iter().any(|sprite| sprite.node != 0)
        || maps.iter().any(|map| map.node != 0)
        || nodes.contains(&Some(0))
}

fn end(host: &mut ComponentHost, _: WorldId, unit: UnitId, _: &str) {
    host.animations.remove(unit.row());
    host.units.scene.set_records_edits(unit.row(), false);
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let Some(character) = view.animations.of(unit.row()) else { return };
    let model = &character.model;
    lines.push(format!(
        "animation of {:?}, {} bones, {} clips, {} playing",
        model.name,
        model.skeleton.bone_count(),
        model.own_clips().count(),
        character.playing().len()
    ));
    if let Some(machine) = &character.machine {
        let name = &machine.bound.name;
        let note = if machine.enabled { "" } else { ", disabled" };
        lines.push(format!("  state machine {name:?}{note}"));
        for (index, _) in machine.bound.machine.layers().iter().enumerate() {
            let Some(info) = machine.layer_info(index as u16) else { continue };
            lines.push(format!(
                "  layer {} in state {:?} at {:.2} of {:.2} s",
                index + 1,
                info.state,
                info.time,
                info.seconds
            ));
        }
    }
    if let Some(ragdoll) = character.ragdoll.as_ref().filter(|ragdoll| ragdoll.is_active()) {
        let which = if ragdoll.is_full() { "full" } else { "partial" };
        lines.push(format!("  {which} ragdoll, strength {:.2}", ragdoll.strength));
    }
    for it in character.playing() {
        lines.push(format!(
            "  clip {:?} on layer {} at {:.2} of {:.2} s, share {:.2}",
            model.clips[usize::from(it.clip)].name,
            it.options.layer + 1,
            it.time,
            it.options.range[1],
            it.share()
        ));
    }
}

/// Files of clips while a reload replaces them.
struct ReloadedFiles<'a> {
    store: &'a mut ResourceStore,
    models: &'a Models,
}

impl ClipFiles for ReloadedFiles<'_> {
    fn store(&mut self) -> &mut ResourceStore {
        self.store
    }

    fn model(&mut self, name: &str) -> Result<Arc<Model>, Error> {
        let loaded = self.models.get_loaded(name).cloned();
        loaded.ok_or_else(|| error!("the model '{name}' is not loaded: spawn a unit again"))
    }
}

/// Characters continue with the new clips of their models and animations.
fn reload(host: &mut ComponentHost, changed: &ChangedResources) {
    let models = changed.of(ReloadStep::Models);
    let models = models.filter_map(|name| host.models.get_loaded(&name.name).cloned()).collect();
    let animations = changed.of(ReloadStep::Animations).map(|name| name.name.as_str()).collect();
    let changed_clips = ChangedClips { models, animations };
    let mut files = ReloadedFiles { store: host.store, models: host.models };
    let new = host.animations.reload_clips(&changed_clips, host.units, &mut files);
    let is_changed = |machine: &str, model: &str| {
        changed.has(ReloadStep::StateMachines, machine) || new.contains(model)
    };
    if let Err(error) = host.animations.reload_machines(is_changed, &mut files) {
        log::error(&error.to_string());
    }
    host.animations.prepare_all_bone_sets(host.units);
}
