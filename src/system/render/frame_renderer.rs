//! The frame renderer: applies packets on an open device, and draws them. One thread owns it.
//! Chooses no adapter and knows no packet queue.

mod captures;

use super::device::{self, GpuDevice};
use super::forward::{ForwardRenderer, RenderResources, ViewRectangle};
use super::frame_capture::CapturedPass;
use super::generators::{GeneratorRenderer, OutputFormats};
use super::gpu_timing::GpuTiming;
use super::gui_batches::{DrawList, GuiBatchTable};
use super::gui_buffers::GuiBuffers;
use super::gui_encode::{EncodeContext, PassTarget};
use super::gui_passes::{GuiPassList, PassInputs};
use super::latency_meter::LatencyMeter;
use super::mask_images::MaskImages;
use super::materials::MaterialTable;
use super::numeric_map::NumberMap;
use super::render_pass_check;
use super::render_passes::RENDER_PASSES;
use super::scene::RetainedScenes;
use super::secondary_surfaces::{NewWindow, SecondarySurfaces};
use super::surface::PresentTarget;
use super::textures::{TARGET_FORMAT, TextureTable};
use super::view_encode::{encode_shared_maps, encode_view};
use super::{
    AdapterChoice, AdapterInfo, FrameStatistics, RenderQuality, RendererEvent, RendererOptions,
    SurfaceTarget, Vsync, shader_sources,
};
use engine_foundation::error;
use engine_foundation::{Error, panic};
use engine_frame_packet::texture::TextureSlot;
use engine_frame_packet::{FramePacket, ViewTarget};
use std::sync::mpsc::Sender;
use std::time::Instant;

/// Commands that are executed between packets, in order.
pub enum RenderCommand {
    Resize(u32, u32),
    Vsync(Vsync),
    Timing(bool),
    Quality(RenderQuality),
    /// Moves the output to another target, and reports the result.
    Output(SurfaceTarget, Sender<Result<(), String>>),
    /// Requests the instance that creates surfaces for windows.
    Instance(Sender<wgpu::Instance>),
    /// Opens a secondary window, and reports the result.
    OpenWindow(Box<NewWindow>, Sender<Result<(), String>>),
    /// Closes a secondary window, and reports when it is released.
    CloseWindow(u64, Sender<()>),
    ResizeWindow(u64, (u32, u32)),
    /// Destroys the device as a crashed driver would.
    LoseDevice,
}

/// The renderer on its thread, with all its resources. It is not destroyed if its device hangs.
pub struct FrameRenderer {
    choice: AdapterChoice,
    output: SurfaceTarget,
    vsync: Vsync,
    clock: fn() -> f64,
    pub(super) device: GpuDevice,
    screen: PresentTarget,
    secondary_surfaces: SecondarySurfaces,
    textures: TextureTable,
    materials: MaterialTable,
    buffers: GuiBuffers,
    masks: MaskImages,
    depths: NumberMap<(u32, u32), wgpu::TextureView>,
    timing: Option<GpuTiming>,
    /// The passes of a frame that is captured.
    passes: Option<Vec<CapturedPass>>,
    guis: GuiBatchTable,
    list: DrawList,
    plan: GuiPassList,
    scenes: RetainedScenes,
    quality: RenderQuality,
    /// Created for the first view with a scene.
    forward: Option<Box<ForwardRenderer>>,
    /// True if scenes cannot be drawn on this adapter, which was reported.
    scenes_unsupported: bool,
    generators: GeneratorRenderer,
    events: Vec<RendererEvent>,
    statistics: FrameStatistics,
    pace: LatencyMeter,
    cpu_passes: Vec<(&'static str, f32)>,
    /// True if nothing can be drawn any more.
    failed: bool,
    /// Number of panics in this renderer.
    panics: u32,
}

fn mask_images(
    device: &GpuDevice,
    materials: &MaterialTable,
    textures: &TextureTable,
) -> MaskImages {
    MaskImages::new(device, &materials.mask_layout, textures.view(TextureSlot::SHARED))
}

/// After this many panics nothing is drawn any more.
const PANICS_MAX: u32 = 3;

impl FrameRenderer {
    pub fn start(options: &RendererOptions) -> Result<FrameRenderer, Error> {
        render_pass_check::check(RENDER_PASSES, &shader_sources::names())
            .map_err(|message| error!("{message}"))?;
        let opened = device::open(options.choice, &options.output)?;
        let device = opened.device;
        let screen = PresentTarget::new(&device, &options.output, opened.surface, options.vsync);
        let screen = screen.map_err(|message| error!("{message}"))?;
        let textures = TextureTable::new(&device);
        let materials = MaterialTable::new(&device, &textures);
        let buffers = GuiBuffers::new(&device);
        let masks = mask_images(&device, &materials, &textures);
        let timing = if options.timing { GpuTiming::new(&device) } else { None };
        Ok(FrameRenderer {
            choice: options.choice,
            output: options.output.clone(),
            vsync: options.vsync,
            clock: options.clock,
            device,
            screen,
            secondary_surfaces: SecondarySurfaces::default(),
            textures,
            materials,
            buffers,
            masks,
            depths: NumberMap::default(),
            timing,
            passes: None,
            guis: GuiBatchTable::default(),
            list: DrawList::default(),
            plan: GuiPassList::default(),
            scenes: RetainedScenes::default(),
            quality: options.quality,
            forward: None,
            scenes_unsupported: false,
            generators: GeneratorRenderer::default(),
            events: opened.note.map(RendererEvent::Note).into_iter().collect(),
            statistics: FrameStatistics::default(),
            pace: LatencyMeter::default(),
            cpu_passes: Vec::new(),
            failed: false,
            panics: 0,
        })
    }

