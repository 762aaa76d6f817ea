//! What particles of a block bounce off: planes, spheres, boxes, and whiskers, which are lines in a
//! plane. Loops over arrays of known length without branches.
//!
//! What lies on something is drawn into it again and again, and put out of it. Were that thrown
//! back, it would bounce for ever: a particle has gone in for two steps at most when that is found
//! (it moves by the velocity that it had before the step's forces), so what forces add in two steps
//! is taken off the velocity of an impact.

use super::block::{LANES, Lane, Step};

/// How far from a whisker a particle is put that hit it, in units of its space.
const WHISKER_GAP: f32 = 0.01;

/// What the forces of so many steps add to a velocity is no impact.
const REST_STEPS: f32 = 2.0;

/// What crosses a whisker faster than that by this factor hits it: sums are rounded.
const IMPACT: f32 = 1.25;

/// A collider in one step, in the space in which the particles move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Collide {
    Plane {
        normal: [f32; 3],
        distance: f32,
    },
    Sphere {
        middle: [f32; 3],
        radius: f32,
    },
    /// `axes`: the box's own, as rows.
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

/// Has every collider stop the way from `old` to `next`; `before` is what velocities were before
/// the step's forces, and `hit` is not 0 any more where a particle was stopped.
#[inline(always)]
pub fn hit_all<const D: usize>(
    step: &Step,
    (old, before): (&[Lane; 3], &[Lane; 3]),
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
    hit: &mut [u32; LANES],
) {
    for collide in &step.collides {
        match collide {
            Collide::Plane { normal, distance } => {
                plane::<D>(step, normal, *distance, before, next, speed, hit);
            }
            Collide::Sphere { middle, radius } => {
                sphere::<D>(step, middle, *radius, before, next, speed, hit);
            }
            Collide::Box { middle, extents, axes } => {
                cuboid::<D>(step, (middle, extents, axes), before, next, speed, hit);
            }
            Collide::Whisker { from, to } => whisker(step, *from, *to, old, next, speed, hit),
        }
    }
}

/// The number, or zero where it is below: of two zeros always the same, which `f32::max` leaves to
/// the processor.
#[inline(always)]
fn above_zero(number: f32) -> f32 {
    if number > 0.0 { number } else { 0.0 }
}

/// A velocity after it met a surface: what goes into it is thrown back, what goes along is braked.
#[inline(always)]
fn bounced<const D: usize>(
    step: &Step,
    before: [f32; D],
    velocity: [f32; D],
    normal: [f32; D],
) -> [f32; D] {
    let (mut into, mut pull) = (0.0, 0.0);
    for axis in 0..D {
        into += velocity[axis] * normal[axis];
        pull += (velocity[axis] - before[axis]) * normal[axis];
    }
    // What goes away from the surface already is left alone.
    let (into, rest) = (-above_zero(-into), REST_STEPS * above_zero(-pull));
    let back = step.bounce * above_zero(-into - rest);
    let mut out = velocity;
    for axis in 0..D {
        let along = velocity[axis] - into * normal[axis];
        out[axis] = along * (1.0 - step.friction) + back * normal[axis];
    }
    out
}

#[inline(always)]
fn at<const D: usize>(lanes: &[Lane; 3], i: usize) -> [f32; D] {
    let mut out = [0.0; D];
    for axis in 0..D {
        out[axis] = lanes[axis][i];
    }
    out
}

/// Puts a particle out of something by `depth` along `normal`, where it is in it.
#[inline(always)]
fn put_out<const D: usize>(
    step: &Step,
    i: usize,
    (inside, depth, normal): (bool, f32, [f32; D]),
    before: &[Lane; 3],
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
    hit: &mut [u32; LANES],
) {
    let now = at::<D>(speed, i);
    let after = bounced::<D>(step, at::<D>(before, i), now, normal);
    for axis in 0..D {
        next[axis][i] += if inside { depth * normal[axis] } else { 0.0 };
        speed[axis][i] = if inside { after[axis] } else { now[axis] };
    }
    hit[i] |= u32::from(inside);
}

#[inline(always)]
fn plane<const D: usize>(
    step: &Step,
    normal: &[f32; 3],
    distance: f32,
    before: &[Lane; 3],
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
    hit: &mut [u32; LANES],
) {
    let mut direction = [0.0; D];
    direction.copy_from_slice(&normal[..D]);
    for i in 0..LANES {
        let mut height = -distance - step.radius;
        for (lane, part) in next.iter().zip(direction) {
            height += lane[i] * part;
        }
        put_out::<D>(step, i, (height < 0.0, -height, direction), before, next, speed, hit);
    }
}

