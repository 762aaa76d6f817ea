//! Beginning of a particle step: the spawns of each emitter of an effect, and the forces and
//! colliders that move its particles. Runs for one effect after the other. Everything that needs a
//! fixed order, such as random counts and the shared particle budget, is determined here.

use super::ParticleEffect;
use super::collision::StepCollider;
use super::data::*;
use super::emitter::{Emitter, EventSpawn, SpawnRequest};
use super::forces::{ForceRange, StepForce, waves};
use super::pose::EffectTransform;
use super::spawner::{Spawner, count_between};
use engine_foundation::{Quat, Vec3};
use std::sync::Arc;

/// Number of steps that are combined into one while an effect is not seen.
const SLOW_STEPS: u32 = 4;

/// Longest step, in seconds. Most particles that a longer step would spawn would have died within
/// it.
const STEP_SECONDS_MAX: f64 = 60.0;

/// Remaining room for new particles, and the number of particles rejected for lack of room.
pub(super) struct SpawnBudget {
    pub left: usize,
    pub refused: u64,
}

/// Begins a step of an effect.
pub(super) fn begin(
    effect: &mut ParticleEffect,
    emitters: &mut [Emitter],
    delta: f64,
    room: &mut SpawnBudget,
) {
    let Some(first) = effect.emitters.first() else { return };
    let data = emitters[*first as usize].data.clone();
    let Some(delta) = effect.step_seconds(&data, delta.min(STEP_SECONDS_MAX)) else { return };
    apply_events(effect, &data, emitters);
    for index in &effect.emitters {
        start_emitter(&mut emitters[*index as usize], effect, delta, room);
    }
    effect.previous_pose = effect.pose;
    effect.stepped = true;
}

impl ParticleEffect {
    /// Returns the time by which the effect moves in this step, or `None` if it skips the step.
    fn step_seconds(&mut self, data: &EffectData, delta: f64) -> Option<f64> {
        if data.culling == Culling::None {
            return Some(delta);
        }
        if !self.was_visible && self.stepped {
            let is_endless = |emitter: &EmitterDef| !is_over(&emitter.numbers, f64::INFINITY);
            // An effect with an end must reach it; otherwise it would exist forever.
            if data.culling == Culling::Pause
                && self.spawning
                && data.emitters.iter().any(is_endless)
            {
                return None;
            }
            self.pending_seconds = (self.pending_seconds + delta).min(STEP_SECONDS_MAX);
            self.pending_steps += 1;
            if self.pending_steps < SLOW_STEPS {
                return None;
            }
            self.pending_steps = 0;
            return Some(std::mem::take(&mut self.pending_seconds));
        }
        self.pending_steps = 0;
        Some(delta + std::mem::take(&mut self.pending_seconds))
    }

    /// Returns true if the effect has no particles and will spawn no more.
    pub(super) fn has_ended(&self, emitters: &[Emitter]) -> bool {
        self.stepped
            && self.emitters.iter().all(|index| {
                let emitter = &emitters[*index as usize];
                emitter.count == 0
                    && emitter.events.iter().all(|events| events.is_empty())
                    && (!self.spawning || is_over(emitter.numbers(), emitter.time))
            })
    }
}

/// Returns true if an emitter spawns nothing by rate or burst from a time on.
fn is_over(data: &EmitterData, time: f64) -> bool {
    let (time, delay) = (time as f32, data.delay);
    if data.repeats > 0 {
        return false;
    }
    if data.duration > 0.0 && time >= delay + data.duration {
        return true;
    }
    let bursts = &data.bursts[..data.burst_count as usize];
    let over = |burst: &SpawnBurst| match (burst.every > 0.0, burst.times) {
        (true, 0) => false,
        (true, times) => time > delay + burst.time + burst.every * (times - 1) as f32,
        (false, _) => time > delay + burst.time,
    };
    data.rate == 0.0 && bursts.iter().all(over)
}

/// Turns the particle events of the last step into new particles of other emitters in this step.
fn apply_events(effect: &ParticleEffect, data: &Arc<EffectData>, emitters: &mut [Emitter]) {
    for (index, slot) in effect.emitters.iter().enumerate() {
        for (kind, sub) in data.emitters[index].numbers.subs.iter().enumerate() {
            if sub.emitter == 0 {
                continue;
            }
            let mut events = std::mem::take(&mut emitters[*slot as usize].events[kind]);
            let child = &mut emitters[effect.emitters[sub.emitter as usize - 1] as usize];
            let most = child.numbers().max as usize;
            for event in &events {
                let velocity = event.velocity * sub.inherit;
                // Each event draws its random count, but only particles with room are added: a
                // million events of ten thousand particles each would take minutes.
                let count = count_between(sub.count, &mut child.random) as usize;
                let room = most.saturating_sub(child.incoming.len());
                let one = EventSpawn { position: event.position, velocity };
                child.incoming.extend(std::iter::repeat_n(one, count.min(room)));
            }
            events.clear();
            emitters[*slot as usize].events[kind] = events;
        }
    }
}

