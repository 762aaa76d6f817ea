//! The draws of a view's scene: shadows, opaque and transparent objects, the sky, tone mapping.
//! State is set as seldom as possible, and each group is a draw call. Decides nothing about what is
//! drawn, and begins no passes (view_encode.rs).

use super::super::materials::MaterialTable;
use super::super::scene::{
    InstancedDraw, PipelineClass, RetainedScenes, SceneBatchKey, ShadowMap, ShadowPlan,
    TransparentGroup, ViewPlan,
};
use super::super::shader::MATERIAL_GROUP;
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
struct SceneBoundState {
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

    /// Returns the light and the depth that a view is drawn onto; `None`: the view is not shown.
    pub fn light_and_depth(
        &self,
        index: usize,
    ) -> Option<(&wgpu::TextureView, &wgpu::TextureView)> {
        let [_, _, width, height] = self.areas[index]?.rectangle;
        let target = self.targets.get((width, height));
        Some((&target.light, &target.depth))
    }

    /// Returns the levels of the light behind the surfaces of a view.
    pub fn background_levels(&self, index: usize) -> &[wgpu::TextureView] {
        let size = self.areas[index].map(|area| (area.rectangle[2], area.rectangle[3]));
        let found = size.and_then(|size| self.targets.background(size));
        found.map_or(&[][..], |background| &background.levels[..])
    }

    /// Draws a level of the light behind the surfaces of a view: a copy of the light, or of the
    /// level before.
    pub fn draw_background(&self, to: &mut wgpu::RenderPass, index: usize, level: usize) {
        let Some(area) = self.areas[index] else { return };
        let size = (area.rectangle[2], area.rectangle[3]);
        let Some(background) = self.targets.background(size) else { return };
        to.set_pipeline(self.pipelines.get(PipelineKey::Background { copies: level == 0 }));
        let group = match level {
            0 => &self.targets.get(size).light_group,
            level => &background.groups[level - 1],
        };
        to.set_bind_group(0, group, &[]);
        to.draw(0..3, 0..1);
    }

    /// Returns the layer that a shadow is drawn onto.
    pub fn shadow_map(&self, shadow: &ShadowPlan) -> &wgpu::TextureView {
        let maps = match shadow.map {
            ShadowMap::Sun => &self.targets.sun,
            ShadowMap::Spot => &self.targets.spots,
        };
        &maps.layers[shadow.layer as usize]
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

    /// Draws the sky behind a view's opaque objects.
    pub fn draw_sky(&self, to: &mut wgpu::RenderPass, index: usize) {
        to.set_pipeline(self.pipelines.get(PipelineKey::Sky));
        let (group, offset) = self.buffers.view(index);
        to.set_bind_group(0, group, &[offset]);
        to.draw(0..3, 0..1);
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
                TransparentGroup::Particles { batch, first, count } => {
                    let known = &frame.scenes.scenes[&view.scene].particle_batches[*batch as usize];
                    to.set_pipeline(self.pipelines.get(PipelineKey::Particles(known.blend)));
                    let (group, offsets) = self.buffers.particle_view(index, batches);
                    to.set_bind_group(0, group, &offsets);
                    to.set_bind_group(1, frame.textures.bind_group(known.texture), &[]);
                    let rectangle = self.areas[index].expect("it is drawn").rectangle;
                    let target = self.targets.get((rectangle[2], rectangle[3]));
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

    /// Draws one of a view's shadows onto its map.
    pub fn draw_shadow(
        &self,
        to: &mut wgpu::RenderPass,
        view: &ViewPlan,
        number: usize,
        frame: &SceneResources,
    ) {
        let shadow = &frame.scenes.plans.shadows[number];
        let (group, offset) = self.buffers.map(view.scene, number);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &frame.scenes.plans.groups[shadow.groups.clone()] {
            self.batch(to, &mut set, frame.scenes, group, |to, key| {
                self.set_mesh_pipeline(to, frame, key);
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
    ) {
        let functions = key.class.has(PipelineClass::FUNCTIONS).then(|| {
            let binder = frame.materials.binder(MaterialSlot(key.material));
            Some((self.surface_shaders.get(key, &binder)?, binder.group))
        });
        let Some((pipeline, group)) = functions.flatten() else {
            let class = surface_functions::plain_class(key.class);
            return to.set_pipeline(self.pipelines.get(PipelineKey::Mesh(class)));
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
            let (scene, offset) = self.buffers.scene(view.scene, index);
            let lit = key.class.has(PipelineClass::FUNCTIONS);
            let Some(slot) = custom_shaders::slot(key).filter(|_| !lit) else {
                if was_custom {
                    to.set_bind_group(0, scene, &[offset]);
                }
                self.set_mesh_pipeline(to, frame, key);
                if key.class.has(PipelineClass::TRANSMISSION) {
                    let [_, _, width, height] = self.areas[index].expect("it is drawn").rectangle;
                    let background = self.targets.background((width, height));
                    let background = background.expect("the plan has transmission");
                    to.set_bind_group(3, &background.group, &[]);
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
    fn batch(
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

    /// Draws a view's tone-mapped image, in a pass on its target whose viewport is set to the
    /// image's rectangle.
    pub fn tonemap(&self, to: &mut wgpu::RenderPass, index: usize) {
        let Some(area) = self.areas[index] else { return };
        let [x, y, width, height] = area.rectangle;
        to.set_scissor_rect(x, y, width, height);
        to.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        to.set_pipeline(
            self.pipelines
                .get(PipelineKey::Tonemap { format: area.format, has_depth: area.has_depth }),
        );
        let (group, offset) = self.buffers.view(index);
        to.set_bind_group(0, group, &[offset]);
        let target = self.targets.get((width, height));
        to.set_bind_group(1, if area.has_depth { &target.group } else { &target.light_group }, &[]);
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
