//! The device: which adapter is taken, how it is opened, and what is noted when it fails. Makes
//! nothing with it.

use super::shader::STACK_BYTES;
use super::{Adapter, Choice, Output, Window};
use crate::error;
use crate::foundation::{Error, fault};
use std::sync::{Arc, Mutex, MutexGuard};

/// What goes wrong on the adapter while nobody waits for an answer.
#[derive(Default)]
struct Faults {
    lost: Option<String>,
    out_of_memory: Option<String>,
    others: Vec<String>,
}

/// An open adapter.
pub struct Device {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub about: Adapter,
    pub limits: wgpu::Limits,
    pub timestamps: bool,
    /// Whether a depth buffer can be read while it is tested against.
    pub depth_reads: bool,
    /// Whether a draw call can say where its vertices begin.
    pub base_vertex: bool,
    /// Graphics interfaces whose arrays of pictures need two layers at least.
    pub two_layers: bool,
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    faults: Arc<Mutex<Faults>>,
}

/// A device and the window's surface, where there is a window.
pub struct Opened {
    pub device: Device,
    pub surface: Option<wgpu::Surface<'static>>,
    /// What people should know about the choice.
    pub note: Option<String>,
}

/// A window as the graphics library wants its display.
#[derive(Clone)]
struct Handles(Arc<dyn Window>);

impl std::fmt::Debug for Handles {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("a window")
    }
}

impl wgpu::rwh::HasDisplayHandle for Handles {
    fn display_handle(&self) -> Result<wgpu::rwh::DisplayHandle<'_>, wgpu::rwh::HandleError> {
        self.0.display_handle()
    }
}

impl wgpu::rwh::HasWindowHandle for Handles {
    fn window_handle(&self) -> Result<wgpu::rwh::WindowHandle<'_>, wgpu::rwh::HandleError> {
        self.0.window_handle()
    }
}

/// A surface for a window.
pub fn surface(
    instance: &wgpu::Instance,
    window: &Arc<dyn Window>,
) -> Result<wgpu::Surface<'static>, String> {
    instance.create_surface(Handles(Arc::clone(window))).map_err(|error| error.to_string())
}

/// The interfaces to ask, one after the other: asking takes tens of milliseconds each, and mostly
/// the first has what is needed. `WGPU_BACKEND` names others.
fn backends() -> Vec<wgpu::Backends> {
    if let Some(wanted) = wgpu::Backends::from_env() {
        return wanted.iter().collect();
    }
    if cfg!(target_os = "macos") {
        vec![wgpu::Backends::METAL]
    } else if cfg!(windows) {
        vec![wgpu::Backends::DX12, wgpu::Backends::VULKAN, wgpu::Backends::GL]
    } else {
        vec![wgpu::Backends::VULKAN, wgpu::Backends::GL]
    }
}

/// Whether a graphics card may be there that the first interface did not show.
fn card_likely() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let nodes = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let render = nodes.into_iter().any(|it| it.file_name().to_string_lossy().starts_with("render"));
    render || std::path::Path::new("/dev/nvidia0").exists()
}

/// Has Vulkan load the drivers of software adapters alone: those of graphics cards take some
/// megabytes and milliseconds each, and would be of no use. Nothing changes where the environment
/// names drivers already. Call it before any thread is there.
pub fn load_software_drivers_alone() {
    const SELECT: &str = "VK_LOADER_DRIVERS_SELECT";
    let set = |name: &str| std::env::var_os(name).is_some();
    let named = [SELECT, "VK_LOADER_DRIVERS_DISABLE", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    if cfg!(target_os = "linux") && !named.into_iter().any(set) {
        // Mesa's lavapipe and SwiftShader, by the names of their manifests.
        // SAFETY: no other thread is there that could read the environment meanwhile.
        unsafe { std::env::set_var(SELECT, "*lvp*,*swiftshader*") };
    }
}

fn backend_name(backend: wgpu::Backend) -> &'static str {
    match backend {
        wgpu::Backend::Noop => "null",
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "DX12",
        wgpu::Backend::Gl => "GL",
        wgpu::Backend::BrowserWebGpu => "WebGPU",
    }
}

