//! The update of a world: its systems as one task graph, or as two graphs if scripts run between
//! them. This module defines the dependencies and the parallelism; the work of each system is in
//! the system itself.

use super::particles::follow_links;
use super::{Engine, Worlds};
use engine_foundation::memory::limit;
use engine_foundation::owner;
use engine_foundation::tasks::ITEMS_MIN;
use engine_foundation::{Error, log};
use engine_particles::{PARTICLES_MAX, THREADS_COST_MIN};
use engine_world::WorldId;
use engine_world::animation::AnimationStep;
use engine_world::physics::PhysicsWorldId;

/// Free memory below which a lack of memory is reported as the reason for particles that were not
/// spawned.
const SPAWN_RESERVE_BYTES: usize = 1 << 20;

/// Number of awake bodies below which waking a thread costs more time than the physics update.
const BODIES_MIN: usize = 64;

/// Selection of the systems that run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpdateSteps {
    /// Physics, and effects without a link.
    pub physics: bool,
    /// Animation, transforms of nodes, and effects linked to nodes.
    pub scene_graph: bool,
}

impl UpdateSteps {
    /// Names of the steps, in execution order. Scripts can run before, between and after them. A
    /// step has the name of one of its systems in [`UPDATE_SYSTEMS`](engine_world::UPDATE_SYSTEMS).
    pub const NAMES: [&str; 2] = ["physics", "scene_graph"];
}

impl Engine {
    /// Runs systems of a world, and blocks until they are finished. The table of these systems
    /// lists the data that each reads and writes. The order follows from the table, see
    /// [`FrameSystems`](engine_foundation::tasks::frame_systems::FrameSystems).
    ///
    /// # Errors
    /// Returns the error of the first system that failed.
    pub fn update_systems(
        &mut self,
        world: WorldId,
        delta: f64,
        steps: UpdateSteps,
    ) -> Result<(), Error> {
        let physics = self.worlds.physics.of_world(world).filter(|_| steps.physics);
        if steps.physics {
            self.update_navigation(world, delta)?;
            self.apply_tile_edits(world)?;
            self.worlds.end_particles_of_ended_guis(&self.drawing.guis, &self.frame);
        }
        let particles = !self.worlds.particles.slots().is_empty();
        let items = if self.worlds.is_worth_two_threads(world, physics) { ITEMS_MIN } else { 1 };
        let mut listed = std::mem::take(&mut self.worlds.viewers);
        self.worlds.list_viewers(world, &mut listed);
        let viewers = &listed[..];
        let (frame_index, waits) = (self.frame.index, self.game.deterministic);
        let Worlds { physics: bodies, units, animations, scenes, particles: effects, .. } =
            &mut self.worlds;
        let pool = &self.devices.tasks;
        let done = pool.frame(items, |frame| {
            let (bodies, units) = (frame.part("bodies", bodies), frame.part("units", units));
            let animations = frame.part("animations", animations);
            let (scenes, effects) = (frame.part("scenes", scenes), frame.part("effects", effects));
            if let Some(physics) = physics {
                frame.system("physics", (bodies.write(), units.write()), move |(bodies, units)| {
                    owner!("physics");
                    bodies.update(physics, units, delta).map(|_| ())
                });
            }
            if particles && steps.physics {
                frame.system("particles", effects.write(), move |effects| {
                    owner!("particles");
                    effects.step_unlinked(world.0, delta, pool)
                });
            }
            if steps.scene_graph {
                let parts = (animations.write(), units.write(), bodies.write());
                frame.system("animation", parts, move |(animations, units, bodies)| {
                    owner!("animation");
                    let step = AnimationStep { world, seconds: delta as f32, viewers, waits };
                    animations.read_ragdolls(world, units, bodies);
                    animations.update(step, units, bodies, pool)?;
                    animations.update_ragdolls(world, units, bodies, frame_index);
                    Ok(())
                });
            }
            if steps.scene_graph {
                let parts = (units.write(), scenes.write());
                frame.system("scene_graph", parts, move |(units, scenes)| {
                    units.update_scene(world, pool).map(|()| scenes.note_moved(&units.moved))
                });
                frame.system("sprites", (units.read(), scenes.write()), move |(units, scenes)| {
                    scenes.sprites.play(delta, |row: u32| units.is_in(row, world));
                });
            }
            if particles && steps.scene_graph {
                let parts = (units.write(), effects.write());
                frame.system("particles", parts, move |(units, effects)| {
                    owner!("particles");
                    follow_links(effects, units, world, frame_index);
                    effects.step_linked(world.0, delta, pool)
                });
            }
        });
        self.worlds.viewers = listed;
        done?;
        if steps.scene_graph {
            self.finish_animations(world)?;
        }
        if particles && steps.scene_graph {
            self.worlds.particles.end_finished(world.0, frame_index);
            self.worlds.report_refused_particles();
        }
        physics.map_or(Ok(()), |physics| self.worlds.draw_physics(&self.game, physics))
    }

    /// Plays the sounds and effects of a world's animations, and draws its skeletons if they are
    /// shown.
    fn finish_animations(&mut self, world: WorldId) -> Result<(), Error> {
        self.worlds.animations.count_update();
        self.play_event_cues();
        self.worlds.draw_skeletons(&self.game, world)
    }
}

