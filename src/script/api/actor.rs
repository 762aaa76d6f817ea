//! `Actor`: bodies one by one. Those of units are found by what is in actor_unit.rs.

use super::physics_world::check_rotation;
use crate::engine::Engine;
use crate::foundation::{Color, Error, Handle, Mat4, Quat, Vec3};
use crate::script::arg::{AnyNumber, Text};
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::physics::{BodyId, Motion, Physics};
use crate::world::lines::{LINES_MAX, Line, LineObjectId};
use crate::world::physics::{ActorId, Pushed, check_place};
use crate::world::scene::Pose;
use crate::world::unit::UnitId;

const ACTOR_ARG: (&str, &str) = ("actor", "an actor");
const POINT: (&str, &str) = ("point", "a point of the world");

pub static ACTOR: Module = module(
    "Actor",
    "An actor is a body of the physics: static, dynamic (moved by forces), kinematic (moved by its \
     unit's node) or a trigger (which only notices). Units have those that their files list, see \
     `Unit.actor`; `PhysicsWorld.spawn_box` makes one without a unit.",
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
            &[("actor", "a number that may be an actor's handle")],
            "Whether the handle leads to an actor that is there. Never raises for a stale handle.",
        )
        .pure(),
        func("unit", unit, &[ACTOR_ARG], "The unit that it is of; nil if it is of none.").pure(),
        func("node", node, &[ACTOR_ARG], "Which node of its unit it moves, or follows.").pure(),
        func("debug_name", debug_name, &[ACTOR_ARG], "Its name in the unit's file.").pure(),
        hot("position", position, &[ACTOR_ARG], "Where it is in the world, as of the last step.")
            .pure(),
        hot("rotation", rotation, &[ACTOR_ARG], "How it is turned, as of the last step.").pure(),
        hot("pose", pose, &[ACTOR_ARG], "Both as one matrix.").pure(),
        hot("velocity", velocity, &[ACTOR_ARG], "Metres a second.").pure(),
        hot(
            "set_velocity",
            set_velocity,
            &[ACTOR_ARG, ("velocity", "metres a second")],
            "Sets how fast a dynamic actor moves, and wakes it.",
        ),
        hot(
            "angular_velocity",
            angular_velocity,
            &[ACTOR_ARG],
            "Radians a second about each axis.",
        )
        .pure(),
        hot(
            "set_angular_velocity",
            set_angular_velocity,
            &[ACTOR_ARG, ("velocity", "radians a second about each axis")],
            "Sets how fast a dynamic actor turns, and wakes it.",
        ),
        hot(
            "point_velocity",
            point_velocity,
            &[ACTOR_ARG, POINT],
            "How fast a point moves that moves with the actor.",
        )
        .pure(),
        hot("center_of_mass", center_of_mass, &[ACTOR_ARG], "Where its mass is, in the world.")
            .pure(),
        hot("mass", mass, &[ACTOR_ARG], "Kilograms; 0 where it is static.").pure(),
        func(
            "set_mass",
            set_mass,
            &[ACTOR_ARG, ("mass", "kilograms")],
            "Sets its mass, spread over its shapes.",
        ),
        hot(
            "add_impulse",
            add_impulse,
            &[ACTOR_ARG, ("impulse", "kilograms times metres a second")],
            "Pushes a dynamic actor at its middle.",
        ),
        hot(
            "add_impulse_at",
            add_impulse_at,
            &[ACTOR_ARG, ("impulse", "kilograms times metres a second"), POINT],
            "Pushes a dynamic actor at a point, so that it turns, too.",
        ),
        hot(
            "add_torque_impulse",
            add_torque_impulse,
            &[ACTOR_ARG, ("impulse", "kilograms times square metres a second, about each axis")],
            "Turns a dynamic actor.",
        ),
        hot(
            "add_force",
            add_force,
            &[ACTOR_ARG, ("force", "newtons")],
            "Pushes a dynamic actor for as long as its world's last step took: call it in every \
             frame in which the force is there.",
        ),
        hot(
            "add_velocity",
            add_velocity,
            &[ACTOR_ARG, ("velocity", "metres a second")],
            "Makes a dynamic actor faster, whatever its mass.",
        ),
        hot(
            "add_velocity_at",
            add_velocity_at,
            &[ACTOR_ARG, ("velocity", "metres a second"), POINT],
            "The same at a point, so that it turns, too.",
        ),
        hot(
            "add_angular_velocity",
            add_angular_velocity,
            &[ACTOR_ARG, ("velocity", "radians a second about each axis")],
            "Makes a dynamic actor turn faster, whatever its mass.",
        ),
        hot(
            "push",
            push,
            &[ACTOR_ARG, ("velocity", "metres a second"), ("mass", "kilograms")],
            "Pushes a dynamic actor as something of that mass does that hits it that fast.",
        ),
        hot(
            "push_at",
            push_at,
            &[ACTOR_ARG, ("velocity", "metres a second"), ("mass", "kilograms"), POINT],
            "The same at a point, so that it turns, too.",
        ),
        func("linear_damping", linear_damping, &[ACTOR_ARG], "What slows it down.").pure(),
        func(
            "set_linear_damping",
            set_linear_damping,
            &[ACTOR_ARG, ("damping", "0 is none; at 1 it has a third of its speed after a second")],
            "Sets what slows it down.",
        ),
        func("angular_damping", angular_damping, &[ACTOR_ARG], "What slows its turning.").pure(),
        func(
            "set_angular_damping",
            set_angular_damping,
            &[ACTOR_ARG, ("damping", "as for `set_linear_damping`")],
            "Sets what slows its turning.",
        ),
        func("is_static", is_static, &[ACTOR_ARG], "Whether it never moves by itself.").pure(),
        func("is_dynamic", is_dynamic, &[ACTOR_ARG], "Whether it moves by forces.").pure(),
        func("is_kinematic", is_kinematic, &[ACTOR_ARG], "Whether it follows its unit's node.")
            .pure(),
        func("is_trigger", is_trigger, &[ACTOR_ARG], "Whether it only notices what touches it.")
            .pure(),
        func("is_physical", is_physical, &[ACTOR_ARG], "Whether it stops what touches it.").pure(),
        func(
            "set_kinematic",
            set_kinematic,
            &[ACTOR_ARG, ("kinematic", "true: it follows its node; false: it moves by forces")],
            "Makes a dynamic actor kinematic, or a kinematic one dynamic.",
        ),
        hot("is_sleeping", is_sleeping, &[ACTOR_ARG], "Whether it lies still and costs nothing.")
            .pure(),
        func("wake_up", wake_up, &[ACTOR_ARG], "Wakes it."),
        func(
            "put_to_sleep",
            put_to_sleep,
            &[ACTOR_ARG],
            "Stops it where it is, until something touches it.",
        ),
        hot(
            "teleport_position",
            teleport_position,
            &[ACTOR_ARG, ("position", "where it is from now on")],
            "Puts it somewhere at once, through whatever is between, and its node with it.",
        ),
        hot(
            "teleport_rotation",
            teleport_rotation,
            &[ACTOR_ARG, ("rotation", "how it is turned from now on")],
            "Turns it at once.",
        ),
        func(
            "teleport_pose",
            teleport_pose,
            &[ACTOR_ARG, ("pose", "where it is and how it is turned; its scale means nothing")],
            "Both at once.",
        ),
        func("is_collision_enabled", is_collision_enabled, &[ACTOR_ARG], "Whether it collides.")
            .pure(),
        func(
            "set_collision_enabled",
            set_collision_enabled,
            &[ACTOR_ARG, ("enabled", "whether it collides")],
            "Has it collide, or pass through everything.",
        ),
        func(
            "is_scene_query_enabled",
            is_scene_query_enabled,
            &[ACTOR_ARG],
            "Whether rays, sweeps and overlaps find it.",
        )
        .pure(),
        func(
            "set_scene_query_enabled",
            set_scene_query_enabled,
            &[ACTOR_ARG, ("enabled", "whether they find it")],
            "Has rays, sweeps and overlaps find it, or not.",
        ),
        func(
            "set_collision_filter",
            set_collision_filter,
            &[ACTOR_ARG, ("filter", "the name of a collision filter")],
            "Sets with whom it collides.",
        ),
        func("is_gravity_enabled", is_gravity_enabled, &[ACTOR_ARG], "Whether it falls.").pure(),
        func(
            "set_gravity_enabled",
            set_gravity_enabled,
            &[ACTOR_ARG, ("enabled", "whether it falls")],
            "Has it fall, or float.",
        ),
        func("touching", touching, &[ACTOR_ARG], "The actors that touch it, as a list.").pure(),
        func(
            "debug_draw",
            debug_draw,
            &[
                ACTOR_ARG,
                ("line_object", "what the lines are added to"),
                ("color", "their colour; white if left out"),
            ],
            "Adds the lines of its shapes to a line object.",
        ),
    ],
);

