//! What the numbers of an effect may be: the ranges that the text of a `.particles` is held to, and
//! the same for compiled data, which may come from anybody. Reads nothing and moves nothing.

use super::definition::*;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Range, within};
use std::collections::HashSet;

/// Places, sizes, speeds and the like.
pub const FAR: Range = (-1e6, 1e6);
/// Lengths: radii, sizes, widths.
pub const LENGTH: Range = (0.0, 1e6);
/// Lengths that something is divided by.
pub const LENGTH_ABOVE_0: Range = (0.001, 1e6);
/// Parts of a whole.
pub const PART: Range = (0.0, 1.0);
/// Particles a second.
pub const RATE: Range = (0.0, 1e7);
/// Seconds of an emitter.
pub const SECONDS: Range = (0.0, 3600.0);
/// Seconds for which an emitter spawns.
pub const DURATION: Range = (0.01, 3600.0);
/// Seconds from one burst to the next.
pub const BURST_EVERY: Range = (0.001, 3600.0);
/// How many times a burst comes.
pub const BURST_TIMES: (u32, u32) = (1, 1_000_000);
/// Seconds of a particle: none lives no time at all.
pub const LIFETIME: Range = (0.001, 3600.0);
/// The most particles that one event brings.
pub const SUB_COUNT_MAX: u32 = 10_000;
/// How much of a velocity is taken along.
pub const INHERIT: Range = (-10.0, 10.0);
/// Half an opening, in degrees.
pub const OPENING_DEGREES_MAX: f32 = 180.0;
pub const DRAG: Range = (0.0, 1000.0);
/// How fast the eddies of a turbulence change.
pub const EDDY_SPEED: Range = (0.0, 1000.0);
pub const ASPECT: Range = (0.001, 1000.0);
/// The speed at which curves over speed end.
pub const OVER_SPEED: Range = (1e-3, 1e6);
/// Rotations, and rotations a second.
pub const DEGREES: Range = (-36_000.0, 36_000.0);
/// Frames of a flipbook a second.
pub const FLIPBOOK_RATE: Range = (0.001, 1000.0);
pub const GLOW: Range = (0.0, 1000.0);
pub const STRETCH: Range = (0.0, 100.0);
pub const SOFTNESS: Range = (0.0, 1000.0);
pub const LAYER: Range = (-10_000.0, 10_000.0);
/// The fewest points of a trail.
pub const TRAIL_POINTS_MIN: u32 = 2;
/// Seconds between the points of a trail.
pub const TRAIL_INTERVAL: Range = (0.001, 10.0);
/// Width by the particle's size.
pub const TRAIL_WIDTH: Range = (0.0, 1000.0);
pub const WARM_SECONDS: Range = (0.0, WARM_SECONDS_MAX);
/// The least that counts as a size: tables hold parts of the largest.
pub const SIZE_MIN: f32 = 1e-9;

/// How far the length of a direction or a rotation may be off 1, for want of digits.
const UNIT_ERROR: f32 = 1e-3;

/// Refuses an effect that no text could have become.
///
/// # Errors
/// With the emitter and the number.
pub fn check(data: &EffectData) -> Result<(), Error> {
    let EffectData { emitters, variables, warm_seconds, .. } = data;
    within("warm_seconds", *warm_seconds, WARM_SECONDS)?;
    if !(1..=EMITTERS_MAX).contains(&emitters.len()) || variables.len() > VARIABLES_MAX {
        return Err(error!(
            "it is damaged: it has {} emitters and {} variables (EMITTERS_MAX, VARIABLES_MAX)",
            emitters.len(),
            variables.len()
        ));
    }
    unique(emitters.iter().map(|emitter| &emitter.name), "emitters")?;
    unique(variables.iter().map(|variable| &variable.name), "variables")?;
    for variable in variables {
        all(&variable.name, &variable.default, FAR)?;
    }
    for emitter in emitters {
        let checked = emitter.numbers.check(emitters.len(), variables.len());
        checked.map_err(|fault| error!("emitter '{}': {}", emitter.name, fault.message))?;
    }
    let leads_back =
        |at: usize| circle(emitters, at, &mut vec![at], &mut vec![false; emitters.len()]).is_some();
    if (0..emitters.len()).any(leads_back) {
        return Err(error!("it is damaged: an emitter feeds itself"));
    }
    Ok(())
}

