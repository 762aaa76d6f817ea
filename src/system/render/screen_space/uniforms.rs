//! The uniform of the screen-space shaders. Draws nothing.

use super::ViewSettings;
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec2, Vec3};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::shading_environment::ScreenSpaceValues;

/// Height of the sensor of the lens, in metres.
const SENSOR_HEIGHT: f32 = 0.024;

/// The uniform `screen` of screen_uniforms.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct ScreenUniform {
    /// Projection: scale of x and y, and their shear by z.
    scale_shear: [f32; 4],
    /// Offset of x and y; then 1 for an orthographic camera.
    offset: [f32; 4],
    /// Clip z is x * z + y, and clip w is z * z + w.
    depth: [f32; 4],
    /// Width and height in pixels, and 1 divided by both.
    size: [f32; 4],
    occlusion: [f32; 4],
    focus: [f32; 4],
    focus_range: [f32; 4],
    motion: [f32; 4],
    temporal: [f32; 4],
    sun: [f32; 4],
    contact: [f32; 4],
    reprojection: [[f32; 4]; 4],
}

/// The state of a view's history in this frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HistoryInputs {
    /// From clip space to that of the previous frame, both without jitter.
    pub reprojection: Mat4,
    /// From world space to clip space in this frame and in the previous one, without jitter.
    /// `None`: there is no previous frame.
    pub to_clip: Option<[Mat4; 2]>,
    /// Offset of the picture in clip space.
    pub jitter: Vec2,
    /// Share of the new picture in the history.
    pub new_share: f32,
}

impl Default for HistoryInputs {
    fn default() -> HistoryInputs {
        HistoryInputs {
            reprojection: Mat4::IDENTITY,
            to_clip: None,
            jitter: Vec2::ZERO,
            new_share: 1.0,
        }
    }
}

/// Returns true if the camera has no perspective.
pub fn is_orthographic(camera: &CameraFrame) -> bool {
    camera.projection.w_axis.w.abs() >= 0.5
}

/// Returns the parameters of the blur by a lens: the distance of the focus in metres, and the
/// radius of the blur at an infinite distance in pixels. The thin lens: Potmesil and Chakravarty,
/// "A Lens and Aperture Camera Model for Synthetic Image Generation", 1981.
pub fn lens(values: &ScreenSpaceValues, camera: &CameraFrame, height: f32) -> [f32; 2] {
    let focal = match values.depth_of_field_focal_length {
        // Half of the sensor is seen at half of the angle of view.
        0.0 => camera.projection.y_axis.y.abs() * SENSOR_HEIGHT / 2.0,
        millimetres => millimetres / 1000.0,
    };
    let distance = values.depth_of_field_distance.max(focal * 1.01).max(1e-3);
    let diameter = focal * focal / (values.depth_of_field_aperture * (distance - focal).max(1e-6));
    let radius = diameter / 2.0 / SENSOR_HEIGHT * height;
    [distance, if radius.is_finite() { radius.clamp(0.0, 1e6) } else { 0.0 }]
}

impl ScreenUniform {
    /// Returns the uniform of a view. `sun` is the direction towards the sun that casts shadows, in
    /// view space; `exposure` is the factor of the view's light.
    pub fn new(
        camera: &CameraFrame,
        values: &ScreenSpaceValues,
        settings: &ViewSettings,
        history: &HistoryInputs,
        (sun, exposure): (Vec3, f32),
    ) -> ScreenUniform {
        let jittered = Mat4::from_translation(history.jitter.extend(0.0)) * camera.projection;
        let [x, y, z, w] = jittered.to_cols_array_2d();
        let (width, height) = (settings.size.0 as f32, settings.size.1 as f32);
        let is_flat = f32::from(u8::from(is_orthographic(camera)));
        let [distance, infinite] = lens(values, camera, height);
        let ([near_blurred, near_sharp], [far_sharp, far_blurred]) =
            (values.depth_of_field_near_range, values.depth_of_field_far_range);
        let by_lens = values.depth_of_field == 1.0;
        ScreenUniform {
            scale_shear: [x[0], y[1], z[0], z[1]],
            offset: [w[0], w[1], is_flat, 0.0],
            depth: [z[2], w[2], z[3], w[3]],
            size: [width, height, 1.0 / width, 1.0 / height],
            occlusion: [
                values.ambient_occlusion_radius,
                values.ambient_occlusion_falloff,
                values.ambient_occlusion_intensity,
                if settings.half_occlusion { 2.0 } else { 1.0 },
            ],
            focus: [
                values.depth_of_field,
                values.depth_of_field_radius * height,
                settings.focus_tile as f32,
                0.0,
            ],
            focus_range: match by_lens {
                true => [distance, infinite, 0.0, 0.0],
                false => [near_blurred, near_sharp, far_sharp, far_blurred],
            },
            motion: [
                values.motion_blur_shutter,
                values.motion_blur_radius * height,
                settings.motion_tile as f32,
                0.0,
            ],
            temporal: [history.new_share, history.jitter.x, history.jitter.y, exposure],
            sun: sun.extend(values.contact_shadow_length).to_array(),
            contact: [values.contact_shadow_thickness, 0.0, 0.0, 0.0],
            reprojection: history.reprojection.to_cols_array_2d(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::projections;

    #[test]
    fn the_uniform_has_the_layout_of_the_shader() {
        assert_eq!(size_of::<ScreenUniform>(), 11 * 16 + 64);
    }

    #[test]
    fn a_lens_blurs_more_with_a_wider_aperture() {
        let camera = CameraFrame {
            view: Mat4::IDENTITY,
            projection: projections::perspective(0.7, 1.5, 0.1, 100.0),
            position: Vec3::ZERO,
            near: 0.1,
            far: 100.0,
        };
        let mut values = ScreenSpaceValues::DEFAULT;
        values.depth_of_field_focal_length = 50.0;
        values.depth_of_field_distance = 2.0;
        values.depth_of_field_aperture = 2.0;
        // 50 mm squared / (2 * 1.95 m) is 0.641 mm; half of that, of 24 mm, of 1000 pixels.
        let [distance, radius] = lens(&values, &camera, 1000.0);
        assert_eq!(distance, 2.0);
        assert!((radius - 13.35).abs() < 0.01, "{radius}");
        values.depth_of_field_aperture = 4.0;
        assert!((lens(&values, &camera, 1000.0)[1] * 2.0 - radius).abs() < 1e-3);
        // A focus inside of the lens, and a camera that sees nothing.
        values.depth_of_field_distance = 0.01;
        assert!(lens(&values, &camera, 1000.0)[1].is_finite());
        values.depth_of_field_focal_length = 0.0;
        let blind = CameraFrame { projection: Mat4::from_scale(Vec3::NAN), ..camera };
        assert_eq!(lens(&values, &blind, 1000.0)[1], 0.0);
    }
}
