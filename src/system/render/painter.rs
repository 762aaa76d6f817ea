//! The painter: takes packets over on an open device, and draws them. One thread owns it. Chooses
//! no adapter and knows no queue of packets.

use super::batches::{DrawList, Guis};
use super::buffers::Buffers;
use super::device::{self, Device};
use super::encode::{Onto, Stage};
use super::lit::{Lit, Place, Supplies};
use super::materials::Materials;
use super::passes::{Pass, Plan, Sizes};
use super::scene::Scenes;
use super::screen::Screen;
use super::table::Map;
use super::textures::{TARGET_FORMAT, Textures};
use super::timing::Timing;
use super::windows::{NewWindow, Others};
use super::{Adapter, Choice, Event, Options, Output, Quality, Statistics, Vsync, capture};
use crate::error;
use crate::foundation::{Error, fault};
use crate::packet::{Packet, Target};
use std::sync::mpsc::Sender;
use std::time::Instant;

/// What is between packets, one after the other.
pub enum Command {
    Resize(u32, u32),
    Vsync(Vsync),
    Timing(bool),
    Quality(Quality),
    /// Shows pictures elsewhere; whether that goes is told.
    Output(Output, Sender<Result<(), String>>),
    /// Tells what makes surfaces for windows.
    Instance(Sender<wgpu::Instance>),
    /// Draws to one more window; whether that goes is told.
    OpenWindow(Box<NewWindow>, Sender<Result<(), String>>),
    /// Lets go of it, which is told.
    CloseWindow(u64, Sender<()>),
    ResizeWindow(u64, (u32, u32)),
    /// Ends the device as a driver that crashes would.
    LoseDevice,
}

/// Everything that draws.
pub struct Painter {
    choice: Choice,
    output: Output,
    vsync: Vsync,
    clock: fn() -> f64,
    device: Device,
    screen: Screen,
    others: Others,
    textures: Textures,
    materials: Materials,
    buffers: Buffers,
    depths: Map<(u32, u32), wgpu::TextureView>,
    timing: Option<Timing>,
    guis: Guis,
    list: DrawList,
    plan: Plan,
    scenes: Scenes,
    quality: Quality,
    /// Made for the first view with a scene.
    lit: Option<Box<Lit>>,
    /// Scenes cannot be drawn on this adapter, which was said.
    unlit: bool,
    events: Vec<Event>,
    statistics: Statistics,
    pace: Pace,
    cpu_passes: Vec<(&'static str, f32)>,
    /// Nothing can be drawn any more.
    failed: bool,
    /// How often something in here panicked.
    panics: u32,
}

/// After so many panics nothing is drawn any more.
const PANICS_MAX: u32 = 3;

/// How long it takes from input to picture.
#[derive(Default)]
struct Pace {
    presented: f64,
    frame_seconds: f64,
    latency_seconds: f64,
}

impl Pace {
    /// A picture was given to the display at a time; its newest input came at another, or never.
    fn note(&mut self, now: f64, input: f64) {
        let blend = |old: &mut f64, new: f64| {
            *old = if *old == 0.0 { new } else { *old + (new - *old) * 0.1 };
        };
        if self.presented > 0.0 && now - self.presented < 1.0 {
            blend(&mut self.frame_seconds, now - self.presented);
        }
        self.presented = now;
        if input > 0.0 && now >= input {
            blend(&mut self.latency_seconds, now - input);
        }
    }
}

impl Painter {
    pub fn start(options: &Options) -> Result<Painter, Error> {
        let opened = device::open(options.choice, &options.output)?;
        let device = opened.device;
        let screen = Screen::new(&device, &options.output, opened.surface, options.vsync);
        let screen = screen.map_err(|words| error!("{words}"))?;
        let textures = Textures::new(&device);
        let materials = Materials::new(&device, &textures);
        let buffers = Buffers::new(&device);
        let timing = if options.timing { Timing::new(&device) } else { None };
        Ok(Painter {
            choice: options.choice,
            output: options.output.clone(),
            vsync: options.vsync,
            clock: options.clock,
            device,
            screen,
            others: Others::default(),
            textures,
            materials,
            buffers,
            depths: Map::default(),
            timing,
            guis: Guis::default(),
            list: DrawList::default(),
            plan: Plan::default(),
            scenes: Scenes::default(),
            quality: options.quality,
            lit: None,
            unlit: false,
            events: opened.note.map(Event::Note).into_iter().collect(),
            statistics: Statistics::default(),
            pace: Pace::default(),
            cpu_passes: Vec::new(),
            failed: false,
            panics: 0,
        })
    }

