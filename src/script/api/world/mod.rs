//! The Lua module `World`: queries and changes of a world as a whole.

pub(super) mod units;

use crate::api::debug;
use crate::api::particles;
use crate::api::viewport;
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::MaybeHandle;
use engine_foundation::Error;
use engine_runtime::{Engine, UpdateSteps};
use engine_sound::SoundWorldId;
use engine_world::WorldId;

pub static WORLD: ModuleRows = module(
    "World",
    "A world is a place that is updated and rendered independently of others. \
     `Application.new_world` creates one.",
    r#"local world = Application.new_world()
World.update(world, 0.5)
assert(World.time(world) == 0.5)
Application.release_world(world)
assert(not World.alive(world))"#,
    &[
        hot(
            "time",
            time,
            &[("world", "a world")],
            "Returns the world's own time in seconds: the sum of its time steps.",
        )
        .pure(),
        hot(
            "delta_time",
            delta_time,
            &[("world", "a world")],
            "Returns the world's last time step, in seconds.",
        )
        .pure(),
        hot(
            "alive",
            alive,
            &[("world", "a number that may be the handle of a world; nil and false are none")],
            "Returns true if the handle refers to an existing world. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "main_camera",
            viewport::camera_of_world,
            &[("world", "a world")],
            "Returns the camera with which `Application.render_world` shows a world if you name no \
             other. A world created with \"2d\" has its own: it shows the plane of x and y around \
             the origin, y up, and a metre is 100 units of the screen's Guis. Other worlds share \
             `Application.main_camera()`.",
        )
        .node(NodeFlag::Query),
        func(
            "sound_world",
            sound_world,
            &[("world", "a world")],
            "Returns the sound world of a world: its listeners and the voices that play in it.",
        )
        .node(NodeFlag::Query),
        func(
            "create_line_object",
            debug::create_line_object,
            &[("world", "the world in which the lines are shown")],
            "Creates a line object, which collects lines for `LineObject`.",
        )
        .node(NodeFlag::Hidden),
        func(
            "destroy_line_object",
            debug::destroy_line_object,
            &[
                ("world", "the world of the line object"),
                ("line_object", "the line object to destroy"),
            ],
            "Destroys a line object. Its handle is stale afterwards.",
        )
        .when_full()
        .node(NodeFlag::Hidden),
        func(
            "create_particles",
            particles::create,
            &[
                ("world", "the world in which the effect plays"),
                ("name", "the name of a `.particles` resource"),
                ("position", "position in the world; the origin by default"),
                ("rotation", "rotation in the world; none by default"),
                ("scale", "scale: the mean of the three components is used; 1 by default"),
                ("group", "nil: other engines have groups of effects here"),
            ],
            "Plays a particle effect in a world. It ends when its last particle has died and it \
             spawns no more of them, or with `World.destroy_particles`.",
        ),
        func(
            "move_particles",
            particles::move_to,
            &[
                ("world", "the world in which the effect plays"),
                ("id", "a playing effect"),
                ("position", "the new position in the world"),
                ("rotation", "rotation in the world; none by default"),
                ("scale", "scale; 1 by default"),
            ],
            "Moves an effect, and unlinks it. Particles that spawn during the move are spread \
             along the path.",
        ),
        func(
            "link_particles",
            particles::link,
            &[
                ("world", "the world of both"),
                ("id", "a playing effect"),
                ("unit", "the unit to link the effect to"),
                ("node", "index of the node; the root by default"),
                ("pose", "pose relative to the node; the node's own pose by default"),
                (
                    "orphaned",
                    "what happens when the unit is destroyed: \"destroy\" (the default), \"stop\" \
                     (the effect spawns no more particles) or \"unlink\" (it continues)",
                ),
            ],
            "Links an effect to a node of a unit. The effect moves with the node from now on.",
        ),
        func(
            "stop_spawning_particles",
            particles::stop_spawning,
            &[
                ("world", "the world in which the effect plays"),
                ("id", "an effect, which may have ended"),
            ],
            "Stops an effect from spawning more particles. It ends with its last particle.",
        )
        .when_full(),
        func(
            "destroy_particles",
            particles::destroy,
            &[
                ("world", "the world in which the effect plays"),
                ("id", "an effect, which may have ended"),
            ],
            "Destroys an effect and all its particles at once.",
        )
        .when_full(),
        func(
            "are_particles_playing",
            particles::are_playing,
            &[
                ("world", "the world in which the effect plays"),
                ("id", "an effect, which may have ended"),
            ],
            "Returns true if an effect has not ended.",
        )
        .pure(),
        func(
            "num_particles",
            particles::number,
            &[("world", "a world"), ("id", "an effect; all effects of the world by default")],
            "Returns the number of existing particles. An effect that has ended has none.",
        )
        .pure(),
        func(
            "find_particles_variable",
            particles::find_variable,
            &[
                ("world", "a world"),
                ("name", "the name of a `.particles` resource"),
                ("variable", "the name of one of the effect's variables"),
            ],
            "Returns the number that identifies a variable of an effect for \
             `World.set_particles_variable`. Raises an error if no variable has that name.",
        )
        .node(NodeFlag::Query),
        func(
            "set_particles_variable",
            particles::set_variable,
            &[
                ("world", "the world in which the effect plays"),
                ("id", "a playing effect"),
                ("variable", "result of `World.find_particles_variable`"),
                ("value", "the new value; only x is used for a variable that is a single number"),
            ],
            "Sets a variable of a playing effect.",
        ),
    ],
);

