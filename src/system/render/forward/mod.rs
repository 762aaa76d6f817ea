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
mod debug;
mod decal_images;
mod effects;
mod encode;
mod growing_buffer;
mod light_behind;
mod mesh_buffers;
mod mesh_pipelines;
mod morph_buffer;
mod object_motion;
mod outlines;
mod particle_batches;
mod pipelines;
mod pre_skinning;
mod scene_buffers;
mod surface_functions;
mod targets;

use super::device::GpuDevice;
use super::fog::FroxelFog;
use super::frame_limits::{can_scale, has_post_pass};
use super::gui_passes::{FrameUniform, PixelRectangle};
use super::materials::{MaterialBinder, MaterialTable};
use super::numeric_map::NumberMap;
use super::post::{LightLayouts, PostEffects, compensated};
use super::scene::{
    CLUSTER_COLUMNS, CLUSTER_ROWS, InstancedDraw, PipelineClass, RetainedScenes, SceneBatchKey,
    SceneUniform, ShadowMap, ShadowPlan, TransparentGroup, ViewPlan,
};
use super::screen_space::{self, ScreenSpace};
use super::sky::{SKY_MAPS_PASS, SkyMaps, SkyView};
use super::textures::TextureTable;
use super::{RenderQuality, RendererEvent};
use bind_group_layouts::BindGroupLayouts;
use decal_images::DecalImages;
use engine_frame_packet::FramePacket;
use engine_frame_packet::debug_view::DebugView;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::mesh::MeshSlot;
use mesh_buffers::MeshBuffers;
use object_motion::ObjectMotion;
use outlines::Outlines;
use pipelines::{PipelineCache, PipelineKey};
use pre_skinning::PreSkinning;
use scene_buffers::{GroupResources, SceneBuffers};
use std::ops::Range;
use targets::SceneTargets;

pub use encode::SceneResources;
pub use pipelines::{
    PipelineOptions, depth_state, depth_state as pipeline_depth, make, make as make_pipeline,
};

/// Format of light before tone mapping.
pub const LIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Storage buffers that a shader reads. Vertices: draws, surfaces, poses and morph targets. Pixels:
/// surfaces, lights, clusters and shadow tiles.
pub const STORAGE_BUFFERS_MIN: u32 = 4;
/// The flag of a view with ambient occlusion or contact shadows: `SCREEN_OCCLUSION` in mesh.wgsl.
const SCREEN_OCCLUSION_FLAG: u32 = 2;
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
    /// True if the view's frame has the pass of post effects.
    pub has_post: bool,
    /// True if the image of its world can have another size.
    pub can_scale: bool,
}

impl ViewRectangle {
    pub fn new(
        rectangle: PixelRectangle,
        format: wgpu::TextureFormat,
        has_depth: bool,
        scale: f32,
    ) -> ViewRectangle {
        let (has_post, can_scale) = (true, true);
        ViewRectangle { rectangle, format, has_depth, scale, has_post, can_scale }
    }
}

/// The size of views' light and depth.
#[derive(Clone, Copy)]
struct SceneScale {
    /// Factor for the size of a view.
    factor: f32,
    side_max: u32,
}

impl SceneScale {
    /// Returns the size of a view's light and depth.
    fn size(self, area: &ViewRectangle) -> (u32, u32) {
        let [_, _, width, height] = area.rectangle;
        if self.factor == 1.0 || !area.can_scale {
            return (width, height);
        }
        let scaled = |side: u32| (side as f32 * self.factor).round() as u32;
        (scaled(width).clamp(1, self.side_max), scaled(height).clamp(1, self.side_max))
    }
}

/// Resources of the renderer that scenes are drawn with.
pub struct RenderResources<'a> {
    pub textures: &'a mut TextureTable,
    pub materials: &'a mut MaterialTable,
    pub events: &'a mut Vec<RendererEvent>,
}

