//! A minimal program with graphics: a window of 800 x 600, the processor's adapter, a device, a
//! surface, one presented frame, and the end. The frame is one textured square, for which the
//! driver compiles code as for a game's, or is only cleared. The program contains no engine code.
//! It is the baseline of the startup results.

use std::sync::Arc;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};

/// Argument that turns a process of the benchmark into this program.
pub const ARGUMENT: &str = "--bare-program";
/// Argument after it for a frame that is only cleared.
pub const CLEARS: &str = "clears";

struct Bare {
    draws: bool,
}

impl ApplicationHandler for Bare {
    fn resumed(&mut self, active: &ActiveEventLoop) {
        let attributes = Window::default_attributes().with_inner_size(LogicalSize::new(800, 600));
        let window = active.create_window(attributes).expect("there is a display");
        show(Arc::new(window), self.draws);
        active.exit();
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
}

pub fn main(draws: bool) {
    let events = EventLoop::new().expect("there is a display");
    events.run_app(&mut Bare { draws }).expect("the window lives as long as it is wanted");
}

/// Shader of a textured square.
const SHADER: &str = "
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32) -> Corner {
    let uv = vec2f(f32(vertex & 1u), f32(vertex >> 1u));
    return Corner(vec4f(uv * 0.1, 0.0, 1.0), uv);
}

@fragment
fn pixel(in: Corner) -> @location(0) vec4f {
    return textureSample(picture, smooth_sampler, in.uv);
}
";

/// Creates the square's pipeline, and the bind group of its texture.
fn square(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    format: wgpu::TextureFormat,
) -> (wgpu::RenderPipeline, wgpu::BindGroup) {
    const SIDE: u32 = 16;
    let size = wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let rows = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(SIDE * 4),
        rows_per_image: None,
    };
    queue.write_texture(texture.as_image_copy(), &[200; (SIDE * SIDE * 4) as usize], rows, size);
    let source = wgpu::ShaderSource::Wgsl(SHADER.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let target = wgpu::ColorTargetState {
        format,
        blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
        write_mask: wgpu::ColorWrites::ALL,
    };
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("corner"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("pixel"),
            compilation_options: Default::default(),
            targets: &[Some(target)],
        }),
        multiview_mask: None,
        cache: None,
    });
    let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let view = texture.create_view(&Default::default());
    let bind = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            bind(0, wgpu::BindingResource::TextureView(&view)),
            bind(1, wgpu::BindingResource::Sampler(&sampler)),
        ],
    });
    (pipeline, group)
}

/// Draws one frame and presents it.
fn show(window: Arc<Window>, draws: bool) {
    let size = window.inner_size();
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    // No validation layers, as when games run.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let surface = instance.create_surface(window).expect("a window can be drawn to");
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let adapter = adapters
        .into_iter()
        .find(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu)
        .expect("there is a software adapter (on Debian: apt install mesa-vulkan-drivers)");
    let descriptor = wgpu::DeviceDescriptor {
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..Default::default()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&descriptor)).expect("the adapter can be opened");
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
    let square = draws.then(|| square(&device, &queue, config.format));
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(target)],
        ..Default::default()
    });
    if let Some((pipeline, group)) = &square {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..4, 0..1);
    }
    drop(pass);
    queue.submit([encoder.finish()]);
    queue.present(picture);
    let all = wgpu::PollType::Wait { submission_index: None, timeout: None };
    device.poll(all).expect("the picture is drawn at some time");
}