type Done = Result<(), Error>;

#[inline(always)]
fn of(engine: &Engine, actor: ActorId) -> (&Physics, BodyId) {
    engine.physics.body(actor)
}

fn alive(engine: &mut Engine, actor: AnyNumber) -> bool {
    Handle::from_number(actor.0).is_some_and(|handle| engine.physics.actors.get(handle).is_some())
}

fn unit(engine: &mut Engine, actor: ActorId) -> Option<UnitId> {
    engine.physics.actor(actor).unit
}

fn node(engine: &mut Engine, actor: ActorId) -> f64 {
    f64::from(engine.physics.actor(actor).node) + 1.0
}

fn debug_name(engine: &mut Engine, actor: ActorId) -> String {
    engine.physics.actor(actor).name.to_string()
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

/// Checks that an actor can be given a speed.
fn check_speed(engine: &Engine, actor: ActorId, by: Vec3) -> Done {
    engine.physics.check_dynamic(actor)?;
    Pushed { by }.check()
}

fn set_velocity(engine: &mut Engine, actor: ActorId, velocity: Vec3) -> Done {
    check_speed(engine, actor, velocity)?;
    let (physics, body) = engine.physics.body_mut(actor);
    physics.set_velocity(body, velocity);
    Ok(())
}

fn angular_velocity(engine: &mut Engine, actor: ActorId) -> Vec3 {
    let (physics, body) = of(engine, actor);
    physics.angular_velocity(body)
}

fn set_angular_velocity(engine: &mut Engine, actor: ActorId, velocity: Vec3) -> Done {
    check_speed(engine, actor, velocity)?;
    let (physics, body) = engine.physics.body_mut(actor);
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
        Motion::Static => 0.0,
        _ => physics.mass(body).into(),
    }
}

