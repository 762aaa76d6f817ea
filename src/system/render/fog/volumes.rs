//! The fog volumes of a view: their choice and their uniforms. Pure arithmetic.

use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::fog_volume::{FogShape, FogVolumeFrame, VIEW_FOG_VOLUMES_MAX};
use engine_frame_packet::scene::DrawTransform;

/// The fade of a volume without a blend distance.
const SHARP: f32 = 1e6;
/// The highest density per metre, and the brightest light of fog.
const DENSITY_MAX: f32 = 10.0;
const EMISSION_MAX: f32 = 1e4;

/// A fog volume, with the layout of `FogVolume` in fog_inputs.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct FogVolumeUniform {
    /// Rows of the transform from world space to the cube between -1 and 1.
    pub to_box: [[f32; 4]; 3],
    /// Part of the light that it scatters; the last is the density.
    pub color: [f32; 4],
    /// Light of its own; the last is 1 for a sphere.
    pub emission: [f32; 4],
    /// How fast it fades in from each pair of sides, and from the surface of a sphere.
    pub fade: [f32; 4],
}

fn matrix_of(DrawTransform([x, y, z]): &DrawTransform) -> Mat4 {
    let rows = [Vec4::from_array(*x), Vec4::from_array(*y), Vec4::from_array(*z), Vec4::W];
    Mat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose()
}

/// Returns half the lengths of a volume's box along its axes.
fn half_sizes(pose: &Mat4) -> [f32; 3] {
    [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.truncate().length())
}

/// Returns the uniform of a volume, or `None` if it has no extent or no fog, or if its numbers are
/// not finite.
fn uniform_of(volume: &FogVolumeFrame) -> Option<FogVolumeUniform> {
    let pose = matrix_of(&volume.pose);
    let to_box = pose.inverse();
    let numbers = [volume.density, volume.blend_distance];
    let all = numbers.iter().chain(&volume.color).chain(&volume.emission);
    let is_finite = pose.is_finite()
        && to_box.is_finite()
        && pose.determinant().abs() > f32::MIN_POSITIVE
        && { all }.all(|number| number.is_finite());
    if !is_finite || volume.density <= 0.0 {
        return None;
    }
    let sizes = half_sizes(&pose);
    let fade = |size: f32| match volume.blend_distance.max(0.0) {
        0.0 => SHARP,
        blend => (size / blend).clamp(1e-6, SHARP),
    };
    let [red, green, blue] = volume.color.map(|part| part.clamp(0.0, 1.0));
    let [own_red, own_green, own_blue] = volume.emission.map(|part| part.clamp(0.0, EMISSION_MAX));
    let is_sphere = volume.shape == FogShape::Sphere;
    let rows = to_box.transpose().to_cols_array_2d();
    let least = sizes.into_iter().fold(f32::INFINITY, f32::min);
    Some(FogVolumeUniform {
        to_box: [rows[0], rows[1], rows[2]],
        color: [red, green, blue, volume.density.min(DENSITY_MAX)],
        emission: [own_red, own_green, own_blue, f32::from(u8::from(is_sphere))],
        fade: [fade(sizes[0]), fade(sizes[1]), fade(sizes[2]), fade(least)],
    })
}

/// Returns the distance from a point to the ball around a volume's box.
fn distance(volume: &FogVolumeFrame, eye: Vec3) -> f32 {
    let pose = matrix_of(&volume.pose);
    let radius = half_sizes(&pose).iter().map(|size| size * size).sum::<f32>().sqrt();
    (pose.w_axis.truncate().distance(eye) - radius).max(0.0)
}

/// Returns true if a view with fog up to a distance shows one of the volumes.
pub fn is_any_near(volumes: &[FogVolumeFrame], eye: Vec3, reach: f32) -> bool {
    volumes.iter().any(|it| it.density > 0.0 && distance(it, eye) < reach)
}

/// Chooses the volumes of a view with fog up to a distance: those that are nearest to the camera.
pub fn choose(volumes: &[FogVolumeFrame], eye: Vec3, reach: f32) -> Vec<FogVolumeUniform> {
    let near = volumes.iter().filter_map(|volume| {
        let distance = distance(volume, eye);
        let uniform = uniform_of(volume).filter(|_| distance < reach)?;
        Some((distance, uniform))
    });
    let mut all: Vec<_> = near.collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.truncate(VIEW_FOG_VOLUMES_MAX);
    all.into_iter().map(|(_, uniform)| uniform).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(x: f32) -> FogVolumeFrame {
        let pose = Mat4::from_translation(Vec3::X * x) * Mat4::from_scale(Vec3::splat(2.0));
        FogVolumeFrame {
            pose: DrawTransform::of(&pose),
            shape: FogShape::Sphere,
            density: 0.5,
            color: [1.0; 3],
            emission: [0.0; 3],
            blend_distance: 0.5,
        }
    }

    #[test]
    fn the_nearest_volumes_are_chosen_up_to_the_limit() {
        let all: Vec<_> = (0..40).rev().map(|i| ball(10.0 * i as f32)).collect();
        let found = choose(&all, Vec3::ZERO, 1e4);
        assert_eq!(found.len(), VIEW_FOG_VOLUMES_MAX);
        // The last column of the first row is the offset of the centre.
        assert_eq!((found[0].to_box[0][3], found[31].to_box[0][3]), (0.0, -155.0));
        assert_eq!(choose(&all, Vec3::ZERO, 15.0).len(), 2);
        assert!(
            is_any_near(&all[30..], Vec3::ZERO, 1.0) && !is_any_near(&all, -Vec3::X * 99.0, 9.0)
        );
    }

    #[test]
    fn a_volume_fades_in_over_its_blend_distance() {
        let found = choose(&[ball(0.0)], Vec3::ZERO, 9.0)[0];
        assert_eq!(found.fade, [4.0; 4]);
        assert_eq!((found.emission[3], found.color), (1.0, [1.0, 1.0, 1.0, 0.5]));
        let sharp = FogVolumeFrame { blend_distance: 0.0, ..ball(0.0) };
        assert_eq!(choose(&[sharp], Vec3::ZERO, 9.0)[0].fade, [SHARP; 4]);
    }

    #[test]
    fn volumes_with_wrong_numbers_are_left_out() {
        let flat = DrawTransform::of(&Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0)));
        let lost = DrawTransform::at(Vec3::NAN);
        let good = ball(0.0);
        for wrong in [
            FogVolumeFrame { pose: flat, ..good },
            FogVolumeFrame { pose: lost, ..good },
            FogVolumeFrame { density: f32::NAN, ..good },
            FogVolumeFrame { density: f32::INFINITY, ..good },
            FogVolumeFrame { density: 0.0, ..good },
            FogVolumeFrame { color: [f32::NAN; 3], ..good },
            FogVolumeFrame { emission: [f32::INFINITY; 3], ..good },
            FogVolumeFrame { blend_distance: f32::NAN, ..good },
        ] {
            assert_eq!(choose(&[wrong], Vec3::ZERO, 1e9).len(), 0, "{wrong:?}");
        }
        let loud = FogVolumeFrame { density: 1e30, emission: [1e30; 3], color: [9.0; 3], ..good };
        let found = choose(&[loud], Vec3::ZERO, 9.0)[0];
        assert_eq!((found.color, found.emission[0]), ([1.0, 1.0, 1.0, 10.0], 1e4));
    }
}
