//! The effects of views: preparation of screen-space effects and of post effects, with the bind
//! groups by which they read each other's results. The effects themselves are in ../screen_space/
//! and ../post/.

use super::super::device::GpuDevice;
use super::super::fog::FroxelFog;
use super::super::frame_limits::has_outline_passes;
use super::super::materials::MaterialBinder;
use super::super::post::{PostView, ViewKey, has_state};
use super::super::scene::{InstancedDraw, PipelineClass, RetainedScenes, SceneBatchKey, ViewPlan};
use super::super::screen_space::ScreenSpace;
use super::custom_shaders;
use super::encode::{SceneBoundState, SceneResources};
use super::object_motion::ObjectMotionUniform;
use super::outlines::{OutlineInputs, Outlines, shape_class};
use super::pipelines::PipelineKey;
use super::scene_buffers::{GroupResources, MapUniform, ViewImages, part_of};
use super::surface_functions;
use super::targets;
use super::{ForwardRenderer, RenderResources, ViewRectangle};
use engine_frame_packet::FramePacket;

impl ForwardRenderer {
    /// Creates the resources of screen-space effects, and the bind groups with their results.
    pub(super) fn prepare_screen_space(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        packet: &FramePacket,
    ) {
        let (targets, areas, scale) = (&self.targets, &self.areas, self.scale);
        let target =
            |index: usize| targets.get(scale.size(&areas[index].expect("the view is shown")));
        let light = |index| &target(index).light;
        self.screen_space.prepare(device, packet, &scenes.plans.views, light);
        let (morphs, sky, decals) = (&self.meshes.morphs, &self.sky, &self.decals);
        let shared = GroupResources { targets, morphs, sky, decals };
        let images = |index| ViewImages {
            occlusion: self.screen_space.occlusion(index),
            fog: self.fog.sum(index),
        };
        self.buffers.create_own_groups(device, &self.layouts, &shared, scenes, images);
        let group = |(index, area): (usize, &Option<ViewRectangle>)| {
            let (area, light) = area.zip(self.resolved_light(index))?;
            let depth = area.has_depth.then(|| &target(index).depth);
            let layouts = (&self.layouts.resolved_light, &self.layouts.resolved_light_only);
            Some((index, targets::light_group(device, layouts, light, depth)))
        };
        self.resolved_groups = areas.iter().enumerate().filter_map(group).collect();
        self.show_debug_images(device);
    }

    /// Returns the froxel fog of all views.
    pub fn fog(&self) -> &FroxelFog {
        &self.fog
    }

    /// Copies the previous poses of moved draws for the views with motion vectors. Returns the
    /// number of copied bytes.
    pub(super) fn prepare_object_motion(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
    ) -> u64 {
        let (uniforms, screen) = (&self.uniforms, &self.screen_space);
        let stride = self.buffers.small_stride();
        let view = |index: usize| (uniforms[index].to_clip, uniforms[index].ahead[3]);
        let copied = self.object_motion.copy(device, scenes, screen, view, stride);
        let views: Vec<usize> = self.object_motion.draws.keys().copied().collect();
        for index in views {
            let scene = (&self.meshes.morphs, scenes.plans.views[index].scene);
            let motion = &self.object_motion;
            let uniform = part_of(&motion.uniforms.buffer, size_of::<ObjectMotionUniform>());
            let parts = (uniform, Some(&motion.rows));
            let group = self.buffers.posed_group(device, &self.layouts, parts, scene);
            self.object_motion.groups.insert(index, group);
            let draws = self.object_motion.draws[&index].clone();
            for InstancedDraw { batch, .. } in draws {
                let key = scenes.library.batch(batch);
                let moved = |binder: &MaterialBinder| surface_functions::motion_key(key, binder);
                if !self.ensure_outline_functions(device, resources, key, moved) {
                    let key = PipelineKey::ObjectMotion(key.class);
                    self.pipelines.ensure(device, &self.layouts, key);
                }
            }
        }
        copied
    }