struct Candidate {
    instance: wgpu::Instance,
    surface: Option<wgpu::Surface<'static>>,
    adapter: wgpu::Adapter,
    rank: u32,
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// How much an adapter is wanted, more for more; `None`: it cannot be used.
fn rank(adapter: &wgpu::Adapter, choice: Choice) -> Option<u32> {
    let features = adapter.get_downlevel_capabilities();
    let limits = adapter.limits();
    let usable = features.flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE)
        && limits.max_storage_buffers_per_shader_stage >= 1;
    let rank = match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 5,
        wgpu::DeviceType::IntegratedGpu => 4,
        wgpu::DeviceType::VirtualGpu => 3,
        wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 1,
    };
    let wanted = match choice {
        Choice::Software => rank == 1,
        Choice::Gpu => rank > 1,
        Choice::Auto | Choice::Null => true,
    };
    (usable && wanted).then_some(rank)
}

/// The best adapter of one interface.
fn look(
    backends: wgpu::Backends,
    choice: Choice,
    output: &Output,
    found: &mut Vec<String>,
) -> Option<Candidate> {
    let mut descriptor = match output {
        Output::Window { window, .. } => {
            let handles = Box::new(Handles(Arc::clone(window)));
            wgpu::InstanceDescriptor::new_with_display_handle(handles)
        }
        Output::Offscreen { .. } => wgpu::InstanceDescriptor::new_without_display_handle(),
    };
    descriptor.backends = backends;
    // Without the layers that check the driver: looking for them alone takes long.
    descriptor.flags = wgpu::InstanceFlags::empty();
    if backends == wgpu::Backends::NOOP {
        descriptor.backend_options.noop = wgpu::NoopBackendOptions::enabled();
    }
    let instance = wgpu::Instance::new(descriptor);
    let surface = match output {
        Output::Window { window, .. } => {
            match instance.create_surface(Handles(Arc::clone(window))) {
                Ok(surface) => Some(surface),
                Err(error) => {
                    found.push(format!("{backends:?}: {error}"));
                    return None;
                }
            }
        }
        Output::Offscreen { .. } => None,
    };
    let mut best: Option<(u32, wgpu::Adapter)> = None;
    for adapter in pollster::block_on(instance.enumerate_adapters(backends)) {
        let info = adapter.get_info();
        let shows = surface.as_ref().is_none_or(|surface| adapter.is_surface_supported(surface));
        let kind = if is_software(&adapter) { "software" } else { "graphics card" };
        let but = if shows { "" } else { ", which cannot draw to the window" };
        found.push(format!("{} ({}, {kind}{but})", info.name, backend_name(info.backend)));
        let Some(rank) = rank(&adapter, choice).filter(|_| shows) else { continue };
        if best.as_ref().is_none_or(|(other, _)| rank > *other) {
            best = Some((rank, adapter));
        }
    }
    let (rank, adapter) = best?;
    Some(Candidate { instance, surface, adapter, rank })
}

/// Finds and opens an adapter.
pub fn open(choice: Choice, output: &Output) -> Result<Opened, Error> {
    let mut found = Vec::new();
    let mut best: Option<Candidate> = None;
    for backends in backends() {
        if let Some(candidate) = look(backends, choice, output, &mut found)
            && best.as_ref().is_none_or(|other| candidate.rank > other.rank)
        {
            best = Some(candidate);
        }
        let good = |rank: u32| rank > 1 || choice == Choice::Software || !card_likely();
        if best.as_ref().is_some_and(|best| good(best.rank)) {
            break;
        }
    }
    match best {
        Some(candidate) => start(candidate, choice),
        None => Err(nothing_found(choice, &found)),
    }
}

