//! Valid ranges of an effect's numbers. The parser of `.particles` text and the check of compiled
//! data share them, because compiled data may come from an untrusted source. Reads nothing and
//! simulates nothing.

use super::data::*;
use engine_foundation::Error;
use engine_foundation::blob::{NumberRange, within};
use engine_foundation::error;
use std::collections::HashSet;

/// Positions, speeds and similar numbers.
pub const COORDINATES: NumberRange = (-1e6, 1e6);
/// Lengths: radii, sizes, widths.
pub const LENGTH: NumberRange = (0.0, 1e6);
/// Lengths used as divisors.
pub const LENGTH_ABOVE_0: NumberRange = (0.001, 1e6);
/// Fractions of a whole.
pub const PART: NumberRange = (0.0, 1.0);
/// Particles per second.
pub const RATE: NumberRange = (0.0, 1e7);
/// Times of an emitter, in seconds.
pub const SECONDS: NumberRange = (0.0, 3600.0);
/// Spawning time of an emitter, in seconds.
pub const DURATION: NumberRange = (0.01, 3600.0);
/// Seconds between bursts.
pub const BURST_EVERY: NumberRange = (0.001, 3600.0);
/// Number of repetitions of a burst.
pub const BURST_TIMES: (u32, u32) = (1, 1_000_000);
/// Lifetime of a particle, in seconds. It cannot be 0.
pub const LIFETIME: NumberRange = (0.001, 3600.0);
/// Maximum number of particles that one event spawns.
pub const SUB_COUNT_MAX: u32 = 10_000;
/// Fraction of a velocity that is inherited.
pub const INHERIT: NumberRange = (-10.0, 10.0);
/// Maximum half opening angle, in degrees.
pub const OPENING_DEGREES_MAX: f32 = 180.0;
pub const DRAG: NumberRange = (0.0, 1000.0);
/// Speed at which the eddies of a turbulence change.
pub const EDDY_SPEED: NumberRange = (0.0, 1000.0);
pub const ASPECT: NumberRange = (0.001, 1000.0);
/// Speed at the end of curves over speed.
pub const OVER_SPEED: NumberRange = (1e-3, 1e6);
/// Rotations in degrees, and angular velocities in degrees per second.
pub const DEGREES: NumberRange = (-36_000.0, 36_000.0);
/// Flipbook frames per second.
pub const FLIPBOOK_RATE: NumberRange = (0.001, 1000.0);
pub const GLOW: NumberRange = (0.0, 1000.0);
pub const STRETCH: NumberRange = (0.0, 100.0);
pub const SOFTNESS: NumberRange = (0.0, 1000.0);
pub const LIT: NumberRange = (0.0, 1.0);
pub const DISTORTION: NumberRange = (-100.0, 100.0);
pub const LAYER: NumberRange = (-10_000.0, 10_000.0);
/// Minimum number of points of a trail.
pub const TRAIL_POINTS_MIN: u32 = 2;
/// Seconds between the points of a trail.
pub const TRAIL_INTERVAL: NumberRange = (0.001, 10.0);
/// Width of a trail relative to the particle's size.
pub const TRAIL_WIDTH: NumberRange = (0.0, 1000.0);
pub const WARM_SECONDS: NumberRange = (0.0, WARM_SECONDS_MAX);
/// Smallest nonzero size. Tables contain fractions of the maximum size.
pub const SIZE_MIN: f32 = 1e-9;

/// Maximum deviation of the length of a direction or a rotation from 1, due to rounding.
const UNIT_ERROR: f32 = 1e-3;

/// Checks an effect for numbers that no source text could produce.
///
/// # Errors
/// Returns an error with the emitter and the number if a number is out of range.
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
        all(&variable.name, &variable.default, COORDINATES)?;
    }
    for emitter in emitters {
        let checked = emitter.numbers.check(emitters.len(), variables.len());
        checked.map_err(|error| error!("emitter '{}': {}", emitter.name, error.message))?;
    }
    let leads_back = |at: usize| {
        find_cycle(emitters, at, &mut vec![at], &mut vec![false; emitters.len()]).is_some()
    };
    if (0..emitters.len()).any(leads_back) {
        return Err(error!("it is damaged: an emitter feeds itself"));
    }
    Ok(())
}

