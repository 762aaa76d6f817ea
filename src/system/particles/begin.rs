//! The begin of a step: what each emitter of an effect is to spawn, and what moves its particles.
//! Runs one effect after the other, so whatever is drawn by lot or shared is drawn and shared here.

use super::Effect;
use super::collide::Collide;
use super::definition::*;
use super::emitter::{Emitter, Incoming, Order};
use super::force::{Push, Reach, waves};
use super::pose::Pose;
use super::spawn::{Spawner, count_between};
use crate::foundation::{Quat, Vec3};
use std::sync::Arc;

/// Of how many steps an effect takes one where it is not seen.
const SLOW_STEPS: u32 = 4;

/// The longest step, in seconds: what a longer one would bring has mostly died within it.
const STEP_SECONDS_MAX: f64 = 60.0;

/// How much room there is for more particles, and how many found none.
pub(super) struct Room {
    pub left: usize,
    pub refused: u64,
}

/// Begins a step of an effect.
pub(super) fn begin(effect: &mut Effect, emitters: &mut [Emitter], delta: f64, room: &mut Room) {
    let Some(first) = effect.emitters.first() else { return };
    let data = emitters[*first as usize].data.clone();
    let Some(delta) = effect.due(&data, delta.min(STEP_SECONDS_MAX)) else { return };
    hand_over_events(effect, &data, emitters);
    for place in &effect.emitters {
        begin_emitter(&mut emitters[*place as usize], effect, delta, room);
    }
    effect.before = effect.pose;
    effect.stepped = true;
}

impl Effect {
    /// How far it is to move on, if it is.
    fn due(&mut self, data: &EffectData, delta: f64) -> Option<f64> {
        if data.culling == Culling::None {
            return Some(delta);
        }
        if !self.seen && self.stepped {
            let is_endless = |it: &EmitterDef| !is_over(&it.numbers, f64::INFINITY);
            // One that will end has to come to its end, or it would be there for ever.
            if data.culling == Culling::Pause
                && self.spawning
                && data.emitters.iter().any(is_endless)
            {
                return None;
            }
            self.owed = (self.owed + delta).min(STEP_SECONDS_MAX);
            self.owed_steps += 1;
            if self.owed_steps < SLOW_STEPS {
                return None;
            }
            self.owed_steps = 0;
            return Some(std::mem::take(&mut self.owed));
        }
        self.owed_steps = 0;
        Some(delta + std::mem::take(&mut self.owed))
    }

    /// Whether nothing more will come of it.
    pub(super) fn has_ended(&self, emitters: &[Emitter]) -> bool {
        self.stepped
            && self.emitters.iter().all(|place| {
                let it = &emitters[*place as usize];
                it.count == 0
                    && it.events.iter().all(|events| events.is_empty())
                    && (!self.spawning || is_over(it.numbers(), it.time))
            })
    }
}

/// Whether an emitter spawns nothing by itself from that time on.
fn is_over(it: &Numbers, time: f64) -> bool {
    let (time, delay) = (time as f32, it.delay);
    if it.repeats > 0 {
        return false;
    }
    if it.duration > 0.0 && time >= delay + it.duration {
        return true;
    }
    let bursts = &it.bursts[..it.burst_count as usize];
    let over = |burst: &Burst| match (burst.every > 0.0, burst.times) {
        (true, 0) => false,
        (true, times) => time > delay + burst.time + burst.every * (times - 1) as f32,
        (false, _) => time > delay + burst.time,
    };
    it.rate == 0.0 && bursts.iter().all(over)
}

/// What happened to particles in the last step becomes particles of others in this one.
fn hand_over_events(effect: &Effect, data: &Arc<EffectData>, emitters: &mut [Emitter]) {
    for (index, place) in effect.emitters.iter().enumerate() {
        for (what, sub) in data.emitters[index].numbers.subs.iter().enumerate() {
            if sub.emitter == 0 {
                continue;
            }
            let mut events = std::mem::take(&mut emitters[*place as usize].events[what]);
            let child = &mut emitters[effect.emitters[sub.emitter as usize - 1] as usize];
            let most = child.numbers().max as usize;
            for event in &events {
                let velocity = event.velocity * sub.inherit;
                // Each event draws its count, and only as many come as there is room for: a million
                // events of ten thousand particles each would take minutes.
                let count = count_between(sub.count, &mut child.random) as usize;
                let room = most.saturating_sub(child.incoming.len());
                let one = Incoming { position: event.position, velocity };
                child.incoming.extend(std::iter::repeat_n(one, count.min(room)));
            }
            events.clear();
            emitters[*place as usize].events[what] = events;
        }
    }
}

