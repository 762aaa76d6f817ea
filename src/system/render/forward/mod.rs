//! The forward renderer of lit scenes: it draws each view's plan as light with shadows, and then
//! tone-maps it onto the view's target. Decides nothing about what is drawn:
//! src/system/render/scene plans that.
//!
//! For each view it draws: its shadow maps; a pass into a target of half floats with a depth buffer
//! (opaque objects, the sky, transparent objects); if there are particles, which read the depth, a
//! second pass for the transparent objects. The first pass of the view's Guis shows the tone-mapped
//! image. No resources are created before the first view with a scene.

mod bind_group_layouts;
mod custom_shaders;
mod encode;
mod mesh_buffers;
mod morph_buffer;
mod pipelines;
mod scene_buffers;
mod surface_functions;
mod targets;

use super::device::GpuDevice;
use super::gui_passes::{FrameUniform, PixelRectangle};
use super::materials::MaterialTable;
use super::scene::{
    InstancedDraw, PipelineClass, RetainedScenes, SceneBatchKey, SceneUniform, ShadowMap,
    TransparentGroup, ViewPlan,
};
use super::textures::TextureTable;
use super::{RenderQuality, RendererEvent};
use bind_group_layouts::BindGroupLayouts;
use engine_frame_packet::FramePacket;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::mesh::MeshSlot;
use mesh_buffers::MeshBuffers;
use pipelines::{PipelineCache, PipelineKey};
use scene_buffers::SceneBuffers;
use targets::SceneTargets;

pub use encode::SceneResources;

/// Format of light before tone mapping.
const LIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Storage buffers that a vertex shader reads: draws, surfaces, poses and morph targets.
const STORAGE_BUFFERS_MIN: u32 = 4;
const PARTICLE_BYTES: u64 = size_of::<engine_frame_packet::scene::ParticleQuad>() as u64;

/// The rectangle of its target in which a view is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewRectangle {
    pub rectangle: PixelRectangle,
    pub format: wgpu::TextureFormat,
    /// True if world Guis follow, which need the depth.
    pub has_depth: bool,
    /// Pixels per logical pixel.
    pub scale: f32,
}

/// Resources of the renderer that scenes are drawn with.
pub struct RenderResources<'a> {
    pub textures: &'a mut TextureTable,
    pub materials: &'a mut MaterialTable,
    pub events: &'a mut Vec<RendererEvent>,
}

/// The renderer of all scenes.
pub struct ForwardRenderer {
    layouts: BindGroupLayouts,
    pipelines: PipelineCache,
    custom_shaders: custom_shaders::CustomShaders,
    surface_shaders: surface_functions::SurfaceShaders,
    /// True if surfaces or materials have changed, so that pipelines may be missing.
    surfaces_changed: bool,
    samples: u32,
    targets: SceneTargets,
    meshes: MeshBuffers,
    buffers: SceneBuffers,
    /// The rectangle of each of the plan's views; `None`: the view is not shown.
    areas: Vec<Option<ViewRectangle>>,
    uniforms: Vec<SceneUniform>,
    frames: Vec<FrameUniform>,
}

fn report_refused(
    events: &mut Vec<RendererEvent>,
    scenes: &RetainedScenes,
    all: Vec<(u32, String)>,
) {
    for (slot, message) in all {
        let name = scenes.library.mesh(slot).map_or_else(String::new, |mesh| mesh.name.clone());
        events.push(RendererEvent::MeshRefused { slot: MeshSlot(slot), name, message });
    }
}

impl ForwardRenderer {
    /// Creates the renderer with all current data of the scenes. Returns an error if an adapter
    /// cannot draw scenes.
    pub fn start(
        device: &GpuDevice,
        textures: &TextureTable,
        scenes: &mut RetainedScenes,
        quality: &RenderQuality,
        events: &mut Vec<RendererEvent>,
    ) -> Result<ForwardRenderer, String> {
        let storage = device.limits.max_storage_buffers_per_shader_stage;
        if !device.draws_onto(LIGHT_FORMAT, 1) || storage < STORAGE_BUFFERS_MIN {
            let name = &device.info.name;
            return Err(format!(
                "the adapter {name} cannot draw worlds: it has no half-float textures, or fewer \
                 than {STORAGE_BUFFERS_MIN} storage buffers. Run with --renderer software"
            ));
        }
        let samples =
            if device.draws_onto(LIGHT_FORMAT, quality.samples) { quality.samples } else { 1 };
        scenes.mark_all_changed();
        let mut meshes = MeshBuffers::new(device);
        report_refused(events, scenes, meshes.upload_all(device, &scenes.library));
        Ok(ForwardRenderer {
            layouts: BindGroupLayouts::new(device, textures, samples),
            pipelines: PipelineCache::new(device, samples),
            custom_shaders: custom_shaders::CustomShaders::default(),
            surface_shaders: surface_functions::SurfaceShaders::default(),
            surfaces_changed: true,
            samples,
            targets: SceneTargets::new(device, samples, quality.shadow_texels, quality.spot_texels),
            meshes,
            buffers: SceneBuffers::new(device),
            areas: Vec::new(),
            uniforms: Vec::new(),
            frames: Vec::new(),
        })
    }

    /// Applies a packet's changes of meshes and surfaces.
    pub fn apply(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        packet: &FramePacket,
        events: &mut Vec<RendererEvent>,
    ) {
        self.surfaces_changed |= !packet.surfaces.is_empty() || !packet.materials.is_empty();
        let done = self.meshes.change(device, &scenes.library, &packet.meshes);
        report_refused(events, scenes, done);
    }

