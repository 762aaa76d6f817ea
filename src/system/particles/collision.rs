//! Collisions of the particles of a block with planes, spheres, boxes, and whiskers, which are line
//! segments in a plane. The loops run over arrays of known length without branches.
//!
//! A resting particle is pulled into its collider again and again, and pushed out of it. If that
//! counted as an impact, the particle would bounce forever. A particle moves by the velocity that
//! it had before the step's forces, so it has moved inward for at most two steps when a contact is
//! found. The velocity that forces add in two steps is therefore subtracted from the velocity of an
//! impact.

use super::particle_block::{BlockColumn, LANES, MotionStep};

/// Distance from a whisker at which a particle that hit it is placed, in units of its space.
const WHISKER_GAP: f32 = 0.01;

/// Number of steps whose added velocity does not count as an impact.
const RESTING_STEPS: f32 = 2.0;

/// Factor by which the velocity must exceed the resting velocity to count as a hit of a whisker. It
/// absorbs rounding errors.
const IMPACT: f32 = 1.25;

/// A collider in one step, in the space in which the particles move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepCollider {
    Plane {
        normal: [f32; 3],
        distance: f32,
    },
    Sphere {
        middle: [f32; 3],
        radius: f32,
    },
    /// An oriented box. The rows of `axes` are its axes.
    Box {
        middle: [f32; 3],
        extents: [f32; 3],
        axes: [[f32; 3]; 3],
    },
    Whisker {
        from: [f32; 2],
        to: [f32; 2],
    },
}

/// Applies every collider to the motion from `positions` to `next`. `velocities_before` contains
/// the velocities before the step's forces. Sets `hit` to a nonzero value for each particle that
/// was stopped.
#[inline(always)]
pub fn collide_all<const D: usize>(
    step: &MotionStep,
    (positions, velocities_before): (&[BlockColumn; 3], &[BlockColumn; 3]),
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    for collide in &step.collides {
        match collide {
            StepCollider::Plane { normal, distance } => {
                plane::<D>(step, normal, *distance, velocities_before, next, speed, hit);
            }
            StepCollider::Sphere { middle, radius } => {
                sphere::<D>(step, middle, *radius, velocities_before, next, speed, hit);
            }
            StepCollider::Box { middle, extents, axes } => {
                cuboid::<D>(step, (middle, extents, axes), velocities_before, next, speed, hit);
            }
            StepCollider::Whisker { from, to } => {
                whisker(step, *from, *to, positions, next, speed, hit)
            }
        }
    }
}

/// Returns the number, or zero if it is negative. For a negative or positive zero the result is
/// always the same zero; `f32::max` leaves that to the CPU.
#[inline(always)]
fn above_zero(number: f32) -> f32 {
    if number > 0.0 { number } else { 0.0 }
}

/// Returns the velocity after a collision: the normal part is reflected, the tangential part is
/// slowed by friction.
#[inline(always)]
fn reflect_velocity<const D: usize>(
    step: &MotionStep,
    velocities_before: [f32; D],
    velocity: [f32; D],
    normal: [f32; D],
) -> [f32; D] {
    let (mut into, mut pull) = (0.0, 0.0);
    for axis in 0..D {
        into += velocity[axis] * normal[axis];
        pull += (velocity[axis] - velocities_before[axis]) * normal[axis];
    }
    // A velocity away from the surface is preserved.
    let (into, rest) = (-above_zero(-into), RESTING_STEPS * above_zero(-pull));
    let back = step.bounce * above_zero(-into - rest);
    let mut out = velocity;
    for axis in 0..D {
        let along = velocity[axis] - into * normal[axis];
        out[axis] = along * (1.0 - step.friction) + back * normal[axis];
    }
    out
}

#[inline(always)]
fn at<const D: usize>(lanes: &[BlockColumn; 3], i: usize) -> [f32; D] {
    let mut out = [0.0; D];
    for axis in 0..D {
        out[axis] = lanes[axis][i];
    }
    out
}