fn begin_emitter(it: &mut Emitter, effect: &Effect, seconds: f64, room: &mut Room) {
    let (data, delta) = (it.data.clone(), seconds as f32);
    let numbers = &*data.emitters[it.index].numbers;
    let bound = |bind: Bind| match numbers.binds[bind as usize] {
        0 => None,
        place => Some(Vec3::from_array(effect.variables[place as usize - 1])),
    };
    let local = Space::of(numbers.space) == Space::Local;
    it.stepping = true;
    it.outward = if local { effect.pose } else { Pose::IDENTITY };
    let (from, to) = match local {
        true => (Pose::IDENTITY, Pose::IDENTITY),
        false => (effect.before, effect.pose),
    };
    let gone = if delta > 0.0 { (to.position - from.position) / delta } else { Vec3::ZERO };
    let direction = bound(Bind::Direction).unwrap_or(Vec3::from_array(numbers.direction));
    it.order = Order {
        steady: 0,
        first: 0.0,
        apart: 0.0,
        sudden: 0,
        from,
        to,
        carried: gone * numbers.inherit,
        position: Vec3::from_array(numbers.position) + bound(Bind::Position).unwrap_or_default(),
        speed: bound(Bind::Speed).map_or(1.0, |factor| factor.x),
        spawner: Spawner::new(numbers, direction, it.flat),
    };
    if effect.spawning {
        let rate = numbers.rate * bound(Bind::Rate).map_or(1.0, |factor| factor.x.max(0.0));
        order_steady(it, numbers, rate.into(), seconds);
        order_bursts(it, numbers, seconds);
    }
    let most = numbers.max as usize;
    let wanted = it.order.steady as usize + it.order.sudden as usize + it.incoming.len();
    let granted = wanted.min(most).min(room.left);
    room.left -= granted;
    if granted < wanted.min(most) {
        room.refused += (wanted.min(most) - granted) as u64;
        it.incoming.truncate(granted);
        it.order.sudden = it.order.sudden.min((granted - it.incoming.len()) as u32);
        let left = granted - it.incoming.len() - it.order.sudden as usize;
        it.order.steady = it.order.steady.min(left as u32);
    }
    it.time += seconds;
    it.trail.set_interval(numbers.trail_interval);
    let gravity = Vec3::from_array(numbers.gravity) + bound(Bind::Gravity).unwrap_or_default();
    set_step(it, numbers, effect, (delta, gravity, bound(Bind::Target)));
    it.step.bounds = data.culling != Culling::None || effect.stage == super::Stage::World;
}

/// A count that is off by less than this is the next whole one.
const ROUNDING: f64 = 1e-6;

/// What comes by rate within the step.
fn order_steady(it: &mut Emitter, numbers: &Numbers, rate: f64, delta: f64) {
    let (begin, end, delay) = (it.time, it.time + delta, f64::from(numbers.delay));
    let last = match numbers.duration > 0.0 && numbers.repeats == 0 {
        true => delay + f64::from(numbers.duration),
        false => f64::INFINITY,
    };
    let (from, until) = (begin.max(delay), end.min(last));
    let wanted = rate * (until - from).max(0.0);
    if wanted <= 0.0 {
        return;
    }
    let waited = it.carry;
    let all = waited + wanted;
    let whole = (all + ROUNDING).floor();
    it.order.steady = whole.min(numbers.max.into()) as u32;
    it.carry = (all - whole).max(0.0);
    let (start, part) = ((from - begin) / delta, (until - from) / delta);
    it.order.first = (start + part * (1.0 - waited) / wanted) as f32;
    it.order.apart = (part / wanted) as f32;
}

/// The bursts within the step.
fn order_bursts(it: &mut Emitter, numbers: &Numbers, delta: f64) {
    let (begin, length) = (it.time - f64::from(numbers.delay), f64::from(numbers.duration));
    let end = begin + delta;
    let mut all = 0u64;
    for burst in &numbers.bursts[..numbers.burst_count as usize] {
        let mut fired = 0;
        if numbers.repeats > 0 {
            let (mut round, last) = ((begin / length).floor().max(0.0), (end / length).floor());
            while round <= last {
                let start = round * length;
                fired += firings(burst, (begin - start).max(0.0), (end - start).min(length));
                round += 1.0;
            }
        } else {
            let last = if length > 0.0 { length } else { f64::INFINITY };
            fired = firings(burst, begin, end.min(last));
        }
        for _ in 0..fired {
            all += u64::from(count_between(burst.count, &mut it.random));
        }
    }
    it.order.sudden = all.min(numbers.max.into()) as u32;
}

