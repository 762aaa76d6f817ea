//! Froxel fog: fog that suns and lamps light, with their shadows. Keeps the grid of each view that
//! has fog, and its history. A view without fog has no images and no passes.
//!
//! Two passes draw onto textures in which the slices of the grid lie side by side, so that every
//! adapter that draws at all can do it: one computes the light of each froxel (fog_scatter.wgsl),
//! one sums it from the camera on (fog_integrate.wgsl). Surfaces, particles and the sky then read
//! the sum (froxel_fog.wgsl). After Wronski, "Volumetric Fog: Unified Compute Shader Based Solution
//! to Atmospheric Scattering", 2014, and Hillaire, "Physically Based and Unified Volumetric
//! Rendering in Frostbite", 2015.

mod grid;
mod pipelines;
mod volumes;

use super::device::GpuDevice;
use super::scene::{RetainedScenes, SceneUniform};
use super::screen_space::CameraHistory;
use super::textures::entry;
use engine_foundation::Vec3;
use engine_frame_packet::shading_environment::FogValues;
use engine_frame_packet::{CameraFrame, FramePacket, View, ViewTarget};
use grid::{FogGrid, FogUniform, PreviousFog, reach};
use pipelines::FogPipelines;

/// Name of the render pass, as render configs name it.
pub const FOG_PASS: &str = "volumetric fog";
/// Format of the textures.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Number of steps: the light of froxels, and its sum.
pub const STEPS: usize = 2;

/// The identity of a view in successive frames: its target, its scene, and its number among the
/// views with both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ViewIdentity {
    target: ViewTarget,
    scene: u64,
    number: usize,
}

/// A view with fog.
struct FogView {
    identity: ViewIdentity,
    grid: FogGrid,
    /// The light of froxels of this frame, and that of the previous one.
    froxels: [wgpu::TextureView; 2],
    sum: wgpu::TextureView,
    cameras: CameraHistory,
    previous: Option<PreviousFog>,
    /// The index of the plan's view in this frame.
    index: usize,
    reach: [f32; 4],
    uniform: FogUniform,
    /// Bind group 1 of each step.
    groups: Option<[wgpu::BindGroup; STEPS]>,
}

/// The fog of all views.
pub struct FroxelFog {
    columns: u32,
    views: Vec<FogView>,
    pipelines: Option<FogPipelines>,
    uniforms: Option<wgpu::Buffer>,
    /// Bytes from one uniform to the next.
    stride: u64,
    scratch: Vec<u8>,
}

