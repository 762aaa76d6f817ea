//! The reflection probes of a view: their choice, their order and their uniforms. Pure arithmetic.

use super::super::scene::ProbeUniform;
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::reflection_probe::{ProbeFrame, VIEW_PROBES_MAX};
use engine_frame_packet::scene::DrawTransform;

/// The fade of a probe without a blend distance.
const SHARP: f32 = 1e6;

/// A chosen probe of a view. The layer of its maps is not yet known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChosenProbe {
    /// Index in the scene.
    pub index: usize,
    pub uniform: ProbeUniform,
}

fn matrix_of(DrawTransform([x, y, z]): &DrawTransform) -> Mat4 {
    let rows = [Vec4::from_array(*x), Vec4::from_array(*y), Vec4::from_array(*z), Vec4::W];
    Mat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose()
}

/// Returns the uniform of a probe, or `None` if its box has no volume or its numbers are not
/// finite.
fn uniform_of(probe: &ProbeFrame) -> Option<ProbeUniform> {
    let pose = matrix_of(&probe.pose);
    let to_box = pose.inverse();
    let numbers = [probe.blend_distance, probe.intensity];
    let is_finite = pose.is_finite()
        && to_box.is_finite()
        && pose.determinant().abs() > f32::MIN_POSITIVE
        && probe.position.is_finite()
        && numbers.iter().all(|number| number.is_finite());
    if !is_finite {
        return None;
    }
    let sizes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().length());
    let blend = probe.blend_distance.max(0.0);
    let fade = sizes.map(|size| if blend > 0.0 { (size / blend).clamp(1.0, SHARP) } else { SHARP });
    let rows = to_box.transpose().to_cols_array_2d();
    Some(ProbeUniform {
        to_box: [rows[0], rows[1], rows[2]],
        position: probe.position.extend(0.0).to_array(),
        fade: [fade[0], fade[1], fade[2], probe.intensity.clamp(0.0, 1000.0)],
    })
}

/// Returns the distance from a point to the ball around a probe's box, and the volume of the box.
fn distance_and_volume(probe: &ProbeFrame, eye: Vec3) -> (f32, f32) {
    let pose = matrix_of(&probe.pose);
    let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate());
    let radius = axes.iter().map(|axis| axis.length_squared()).sum::<f32>().sqrt();
    let distance = (pose.w_axis.truncate().distance(eye) - radius).max(0.0);
    (distance, pose.determinant().abs())
}

/// Chooses the probes of a view: those that are nearest to the camera. They are in the order in
/// which they cover each other.
pub fn choose(probes: &[ProbeFrame], eye: Vec3) -> Vec<ChosenProbe> {
    let mut all: Vec<_> = probes
        .iter()
        .enumerate()
        .filter_map(|(index, probe)| {
            let uniform = uniform_of(probe)?;
            let (distance, volume) = distance_and_volume(probe, eye);
            Some((distance, volume, probe.priority, ChosenProbe { index, uniform }))
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(&a.2)).then(a.1.total_cmp(&b.1)));
    all.truncate(VIEW_PROBES_MAX);
    all.sort_by(|a, b| {
        let order = b.2.cmp(&a.2).then(a.1.total_cmp(&b.1));
        order.then(a.3.index.cmp(&b.3.index))
    });
    all.into_iter().map(|(.., chosen)| chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_frame_packet::texture::TextureSlot;

    fn probe(x: f32, size: f32, priority: i32) -> ProbeFrame {
        let pose = Mat4::from_translation(Vec3::X * x) * Mat4::from_scale(Vec3::splat(size));
        ProbeFrame {
            pose: DrawTransform::of(&pose),
            position: Vec3::X * x,
            blend_distance: 0.5,
            priority,
            intensity: 1.0,
            texture: TextureSlot(1),
        }
    }

    fn order(probes: &[ProbeFrame]) -> Vec<usize> {
        choose(probes, Vec3::ZERO).iter().map(|chosen| chosen.index).collect()
    }

    #[test]
    fn higher_priorities_and_smaller_boxes_come_first() {
        assert_eq!(
            order(&[probe(0.0, 9.0, 0), probe(0.0, 3.0, 0), probe(0.0, 50.0, 1)]),
            [2, 1, 0]
        );
        assert_eq!(order(&[]), [0usize; 0]);
    }

    #[test]
    fn the_nearest_probes_are_chosen() {
        let many: Vec<_> = (0..100).rev().map(|i| probe(i as f32 * 10.0, 2.0, 0)).collect();
        let mut found = order(&many);
        found.sort_unstable();
        assert_eq!(found, (100 - VIEW_PROBES_MAX..100).collect::<Vec<_>>());
    }

    #[test]
    fn boxes_without_volume_or_finite_numbers_are_left_out() {
        let flat = ProbeFrame { pose: DrawTransform([[0.0; 4]; 3]), ..probe(0.0, 1.0, 0) };
        let broken = ProbeFrame { blend_distance: f32::NAN, ..probe(0.0, 1.0, 0) };
        let endless = ProbeFrame { position: Vec3::splat(f32::INFINITY), ..probe(0.0, 1.0, 0) };
        assert_eq!(
            order(&[flat, broken, endless, probe(0.0, f32::NAN, 0), probe(1.0, 1.0, 0)]),
            [4]
        );
    }

    #[test]
    fn a_probe_is_full_behind_its_blend_distance() {
        let chosen = choose(&[probe(5.0, 4.0, 0)], Vec3::ZERO);
        let ProbeUniform { to_box, fade, .. } = chosen[0].uniform;
        // A metre from the side at x = 9.
        let at = to_box[0][0] * 8.0 + to_box[0][3];
        assert!((at - 0.75).abs() < 1e-6, "{at}");
        assert_eq!(fade[0], 8.0);
        let sharp = ProbeFrame { blend_distance: 0.0, ..probe(5.0, 4.0, 0) };
        assert_eq!(choose(&[sharp], Vec3::ZERO)[0].uniform.fade[0], SHARP);
    }
}