    pub fn adapter(&self) -> Adapter {
        self.device.about.clone()
    }

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    pub fn command(&mut self, command: Command) {
        match command {
            Command::Resize(width, height) => {
                let (Output::Window { width: w, height: h, .. }
                | Output::Offscreen { width: w, height: h }) = &mut self.output;
                (*w, *h) = (width, height);
                self.screen.resize(&self.device, width, height);
            }
            Command::Vsync(vsync) => {
                self.vsync = vsync;
                self.screen.set_vsync(&self.device, vsync);
            }
            Command::Timing(false) => {
                self.timing = None;
                self.statistics.gpu_passes.clear();
            }
            Command::Timing(true) => {
                if self.timing.is_none() {
                    self.timing = Timing::new(&self.device);
                }
            }
            Command::Quality(quality) => {
                self.lit = self.lit.take().filter(|_| quality == self.quality);
                self.quality = quality;
            }
            Command::Output(output, tell) => {
                let moved = self.move_to(output);
                if moved.is_ok() {
                    self.failed = false;
                }
                // Whoever asked may have ended, here and below.
                let _ = tell.send(moved);
            }
            Command::Instance(tell) => {
                let _ = tell.send(self.device.instance());
            }
            Command::OpenWindow(new, tell) => {
                let _ = tell.send(self.others.open(&self.device, *new));
            }
            Command::CloseWindow(number, tell) => {
                self.others.close(number);
                let _ = tell.send(());
            }
            Command::ResizeWindow(number, size) => {
                self.others.resize(&self.device, number, size);
            }
            Command::LoseDevice => self.device.device.destroy(),
        }
    }

    /// Gets hold of the window's next picture, waiting for the display: done before a packet is
    /// taken up, so that the packet is as fresh as can be.
    pub fn acquire(&mut self) {
        if !self.failed
            && let Err(words) = self.screen.acquire(&self.device)
            && self.device.lost().is_none()
        {
            self.leave_window(words);
        }
    }

    /// The window cannot be drawn to any more. One that was lent is left.
    fn leave_window(&mut self, words: String) {
        let Output::Window { width, height, lent: true, .. } = self.output else {
            return self.fail(words);
        };
        match self.move_to(Output::Offscreen { width, height }) {
            Ok(()) => self.events.push(Event::WindowLost { words }),
            Err(others) => self.fail(format!("{words}, and {others}")),
        }
    }

    fn fail(&mut self, words: String) {
        self.failed = true;
        self.events.push(Event::Failed { words });
    }

    /// Goes on after a panic in one of the others, at `packet` or between packets: on a device that
    /// is opened anew, for the old one may be half changed.
    pub fn survive(&mut self, packet: Option<&Packet>, error: &Error) {
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
        let words = format!("a picture was left out: {}", error.message);
        self.events.push(Event::Fault { words });
        if let Err(again) = fault::contain(|| self.recover("the renderer failed".to_string())) {
            self.fail(again.message);
        }
    }