    /// Copies and creates all resources that the plan's views need. Returns the number of copied
    /// bytes. `areas`: one for each view.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &mut RetainedScenes,
        packet: &FramePacket,
        areas: Vec<Option<ViewRectangle>>,
    ) -> u64 {
        self.areas = areas;
        self.uniforms.clear();
        self.frames.clear();
        for (view, area) in scenes.plans.views.iter().zip(&self.areas) {
            let mut uniform = view.uniform;
            if let Some(area) = area {
                uniform.counts[3] = u32::from(!area.format.is_srgb());
                uniform.shadow[2] = area.rectangle[0] as f32;
                uniform.shadow[3] = area.rectangle[1] as f32;
            }
            self.uniforms.push(uniform);
            let frame = area.as_ref().map(|area| custom_shaders::frame(area, packet));
            self.frames.push(frame.unwrap_or_default());
        }
        let sizes = self.areas.iter().flatten().map(|area| (area.rectangle[2], area.rectangle[3]));
        self.targets.ensure(device, &self.layouts, &sizes.collect::<Vec<_>>());
        let transmitting = scenes.plans.views.iter().zip(&self.areas);
        let transmitting = transmitting.filter(|(view, _)| view.transmission);
        let sizes = transmitting.filter_map(|(_, area)| {
            let [_, _, width, height] = (*area)?.rectangle;
            Some((width, height))
        });
        self.targets.ensure_backgrounds(device, &self.layouts, &sizes.collect::<Vec<_>>());
        let layers = |map: ShadowMap| {
            let of_map = scenes.plans.shadows.iter().filter(|shadow| shadow.map == map);
            of_map.map(|shadow| shadow.layer + 1).max().unwrap_or(0)
        };
        let sun_grown = self.targets.sun.ensure(device, layers(ShadowMap::Sun));
        if self.targets.spots.ensure(device, layers(ShadowMap::Spot)) || sun_grown {
            self.buffers.renew();
        }
        let uniforms = (&self.uniforms[..], &self.frames[..]);
        let copied = self.buffers.copy(device, scenes, packet, uniforms);
        let resources_of_groups = (&self.targets, &self.meshes.morphs);
        self.buffers.create_bind_groups(device, &self.layouts, resources_of_groups, scenes);
        self.buffers.follow_textures(resources.textures, !packet.surfaces.is_empty());
        if std::mem::take(&mut self.surfaces_changed) {
            self.surface_shaders.drop_unused();
            // Pipelines are created when materials are loaded, before anything is drawn with them.
            for key in scenes.library.function_batches() {
                self.ensure_functions(device, resources, &key);
            }
        }
        for (index, view) in scenes.plans.views.iter().enumerate() {
            if let Some(area) = self.areas[index] {
                self.ensure(device, resources, scenes, view, area);
            }
        }
        copied
    }

    /// Creates the pipeline and the bind group of a batch with surface functions.
    fn ensure_functions(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        key: &SceneBatchKey,
    ) {
        let RenderResources { textures, materials, events } = resources;
        let slot = MaterialSlot(key.material);
        materials.prepare_group(device, textures, slot);
        let (layouts, samples) = (&self.layouts, self.samples);
        let binder = materials.binder(slot);
        if !self.surface_shaders.ensure(device, layouts, samples, key, &binder, events) {
            let class = surface_functions::plain_class(key.class);
            self.pipelines.ensure(device, &self.layouts, PipelineKey::Mesh(class));
        }
    }

    /// Creates the pipelines and texture bind groups of a view.
    fn ensure(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
        view: &ViewPlan,
        area: ViewRectangle,
    ) {
        let plans = &scenes.plans;
        let shadows = plans.shadows[view.shadows.clone()].iter();
        let groups = shadows.flat_map(|shadow| &plans.groups[shadow.groups.clone()]);
        let groups = groups.chain(&plans.groups[view.solid.clone()]);
        let transparent = &plans.transparent[view.blended.clone()];
        let through = transparent.iter().filter_map(|transparent| match transparent {
            TransparentGroup::Group(group) => Some(group),
            TransparentGroup::Particles { .. } => None,
        });
        let mut last = None;
        for InstancedDraw { batch, .. } in groups.chain(through) {
            let key = scenes.library.batch(*batch);
            let alike = (key.class, key.material, key.set);
            if last.replace(alike) != Some(alike) {
                match custom_shaders::slot(key) {
                    _ if key.class.has(PipelineClass::FUNCTIONS) => {
                        self.ensure_functions(device, resources, key);
                    }
                    None => {
                        self.pipelines.ensure(device, &self.layouts, PipelineKey::Mesh(key.class))
                    }
                    Some(slot) => {
                        let RenderResources { textures, materials, events } = resources;
                        materials.prepare_group(device, textures, slot);
                        let (layouts, samples) = (&self.layouts, self.samples);
                        let binder = materials.binder(slot);
                        self.custom_shaders.ensure(device, layouts, samples, key, &binder, events);
                    }
                }
                let library = &scenes.library;
                self.buffers.ensure_set(
                    device,
                    &self.layouts,
                    resources.textures,
                    library,
                    key.set,
                );
            }
        }
        for transparent in transparent {
            if let TransparentGroup::Particles { batch, .. } = transparent {
                let batch = &scenes.scenes[&view.scene].particle_batches[*batch as usize];
                self.pipelines.ensure(device, &self.layouts, PipelineKey::Particles(batch.blend));
            }
        }
        if view.transmission {
            for copies in [true, false] {
                self.pipelines.ensure(device, &self.layouts, PipelineKey::Background { copies });
            }
        }
        self.pipelines.ensure(device, &self.layouts, PipelineKey::Sky);
        let ViewRectangle { format, has_depth, .. } = area;
        self.pipelines.ensure(device, &self.layouts, PipelineKey::Tonemap { format, has_depth });
    }
}