/// Native functions on which the prelude's update of a world is built.
pub static CORE: ModuleRows = module(
    "World",
    "The native update of a world, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "begin_update",
            begin_update,
            &[("world", ""), ("delta", "")],
            "Begins an update of a world: advances its time.",
        )
        .public_name("World.update")
        .when_full(),
        func(
            "update_steps",
            update_steps,
            &[],
            "Returns the names of the native steps of an update, in execution order.",
        )
        .pure(),
        func(
            "update_systems",
            update_systems,
            &[("world", ""), ("delta", ""), ("physics", ""), ("scene_graph", "")],
            "Runs the systems of a world, or those before or after scripts. Returns true if the \
             world has physics.",
        )
        .public_name("World.update")
        .when_full(),
    ],
);

fn begin_update(engine: &mut Engine, world: WorldId, delta: f64) -> Result<(), Error> {
    if delta < 0.0 {
        return Err(engine_foundation::error!(
            "argument #2 'delta' must not be negative, got {delta}"
        ));
    }
    engine.worlds.world(world).begin_update(delta);
    Ok(())
}

fn update_steps(_: &mut Engine) -> Vec<String> {
    UpdateSteps::NAMES.map(str::to_string).to_vec()
}

fn update_systems(
    engine: &mut Engine,
    world: WorldId,
    delta: f64,
    physics: bool,
    scene_graph: bool,
) -> Result<bool, Error> {
    engine.update_systems(world, delta, UpdateSteps { physics, scene_graph })?;
    Ok(engine.worlds.physics.of_world(world).is_some())
}

// Without link-time optimization, the fast form calls a function that is not inline, and looks up
// the handle twice.
#[inline]
fn time(engine: &mut Engine, world: WorldId) -> f64 {
    engine.worlds.world(world).time
}

#[inline]
fn delta_time(engine: &mut Engine, world: WorldId) -> f64 {
    engine.worlds.world(world).delta
}

fn sound_world(engine: &mut Engine, world: WorldId) -> SoundWorldId {
    engine.devices.sounds.world(world.0)
}

fn alive(engine: &mut Engine, world: MaybeHandle) -> bool {
    world.handle().is_some_and(|handle| engine.worlds.slots.get(handle).is_some())
}