/// Pushes a particle out of a collider by `depth` along `normal`, if it is inside.
#[inline(always)]
fn resolve_penetration<const D: usize>(
    step: &MotionStep,
    i: usize,
    (inside, depth, normal): (bool, f32, [f32; D]),
    velocities_before: &[BlockColumn; 3],
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    let now = at::<D>(speed, i);
    let after = reflect_velocity::<D>(step, at::<D>(velocities_before, i), now, normal);
    for axis in 0..D {
        next[axis][i] += if inside { depth * normal[axis] } else { 0.0 };
        speed[axis][i] = if inside { after[axis] } else { now[axis] };
    }
    hit[i] |= u32::from(inside);
}

#[inline(always)]
fn plane<const D: usize>(
    step: &MotionStep,
    normal: &[f32; 3],
    distance: f32,
    velocities_before: &[BlockColumn; 3],
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    let mut direction = [0.0; D];
    direction.copy_from_slice(&normal[..D]);
    for i in 0..LANES {
        let mut height = -distance - step.radius;
        for (lane, part) in next.iter().zip(direction) {
            height += lane[i] * part;
        }
        resolve_penetration::<D>(
            step,
            i,
            (height < 0.0, -height, direction),
            velocities_before,
            next,
            speed,
            hit,
        );
    }
}

#[inline(always)]
fn sphere<const D: usize>(
    step: &MotionStep,
    middle: &[f32; 3],
    radius: f32,
    velocities_before: &[BlockColumn; 3],
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    let reach = radius + step.radius;
    for i in 0..LANES {
        let mut from = [0.0; D];
        let mut squared = 1e-12;
        for axis in 0..D {
            from[axis] = next[axis][i] - middle[axis];
            squared += from[axis] * from[axis];
        }
        let length = squared.sqrt();
        for part in &mut from {
            *part /= length;
        }
        resolve_penetration::<D>(
            step,
            i,
            (length < reach, reach - length, from),
            velocities_before,
            next,
            speed,
            hit,
        );
    }
}

#[inline(always)]
fn cuboid<const D: usize>(
    step: &MotionStep,
    (middle, extents, axes): (&[f32; 3], &[f32; 3], &[[f32; 3]; 3]),
    velocities_before: &[BlockColumn; 3],
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    for i in 0..LANES {
        let mut from = [0.0; D];
        for axis in 0..D {
            from[axis] = next[axis][i] - middle[axis];
        }
        // The particle leaves through the nearest side.
        let (mut depth, mut normal) = (f32::INFINITY, [0.0; D]);
        for side in 0..D {
            let mut along = 0.0;
            for axis in 0..D {
                along += from[axis] * axes[side][axis];
            }
            let sign = if along < 0.0 { -1.0 } else { 1.0 };
            let inside = extents[side] + step.radius - along * sign;
            let nearer = inside < depth;
            depth = if nearer { inside } else { depth };
            for axis in 0..D {
                normal[axis] = if nearer { axes[side][axis] * sign } else { normal[axis] };
            }
        }
        resolve_penetration::<D>(
            step,
            i,
            (depth > 0.0, depth, normal),
            velocities_before,
            next,
            speed,
            hit,
        );
    }
}