    pub fn adapter(&self) -> AdapterInfo {
        self.device.info.clone()
    }

    /// Returns true if the adapter did not finish a frame, and nothing may wait for it.
    pub fn is_hung(&self) -> bool {
        self.device.is_hung()
    }

    pub fn take_events(&mut self) -> Vec<RendererEvent> {
        std::mem::take(&mut self.events)
    }

    pub fn statistics(&self) -> &FrameStatistics {
        &self.statistics
    }

    pub fn command(&mut self, command: RenderCommand) {
        match command {
            RenderCommand::Resize(width, height) => {
                let (SurfaceTarget::Window { width: w, height: h, .. }
                | SurfaceTarget::Offscreen { width: w, height: h }) = &mut self.output;
                (*w, *h) = (width, height);
                self.screen.resize(&self.device, width, height);
            }
            RenderCommand::Vsync(vsync) => {
                self.vsync = vsync;
                self.screen.set_vsync(&self.device, vsync);
            }
            RenderCommand::Timing(false) => {
                self.timing = None;
                self.statistics.gpu_passes.clear();
            }
            RenderCommand::Timing(true) => {
                if self.timing.is_none() {
                    self.timing = GpuTiming::new(&self.device);
                }
            }
            RenderCommand::Quality(quality) => self.set_quality(quality),
            RenderCommand::Output(output, reply) => {
                let moved = self.move_to(output);
                if moved.is_ok() {
                    self.failed = false;
                }
                // The requester may have ended, here and below.
                let _ = reply.send(moved);
            }
            RenderCommand::Instance(reply) => {
                let _ = reply.send(self.device.instance());
            }
            RenderCommand::OpenWindow(new, reply) => {
                let _ = reply.send(self.secondary_surfaces.open(&self.device, *new));
            }
            RenderCommand::CloseWindow(number, reply) => {
                self.secondary_surfaces.close(number);
                let _ = reply.send(());
            }
            RenderCommand::ResizeWindow(number, size) => {
                self.secondary_surfaces.resize(&self.device, number, size);
            }
            RenderCommand::LoseDevice => self.device.device.destroy(),
        }
    }

    /// Changes the quality, and keeps everything that does not depend on the difference.
    fn set_quality(&mut self, quality: RenderQuality) {
        let before = std::mem::replace(&mut self.quality, quality);
        let device = &self.device;
        self.forward.take_if(|forward| !forward.set_quality(device, &before, &quality));
        let sides = |quality: &RenderQuality| (quality.spot_texels, quality.shadow_atlas_texels);
        if sides(&before) != sides(&quality) {
            self.scenes.forget_shadow_maps(self.device.info.texture_side_max);
        }
    }

    /// Acquires the window's next frame, and waits for the display. This happens before a packet is
    /// taken, so that the packet is as fresh as possible.
    pub(super) fn acquire(&mut self) {
        if !self.failed
            && let Err(message) = self.screen.acquire(&self.device)
            && self.device.loss_reason().is_none()
        {
            self.drop_window(message);
        }
    }

    /// Handles a window that cannot be drawn to any more. A foreign window is replaced by an
    /// offscreen target.
    fn drop_window(&mut self, message: String) {
        let SurfaceTarget::Window { width, height, is_foreign: true, .. } = self.output else {
            return self.fail(message);
        };
        match self.move_to(SurfaceTarget::Offscreen { width, height }) {
            Ok(()) => self.events.push(RendererEvent::WindowLost { message }),
            Err(move_error) => self.fail(format!("{message}, and {move_error}")),
        }
    }

