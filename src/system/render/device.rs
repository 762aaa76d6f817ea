//! The graphics device: the choice of the adapter, its opening, and the record of its errors.
//! Creates no resources.

use super::forward::{LIGHT_FORMAT, STORAGE_BUFFERS_MIN};
use super::shader::STACK_BYTES;
use super::uploads::Uploads;
use super::{AdapterChoice, AdapterInfo, SurfaceTarget, SurfaceWindow};
use engine_foundation::error;
use engine_foundation::{Error, panic};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Maximum time that the adapter may take for a frame, as elapsed time. A frame that takes longer
/// is treated as one that never ends.
pub const ADAPTER_WAIT_MAX: Duration = Duration::from_secs(30);

/// Errors of the adapter that occur asynchronously.
#[derive(Default)]
struct DeviceErrors {
    lost: Option<String>,
    out_of_memory: Option<String>,
    other_errors: Vec<String>,
}

/// An open adapter.
pub struct GpuDevice {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: AdapterInfo,
    pub limits: wgpu::Limits,
    pub timestamps: bool,
    /// True if a depth buffer can be read while it is tested against.
    pub depth_reads: bool,
    /// True if a draw call can specify a base vertex.
    pub base_vertex: bool,
    /// True if the adapter has compute shaders.
    pub compute: bool,
    /// True for graphics APIs whose texture arrays need at least two layers.
    pub two_layers: bool,
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    faults: Arc<Mutex<DeviceErrors>>,
    /// Copies of large data (uploads.rs).
    pub uploads: Mutex<Uploads>,
    /// True after a wait that exceeded its limit.
    hung: AtomicBool,
}

/// A device, and the window's surface, if there is a window.
pub struct OpenedDevice {
    pub device: GpuDevice,
    pub surface: Option<wgpu::Surface<'static>>,
    /// A note about the choice, for users.
    pub note: Option<String>,
}

/// A wrapper that passes a window's display handle to the graphics library.
#[derive(Clone)]
struct WindowHandles(Arc<dyn SurfaceWindow>);

impl std::fmt::Debug for WindowHandles {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("a window")
    }
}

impl wgpu::rwh::HasDisplayHandle for WindowHandles {
    fn display_handle(&self) -> Result<wgpu::rwh::DisplayHandle<'_>, wgpu::rwh::HandleError> {
        self.0.display_handle()
    }
}

impl wgpu::rwh::HasWindowHandle for WindowHandles {
    fn window_handle(&self) -> Result<wgpu::rwh::WindowHandle<'_>, wgpu::rwh::HandleError> {
        self.0.window_handle()
    }
}

/// Creates a surface for a window.
pub fn surface(
    instance: &wgpu::Instance,
    window: &Arc<dyn SurfaceWindow>,
) -> Result<wgpu::Surface<'static>, String> {
    instance.create_surface(WindowHandles(Arc::clone(window))).map_err(|error| error.to_string())
}

/// Returns the backends to query, one after the other: each query takes tens of milliseconds, and
/// usually the first has a suitable adapter. `WGPU_BACKEND` names others.
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

/// Returns true if there may be a graphics card that the first backend did not report.
fn may_have_graphics_card() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let nodes = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let render = nodes.into_iter().any(|it| it.file_name().to_string_lossy().starts_with("render"));
    render || std::path::Path::new("/dev/nvidia0").exists()
}