fn set_mass(engine: &mut Engine, actor: ActorId, mass: f64) -> Done {
    if !(mass > 0.0 && mass <= 1e12) {
        return Err(crate::error!(
            "argument #2 'mass' must be above 0 and at most 1e12, got {mass}"
        ));
    }
    let (physics, body) = engine.physics.body_mut(actor);
    physics.set_mass(body, mass as f32);
    Ok(())
}

fn impulse(engine: &mut Engine, actor: ActorId, impulse: Vec3) -> Done {
    engine.physics.check_push(actor, impulse)?;
    let (physics, body) = engine.physics.body_mut(actor);
    physics.add_impulse(body, impulse);
    Ok(())
}

fn impulse_at(engine: &mut Engine, actor: ActorId, impulse: Vec3, point: Vec3) -> Done {
    engine.physics.check_push(actor, impulse)?;
    check_place(point)?;
    let (physics, body) = engine.physics.body_mut(actor);
    physics.add_impulse_at(body, impulse, point);
    Ok(())
}

fn add_impulse(engine: &mut Engine, actor: ActorId, by: Vec3) -> Done {
    impulse(engine, actor, by)
}

fn add_impulse_at(engine: &mut Engine, actor: ActorId, by: Vec3, point: Vec3) -> Done {
    impulse_at(engine, actor, by, point)
}

fn add_torque_impulse(engine: &mut Engine, actor: ActorId, by: Vec3) -> Done {
    engine.physics.check_push(actor, by)?;
    let (physics, body) = engine.physics.body_mut(actor);
    physics.add_torque_impulse(body, by);
    Ok(())
}

