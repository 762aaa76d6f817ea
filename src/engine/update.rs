//! The update of a world: its systems as one graph of tasks, or as two where scripts stand between
//! them. Here is who waits for whom, and what runs side by side; what a system does is with the
//! system.

use super::Engine;
use super::particles::follow_links;
use crate::foundation::memory::limit;
use crate::foundation::tasks::ITEMS_MIN;
use crate::foundation::{Error, log};
use crate::owner;
use crate::system::particles::{PARTICLES_MAX, THREADS_COST_MIN};
use crate::world::WorldId;
use crate::world::physics::PhysicsWorldId;

/// With less room than this, memory is why particles are not spawned.
const SPAWN_ROOM_BYTES: usize = 1 << 20;

/// Fewer bodies that are awake take less time than it takes to wake a thread.
const BODIES_MIN: usize = 64;

/// Which of a world's systems run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Bodies, and the effects that hang on nothing.
    pub physics: bool,
    /// Where nodes are, and the effects that hang on them.
    pub scene_graph: bool,
}

impl Engine {
    /// Runs systems of a world, and waits for them: the table of these, each with what it reads and
    /// writes. Who waits for whom follows from that, see
    /// [`Systems`](crate::foundation::tasks::systems::Systems).
    ///
    /// # Errors
    /// That of the first system that failed.
    pub fn update_systems(
        &mut self,
        world: WorldId,
        delta: f64,
        steps: Steps,
    ) -> Result<(), Error> {
        let physics = self.physics.of_world(world).filter(|_| steps.physics);
        if steps.physics {
            self.end_particles_of_ended_guis();
        }
        let particles = !self.particles.slots().is_empty();
        let items = if self.is_worth_two(world, physics) { ITEMS_MIN } else { 1 };
        let frame_index = self.frame.index;
        let Engine { physics: bodies, units, scenes, particles: effects, tasks: pool, .. } = self;
        let pool = &*pool;
        pool.frame(items, |frame| {
            let (bodies, units) = (frame.part("bodies", bodies), frame.part("units", units));
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
                    effects.step_free(world.0, delta, pool)
                });
            }
            if steps.scene_graph {
                let parts = (units.write(), scenes.write());
                frame.system("scene_graph", parts, move |(units, scenes)| {
                    units.update_scene(world, pool).map(|()| scenes.note_moved(&units.moved))
                });
            }
            if steps.scene_graph {
                frame.system("sprites", (units.read(), scenes.write()), move |(units, scenes)| {
                    let has = |row: u32| units.is_in(row, world);
                    scenes.sprites.play(delta, has);
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
        })?;
        if particles && steps.scene_graph {
            self.particles.end_finished(world.0, frame_index);
            self.tell_refused_particles();
        }
        physics.map_or(Ok(()), |physics| self.draw_physics(physics))
    }

    /// Whether physics and particles each take so long that they are worth a thread each. One alone
    /// gains nothing from another thread, and would lose its caches.
    fn is_worth_two(&self, world: WorldId, physics: Option<PhysicsWorldId>) -> bool {
        let awake = |physics| self.physics.world(physics).simulation.awake();
        physics.is_some_and(|physics| awake(physics) >= BODIES_MIN)
            && self.particles.cost_of_free(world.0) >= THREADS_COST_MIN
    }