/// Returns the path from the first emitter of `path` back to it, if there is one. No such path
/// exists through the emitters in `visited`.
pub fn find_cycle(
    emitters: &[EmitterDef],
    at: usize,
    path: &mut Vec<usize>,
    visited: &mut [bool],
) -> Option<Vec<usize>> {
    for sub in emitters[at].numbers.subs.iter().filter(|sub| sub.emitter > 0) {
        let next = sub.emitter as usize - 1;
        if next == path[0] {
            path.push(next);
            return Some(path.clone());
        }
        if !std::mem::replace(&mut visited[next], true) {
            path.push(next);
            if let Some(found) = find_cycle(emitters, next, path, visited) {
                return Some(found);
            }
            path.pop();
        }
    }
    None
}

fn unique<'a>(mut names: impl Iterator<Item = &'a String>, kind: &str) -> Result<(), Error> {
    let mut known = HashSet::new();
    match names.find(|name| !known.insert(*name)) {
        Some(name) => Err(error!("it is damaged: two {kind} are named '{name}'")),
        None => Ok(()),
    }
}

fn all(name: &str, numbers: &[f32], range: NumberRange) -> Result<(), Error> {
    numbers.iter().try_for_each(|number| within(name, *number, range))
}

/// Checks the two ends of a range: both must be in range, and the smaller one must be first.
fn between(name: &str, numbers: [f32; 2], range: NumberRange) -> Result<(), Error> {
    all(name, &numbers, range)?;
    require(name, numbers[0] <= numbers[1])
}

fn counts(name: &str, [low, high]: [u32; 2], most: u32) -> Result<(), Error> {
    require(name, low <= high && high <= most)
}

/// Checks a number that is 0 by default, and otherwise must be in its range.
fn unless_0(name: &str, number: f32, range: NumberRange) -> Result<(), Error> {
    if number == 0.0 { Ok(()) } else { within(name, number, range) }
}

/// Checks that a vector or a quaternion has length 1.
fn unit(name: &str, parts: &[f32]) -> Result<(), Error> {
    let length = parts.iter().map(|part| part * part).sum::<f32>();
    require(name, (length - 1.0).abs() <= UNIT_ERROR)
}

fn direction_or_0(name: &str, parts: [f32; 3]) -> Result<(), Error> {
    if parts == [0.0; 3] { Ok(()) } else { unit(name, &parts) }
}

fn require(name: &str, right: bool) -> Result<(), Error> {
    match right {
        true => Ok(()),
        false => Err(error!("it is damaged: '{name}' is out of range")),
    }
}

impl EmitterData {
    fn check(&self, emitters: usize, variables: usize) -> Result<(), Error> {
        self.check_spawning(emitters)?;
        self.check_shape()?;
        self.check_motion()?;
        self.check_appearance()?;
        self.check_trail()?;
        require("bind", self.binds.iter().all(|bind| *bind as usize <= variables))?;
        require("bind", self.binds[Bind::Target as usize] == 0 || self.force_count > 0)
    }