/// How many times a burst comes from one time up to another.
fn firings(burst: &Burst, from: f64, until: f64) -> u32 {
    let (time, every) = (f64::from(burst.time), f64::from(burst.every));
    // Those before a time, which is meant a little earlier: steps are rounded.
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

/// What moves the particles in this step, in their own space.
fn set_step(
    it: &mut Emitter,
    numbers: &Numbers,
    effect: &Effect,
    (delta, gravity, target): (f32, Vec3, Option<Vec3>),
) {
    let (local, flat, time) = (Space::of(numbers.space) == Space::Local, it.flat, it.time as f32);
    let inward = it.outward.inverse();
    // From the effect into the particles' space.
    let own = if local { Pose::IDENTITY } else { effect.pose };
    let step = &mut it.step;
    step.delta = delta;
    step.gravity = (inward.rotation * (gravity * inward.scale * delta)).to_array();
    step.damping = (1.0 - numbers.drag * delta).max(0.0);
    step.bounce = numbers.bounce;
    step.friction = numbers.friction;
    step.radius = numbers.particle_radius * inward.scale;
    step.life_loss = numbers.life_loss;
    step.pushes.clear();
    for (i, force) in numbers.forces[..numbers.force_count as usize].iter().enumerate() {
        let mut at = own.point(Vec3::from_array(force.position));
        if let Some(target) = target.filter(|_| i == 0) {
            at = inward.point(target);
        }
        let turned = own.rotation * Vec3::from_array(force.axis);
        let (at, axis) = (at.to_array(), turned.to_array());
        let reach = Reach {
            strength: force.strength * delta,
            falloff: Falloff::of(force.falloff),
            fade: if force.radius > 0.0 { 1.0 / force.radius } else { 0.0 },
        };
        step.pushes.push(match ForceKind::of(force.kind) {
            ForceKind::Attractor => Push::Attractor { at, reach },
            ForceKind::Vortex => Push::Vortex { at, axis, reach },
            ForceKind::Turbulence => {
                let waves = waves(force.size, reach.strength, time * force.speed, flat);
                Push::Turbulence { waves }
            }
            ForceKind::Wind => Push::Wind { velocity: axis, part: reach.strength.clamp(0.0, 1.0) },
        });
    }
    step.collides.clear();
    let place = if numbers.colliders_fixed > 0 { inward } else { own };
    let colliders = &numbers.colliders[..numbers.collider_count as usize];
    step.collides.extend(colliders.iter().map(|collider| resolve(collider, &place)));
}

/// A collider in the particles' space.
fn resolve(collider: &Collider, place: &Pose) -> Collide {
    let a = place.point(Vec3::from_array(collider.a));
    match ColliderKind::of(collider.kind) {
        ColliderKind::Plane => {
            let normal = place.rotation * Vec3::from_array(collider.b);
            Collide::Plane { normal: normal.to_array(), distance: normal.dot(a) }
        }
        ColliderKind::Sphere => {
            Collide::Sphere { middle: a.to_array(), radius: collider.radius * place.scale }
        }
        ColliderKind::Box => {
            let turned = place.rotation * Quat::from_array(collider.rotation);
            let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (turned * axis).to_array());
            let extents = (Vec3::from_array(collider.b) * place.scale).to_array();
            Collide::Box { middle: a.to_array(), extents, axes }
        }
        ColliderKind::Whisker => {
            let b = place.point(Vec3::from_array(collider.b));
            Collide::Whisker { from: [a.x, a.y], to: [b.x, b.y] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_come_as_often_as_they_should() {
        let once = Burst { time: 0.5, ..Burst::default() };
        assert_eq!([firings(&once, 0.0, 0.5), firings(&once, 0.5, 0.6)], [0, 1]);
        let thrice = Burst { time: 0.1, every: 0.2, times: 3, count: [1, 1] };
        assert_eq!(firings(&thrice, 0.0, 100.0), 3);
        let steps: u32 =
            (0..100).map(|i| firings(&thrice, f64::from(i) * 0.01, f64::from(i + 1) * 0.01)).sum();
        assert_eq!(steps, 3);
        let endless = Burst { every: 0.25, ..Burst::default() };
        assert_eq!(firings(&endless, 0.0, 1.0), 4);
    }
}
