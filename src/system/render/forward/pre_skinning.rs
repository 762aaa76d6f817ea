//! Pre-skinning: a compute pass before all others that skins the vertices of draws once, which the
//! passes then read (scene/pre_skinning.rs plans it). Adapters without compute shaders do without.

use super::super::device::GpuDevice;
use super::super::scene::{
    CHUNK_VERTICES, DrawPlans, MeshLocation, PreSkinningPlan, PreSkinningRule, RetainedScenes,
    ScenePass, ShadowPlan,
};
use super::super::screen_space;
use super::super::shader_sources;
use super::super::textures::entry;
use super::ForwardRenderer;
use super::growing_buffer::GrowingBuffer;
use super::mesh_buffers::{MeshBuffers, MeshPage};
use super::scene_buffers::{SceneBuffers, group};
use std::num::NonZeroU64;

/// Number of passes from which on graphics cards pre-skin a draw.
const PASSES_MIN: u32 = 2;
/// Storage buffers that the shader uses.
const STORAGE_BUFFERS: u32 = 6;
/// The storage buffer that the shader writes: the rows of poses.
const POSES: u32 = 1;
const CHUNK_BYTES: u64 = size_of::<[u32; 4]>() as u64;

/// The pre-skinning of all scenes.
pub struct PreSkinning {
    /// Number of passes from which on a draw is pre-skinned; 0: never; `None`: by the adapter.
    pub passes_min: Option<u32>,
    plan: PreSkinningPlan,
    chunks: GrowingBuffer,
    pipeline: Option<(wgpu::ComputePipeline, wgpu::BindGroupLayout)>,
    /// The bind group and the number of workgroups of each job.
    dispatches: Vec<(wgpu::BindGroup, u32)>,
}

/// Returns true if an adapter can run the shader.
fn is_possible(device: &GpuDevice) -> bool {
    let limits = &device.limits;
    device.compute
        && limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
        && limits.max_compute_invocations_per_workgroup >= CHUNK_VERTICES
        && limits.max_compute_workgroup_size_x >= CHUNK_VERTICES
}

fn make_pipeline(device: &GpuDevice) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
    let storage = |binding| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: binding != POSES },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let raw = &device.device;
    let layout = raw.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("skinning"),
        entries: &[0, 1, 2, 3, 4, 5].map(storage),
    });
    let pipeline_layout = raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("skinning"),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("skinning"),
        source: wgpu::ShaderSource::Wgsl(shader_sources::source("skinning", 1).into()),
    });
    let pipeline = raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("skinning"),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("skin"),
        compilation_options: Default::default(),
        cache: None,
    });
    (pipeline, layout)
}

impl PreSkinning {
    pub fn new(device: &GpuDevice, passes_min: Option<u32>) -> PreSkinning {
        PreSkinning {
            passes_min,
            plan: PreSkinningPlan::default(),
            chunks: GrowingBuffer::new(device, wgpu::BufferUsages::STORAGE, 0),
            pipeline: None,
            dispatches: Vec::new(),
        }
    }

    /// Plans the pre-skinning of a frame with these passes.
    fn plan(
        &mut self,
        device: &GpuDevice,
        scenes: &mut RetainedScenes,
        meshes: &MeshBuffers,
        passes: &[ScenePass],
    ) {
        let binding_bytes_max = device.limits.max_storage_buffer_binding_size;
        let passes_min = match self.passes_min {
            _ if !is_possible(device) => 0,
            Some(passes) => passes,
            // Processors take longer with it (docs/renderer.md).
            None if device.info.software => 0,
            None => PASSES_MIN,
        };
        let rule = PreSkinningRule { passes_min, binding_bytes_max };
        let locate = |mesh: u32| {
            let (range, page) = meshes.get(mesh)?;
            let is_bound = |buffer: &wgpu::Buffer| buffer.size() <= binding_bytes_max;
            let is_usable =
                is_bound(&page.vertices) && page.deformers.as_ref().is_some_and(is_bound);
            is_usable.then(|| MeshLocation {
                page: range.page,
                first_vertex: range.first_vertex,
                vertices: range.vertex_count(),
            })
        };
        self.plan.plan(scenes, passes, rule, locate);
    }