/// Makes Vulkan load only the drivers of software adapters. Drivers of graphics cards take some
/// megabytes and milliseconds each, and would be unused. Nothing changes if the environment already
/// names drivers. Call this function before any thread exists.
pub fn load_only_software_drivers() {
    const SELECT: &str = "VK_LOADER_DRIVERS_SELECT";
    let set = |name: &str| std::env::var_os(name).is_some();
    let named = [SELECT, "VK_LOADER_DRIVERS_DISABLE", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    if cfg!(target_os = "linux") && !named.into_iter().any(set) {
        // Mesa's lavapipe and SwiftShader, by the names of their manifests.
        // SAFETY: no other thread exists that could read the environment meanwhile.
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

struct AdapterCandidate {
    instance: wgpu::Instance,
    surface: Option<wgpu::Surface<'static>>,
    adapter: wgpu::Adapter,
    rank: u32,
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// Returns the number of storage buffers that all shaders can read: 0 without those of vertices.
fn vertex_storage_buffers(adapter: &wgpu::Adapter) -> u32 {
    let flags = adapter.get_downlevel_capabilities().flags;
    match flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE) {
        true => adapter.limits().max_storage_buffers_per_shader_stage,
        false => 0,
    }
}

/// Returns why an adapter is not used, as the end of its description, or an empty text.
fn refusal(supports_surface: bool, storage_buffers: u32) -> &'static str {
    match (supports_surface, storage_buffers) {
        (false, _) => ", which cannot draw to the window",
        (true, 0) => ", which has no storage buffers in vertex shaders",
        (true, _) => "",
    }
}

/// Returns the rank of an adapter, higher is better; `None`: it cannot be used.
fn rank(adapter: &wgpu::Adapter, choice: AdapterChoice) -> Option<u32> {
    let storage_buffers = vertex_storage_buffers(adapter);
    let usable = storage_buffers >= 1;
    let light = adapter.get_texture_format_features(LIGHT_FORMAT);
    let draws_worlds = storage_buffers >= STORAGE_BUFFERS_MIN && draws_onto(&light);
    let kind = adapter.get_info().device_type;
    rank_of(kind, draws_worlds, choice).filter(|_| usable)
}

/// Returns true if textures of a format can be rendered to and blended.
fn draws_onto(format: &wgpu::TextureFormatFeatures) -> bool {
    format.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
        && format.flags.contains(wgpu::TextureFormatFeatureFlags::BLENDABLE)
}

/// Returns the rank of a kind of adapter, or `None` if it was not asked for. One that cannot draw
/// worlds is better than none, and worse than a software adapter.
fn rank_of(kind: wgpu::DeviceType, draws_worlds: bool, choice: AdapterChoice) -> Option<u32> {
    let rank = match kind {
        _ if !draws_worlds => 0,
        wgpu::DeviceType::DiscreteGpu => 5,
        wgpu::DeviceType::IntegratedGpu => 4,
        wgpu::DeviceType::VirtualGpu => 3,
        wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 1,
    };
    let is_software = kind == wgpu::DeviceType::Cpu;
    let wanted = match choice {
        AdapterChoice::Software => is_software,
        AdapterChoice::Gpu => !is_software,
        AdapterChoice::Auto | AdapterChoice::Null => true,
    };
    wanted.then_some(rank)
}

/// Finds the best adapter of one backend.
fn find_adapter(
    backends: wgpu::Backends,
    choice: AdapterChoice,
    output: &SurfaceTarget,
    found: &mut Vec<String>,
) -> Option<AdapterCandidate> {
    let mut descriptor = match output {
        SurfaceTarget::Window { window, .. } => {
            let handles = Box::new(WindowHandles(Arc::clone(window)));
            wgpu::InstanceDescriptor::new_with_display_handle(handles)
        }
        SurfaceTarget::Offscreen { .. } => wgpu::InstanceDescriptor::new_without_display_handle(),
    };
    descriptor.backends = backends;
    // Without validation layers: searching for them alone takes long.
    descriptor.flags = wgpu::InstanceFlags::empty();
    if backends == wgpu::Backends::NOOP {
        descriptor.backend_options.noop = wgpu::NoopBackendOptions::enabled();
    }
    let instance = wgpu::Instance::new(descriptor);
    let surface = match output {
        SurfaceTarget::Window { window, .. } => {
            match instance.create_surface(WindowHandles(Arc::clone(window))) {
                Ok(surface) => Some(surface),
                Err(error) => {
                    found.push(format!("{backends:?}: {error}"));
                    return None;
                }
            }
        }
        SurfaceTarget::Offscreen { .. } => None,
    };
    let mut best: Option<(u32, wgpu::Adapter)> = None;
    for adapter in pollster::block_on(instance.enumerate_adapters(backends)) {
        let info = adapter.get_info();
        let supports_surface =
            surface.as_ref().is_none_or(|surface| adapter.is_surface_supported(surface));
        let kind = if is_software(&adapter) { "software" } else { "graphics card" };
        let but = refusal(supports_surface, vertex_storage_buffers(&adapter));
        found.push(format!("{} ({}, {kind}{but})", info.name, backend_name(info.backend)));
        let Some(rank) = rank(&adapter, choice).filter(|_| supports_surface) else { continue };
        if best.as_ref().is_none_or(|(other, _)| rank > *other) {
            best = Some((rank, adapter));
        }
    }
    let (rank, adapter) = best?;
    Some(AdapterCandidate { instance, surface, adapter, rank })
}

/// Finds and opens an adapter.
pub fn open(choice: AdapterChoice, output: &SurfaceTarget) -> Result<OpenedDevice, Error> {
    let mut found = Vec::new();
    let mut best: Option<AdapterCandidate> = None;
    for backends in backends() {
        if let Some(candidate) = find_adapter(backends, choice, output, &mut found)
            && best.as_ref().is_none_or(|other| candidate.rank > other.rank)
        {
            best = Some(candidate);
        }
        let good =
            |rank: u32| rank > 1 || choice == AdapterChoice::Software || !may_have_graphics_card();
        if best.as_ref().is_some_and(|best| good(best.rank)) {
            break;
        }
    }
    match best {
        Some(candidate) => start(candidate, choice),
        None => Err(no_adapter_error(choice, &found)),
    }
}

fn no_adapter_error(choice: AdapterChoice, found: &[String]) -> Error {
    let available = match found {
        [] => "no graphics driver answers".to_string(),
        found => format!("there is only {}", found.join(", ")),
    };
    match choice {
        AdapterChoice::Gpu => error!(
            "no graphics card can be used: {available}. Install its driver, or run with --renderer \
             auto or --renderer software"
        ),
        AdapterChoice::Software => error!(
            "no software adapter was found: {available}. Install one (on Debian and Ubuntu: apt \
             install mesa-vulkan-drivers), or run with --renderer null"
        ),
        AdapterChoice::Auto | AdapterChoice::Null => error!(
            "nothing to draw with was found: {available}. Install a graphics driver, or a software \
             one (on Debian and Ubuntu: apt install mesa-vulkan-drivers), or run with --renderer \
             null"
        ),
    }
}

fn start(candidate: AdapterCandidate, choice: AdapterChoice) -> Result<OpenedDevice, Error> {
    let AdapterCandidate { instance, surface, adapter, .. } = candidate;
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
    let faults: Arc<Mutex<DeviceErrors>> = Arc::default();
    install_error_handlers(&device, &faults);
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let adapter_info = AdapterInfo {
        name: info.name.clone(),
        backend: backend_name(info.backend),
        software,
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        texture_side_max: limits.max_texture_dimension_2d,
        block_textures: features.contains(wgpu::Features::TEXTURE_COMPRESSION_BC),
    };
    let note = (software && choice == AdapterChoice::Auto).then(|| {
        format!(
            "no graphics card was found: pictures are drawn by the processor, with {} ({})",
            adapter_info.name, adapter_info.backend
        )
    });
    let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
    let flags = adapter.get_downlevel_capabilities().flags;
    let depth_reads = flags.contains(wgpu::DownlevelFlags::READ_ONLY_DEPTH_STENCIL);
    let base_vertex = flags.contains(wgpu::DownlevelFlags::BASE_VERTEX);
    let compute = flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
    let two_layers = info.backend == wgpu::Backend::Gl;
    let device = GpuDevice {
        uploads: Mutex::new(Uploads::new(&device)),
        device,
        queue,
        info: adapter_info,
        limits,
        timestamps,
        depth_reads,
        base_vertex,
        compute,
        two_layers,
        instance,
        adapter,
        faults,
        hung: AtomicBool::new(false),
    };
    Ok(OpenedDevice { device, surface, note })
}

fn install_error_handlers(device: &wgpu::Device, faults: &Arc<Mutex<DeviceErrors>>) {
    let shared_errors = Arc::clone(faults);
    device.set_device_lost_callback(move |reason, message| {
        let message = if message.is_empty() { format!("{reason:?}") } else { message };
        shared_errors
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
            .lost
            .get_or_insert(message);
    });
    let shared_errors = Arc::clone(faults);
    device.on_uncaptured_error(Arc::new(move |error| {
        let mut faults = shared_errors.lock().unwrap_or_else(|poison| poison.into_inner());
        match error {
            wgpu::Error::OutOfMemory { source } => {
                faults.out_of_memory.get_or_insert(source.to_string());
            }
            other => {
                // The same error is stored only once.
                let message = other.to_string();
                if !faults.other_errors.contains(&message) && faults.other_errors.len() < 8 {
                    faults.other_errors.push(message);
                }
            }
        }
    }));
}

/// Returns the error message for a frame that the adapter does not finish.
pub fn hang_message(frame: u64, limit: Duration) -> String {
    format!(
        "the adapter has not finished frame {frame} in {} s (ADAPTER_WAIT_MAX). Other programs may \
         keep the machine busy: try again when they have ended. If the frame itself needs longer, \
         draw less in it: fewer or smaller shadow maps, meshes and targets. Otherwise the driver \
         may be faulty: update it, or run with another --renderer",
        limit.as_secs()
    )
}

impl GpuDevice {
    fn faults(&self) -> MutexGuard<'_, DeviceErrors> {
        self.faults.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Returns the reason why the device was lost, if it was.
    pub fn loss_reason(&self) -> Option<String> {
        self.faults().lost.clone()
    }

    /// Returns true if the device is lost, even if the loss has not been recorded yet.
    pub fn is_lost_now(&self) -> bool {
        self.wait();
        self.loss_reason().is_some()
    }

    /// Returns the out-of-memory error since the last call, if there was one.
    pub fn take_out_of_memory(&self) -> Option<String> {
        self.faults().out_of_memory.take()
    }

    /// Returns other errors since the last call: faults of the renderer itself.
    pub fn take_other_errors(&self) -> Vec<String> {
        std::mem::take(&mut self.faults().other_errors)
    }

    /// Returns the capabilities of a surface.
    pub fn capabilities(&self, surface: &wgpu::Surface) -> wgpu::SurfaceCapabilities {
        surface.get_capabilities(&self.adapter)
    }

    /// Returns true if a surface can be drawn to through the sRGB view of its format.
    pub fn surface_views(&self) -> bool {
        let flags = self.adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::SURFACE_VIEW_FORMATS)
    }

    /// Returns true if a format can be rendered to, blended and then read, with this number of
    /// samples per pixel. Through GL, wgpu creates multisampled textures that cannot be read.
    pub fn draws_onto(&self, format: wgpu::TextureFormat, samples: u32) -> bool {
        let able = self.adapter.get_texture_format_features(format);
        draws_onto(&able)
            && (samples == 1
                || able.flags.sample_count_supported(samples) && self.info.backend != "GL")
    }

    /// Returns true if a format can be rendered to and then read.
    pub fn renders_to(&self, format: wgpu::TextureFormat) -> bool {
        let usages = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        self.adapter.get_texture_format_features(format).allowed_usages.contains(usages)
    }

    /// Returns true if the adapter can draw onto textures of a format, at least without blending.
    pub fn draws_onto_format(&self, format: wgpu::TextureFormat) -> bool {
        let able = self.adapter.get_texture_format_features(format);
        able.allowed_usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
    }

    /// Creates another surface for a window after the first was lost.
    pub fn recreate_surface(
        &self,
        window: &Arc<dyn SurfaceWindow>,
    ) -> Result<wgpu::Surface<'static>, String> {
        // On macOS only the main thread may do so; elsewhere every thread may.
        if cfg!(target_os = "macos") {
            return Err("the window's surface was lost".to_string());
        }
        surface(&self.instance, window)
    }

    /// Returns the instance that creates surfaces for this device.
    pub fn instance(&self) -> wgpu::Instance {
        self.instance.clone()
    }

    /// Returns true if this device can draw to a window's surface.
    pub fn supports_surface(&self, surface: &wgpu::Surface) -> bool {
        self.adapter.is_surface_supported(surface)
    }

    /// Runs an operation that the device may reject, and returns the reason as an error.
    pub fn checked<T>(&self, run: impl FnOnce(&wgpu::Device) -> T) -> Result<T, String> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let result = run(&self.device);
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        let memory = pollster::block_on(memory.pop());
        match memory.or(validation).or(internal) {
            None => Ok(result),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err("the adapter is out of memory".to_string())
            }
            Some(error) => Err(error.to_string()),
        }
    }

    /// Runs an operation like [`GpuDevice::checked`], for the compilation of shaders: the engine's,
    /// and those of games. Games' shaders were fully checked when their data was opened (the kind's
    /// `validate`), and only the engine's own text follows them. It runs on a separate thread,
    /// because the shader writers of graphics APIs recurse as deeply as the shader is nested.
    /// A panic in it fails only this shader.
    pub fn compiled<T: Send>(
        &self,
        run: impl FnOnce(&wgpu::Device) -> T + Send,
    ) -> Result<T, String> {
        let work = || self.checked(run);
        panic::run_with_stack("shader", STACK_BYTES, work)
            .unwrap_or_else(|error| Err(error.message))
    }

    /// Returns the constant of shaders that hides uniforms from the driver (view_uniforms.wgsl).
    pub fn hides_uniforms(&self) -> (&'static str, f64) {
        ("HIDES_UNIFORMS", f64::from(u8::from(self.info.software)))
    }

    /// Records errors that have occurred by now, without waiting.
    pub fn poll_device(&self) {
        // A failure of the poll is that of the device, which is recorded anyway.
        let _ = self.device.poll(wgpu::PollType::Poll);
    }

    /// Blocks until all submitted work is done, at most for [`ADAPTER_WAIT_MAX`]. After that, the
    /// adapter counts as hung.
    pub fn wait(&self) {
        let end = Instant::now() + ADAPTER_WAIT_MAX;
        loop {
            let timeout = end.saturating_duration_since(Instant::now());
            if timeout.is_zero() {
                self.hung.store(true, Ordering::Relaxed);
                return;
            }
            let all = wgpu::PollType::Wait { submission_index: None, timeout: Some(timeout) };
            match self.device.poll(all) {
                // GL limits the wait to two seconds.
                Err(wgpu::PollError::Timeout) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Returns true if a wait for the adapter has exceeded its limit.
    pub fn is_hung(&self) -> bool {
        self.hung.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_that_draw_worlds_are_preferred() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};
        let auto = |kind, draws_worlds| rank_of(kind, draws_worlds, AdapterChoice::Auto);
        assert!(auto(DiscreteGpu, true) > auto(IntegratedGpu, true));
        assert!(auto(IntegratedGpu, true) > auto(Cpu, true));
        assert!(auto(Cpu, true) > auto(DiscreteGpu, false));
        assert!(auto(DiscreteGpu, false).is_some(), "it draws games without worlds");
        let of = |choice| [DiscreteGpu, Cpu].map(|kind| rank_of(kind, false, choice).is_some());
        assert_eq!(of(AdapterChoice::Gpu), [true, false]);
        assert_eq!(of(AdapterChoice::Software), [false, true]);
    }

    #[test]
    fn adapter_errors_list_found_adapters_and_a_remedy() {
        assert_eq!(refusal(true, 1), "");
        assert_eq!(refusal(true, 0), ", which has no storage buffers in vertex shaders");
        assert_eq!(refusal(false, 0), ", which cannot draw to the window");
        let check = |choice, found: &[&str], wanted: &str| {
            let found: Vec<String> = found.iter().map(|it| it.to_string()).collect();
            assert_eq!(no_adapter_error(choice, &found).message, wanted);
        };
        check(
            AdapterChoice::Gpu,
            &["llvmpipe (Vulkan, software)"],
            "no graphics card can be used: there is only llvmpipe (Vulkan, software). Install its \
             driver, or run with --renderer auto or --renderer software",
        );
        check(
            AdapterChoice::Auto,
            &[],
            "nothing to draw with was found: no graphics driver answers. Install a graphics \
             driver, or a software one (on Debian and Ubuntu: apt install mesa-vulkan-drivers), \
             or run with --renderer null",
        );
        check(
            AdapterChoice::Software,
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