    fn fail(&mut self, message: String) {
        self.failed = true;
        self.events.push(RendererEvent::Failed { message });
    }

    /// Recovers from a panic in one of the other functions, at `packet` or between packets. A new
    /// device is opened, because the old one may be in an inconsistent state.
    pub(super) fn recover_from_panic(&mut self, packet: Option<&FramePacket>, error: &Error) {
        if let Some(packet) = packet {
            self.refuse_captures(packet);
        }
        if self.failed {
            return;
        }
        self.panics += 1;
        if self.panics > PANICS_MAX {
            return self.fail(format!("the renderer fails again and again: {}", error.message));
        }
        let message = format!("a frame was left out: {}", error.message);
        self.events.push(RendererEvent::Fault { message });
        if let Err(error) = panic::contain(|| self.recover("the renderer failed".to_string())) {
            self.fail(error.message);
        }
    }

    /// Applies a packet and draws it.
    pub fn packet(&mut self, packet: &FramePacket) {
        self.statistics.frames += 1;
        if self.failed {
            return self.refuse_captures(packet);
        }
        if packet.views.iter().any(|view| view.target == ViewTarget::Screen) {
            self.acquire();
        }
        self.secondary_surfaces.acquire(&self.device, packet, &mut self.events);
        let begun = Instant::now();
        self.cpu_passes.clear();
        let format = self.screen.format();
        self.textures.apply(&self.device, &packet.textures, &mut self.events);
        let (device, textures) = (&self.device, &self.textures);
        self.materials.apply(device, textures, &packet.materials, format, &mut self.events);
        self.guis.apply(&packet.ended_guis, &packet.guis, &mut self.list);
        self.scenes.apply(packet, &mut self.events);
        let formats = OutputFormats::new(&self.device, format, &self.quality);
        self.generators.apply(&self.device, packet, formats, &mut self.events);
        if let Some(forward) = &mut self.forward {
            forward.apply(&self.device, &self.scenes, packet, &mut self.events);
        }
        self.record_stage_time("changes", begun);
        self.draw(packet);
        self.device.poll_device();
        let drawn = self.device.loss_reason().is_none();
        if drawn {
            self.statistics.encode_ms = begun.elapsed().as_secs_f32() * 1e3;
            self.statistics.cpu_passes.clone_from(&self.cpu_passes);
            self.present(packet);
        }
        if let Some(message) = self.device.loss_reason() {
            self.recover(message);
            if !self.failed && !drawn {
                self.acquire();
                self.secondary_surfaces.acquire(&self.device, packet, &mut self.events);
                self.draw(packet);
                self.present(packet);
            }
        }
        self.report_errors();
    }

    /// Records the time since `begun` for a stage.
    fn record_stage_time(&mut self, stage_name: &'static str, begun: Instant) {
        self.cpu_passes.push((stage_name, begun.elapsed().as_secs_f32() * 1e3));
    }

    fn present(&mut self, packet: &FramePacket) {
        self.secondary_surfaces.present(&self.device);
        let is_drawn = packet.views.iter().any(|view| view.target == ViewTarget::Screen);
        if is_drawn && self.screen.present(&self.device) {
            self.pace.record_present((self.clock)(), packet.input_seconds);
            self.statistics.presented += 1;
            self.statistics.latency_seconds = self.pace.latency_seconds as f32;
            let frame = self.pace.frame_seconds;
            let frames = if frame > 0.0 { self.pace.latency_seconds / frame } else { 0.0 };
            self.statistics.latency_frames = frames as f32;
        }
    }

    fn report_errors(&mut self) {
        for message in self.device.take_other_errors() {
            self.events.push(RendererEvent::Fault { message });
        }
        if let Some(message) = self.device.take_out_of_memory() {
            let name = &self.device.info.name;
            let message = format!(
                "the adapter {name} is out of memory ({message}): use fewer or smaller textures"
            );
            self.events.push(RendererEvent::Fault { message });
        }
    }

    /// Opens the adapter again, and restores all its resources.
    fn recover(&mut self, lost: String) {
        match self.move_to(self.output.clone()) {
            Ok(()) => self.events.push(RendererEvent::DeviceRecovered { message: lost }),
            Err(message) => {
                self.drop_window(format!("the adapter was lost ({lost}), and {message}"))
            }
        }
    }