fn nothing_found(choice: Choice, found: &[String]) -> Error {
    let seen = match found {
        [] => "no graphics driver answers".to_string(),
        found => format!("there is only {}", found.join(", ")),
    };
    match choice {
        Choice::Gpu => error!(
            "no graphics card can be drawn with: {seen}. Install its driver, or run with \
             --renderer auto or --renderer software"
        ),
        Choice::Software => error!(
            "no software adapter was found: {seen}. Install one (on Debian and Ubuntu: apt install \
             mesa-vulkan-drivers), or run with --renderer null"
        ),
        Choice::Auto | Choice::Null => error!(
            "nothing to draw with was found: {seen}. Install a graphics driver, or a software one \
             (on Debian and Ubuntu: apt install mesa-vulkan-drivers), or run with --renderer null"
        ),
    }
}

fn start(candidate: Candidate, choice: Choice) -> Result<Opened, Error> {
    let Candidate { instance, surface, adapter, .. } = candidate;
    let info = adapter.get_info();
    let limits = adapter.limits();
    let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TEXTURE_COMPRESSION_BC;
    let features = adapter.features() & wanted;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("engine"),
        required_features: features,
        required_limits: limits.clone(),
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..Default::default()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
            error!(
                "the adapter {} ({}) could not be opened: {error}. Update its driver, or run with \
                 --renderer software",
                info.name,
                backend_name(info.backend)
            )
        })?;
    let faults: Arc<Mutex<Faults>> = Arc::default();
    note_faults(&device, &faults);
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let about = Adapter {
        name: info.name.clone(),
        backend: backend_name(info.backend),
        software,
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        texture_side_max: limits.max_texture_dimension_2d,
        block_textures: features.contains(wgpu::Features::TEXTURE_COMPRESSION_BC),
    };
    let note = (software && choice == Choice::Auto).then(|| {
        format!(
            "no graphics card was found: pictures are drawn by the processor, with {} ({})",
            about.name, about.backend
        )
    });
    let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
    let flags = adapter.get_downlevel_capabilities().flags;
    let depth_reads = flags.contains(wgpu::DownlevelFlags::READ_ONLY_DEPTH_STENCIL);
    let base_vertex = flags.contains(wgpu::DownlevelFlags::BASE_VERTEX);
    let two_layers = info.backend == wgpu::Backend::Gl;
    let device = Device {
        device,
        queue,
        about,
        limits,
        timestamps,
        depth_reads,
        base_vertex,
        two_layers,
        instance,
        adapter,
        faults,
    };
    Ok(Opened { device, surface, note })
}

fn note_faults(device: &wgpu::Device, faults: &Arc<Mutex<Faults>>) {
    let noted = Arc::clone(faults);
    device.set_device_lost_callback(move |reason, words| {
        let words = if words.is_empty() { format!("{reason:?}") } else { words };
        noted.lock().unwrap_or_else(|poison| poison.into_inner()).lost.get_or_insert(words);
    });
    let noted = Arc::clone(faults);
    device.on_uncaptured_error(Arc::new(move |error| {
        let mut faults = noted.lock().unwrap_or_else(|poison| poison.into_inner());
        match error {
            wgpu::Error::OutOfMemory { source } => {
                faults.out_of_memory.get_or_insert(source.to_string());
            }
            other => {
                // One is as good as a thousand of the same.
                let words = other.to_string();
                if !faults.others.contains(&words) && faults.others.len() < 8 {
                    faults.others.push(words);
                }
            }
        }
    }));
}

impl Device {
    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Why the device is gone, if it is.
    pub fn lost(&self) -> Option<String> {
        self.faults().lost.clone()
    }

    /// Whether the device is gone, where that may not have been noted yet.
    pub fn is_lost_now(&self) -> bool {
        self.wait();
        self.lost().is_some()
    }

    /// What it ran out of memory for since the last call.
    pub fn out_of_memory(&self) -> Option<String> {
        self.faults().out_of_memory.take()
    }

    /// Other errors since the last call: faults of the renderer itself.
    pub fn others(&self) -> Vec<String> {
        std::mem::take(&mut self.faults().others)
    }

    /// What is allowed and possible for a surface.
    pub fn capabilities(&self, surface: &wgpu::Surface) -> wgpu::SurfaceCapabilities {
        surface.get_capabilities(&self.adapter)
    }