#[inline(always)]
fn sphere<const D: usize>(
    step: &Step,
    middle: &[f32; 3],
    radius: f32,
    before: &[Lane; 3],
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
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
        put_out::<D>(step, i, (length < reach, reach - length, from), before, next, speed, hit);
    }
}

#[inline(always)]
fn cuboid<const D: usize>(
    step: &Step,
    (middle, extents, axes): (&[f32; 3], &[f32; 3], &[[f32; 3]; 3]),
    before: &[Lane; 3],
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
    hit: &mut [u32; LANES],
) {
    for i in 0..LANES {
        let mut from = [0.0; D];
        for axis in 0..D {
            from[axis] = next[axis][i] - middle[axis];
        }
        // Out of the side that is nearest.
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
        put_out::<D>(step, i, (depth > 0.0, depth, normal), before, next, speed, hit);
    }
}

/// A line in the plane of x and y, as in Niklas Frykholm's particle example (Bitsquid, 2009): what
/// crosses it stays on its side, [`WHISKER_GAP`] away, and is thrown back.
#[inline(always)]
fn whisker(
    step: &Step,
    [ax, ay]: [f32; 2],
    [bx, by]: [f32; 2],
    old: &[Lane; 3],
    next: &mut [Lane; 3],
    speed: &mut [Lane; 3],
    hit: &mut [u32; LANES],
) {
    let (along_x, along_y) = (bx - ax, by - ay);
    let length = (along_x * along_x + along_y * along_y).sqrt();
    let (normal_x, normal_y) = (-along_y / length, along_x / length);
    // Of forces only gravity counts here: the update of the example is exact.
    let pull = step.gravity[0] * normal_x + step.gravity[1] * normal_y;
    let (rest_above, rest_below) = (rest_at_gap(step, -pull), rest_at_gap(step, pull));
    for i in 0..LANES {
        let (px, py) = (old[0][i], old[1][i]);
        let (move_x, move_y) = (next[0][i] - px, next[1][i] - py);
        // Where the way from the old place to the new one meets the line, if it does.
        let (from_x, from_y) = (ax - px, ay - py);
        let cross = move_x * along_y - move_y * along_x;
        let way = (from_x * along_y - from_y * along_x) / cross;
        let place = (from_x * move_y - from_y * move_x) / cross;
        let meets = (0.0..=1.0).contains(&way) & (0.0..=1.0).contains(&place);
        // The side from which it came.
        let side = if from_x * normal_x + from_y * normal_y > 0.0 { -1.0 } else { 1.0 };
        let (vx, vy) = (speed[0][i], speed[1][i]);
        let into = vx * normal_x + vy * normal_y;
        let rest = if side > 0.0 { rest_above } else { rest_below };
        let back = step.bounce * above_zero(into.abs() - rest).copysign(into);
        let brake = 1.0 - step.friction;
        let thrown = |v: f32, normal: f32| (v - into * normal) * brake - back * normal;
        let (after_x, after_y) = (thrown(vx, normal_x), thrown(vy, normal_y));
        let off = side * WHISKER_GAP;
        next[0][i] = if meets { px + move_x * way + normal_x * off } else { next[0][i] };
        next[1][i] = if meets { py + move_y * way + normal_y * off } else { next[1][i] };
        speed[0][i] = if meets { after_x } else { vx };
        speed[1][i] = if meets { after_y } else { vy };
        // A number: loops over the truth of both are not made wide.
        let impact = above_zero(into.abs() - IMPACT * rest);
        hit[i] |= (if meets { impact } else { 0.0 }).to_bits();
    }
}