/// The properties of a view that its pipelines of meshes depend on.
#[derive(Clone, Copy, Default)]
struct ViewLook {
    /// True if the maps of a sky or of probes light its meshes.
    is_map_lit: bool,
    has_decals: bool,
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
    scale: SceneScale,
    targets: SceneTargets,
    meshes: MeshBuffers,
    buffers: SceneBuffers,
    screen_space: ScreenSpace,
    fog: FroxelFog,
    object_motion: ObjectMotion,
    pre_skinning: PreSkinning,
    /// Bind group 1 of the tone mapping of views whose light is resolved, by the index of the view.
    resolved_groups: NumberMap<usize, wgpu::BindGroup>,
    /// The rectangle of each of the plan's views; `None`: the view is not shown.
    areas: Vec<Option<ViewRectangle>>,
    uniforms: Vec<SceneUniform>,
    frames: Vec<FrameUniform>,
    post: PostEffects,
    sky: SkyMaps,
    decals: DecalImages,
    outlines: Outlines,
    debug_view: DebugView,
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

/// Returns why an adapter cannot draw worlds, or `None` if it can.
fn world_refusal(draws_light: bool, storage_buffers: u32) -> Option<String> {
    match (draws_light, storage_buffers) {
        (false, _) => Some("it cannot draw onto half-float textures".to_string()),
        (true, count) if count < STORAGE_BUFFERS_MIN => Some(format!(
            "its shaders can read {count} storage buffers, and need {STORAGE_BUFFERS_MIN}"
        )),
        (true, _) => None,
    }
}

impl ForwardRenderer {
    /// Returns the samples per pixel that an adapter can draw light with: `wanted`, or 1.
    pub fn usable_samples(device: &GpuDevice, wanted: u32) -> u32 {
        if device.draws_onto(LIGHT_FORMAT, wanted) { wanted } else { 1 }
    }

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
        if let Some(reason) = world_refusal(device.draws_onto(LIGHT_FORMAT, 1), storage) {
            let name = &device.info.name;
            return Err(format!(
                "the adapter {name} cannot draw worlds: {reason}. Run with --renderer software"
            ));
        }
        let samples = ForwardRenderer::usable_samples(device, quality.samples);
        scenes.mark_all_changed();
        let mut meshes = MeshBuffers::new(device);
        report_refused(events, scenes, meshes.upload_all(device, &scenes.library));
        let layouts = BindGroupLayouts::new(device, textures, samples);
        let light = LightLayouts {
            with_depth: layouts.light.clone(),
            alone: layouts.light_only.clone(),
            resolved_with_depth: layouts.resolved_light.clone(),
            resolved_alone: layouts.resolved_light_only.clone(),
        };
        Ok(ForwardRenderer {
            post: PostEffects::new(light, samples, *quality),
            layouts,
            pipelines: PipelineCache::new(device, samples),
            custom_shaders: custom_shaders::CustomShaders::default(),
            surface_shaders: surface_functions::SurfaceShaders::default(),
            surfaces_changed: true,
            samples,
            scale: SceneScale {
                factor: quality.valid_scale(),
                side_max: device.info.texture_side_max,
            },
            targets: SceneTargets::new(device, samples, quality.shadow_texels),
            meshes,
            buffers: SceneBuffers::new(device),
            screen_space: ScreenSpace::new(device, samples),
            fog: FroxelFog::new(device, quality.fog_columns),
            object_motion: ObjectMotion::new(device),
            pre_skinning: PreSkinning::new(device, quality.pre_skinning_passes),
            resolved_groups: NumberMap::default(),
            areas: Vec::new(),
            uniforms: Vec::new(),
            frames: Vec::new(),
            sky: SkyMaps::new(device, quality),
            decals: DecalImages::new(device),
            outlines: Outlines::default(),
            debug_view: DebugView::None,
        })
    }