    /// Opens an adapter for an output, and uploads all resources to it. If it fails, nothing has
    /// changed.
    fn move_to(&mut self, output: SurfaceTarget) -> Result<(), String> {
        let opened = device::open(self.choice, &output).map_err(|error| error.message)?;
        self.screen = PresentTarget::new(&opened.device, &output, opened.surface, self.vsync)?;
        (self.device, self.output) = (opened.device, output);
        self.secondary_surfaces.restore(&self.device, &mut self.events);
        let format = self.screen.format();
        self.textures.restore(&self.device, &mut self.events);
        self.materials.restore(&self.device, &self.textures, format, &mut self.events);
        self.buffers = GuiBuffers::new(&self.device);
        self.masks = mask_images(&self.device, &self.materials, &self.textures);
        self.depths.clear();
        self.forward = None;
        self.scenes_unsupported = false;
        let formats = OutputFormats::new(&self.device, format, &self.quality);
        self.generators.restore(&self.device, formats, &mut self.events);
        self.timing = self.timing.take().and_then(|_| GpuTiming::new(&self.device));
        self.list.transforms_changed = true;
        Ok(())
    }

    /// Draws the applied packet.
    fn draw(&mut self, packet: &FramePacket) {
        if let Some(message) =
            self.buffers.refusal(&self.device, packet, &mut self.guis, &self.list)
        {
            self.events.push(RendererEvent::Fault { message });
            return self.refuse_captures(packet);
        }
        let begun = Instant::now();
        self.plan_scenes(packet);
        self.record_stage_time("worlds", begun);
        let begun = Instant::now();
        let copied = self.buffers.copy_instances(&self.device, packet, &mut self.guis, &self.list);
        self.statistics.copied_bytes = copied;
        self.buffers.copy_transforms(&self.device, &self.guis, &self.list);
        let mut plan = std::mem::take(&mut self.plan);
        let (buffers, scenes) = (&self.buffers, &self.scenes);
        let size = |texture: &wgpu::Texture| (texture.width(), texture.height());
        // Without a window, the screen is drawn only if a capture requested it.
        let is_window = matches!(self.output, SurfaceTarget::Window { .. });
        let is_screen_drawn =
            is_window || packet.captures.iter().any(|it| it.of == ViewTarget::Screen);
        let sizes = PassInputs {
            target: &|target| match target {
                ViewTarget::Screen if !is_screen_drawn => None,
                target => self.target(target).map(|(texture, ..)| size(texture)),
            },
            transforms: &|gui| buffers.first_transform(gui),
            scene: &|index| scenes.plans.views.iter().position(|view| view.view == index),
            atlas_stretch: self.textures.atlas.row_ratio(),
            glyphs_stretch: self.textures.glyphs.row_ratio(),
        };
        plan.plan(packet, &self.guis, &self.list, &sizes);
        self.plan = plan;
        self.masks.assign(&self.device, &self.plan.masks);
        self.statistics.copied_bytes += self.copy_scenes(packet);
        let scene = self.scenes.statistics();
        let items = || self.plan.items.iter().chain(&self.plan.mask_items);
        self.statistics.draw_calls = items().count() as u32 + scene.draw_call_count();
        let instances: u32 = items().map(|item| item.draw.count).sum();
        self.statistics.instances = instances + scene.instances;
        self.statistics.scene = scene;
        self.statistics.post_bytes = self.forward.as_ref().map_or(0, |it| it.post_bytes());
        let images = self.forward.as_ref().map(|it| it.screen_image_count());
        self.statistics.screen_images = images.unwrap_or(0);
        self.statistics.textures = self.textures.len() as u32;
        self.statistics.materials = self.materials.len() as u32;
        let nothing = self.plan.passes.is_empty() && packet.captures.is_empty();
        if nothing && packet.textures.is_empty() && packet.generator_runs.is_empty() {
            return self.device.submit(None);
        }
        let layout = &self.materials.frame_layout;
        self.buffers.copy_uniforms(&self.device, &mut self.textures, layout, &self.plan.uniforms);
        self.record_stage_time("copies", begun);
        let begun = Instant::now();
        self.submit(packet);
        self.record_stage_time("passes", begun);
    }

    /// Plans the draws of the views' scenes, if scenes can be drawn at all.
    fn plan_scenes(&mut self, packet: &FramePacket) {
        if self.forward.is_none() {
            self.scenes.forget_shadow_maps(self.device.info.texture_side_max);
        }
        self.scenes.prepare_light_textures(&self.textures);
        self.scenes.prepare_decal_textures(&self.textures);
        self.scenes.plan(packet, &self.quality, &mut self.events);
        if self.scenes.plans.views.is_empty() {
            return;
        }
        if self.forward.is_none() && !self.scenes_unsupported {
            let (device, textures, quality) = (&self.device, &self.textures, &self.quality);
            let (scenes, events) = (&mut self.scenes, &mut self.events);
            match ForwardRenderer::start(device, textures, scenes, quality, events) {
                Ok(forward) => self.forward = Some(Box::new(forward)),
                Err(message) => {
                    self.scenes_unsupported = true;
                    self.events.push(RendererEvent::Fault { message });
                }
            }
        }
        if self.scenes_unsupported {
            self.scenes.plans.clear();
        }
    }