    /// Takes a packet over and draws it.
    pub fn packet(&mut self, packet: &Packet) {
        self.statistics.frames += 1;
        if self.failed {
            return self.refuse_captures(packet);
        }
        if packet.views.iter().any(|view| view.target == Target::Screen) {
            self.acquire();
        }
        self.others.acquire(&self.device, packet, &mut self.events);
        let begun = Instant::now();
        self.cpu_passes.clear();
        let format = self.screen.format();
        self.textures.apply(&self.device, &packet.textures, &mut self.events);
        let (device, textures) = (&self.device, &self.textures);
        self.materials.apply(device, textures, &packet.materials, format, &mut self.events);
        self.guis.apply(&packet.ended_guis, &packet.guis, &mut self.list);
        self.scenes.apply(packet, &mut self.events);
        if let Some(lit) = &mut self.lit {
            lit.apply(&self.device, &self.scenes, packet, &mut self.events);
        }
        self.note("changes", begun);
        self.draw(packet);
        self.device.look_after();
        let drawn = self.device.lost().is_none();
        if drawn {
            self.statistics.encode_ms = begun.elapsed().as_secs_f32() * 1e3;
            self.statistics.cpu_passes.clone_from(&self.cpu_passes);
            self.present(packet);
        }
        if let Some(words) = self.device.lost() {
            self.recover(words);
            if !self.failed && !drawn {
                self.acquire();
                self.others.acquire(&self.device, packet, &mut self.events);
                self.draw(packet);
                self.present(packet);
            }
        }
        self.tell_faults();
    }

    /// Notes how long something took.
    fn note(&mut self, what: &'static str, begun: Instant) {
        let done = (what, begun.elapsed().as_secs_f32() * 1e3);
        self.cpu_passes.push(done);
    }

    fn refuse_captures(&mut self, packet: &Packet) {
        for capture in &packet.captures {
            let words = "the frame could not be drawn, so there is no picture of it".to_string();
            self.events.push(Event::CaptureFailed { number: capture.number, words });
        }
    }

    fn present(&mut self, packet: &Packet) {
        self.others.present(&self.device);
        let shows = packet.views.iter().any(|view| view.target == Target::Screen);
        if shows && self.screen.present(&self.device) {
            self.pace.note((self.clock)(), packet.input_seconds);
            self.statistics.presented += 1;
            self.statistics.latency_seconds = self.pace.latency_seconds as f32;
            let frame = self.pace.frame_seconds;
            let frames = if frame > 0.0 { self.pace.latency_seconds / frame } else { 0.0 };
            self.statistics.latency_frames = frames as f32;
        }
    }

    fn tell_faults(&mut self) {
        for words in self.device.others() {
            self.events.push(Event::Fault { words });
        }
        if let Some(words) = self.device.out_of_memory() {
            let name = &self.device.about.name;
            let words = format!(
                "the adapter {name} is out of memory ({words}): use fewer or smaller textures"
            );
            self.events.push(Event::Fault { words });
        }
    }

    /// Opens the adapter anew, with all that was on it.
    fn recover(&mut self, lost: String) {
        match self.move_to(self.output.clone()) {
            Ok(()) => self.events.push(Event::DeviceRecovered { words: lost }),
            Err(words) => self.leave_window(format!("the adapter was lost ({lost}), and {words}")),
        }
    }

    /// Opens an adapter for an output, and puts all that there is on it. Where that fails, nothing
    /// has changed.
    fn move_to(&mut self, output: Output) -> Result<(), String> {
        let opened = device::open(self.choice, &output).map_err(|error| error.message)?;
        self.screen = Screen::new(&opened.device, &output, opened.surface, self.vsync)?;
        (self.device, self.output) = (opened.device, output);
        self.others.restore(&self.device, &mut self.events);
        let format = self.screen.format();
        self.textures.restore(&self.device, &mut self.events);
        self.materials.restore(&self.device, &self.textures, format, &mut self.events);
        self.buffers = Buffers::new(&self.device);
        self.depths.clear();
        self.lit = None;
        self.unlit = false;
        self.timing = self.timing.take().and_then(|_| Timing::new(&self.device));
        self.list.transforms_changed = true;
        Ok(())
    }

