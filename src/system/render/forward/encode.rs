//! The draws of a view's scene: shadows, opaque and transparent objects, the sky, tone mapping.
//! State is set as seldom as possible, and each group is a draw call. Decides nothing about what is
//! drawn, and begins no passes (view_encode.rs).

use super::super::materials::{MaterialBinder, MaterialTable};
use super::super::post::PostStep;
use super::super::render_passes::PassResource;
use super::super::scene::{
    InstancedDraw, PipelineClass, RetainedScenes, SceneBatchKey, ShadowMap, TransparentGroup,
    ViewPlan,
};
use super::super::shader::MATERIAL_GROUP;
use super::super::sky::MapPass;
use super::super::textures::TextureTable;
use super::pipelines::PipelineKey;
use super::{ForwardRenderer, PARTICLE_BYTES, custom_shaders, surface_functions};
use engine_frame_packet::material::MaterialSlot;

/// The resources that a view's scene is drawn with.
pub struct SceneResources<'a> {
    pub scenes: &'a RetainedScenes,
    pub textures: &'a TextureTable,
    pub materials: &'a MaterialTable,
}

/// The current bindings, so that unchanged ones are not set again.
#[derive(Default)]
pub(super) struct SceneBoundState {
    /// The class, and the material that paints.
    class: Option<(PipelineClass, u32)>,
    set: Option<u32>,
    page: Option<u32>,
}

impl ForwardRenderer {
    /// Returns true if one of the plan's views is shown.
    pub fn is_shown(&self, index: usize) -> bool {
        self.areas[index].is_some()
    }

    /// Returns the samples per pixel of light and depth.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Returns the light and the depth that a view is drawn onto; `None`: the view is not shown.
    pub fn light_and_depth(
        &self,
        index: usize,
    ) -> Option<(&wgpu::TextureView, &wgpu::TextureView)> {
        let target = self.targets.get(self.scale.size(&self.areas[index]?));
        Some((&target.light, &target.depth))
    }

    /// Returns the layer that a shadow of a sun is drawn onto.
    pub fn sun_map(&self, layer: u32) -> &wgpu::TextureView {
        &self.targets.sun.layers[layer as usize]
    }

    /// Returns the texture of the shadows of omni and spot lights.
    pub fn shadow_atlas(&self) -> &wgpu::TextureView {
        &self.targets.atlas.view
    }

    /// Draws a view's opaque objects.
    pub fn draw_opaque(&self, to: &mut wgpu::RenderPass, index: usize, frame: &SceneResources) {
        let view = &frame.scenes.plans.views[index];
        let (group, offset) = self.buffers.scene(view.scene, index);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &frame.scenes.plans.groups[view.solid.clone()] {
            self.set_bind_groups(to, &mut set, (frame, view, index), group);
        }
    }

    /// Draws the depth of a view's opaque objects.
    pub fn draw_depth(&self, to: &mut wgpu::RenderPass, index: usize, frame: &SceneResources) {
        let view = &frame.scenes.plans.views[index];
        let (group, offset) = self.buffers.depth_view(view.scene, index);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &frame.scenes.plans.groups[view.solid.clone()] {
            self.batch(to, &mut set, frame.scenes, group, |to, key| {
                self.set_prepass_pipeline(to, frame, key);
                true
            });
        }
    }

    /// Sets the pipeline of a batch in the depth prepass, and the group of its functions.
    fn set_prepass_pipeline(
        &self,
        to: &mut wgpu::RenderPass,
        frame: &SceneResources,
        key: &SceneBatchKey,
    ) {
        let engine = PipelineKey::DepthPrepass(key.class);
        self.set_outline_pipeline(to, frame, (key, engine), surface_functions::prepass_key);
    }

    /// Sets the pipeline of a batch whose functions may change its outline, and the group of these
    /// functions. `moved` returns its key in the pass; without functions, its pipeline is that of
    /// the engine.
    fn set_outline_pipeline(
        &self,
        to: &mut wgpu::RenderPass,
        frame: &SceneResources,
        (key, engine): (&SceneBatchKey, PipelineKey),
        moved: fn(&SceneBatchKey, &MaterialBinder) -> Option<SceneBatchKey>,
    ) {
        let functions = key.class.has(PipelineClass::FUNCTIONS).then(|| {
            let binder = frame.materials.binder(MaterialSlot(key.material));
            let moved = moved(key, &binder)?;
            Some((self.surface_shaders.get(&moved, &binder)?, binder.group))
        });
        let Some((pipeline, group)) = functions.flatten() else {
            return to.set_pipeline(self.pipelines.get(engine));
        };
        to.set_pipeline(pipeline);
        if let Some(group) = group {
            to.set_bind_group(MATERIAL_GROUP, group, &[]);
        }
    }