/// The way from the first of `way` back to it, if there is one. From what was `seen` no way leads
/// there.
pub fn circle(
    emitters: &[EmitterDef],
    at: usize,
    way: &mut Vec<usize>,
    seen: &mut [bool],
) -> Option<Vec<usize>> {
    for sub in emitters[at].numbers.subs.iter().filter(|sub| sub.emitter > 0) {
        let next = sub.emitter as usize - 1;
        if next == way[0] {
            way.push(next);
            return Some(way.clone());
        }
        if !std::mem::replace(&mut seen[next], true) {
            way.push(next);
            if let Some(found) = circle(emitters, next, way, seen) {
                return Some(found);
            }
            way.pop();
        }
    }
    None
}

fn unique<'a>(mut names: impl Iterator<Item = &'a String>, what: &str) -> Result<(), Error> {
    let mut known = HashSet::new();
    match names.find(|name| !known.insert(*name)) {
        Some(name) => Err(error!("it is damaged: two {what} are named '{name}'")),
        None => Ok(()),
    }
}

fn all(name: &str, numbers: &[f32], range: Range) -> Result<(), Error> {
    numbers.iter().try_for_each(|number| within(name, *number, range))
}

/// Refuses two numbers between which something lies, unless the smaller one stands first.
fn between(name: &str, numbers: [f32; 2], range: Range) -> Result<(), Error> {
    all(name, &numbers, range)?;
    must(name, numbers[0] <= numbers[1])
}

fn counts(name: &str, [low, high]: [u32; 2], most: u32) -> Result<(), Error> {
    must(name, low <= high && high <= most)
}

/// A number that is 0 where nothing was said, and else in its range.
fn unless_0(name: &str, number: f32, range: Range) -> Result<(), Error> {
    if number == 0.0 { Ok(()) } else { within(name, number, range) }
}

/// Vectors and quaternions of length 1.
fn unit(name: &str, parts: &[f32]) -> Result<(), Error> {
    let length = parts.iter().map(|part| part * part).sum::<f32>();
    must(name, (length - 1.0).abs() <= UNIT_ERROR)
}

fn direction_or_0(name: &str, parts: [f32; 3]) -> Result<(), Error> {
    if parts == [0.0; 3] { Ok(()) } else { unit(name, &parts) }
}

fn must(name: &str, right: bool) -> Result<(), Error> {
    match right {
        true => Ok(()),
        false => Err(error!("it is damaged: '{name}' is out of range")),
    }
}

impl Numbers {
    fn check(&self, emitters: usize, variables: usize) -> Result<(), Error> {
        self.check_spawning(emitters)?;
        self.check_shape()?;
        self.check_motion()?;
        self.check_look()?;
        self.check_trail()?;
        must("bind", self.binds.iter().all(|bind| *bind as usize <= variables))?;
        must("bind", self.binds[Bind::Target as usize] == 0 || self.force_count > 0)
    }