    /// Draws what was taken over.
    fn draw(&mut self, packet: &Packet) {
        if let Some(words) = self.buffers.refusal(&self.device, packet, &mut self.guis, &self.list)
        {
            self.events.push(Event::Fault { words });
            return self.refuse_captures(packet);
        }
        let begun = Instant::now();
        self.plan_scenes(packet);
        self.note("worlds", begun);
        let begun = Instant::now();
        let copied = self.buffers.copy_instances(&self.device, packet, &mut self.guis, &self.list);
        self.statistics.copied_bytes = copied;
        self.buffers.copy_transforms(&self.device, &self.guis, &self.list);
        let mut plan = std::mem::take(&mut self.plan);
        let (buffers, scenes) = (&self.buffers, &self.scenes);
        let size = |texture: &wgpu::Texture| (texture.width(), texture.height());
        // A picture without a window is only worth drawing where somebody asked for it.
        let is_window = matches!(self.output, Output::Window { .. });
        let is_seen = is_window || packet.captures.iter().any(|it| it.of == Target::Screen);
        let sizes = Sizes {
            target: &|target| match target {
                Target::Screen if !is_seen => None,
                target => self.target(target).map(|(texture, ..)| size(texture)),
            },
            transforms: &|gui| buffers.first_transform(gui),
            scene: &|index| scenes.plans.views.iter().position(|view| view.view == index),
            atlas_stretch: self.textures.atlas.stretch(),
            glyphs_stretch: self.textures.glyphs.stretch(),
        };
        plan.make(packet, &self.guis, &self.list, &sizes);
        self.plan = plan;
        self.statistics.copied_bytes += self.copy_scenes(packet);
        let scene = self.scenes.statistics();
        self.statistics.draw_calls = self.plan.items.len() as u32 + scene.calls();
        let instances: u32 = self.plan.items.iter().map(|item| item.draw.count).sum();
        self.statistics.instances = instances + scene.instances;
        self.statistics.scene = scene;
        self.statistics.textures = self.textures.len() as u32;
        self.statistics.materials = self.materials.len() as u32;
        let nothing = self.plan.passes.is_empty() && packet.captures.is_empty();
        if nothing && packet.textures.is_empty() {
            return;
        }
        let layout = &self.materials.frame_layout;
        let uniforms = &self.plan.uniforms;
        self.buffers.copy_uniforms(&self.device, &mut self.textures, layout, uniforms);
        self.note("copies", begun);
        let begun = Instant::now();
        self.submit(packet);
        self.note("passes", begun);
    }

    /// Plans what the views draw of their scenes, if they can be drawn here at all.
    fn plan_scenes(&mut self, packet: &Packet) {
        self.scenes.plan(packet, &self.quality, &mut self.events);
        if self.scenes.plans.views.is_empty() {
            return;
        }
        if self.lit.is_none() && !self.unlit {
            let (scenes, quality) = (&mut self.scenes, &self.quality);
            match Lit::start(&self.device, &self.textures, scenes, quality, &mut self.events) {
                Ok(lit) => self.lit = Some(Box::new(lit)),
                Err(words) => {
                    self.unlit = true;
                    self.events.push(Event::Fault { words });
                }
            }
        }
        if self.unlit {
            self.scenes.plans.clear();
        }
    }

    /// Copies what the planned views draw; returns how many bytes.
    fn copy_scenes(&mut self, packet: &Packet) -> u64 {
        let Some(mut lit) = self.lit.take_if(|_| !self.scenes.plans.views.is_empty()) else {
            return 0;
        };
        let mut places = vec![None; self.scenes.plans.views.len()];
        for pass in &self.plan.passes {
            if let Some((index, rectangle)) = pass.scene {
                let Some((_, _, format)) = self.target(pass.target) else { continue };
                let scale = packet.scale_of(pass.target).unwrap_or(1.0);
                places[index] = Some(Place { rectangle, format, deep: pass.world, scale });
            }
        }
        let (textures, materials) = (&mut self.textures, &mut self.materials);
        let mut supplies = Supplies { textures, materials, events: &mut self.events };
        let copied = lit.prepare(&self.device, &mut supplies, &mut self.scenes, packet, places);
        self.lit = Some(lit);
        copied
    }

