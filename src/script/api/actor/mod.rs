//! The Lua module `Actor`: functions of single physics bodies. The functions that find the actors
//! of units are in unit/actors.rs.

pub(super) mod forces;
pub(super) mod material;
pub(super) mod one_way;

use crate::api::physics_world::check_rotation;
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{MaybeHandle, TextArgument};
use crate::value::ScriptValue;
use engine_foundation::{Color, Error, Mat4, Quat, Vec3};
use engine_physics::{BodyId, MotionType, Simulation};
use engine_runtime::Engine;
use engine_world::debug_lines::{DebugLine, LINES_MAX, LineObjectId};
use engine_world::physics::{ActorId, PushTarget, check_position};
use engine_world::scene_graph::NodePose;
use engine_world::unit::UnitId;
use forces::{
    add_angular_velocity, add_force, add_impulse, add_impulse_at, add_torque_impulse, add_velocity,
    add_velocity_at, push, push_at,
};

const ACTOR_ARG: (&str, &str) = ("actor", "an actor");
const POINT: (&str, &str) = ("point", "a point in the world");

pub static ACTOR: ModuleRows = module(
    "Actor",
    "An actor is a physics body: static, dynamic (moved by forces), kinematic (moved by its unit's \
     node) or a trigger (which only detects what touches it). Units have the actors that their \
     files list, see `Unit.actor`; `PhysicsWorld.spawn_box` creates one without a unit.",
    r#"local world = Application.new_world()
local box = PhysicsWorld.spawn_box(World.physics_world(world), Vector3(0, 0, 9), Vector3(1, 1, 1))
Actor.set_velocity(box, Vector3(3, 0, 0))
Actor.add_impulse(box, Vector3(0, 0, Actor.mass(box)))
World.update(world, 1 / 60)
assert(Actor.is_dynamic(box) and Actor.position(box).x > 0)
Application.release_world(world)"#,
    &[
        hot(
            "alive",
            alive,
            &[("actor", "a number that may be the handle of an actor; nil and false are none")],
            "Returns true if the handle refers to an existing actor. Never raises for a stale \
             handle.",
        )
        .pure(),
        func("unit", unit, &[ACTOR_ARG], "Returns the unit of an actor, or nil if it has none.")
            .pure(),
        func(
            "node",
            node,
            &[ACTOR_ARG],
            "Returns the index of the unit's node that an actor moves or follows.",
        )
        .pure(),
        func("debug_name", debug_name, &[ACTOR_ARG], "Returns its name in the unit's file.").pure(),
        hot("position", position, &[ACTOR_ARG], "Returns its world position after the last step.")
            .pure(),
        hot("rotation", rotation, &[ACTOR_ARG], "Returns its world rotation after the last step.")
            .pure(),
        hot("pose", pose, &[ACTOR_ARG], "Returns its world pose after the last step.").pure(),
        hot("velocity", velocity, &[ACTOR_ARG], "Returns its velocity in metres per second.")
            .pure(),
        hot(
            "set_velocity",
            set_velocity,
            &[ACTOR_ARG, ("velocity", "metres per second")],
            "Sets the velocity of a dynamic actor, and wakes it.",
        ),
        hot(
            "angular_velocity",
            angular_velocity,
            &[ACTOR_ARG],
            "Returns the angular velocity of an actor about each axis, in radians per second.",
        )
        .pure(),
        hot(
            "set_angular_velocity",
            set_angular_velocity,
            &[ACTOR_ARG, ("velocity", "radians per second about each axis")],
            "Sets the angular velocity of a dynamic actor, and wakes it.",
        ),
        hot(
            "point_velocity",
            point_velocity,
            &[ACTOR_ARG, POINT],
            "Returns the velocity of a point that moves with the actor, in metres per second.",
        )
        .pure(),
        hot(
            "center_of_mass",
            center_of_mass,
            &[ACTOR_ARG],
            "Returns the center of mass of an actor, in the world.",
        )
        .pure(),
        hot("mass", mass, &[ACTOR_ARG], "Returns its mass in kilograms; 0 if static.").pure(),
        func(
            "set_mass",
            set_mass,
            &[ACTOR_ARG, ("mass", "kilograms")],
            "Sets the mass of an actor, distributed over its shapes.",
        ),
        hot(
            "add_impulse",
            add_impulse,
            &[ACTOR_ARG, ("impulse", "kilogram metres per second")],
            "Applies an impulse to a dynamic actor at its center of mass.",
        ),
        hot(
            "add_impulse_at",
            add_impulse_at,
            &[ACTOR_ARG, ("impulse", "kilogram metres per second"), POINT],
            "Applies an impulse to a dynamic actor at a point, so that it also turns.",
        ),
        hot(
            "add_torque_impulse",
            add_torque_impulse,
            &[ACTOR_ARG, ("impulse", "kilogram square metres per second, about each axis")],
            "Applies an angular impulse to a dynamic actor.",
        ),
        hot(
            "add_force",
            add_force,
            &[ACTOR_ARG, ("force", "newtons")],
            "Applies a force to a dynamic actor for the duration of its world's last time step. \
             Call it in every frame in which the force acts.",
        ),
        hot(
            "add_velocity",
            add_velocity,
            &[ACTOR_ARG, ("velocity", "metres per second")],
            "Adds to the velocity of a dynamic actor, independently of its mass.",
        ),
        hot(
            "add_velocity_at",
            add_velocity_at,
            &[ACTOR_ARG, ("velocity", "metres per second"), POINT],
            "Adds to the velocity of a dynamic actor at a point, independently of its mass, so \
             that it also turns.",
        ),
        hot(
            "add_angular_velocity",
            add_angular_velocity,
            &[ACTOR_ARG, ("velocity", "radians per second about each axis")],
            "Adds to the angular velocity of a dynamic actor, independently of its mass.",
        ),
        hot(
            "push",
            push,
            &[ACTOR_ARG, ("velocity", "metres per second"), ("mass", "kilograms")],
            "Applies the impulse of an object with that velocity and mass to a dynamic actor, at \
             its center of mass.",
        ),
        hot(
            "push_at",
            push_at,
            &[ACTOR_ARG, ("velocity", "metres per second"), ("mass", "kilograms"), POINT],
            "Applies the impulse of an object with that velocity and mass to a dynamic actor at a \
             point, so that it also turns.",
        ),
        func(
            "linear_damping",
            linear_damping,
            &[ACTOR_ARG],
            "Returns the linear damping of an actor, which slows it down.",
        )
        .pure(),
        func(
            "set_linear_damping",
            set_linear_damping,
            &[
                ACTOR_ARG,
                ("damping", "0 is none; at 1, a third of the speed remains after a second"),
            ],
            "Sets the linear damping of an actor, which slows it down.",
        ),
        func(
            "angular_damping",
            angular_damping,
            &[ACTOR_ARG],
            "Returns the angular damping of an actor, which slows its rotation.",
        )
        .pure(),
        func(
            "set_angular_damping",
            set_angular_damping,
            &[ACTOR_ARG, ("damping", "as for `set_linear_damping`")],
            "Sets the angular damping of an actor, which slows its rotation.",
        ),
        func("is_static", is_static, &[ACTOR_ARG], "Returns true if it never moves by itself.")
            .pure(),
        func("is_dynamic", is_dynamic, &[ACTOR_ARG], "Returns true if forces move it.").pure(),
        func("is_kinematic", is_kinematic, &[ACTOR_ARG], "Returns true if it follows its node.")
            .pure(),
        func(
            "is_trigger",
            is_trigger,
            &[ACTOR_ARG],
            "Returns true if an actor is a trigger: it only detects what touches it.",
        )
        .pure(),
        func("is_physical", is_physical, &[ACTOR_ARG], "Returns true if it stops what touches it.")
            .pure(),
        func(
            "set_kinematic",
            set_kinematic,
            &[ACTOR_ARG, ("kinematic", "true: it follows its node; false: it is moved by forces")],
            "Makes a dynamic actor kinematic, or a kinematic actor dynamic.",
        ),
        hot(
            "is_sleeping",
            is_sleeping,
            &[ACTOR_ARG],
            "Returns true if it rests and costs nothing.",
        )
        .pure(),
        func("wake_up", wake_up, &[ACTOR_ARG], "Wakes an actor."),
        func(
            "put_to_sleep",
            put_to_sleep,
            &[ACTOR_ARG],
            "Puts an actor to sleep: it rests in place until something touches it.",
        ),
        hot(
            "teleport_position",
            teleport_position,
            &[ACTOR_ARG, ("position", "the new position in the world")],
            "Moves an actor and its node to a position at once, through everything in between.",
        ),
        hot(
            "teleport_rotation",
            teleport_rotation,
            &[ACTOR_ARG, ("rotation", "the new rotation in the world")],
            "Sets the rotation of an actor and of its node at once.",
        ),
        func(
            "teleport_pose",
            teleport_pose,
            &[ACTOR_ARG, ("pose", "the new position and rotation; its scale is ignored")],
            "Moves and rotates an actor and its node at once.",
        ),
        func(
            "is_collision_enabled",
            is_collision_enabled,
            &[ACTOR_ARG],
            "Returns true if an actor collides.",
        )
        .pure(),
        func(
            "set_collision_enabled",
            set_collision_enabled,
            &[ACTOR_ARG, ("enabled", "true if the actor collides")],
            "Turns the collisions of an actor on or off. Without them it passes through \
             everything.",
        ),
        func(
            "is_scene_query_enabled",
            is_scene_query_enabled,
            &[ACTOR_ARG],
            "Returns true if rays, sweeps and overlap queries find an actor.",
        )
        .pure(),
        func(
            "set_scene_query_enabled",
            set_scene_query_enabled,
            &[ACTOR_ARG, ("enabled", "true if they find the actor")],
            "Makes an actor visible or invisible to rays, sweeps and overlap queries.",
        ),
        func(
            "set_collision_filter",
            set_collision_filter,
            &[ACTOR_ARG, ("filter", "the name of a collision filter")],
            "Sets the collision filter of an actor, which selects what it collides with.",
        ),
        func(
            "is_gravity_enabled",
            is_gravity_enabled,
            &[ACTOR_ARG],
            "Returns true if gravity acts on an actor.",
        )
        .pure(),
        func(
            "set_gravity_enabled",
            set_gravity_enabled,
            &[ACTOR_ARG, ("enabled", "true if gravity acts on the actor")],
            "Turns gravity on or off for an actor.",
        ),
        func(
            "touching",
            touching,
            &[ACTOR_ARG],
            "Returns the actors that touch an actor, as a list.",
        )
        .pure(),
        func(
            "debug_draw",
            debug_draw,
            &[
                ACTOR_ARG,
                ("line_object", "the line object that receives the lines"),
                ("color", "colour of the lines; white by default"),
            ],
            "Adds the lines of an actor's shapes to a line object.",
        )
        .node(NodeFlag::Hidden),
    ],
);