/// Collides the particles with a whisker, a line segment in the xy plane, as in Mick West,
/// "Multithreading Particle Systems", Game Developer, April 2006. A particle that would cross it
/// stays on its side, [`WHISKER_GAP`] away, and is reflected.
#[inline(always)]
fn whisker(
    step: &MotionStep,
    [ax, ay]: [f32; 2],
    [bx, by]: [f32; 2],
    positions: &[BlockColumn; 3],
    next: &mut [BlockColumn; 3],
    speed: &mut [BlockColumn; 3],
    hit: &mut [u32; LANES],
) {
    let (along_x, along_y) = (bx - ax, by - ay);
    let length = (along_x * along_x + along_y * along_y).sqrt();
    let (normal_x, normal_y) = (-along_y / length, along_x / length);
    // Only gravity counts as a force here, so that the result equals that of the article.
    let pull = step.gravity[0] * normal_x + step.gravity[1] * normal_y;
    let (rest_above, rest_below) = (resting_velocity(step, -pull), resting_velocity(step, pull));
    for i in 0..LANES {
        let (px, py) = (positions[0][i], positions[1][i]);
        let (move_x, move_y) = (next[0][i] - px, next[1][i] - py);
        // Intersection of the path from the old to the new position with the line, if there is one.
        let (from_x, from_y) = (ax - px, ay - py);
        let cross = move_x * along_y - move_y * along_x;
        let along_path = (from_x * along_y - from_y * along_x) / cross;
        let along_whisker = (from_x * move_y - from_y * move_x) / cross;
        let meets = (0.0..=1.0).contains(&along_path) & (0.0..=1.0).contains(&along_whisker);
        // Side from which the particle came.
        let side = if from_x * normal_x + from_y * normal_y > 0.0 { -1.0 } else { 1.0 };
        let (vx, vy) = (speed[0][i], speed[1][i]);
        let into = vx * normal_x + vy * normal_y;
        let rest = if side > 0.0 { rest_above } else { rest_below };
        let back = step.bounce * above_zero(into.abs() - rest).copysign(into);
        let brake = 1.0 - step.friction;
        let reflected = |v: f32, normal: f32| (v - into * normal) * brake - back * normal;
        let (after_x, after_y) = (reflected(vx, normal_x), reflected(vy, normal_y));
        let off = side * WHISKER_GAP;
        next[0][i] = if meets { px + move_x * along_path + normal_x * off } else { next[0][i] };
        next[1][i] = if meets { py + move_y * along_path + normal_y * off } else { next[1][i] };
        speed[0][i] = if meets { after_x } else { vx };
        speed[1][i] = if meets { after_y } else { vy };
        // Computed as a number, because the compiler does not vectorize loops that combine two
        // conditions.
        let impact = above_zero(into.abs() - IMPACT * rest);
        hit[i] |= (if meets { impact } else { 0.0 }).to_bits();
    }
}