    /// Changes the quality. Returns false if the renderer must be created again, because the number
    /// of samples is another one, which all pipelines depend on.
    pub fn set_quality(
        &mut self,
        device: &GpuDevice,
        before: &RenderQuality,
        quality: &RenderQuality,
    ) -> bool {
        if before.samples != quality.samples {
            return false;
        }
        self.scale.factor = quality.valid_scale();
        self.post.set_quality(*quality);
        self.sky.set_steps(quality.sky_steps);
        self.fog.set_columns(quality.fog_columns);
        self.pre_skinning.passes_min = quality.pre_skinning_passes;
        let sides = |quality: &RenderQuality| (quality.shadow_texels, quality.sky_texels);
        if sides(before) != sides(quality) {
            self.targets.sun = SceneTargets::sun_maps(device, quality.shadow_texels);
            self.sky = SkyMaps::new(device, quality);
            self.buffers.renew();
        }
        true
    }

    /// Applies a packet's changes of meshes and surfaces. Without views of scenes, the images of
    /// screen-space effects, fog, outlines and decals are released.
    pub fn apply(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        packet: &FramePacket,
        events: &mut Vec<RendererEvent>,
    ) {
        if packet.views.iter().all(|view| view.scene.is_none()) {
            self.screen_space.release();
            self.fog.release();
            self.outlines.release();
            if self.decals.release(device) {
                self.buffers.renew();
            }
        }
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
        self.debug_view = packet.debug_view;
        for (plan, area) in scenes.plans.views.iter().zip(&mut self.areas) {
            let view = &packet.views[plan.view];
            if let Some(area) = area {
                area.has_post = has_post_pass(packet, view);
                area.can_scale = can_scale(packet, view) && !packet.debug_view.is_on();
            }
        }
        let sizes: Vec<_> =
            self.areas.iter().map(|it| it.as_ref().map(|area| self.scale.size(area))).collect();
        self.screen_space.begin(device, packet, &scenes.plans.views, &sizes);
        self.fog.begin(device, packet, scenes, &sizes);
        self.prepare_skies(device, resources, scenes, packet);
        self.prepare_uniforms(scenes, packet);
        let sizes: Vec<_> = self.areas.iter().flatten().map(|it| self.scale.size(it)).collect();
        self.targets.ensure(device, &self.layouts, &sizes);
        self.ensure_light_behind(device, &scenes.plans);
        let layers = scenes.plans.shadows.iter().map(|shadow| match shadow.map {
            ShadowMap::Sun(layer) => layer + 1,
            ShadowMap::Spot(_) | ShadowMap::Omni(..) => 0,
        });
        let sun_grown = self.targets.sun.ensure(device, layers.max().unwrap_or(0));
        if self.targets.atlas.ensure(device, scenes.plans.atlas.side()) || sun_grown {
            self.buffers.renew();
        }
        if self.areas.iter().all(Option::is_none) {
            scenes.plans.undo_atlas();
        }
        self.plan_pre_skinning(device, scenes);
        let uniforms = (&self.uniforms[..], &self.frames[..]);
        let mut copied = self.buffers.copy(device, scenes, packet, uniforms);
        if self.decals.follow(device, &scenes.plans.decals.layers, &mut copied) {
            self.buffers.renew();
        }
        let shared = GroupResources {
            targets: &self.targets,
            morphs: &self.meshes.morphs,
            sky: &self.sky,
            decals: &self.decals,
        };
        self.buffers.create_bind_groups(device, &self.layouts, &shared, scenes);
        copied += self.pre_skinning.prepare(device, &self.buffers, &self.meshes);
        copied += self.fog.prepare(device, (&self.layouts.scene, &self.layouts.view), self.samples);
        self.prepare_screen_space(device, scenes, packet);
        copied += self.prepare_object_motion(device, resources, scenes);
        copied += self.prepare_outlines(device, scenes, packet);
        copied += self.prepare_post(device, resources, scenes, packet);
        self.buffers.follow_textures(resources.textures, !packet.surfaces.is_empty());
        if std::mem::take(&mut self.surfaces_changed) {
            self.surface_shaders.drop_unused();
            // Pipelines are created when materials are loaded, before anything is drawn with them.
            for key in scenes.library.function_batches() {
                self.ensure_functions(device, resources, &key, ViewLook::default());
            }
        }
        if !scenes.plans.atlas_draws.is_empty() {
            self.pipelines.ensure(device, &self.layouts, PipelineKey::ClearTile);
            let shadows = scenes.plans.atlas_draws.clone();
            let groups = shadow_groups(scenes, shadows);
            let look = ViewLook::default();
            self.ensure_groups(device, resources, scenes, (groups, look));
        }
        for (index, view) in scenes.plans.views.iter().enumerate() {
            if self.areas[index].is_some() {
                self.ensure(device, resources, scenes, (index, view));
            }
        }
        copied
    }