type ActorResult = Result<(), Error>;

#[inline(always)]
fn of(engine: &Engine, actor: ActorId) -> (&Simulation, BodyId) {
    engine.worlds.physics.body(actor)
}

fn alive(engine: &mut Engine, actor: MaybeHandle) -> bool {
    actor.handle().is_some_and(|handle| engine.worlds.physics.actors.get(handle).is_some())
}

fn unit(engine: &mut Engine, actor: ActorId) -> Option<UnitId> {
    engine.worlds.physics.actor(actor).unit
}

fn node(engine: &mut Engine, actor: ActorId) -> u64 {
    u64::from(engine.worlds.physics.actor(actor).node) + 1
}

fn debug_name(engine: &mut Engine, actor: ActorId) -> String {
    engine.worlds.physics.actor(actor).name.to_string()
}

fn position(engine: &mut Engine, actor: ActorId) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.position(body)
}

fn rotation(engine: &mut Engine, actor: ActorId) -> Quat {
    let (physics, body) = of(engine, actor);
    physics.rotation(body)
}

fn pose(engine: &mut Engine, actor: ActorId) -> Mat4 {
    let (physics, body) = of(engine, actor);
    Mat4::from_rotation_translation(physics.rotation(body), physics.position(body))
}

fn velocity(engine: &mut Engine, actor: ActorId) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.velocity(body)
}

