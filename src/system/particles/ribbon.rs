//! Trails and ribbons: a row of points drawn as a band of quadrilaterals.

use super::block::LANES;
use super::draw::{Drawing, Skin};
use super::lanes::Lanes;
use crate::foundation::Vec3;
use crate::packet::gui::Instance;
use crate::packet::scene::Particle;

/// A point of a band.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub position: Vec3,
    /// Half the band's width there.
    pub half: f32,
    pub color: [u8; 4],
    /// From 0 at the begin to 1 at the end.
    pub along: f32,
}

/// Room that is used again.
#[derive(Default)]
pub struct Room {
    points: Vec<Point>,
    /// The points of a ribbon, each with the age of its particle.
    order: Vec<(u32, Point)>,
}

/// What bands are drawn as.
pub trait Band: Sized {
    /// The part from one point to the next, each with the direction across the band there.
    fn between(a: (&Point, Vec3), b: (&Point, Vec3), glow: f32, skin: &Skin) -> Self;
}

/// Where along its texture a band begins and ends: one that is a soft spot begins in its middle.
fn stretch_of(skin: &Skin) -> (f32, f32) {
    if skin.soft { (0.5, 1.0) } else { (0.0, 1.0) }
}

impl Band for Instance {
    fn between((a, na): (&Point, Vec3), (b, nb): (&Point, Vec3), _: f32, skin: &Skin) -> Instance {
        let [left, bottom, right, top] = skin.uv;
        let (begin, end) = stretch_of(skin);
        let v = |along: f32| top + (bottom - top) * (begin + (end - begin) * along);
        let (na, nb) = (na * a.half, nb * b.half);
        let corners = [a.position - na, a.position + na, b.position + nb, b.position - nb];
        let [p, q, r, s] = corners.map(|corner| [corner.x, corner.y]);
        Instance {
            corners: [p[0], p[1], q[0], q[1], r[0], r[1], s[0], s[1]],
            uv: [left, v(a.along), right, v(b.along)],
            color: a.color,
            paint: skin.paint,
            extra: [0.0; 2],
        }
    }
}

impl Band for Particle {
    fn between((a, _): (&Point, Vec3), (b, _): (&Point, Vec3), glow: f32, skin: &Skin) -> Particle {
        let (begin, end) = stretch_of(skin);
        let v = |along: f32| begin + (end - begin) * along;
        let half = 0.5 * (a.half + b.half);
        Particle {
            position: ((a.position + b.position) * 0.5).to_array(),
            rotation: 0.0,
            // A little longer than the way, so that no gap shows where the band bends.
            size: [half, 0.15 * half],
            color: a.color,
            glow,
            uv: [0.0, v(b.along), 1.0, v(a.along)],
            stretch: ((a.position - b.position) * 0.5).to_array(),
            reserved: 0,
        }
    }
}

/// The bands of an emitter's particles: a trail of each, or all of them as one ribbon. `each` gets
/// one after the other.
pub fn paths(drawing: &Drawing, room: &mut Room, mut each: impl FnMut(&[Point])) {
    let (emitter, look) = (drawing.emitter, drawing.look);
    let numbers = emitter.numbers();
    let (blocks, _) = emitter.used();
    let place = |p: [f32; 3]| {
        Vec3::from_array(look.rows.map(|[x, y, z, at]| x * p[0] + y * p[1] + z * p[2] + at))
    };
    let mut lanes = Lanes::EMPTY;
    let Room { points, order } = room;
    order.clear();
    for (number, block) in blocks.iter().enumerate() {
        look.compute(block, &mut lanes);
        for lane in 0..LANES.min(emitter.count - number * LANES) {
            let index = number * LANES + lane;
            let position = Vec3::from_array([0, 1, 2].map(|axis| lanes.position[axis][lane]));
            let (half, color) = (lanes.half_width[lane], lanes.color[lane]);
            let first = Point { position, half, color, along: 0.0 };
            if numbers.ribbon > 0 {
                order.push((emitter.serial.wrapping_sub(block.serial[lane]), first));
                continue;
            }
            let [begin, end] = numbers.trail_width;
            points.clear();
            points.push(Point { half: half * begin, ..first });
            let last = numbers.trail_points as f32;
            for (i, at) in emitter.trail.of(index).enumerate() {
                let along = (i + 1) as f32 / last;
                let [red, green, blue, alpha] = color;
                let alpha = (f32::from(alpha) * (1.0 - along) + 0.5) as u8;
                points.push(Point {
                    position: place(at),
                    half: half * (begin + (end - begin) * along),
                    color: [red, green, blue, alpha],
                    along,
                });
            }
            each(points);
        }
    }
    if order.len() > 1 {
        order.sort_unstable_by_key(|(age, _)| *age);
        points.clear();
        let last = (order.len() - 1) as f32;
        let numbered = order.iter().enumerate();
        points.extend(numbered.map(|(i, (_, point))| Point { along: i as f32 / last, ..*point }));
        each(points);
    }
}

/// A band as quadrilaterals.
pub fn path_quads<T: Band>(points: &[Point], glow: f32, skin: &Skin, out: &mut Vec<T>) {
    let across = |i: usize| {
        let before = points[i.saturating_sub(1)].position;
        let after = points[(i + 1).min(points.len() - 1)].position;
        let way = (after - before).normalize_or_zero();
        Vec3::new(-way.y, way.x, 0.0)
    };
    for i in 1..points.len() {
        let (a, b) = (&points[i - 1], &points[i]);
        if a.position.distance_squared(b.position) > 1e-10 {
            out.push(T::between((a, across(i - 1)), (b, across(i)), glow, skin));
        }
    }
}