    /// Whether pictures of a format can be shown through its sRGB form.
    pub fn surface_views(&self) -> bool {
        let flags = self.adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::SURFACE_VIEW_FORMATS)
    }

    /// Whether a format can be drawn onto, blended and then read, with so many samples for each
    /// pixel. Through GL, wgpu makes pictures of several samples that cannot be read.
    pub fn draws_onto(&self, format: wgpu::TextureFormat, samples: u32) -> bool {
        let able = self.adapter.get_texture_format_features(format);
        able.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
            && able.flags.contains(wgpu::TextureFormatFeatureFlags::BLENDABLE)
            && (samples == 1
                || able.flags.sample_count_supported(samples) && self.about.backend != "GL")
    }

    /// Another surface for a window, where the first was lost.
    pub fn surface_anew(&self, window: &Arc<dyn Window>) -> Result<wgpu::Surface<'static>, String> {
        // Only the main thread may do so on macOS; elsewhere every thread may.
        if cfg!(target_os = "macos") {
            return Err("the window's surface was lost".to_string());
        }
        surface(&self.instance, window)
    }

    /// What makes surfaces that this device can draw to.
    pub fn instance(&self) -> wgpu::Instance {
        self.instance.clone()
    }

    /// Whether pictures can be shown in a window's surface.
    pub fn shows_in(&self, surface: &wgpu::Surface) -> bool {
        self.adapter.is_surface_supported(surface)
    }

    /// Runs something that may be refused, and says why it was.
    pub fn checked<T>(&self, run: impl FnOnce(&wgpu::Device) -> T) -> Result<T, String> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let made = run(&self.device);
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        let memory = pollster::block_on(memory.pop());
        match memory.or(validation).or(internal) {
            None => Ok(made),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err("the adapter is out of memory".to_string())
            }
            Some(error) => Err(error.to_string()),
        }
    }

    /// The same of what shaders are made into: the engine's, and those of games, which were checked
    /// in full when their data was opened (the kind's `validate`), and behind which only the
    /// engine's own text stands. It is done on a thread of its own, for what writes shaders for
    /// graphics interfaces calls itself as deep as they are nested; a panic in it costs this shader
    /// alone.
    pub fn compiled<T: Send>(
        &self,
        run: impl FnOnce(&wgpu::Device) -> T + Send,
    ) -> Result<T, String> {
        let work = || self.checked(run);
        fault::on_stack("shader", STACK_BYTES, work).unwrap_or_else(|error| Err(error.message))
    }

    /// Notes what has ended or failed by now, without waiting.
    pub fn look_after(&self) {
        // Its own failure is that of the device, which is noted anyway.
        let _ = self.device.poll(wgpu::PollType::Poll);
    }

    /// Waits until everything handed to the adapter is done.
    pub fn wait(&self) {
        loop {
            let all = wgpu::PollType::Wait { submission_index: None, timeout: None };
            match self.device.poll(all) {
                // GL cuts the wait at two seconds.
                Err(wgpu::PollError::Timeout) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_was_found_and_what_to_do() {
        let check = |choice, found: &[&str], wanted: &str| {
            let found: Vec<String> = found.iter().map(|it| it.to_string()).collect();
            assert_eq!(nothing_found(choice, &found).message, wanted);
        };
        check(
            Choice::Gpu,
            &["llvmpipe (Vulkan, software)"],
            "no graphics card can be drawn with: there is only llvmpipe (Vulkan, software). \
             Install its driver, or run with --renderer auto or --renderer software",
        );
        check(
            Choice::Auto,
            &[],
            "nothing to draw with was found: no graphics driver answers. Install a graphics \
             driver, or a software one (on Debian and Ubuntu: apt install mesa-vulkan-drivers), \
             or run with --renderer null",
        );
        check(
            Choice::Software,
            &[
                "A (Vulkan, graphics card)",
                "B (GL, graphics card, which cannot draw to the window)",
            ],
            "no software adapter was found: there is only A (Vulkan, graphics card), B (GL, \
             graphics card, which cannot draw to the window). Install one (on Debian and Ubuntu: \
             apt install mesa-vulkan-drivers), or run with --renderer null",
        );
    }
}