/// Checks that a velocity or impulse can be applied to an actor.
fn check_speed(engine: &Engine, actor: ActorId, by: Vec3) -> ActorResult {
    engine.worlds.physics.check_dynamic(actor)?;
    PushTarget { by }.check()
}

fn set_velocity(engine: &mut Engine, actor: ActorId, velocity: Vec3) -> ActorResult {
    check_speed(engine, actor, velocity)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_velocity(body, velocity);
    Ok(())
}

fn angular_velocity(engine: &mut Engine, actor: ActorId) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.angular_velocity(body)
}

fn set_angular_velocity(engine: &mut Engine, actor: ActorId, velocity: Vec3) -> ActorResult {
    check_speed(engine, actor, velocity)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_angular_velocity(body, velocity);
    Ok(())
}

fn point_velocity(engine: &mut Engine, actor: ActorId, point: Vec3) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.point_velocity(body, point)
}

fn center_of_mass(engine: &mut Engine, actor: ActorId) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.center_of_mass(body)
}

fn mass(engine: &mut Engine, actor: ActorId) -> f64 {
    let (physics, body) = of(engine, actor);
    match physics.motion(body) {
        MotionType::Static => 0.0,
        _ => physics.mass(body).into(),
    }
}

fn set_mass(engine: &mut Engine, actor: ActorId, mass: f64) -> ActorResult {
    if !(mass > 0.0 && mass <= 1e12) {
        return Err(engine_foundation::error!(
            "argument #2 'mass' must be above 0 and at most 1e12, got {mass}"
        ));
    }
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_mass(body, mass as f32);
    Ok(())
}

