//! What any program costs that shows a picture: a window of 800 x 600, the processor's adapter, a
//! device, a surface, one clear, one picture presented, and the end. Nothing of the engine is in
//! it; the figures of starting up are set beside it.

use std::sync::Arc;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};

/// The argument that makes a process of the benchmark this program.
pub const ARGUMENT: &str = "--bare-program";

struct Bare;

impl ApplicationHandler for Bare {
    fn resumed(&mut self, active: &ActiveEventLoop) {
        let attributes = Window::default_attributes().with_inner_size(LogicalSize::new(800, 600));
        let window = active.create_window(attributes).expect("there is a display");
        show(Arc::new(window));
        active.exit();
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
}

pub fn main() {
    let events = EventLoop::new().expect("there is a display");
    events.run_app(&mut Bare).expect("the window lives as long as it is wanted");
}

/// Clears one picture and presents it.
fn show(window: Arc<Window>) {
    let size = window.inner_size();
    let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
    wanted.backends = wgpu::Backends::VULKAN;
    // Without the layers that check the driver, as games run.
    wanted.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(wanted);
    let surface = instance.create_surface(window).expect("a window can be drawn to");
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let adapter = adapters
        .into_iter()
        .find(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu)
        .expect("there is a software adapter (on Debian: apt install mesa-vulkan-drivers)");
    let wanted = wgpu::DeviceDescriptor {
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..Default::default()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&wanted)).expect("the adapter can be opened");
    let config = surface
        .get_default_config(&adapter, size.width.max(1), size.height.max(1))
        .expect("the adapter can draw to the window");
    surface.configure(&device, &config);
    let picture = match surface.get_current_texture() {
        wgpu::CurrentSurfaceTexture::Success(picture) => picture,
        wgpu::CurrentSurfaceTexture::Suboptimal(picture) => picture,
        other => panic!("there is no picture to draw: {other:?}"),
    };
    let view = picture.texture.create_view(&Default::default());
    let mut encoder = device.create_command_encoder(&Default::default());
    let clear = wgpu::Operations {
        load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.1, g: 0.2, b: 0.3, a: 1.0 }),
        store: wgpu::StoreOp::Store,
    };
    let target = wgpu::RenderPassColorAttachment {
        view: &view,
        depth_slice: None,
        resolve_target: None,
        ops: clear,
    };
    drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(target)],
        ..Default::default()
    }));
    queue.submit([encoder.finish()]);
    queue.present(picture);
    let all = wgpu::PollType::Wait { submission_index: None, timeout: None };
    device.poll(all).expect("the picture is drawn at some time");
}
