//! Debug views: values of surfaces, or images of the renderer, that are shown instead of light.

/// A debug view. Its number is the one in the shaders (forward/debug_values.wgsl).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DebugView {
    /// The usual picture.
    #[default]
    None,
    /// The base color of surfaces.
    Albedo,
    /// Their normals in world space, with normal textures.
    Normals,
    Roughness,
    Metallic,
    /// The part of the sky's light that reaches surfaces: by the material, and by the screen-space
    /// effect.
    Occlusion,
    /// The mip level of the base color's texture.
    MipLevel,
    /// The number of omni and spot lights in each cluster.
    LightCount,
    /// The shadow maps of the sun by distance.
    Cascades,
    /// How often each pixel is shaded.
    Overdraw,
    /// The shadow maps of omni and spot lights.
    ShadowAtlas,
    /// The motion of each pixel since the previous frame.
    MotionVectors,
}

impl DebugView {
    /// All debug views with their names, by their numbers.
    pub const NAMES: [(DebugView, &'static str); 12] = [
        (DebugView::None, "none"),
        (DebugView::Albedo, "albedo"),
        (DebugView::Normals, "normals"),
        (DebugView::Roughness, "roughness"),
        (DebugView::Metallic, "metallic"),
        (DebugView::Occlusion, "occlusion"),
        (DebugView::MipLevel, "mip_level"),
        (DebugView::LightCount, "light_count"),
        (DebugView::Cascades, "cascades"),
        (DebugView::Overdraw, "overdraw"),
        (DebugView::ShadowAtlas, "shadow_atlas"),
        (DebugView::MotionVectors, "motion_vectors"),
    ];

    /// Returns the debug view with a name.
    pub fn by_name(name: &str) -> Option<DebugView> {
        DebugView::NAMES.iter().find(|(_, known)| *known == name).map(|(view, _)| *view)
    }

    pub fn name(self) -> &'static str {
        DebugView::NAMES[self as usize].1
    }

    /// Returns true if something else than light is shown.
    pub fn is_on(self) -> bool {
        self != DebugView::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_views_are_found_by_their_names() {
        for (number, (view, name)) in DebugView::NAMES.iter().enumerate() {
            assert_eq!((*view as usize, view.name()), (number, *name));
            assert_eq!(DebugView::by_name(name), Some(*view));
        }
        assert_eq!(DebugView::by_name("Albedo"), None);
    }
}