fn linear_damping(engine: &mut Engine, actor: ActorId) -> f64 {
    let (physics, body) = of(engine, actor);
    physics.damping(body).0.into()
}

fn angular_damping(engine: &mut Engine, actor: ActorId) -> f64 {
    let (physics, body) = of(engine, actor);
    physics.damping(body).1.into()
}

fn check_damping(damping: f64) -> Result<f32, Error> {
    match (0.0..=1e6).contains(&damping) {
        true => Ok(damping as f32),
        false => {
            Err(engine_foundation::error!("argument #2 'damping' must be 0 to 1e6, got {damping}"))
        }
    }
}

fn set_linear_damping(engine: &mut Engine, actor: ActorId, damping: f64) -> ActorResult {
    let damping = check_damping(damping)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    let (_, angular) = physics.damping(body);
    physics.set_damping(body, damping, angular);
    Ok(())
}

fn set_angular_damping(engine: &mut Engine, actor: ActorId, damping: f64) -> ActorResult {
    let damping = check_damping(damping)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    let (linear, _) = physics.damping(body);
    physics.set_damping(body, linear, damping);
    Ok(())
}

fn motion(engine: &Engine, actor: ActorId) -> MotionType {
    let (physics, body) = of(engine, actor);
    physics.motion(body)
}

fn is_static(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == MotionType::Static
}

fn is_dynamic(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == MotionType::Dynamic
}

fn is_kinematic(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == MotionType::Kinematic && !engine.worlds.physics.actor(actor).trigger
}

fn is_trigger(engine: &mut Engine, actor: ActorId) -> bool {
    engine.worlds.physics.actor(actor).trigger
}

fn is_physical(engine: &mut Engine, actor: ActorId) -> bool {
    let known = engine.worlds.physics.actor(actor);
    !known.trigger && known.collides
}

fn set_kinematic(engine: &mut Engine, actor: ActorId, kinematic: bool) -> ActorResult {
    let known = engine.worlds.physics.actor(actor);
    if known.trigger || known.mover.is_some() || motion(engine, actor) == MotionType::Static {
        return Err(engine_foundation::error!(
            "the actor '{}' is static, a trigger or a mover's: only dynamic and kinematic ones can \
             become each other",
            known.name
        ));
    }
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_motion(body, if kinematic { MotionType::Kinematic } else { MotionType::Dynamic });
    Ok(())
}