    fn check_spawning(&self, emitters: usize) -> Result<(), Error> {
        require("max", (1..=EMITTER_PARTICLES_MAX).contains(&self.max))?;
        within("rate", self.rate, RATE)?;
        within("delay", self.delay, SECONDS)?;
        unless_0("duration", self.duration, DURATION)?;
        require("loop", self.repeats == 0 || self.repeats == 1 && self.duration > 0.0)?;
        require("bursts", self.burst_count as usize <= BURSTS_MAX)?;
        for burst in &self.bursts[..self.burst_count as usize] {
            within("time", burst.time, SECONDS)?;
            unless_0("every", burst.every, BURST_EVERY)?;
            require("times", burst.times <= BURST_TIMES.1)?;
            require("times", burst.times <= 1 || burst.every > 0.0)?;
            counts("count", burst.count, EMITTER_PARTICLES_MAX)?;
        }
        for (sub, key) in self.subs.iter().zip(TRIGGER_KEYS) {
            require(key, sub.emitter as usize <= emitters)?;
            counts(key, sub.count, SUB_COUNT_MAX)?;
            within(key, sub.inherit, INHERIT)?;
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), Error> {
        let opening = (0.0, OPENING_DEGREES_MAX.to_radians());
        require("shape", (self.shape as usize) < Shape::ALL.len())?;
        all("extents", &self.extents, COORDINATES)?;
        within("radius", self.radius, LENGTH)?;
        within("inner", self.inner, PART)?;
        within("angle", self.angle, opening)?;
        all("position", &self.position, COORDINATES)?;
        direction_or_0("direction", self.direction)?;
        within("spread", self.spread, opening)?;
        between("speed", self.speed, COORDINATES)?;
        within("inherit_velocity", self.inherit, INHERIT)?;
        between("lifetime", self.lifetime, LIFETIME)?;
        require("space", (self.space as usize) < Space::ALL.len())
    }

    fn check_motion(&self) -> Result<(), Error> {
        all("gravity", &self.gravity, COORDINATES)?;
        within("drag", self.drag, DRAG)?;
        require("forces", self.force_count as usize <= FORCES_MAX)?;
        for force in &self.forces[..self.force_count as usize] {
            require("force", (force.kind as usize) < ForceKind::ALL.len())?;
            require("falloff", (force.falloff as usize) < Falloff::ALL.len())?;
            within("strength", force.strength, COORDINATES)?;
            all("position", &force.position, COORDINATES)?;
            all("axis", &force.axis, COORDINATES)?;
            if ForceKind::of(force.kind) == ForceKind::Vortex {
                unit("axis", &force.axis)?;
            }
            unless_0("radius", force.radius, LENGTH_ABOVE_0)?;
            within("size", force.size, LENGTH_ABOVE_0)?;
            within("speed", force.speed, EDDY_SPEED)?;
        }
        require("collision", self.collider_count as usize <= COLLIDERS_MAX)?;
        for collider in &self.colliders[..self.collider_count as usize] {
            collider.check()?;
        }
        require("space", self.colliders_fixed <= 1)?;
        within("bounce", self.bounce, PART)?;
        within("friction", self.friction, PART)?;
        within("radius", self.particle_radius, LENGTH)?;
        within("life_loss", self.life_loss, PART)
    }

    fn check_appearance(&self) -> Result<(), Error> {
        within("size", self.size_max, (SIZE_MIN, LENGTH.1))?;
        all("size", &self.sizes, PART)?;
        within("size_random", self.size_random, PART)?;
        within("aspect", self.aspect, ASPECT)?;
        require("over", (self.over as usize) < Over::ALL.len())?;
        within("over_speed", self.over_speed, OVER_SPEED)?;
        let turns = (DEGREES.0 / 360.0, DEGREES.1 / 360.0);
        between("rotation", self.rotation, turns)?;
        between("spin", self.spin, turns)?;
        let [columns, rows, frames] = self.flipbook;
        let cells = columns.checked_mul(rows).filter(|cells| *cells <= FLIPBOOK_FRAMES_MAX);
        require("flipbook", cells.is_some_and(|cells| (1..=cells).contains(&frames)))?;
        unless_0("rate", self.flipbook_rate, FLIPBOOK_RATE)?;
        require("random", self.flipbook_random <= 1)?;
        require("blend", (self.blend as usize) < Blending::ALL.len())?;
        within("glow", self.glow, GLOW)?;
        require("billboard", (self.billboard as usize) < Billboard::ALL.len())?;
        within("stretch", self.stretch, STRETCH)?;
        direction_or_0("axis", self.axis)?;
        require("sort", (self.sort as usize) < Sort::ALL.len())?;
        within("softness", self.softness, SOFTNESS)?;
        within("lit", self.lit, LIT)?;
        within("distortion", self.distortion, DISTORTION)?;
        within("layer", self.layer as f32, LAYER)
    }

    fn check_trail(&self) -> Result<(), Error> {
        let points = TRAIL_POINTS_MIN..=TRAIL_POINTS_MAX;
        require("trail", self.trail_points == 0 || points.contains(&self.trail_points))?;
        within("interval", self.trail_interval, TRAIL_INTERVAL)?;
        all("width", &self.trail_width, TRAIL_WIDTH)?;
        require("heads", self.trail_heads <= 1)?;
        require("ribbon", self.ribbon <= 1 && !(self.ribbon == 1 && self.trail_points > 0))?;
        let drawn_out = self.ribbon == 1 || self.trail_points > 0;
        require("max", !drawn_out || self.max <= TRAIL_PARTICLES_MAX)
    }
}

impl ColliderData {
    fn check(&self) -> Result<(), Error> {
        require("collision", (self.kind as usize) < ColliderKind::ALL.len())?;
        all("position", &self.a, COORDINATES)?;
        all("extents", &self.b, COORDINATES)?;
        unit("rotation", &self.rotation)?;
        within("radius", self.radius, LENGTH_ABOVE_0)?;
        match ColliderKind::of(self.kind) {
            ColliderKind::Plane => unit("normal", &self.b),
            ColliderKind::Box => require("extents", self.b.iter().all(|half| *half >= 0.0)),
            ColliderKind::Whisker => require("to", self.a != self.b),
            ColliderKind::Sphere => Ok(()),
        }
    }
}
