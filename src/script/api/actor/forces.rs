//! The Lua module `Actor`: impulses, forces and pushes, which change a body's velocity according to
//! its mass.

use super::{ActorResult, check_speed, of};
use engine_foundation::{Error, Vec3};
use engine_runtime::Engine;
use engine_world::physics::{ActorId, PushTarget, check_position};

pub(super) fn impulse(engine: &mut Engine, actor: ActorId, impulse: Vec3) -> ActorResult {
    engine.worlds.physics.check_push(actor, impulse)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.add_impulse(body, impulse);
    Ok(())
}

pub(super) fn impulse_at(
    engine: &mut Engine,
    actor: ActorId,
    impulse: Vec3,
    point: Vec3,
) -> ActorResult {
    engine.worlds.physics.check_push(actor, impulse)?;
    check_position(point)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.add_impulse_at(body, impulse, point);
    Ok(())
}

pub(crate) fn add_impulse(engine: &mut Engine, actor: ActorId, by: Vec3) -> ActorResult {
    impulse(engine, actor, by)
}

pub(super) fn add_impulse_at(
    engine: &mut Engine,
    actor: ActorId,
    by: Vec3,
    point: Vec3,
) -> ActorResult {
    impulse_at(engine, actor, by, point)
}

pub(super) fn add_torque_impulse(engine: &mut Engine, actor: ActorId, by: Vec3) -> ActorResult {
    engine.worlds.physics.check_push(actor, by)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    physics.add_torque_impulse(body, by);
    Ok(())
}

pub(super) fn add_force(engine: &mut Engine, actor: ActorId, force: Vec3) -> ActorResult {
    let known = engine.worlds.physics.world(engine.worlds.physics.actor(actor).physics);
    let (world, step) = (known.world, f64::from(known.simulation.step_seconds()));
    let delta = engine.worlds.world(world).delta;
    impulse(engine, actor, force * (if delta > 0.0 { delta } else { step }) as f32)
}

pub(super) fn add_velocity(engine: &mut Engine, actor: ActorId, by: Vec3) -> ActorResult {
    check_speed(engine, actor, by)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    let velocity = physics.velocity(body) + by;
    PushTarget { by: velocity }.check()?;
    physics.set_velocity(body, velocity);
    Ok(())
}

pub(super) fn add_velocity_at(
    engine: &mut Engine,
    actor: ActorId,
    by: Vec3,
    point: Vec3,
) -> ActorResult {
    check_speed(engine, actor, by)?;
    let (physics, body) = of(engine, actor);
    let mass = physics.mass(body);
    impulse_at(engine, actor, by * mass, point)
}

pub(super) fn add_angular_velocity(engine: &mut Engine, actor: ActorId, by: Vec3) -> ActorResult {
    check_speed(engine, actor, by)?;
    let (physics, body) = engine.worlds.physics.body_mut(actor);
    let velocity = physics.angular_velocity(body) + by;
    PushTarget { by: velocity }.check()?;
    physics.set_angular_velocity(body, velocity);
    Ok(())
}

fn check_mass(mass: f64) -> Result<f32, Error> {
    match (0.0..=1e12).contains(&mass) {
        true => Ok(mass as f32),
        false => Err(engine_foundation::error!(
            "argument #3 'mass' must be 0 to 1e12 kilograms, got {mass}"
        )),
    }
}

pub(super) fn push(engine: &mut Engine, actor: ActorId, velocity: Vec3, mass: f64) -> ActorResult {
    let mass = check_mass(mass)?;
    impulse(engine, actor, velocity * mass)
}

pub(super) fn push_at(
    engine: &mut Engine,
    actor: ActorId,
    velocity: Vec3,
    mass: f64,
    point: Vec3,
) -> ActorResult {
    let mass = check_mass(mass)?;
    impulse_at(engine, actor, velocity * mass, point)
}