fn is_sleeping(engine: &mut Engine, actor: ActorId) -> bool {
    let (physics, body) = of(engine, actor);
    physics.is_sleeping(body)
}

fn wake_up(engine: &mut Engine, actor: ActorId) {
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.wake_up(body);
}

fn put_to_sleep(engine: &mut Engine, actor: ActorId) {
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.put_to_sleep(body);
}

fn teleport(engine: &mut Engine, actor: ActorId, position: Vec3, rotation: Quat) -> ActorResult {
    check_position(position)?;
    let known = engine.worlds.physics.actor_mut(actor);
    if known.mover.is_some() {
        return Err(engine_foundation::error!(
            "the actor belongs to a mover: use Mover.set_position"
        ));
    }
    let (unit, node) = (known.unit.filter(|_| !known.is_ragdoll), known.node as usize);
    known.moved_to(position, rotation);
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.teleport(body, position, rotation);
    if let Some(unit) = unit {
        engine.worlds.units.scene.set_world_pose(unit.row(), node, position, rotation);
    }
    Ok(())
}

fn teleport_position(engine: &mut Engine, actor: ActorId, position: Vec3) -> ActorResult {
    let (physics, body) = of(engine, actor);
    let rotation = physics.rotation(body);
    teleport(engine, actor, position, rotation)
}

fn teleport_rotation(engine: &mut Engine, actor: ActorId, rotation: Quat) -> ActorResult {
    let rotation = check_rotation(rotation, "#2 'rotation'")?;
    let (physics, body) = of(engine, actor);
    let position = physics.position(body);
    teleport(engine, actor, position, rotation)
}

fn teleport_pose(engine: &mut Engine, actor: ActorId, pose: Mat4) -> ActorResult {
    let NodePose { position, rotation, .. } = NodePose::of(pose);
    if !rotation.is_finite() {
        return Err(engine_foundation::error!("argument #2 'pose' has an axis of length 0"));
    }
    teleport(engine, actor, position, rotation)
}

fn is_collision_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    engine.worlds.physics.actor(actor).collides
}

fn set_collision_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    engine.worlds.physics.set_groups(actor, |known| known.collides = enabled);
}

fn is_scene_query_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    engine.worlds.physics.actor(actor).found
}

fn set_scene_query_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    engine.worlds.physics.set_groups(actor, |known| known.found = enabled);
}

fn set_collision_filter(engine: &mut Engine, actor: ActorId, name: TextArgument) -> ActorResult {
    let properties = engine.worlds.physics_properties(&mut engine.assets)?;
    let filter = properties.filters[properties.filter(name.as_str())?].1;
    engine.worlds.physics.set_groups(actor, |known| known.filter = filter);
    Ok(())
}

fn is_gravity_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    let (physics, body) = of(engine, actor);
    physics.gravity_scale(body) != 0.0
}

fn set_gravity_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    let gravity = engine.worlds.physics.actor(actor).gravity;
    // An actor whose file sets its gravity to 0 gets normal gravity when it is enabled.
    let gravity = if gravity == 0.0 { 1.0 } else { gravity };
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.set_gravity_scale(body, if enabled { gravity } else { 0.0 });
}

fn touching(engine: &mut Engine, actor: ActorId) -> ScriptValue {
    let (physics, body) = of(engine, actor);
    let owners = physics.touching(body);
    ScriptValue::List(
        owners.iter().map(|owner| ScriptValue::Number(*owner as u64 as f64)).collect(),
    )
}

fn debug_draw(
    engine: &mut Engine,
    actor: ActorId,
    object: LineObjectId,
    color: Option<Color>,
) -> ActorResult {
    let color = color.unwrap_or(Color::WHITE).to_bytes();
    let mut lines = Vec::new();
    let (physics, body) = of(engine, actor);
    physics.outline(body, |from, to| lines.push(DebugLine { from, to, color }));
    let object = engine.worlds.lines.objects.get_mut(object.0).expect("it was checked");
    if object.lines.len() + lines.len() > LINES_MAX {
        return Err(engine_foundation::error!(
            "the line object would have more than {LINES_MAX} (LINES_MAX)"
        ));
    }
    object.lines.extend(lines);
    Ok(())
}