fn start_emitter(
    emitter: &mut Emitter,
    effect: &ParticleEffect,
    seconds: f64,
    room: &mut SpawnBudget,
) {
    let (data, delta) = (emitter.data.clone(), seconds as f32);
    let numbers = &*data.emitters[emitter.index].numbers;
    let bound_value = |bind: Bind| match numbers.binds[bind as usize] {
        0 => None,
        number => Some(Vec3::from_array(effect.variables[number as usize - 1])),
    };
    let local = Space::of(numbers.space) == Space::Local;
    emitter.stepping = true;
    emitter.to_world = if local { effect.pose } else { EffectTransform::IDENTITY };
    let (from, to) = match local {
        true => (EffectTransform::IDENTITY, EffectTransform::IDENTITY),
        false => (effect.previous_pose, effect.pose),
    };
    let velocity = if delta > 0.0 { (to.position - from.position) / delta } else { Vec3::ZERO };
    let direction = bound_value(Bind::Direction).unwrap_or(Vec3::from_array(numbers.direction));
    emitter.request = SpawnRequest {
        by_rate: 0,
        first: 0.0,
        interval: 0.0,
        burst: 0,
        from,
        to,
        inherited_velocity: velocity * numbers.inherit,
        position: Vec3::from_array(numbers.position)
            + bound_value(Bind::Position).unwrap_or_default(),
        speed: bound_value(Bind::Speed).map_or(1.0, |factor| factor.x),
        spawner: Spawner::new(numbers, direction, emitter.flat),
    };
    if effect.spawning {
        let rate = numbers.rate * bound_value(Bind::Rate).map_or(1.0, |factor| factor.x.max(0.0));
        request_by_rate(emitter, numbers, rate.into(), seconds);
        request_bursts(emitter, numbers, seconds);
    }
    let most = numbers.max as usize;
    let wanted =
        emitter.request.by_rate as usize + emitter.request.burst as usize + emitter.incoming.len();
    let granted = wanted.min(most).min(room.left);
    room.left -= granted;
    if granted < wanted.min(most) {
        room.refused += (wanted.min(most) - granted) as u64;
        emitter.incoming.truncate(granted);
        emitter.request.burst =
            emitter.request.burst.min((granted - emitter.incoming.len()) as u32);
        let left = granted - emitter.incoming.len() - emitter.request.burst as usize;
        emitter.request.by_rate = emitter.request.by_rate.min(left as u32);
    }
    emitter.time += seconds;
    emitter.trail.set_interval(numbers.trail_interval);
    let gravity =
        Vec3::from_array(numbers.gravity) + bound_value(Bind::Gravity).unwrap_or_default();
    set_step(emitter, numbers, effect, (delta, gravity, bound_value(Bind::Target)));
    emitter.step.bounds =
        data.culling != Culling::None || effect.stage == super::EffectStage::World;
}

/// A count that is less than this below an integer is rounded up to it.
const ROUNDING: f64 = 1e-6;

/// Determines the particles that the rate spawns within the step.
fn request_by_rate(emitter: &mut Emitter, numbers: &EmitterData, rate: f64, delta: f64) {
    let (begin, end, delay) = (emitter.time, emitter.time + delta, f64::from(numbers.delay));
    let last = match numbers.duration > 0.0 && numbers.repeats == 0 {
        true => delay + f64::from(numbers.duration),
        false => f64::INFINITY,
    };
    let (from, until) = (begin.max(delay), end.min(last));
    let wanted = rate * (until - from).max(0.0);
    if wanted <= 0.0 {
        return;
    }
    let waited = emitter.carry;
    let all = waited + wanted;
    let whole = (all + ROUNDING).floor();
    emitter.request.by_rate = whole.min(numbers.max.into()) as u32;
    emitter.carry = (all - whole).max(0.0);
    let (start, part) = ((from - begin) / delta, (until - from) / delta);
    emitter.request.first = (start + part * (1.0 - waited) / wanted) as f32;
    emitter.request.interval = (part / wanted) as f32;
}

/// Determines the particles of the bursts within the step.
fn request_bursts(emitter: &mut Emitter, numbers: &EmitterData, delta: f64) {
    let (begin, length) = (emitter.time - f64::from(numbers.delay), f64::from(numbers.duration));
    let end = begin + delta;
    let mut all = 0u64;
    for burst in &numbers.bursts[..numbers.burst_count as usize] {
        let mut fired = 0;
        if numbers.repeats > 0 {
            let (mut round, last) = ((begin / length).floor().max(0.0), (end / length).floor());
            while round <= last {
                let start = round * length;
                fired += burst_count(burst, (begin - start).max(0.0), (end - start).min(length));
                round += 1.0;
            }
        } else {
            let last = if length > 0.0 { length } else { f64::INFINITY };
            fired = burst_count(burst, begin, end.min(last));
        }
        for _ in 0..fired {
            all += u64::from(count_between(burst.count, &mut emitter.random));
        }
    }
    emitter.request.burst = all.min(numbers.max.into()) as u32;
}