    /// Copies the chunks, and creates the bind groups. Returns the number of copied bytes.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        buffers: &SceneBuffers,
        meshes: &MeshBuffers,
    ) -> u64 {
        self.dispatches.clear();
        if self.plan.jobs.is_empty() {
            return 0;
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.plan.chunks);
        self.chunks.write(device, bytes);
        let (_, layout) = self.pipeline.get_or_insert_with(|| make_pipeline(device));
        for job in &self.plan.jobs {
            let MeshPage { vertices, deformers, .. } = meshes.page(job.page);
            let deformers = deformers.as_ref().expect("only deformed meshes are located");
            let (draws, poses) = buffers.draws_and_poses(job.scene);
            let chunks = wgpu::BufferBinding {
                buffer: &self.chunks.buffer,
                offset: job.chunks.start as u64 * CHUNK_BYTES,
                size: NonZeroU64::new(job.chunks.len() as u64 * CHUNK_BYTES),
            };
            let entries = [
                entry(0, draws.as_entire_binding()),
                entry(POSES, poses.as_entire_binding()),
                entry(2, meshes.morphs.buffer.as_entire_binding()),
                entry(3, wgpu::BindingResource::Buffer(chunks)),
                entry(4, vertices.as_entire_binding()),
                entry(5, deformers.as_entire_binding()),
            ];
            let group = group(device, "skinning", layout, &entries);
            self.dispatches.push((group, job.chunks.len() as u32));
        }
        bytes.len() as u64
    }
}

impl ForwardRenderer {
    /// Plans the pre-skinning of the views that are shown.
    pub(super) fn plan_pre_skinning(&mut self, device: &GpuDevice, scenes: &mut RetainedScenes) {
        let passes = self.scene_passes(&scenes.plans);
        self.pre_skinning.plan(device, scenes, &self.meshes, &passes);
    }

    /// Returns the passes of the frame that draw meshes.
    fn scene_passes(&self, plans: &DrawPlans) -> Vec<ScenePass> {
        let pass = |scene, groups| ScenePass { scene, groups, transparent: 0..0 };
        let shadow = |shadow: &ShadowPlan| pass(shadow.scene, shadow.groups.clone());
        let lamps = &plans.shadows[plans.atlas_draws.clone()];
        let mut all: Vec<ScenePass> = lamps.iter().map(shadow).collect();
        for (index, view) in plans.views.iter().enumerate() {
            if !self.is_shown(index) {
                continue;
            }
            all.extend(plans.shadows[view.shadows.clone()].iter().map(shadow));
            let (scene, groups) = (view.scene, view.solid.clone());
            all.push(ScenePass { scene, groups, transparent: view.blended.clone() });
            if self.screen_space.runs(index, screen_space::DEPTH_PREPASS) {
                all.push(pass(scene, view.solid.clone()));
            }
            all.extend(view.outlines.as_ref().map(|plan| pass(scene, plan.groups.clone())));
        }
        all
    }

    /// Returns true if the frame has a pass of pre-skinning.
    pub fn has_pre_skinning(&self) -> bool {
        !self.pre_skinning.dispatches.is_empty()
    }

    /// Encodes the pre-skinning of all scenes.
    pub fn encode_pre_skinning(&self, to: &mut wgpu::ComputePass) {
        let Some((pipeline, _)) = &self.pre_skinning.pipeline else { return };
        to.set_pipeline(pipeline);
        for (group, workgroups) in &self.pre_skinning.dispatches {
            to.set_bind_group(0, group, &[]);
            to.dispatch_workgroups(*workgroups, 1, 1);
        }
    }
}
