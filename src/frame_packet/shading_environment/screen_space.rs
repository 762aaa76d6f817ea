//! The values of effects that are computed from the depth of the picture: ambient occlusion,
//! contact shadows, depth of field, motion blur and temporal anti-aliasing.

use super::value::shading_values;

shading_values! {
    /// Depth-based effects. By default, all of them are off.
    pub struct ScreenSpaceValues {
        ambient_occlusion_intensity: Scalar, [0.0], 0.0..=4.0,
            "Strength of the ambient occlusion: 0 is off, 1 is physically plausible.";
        ambient_occlusion_radius: Scalar, [0.5], 0.01..=50.0,
            "Distance in metres up to which surfaces darken each other.";
        ambient_occlusion_falloff: Scalar, [0.6], 0.01..=1.0,
            "Outer share of the radius over which the ambient occlusion fades.";
        ambient_occlusion_resolution: Choice(["half", "full"]),
            "Resolution of the ambient occlusion.";
        contact_shadow_length: Scalar, [0.0], 0.0..=5.0,
            "Length in metres of the contact shadows of the sun; 0 is off.";
        contact_shadow_thickness: Scalar, [0.1], 0.001..=10.0,
            "Assumed thickness in metres of the surfaces that cast contact shadows.";
        depth_of_field: Choice(["off", "lens", "ranges"]),
            "Depth of field: off, as a lens blurs, or by ranges of distances.";
        depth_of_field_distance: Scalar, [10.0], 0.01..=100000.0,
            "Distance in metres that the lens is focused on.";
        depth_of_field_aperture: Scalar, [2.8], 0.1..=64.0,
            "F-number of the lens: smaller numbers blur more.";
        depth_of_field_focal_length: Scalar, [0.0], 0.0..=1000.0,
            "Focal length in millimetres, for a sensor of 24 mm; 0 follows from the camera.";
        depth_of_field_near_range: Vector2, [0.0, 0.0], 0.0..=100000.0,
            "Distances in metres at which the foreground is fully blurred, and sharp.";
        depth_of_field_far_range: Vector2, [20.0, 60.0], 0.0..=100000.0,
            "Distances in metres at which the background is sharp, and fully blurred.";
        depth_of_field_radius: Scalar, [0.015], 0.0..=0.05,
            "Largest radius of the blur, as a fraction of the height of the view.";
        motion_blur_shutter: Scalar, [0.0], 0.0..=1.0,
            "Share of a frame during which the shutter is open: 0 is off, 0.5 is usual in films.";
        motion_blur_radius: Scalar, [0.03], 0.0..=0.1,
            "Largest length of the motion blur, as a fraction of the height of the view.";
        temporal_anti_aliasing: Choice(["off", "on"]),
            "Smooth edges from the pictures of several frames.";
    }
}

impl ScreenSpaceValues {
    /// Returns true if an effect needs the motion of each pixel.
    pub fn has_motion(&self) -> bool {
        self.temporal_anti_aliasing > 0.0 || self.has_motion_blur()
    }

    pub fn has_motion_blur(&self) -> bool {
        self.motion_blur_shutter > 0.0 && self.motion_blur_radius > 0.0
    }
}
