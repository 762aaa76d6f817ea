//! The Rust part of the Lua module `Math`: random numbers and noise. Geometry is in the prelude
//! (lua/math/geometry.lua).

use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::Integer;
use engine_foundation::{Error, Vec3, deterministic_math, noise, random};
use engine_runtime::Engine;

pub static MATH: ModuleRows = module(
    "Math",
    "Random numbers that a replay repeats, noise, and geometry functions beyond those of vectors.",
    r#"Math.set_seed(7)
local first = Math.random(1, 6)
Math.set_seed(7)
assert(Math.random(1, 6) == first)
assert(math.abs(Math.noise(0.5, 2.25)) <= 1)"#,
    &[
        hot(
            "random",
            random,
            &[
                ("min", "the smallest result, or the largest if it is the only argument"),
                ("max", "the largest result"),
            ],
            "Returns a random number in [0, 1). With one whole number n, returns a whole number \
             from 1 to n; with two, from min to max.",
        )
        .pure()
        .node(NodeFlag::Action),
        func(
            "set_seed",
            set_seed,
            &[("seed", "a whole number, zero or more")],
            "Restarts the random numbers: the same seed gives the same numbers.",
        )
        // A reload restores the state of the random number generator.
        .pure(),
        func(
            "next_random",
            next_random,
            &[
                ("seed", "a whole number from 0 to 4294967295: the state, which you keep"),
                ("min", "the smallest result, or the largest if it is the only argument"),
                ("max", "the largest result"),
            ],
            "Returns the next seed, and a random number that depends only on the given seed. The \
             other arguments are those of `Math.random`.",
        )
        .returns(&["seed the next one", "number the random number"])
        .pure(),
        func(
            "random_direction",
            random_direction,
            &[],
            "Returns a random vector of length 1; every direction is equally likely.",
        )
        .pure()
        .node(NodeFlag::Action),
        hot(
            "random_in_box",
            random_in_box,
            &[("min", "the corner with the smallest coordinates"), ("max", "the opposite corner")],
            "Returns a random point in a box along the axes.",
        )
        .pure()
        .node(NodeFlag::Action),
        hot(
            "noise",
            noise,
            &[
                ("x", "first coordinate"),
                ("y", "second coordinate"),
                ("z", "third coordinate"),
                ("seed", "selects the noise; 0 if left out"),
            ],
            "Returns smooth noise in [-1, 1] over one, two or three coordinates (Perlin's improved \
             noise).",
        )
        .pure(),
        hot(
            "noise_at",
            noise_at,
            &[("position", "a position in space"), ("seed", "selects the noise; 0 if left out")],
            "Returns smooth noise in [-1, 1] at a position in space.",
        )
        .pure(),
    ],
);

/// Returns the bounds given by one or two whole numbers, as in Lua's own `math.random`.
#[inline]
fn bounds(min: Option<Integer>, max: Option<Integer>) -> Result<Option<(i64, i64)>, Error> {
    let (min, max) = match (min, max) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(engine_foundation::error!(
                "'max' was given without 'min': give both, or one alone"
            ));
        }
        (Some(max), None) => (1, max.0),
        (Some(min), Some(max)) => (min.0, max.0),
    };
    match min <= max {
        true => Ok(Some((min, max))),
        false => Err(engine_foundation::error!("there is no whole number from {min} to {max}")),
    }
}

fn random(engine: &mut Engine, min: Option<Integer>, max: Option<Integer>) -> Result<f64, Error> {
    Ok(match bounds(min, max)? {
        None => engine.frame.random.next_f64(),
        Some((min, max)) => engine.frame.random.range_i64(min, max) as f64,
    })
}

#[inline]
fn whole_number(seed: Integer, most: i64) -> Result<u64, Error> {
    match (0..=most).contains(&seed.0) {
        true => Ok(seed.0 as u64),
        false => {
            Err(engine_foundation::error!("argument #1 'seed' must be 0 to {most}, got {}", seed.0))
        }
    }
}

fn set_seed(engine: &mut Engine, seed: Integer) -> Result<(), Error> {
    engine.frame.random = random::Random::seed(whole_number(seed, i64::MAX)?);
    Ok(())
}

#[inline]
fn next_random(
    _: &mut Engine,
    seed: Integer,
    min: Option<Integer>,
    max: Option<Integer>,
) -> Result<(f64, f64), Error> {
    let seed = whole_number(seed, u32::MAX.into())? as u32;
    let (next, value) = match bounds(min, max)? {
        None => random::next_random(seed),
        Some((min, max)) => {
            let (next, value) = random::next_random_range(seed, min, max);
            (next, value as f64)
        }
    };
    Ok((next.into(), value))
}

fn random_direction(engine: &mut Engine) -> Vec3 {
    // Archimedes: the height of a random point on a sphere is uniformly distributed.
    let height = engine.frame.random.next_f64() * 2.0 - 1.0;
    let (sin, cos) =
        deterministic_math::sin_cos_f64(engine.frame.random.next_f64() * std::f64::consts::TAU);
    let radius = (1.0 - height * height).max(0.0).sqrt();
    Vec3::new((radius * cos) as f32, (radius * sin) as f32, height as f32).normalize()
}

fn random_in_box(engine: &mut Engine, min: Vec3, max: Vec3) -> Result<Vec3, Error> {
    if min.cmpgt(max).any() {
        return Err(engine_foundation::error!(
            "'min' {min} must not be above 'max' {max} in any coordinate"
        ));
    }
    // The width of a box can exceed the range of a 32-bit float.
    let mut within = |min: f32, max: f32| {
        let (min, max) = (f64::from(min), f64::from(max));
        (min + (max - min) * engine.frame.random.next_f64()) as f32
    };
    let point = Vec3::new(within(min.x, max.x), within(min.y, max.y), within(min.z, max.z));
    Ok(point.clamp(min, max))
}

fn noise(
    _: &mut Engine,
    x: f64,
    y: Option<f64>,
    z: Option<f64>,
    seed: Option<Integer>,
) -> Result<f64, Error> {
    let seed = seed.map_or(0, |seed| seed.0 as u64);
    Ok(match (y, z) {
        (None, None) => noise::noise_1d(seed, x),
        (Some(y), None) => noise::noise_2d(seed, x, y),
        (Some(y), Some(z)) => noise::noise_3d(seed, x, y, z),
        (None, Some(_)) => return Err(engine_foundation::error!("'z' was given without 'y'")),
    })
}

fn noise_at(_: &mut Engine, position: Vec3, seed: Option<Integer>) -> f64 {
    let seed = seed.map_or(0, |seed| seed.0 as u64);
    noise::noise_3d(seed, position.x.into(), position.y.into(), position.z.into())
}