    fn check_spawning(&self, emitters: usize) -> Result<(), Error> {
        must("max", (1..=EMITTER_PARTICLES_MAX).contains(&self.max))?;
        within("rate", self.rate, RATE)?;
        within("delay", self.delay, SECONDS)?;
        unless_0("duration", self.duration, DURATION)?;
        must("loop", self.repeats == 0 || self.repeats == 1 && self.duration > 0.0)?;
        must("bursts", self.burst_count as usize <= BURSTS_MAX)?;
        for burst in &self.bursts[..self.burst_count as usize] {
            within("time", burst.time, SECONDS)?;
            unless_0("every", burst.every, BURST_EVERY)?;
            must("times", burst.times <= BURST_TIMES.1)?;
            must("times", burst.times <= 1 || burst.every > 0.0)?;
            counts("count", burst.count, EMITTER_PARTICLES_MAX)?;
        }
        for (sub, key) in self.subs.iter().zip(ON) {
            must(key, sub.emitter as usize <= emitters)?;
            counts(key, sub.count, SUB_COUNT_MAX)?;
            within(key, sub.inherit, INHERIT)?;
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), Error> {
        let opening = (0.0, OPENING_DEGREES_MAX.to_radians());
        must("shape", (self.shape as usize) < Shape::ALL.len())?;
        all("extents", &self.extents, FAR)?;
        within("radius", self.radius, LENGTH)?;
        within("inner", self.inner, PART)?;
        within("angle", self.angle, opening)?;
        all("position", &self.position, FAR)?;
        direction_or_0("direction", self.direction)?;
        within("spread", self.spread, opening)?;
        between("speed", self.speed, FAR)?;
        within("inherit_velocity", self.inherit, INHERIT)?;
        between("lifetime", self.lifetime, LIFETIME)?;
        must("space", (self.space as usize) < Space::ALL.len())
    }

    fn check_motion(&self) -> Result<(), Error> {
        all("gravity", &self.gravity, FAR)?;
        within("drag", self.drag, DRAG)?;
        must("forces", self.force_count as usize <= FORCES_MAX)?;
        for force in &self.forces[..self.force_count as usize] {
            must("force", (force.kind as usize) < ForceKind::ALL.len())?;
            must("falloff", (force.falloff as usize) < Falloff::ALL.len())?;
            within("strength", force.strength, FAR)?;
            all("position", &force.position, FAR)?;
            all("axis", &force.axis, FAR)?;
            if ForceKind::of(force.kind) == ForceKind::Vortex {
                unit("axis", &force.axis)?;
            }
            unless_0("radius", force.radius, LENGTH_ABOVE_0)?;
            within("size", force.size, LENGTH_ABOVE_0)?;
            within("speed", force.speed, EDDY_SPEED)?;
        }
        must("collision", self.collider_count as usize <= COLLIDERS_MAX)?;
        for collider in &self.colliders[..self.collider_count as usize] {
            collider.check()?;
        }
        must("space", self.colliders_fixed <= 1)?;
        within("bounce", self.bounce, PART)?;
        within("friction", self.friction, PART)?;
        within("radius", self.particle_radius, LENGTH)?;
        within("life_loss", self.life_loss, PART)
    }

    fn check_look(&self) -> Result<(), Error> {
        within("size", self.size_max, (SIZE_MIN, LENGTH.1))?;
        all("size", &self.sizes, PART)?;
        within("size_random", self.size_random, PART)?;
        within("aspect", self.aspect, ASPECT)?;
        must("over", (self.over as usize) < Over::ALL.len())?;
        within("over_speed", self.over_speed, OVER_SPEED)?;
        let turns = (DEGREES.0 / 360.0, DEGREES.1 / 360.0);
        between("rotation", self.rotation, turns)?;
        between("spin", self.spin, turns)?;
        let [columns, rows, frames] = self.flipbook;
        let cells = columns.checked_mul(rows).filter(|cells| *cells <= FLIPBOOK_FRAMES_MAX);
        must("flipbook", cells.is_some_and(|cells| (1..=cells).contains(&frames)))?;
        unless_0("rate", self.flipbook_rate, FLIPBOOK_RATE)?;
        must("random", self.flipbook_random <= 1)?;
        must("blend", (self.blend as usize) < Blending::ALL.len())?;
        within("glow", self.glow, GLOW)?;
        must("billboard", (self.billboard as usize) < Billboard::ALL.len())?;
        within("stretch", self.stretch, STRETCH)?;
        direction_or_0("axis", self.axis)?;
        must("sort", (self.sort as usize) < Sort::ALL.len())?;
        within("softness", self.softness, SOFTNESS)?;
        within("layer", self.layer as f32, LAYER)
    }

    fn check_trail(&self) -> Result<(), Error> {
        let points = TRAIL_POINTS_MIN..=TRAIL_POINTS_MAX;
        must("trail", self.trail_points == 0 || points.contains(&self.trail_points))?;
        within("interval", self.trail_interval, TRAIL_INTERVAL)?;
        all("width", &self.trail_width, TRAIL_WIDTH)?;
        must("heads", self.trail_heads <= 1)?;
        must("ribbon", self.ribbon <= 1 && !(self.ribbon == 1 && self.trail_points > 0))?;
        let drawn_out = self.ribbon == 1 || self.trail_points > 0;
        must("max", !drawn_out || self.max <= TRAIL_PARTICLES_MAX)
    }
}

impl Collider {
    fn check(&self) -> Result<(), Error> {
        must("collision", (self.kind as usize) < ColliderKind::ALL.len())?;
        all("position", &self.a, FAR)?;
        all("extents", &self.b, FAR)?;
        unit("rotation", &self.rotation)?;
        within("radius", self.radius, LENGTH_ABOVE_0)?;
        match ColliderKind::of(self.kind) {
            ColliderKind::Plane => unit("normal", &self.b),
            ColliderKind::Box => must("extents", self.b.iter().all(|half| *half >= 0.0)),
            ColliderKind::Whisker => must("to", self.a != self.b),
            ColliderKind::Sphere => Ok(()),
        }
    }
}