/// Returns the velocity below which there is no impact if gravity pulls a particle into a whisker
/// by `pull` per step. It includes the velocity gained by falling through the gap.
#[inline(always)]
fn resting_velocity(step: &MotionStep, pull: f32) -> f32 {
    if pull <= 0.0 {
        return 0.0;
    }
    RESTING_STEPS * pull + (2.0 * WHISKER_GAP * pull / step.delta).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particle_block::ParticleBlock;

    /// Returns position, velocity and hit of a particle after half a second.
    fn after<const D: usize>(
        collide: StepCollider,
        position: [f32; 3],
        velocity: [f32; 3],
    ) -> ([f32; 3], [f32; 3], bool) {
        let mut block = ParticleBlock::EMPTY;
        for axis in 0..3 {
            block.position[axis][7] = position[axis];
            block.velocity[axis][7] = velocity[axis];
            block.position[axis][8] = 500.0;
        }
        let step =
            MotionStep { delta: 0.5, bounce: 1.0, collides: vec![collide], ..MotionStep::AT_REST };
        block.step::<D>(9, &step);
        assert_eq!(block.hit_mask & 1 << 8, 0, "who is far away hits nothing");
        let of = |lanes: &[BlockColumn; 3]| [0, 1, 2].map(|axis| lanes[axis][7]);
        (of(&block.position), of(&block.velocity), block.hit_mask & 1 << 7 != 0)
    }

    #[test]
    fn planes_spheres_and_boxes_reflect_particles() {
        let plane = StepCollider::Plane { normal: [0.0, 0.0, 1.0], distance: 1.0 };
        let (position, speed, hit) = after::<3>(plane, [3.0, 0.0, 1.5], [1.0, 0.0, -4.0]);
        assert!(
            hit && position == [3.5, 0.0, 1.0] && speed == [1.0, 0.0, 4.0],
            "{position:?} {speed:?}"
        );
        let sphere = StepCollider::Sphere { middle: [0.0; 3], radius: 2.0 };
        let (position, speed, hit) = after::<3>(sphere, [2.5, 0.0, 0.0], [-2.0, 0.0, 0.0]);
        assert!(
            hit && position == [2.0, 0.0, 0.0] && speed == [2.0, 0.0, 0.0],
            "{position:?} {speed:?}"
        );
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let cuboid = StepCollider::Box { middle: [0.0; 3], extents: [4.0, 1.0, 9.0], axes };
        let (position, speed, hit) = after::<2>(cuboid, [0.0, 1.5, 0.0], [1.0, -2.0, 0.0]);
        assert!(
            hit && position == [0.5, 1.0, 0.0] && speed == [1.0, 2.0, 0.0],
            "{position:?} {speed:?}"
        );
    }

    #[test]
    fn a_resting_particle_reports_no_more_hits() {
        use crate::data::Falloff;
        use crate::forces::{ForceRange, StepForce};
        const DELTA: f32 = 1.0 / 60.0;
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let sphere = StepCollider::Sphere { middle: [0.0; 3], radius: 1.0 };
        let reach = ForceRange { strength: 20.0 * DELTA, falloff: Falloff::None, fade: 0.0 };
        let drawn = vec![StepForce::Attractor { at: [0.0; 3], reach }];
        let rows = [
            (StepCollider::Plane { normal: [0.0, 1.0, 0.0], distance: 1.0 }, 9.81, vec![]),
            (sphere, 9.81, vec![]),
            (StepCollider::Box { middle: [0.0; 3], extents: [1.0; 3], axes }, 9.81, vec![]),
            (StepCollider::Whisker { from: [-9.0, 1.0], to: [9.0, 1.0] }, 9.81, vec![]),
            (sphere, 0.0, drawn),
        ];
        for (collide, down, pushes) in rows {
            for bounce in [0.0, 0.45, 0.8] {
                let (gravity, collides) = ([0.0, -down * DELTA, 0.0], vec![collide]);
                let pushes = pushes.clone();
                let step = MotionStep {
                    delta: DELTA,
                    gravity,
                    pushes,
                    collides,
                    bounce,
                    ..MotionStep::AT_REST
                };
                let mut block = ParticleBlock::EMPTY;
                block.position[1][0] = 4.0;
                let hits: Vec<usize> = (0..1200)
                    .filter(|_| {
                        block.step::<2>(1, &step);
                        block.hit_mask & 1 != 0
                    })
                    .collect();
                let few = !hits.is_empty() && hits.len() < 30 && hits[hits.len() - 1] < 600;
                let height = block.position[1][0];
                assert!(few, "{collide:?}, bounce {bounce}: {hits:?}");
                assert!((height - 1.0).abs() < 0.02, "{collide:?}, bounce {bounce}: at {height}");
            }
        }
    }

    #[test]
    fn a_whisker_blocks_from_both_sides() {
        let whisker = StepCollider::Whisker { from: [0.0, -1.0], to: [0.0, 1.0] };
        for side in [1.0, -1.0] {
            let (position, speed, hit) =
                after::<2>(whisker, [side, 0.0, 0.0], [-4.0 * side, 0.0, 0.0]);
            assert!(hit && (position[0] - 0.01 * side).abs() < 1e-6, "{position:?}");
            assert_eq!(speed[0], 4.0 * side);
        }
        let (_, speed, hit) = after::<2>(whisker, [1.0, 2.0, 0.0], [-4.0, 0.0, 0.0]);
        assert!(!hit && speed[0] == -4.0, "beyond its end there is nothing");
    }
}
