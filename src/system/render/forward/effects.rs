//! The effects of views: preparation of screen-space effects and of post effects, with the bind
//! groups by which they read each other's results. The effects themselves are in ../screen_space/
//! and ../post/.

use super::super::device::GpuDevice;
use super::super::fog::FroxelFog;
use super::super::post::{PostView, ViewKey, has_state};
use super::super::scene::{InstancedDraw, RetainedScenes, ViewPlan};
use super::super::screen_space::ScreenSpace;
use super::pipelines::PipelineKey;
use super::scene_buffers::{GroupResources, ViewImages};
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
        let shared = GroupResources { targets, morphs: &self.meshes.morphs, sky: &self.sky };
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
        scenes: &RetainedScenes,
    ) -> u64 {
        let (uniforms, screen) = (&self.uniforms, &self.screen_space);
        let stride = self.buffers.small_stride();
        let to_clip = |index: usize| uniforms[index].to_clip;
        let copied = self.object_motion.copy(device, scenes, screen, to_clip, stride);
        let views: Vec<usize> = self.object_motion.draws.keys().copied().collect();
        for index in views {
            let resources = (&self.object_motion, &self.meshes.morphs);
            let scene = scenes.plans.views[index].scene;
            let group = self.buffers.motion_group(device, &self.layouts, resources, scene);
            self.object_motion.groups.insert(index, group);
            for InstancedDraw { batch, .. } in &self.object_motion.draws[&index] {
                let key = PipelineKey::ObjectMotion(scenes.library.batch(*batch).class);
                self.pipelines.ensure(device, &self.layouts, key);
            }
        }
        copied
    }

    /// Returns the light of a view with one sample per pixel, as screen-space effects leave it.
    /// `None`: the tone mapping reads the light of the scene's target.
    pub fn resolved_light(&self, index: usize) -> Option<&wgpu::TextureView> {
        self.screen_space.light(index)
    }

    /// Returns the number of images of screen-space effects and of fog.
    pub fn screen_image_count(&self) -> u32 {
        self.screen_space.image_count() + self.fog.image_count()
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