fn add_force(engine: &mut Engine, actor: ActorId, force: Vec3) -> Done {
    let known = engine.physics.world(engine.physics.actor(actor).physics);
    let (world, step) = (known.world, f64::from(known.simulation.step_seconds()));
    let delta = engine.world(world).delta;
    impulse(engine, actor, force * (if delta > 0.0 { delta } else { step }) as f32)
}

fn add_velocity(engine: &mut Engine, actor: ActorId, by: Vec3) -> Done {
    check_speed(engine, actor, by)?;
    let (physics, body) = engine.physics.body_mut(actor);
    let velocity = physics.velocity(body) + by;
    Pushed { by: velocity }.check()?;
    physics.set_velocity(body, velocity);
    Ok(())
}

fn add_velocity_at(engine: &mut Engine, actor: ActorId, by: Vec3, point: Vec3) -> Done {
    check_speed(engine, actor, by)?;
    let (physics, body) = of(engine, actor);
    let mass = physics.mass(body);
    impulse_at(engine, actor, by * mass, point)
}

fn add_angular_velocity(engine: &mut Engine, actor: ActorId, by: Vec3) -> Done {
    check_speed(engine, actor, by)?;
    let (physics, body) = engine.physics.body_mut(actor);
    let velocity = physics.angular_velocity(body) + by;
    Pushed { by: velocity }.check()?;
    physics.set_angular_velocity(body, velocity);
    Ok(())
}

fn check_mass(mass: f64) -> Result<f32, Error> {
    match (0.0..=1e12).contains(&mass) {
        true => Ok(mass as f32),
        false => Err(crate::error!("argument #3 'mass' must be 0 to 1e12 kilograms, got {mass}")),
    }
}

fn push(engine: &mut Engine, actor: ActorId, velocity: Vec3, mass: f64) -> Done {
    let mass = check_mass(mass)?;
    impulse(engine, actor, velocity * mass)
}

fn push_at(engine: &mut Engine, actor: ActorId, velocity: Vec3, mass: f64, point: Vec3) -> Done {
    let mass = check_mass(mass)?;
    impulse_at(engine, actor, velocity * mass, point)
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
        false => Err(crate::error!("argument #2 'damping' must be 0 to 1e6, got {damping}")),
    }
}

fn set_linear_damping(engine: &mut Engine, actor: ActorId, damping: f64) -> Done {
    let damping = check_damping(damping)?;
    let (physics, body) = engine.physics.body_mut(actor);
    let (_, angular) = physics.damping(body);
    physics.set_damping(body, damping, angular);
    Ok(())
}

fn set_angular_damping(engine: &mut Engine, actor: ActorId, damping: f64) -> Done {
    let damping = check_damping(damping)?;
    let (physics, body) = engine.physics.body_mut(actor);
    let (linear, _) = physics.damping(body);
    physics.set_damping(body, linear, damping);
    Ok(())
}

fn motion(engine: &Engine, actor: ActorId) -> Motion {
    let (physics, body) = of(engine, actor);
    physics.motion(body)
}

fn is_static(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == Motion::Static
}

fn is_dynamic(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == Motion::Dynamic
}

fn is_kinematic(engine: &mut Engine, actor: ActorId) -> bool {
    motion(engine, actor) == Motion::Kinematic && !engine.physics.actor(actor).trigger
}

fn is_trigger(engine: &mut Engine, actor: ActorId) -> bool {
    engine.physics.actor(actor).trigger
}

fn is_physical(engine: &mut Engine, actor: ActorId) -> bool {
    let known = engine.physics.actor(actor);
    !known.trigger && known.collides
}

fn set_kinematic(engine: &mut Engine, actor: ActorId, kinematic: bool) -> Done {
    let known = engine.physics.actor(actor);
    if known.trigger || known.mover.is_some() || motion(engine, actor) == Motion::Static {
        return Err(crate::error!(
            "the actor '{}' is static, a trigger or a mover's: only dynamic and kinematic ones can \
             become each other",
            known.name
        ));
    }
    let (physics, body) = engine.physics.body_mut(actor);
    physics.set_motion(body, if kinematic { Motion::Kinematic } else { Motion::Dynamic });
    Ok(())
}