    fn tell_refused_particles(&mut self) {
        if std::mem::take(&mut self.particles.refused) > 0 {
            let words = match limit::check_room(SPAWN_ROOM_BYTES) {
                Err(full) => format!("particles are not spawned: {full}"),
                Ok(()) => {
                    format!(
                        "{PARTICLES_MAX} particles are there (PARTICLES_MAX): more are not spawned"
                    )
                }
            };
            log::warn("World.update", &words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Build, Start};
    use super::*;
    use crate::foundation::tasks::Pool;
    use crate::foundation::{Vec3, sjson};
    use crate::resource::project::Project;
    use crate::resource::settings::Settings;
    use crate::resource::store::Store;
    use crate::system::particles::kind::read_text;
    use crate::system::particles::pose::Pose;
    use crate::system::particles::{Link, Making, Orphaned, Stage};
    use crate::world::WorldFlags;
    use crate::world::physics::ActorSpec;
    use crate::world::scene;

    const ALL: Steps = Steps { physics: true, scene_graph: true };

    fn engine() -> Engine {
        let name = format!("engine-{}-update", std::process::id());
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("main.lua"), "").unwrap();
        let mut engine = Engine::new(Start {
            project: Project::open(&root).unwrap(),
            settings: Settings::defaults(),
            store: Store::default(),
            build: Build::Test,
            arguments: Vec::new(),
            seed: 0,
            deterministic: true,
            save_folder: None,
        });
        engine.tasks = Pool::new(Some(1));
        engine
    }

    #[test]
    fn an_effect_is_in_each_update_where_physics_moves_its_unit_in_that_update() {
        let mut engine = engine();
        let world = engine.new_world(WorldFlags::default()).unwrap();
        let resource = engine.unit_resource("core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &scene::Pose::IDENTITY).unwrap();
        let actor = "type = \"dynamic\" shape = \"sphere\" radius = 0.5";
        let actor = sjson::parse(actor).unwrap().to_tree();
        let actor = ActorSpec::read("ball", &actor, true).unwrap();
        engine.create_new_actor(unit, &actor).unwrap();
        let effect = "emitters = { a = { rate = 60 lifetime = 90 } }";
        let effect = read_text("x.particles", effect.as_bytes()).unwrap();
        let resource = engine.particles.add_resource("x", effect);
        let (stage, pose) = (Stage::World, Pose::IDENTITY);
        let making = Making { world: world.0, stage, resource, pose };
        let id = engine.particles.create(making, &engine.tasks).unwrap();
        let orphaned = Orphaned::Destroy;
        engine.particles.effect(id).link = Some(Link { unit: unit.0, node: 0, pose, orphaned });
        for count in 1..=30 {
            engine.update_systems(world, 1.0 / 60.0, ALL).unwrap();
            let node = engine.units.scene.world_position(unit.row(), 0);
            let effect = engine.particles.slots().get(id.0).unwrap();
            let emitter = engine.particles.emitters(effect).next().unwrap();
            assert_eq!(emitter.count, count);
            let last = emitter.blocks[0].get(count - 1);
            assert!(node.z < 0.0, "it falls");
            assert!(Vec3::from_array(last.position).distance(node) < 1e-4, "{last:?}, {node}");
        }
    }

    #[test]
    fn in_two_parts_each_effect_takes_one_step() {
        let mut engine = engine();
        let world = engine.new_world(WorldFlags::default()).unwrap();
        let resource = engine.unit_resource("core/units/empty").unwrap();
        let unit = engine.spawn_unit(world, &resource, &scene::Pose::IDENTITY).unwrap();
        let effect = "emitters = { a = { rate = 60 lifetime = 90 } }";
        let effect = read_text("x.particles", effect.as_bytes()).unwrap();
        let resource = engine.particles.add_resource("x", effect);
        let (stage, pose) = (Stage::World, Pose::IDENTITY);
        let making = Making { world: world.0, stage, resource, pose };
        let ids = [0, 1, 2].map(|_| engine.particles.create(making, &engine.tasks).unwrap());
        let orphaned = Orphaned::Unlink;
        let link = Some(Link { unit: unit.0, node: 0, pose, orphaned });
        engine.particles.effect(ids[0]).link = link;
        engine.particles.effect(ids[1]).link = link;
        engine.update_systems(world, 1.0 / 60.0, Steps { scene_graph: false, ..ALL }).unwrap();
        let counts = |engine: &Engine| ids.map(|id| engine.particles.count(id));
        assert_eq!(counts(&engine), [0, 0, 1], "those that are linked wait");
        // A script between the two lets go of one, and links another.
        engine.particles.effect(ids[1]).link = None;
        engine.particles.effect(ids[2]).link = link;
        engine.update_systems(world, 1.0 / 60.0, Steps { physics: false, ..ALL }).unwrap();
        assert_eq!(counts(&engine), [1, 1, 1]);
    }
}