    /// Encodes the passes and captures of the plan and hands them to the adapter.
    fn submit(&mut self, packet: &Packet) {
        if let Some(results) = self.timing.as_mut().and_then(Timing::begin) {
            self.statistics.gpu_passes = results;
        }
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        let passes = std::mem::take(&mut self.plan.passes);
        for pass in &passes {
            if let Some(onto) = self.onto(pass.target) {
                self.stage().pass(&mut encoder, &onto, pass);
            }
        }
        if let Some(timing) = &mut self.timing {
            timing.resolve(&mut encoder);
        }
        let copies = self.begin_captures(packet, &mut encoder, &passes);
        self.plan.passes = passes;
        self.device.queue.submit([encoder.finish()]);
        if let Some(timing) = &mut self.timing {
            timing.end();
        }
        for (number, opaque, copy) in copies {
            let done = copy.and_then(|copy| capture::end(&self.device, &copy, opaque));
            self.events.push(match done {
                Ok(picture) => Event::Captured { number, frame: packet.frame, picture },
                Err(words) => Event::CaptureFailed { number, words },
            });
        }
    }

    fn stage(&mut self) -> Stage<'_> {
        Stage {
            device: &self.device,
            textures: &mut self.textures,
            materials: &mut self.materials,
            buffers: &self.buffers,
            plan: &self.plan,
            lit: self.lit.as_deref(),
            scenes: &self.scenes,
            depths: &mut self.depths,
            timing: &mut self.timing,
            events: &mut self.events,
        }
    }

    /// A target's texture, the view of it that is drawn to, and its format; `None` where nothing
    /// can be drawn there now.
    fn target(
        &self,
        target: Target,
    ) -> Option<(&wgpu::Texture, &wgpu::TextureView, wgpu::TextureFormat)> {
        let screen = match target {
            Target::Screen => &self.screen,
            Target::Window(number) => self.others.screen(number)?,
            Target::Texture(slot) => {
                let (texture, view) = self.textures.target_of(slot)?;
                return Some((texture, view, TARGET_FORMAT));
            }
        };
        let (texture, view) = screen.target()?;
        Some((texture, view, screen.format()))
    }

    /// What a target is, as something to draw onto.
    fn onto(&self, target: Target) -> Option<Onto> {
        let (texture, view, format) = self.target(target)?;
        let slot = match target {
            Target::Texture(slot) => Some(slot),
            Target::Screen | Target::Window(_) => None,
        };
        Some(Onto { texture: texture.clone(), view: view.clone(), format, slot })
    }

    /// Has the captures of a packet copied; those of a window that cannot be read are drawn again.
    fn begin_captures(
        &mut self,
        packet: &Packet,
        encoder: &mut wgpu::CommandEncoder,
        passes: &[Pass],
    ) -> Vec<(u64, bool, Result<capture::Copy, String>)> {
        let mut copies = Vec::new();
        for capture in &packet.captures {
            let is_screen = capture.of == Target::Screen;
            let mut texture = self.onto(capture.of).map(|onto| onto.texture);
            if is_screen && !self.screen.readable() && texture.is_some() {
                texture = self.again(encoder, passes);
            }
            let missing = match capture.of {
                Target::Screen | Target::Window(_) => {
                    "the window is not shown now, so there is no picture of it"
                }
                Target::Texture(_) => "the texture is not a render target, so nothing was drawn",
            };
            let copy = match texture {
                Some(texture) => capture::begin(&self.device, encoder, &texture),
                None => Err(missing.to_string()),
            };
            copies.push((capture.number, is_screen, copy));
        }
        copies
    }

    /// The screen's passes once more, onto a texture that can be read.
    fn again(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        passes: &[Pass],
    ) -> Option<wgpu::Texture> {
        let (shown, _) = self.screen.target()?;
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let format = self.screen.format();
        let texture = self.device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("capture"),
            size: shown.size(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        let onto = Onto { texture, view, format, slot: None };
        for pass in passes.iter().filter(|pass| pass.target == Target::Screen) {
            self.stage().pass(encoder, &onto, pass);
        }
        Some(onto.texture)
    }
}