fn is_sleeping(engine: &mut Engine, actor: ActorId) -> bool {
    let (physics, body) = of(engine, actor);
    physics.is_sleeping(body)
}

fn wake_up(engine: &mut Engine, actor: ActorId) {
    let (physics, body) = engine.physics.body_mut(actor);
    physics.wake_up(body);
}

fn put_to_sleep(engine: &mut Engine, actor: ActorId) {
    let (physics, body) = engine.physics.body_mut(actor);
    physics.put_to_sleep(body);
}

fn teleport(engine: &mut Engine, actor: ActorId, position: Vec3, rotation: Quat) -> Done {
    check_place(position)?;
    let known = engine.physics.actor_mut(actor);
    if known.mover.is_some() {
        return Err(crate::error!("the actor is a mover's: use Mover.set_position"));
    }
    let (unit, node) = (known.unit, known.node as usize);
    known.moved_to(position, rotation);
    let (physics, body) = engine.physics.body_mut(actor);
    physics.teleport(body, position, rotation);
    if let Some(unit) = unit {
        engine.units.scene.place(unit.row(), node, position, rotation);
    }
    Ok(())
}

fn teleport_position(engine: &mut Engine, actor: ActorId, position: Vec3) -> Done {
    let (physics, body) = of(engine, actor);
    let rotation = physics.rotation(body);
    teleport(engine, actor, position, rotation)
}

fn teleport_rotation(engine: &mut Engine, actor: ActorId, rotation: Quat) -> Done {
    let rotation = check_rotation(rotation, "#2 'rotation'")?;
    let (physics, body) = of(engine, actor);
    let position = physics.position(body);
    teleport(engine, actor, position, rotation)
}

fn teleport_pose(engine: &mut Engine, actor: ActorId, pose: Mat4) -> Done {
    let Pose { position, rotation, .. } = Pose::of(pose);
    if !rotation.is_finite() {
        return Err(crate::error!("argument #2 'pose' has an axis of length 0"));
    }
    teleport(engine, actor, position, rotation)
}

fn is_collision_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    engine.physics.actor(actor).collides
}

fn set_collision_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    engine.physics.set_groups(actor, |known| known.collides = enabled);
}

fn is_scene_query_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    engine.physics.actor(actor).found
}

fn set_scene_query_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    engine.physics.set_groups(actor, |known| known.found = enabled);
}

fn set_collision_filter(engine: &mut Engine, actor: ActorId, name: Text) -> Done {
    let properties = engine.physics_properties()?;
    let filter = properties.filters[properties.filter(name.as_str())?].1;
    engine.physics.set_groups(actor, |known| known.filter = filter);
    Ok(())
}

fn is_gravity_enabled(engine: &mut Engine, actor: ActorId) -> bool {
    let (physics, body) = of(engine, actor);
    physics.gravity_scale(body) != 0.0
}

fn set_gravity_enabled(engine: &mut Engine, actor: ActorId, enabled: bool) {
    let gravity = engine.physics.actor(actor).gravity;
    // One that floats by its file falls like others where that is asked for.
    let gravity = if gravity == 0.0 { 1.0 } else { gravity };
    let (physics, body) = engine.physics.body_mut(actor);
    physics.set_gravity_scale(body, if enabled { gravity } else { 0.0 });
}

fn touching(engine: &mut Engine, actor: ActorId) -> Value {
    let (physics, body) = of(engine, actor);
    let owners = physics.touching(body);
    Value::List(owners.iter().map(|owner| Value::Number(*owner as u64 as f64)).collect())
}

fn debug_draw(
    engine: &mut Engine,
    actor: ActorId,
    object: LineObjectId,
    color: Option<Color>,
) -> Done {
    let color = color.unwrap_or(Color::WHITE).to_bytes();
    let mut made = Vec::new();
    let (physics, body) = of(engine, actor);
    physics.outline(body, |from, to| made.push(Line { from, to, color }));
    let object = engine.lines.objects.get_mut(object.0).expect("it was checked");
    if object.lines.len() + made.len() > LINES_MAX {
        return Err(crate::error!("the line object would have more than {LINES_MAX} (LINES_MAX)"));
    }
    object.lines.extend(made);
    Ok(())
}