    /// Returns true if a view has moved draws with motion vectors.
    pub fn has_object_motion(&self, index: usize) -> bool {
        self.object_motion.draws.contains_key(&index)
    }

    /// Draws the motion vectors of a view's moved draws.
    pub fn draw_object_motion(
        &self,
        to: &mut wgpu::RenderPass,
        index: usize,
        frame: &SceneResources,
    ) {
        let motion = &self.object_motion;
        to.set_bind_group(0, &motion.groups[&index], &[motion.offsets[&index]]);
        to.set_vertex_buffer(1, motion.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &motion.draws[&index] {
            self.batch(to, &mut set, frame.scenes, group, |to, key| {
                let engine = PipelineKey::ObjectMotion(key.class);
                let key = (key, engine);
                self.set_outline_pipeline(to, frame, key, surface_functions::motion_key);
                true
            });
        }
    }

    /// Draws the sky behind a view's opaque objects.
    pub fn draw_sky(&self, to: &mut wgpu::RenderPass, index: usize) {
        let (group, offset) = self.buffers.view(index);
        if let Some(sky) = self.sky.view(index) {
            to.set_bind_group(0, group, &[offset]);
            return self.sky.draw_background(to, sky);
        }
        to.set_pipeline(self.pipelines.get(PipelineKey::Sky));
        to.set_bind_group(0, group, &[offset]);
        to.draw(0..3, 0..1);
    }

    /// Draws a step of a view's froxel fog.
    pub fn draw_fog(
        &self,
        to: &mut wgpu::RenderPass,
        (index, step): (usize, usize),
        frame: &SceneResources,
    ) {
        let scene = self.buffers.scene(frame.scenes.plans.views[index].scene, index);
        self.fog.draw(to, (index, step), scene, self.buffers.view(index));
    }

    /// Draws the froxel fog in front of a view's sky.
    pub fn draw_fog_over_sky(
        &self,
        to: &mut wgpu::RenderPass,
        index: usize,
        frame: &SceneResources,
    ) {
        let scene = frame.scenes.plans.views[index].scene;
        self.fog.draw_over_sky(to, self.buffers.scene(scene, index));
    }

    /// Returns the passes of the maps of skies and probes, which precede all views of the frame.
    pub fn sky_passes(&self) -> &[MapPass] {
        self.sky.passes()
    }

    /// Draws a view's transparent objects and particles.
    pub fn draw_transparent(
        &self,
        to: &mut wgpu::RenderPass,
        index: usize,
        frame: &SceneResources,
    ) {
        let plans = &frame.scenes.plans;
        let view = &plans.views[index];
        let mut set = SceneBoundState::default();
        let mut batches =
            plans.views[..index].iter().map(|view| particles(frame.scenes, view)).sum();
        let mut meshes_bound = false;
        for transparent in &plans.transparent[view.blended.clone()] {
            match transparent {
                TransparentGroup::Group(group) => {
                    if !std::mem::replace(&mut meshes_bound, true) {
                        let (scene, offset) = self.buffers.scene(view.scene, index);
                        to.set_bind_group(0, scene, &[offset]);
                        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
                        set = SceneBoundState::default();
                    }
                    self.set_bind_groups(to, &mut set, (frame, view, index), group);
                }
                TransparentGroup::Particles { .. } if !self.are_particles_drawn() => {}
                TransparentGroup::Particles { batch, first, count } => {
                    let known = &frame.scenes.scenes[&view.scene].particle_batches[*batch as usize];
                    let key = self.particle_key(index, known);
                    to.set_pipeline(self.pipelines.get(key));
                    if let PipelineKey::LitParticles(_) = key {
                        let (scene, offset) = self.buffers.scene(view.scene, index);
                        to.set_bind_group(0, scene, &[offset]);
                        let (group, offset) = self.buffers.batch(batches);
                        to.set_bind_group(3, group, &[offset]);
                    } else {
                        let (group, offsets) = self.buffers.particle_view(index, batches);
                        to.set_bind_group(0, group, &offsets);
                    }
                    if key == PipelineKey::DistortingParticles {
                        self.set_light_behind(to, index);
                    }
                    to.set_bind_group(1, frame.textures.bind_group(known.texture), &[]);
                    let area = self.areas[index].expect("it is drawn");
                    let target = self.targets.get(self.scale.size(&area));
                    to.set_bind_group(2, &target.depth_group, &[]);
                    let (begin, bytes) = (u64::from(*first), u64::from(*count) * PARTICLE_BYTES);
                    let begin = begin * PARTICLE_BYTES;
                    let buffer = &self.buffers.particles.buffer;
                    to.set_vertex_buffer(0, buffer.slice(begin..begin + bytes));
                    to.draw(0..4, 0..*count);
                    batches += 1;
                    meshes_bound = false;
                }
            }
        }
    }

    /// Clears a tile of the shadow atlas, and draws a shadow onto it.
    pub fn draw_tile(&self, to: &mut wgpu::RenderPass, number: usize, frame: &SceneResources) {
        let (ShadowMap::Spot(rectangle) | ShadowMap::Omni(rectangle, _)) =
            frame.scenes.plans.shadows[number].map
        else {
            return;
        };
        let [left, top, side] = rectangle;
        to.set_viewport(left as f32, top as f32, side as f32, side as f32, 0.0, 1.0);
        to.set_scissor_rect(left, top, side, side);
        to.set_pipeline(self.pipelines.get(PipelineKey::ClearTile));
        to.draw(0..3, 0..1);
        self.draw_shadow(to, number, frame);
    }

    /// Draws a shadow onto its map.
    pub fn draw_shadow(&self, to: &mut wgpu::RenderPass, number: usize, frame: &SceneResources) {
        let shadow = &frame.scenes.plans.shadows[number];
        let (group, offset) = self.buffers.map(shadow.scene, number);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &frame.scenes.plans.groups[shadow.groups.clone()] {
            self.batch(to, &mut set, frame.scenes, group, |to, key| {
                self.set_mesh_pipeline(to, frame, key, false);
                true
            });
        }
    }

    /// Sets the pipeline of a lit batch or of one in a shadow map, and the group of its functions.
    fn set_mesh_pipeline(
        &self,
        to: &mut wgpu::RenderPass,
        frame: &SceneResources,
        key: &SceneBatchKey,
        is_map_lit: bool,
    ) {
        let functions = key.class.has(PipelineClass::FUNCTIONS).then(|| {
            let binder = frame.materials.binder(MaterialSlot(key.material));
            Some((self.surface_shaders.get(key, &binder)?, binder.group))
        });
        let Some((pipeline, group)) = functions.flatten() else {
            let class = surface_functions::plain_class(key.class);
            let mesh = PipelineKey::of_mesh(class, is_map_lit);
            return to.set_pipeline(self.pipelines.get(mesh));
        };
        to.set_pipeline(pipeline);
        if let Some(group) = group {
            to.set_bind_group(MATERIAL_GROUP, group, &[]);
        }
    }

    /// Draws one group of a view.
    fn set_bind_groups(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut SceneBoundState,
        (frame, view, index): (&SceneResources, &ViewPlan, usize),
        group: &InstancedDraw,
    ) {
        let was_custom = set
            .class
            .is_some_and(|(class, material)| material != 0 && !class.has(PipelineClass::FUNCTIONS));
        self.batch(to, set, frame.scenes, group, |to, key| {
            let look = self.view_look(index);
            let key = &self.shown_key(key, look.has_decals);
            let (scene, offset) = self.buffers.scene(view.scene, index);
            let lit = key.class.has(PipelineClass::FUNCTIONS);
            let Some(slot) = custom_shaders::slot(key).filter(|_| !lit) else {
                if was_custom {
                    to.set_bind_group(0, scene, &[offset]);
                }
                self.set_mesh_pipeline(to, frame, key, look.is_map_lit);
                if key.class.has(PipelineClass::TRANSMISSION) {
                    self.set_light_behind(to, index);
                }
                return true;
            };
            let binder = frame.materials.binder(slot);
            let Some((pipeline, is_custom)) = self.custom_shaders.get(key, &binder) else {
                return false;
            };
            to.set_pipeline(pipeline);
            let (frame_group, at) = self.buffers.frame(index);
            to.set_bind_group(0, frame_group, &[at]);
            to.set_bind_group(3, scene, &[offset]);
            if let Some(group) = binder.group.filter(|_| is_custom) {
                to.set_bind_group(MATERIAL_GROUP, group, &[]);
            }
            true
        });
    }

    /// Draws one group; `begin` sets the pipeline of a batch, and returns false if there is none.
    pub(super) fn batch(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut SceneBoundState,
        scenes: &RetainedScenes,
        group: &InstancedDraw,
        begin: impl FnOnce(&mut wgpu::RenderPass, &SceneBatchKey) -> bool,
    ) {
        let key: &SceneBatchKey = scenes.library.batch(group.batch);
        let found = self.meshes.get(key.mesh).zip(scenes.library.mesh(key.mesh));
        let Some(((range, page), mesh)) = found else {
            // The mesh was refused, which was reported.
            return;
        };
        let alike = (key.class, key.material);
        if set.class != Some(alike) {
            if !begin(to, key) {
                return;
            }
            set.class = Some(alike);
        }
        let reads = PipelineClass::MASK | PipelineClass::FUNCTIONS;
        let textured = !key.class.has(PipelineClass::SHADOW) || key.class.has(reads);
        if textured && set.set.replace(key.set) != Some(key.set) {
            to.set_bind_group(1, self.buffers.set(key.set), &[]);
        }
        if set.page.replace(range.page) != Some(range.page) {
            to.set_vertex_buffer(0, page.vertices.slice(..));
            if let Some(deformers) = &page.deformers {
                to.set_vertex_buffer(2, deformers.slice(..));
            }
            to.set_index_buffer(page.indices.slice(..), page.format);
        }
        let part = &mesh.parts[key.part as usize];
        let instances = group.first..group.first + group.count;
        let first = range.first_index + part.first;
        to.draw_indexed(first..first + part.count, range.first_vertex as i32, instances);
    }

    /// Returns true if a view has post effects.
    pub fn has_post(&self, index: usize) -> bool {
        self.post.plan_of(index).is_some()
    }

    /// Returns the steps of a view's post effects that write a resource.
    pub fn post_steps(&self, index: usize, resource: PassResource) -> &[PostStep] {
        self.post.steps(index, resource)
    }

    /// Returns the bytes of the images of post effects.
    pub fn post_bytes(&self) -> u64 {
        self.post.bytes()
    }

    /// Draws the last step of a view's post effects, in a pass on its target.
    pub fn draw_post(&self, to: &mut wgpu::RenderPass, index: usize) {
        let Some((area, plan)) = self.areas[index].zip(self.post.plan_of(index)) else { return };
        let [x, y, width, height] = area.rectangle;
        to.set_scissor_rect(x, y, width, height);
        to.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        plan.last.draw(to);
    }

    /// Draws a view's tone-mapped image, in a pass on its target whose viewport is set to the
    /// image's rectangle.
    pub fn tonemap(&self, to: &mut wgpu::RenderPass, index: usize) {
        let Some(area) = self.areas[index] else { return };
        let resolved = self.resolved_groups.get(&index);
        let [x, y, width, height] = area.rectangle;
        to.set_scissor_rect(x, y, width, height);
        to.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        let Some(key) = self.tonemap_key(index) else { return };
        to.set_pipeline(self.pipelines.get(key));
        let (group, offset) = self.buffers.view(index);
        to.set_bind_group(0, group, &[offset]);
        let target = self.targets.get((width, height));
        let light = if area.has_depth { &target.group } else { &target.light_group };
        to.set_bind_group(1, resolved.unwrap_or(light), &[]);
        to.draw(0..3, 0..1);
    }
}

/// Returns the number of particle batches that a view draws.
fn particles(scenes: &RetainedScenes, view: &ViewPlan) -> usize {
    let transparent = &scenes.plans.transparent[view.blended.clone()];
    transparent
        .iter()
        .filter(|transparent| matches!(transparent, TransparentGroup::Particles { .. }))
        .count()
}
