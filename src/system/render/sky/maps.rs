//! The maps of skies and reflection probes: which of them a frame draws for its views, and with
//! which passes.

use super::super::device::GpuDevice;
use super::super::scene::{ProbeUniform, SceneUniform};
use super::super::textures::TextureTable;
use super::inputs::{
    SkyLayer, SkySource, SkyUniform, background, fill_uniform, light_key, source_of,
};
use super::probes::{self, ChosenProbe};
use super::resources::{
    STRIDE, SharedResources, SkyResources, SkyStep, array_view, layer_views, level_count, side_of,
    texture,
};
use super::slots::{SKIES_MAX, SkyInputs, SkyRequest, SkySlots, SkyWork};
use crate::{RenderQuality, RendererEvent};
use engine_frame_packet::View;
use engine_frame_packet::reflection_probe::ProbeFrame;
use engine_frame_packet::shading_environment::ShadingEnvironment;

/// The number of the first probe among the users of maps; views have lower numbers.
const PROBE_USERS: usize = 1 << 32;

/// The inputs of a sky's maps and of its background.
#[derive(Clone, PartialEq)]
struct SkyKey {
    uniform: SkyUniform,
    /// The texture; none for an atmosphere.
    picture: Option<wgpu::TextureView>,
}

impl SkyInputs for SkyKey {
    fn is_updatable(&self, to: &SkyKey) -> bool {
        self.picture == to.picture
    }

    fn has_same_maps(&self, other: &SkyKey) -> bool {
        self.picture == other.picture && light_key(&self.uniform) == light_key(&other.uniform)
    }
}

/// A pass that draws one map.
pub struct MapPass {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    offset: u32,
    pub target: wgpu::TextureView,
}

impl MapPass {
    /// Draws the map.
    pub fn draw(&self, to: &mut wgpu::RenderPass) {
        to.set_pipeline(&self.pipeline);
        to.set_bind_group(0, &self.group, &[self.offset]);
        to.draw(0..3, 0..1);
    }
}

/// A view that is shown, as skies need it.
#[derive(Clone, Copy)]
pub struct SkyView<'a> {
    pub scene: u64,
    pub view: &'a View,
    /// The probes of its scene; none if the view's frame draws no maps.
    pub probes: &'a [ProbeFrame],
}

/// The sky of a view in the current frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewSky {
    pub layer: SkyLayer,
    slot: usize,
}

/// The maps that light a view in the current frame.
#[derive(Clone, Default)]
struct ViewMaps {
    sky: Option<ViewSky>,
    probes: Vec<ProbeUniform>,
}

/// The use of a requested map.
struct MapUsage {
    /// Index of the plan's view.
    view: usize,
    /// The probe; none for the sky.
    probe: Option<ChosenProbe>,
}

/// All skies.
pub struct SkyMaps {
    side: u32,
    budget: usize,
    slots: SkySlots<SkyKey>,
    shared: Option<SharedResources>,
    skies: Vec<Option<SkyResources>>,
    /// The filtered light of all skies: two layers for each.
    array: wgpu::Texture,
    /// A view of it, for the shaders of meshes.
    pub maps: wgpu::TextureView,
    pub sampler: wgpu::Sampler,
    /// The passes of the frame, which precede all views.
    passes: Vec<MapPass>,
    /// The maps of each of the plan's views.
    views: Vec<ViewMaps>,
    is_crowd_reported: bool,
}

/// Returns the steps from the maps that are shown to those of other inputs.
fn steps(shown: Option<&SkyKey>, wanted: &SkyKey, levels: u32) -> Vec<SkyStep> {
    let mut all = Vec::new();
    if wanted.picture.is_none() {
        // The atmosphere is that of the same haze and ground.
        if shown.is_none_or(|shown| shown.uniform.ground != wanted.uniform.ground) {
            all.push(SkyStep::Atmosphere);
        }
        all.push(SkyStep::Sky);
    }
    all.push(SkyStep::Source);
    all.extend((0..levels).map(SkyStep::Gloss));
    all.push(SkyStep::Harmonics);
    all
}

/// Returns the maps that the views of a frame need. A view's sky precedes its probes.
fn requests(
    textures: &TextureTable,
    views: &[Option<SkyView>],
) -> (Vec<MapUsage>, Vec<SkyRequest<SkyKey>>) {
    let (mut usages, mut requests) = (Vec::new(), Vec::new());
    for (index, shown) in views.iter().enumerate() {
        let Some(SkyView { scene, view, probes }) = shown else { continue };
        if let Some(source) = source_of(view) {
            let uniform = background(&view.environment, source);
            let picture = match source {
                SkySource::Physical => None,
                SkySource::Texture(slot) => Some(textures.view(slot).clone()),
            };
            let inputs = SkyKey { uniform, picture };
            usages.push(MapUsage { view: index, probe: None });
            requests.push(SkyRequest { user: (*scene, index), inputs, is_urgent: true });
        }
        for probe in probes::choose(probes, view.camera.position) {
            let slot = probes[probe.index].texture;
            let uniform = background(&ShadingEnvironment::DEFAULT, SkySource::Texture(slot));
            let inputs = SkyKey { uniform, picture: Some(textures.view(slot).clone()) };
            let user = (*scene, PROBE_USERS + probe.index);
            usages.push(MapUsage { view: index, probe: Some(probe) });
            requests.push(SkyRequest { user, inputs, is_urgent: false });
        }
    }
    (usages, requests)
}