/// Returns the number of times that a burst fires from one time up to another.
fn burst_count(burst: &SpawnBurst, from: f64, until: f64) -> u32 {
    let (time, every) = (f64::from(burst.time), f64::from(burst.every));
    // Counts the firings before a time. The small shift absorbs rounding errors of the steps.
    let before = |at: f64| match every > 0.0 {
        true => ((at - time) / every - ROUNDING).ceil().max(0.0) as u32,
        false => u32::from(at - time > ROUNDING),
    };
    let most = if burst.times == 0 { u32::MAX } else { burst.times };
    match until > from {
        true => before(until).min(most) - before(from).min(most),
        false => 0,
    }
}

/// Sets the motion of the particles in this step, in their own space.
fn set_step(
    emitter: &mut Emitter,
    numbers: &EmitterData,
    effect: &ParticleEffect,
    (delta, gravity, target): (f32, Vec3, Option<Vec3>),
) {
    let (local, flat, time) =
        (Space::of(numbers.space) == Space::Local, emitter.flat, emitter.time as f32);
    let from_world = emitter.to_world.inverse();
    // Transform from the effect to the particles' space.
    let own = if local { EffectTransform::IDENTITY } else { effect.pose };
    let step = &mut emitter.step;
    step.delta = delta;
    step.gravity = (from_world.rotation * (gravity * from_world.scale * delta)).to_array();
    step.damping = (1.0 - numbers.drag * delta).max(0.0);
    step.bounce = numbers.bounce;
    step.friction = numbers.friction;
    step.radius = numbers.particle_radius * from_world.scale;
    step.life_loss = numbers.life_loss;
    step.pushes.clear();
    for (i, force) in numbers.forces[..numbers.force_count as usize].iter().enumerate() {
        let mut at = own.point(Vec3::from_array(force.position));
        if let Some(target) = target.filter(|_| i == 0) {
            at = from_world.point(target);
        }
        let turned = own.rotation * Vec3::from_array(force.axis);
        let (at, axis) = (at.to_array(), turned.to_array());
        let reach = ForceRange {
            strength: force.strength * delta,
            falloff: Falloff::of(force.falloff),
            fade: if force.radius > 0.0 { 1.0 / force.radius } else { 0.0 },
        };
        step.pushes.push(match ForceKind::of(force.kind) {
            ForceKind::Attractor => StepForce::Attractor { at, reach },
            ForceKind::Vortex => StepForce::Vortex { at, axis, reach },
            ForceKind::Turbulence => {
                let waves = waves(force.size, reach.strength, time * force.speed, flat);
                StepForce::Turbulence { waves }
            }
            ForceKind::Wind => {
                StepForce::Wind { velocity: axis, part: reach.strength.clamp(0.0, 1.0) }
            }
        });
    }
    step.collides.clear();
    let transform = if numbers.colliders_fixed > 0 { from_world } else { own };
    let colliders = &numbers.colliders[..numbers.collider_count as usize];
    step.collides.extend(colliders.iter().map(|collider| resolve(collider, &transform)));
}

/// Converts a collider to the particles' space.
fn resolve(collider: &ColliderData, transform: &EffectTransform) -> StepCollider {
    let a = transform.point(Vec3::from_array(collider.a));
    match ColliderKind::of(collider.kind) {
        ColliderKind::Plane => {
            let normal = transform.rotation * Vec3::from_array(collider.b);
            StepCollider::Plane { normal: normal.to_array(), distance: normal.dot(a) }
        }
        ColliderKind::Sphere => {
            StepCollider::Sphere { middle: a.to_array(), radius: collider.radius * transform.scale }
        }
        ColliderKind::Box => {
            let turned = transform.rotation * Quat::from_array(collider.rotation);
            let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (turned * axis).to_array());
            let extents = (Vec3::from_array(collider.b) * transform.scale).to_array();
            StepCollider::Box { middle: a.to_array(), extents, axes }
        }
        ColliderKind::Whisker => {
            let b = transform.point(Vec3::from_array(collider.b));
            StepCollider::Whisker { from: [a.x, a.y], to: [b.x, b.y] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_have_the_configured_count_and_interval() {
        let once = SpawnBurst { time: 0.5, ..SpawnBurst::default() };
        assert_eq!([burst_count(&once, 0.0, 0.5), burst_count(&once, 0.5, 0.6)], [0, 1]);
        let thrice = SpawnBurst { time: 0.1, every: 0.2, times: 3, count: [1, 1] };
        assert_eq!(burst_count(&thrice, 0.0, 100.0), 3);
        let steps: u32 = (0..100)
            .map(|i| burst_count(&thrice, f64::from(i) * 0.01, f64::from(i + 1) * 0.01))
            .sum();
        assert_eq!(steps, 3);
        let endless = SpawnBurst { every: 0.25, ..SpawnBurst::default() };
        assert_eq!(burst_count(&endless, 0.0, 1.0), 4);
    }
}