/// The velocity that is no impact where gravity draws a particle by `pull` a step into a whisker:
/// there it also falls through the gap.
#[inline(always)]
fn rest_at_gap(step: &Step, pull: f32) -> f32 {
    if pull <= 0.0 {
        return 0.0;
    }
    REST_STEPS * pull + (2.0 * WHISKER_GAP * pull / step.delta).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::particles::block::Block;

    /// A particle at `place` with `velocity`, after half a second.
    fn after<const D: usize>(
        collide: Collide,
        place: [f32; 3],
        velocity: [f32; 3],
    ) -> ([f32; 3], [f32; 3], bool) {
        let mut block = Block::EMPTY;
        for axis in 0..3 {
            block.position[axis][7] = place[axis];
            block.velocity[axis][7] = velocity[axis];
            block.position[axis][8] = 500.0;
        }
        let step = Step { delta: 0.5, bounce: 1.0, collides: vec![collide], ..Step::STILL };
        block.step::<D>(9, &step);
        assert_eq!(block.hit & 1 << 8, 0, "who is far away hits nothing");
        let of = |lanes: &[Lane; 3]| [0, 1, 2].map(|axis| lanes[axis][7]);
        (of(&block.position), of(&block.velocity), block.hit & 1 << 7 != 0)
    }

    #[test]
    fn planes_spheres_and_boxes_throw_back() {
        let plane = Collide::Plane { normal: [0.0, 0.0, 1.0], distance: 1.0 };
        let (place, speed, hit) = after::<3>(plane, [3.0, 0.0, 1.5], [1.0, 0.0, -4.0]);
        assert!(hit && place == [3.5, 0.0, 1.0] && speed == [1.0, 0.0, 4.0], "{place:?} {speed:?}");
        let sphere = Collide::Sphere { middle: [0.0; 3], radius: 2.0 };
        let (place, speed, hit) = after::<3>(sphere, [2.5, 0.0, 0.0], [-2.0, 0.0, 0.0]);
        assert!(hit && place == [2.0, 0.0, 0.0] && speed == [2.0, 0.0, 0.0], "{place:?} {speed:?}");
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let cuboid = Collide::Box { middle: [0.0; 3], extents: [4.0, 1.0, 9.0], axes };
        let (place, speed, hit) = after::<2>(cuboid, [0.0, 1.5, 0.0], [1.0, -2.0, 0.0]);
        assert!(hit && place == [0.5, 1.0, 0.0] && speed == [1.0, 2.0, 0.0], "{place:?} {speed:?}");
    }

    #[test]
    fn what_comes_to_lie_on_something_hits_it_no_more() {
        use crate::system::particles::definition::Falloff;
        use crate::system::particles::force::{Push, Reach};
        const DELTA: f32 = 1.0 / 60.0;
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let sphere = Collide::Sphere { middle: [0.0; 3], radius: 1.0 };
        let reach = Reach { strength: 20.0 * DELTA, falloff: Falloff::None, fade: 0.0 };
        let drawn = vec![Push::Attractor { at: [0.0; 3], reach }];
        let rows = [
            (Collide::Plane { normal: [0.0, 1.0, 0.0], distance: 1.0 }, 9.81, vec![]),
            (sphere, 9.81, vec![]),
            (Collide::Box { middle: [0.0; 3], extents: [1.0; 3], axes }, 9.81, vec![]),
            (Collide::Whisker { from: [-9.0, 1.0], to: [9.0, 1.0] }, 9.81, vec![]),
            (sphere, 0.0, drawn),
        ];
        for (collide, down, pushes) in rows {
            for bounce in [0.0, 0.45, 0.8] {
                let (gravity, collides) = ([0.0, -down * DELTA, 0.0], vec![collide]);
                let pushes = pushes.clone();
                let step = Step { delta: DELTA, gravity, pushes, collides, bounce, ..Step::STILL };
                let mut block = Block::EMPTY;
                block.position[1][0] = 4.0;
                let hits: Vec<usize> = (0..1200)
                    .filter(|_| {
                        block.step::<2>(1, &step);
                        block.hit & 1 != 0
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
    fn a_whisker_is_crossed_from_neither_side() {
        let whisker = Collide::Whisker { from: [0.0, -1.0], to: [0.0, 1.0] };
        for side in [1.0, -1.0] {
            let (place, speed, hit) =
                after::<2>(whisker, [side, 0.0, 0.0], [-4.0 * side, 0.0, 0.0]);
            assert!(hit && (place[0] - 0.01 * side).abs() < 1e-6, "{place:?}");
            assert_eq!(speed[0], 4.0 * side);
        }
        let (_, speed, hit) = after::<2>(whisker, [1.0, 2.0, 0.0], [-4.0, 0.0, 0.0]);
        assert!(!hit && speed[0] == -4.0, "beyond its end there is nothing");
    }
}