impl SkyMaps {
    /// Sets the number of steps per frame in which changing skies are updated.
    pub fn set_steps(&mut self, steps: u32) {
        self.budget = steps.max(1) as usize;
    }

    pub fn new(device: &GpuDevice, quality: &RenderQuality) -> SkyMaps {
        let array = texture(device, "no sky", (1, 1), 2, 1);
        SkyMaps {
            side: side_of(quality.sky_texels),
            budget: quality.sky_steps.max(1) as usize,
            slots: SkySlots::default(),
            shared: None,
            skies: Vec::new(),
            maps: array_view(&array),
            array,
            sampler: device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("sky"),
                address_mode_u: wgpu::AddressMode::Repeat,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            }),
            passes: Vec::new(),
            views: Vec::new(),
            is_crowd_reported: false,
        }
    }

    /// Prepares the skies and the probes of a frame's views. `views`: the plan's views; `None` if
    /// one is not shown. Returns true if bind groups with the maps are stale.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        textures: &TextureTable,
        views: &[Option<SkyView>],
        (view_layout, samples): (&wgpu::BindGroupLayout, u32),
        events: &mut Vec<RendererEvent>,
    ) -> bool {
        self.passes.clear();
        self.views.clear();
        self.views.resize(views.len(), ViewMaps::default());
        let (usages, requests) = requests(textures, views);
        if requests.is_empty() && self.slots.len() == 0 {
            return false;
        }
        let found = self.slots.assign(&requests);
        self.report_crowd(events);
        let is_stale = self.ensure_resources(device, samples);
        let levels = level_count(self.side);
        let count = |shown: Option<&SkyKey>, inputs: &SkyKey| steps(shown, inputs, levels).len();
        for work in self.slots.advance(self.budget, count) {
            self.plan_work(device, &work);
        }
        let mut has_backdrop = vec![false; self.slots.len()];
        for ((usage, slot), request) in usages.into_iter().zip(found).zip(&requests) {
            let Some(layer) = self.slots.layer(slot) else { continue };
            let Some(sky) = self.skies[slot].as_ref() else { continue };
            let maps = &mut self.views[usage.view];
            if let Some(ChosenProbe { mut uniform, .. }) = usage.probe {
                uniform.position[3] = layer as f32;
                maps.probes.push(uniform);
                continue;
            }
            if !std::mem::replace(&mut has_backdrop[slot], true) {
                device.upload(&sky.backdrop, 0, bytemuck::bytes_of(&request.inputs.uniform));
            }
            // A view that shares the last sky shows that sky's kind.
            let is_physical = sky.picture.is_none();
            if let Some(shared) = &mut self.shared {
                shared.ensure_background(device, view_layout, samples, is_physical);
            }
            maps.sky = Some(ViewSky { layer: SkyLayer { layer, is_physical }, slot });
        }
        is_stale
    }

    /// Fills the sky, the probes and the fog of the uniform of one of the plan's views.
    pub fn fill_uniform(
        &self,
        uniform: &mut SceneUniform,
        environment: &ShadingEnvironment,
        index: usize,
    ) {
        let maps = &self.views[index];
        let size = [self.side as f32, level_count(self.side) as f32];
        fill_uniform(uniform, environment, maps.sky.map(|sky| sky.layer), size);
        for (to, probe) in uniform.probes.iter_mut().zip(&maps.probes) {
            *to = *probe;
        }
        uniform.fog_towards[3] = maps.probes.len() as f32;
    }

    fn report_crowd(&mut self, events: &mut Vec<RendererEvent>) {
        if self.slots.is_crowded && !std::mem::replace(&mut self.is_crowd_reported, true) {
            let message = format!(
                "the views of a frame have more than {SKIES_MAX} different skies and probes, and \
                 the others show the light of the last one (SKIES_MAX): use fewer probes, or the \
                 same environment for several views"
            );
            events.push(RendererEvent::Crowded { message });
        }
    }

    /// Creates the array and the shared resources. Returns true if the array was replaced.
    fn ensure_resources(&mut self, device: &GpuDevice, samples: u32) -> bool {
        let count = self.slots.len();
        if count == 0 {
            self.skies.clear();
            let is_stale = self.array.width() > 1;
            if is_stale {
                self.array = texture(device, "no sky", (1, 1), 2, 1);
                self.maps = array_view(&self.array);
            }
            return is_stale;
        }
        self.shared.get_or_insert_with(|| SharedResources::new(device, self.side, samples));
        self.skies.resize_with(count, || None);
        let layers = 2 * count as u32;
        if self.array.width() == self.side && self.array.depth_or_array_layers() >= layers {
            return false;
        }
        self.grow(device, layers.next_power_of_two());
        true
    }

    /// Replaces the array by one of more layers, which keeps the maps.
    fn grow(&mut self, device: &GpuDevice, layers: u32) {
        let levels = level_count(self.side);
        let array = texture(device, "skies", (self.side, self.side), layers, levels + 1);
        let old = std::mem::replace(&mut self.array, array);
        self.maps = array_view(&self.array);
        if old.width() != self.side {
            // It is the one texel that stands in for the array.
            return;
        }
        let mut encoder = device.device.create_command_encoder(&Default::default());
        for level in 0..=levels {
            let copied = |texture| wgpu::TexelCopyTextureInfo {
                texture,
                mip_level: level,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            };
            let size = wgpu::Extent3d {
                width: self.side >> level,
                height: self.side >> level,
                depth_or_array_layers: old.depth_or_array_layers(),
            };
            encoder.copy_texture_to_texture(copied(&old), copied(&self.array), size);
        }
        device.queue.submit([encoder.finish()]);
        for (slot, sky) in self.skies.iter_mut().enumerate() {
            if let Some(sky) = sky {
                sky.layers = layer_views(&self.array, slot, levels);
            }
        }
    }

    /// Plans the passes of a sky's steps.
    fn plan_work(&mut self, device: &GpuDevice, work: &SkyWork<SkyKey>) {
        let Some(shared) = &mut self.shared else { return };
        let known = &mut self.skies[work.slot];
        if known.as_ref().is_some_and(|sky| sky.picture != work.inputs.picture) {
            *known = None;
        }
        let is_new = known.is_none();
        let sky = known.get_or_insert_with(|| {
            let picture = work.inputs.picture.clone();
            SkyResources::new(device, shared, &self.sampler, &self.array, work.slot, picture)
        });
        device.upload(&sky.inputs, 0, bytemuck::bytes_of(&work.inputs.uniform));
        let shown = work.shown.as_ref().filter(|_| !is_new);
        let all = steps(shown, &work.inputs, level_count(self.side));
        for step in &all[work.steps.clone()] {
            for (kind, group, uniform, target) in sky.passes(*step, (work.layer & 1) as usize) {
                self.passes.push(MapPass {
                    pipeline: shared.pipeline(device, kind),
                    group: group.clone(),
                    offset: uniform * STRIDE,
                    target: target.clone(),
                });
            }
        }
    }

    /// Returns the sky of one of the plan's views.
    pub fn view(&self, index: usize) -> Option<&ViewSky> {
        self.views.get(index)?.sky.as_ref()
    }

    /// Returns true if maps light one of the plan's views.
    pub fn is_lit(&self, index: usize) -> bool {
        self.views.get(index).is_some_and(|maps| maps.sky.is_some() || !maps.probes.is_empty())
    }

    /// Returns the passes that the frame draws, before all views.
    pub fn passes(&self) -> &[MapPass] {
        &self.passes
    }

    /// Draws a view's sky, with bind group 0 set.
    pub fn draw_background(&self, to: &mut wgpu::RenderPass, sky: &ViewSky) {
        let pipelines = self.shared.as_ref().map(|shared| &shared.backgrounds);
        let pipeline = pipelines.and_then(|all| all.get(&sky.layer.is_physical));
        let resources = self.skies[sky.slot].as_ref();
        if let Some((pipeline, resources)) = pipeline.zip(resources) {
            to.set_pipeline(pipeline);
            to.set_bind_group(1, &resources.background_group, &[0]);
            to.draw(0..3, 0..1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(hours: f32, haze: f32) -> SkyKey {
        let mut environment = ShadingEnvironment::DEFAULT;
        (environment.sky.time_of_day, environment.sky.haze) = (hours, haze);
        SkyKey { uniform: background(&environment, SkySource::Physical), picture: None }
    }

    #[test]
    fn only_another_atmosphere_draws_its_maps_again() {
        let all = steps(None, &key(12.0, 1.0), 5);
        assert_eq!((all[0], all.len()), (SkyStep::Atmosphere, 9));
        let later = steps(Some(&key(12.0, 1.0)), &key(13.0, 1.0), 5);
        assert_eq!((later[0], later.len()), (SkyStep::Sky, 8));
        let hazy = steps(Some(&key(12.0, 1.0)), &key(12.0, 2.0), 5);
        assert_eq!(hazy.len(), 9);
    }
}