    /// Completes the uniforms of the plan's views.
    fn prepare_uniforms(&mut self, scenes: &RetainedScenes, packet: &FramePacket) {
        self.uniforms.clear();
        self.frames.clear();
        for (index, (view, area)) in scenes.plans.views.iter().zip(&self.areas).enumerate() {
            let mut uniform = view.uniform;
            let environment = &packet.views[view.view].environment;
            self.sky.fill_uniform(&mut uniform, environment, index);
            uniform.top[3] = compensated(uniform.top[3], environment);
            if let Some(jitter) = self.screen_space.jitter(index) {
                uniform.shift(jitter);
            }
            if let Some(area) = area {
                uniform.counts[3] = u32::from(!area.format.is_srgb());
                uniform.shadow[2] = area.rectangle[0] as f32;
                uniform.shadow[3] = area.rectangle[1] as f32;
                let (width, height) = self.scale.size(area);
                uniform.cluster_scale[0] = CLUSTER_COLUMNS as f32 / width as f32;
                uniform.cluster_scale[1] = CLUSTER_ROWS as f32 / height as f32;
            }
            if self.screen_space.occlusion(index).is_some() {
                uniform.counts[3] |= SCREEN_OCCLUSION_FLAG;
            }
            self.fog.fill_uniform(&mut uniform, index);
            self.set_debug_view(&mut uniform);
            self.uniforms.push(uniform);
            let frame =
                area.map(|area| custom_shaders::frame(&area, self.scale.size(&area), packet));
            self.frames.push(frame.unwrap_or_default());
        }
    }

    /// Creates the skies of the views, and plans the passes of their maps.
    fn prepare_skies(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
        packet: &FramePacket,
    ) {
        let plans = scenes.plans.views.iter().zip(&self.areas);
        let shown = |(plan, area): (&ViewPlan, &Option<ViewRectangle>)| {
            let view = &packet.views[plan.view];
            let draws_maps =
                packet.viewport_of(view).is_none_or(|(_, frame)| frame.has_pass(SKY_MAPS_PASS));
            let probes = &scenes.scenes[&plan.scene].probes[..];
            let probes = if draws_maps { probes } else { &[] };
            area.map(|_| SkyView { scene: plan.scene, view, probes })
        };
        let views: Vec<_> = plans.map(shown).collect();
        let drawn_with = (&self.layouts.view, self.samples);
        let RenderResources { textures, events, .. } = resources;
        if self.sky.prepare(device, textures, &views, drawn_with, events) {
            self.buffers.renew();
        }
    }

    /// Creates the pipeline and the bind group of a batch with surface functions.
    fn ensure_functions(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        key: &SceneBatchKey,
        look: ViewLook,
    ) {
        let key = &self.shown_key(key, look.has_decals);
        let RenderResources { textures, materials, events } = resources;
        let slot = MaterialSlot(key.material);
        materials.prepare_group(device, textures, slot);
        let (layouts, samples) = (&self.layouts, self.samples);
        let binder = materials.binder(slot);
        if !self.surface_shaders.ensure(device, layouts, samples, key, &binder, events) {
            let class = surface_functions::plain_class(key.class);
            let key = PipelineKey::of_mesh(class, look.is_map_lit);
            self.pipelines.ensure(device, &self.layouts, key);
        }
    }

    /// Creates the pipeline of a batch in the depth prepass, with its functions if they move it.
    fn ensure_prepass(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        key: &SceneBatchKey,
    ) {
        let moved = |binder: &MaterialBinder| surface_functions::prepass_key(key, binder);
        if !self.ensure_outline_functions(device, resources, key, moved) {
            self.pipelines.ensure(device, &self.layouts, PipelineKey::DepthPrepass(key.class));
        }
    }

