//! Screen-space effects of views: ambient occlusion, depth of field, motion blur and temporal
//! anti-aliasing, from the depth and the light of the picture. Keeps the images and the history of
//! each view that uses them. A view without these effects has no images and no passes.
//!
//! The steps are rows of a table (steps.rs). view_encode.rs begins their passes.

mod camera_history;
mod images;
mod steps;
mod uniforms;

use super::device::GpuDevice;
use super::frame_limits::draws_resolved_light;
use super::scene::ViewPlan;
use super::textures::entry;
use engine_foundation::{Mat4, Vec2, Vec3};
use engine_frame_packet::shading_environment::ScreenSpaceValues;
use engine_frame_packet::{CameraFrame, FramePacket, ViewTarget};
use images::ScreenImage;
use steps::{FIRST_INPUT, STEPS, StepInput, StepPipeline};
use uniforms::{HistoryInputs, ScreenUniform, is_orthographic};

pub use camera_history::CameraHistory;
pub use steps::{
    AMBIENT_OCCLUSION, CONTACT_SHADOWS, DEPTH_OF_FIELD, DEPTH_PREPASS, LIGHT_RESOLVE, MOTION_BLUR,
    MOTION_VECTORS, OBJECT_MOTION, TEMPORAL,
};

/// Format of motion vectors.
pub const MOTION_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;

/// The effects of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ViewEffects {
    ambient_occlusion: bool,
    contact_shadows: bool,
    depth_of_field: bool,
    motion_blur: bool,
    temporal: bool,
}

impl ViewEffects {
    fn new(values: &ScreenSpaceValues, camera: &CameraFrame, has_sun: bool) -> ViewEffects {
        let by_lens = values.depth_of_field == 1.0;
        ViewEffects {
            ambient_occlusion: values.ambient_occlusion_intensity > 0.0,
            contact_shadows: values.contact_shadow_length > 0.0 && has_sun,
            // A lens has perspective.
            depth_of_field: values.depth_of_field > 0.0
                && values.depth_of_field_radius > 0.0
                && !(by_lens && is_orthographic(camera)),
            motion_blur: values.has_motion_blur(),
            temporal: values.temporal_anti_aliasing > 0.0,
        }
    }

    fn is_any(self) -> bool {
        self != ViewEffects::default()
    }

    fn has_motion(self) -> bool {
        self.motion_blur || self.temporal
    }

    fn changes_light(self) -> bool {
        self.has_motion() || self.depth_of_field
    }

    /// Returns true if a render pass runs for a view with these effects.
    fn runs(self, pass: &str) -> bool {
        match pass {
            DEPTH_PREPASS => self.is_any(),
            AMBIENT_OCCLUSION => self.ambient_occlusion,
            CONTACT_SHADOWS => self.contact_shadows,
            LIGHT_RESOLVE => self.changes_light(),
            MOTION_VECTORS | OBJECT_MOTION => self.has_motion(),
            TEMPORAL => self.temporal,
            DEPTH_OF_FIELD => self.depth_of_field,
            MOTION_BLUR => self.motion_blur,
            _ => false,
        }
    }
}

/// The properties of a view on which its images depend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ViewSettings {
    /// Width and height in pixels.
    size: (u32, u32),
    effects: ViewEffects,
    half_occlusion: bool,
    /// True if generators draw onto the light after the effects.
    is_drawn_on: bool,
    /// Side of a tile of depth of field in texels of half resolution, and of motion blur in pixels.
    focus_tile: u32,
    motion_tile: u32,
}

/// Returns the side of tiles for a largest radius: a power of two, so that images do not change
/// with every value.
fn tile_side(radius: f32) -> u32 {
    (radius.clamp(1.0, 1024.0).ceil() as u32).next_power_of_two()
}

impl ViewSettings {
    fn new(
        values: &ScreenSpaceValues,
        camera: &CameraFrame,
        size: (u32, u32),
        (has_sun, is_drawn_on): (bool, bool),
    ) -> ViewSettings {
        let height = size.1 as f32;
        let effects = ViewEffects::new(values, camera, has_sun);
        let tile = |is_on: bool, radius: f32| if is_on { tile_side(radius * height) } else { 1 };
        ViewSettings {
            size,
            effects,
            is_drawn_on: is_drawn_on && effects.changes_light(),
            half_occlusion: effects.ambient_occlusion && values.ambient_occlusion_resolution == 0.0,
            focus_tile: tile(effects.depth_of_field, values.depth_of_field_radius / 2.0),
            motion_tile: tile(effects.motion_blur, values.motion_blur_radius),
        }
    }
}

