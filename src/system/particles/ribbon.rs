//! Trails and ribbons: rows of points drawn as bands of quads.

use super::appearance::Appearance;
use super::draw::{DrawStyle, ParticleTexture};
use super::particle_block::LANES;
use engine_foundation::Vec3;
use engine_frame_packet::gui::QuadInstance;
use engine_frame_packet::scene::ParticleQuad;

/// A point of a band.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RibbonPoint {
    pub position: Vec3,
    /// Half the width of the band at the point.
    pub half: f32,
    pub color: [u8; 4],
    /// Position along the band, from 0 at the beginning to 1 at the end.
    pub along: f32,
}

/// Buffers that are reused for every band.
#[derive(Default)]
pub struct RibbonScratch {
    points: Vec<RibbonPoint>,
    /// Points of a ribbon, each with the age of its particle.
    order: Vec<(u32, RibbonPoint)>,
}

/// Packet representation of a segment of a band.
pub trait RibbonVertex: Sized {
    /// Converts the segment between two points. Each point has the direction across the band.
    fn between(
        a: (&RibbonPoint, Vec3),
        b: (&RibbonPoint, Vec3),
        glow: f32,
        texture: &ParticleTexture,
    ) -> Self;
}

/// Returns the start and the end of a band along its texture. A soft spot starts at its center.
fn stretch_of(texture: &ParticleTexture) -> (f32, f32) {
    if texture.soft { (0.5, 1.0) } else { (0.0, 1.0) }
}

impl RibbonVertex for QuadInstance {
    fn between(
        (a, na): (&RibbonPoint, Vec3),
        (b, nb): (&RibbonPoint, Vec3),
        _: f32,
        texture: &ParticleTexture,
    ) -> QuadInstance {
        let [left, bottom, right, top] = texture.uv;
        let (begin, end) = stretch_of(texture);
        let v = |along: f32| top + (bottom - top) * (begin + (end - begin) * along);
        let (na, nb) = (na * a.half, nb * b.half);
        let corners = [a.position - na, a.position + na, b.position + nb, b.position - nb];
        let [p, q, r, s] = corners.map(|corner| [corner.x, corner.y]);
        QuadInstance {
            corners: [p[0], p[1], q[0], q[1], r[0], r[1], s[0], s[1]],
            uv: [left, v(a.along), right, v(b.along)],
            color: a.color,
            paint: texture.paint,
            extra: [0.0; 2],
        }
    }
}

impl RibbonVertex for ParticleQuad {
    fn between(
        (a, _): (&RibbonPoint, Vec3),
        (b, _): (&RibbonPoint, Vec3),
        glow: f32,
        texture: &ParticleTexture,
    ) -> ParticleQuad {
        let (begin, end) = stretch_of(texture);
        let v = |along: f32| begin + (end - begin) * along;
        let half = 0.5 * (a.half + b.half);
        ParticleQuad {
            position: ((a.position + b.position) * 0.5).to_array(),
            rotation: 0.0,
            // Slightly longer than the segment, so that no gap shows where the band bends.
            size: [half, 0.15 * half],
            color: a.color,
            glow,
            uv: [0.0, v(b.along), 1.0, v(a.along)],
            stretch: ((a.position - b.position) * 0.5).to_array(),
            reserved: 0,
        }
    }
}

/// Calls `each` with each band of an emitter: one trail per particle, or one ribbon of all
/// particles.
pub fn paths(drawing: &DrawStyle, room: &mut RibbonScratch, mut each: impl FnMut(&[RibbonPoint])) {
    let (emitter, look) = (drawing.emitter, drawing.appearance);
    let numbers = emitter.numbers();
    let (blocks, _) = emitter.used();
    let to_view = |p: [f32; 3]| {
        Vec3::from_array(look.rows.map(|[x, y, z, at]| x * p[0] + y * p[1] + z * p[2] + at))
    };
    let mut lanes = Appearance::EMPTY;
    let RibbonScratch { points, order } = room;
    order.clear();
    for (number, block) in blocks.iter().enumerate() {
        look.compute(block, &mut lanes);
        for lane in 0..LANES.min(emitter.count - number * LANES) {
            let index = number * LANES + lane;
            let position = Vec3::from_array([0, 1, 2].map(|axis| lanes.position[axis][lane]));
            let (half, color) = (lanes.half_width[lane], lanes.color[lane]);
            let first = RibbonPoint { position, half, color, along: 0.0 };
            if numbers.ribbon > 0 {
                order.push((emitter.serial.wrapping_sub(block.serial[lane]), first));
                continue;
            }
            let [begin, end] = numbers.trail_width;
            points.clear();
            points.push(RibbonPoint { half: half * begin, ..first });
            let last = numbers.trail_points as f32;
            for (i, at) in emitter.trail.of(index).enumerate() {
                let along = (i + 1) as f32 / last;
                let [red, green, blue, alpha] = color;
                let alpha = (f32::from(alpha) * (1.0 - along) + 0.5) as u8;
                points.push(RibbonPoint {
                    position: to_view(at),
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
        points.extend(
            numbered.map(|(i, (_, point))| RibbonPoint { along: i as f32 / last, ..*point }),
        );
        each(points);
    }
}

/// Adds a band as quads.
pub fn path_quads<T: RibbonVertex>(
    points: &[RibbonPoint],
    glow: f32,
    texture: &ParticleTexture,
    out: &mut Vec<T>,
) {
    let across = |i: usize| {
        let before = points[i.saturating_sub(1)].position;
        let after = points[(i + 1).min(points.len() - 1)].position;
        let direction = (after - before).normalize_or_zero();
        Vec3::new(-direction.y, direction.x, 0.0)
    };
    for i in 1..points.len() {
        let (a, b) = (&points[i - 1], &points[i]);
        if a.position.distance_squared(b.position) > 1e-10 {
            out.push(T::between((a, across(i - 1)), (b, across(i)), glow, texture));
        }
    }
}