    /// Prepares the outlines of the views that have some. Returns the number of copied bytes.
    pub(super) fn prepare_outlines(
        &mut self,
        device: &GpuDevice,
        scenes: &RetainedScenes,
        packet: &FramePacket,
    ) -> u64 {
        let plans = &scenes.plans.views;
        let inputs_of = |(index, plan): (usize, &'_ ViewPlan)| {
            let view = &packet.views[plan.view];
            let is_shown = !self.is_debugged() && has_outline_passes(packet, view);
            let area = self.areas[index].filter(|_| is_shown)?;
            plan.outlines.as_ref()?;
            let to_clip = (view.camera.projection * view.camera.view).to_cols_array_2d();
            Some((index, area, self.scale.size(&area), to_clip))
        };
        let found: Vec<_> = plans.iter().enumerate().filter_map(inputs_of).collect();
        let inputs = |(index, area, depth_size, to_clip): (usize, _, _, _)| {
            let plan = plans[index].outlines.as_ref().expect("it was looked at");
            OutlineInputs { index, plan, area, depth_size, to_clip }
        };
        let views: Vec<OutlineInputs> = found.into_iter().map(inputs).collect();
        let (buffers, layouts, morphs) = (&self.buffers, &self.layouts, &self.meshes.morphs);
        let group = |index: usize, maps: &wgpu::Buffer| {
            let parts = (part_of(maps, size_of::<MapUniform>()), None);
            buffers.posed_group(device, layouts, parts, (morphs, plans[index].scene))
        };
        let classes = |index: usize| {
            let groups = plans[index].outlines.as_ref().map_or(0..0, |it| it.groups.clone());
            let groups = scenes.plans.groups[groups].iter();
            groups.map(|group| class_of_shape(scenes.library.batch(group.batch))).collect()
        };
        self.outlines.prepare(device, (layouts, self.samples), &views, group, classes)
    }

    /// Draws a step of the outlines of a view: the shapes, and then the nearest shapes.
    pub fn draw_outline_step(
        &self,
        to: &mut wgpu::RenderPass,
        index: usize,
        step: usize,
        frame: &SceneResources,
    ) {
        if step > 0 {
            return self.outlines.draw_rows(to, index);
        }
        let plans = &frame.scenes.plans;
        let area = self.areas[index].as_ref();
        let Some((area, plan)) = area.zip(plans.views[index].outlines.as_ref()) else { return };
        self.outlines.begin_shapes(to, index);
        to.set_bind_group(2, &self.targets.get(self.scale.size(area)).depth_group, &[]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = SceneBoundState::default();
        for group in &plans.groups[plan.groups.clone()] {
            self.batch(to, &mut set, frame.scenes, group, |to, key| {
                self.outlines.set_shape_pipeline(to, class_of_shape(key));
                true
            });
        }
    }

    /// Returns the outlines of the views.
    pub fn outlines(&self) -> &Outlines {
        &self.outlines
    }

    /// Returns the light of a view with one sample per pixel, as screen-space effects leave it.
    /// `None`: the tone mapping reads the light of the scene's target.
    pub fn resolved_light(&self, index: usize) -> Option<&wgpu::TextureView> {
        self.screen_space.light(index)
    }

    /// Returns the number of images of screen-space effects, of outlines and of fog.
    pub fn screen_image_count(&self) -> u32 {
        let outlines = self.outlines.image_count();
        self.screen_space.image_count() + outlines + self.fog.image_count()
    }

    pub fn screen_space(&self) -> &ScreenSpace {
        &self.screen_space
    }

    /// Prepares the post effects of the views. Returns the number of copied bytes.
    pub(super) fn prepare_post(
        &mut self,
        device: &GpuDevice,
        resources: &mut RenderResources,
        scenes: &RetainedScenes,
        packet: &FramePacket,
    ) -> u64 {
        let plans = &scenes.plans.views;
        let (screen, layouts) = (&self.screen_space, &self.layouts);
        let is_lit = !self.is_debugged();
        let key = |plan: &ViewPlan| (packet.views[plan.view].target, plan.scene);
        let view = |index: usize| {
            let area = self.areas[index].filter(|_| is_lit)?;
            let plan = &plans[index];
            let (target, scene) = key(plan);
            let environment = &packet.views[plan.view].environment;
            // Only states of automatic exposure need it.
            let earlier = if has_state(environment) { &plans[..index] } else { &[] };
            let number = earlier.iter().filter(|it| key(it) == (target, scene)).count();
            let size = self.scale.size(&area);
            let lit = self.targets.get(size);
            let resolved = screen.light(index).map(|light| {
                let layouts = (&layouts.resolved_light, &layouts.resolved_light_only);
                let group = |depth| targets::light_group(device, layouts, light, depth);
                (group(None), group(Some(&lit.depth)))
            });
            let is_resolved = resolved.is_some();
            let (light, light_and_depth) =
                resolved.unwrap_or_else(|| (lit.light_group.clone(), lit.group.clone()));
            Some(PostView {
                key: ViewKey { target, scene, number },
                environment,
                color_table: packet.views[plan.view].environment_textures.color_table,
                uniform: &self.uniforms[index],
                area,
                size,
                is_resolved,
                light,
                light_and_depth,
                seconds: packet.seconds,
            })
        };
        let views: Vec<Option<PostView>> = (0..plans.len()).map(view).collect();
        self.post.prepare(device, resources.textures, &views, resources.events)
    }
}

/// Returns the class of the shapes of a batch with an outline.
fn class_of_shape(key: &SceneBatchKey) -> PipelineClass {
    let has_functions = key.class.has(PipelineClass::FUNCTIONS);
    shape_class(key.class, !has_functions && custom_shaders::slot(key).is_some())
}