fn texture(device: &GpuDevice, (width, height): (u32, u32)) -> wgpu::TextureView {
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("froxel fog"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

/// Returns the values of a view's fog, within their ranges; `None`: it shows no fog.
fn fog_of(
    packet: &FramePacket,
    scenes: &RetainedScenes,
    view: &View,
    scene: u64,
) -> Option<FogValues> {
    let frame = packet.viewport_of(view);
    if packet.debug_view.is_on() || frame.is_some_and(|(_, frame)| !frame.has_pass(FOG_PASS)) {
        return None;
    }
    let volumes = &scenes.scenes[&scene].fog_volumes;
    if view.environment.fog.volumetric_fog_density <= 0.0 && volumes.is_empty() {
        return None;
    }
    let mut environment = view.environment;
    environment.sanitize();
    let values = environment.fog;
    let reach = volume_reach(&values);
    let is_any = values.volumetric_fog_density > 0.0
        || volumes::is_any_near(volumes, view.camera.position, reach);
    is_any.then_some(values)
}

/// Returns the distance from the camera within which fog volumes can be visible: the corners of a
/// view are farther than its middle.
fn volume_reach(values: &FogValues) -> f32 {
    4.0 * values.volumetric_fog_distance
}

impl FroxelFog {
    /// `columns`: the number of columns of grids; 0: there is no fog.
    pub fn new(device: &GpuDevice, columns: u32) -> FroxelFog {
        let alignment = u64::from(device.limits.min_uniform_buffer_offset_alignment.max(256));
        FroxelFog {
            columns,
            views: Vec::new(),
            pipelines: None,
            uniforms: None,
            stride: (size_of::<FogUniform>() as u64).next_multiple_of(alignment),
            scratch: Vec::new(),
        }
    }

    /// Changes the number of columns of grids.
    pub fn set_columns(&mut self, columns: u32) {
        self.columns = columns;
    }

    /// Begins a frame: finds the views that have fog, and creates and removes grids. `sizes` are
    /// those of the plan's views.
    pub fn begin(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        scenes: &RetainedScenes,
        sizes: &[Option<(u32, u32)>],
    ) {
        let mut before = std::mem::take(&mut self.views);
        for (index, (plan, size)) in scenes.plans.views.iter().zip(sizes).enumerate() {
            let (view, Some(size)) = (&packet.views[plan.view], *size) else { continue };
            let has_area = self.columns > 0 && size.0 > 0 && size.1 > 0;
            let values = fog_of(packet, scenes, view, plan.scene).filter(|_| has_area);
            let Some(values) = values else { continue };
            let grid = FogGrid::new(self.columns, size);
            let (target, scene) = (view.target, plan.scene);
            let is_same =
                |it: &&FogView| it.identity.target == target && it.identity.scene == scene;
            let number = self.views.iter().filter(is_same).count();
            let identity = ViewIdentity { target, scene, number };
            let known = before.iter().position(|it| it.identity == identity);
            let known = known.map(|known| before.swap_remove(known));
            let mut it = known
                .filter(|known| known.grid == grid)
                .unwrap_or_else(|| FogView::new(device, identity, grid));
            it.index = index;
            let volumes = &scenes.scenes[&scene].fog_volumes;
            let reach = volume_reach(&values);
            let near = volumes::choose(volumes, view.camera.position, reach);
            it.advance(&view.camera, &values, &near, size);
            self.views.push(it);
        }
    }

    /// Notes the grid of one of the plan's views in its uniform.
    pub fn fill_uniform(&self, uniform: &mut SceneUniform, index: usize) {
        if let Some(view) = self.view(index) {
            uniform.fog_grid = view.grid.numbers();
            uniform.fog_reach = view.reach;
        }
    }

    /// Creates the pipelines and the bind groups, and copies the uniforms. Returns the number of
    /// copied bytes.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        layouts: (&wgpu::BindGroupLayout, &wgpu::BindGroupLayout),
        samples: u32,
    ) -> u64 {
        if self.views.is_empty() {
            self.release();
            return 0;
        }
        let pipelines =
            self.pipelines.get_or_insert_with(|| FogPipelines::new(device, layouts, samples));
        self.scratch.clear();
        for view in &self.views {
            let end = self.scratch.len() + self.stride as usize;
            self.scratch.extend_from_slice(bytemuck::bytes_of(&view.uniform));
            self.scratch.resize(end, 0);
        }
        let size = self.scratch.len() as u64;
        let known = self.uniforms.take_if(|buffer| buffer.size() >= size);
        let buffer = known.unwrap_or_else(|| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("froxel fog"),
                size: size.next_power_of_two(),
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        device.upload(&buffer, 0, &self.scratch);
        for view in &mut self.views {
            let [froxels, history] = &view.froxels;
            // The sum reads what the first step draws, and the first step its previous image.
            view.groups = Some([history, froxels].map(|image| {
                let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &buffer,
                    offset: 0,
                    size: std::num::NonZeroU64::new(size_of::<FogUniform>() as u64),
                });
                device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("froxel fog"),
                    layout: &pipelines.layout,
                    entries: &[
                        entry(0, uniform),
                        entry(1, wgpu::BindingResource::TextureView(image)),
                    ],
                })
            }));
        }
        self.uniforms = Some(buffer);
        size
    }

    /// Releases all grids. Pipelines are kept: fog may appear again.
    pub fn release(&mut self) {
        self.views.clear();
        self.uniforms = None;
    }

    fn view(&self, index: usize) -> Option<&FogView> {
        self.views.iter().find(|view| view.index == index)
    }

    /// Returns the sum of a view's fog.
    pub fn sum(&self, index: usize) -> Option<&wgpu::TextureView> {
        Some(&self.view(index)?.sum)
    }

    /// Returns the texture that a step of a view draws onto.
    pub fn output(&self, index: usize, step: usize) -> Option<&wgpu::TextureView> {
        let view = self.view(index)?;
        Some(if step == 0 { &view.froxels[0] } else { &view.sum })
    }

    /// Draws a step of a view. `scene` and `plain` are its bind groups with and without the lights.
    pub fn draw(
        &self,
        to: &mut wgpu::RenderPass,
        (index, step): (usize, usize),
        scene: (&wgpu::BindGroup, u32),
        plain: (&wgpu::BindGroup, u32),
    ) {
        let Some(position) = self.views.iter().position(|view| view.index == index) else { return };
        let groups = self.views[position].groups.as_ref();
        let Some((groups, pipelines)) = groups.zip(self.pipelines.as_ref()) else { return };
        let (group, offset) = if step == 0 { scene } else { plain };
        to.set_pipeline(&pipelines.steps[step]);
        to.set_bind_group(0, group, &[offset]);
        to.set_bind_group(1, &groups[step], &[(position as u64 * self.stride) as u32]);
        to.draw(0..3, 0..1);
    }

    /// Draws the fog in front of the sky of a view.
    pub fn draw_over_sky(&self, to: &mut wgpu::RenderPass, scene: (&wgpu::BindGroup, u32)) {
        let Some(pipelines) = &self.pipelines else { return };
        to.set_pipeline(&pipelines.over_sky);
        to.set_bind_group(0, scene.0, &[scene.1]);
        to.draw(0..3, 0..1);
    }

    /// Returns the images of a view with their names.
    pub fn named_images(&self, index: usize) -> Vec<(String, &wgpu::TextureView)> {
        let Some(view) = self.view(index) else { return Vec::new() };
        let all = [("fog froxels", &view.froxels[0]), ("fog sum", &view.sum)];
        all.into_iter().map(|(name, image)| (name.to_string(), image)).collect()
    }

    /// Returns the number of images of all views.
    pub fn image_count(&self) -> u32 {
        3 * self.views.len() as u32
    }
}

