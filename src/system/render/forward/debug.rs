//! Debug views: the pipelines and images that a view shows in place of its light. The values are
//! in debug_surface.wgsl and debug_image.wgsl.

use super::super::device::GpuDevice;
use super::super::frame_capture::FrameImageView;
use super::super::scene::{PipelineClass, SceneBatchKey};
use super::pipelines::PipelineKey;
use super::targets::light_group;
use super::{ForwardRenderer, SceneUniform, custom_shaders};
use engine_frame_packet::debug_view::DebugView;
use engine_frame_packet::scene::ParticleBatch;

/// Position of the debug view's number in the flags of a view's uniform.
const NUMBER_SHIFT: u32 = 8;

impl ForwardRenderer {
    /// Returns true if a debug view is shown in place of light.
    pub fn is_debugged(&self) -> bool {
        self.debug_view.is_on()
    }

    /// Returns true if particles are drawn. In debug views only their number counts.
    pub(super) fn are_particles_drawn(&self) -> bool {
        matches!(self.debug_view, DebugView::None | DebugView::Overdraw)
    }

    /// Sets the debug view in the uniform of a view. Its values are shown as they are.
    pub(super) fn set_debug_view(&self, uniform: &mut SceneUniform) {
        if self.is_debugged() {
            uniform.counts[3] |= (self.debug_view as u32) << NUMBER_SHIFT;
            uniform.top[3] = 1.0;
            uniform.ground[3] = 1.0;
        }
    }

    /// Returns the key of a batch as it is drawn in the light of a view, with or without decals.
    pub(super) fn shown_key(&self, key: &SceneBatchKey, has_decals: bool) -> SceneBatchKey {
        let mut shown = *key;
        let without = PipelineClass::SHADOW | PipelineClass::BLEND;
        let is_lit = key.class.has(PipelineClass::FUNCTIONS) || custom_shaders::slot(key).is_none();
        if has_decals && is_lit && !key.class.has(without) {
            shown.class.0 |= PipelineClass::DECALS;
        }
        if !self.is_debugged() || key.class.has(PipelineClass::SHADOW) {
            return shown;
        }
        if !key.class.has(PipelineClass::FUNCTIONS) && custom_shaders::slot(key).is_some() {
            // Its own shader has no values: the surface is shown, from both sides.
            shown.material = 0;
            shown.class.0 |= PipelineClass::DOUBLE;
        }
        let light_only = PipelineClass::TRANSMISSION | PipelineClass::LOBES;
        shown.class = PipelineClass(shown.class.0 & !light_only | PipelineClass::DEBUG);
        shown
    }

    /// Returns the pipeline of a batch of particles in one of the plan's views.
    pub(super) fn particle_key(&self, index: usize, batch: &ParticleBatch) -> PipelineKey {
        match self.debug_view {
            DebugView::Overdraw => PipelineKey::ParticleOverdraw,
            _ if batch.distortion != 0.0 => PipelineKey::DistortingParticles,
            _ if batch.lit > 0.0 || self.fog.sum(index).is_some() => {
                PipelineKey::LitParticles(batch.blend)
            }
            _ => PipelineKey::Particles(batch.blend),
        }
    }

    /// Returns the pipeline that shows a view's light or debug view on its target.
    pub(super) fn tonemap_key(&self, index: usize) -> Option<PipelineKey> {
        let area = self.areas[index]?;
        let is_image = matches!(
            self.debug_view,
            DebugView::Overdraw | DebugView::ShadowAtlas | DebugView::MotionVectors
        );
        let is_resolved = self.resolved_groups.contains_key(&index);
        let lacks_image = self.debug_view != DebugView::Overdraw && !is_resolved;
        Some(PipelineKey::Tonemap {
            format: area.format,
            has_depth: area.has_depth,
            is_resolved,
            is_debug: is_image && !lacks_image,
        })
    }

    /// Returns the images that all views share, and those of each view, with their names.
    pub fn captured_images(&self) -> Vec<FrameImageView<'_>> {
        let atlas = FrameImageView {
            view: None,
            name: "shadow atlas".to_string(),
            image: self.shadow_atlas(),
        };
        let layers = self.targets.sun.layers.iter().enumerate();
        let suns = layers.map(|(layer, image)| FrameImageView {
            view: None,
            name: format!("shadow of sun {}", layer + 1),
            image,
        });
        let mut all: Vec<_> = [atlas].into_iter().chain(suns).collect();
        for index in 0..self.areas.len() {
            let Some((light, depth)) = self.light_and_depth(index) else { continue };
            let own = [("light".to_string(), light), ("depth".to_string(), depth)];
            let effects = self.screen_space.named_images(index).into_iter();
            let named = own.into_iter().chain(effects.chain(self.fog.named_images(index)));
            let post = self.post.plan_of(index).into_iter().flat_map(|plan| plan.named_images());
            // The other levels are smaller copies of the first one.
            let behind = self.light_behind_levels(index).first();
            let behind = behind.map(|image| ("light behind".to_string(), image));
            let view = Some(index);
            let image = |(name, image)| FrameImageView { view, name, image };
            all.extend(named.chain(behind).chain(post).map(image));
        }
        all
    }

    /// Sets the images that debug views show as the light that the tone mapping reads.
    pub(super) fn show_debug_images(&mut self, device: &GpuDevice) {
        if !self.is_debugged() {
            return;
        }
        self.resolved_groups.clear();
        for (index, area) in self.areas.iter().enumerate() {
            let image = match self.debug_view {
                DebugView::ShadowAtlas => Some(self.shadow_atlas()),
                DebugView::MotionVectors => self.screen_space.motion(index),
                _ => None,
            };
            let Some((area, image)) = area.zip(image) else { continue };
            let target = self.targets.get(self.scale.size(&area));
            let depth = area.has_depth.then_some(&target.depth);
            let layouts = (&self.layouts.resolved_light, &self.layouts.resolved_light_only);
            let group = light_group(device, layouts, image, depth);
            self.resolved_groups.insert(index, group);
        }
    }
}