/// The identity of a view in successive frames: its target, its scene, and its number among the
/// views with both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ViewIdentity {
    target: ViewTarget,
    scene: u64,
    number: usize,
}

/// A step of a view in this frame.
struct PreparedStep {
    /// Index in [`STEPS`].
    step: usize,
    group: wgpu::BindGroup,
}

/// A view that has effects.
struct ScreenView {
    identity: ViewIdentity,
    settings: ViewSettings,
    images: Vec<(ScreenImage, wgpu::TextureView)>,
    cameras: CameraHistory,
    history: HistoryInputs,
    /// The index of the plan's view in this frame.
    index: usize,
    steps: Vec<PreparedStep>,
    /// The image that tone mapping reads.
    light: Option<ScreenImage>,
    /// True if that image is a copy of the history, onto which generators can draw.
    is_copied: bool,
}

impl ScreenView {
    fn image(&self, wanted: ScreenImage) -> &wgpu::TextureView {
        let found = self.images.iter().find(|(image, _)| *image == wanted);
        &found.unwrap_or_else(|| panic!("the view has no image {wanted:?}")).1
    }

    /// Exchanges the history with that of the previous frame.
    fn swap_history(&mut self) {
        for (image, _) in &mut self.images {
            *image = match *image {
                ScreenImage::History => ScreenImage::PreviousHistory,
                ScreenImage::PreviousHistory => ScreenImage::History,
                other => other,
            };
        }
    }
}

/// Returns the direction towards the sun that casts shadows in a view.
fn shadow_sun(plan: &ViewPlan) -> Option<Vec3> {
    let suns = &plan.uniform.suns[..plan.uniform.counts[0] as usize];
    let [x, y, z, _] = suns.iter().find(|sun| sun.towards[3] > 0.5)?.towards;
    Some(Vec3::new(x, y, z))
}

/// Returns the images that a view needs.
fn images_of(settings: &ViewSettings) -> Vec<ScreenImage> {
    let mut all = Vec::new();
    if settings.effects.is_any() {
        all.push(ScreenImage::Depth);
    }
    for step in STEPS.iter().filter(|step| settings.effects.runs(step.pass)) {
        all.extend(step.outputs.iter().filter(|image| !all.contains(*image)).collect::<Vec<_>>());
        if step.outputs.contains(&ScreenImage::History) {
            all.push(ScreenImage::PreviousHistory);
        }
    }
    all
}

/// The screen-space effects of all views.
pub struct ScreenSpace {
    samples: u32,
    views: Vec<ScreenView>,
    pipelines: Vec<Option<StepPipeline>>,
    /// A [`ScreenUniform`] for each of the plan's views.
    uniforms: Option<wgpu::Buffer>,
    sampler: Option<wgpu::Sampler>,
    /// Bytes from one uniform to the next.
    stride: u64,
    scratch: Vec<u8>,
}

impl ScreenSpace {
    /// `samples`: number of samples per pixel of the scene's light.
    pub fn new(device: &GpuDevice, samples: u32) -> ScreenSpace {
        let alignment = u64::from(device.limits.min_uniform_buffer_offset_alignment.max(256));
        ScreenSpace {
            samples,
            views: Vec::new(),
            pipelines: STEPS.iter().map(|_| None).collect(),
            uniforms: None,
            sampler: None,
            stride: (size_of::<ScreenUniform>() as u64).next_multiple_of(alignment),
            scratch: Vec::new(),
        }
    }

    /// Begins a frame: finds the views that have effects, and creates and removes images.
    pub fn begin(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        plans: &[ViewPlan],
        sizes: &[Option<(u32, u32)>],
    ) {
        let mut before = std::mem::take(&mut self.views);
        for (index, (plan, size)) in plans.iter().zip(sizes).enumerate() {
            let (view, Some(size)) = (&packet.views[plan.view], *size) else { continue };
            let values = &view.environment.screen_space;
            let has_sun = shadow_sun(plan).is_some();
            let purpose = (has_sun, draws_resolved_light(packet, view));
            let settings = ViewSettings::new(values, &view.camera, size, purpose);
            if !settings.effects.is_any() || size.0 == 0 || size.1 == 0 {
                continue;
            }
            let (target, scene) = (view.target, plan.scene);
            let is_same =
                |it: &&ScreenView| it.identity.target == target && it.identity.scene == scene;
            let number = self.views.iter().filter(is_same).count();
            let identity = ViewIdentity { target, scene, number };
            let known = before.iter().position(|it| it.identity == identity);
            let mut it = match known.map(|known| before.swap_remove(known)) {
                Some(known) if known.settings == settings => known,
                // Another size, or other effects: everything begins again.
                _ => ScreenView {
                    identity,
                    settings,
                    images: images_of(&settings)
                        .into_iter()
                        .map(|image| (image, image.create(device, &settings)))
                        .collect(),
                    cameras: CameraHistory::default(),
                    history: HistoryInputs::default(),
                    index,
                    steps: Vec::new(),
                    light: None,
                    is_copied: false,
                },
            };
            it.index = index;
            it.history = it.cameras.advance(&view.camera, settings.effects.temporal, size);
            it.swap_history();
            self.views.push(it);
        }
    }