    /// Copies the data of the planned views; returns the number of bytes.
    fn copy_scenes(&mut self, packet: &FramePacket) -> u64 {
        let Some(mut forward) = self.forward.take_if(|_| !self.scenes.plans.views.is_empty())
        else {
            return 0;
        };
        let mut areas = vec![None; self.scenes.plans.views.len()];
        for pass in &self.plan.passes {
            if let Some((index, rectangle)) = pass.scene {
                let Some((_, _, format)) = self.target(pass.target) else { continue };
                let scale = packet.scale_of(pass.target).unwrap_or(1.0);
                areas[index] = Some(ViewRectangle::new(rectangle, format, pass.world, scale));
            }
        }
        let (textures, materials) = (&mut self.textures, &mut self.materials);
        let mut resources = RenderResources { textures, materials, events: &mut self.events };
        let copied = forward.prepare(&self.device, &mut resources, &mut self.scenes, packet, areas);
        self.forward = Some(forward);
        copied
    }

    /// Encodes the passes and captures of the plan, and submits them to the adapter.
    fn submit(&mut self, packet: &FramePacket) {
        if let Some(results) = self.timing.as_mut().and_then(|it| it.begin(packet.frame)) {
            (self.statistics.gpu_frame, self.statistics.gpu_passes) = results;
        }
        self.passes = packet.captures_frame.then(Vec::new);
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        self.encode_runs(packet, &mut encoder);
        let passes = std::mem::take(&mut self.plan.passes);
        encode_shared_maps(&mut self.encode_context(), &mut encoder);
        for pass in &passes {
            if let Some(onto) = self.pass_target(pass.target) {
                encode_view(&mut self.encode_context(), &mut encoder, &onto, pass);
            }
        }
        if let Some(timing) = &mut self.timing {
            timing.resolve(&mut encoder);
        }
        // Before the readbacks: a window that cannot be read is drawn again for them, into the same
        // images, and without their depth.
        let images = self.begin_frame_capture(&mut encoder, &passes);
        let copies = self.start_readbacks(packet, &mut encoder, &passes);
        self.plan.passes = passes;
        self.generators.end_frame(&self.device, &mut self.statistics);
        self.device.submit(Some(encoder.finish()));
        if let Some(timing) = &mut self.timing {
            timing.end();
        }
        self.end_frame_capture(packet.frame, images);
        self.end_readbacks(packet.frame, copies);
        if self.device.is_hung() {
            self.fail(device::hang_message(packet.frame, device::ADAPTER_WAIT_MAX));
        }
    }

    pub(super) fn encode_context(&mut self) -> EncodeContext<'_> {
        EncodeContext {
            device: &self.device,
            textures: &mut self.textures,
            materials: &mut self.materials,
            buffers: &self.buffers,
            masks: &self.masks,
            plan: &self.plan,
            forward: self.forward.as_deref(),
            scenes: &self.scenes,
            generators: &mut self.generators,
            depths: &mut self.depths,
            timing: &mut self.timing,
            passes: &mut self.passes,
            events: &mut self.events,
        }
    }

    /// Returns a target's texture, its render view and its format; `None` if it cannot be drawn to
    /// now.
    fn target(
        &self,
        target: ViewTarget,
    ) -> Option<(&wgpu::Texture, &wgpu::TextureView, wgpu::TextureFormat)> {
        let screen = match target {
            ViewTarget::Screen => &self.screen,
            ViewTarget::Window(number) => self.secondary_surfaces.screen(number)?,
            ViewTarget::Texture(slot) => {
                let (texture, view) = self.textures.target_of(slot)?;
                return Some((texture, view, TARGET_FORMAT));
            }
        };
        let (texture, view) = screen.target()?;
        Some((texture, view, screen.format()))
    }

    /// Returns a target as the target of a pass.
    pub(super) fn pass_target(&self, target: ViewTarget) -> Option<PassTarget> {
        let (texture, view, format) = self.target(target)?;
        let slot = match target {
            ViewTarget::Texture(slot) => Some(slot),
            ViewTarget::Screen | ViewTarget::Window(_) => None,
        };
        Some(PassTarget { texture: texture.clone(), view: view.clone(), format, slot })
    }
}
