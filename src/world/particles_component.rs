//! The row of the component `particles`: its fields, and what the engine does with it; and the
//! table of the effects that units play. Effects themselves are in the system of particles.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, GROUP, VISIBLE, group, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::instance_table::{flag, set_hidden};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::Error;
use engine_foundation::error;
use engine_particles::pose::EffectTransform;
use engine_particles::{EffectDesc, EffectId, EffectStage, NodeLink, OrphanPolicy};
use engine_resource::resource_kind::kind_names;
use std::collections::{BTreeMap, BTreeSet};

/// Values of the field `orphaned`, in the order of [`OrphanPolicy::ALL`].
const ORPHANED: [&str; 3] =
    [OrphanPolicy::ALL[0].0, OrphanPolicy::ALL[1].0, OrphanPolicy::ALL[2].0];

/// Maximum of the field `scale`.
const SCALE_MAX: f32 = 1e4;

/// The component `particles`.
pub static PARTICLES: Component = Component {
    name: "particles",
    doc: "Plays a particle effect at its node, from the spawn of its unit on.",
    fields: &[
        ComponentField {
            name: "effect",
            kind: FieldKind::Resource(kind_names::PARTICLES),
            default: FieldDefault::None,
            doc: "the effect that it plays",
        },
        ComponentField {
            name: "scale",
            kind: FieldKind::Number,
            default: FieldDefault::Number(1.0),
            doc: "scale of the effect, on top of the scale of its node ({default})",
        },
        ComponentField {
            name: "orphaned",
            kind: FieldKind::Choice(&ORPHANED),
            default: FieldDefault::Text(ORPHANED[1]),
            doc: "what happens at the end of its unit: the effect is destroyed, stops spawning \
                  (\"stop\"), or stays where it is (\"unlink\") ({default})",
        },
        VISIBLE,
        GROUP,
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    // An effect takes the pose of its node in the update of the world.
    moved: None,
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.effects.hide(row, group, reason, hidden);
    }),
    // Effects are hashed by their own system.
    state: None,
    inspect: Some((InspectSection::Effects, inspect)),
    // The system of particles applies changed effects to those that play.
    reload: None,
};

/// An effect as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct ParticlesComponent {
    pub name: String,
    pub node: u16,
    /// Name of the effect, and its index among the effects in use.
    pub effect: String,
    pub resource: usize,
    pub scale: f32,
    pub orphaned: OrphanPolicy,
    pub visible: bool,
    pub group: u8,
}

/// An effect that a component plays. It can end before its unit.
#[derive(Clone, Copy, Debug)]
pub struct UnitEffect {
    pub id: EffectId,
    /// Bits of [`flag`].
    flags: u8,
    group: u8,
    orphaned: OrphanPolicy,
}

impl UnitEffect {
    fn is_hidden(&self) -> bool {
        self.flags & flag::ANY_HIDDEN != 0
    }
}

/// The effects of units' components, by row.
#[derive(Default)]
pub struct UnitEffects {
    of: BTreeMap<u32, Vec<UnitEffect>>,
    /// Rows of the units whose effects were hidden or shown since the last frame that was drawn.
    changed: BTreeSet<u32>,
}

impl UnitEffects {
    /// Returns the effects of a unit, in the order of its template.
    pub fn of_unit(&self, row: u32) -> &[UnitEffect] {
        self.of.get(&row).map_or(&[], |all| &all[..])
    }

    fn add(&mut self, row: u32, effect: UnitEffect) {
        if effect.is_hidden() {
            self.changed.insert(row);
        }
        self.of.entry(row).or_default().push(effect);
    }

    fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        for effect in self.of.get_mut(&row).into_iter().flatten() {
            if group.is_none_or(|group| group == effect.group)
                && set_hidden(&mut effect.flags, reason, hidden)
            {
                self.changed.insert(row);
            }
        }
    }

    /// Returns the effects of units with effects that were hidden or shown since the last call,
    /// each with true if it is hidden.
    pub fn take_changed(&mut self) -> Vec<(EffectId, bool)> {
        let rows = std::mem::take(&mut self.changed);
        let effects = rows.iter().flat_map(|row| self.of_unit(*row));
        effects.map(|effect| (effect.id, effect.is_hidden())).collect()
    }

    /// Removes the effects of a unit that ends, and returns them.
    fn remove(&mut self, row: u32) -> Vec<UnitEffect> {
        self.changed.remove(&row);
        self.of.remove(&row).unwrap_or_default()
    }
}