    /// Creates the resources of the steps and copies the uniforms. `light` returns the
    /// multisampled light of one of the plan's views.
    pub fn prepare<'a>(
        &mut self,
        device: &GpuDevice,
        packet: &FramePacket,
        plans: &[ViewPlan],
        light: impl Fn(usize) -> &'a wgpu::TextureView,
    ) {
        if self.views.is_empty() {
            return self.release();
        }
        self.copy_uniforms(device, packet, plans);
        self.sampler.get_or_insert_with(|| {
            device.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("screen space"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            })
        });
        for (step, pipeline) in STEPS.iter().zip(&mut self.pipelines) {
            if self.views.iter().any(|view| view.settings.effects.runs(step.pass)) {
                pipeline.get_or_insert_with(|| StepPipeline::new(device, step, self.samples));
            }
        }
        let mut views = std::mem::take(&mut self.views);
        for view in &mut views {
            self.prepare_steps(device, view, light(view.index));
        }
        self.views = views;
    }

    /// Releases all images. Pipelines are kept: effects may be switched on again.
    pub fn release(&mut self) {
        self.views.clear();
        self.uniforms = None;
    }

    fn copy_uniforms(&mut self, device: &GpuDevice, packet: &FramePacket, plans: &[ViewPlan]) {
        self.scratch.clear();
        for view in &self.views {
            let plan = &plans[view.index];
            let of = &packet.views[plan.view];
            let (camera, values) = (&of.camera, &of.environment.screen_space);
            let sun = shadow_sun(plan).unwrap_or(Vec3::Z);
            let sun = camera.view.transform_vector3(sun).normalize_or(Vec3::Z);
            let light = (sun, plan.uniform.top[3]);
            let uniform = ScreenUniform::new(camera, values, &view.settings, &view.history, light);
            let end = self.scratch.len() + self.stride as usize;
            self.scratch.extend_from_slice(bytemuck::bytes_of(&uniform));
            self.scratch.resize(end, 0);
        }
        let size = self.scratch.len() as u64;
        let buffer = self.uniforms.take_if(|buffer| buffer.size() >= size);
        let buffer = buffer.unwrap_or_else(|| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("screen space"),
                size: size.next_power_of_two(),
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        device.upload(&buffer, 0, &self.scratch);
        self.uniforms = Some(buffer);
    }

    fn prepare_steps(
        &self,
        device: &GpuDevice,
        view: &mut ScreenView,
        scene_light: &wgpu::TextureView,
    ) {
        view.steps.clear();
        view.light = None;
        for (index, step) in STEPS.iter().enumerate() {
            let Some(pipeline) = &self.pipelines[index] else { continue };
            if !view.settings.effects.runs(step.pass) {
                continue;
            }
            let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: self.uniforms.as_ref().expect("uniforms were copied"),
                offset: 0,
                size: std::num::NonZeroU64::new(size_of::<ScreenUniform>() as u64),
            });
            let sampler = self.sampler.as_ref().expect("it was created");
            let mut entries =
                vec![entry(0, uniform), entry(1, wgpu::BindingResource::Sampler(sampler))];
            for (binding, input) in (FIRST_INPUT..).zip(step.inputs) {
                let image = match input {
                    StepInput::SceneLight => scene_light,
                    StepInput::LatestLight => view.image(view.light.expect("it is resolved first")),
                    StepInput::Image(image) => view.image(*image),
                };
                entries.push(entry(binding, wgpu::BindingResource::TextureView(image)));
            }
            let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(step.pass),
                layout: &pipeline.layout,
                entries: &entries,
            });
            view.steps.push(PreparedStep { step: index, group });
            view.light = step.outputs.iter().copied().find(|it| it.is_light()).or(view.light);
        }
        // The next frame must not find what generators draw in its history.
        view.is_copied = view.settings.is_drawn_on && view.light == Some(ScreenImage::History);
        if view.is_copied {
            view.light = Some(ScreenImage::Light);
        }
    }

    /// Copies the light of a view out of its history, after the last step, if generators draw onto
    /// it.
    pub fn copy_light(&self, encoder: &mut wgpu::CommandEncoder, index: usize) {
        let Some(view) = self.view(index).filter(|view| view.is_copied) else { return };
        let [from, to] = [ScreenImage::History, ScreenImage::Light].map(|it| view.image(it));
        let (from, to) = (from.texture(), to.texture());
        encoder.copy_texture_to_texture(from.as_image_copy(), to.as_image_copy(), from.size());
    }

    fn view(&self, index: usize) -> Option<&ScreenView> {
        self.views.iter().find(|view| view.index == index)
    }

    /// Returns true if a render pass runs for one of the plan's views.
    pub fn runs(&self, index: usize, pass: &str) -> bool {
        self.view(index).is_some_and(|view| view.settings.effects.runs(pass))
    }

    /// Returns the offset of a view's picture in clip space.
    pub fn jitter(&self, index: usize) -> Option<Vec2> {
        let jitter = self.view(index)?.history.jitter;
        (jitter != Vec2::ZERO).then_some(jitter)
    }

    /// Returns the depth that the depth prepass of a view draws onto.
    pub fn depth(&self, index: usize) -> Option<&wgpu::TextureView> {
        Some(self.view(index)?.image(ScreenImage::Depth))
    }

    /// Returns the motion vectors of a view.
    pub fn motion(&self, index: usize) -> Option<&wgpu::TextureView> {
        let view = self.view(index)?;
        view.settings.effects.has_motion().then(|| view.image(ScreenImage::Motion))
    }

    /// Returns the matrices of a view from world space to clip space in this frame and in the
    /// previous one, without jitter. `None`: the view has no motion vectors, or no previous frame.
    pub fn motion_matrices(&self, index: usize) -> Option<[Mat4; 2]> {
        let view = self.view(index)?;
        view.history.to_clip.filter(|_| view.settings.effects.has_motion())
    }

    /// Returns the ambient occlusion and the contact shadows of a view.
    pub fn occlusion(&self, index: usize) -> Option<&wgpu::TextureView> {
        let view = self.view(index)?;
        let effects = view.settings.effects;
        let is_on = effects.ambient_occlusion || effects.contact_shadows;
        is_on.then(|| view.image(ScreenImage::Occlusion))
    }

    /// Returns the light of a view with one sample per pixel, as the effects leave it. `None`: no
    /// effect changes the light.
    pub fn light(&self, index: usize) -> Option<&wgpu::TextureView> {
        let view = self.view(index)?;
        Some(view.image(view.light?))
    }

    /// Returns true if generators can draw onto the light of a view after its effects.
    pub fn is_drawn_on(&self, index: usize) -> bool {
        self.view(index).is_some_and(|view| view.settings.is_drawn_on)
    }

    /// Returns the numbers of a view's steps that belong to a render pass.
    pub fn steps(&self, index: usize, pass: &str) -> Vec<usize> {
        let steps = self.view(index).map_or(&[][..], |view| &view.steps);
        let found = steps.iter().enumerate().filter(|(_, it)| STEPS[it.step].pass == pass);
        found.map(|(number, _)| number).collect()
    }

    /// Returns the images that a view's step draws onto.
    pub fn outputs(&self, index: usize, number: usize) -> Vec<&wgpu::TextureView> {
        let Some(view) = self.view(index) else { return Vec::new() };
        let outputs = STEPS[view.steps[number].step].outputs;
        outputs.iter().map(|image| view.image(*image)).collect()
    }

    /// Returns true if a view's step draws onto images that a step before it has drawn.
    pub fn does_keep(&self, index: usize, number: usize) -> bool {
        let Some(view) = self.view(index) else { return false };
        let outputs = |step: &PreparedStep| STEPS[step.step].outputs;
        let own = outputs(&view.steps[number]);
        view.steps[..number].iter().any(|before| outputs(before) == own)
    }

    /// Draws a view's step.
    pub fn draw(&self, to: &mut wgpu::RenderPass, index: usize, number: usize) {
        let Some(position) = self.views.iter().position(|view| view.index == index) else { return };
        let PreparedStep { step, group } = &self.views[position].steps[number];
        let pipeline = self.pipelines[*step].as_ref().expect("it was created");
        to.set_pipeline(&pipeline.pipeline);
        to.set_bind_group(0, group, &[(position as u64 * self.stride) as u32]);
        to.draw(0..3, 0..1);
    }

    /// Returns the images of a view with their names.
    pub fn named_images(&self, index: usize) -> Vec<(String, &wgpu::TextureView)> {
        let images = self.view(index).map_or(&[][..], |view| &view.images);
        images.iter().map(|(image, view)| (format!("screen {image:?}"), view)).collect()
    }

    /// Returns the number of images of all views.
    pub fn image_count(&self) -> u32 {
        self.views.iter().map(|view| view.images.len() as u32).sum()
    }
}