    /// Creates the pipeline of a batch whose functions change its outline; `moved` returns its key
    /// in the pass. Returns false if it has no such functions, or the adapter refused them.
    fn ensure_outline_functions(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        key: &SceneBatchKey,
        moved: impl Fn(&MaterialBinder) -> Option<SceneBatchKey>,
    ) -> bool {
        if !key.class.has(PipelineClass::FUNCTIONS) {
            return false;
        }
        let RenderResources { textures, materials, events } = resources;
        let slot = MaterialSlot(key.material);
        materials.prepare_group(device, textures, slot);
        let binder = materials.binder(slot);
        let (layouts, samples) = (&self.layouts, self.samples);
        moved(&binder).is_some_and(|moved| {
            self.surface_shaders.ensure(device, layouts, samples, &moved, &binder, events)
        })
    }

    /// Creates the pipelines and texture bind groups of a view.
    fn ensure(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
        (index, view): (usize, &ViewPlan),
    ) {
        let look = self.view_look(index);
        let plans = &scenes.plans;
        let groups = shadow_groups(scenes, view.shadows.clone());
        let groups = groups.chain(&plans.groups[view.solid.clone()]);
        let transparent = &plans.transparent[view.blended.clone()];
        let through = transparent.iter().filter_map(|transparent| match transparent {
            TransparentGroup::Group(group) => Some(group),
            TransparentGroup::Particles { .. } => None,
        });
        let groups = groups.chain(through);
        self.ensure_groups(device, resources, scenes, (groups, look));
        for transparent in transparent {
            if let TransparentGroup::Particles { batch, .. } = transparent {
                let batch = &scenes.scenes[&view.scene].particle_batches[*batch as usize];
                let key = self.particle_key(index, batch);
                self.pipelines.ensure(device, &self.layouts, key);
            }
        }
        if view.transmission {
            for copies in [true, false] {
                self.pipelines.ensure(device, &self.layouts, PipelineKey::LightBehind { copies });
            }
        }
        self.pipelines.ensure(device, &self.layouts, PipelineKey::Sky);
        if let Some(tonemap) = self.tonemap_key(index).filter(|_| !self.has_post(index)) {
            self.pipelines.ensure(device, &self.layouts, tonemap);
        }
        if self.screen_space.runs(index, screen_space::DEPTH_PREPASS) {
            for InstancedDraw { batch, .. } in &plans.groups[view.solid.clone()] {
                self.ensure_prepass(device, resources, scenes.library.batch(*batch));
            }
        }
    }

    /// Returns the properties of a view that its pipelines of meshes depend on.
    fn view_look(&self, index: usize) -> ViewLook {
        let has_decals = self.uniforms[index].cluster_begin[3] != 0;
        ViewLook { is_map_lit: self.sky.is_lit(index), has_decals }
    }

    /// Creates the pipelines and texture bind groups of draw calls.
    fn ensure_groups<'a>(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
        (groups, look): (impl Iterator<Item = &'a InstancedDraw>, ViewLook),
    ) {
        let mut last = None;
        for InstancedDraw { batch, .. } in groups {
            let key = &self.shown_key(scenes.library.batch(*batch), look.has_decals);
            let alike = (key.class, key.material, key.set);
            if last.replace(alike) != Some(alike) {
                match custom_shaders::slot(key) {
                    _ if key.class.has(PipelineClass::FUNCTIONS) => {
                        self.ensure_functions(device, resources, key, look);
                    }
                    None => {
                        let key = PipelineKey::of_mesh(key.class, look.is_map_lit);
                        self.pipelines.ensure(device, &self.layouts, key);
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
    }
}

/// Returns the draw calls of a range of shadow maps.
fn shadow_groups(
    scenes: &RetainedScenes,
    shadows: Range<usize>,
) -> impl Iterator<Item = &InstancedDraw> {
    let plans = &scenes.plans;
    let groups = |shadow: &ShadowPlan| shadow.groups.clone();
    plans.shadows[shadows].iter().map(groups).flat_map(|groups| &plans.groups[groups])
}