/// Reads a component `particles`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let (fields, entry) = (ComponentFields::new(&PARTICLES, part), builder.template.effects.len());
    let Some(effect) = text(fields.tree, "effect") else {
        return Err(error!("it names no effect: effect = \"fx/smoke\""));
    };
    let scale = fields.number("scale");
    if !(scale > 0.0 && scale <= SCALE_MAX) {
        return Err(error!("'scale' must be above 0 and at most {SCALE_MAX}, got {scale}"));
    }
    let word = fields.text("orphaned");
    let orphaned = OrphanPolicy::ALL.iter().find(|(known, _)| *known == word);
    let (_, orphaned) = orphaned.expect("the compiler checked the choice");
    let reference = ResourceReference::Particles(effect.to_string());
    builder.refer(entry, reference, |template, entry, resolved| {
        template.effects[entry].resource = resolved.particles();
    });
    let visible = fields.boolean("visible");
    let group = group(fields, &mut builder.template)?;
    builder.template.effects.push(ParticlesComponent {
        name: part.name.clone(),
        node,
        effect: effect.to_string(),
        resource: 0,
        scale,
        orphaned: *orphaned,
        visible,
        group,
    });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    for part in &template.effects {
        // Views show the scene from now on, even if it contains nothing else.
        host.scenes.of(world);
        let local = EffectTransform { scale: part.scale, ..EffectTransform::IDENTITY };
        let node = host.units.scene.world(unit.row(), usize::from(part.node));
        let pose = local.in_parent_space(&EffectTransform::of(&node));
        let stage = EffectStage::World;
        let desc = EffectDesc { world: world.0, stage, resource: part.resource, pose };
        let id = host.particles.create(desc, host.tasks)?;
        host.particles.effect(id).link = Some(NodeLink {
            unit: unit.0,
            node: part.node.into(),
            pose: local,
            orphaned: part.orphaned,
        });
        let flags = if part.visible { 0 } else { flag::HIDDEN };
        let effect = UnitEffect { id, flags, group: part.group, orphaned: part.orphaned };
        host.scenes.effects.add(unit.row(), effect);
    }
    Ok(())
}

fn end(host: &mut ComponentHost, _: WorldId, unit: UnitId, location: &str) {
    for effect in host.scenes.effects.remove(unit.row()) {
        // Effects end by themselves, and scripts can destroy or unlink them.
        let Some(found) = host.particles.slots_mut().get_mut(effect.id.0) else { continue };
        if found.link.is_none_or(|link| link.unit != unit.0) {
            continue;
        }
        found.link = None;
        // An effect that outlives its unit stays as hidden as it was.
        found.hidden = effect.is_hidden();
        match effect.orphaned {
            OrphanPolicy::Destroy => host.particles.destroy(effect.id, host.frame, location),
            OrphanPolicy::Stop => found.spawning = false,
            OrphanPolicy::Unlink => {}
        }
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    for (at, effect) in view.scenes.effects.of_unit(unit.row()).iter().enumerate() {
        let at = at + 1;
        lines.push(match view.particles.slots().get(effect.id.0) {
            None => format!("particles {at} ended"),
            Some(found) => format!(
                "particles {at} {:?} at node {}, {} particles{}{}",
                view.particles.resources()[found.resource].name,
                found.link.map_or(1, |link| link.node + 1),
                view.particles.count(effect.id),
                if found.spawning { "" } else { ", stopped" },
                if effect.is_hidden() { ", hidden" } else { "" },
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::{HandleKind, Slots};

    #[test]
    fn changed_effects_are_forgotten_with_their_units() {
        let mut effects = UnitEffects::default();
        let mut slots = Slots::new(HandleKind::ParticleEffect, 1000);
        for row in 0..1000 {
            let id = EffectId(slots.add(()).expect("there is room"));
            let orphaned = OrphanPolicy::Stop;
            effects.add(row % 10, UnitEffect { id, flags: flag::HIDDEN, group: 0, orphaned });
            effects.hide(row % 10, None, flag::HIDDEN, false);
            effects.hide(row % 10, None, flag::HIDDEN, true);
            effects.remove(row % 10);
        }
        assert_eq!(effects.changed.len(), 0);
        let id = EffectId(slots.iter().next().expect("it was added").0);
        let orphaned = OrphanPolicy::Stop;
        effects.add(3, UnitEffect { id, flags: 0, group: 0, orphaned });
        assert_eq!(effects.take_changed(), []);
        effects.hide(3, None, flag::HIDDEN, true);
        effects.hide(3, None, flag::HIDDEN, true);
        assert_eq!(effects.take_changed(), [(id, true)]);
        assert_eq!(effects.take_changed(), []);
    }
}