impl Worlds {
    /// Returns true if physics and particles each take long enough to be worth a thread. A single
    /// one gains nothing from another thread, and would lose its caches.
    fn is_worth_two_threads(&self, world: WorldId, physics: Option<PhysicsWorldId>) -> bool {
        let awake = |physics| self.physics.world(physics).simulation.awake();
        physics.is_some_and(|physics| awake(physics) >= BODIES_MIN)
            && self.particles.cost_of_free(world.0) >= THREADS_COST_MIN
    }

    fn report_refused_particles(&mut self) {
        if std::mem::take(&mut self.particles.refused) > 0 {
            let message = match limit::check_room(SPAWN_RESERVE_BYTES) {
                Err(full) => format!("particles are not spawned: {full}"),
                Ok(()) => {
                    format!("{PARTICLES_MAX} particles exist (PARTICLES_MAX): more are not spawned")
                }
            };
            log::warn("World.update", &message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::engine;
    use engine_foundation::{Vec3, sjson};
    use engine_particles::pose::EffectTransform;
    use engine_particles::resource::read_text;
    use engine_particles::{EffectDesc, EffectStage, NodeLink, OrphanPolicy};
    use engine_world::WorldFlags;
    use engine_world::physics::ActorDesc;
    use engine_world::scene_graph;

    const ALL: UpdateSteps = UpdateSteps { physics: true, scene_graph: true };

    #[test]
    fn steps_are_named_like_systems_in_their_order() {
        let systems = engine_world::UPDATE_SYSTEMS;
        let positions =
            UpdateSteps::NAMES.map(|name| systems.iter().position(|system| *system == name));
        assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{positions:?}");
    }

    #[test]
    fn effects_follow_units_moved_by_physics_in_the_same_update() {
        let mut engine = engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        let resource = engine.worlds.unit_resource(&mut engine.assets, "core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &scene_graph::NodePose::IDENTITY).unwrap();
        let actor = "type = \"dynamic\" shape = \"sphere\" radius = 0.5";
        let actor = sjson::parse(actor).unwrap().to_tree();
        let actor = ActorDesc::read("ball", &actor, true).unwrap();
        engine.create_new_actor(unit, &actor).unwrap();
        let effect = "emitters = { a = { rate = 60 lifetime = 90 } }";
        let effect = read_text("x.particles", effect.as_bytes()).unwrap();
        let resource = engine.worlds.particles.add_resource("x", effect);
        let (stage, pose) = (EffectStage::World, EffectTransform::IDENTITY);
        let making = EffectDesc { world: world.0, stage, resource, pose };
        let id = engine.worlds.particles.create(making, &engine.devices.tasks).unwrap();
        let orphaned = OrphanPolicy::Destroy;
        engine.worlds.particles.effect(id).link =
            Some(NodeLink { unit: unit.0, node: 0, pose, orphaned });
        for count in 1..=30 {
            engine.update_systems(world, 1.0 / 60.0, ALL).unwrap();
            let node = engine.worlds.units.scene.world_position(unit.row(), 0);
            let effect = engine.worlds.particles.slots().get(id.0).unwrap();
            let emitter = engine.worlds.particles.emitters(effect).next().unwrap();
            assert_eq!(emitter.count, count);
            let last = emitter.blocks[0].get(count - 1);
            assert!(node.z < 0.0, "it falls");
            assert!(Vec3::from_array(last.position).distance(node) < 1e-4, "{last:?}, {node}");
        }
    }

    #[test]
    fn effects_updated_in_two_passes_take_one_step_each() {
        let mut engine = engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        let resource = engine.worlds.unit_resource(&mut engine.assets, "core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &scene_graph::NodePose::IDENTITY).unwrap();
        let effect = "emitters = { a = { rate = 60 lifetime = 90 } }";
        let effect = read_text("x.particles", effect.as_bytes()).unwrap();
        let resource = engine.worlds.particles.add_resource("x", effect);
        let (stage, pose) = (EffectStage::World, EffectTransform::IDENTITY);
        let making = EffectDesc { world: world.0, stage, resource, pose };
        let ids = [0, 1, 2]
            .map(|_| engine.worlds.particles.create(making, &engine.devices.tasks).unwrap());
        let orphaned = OrphanPolicy::Unlink;
        let link = Some(NodeLink { unit: unit.0, node: 0, pose, orphaned });
        engine.worlds.particles.effect(ids[0]).link = link;
        engine.worlds.particles.effect(ids[1]).link = link;
        engine
            .update_systems(world, 1.0 / 60.0, UpdateSteps { scene_graph: false, ..ALL })
            .unwrap();
        let counts = |engine: &Engine| ids.map(|id| engine.worlds.particles.count(id));
        assert_eq!(counts(&engine), [0, 0, 1], "those that are linked wait");
        // A script between the two graphs unlinks one effect and links another.
        engine.worlds.particles.effect(ids[1]).link = None;
        engine.worlds.particles.effect(ids[2]).link = link;
        engine.update_systems(world, 1.0 / 60.0, UpdateSteps { physics: false, ..ALL }).unwrap();
        assert_eq!(counts(&engine), [1, 1, 1]);
    }
}