impl FogView {
    fn new(device: &GpuDevice, identity: ViewIdentity, grid: FogGrid) -> FogView {
        let size = grid.texels();
        FogView {
            identity,
            grid,
            froxels: [texture(device, size), texture(device, size)],
            sum: texture(device, size),
            cameras: CameraHistory::default(),
            previous: None,
            index: 0,
            reach: [0.0; 4],
            uniform: FogUniform::new(&FogValues::DEFAULT, &[], None),
            groups: None,
        }
    }

    /// Begins a frame with a camera.
    fn advance(
        &mut self,
        camera: &CameraFrame,
        values: &FogValues,
        volumes: &[volumes::FogVolumeUniform],
        size: (u32, u32),
    ) {
        self.froxels.swap(0, 1);
        let history = self.cameras.advance(camera, false, size);
        let previous = self.previous.take().filter(|_| history.to_clip.is_some());
        self.uniform = FogUniform::new(values, volumes, previous.as_ref());
        self.reach = reach(values, camera);
        let ahead: Vec3 = -camera.view.row(2).truncate();
        self.previous = Some(PreviousFog {
            to_clip: camera.projection * camera.view,
            eye: camera.position,
            ahead,
            reach: self.reach,
            frames: previous.map_or(1, |previous| previous.frames.saturating_add(1)),
        });
    }
}
