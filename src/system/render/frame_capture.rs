//! The capture of a whole frame: the passes that were encoded, and a picture of each image that
//! they drew onto. Without a capture, nothing here is created.

use super::RenderedImage;
use super::device::GpuDevice;
use super::forward::{PipelineOptions, make};
use super::readback::{self, PendingReadback};
use super::textures::entry;

/// Larger images are scaled down to this side length in texels.
pub const CAPTURE_SIDE_MAX: u32 = 2048;
/// Maximum number of images with pictures in a captured frame, and of bytes of these pictures. The
/// others are listed with the reason.
pub const CAPTURED_IMAGES_MAX: usize = 512;
pub const CAPTURED_BYTES_MAX: u64 = 1 << 30;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A pass of a captured frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedPass {
    /// Number of its view, from 0; `None`: it belongs to all views.
    pub view: Option<usize>,
    /// The names of the render passes that share it.
    pub name: String,
}

/// An image of a captured frame, as the frame left it.
#[derive(Clone, PartialEq, Debug)]
pub struct CapturedImage {
    /// Number of its view, from 0; `None`: all views share it.
    pub view: Option<usize>,
    pub name: String,
    pub width: u32,
    pub height: u32,
    pub format: String,
    /// Samples per pixel.
    pub samples: u32,
    /// Bytes on the adapter.
    pub bytes: u64,
    /// Its picture, or the reason why there is none.
    pub picture: Result<RenderedImage, String>,
}

/// A captured frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameCapture {
    /// Index of the frame, as the game counts it.
    pub frame: u64,
    /// The passes in order.
    pub passes: Vec<CapturedPass>,
    pub images: Vec<CapturedImage>,
}

/// An image that exists on the adapter.
pub struct FrameImageView<'a> {
    pub view: Option<usize>,
    pub name: String,
    pub image: &'a wgpu::TextureView,
}

/// A picture that the adapter draws.
pub struct PendingImage {
    captured: CapturedImage,
    copy: Result<PendingReadback, String>,
}

/// Returns the number of the kind in frame_capture.wgsl.
fn kind_of(format: wgpu::TextureFormat) -> u32 {
    use wgpu::TextureFormat::{Bgra8UnormSrgb, Rg16Float, Rgba8UnormSrgb, Rgba16Float};
    match format {
        Rgba16Float | Rgba8UnormSrgb | Bgra8UnormSrgb => 0,
        _ if format.is_depth_stencil_format() => 1,
        Rg16Float => 2,
        _ => 3,
    }
}

/// Returns the size of an image's picture.
fn picture_size(width: u32, height: u32) -> (u32, u32) {
    let side = width.max(height).max(1);
    if side <= CAPTURE_SIDE_MAX {
        return (width.max(1), height.max(1));
    }
    let scaled = |length: u32| {
        (u64::from(length) * u64::from(CAPTURE_SIDE_MAX) / u64::from(side)).max(1) as u32
    };
    (scaled(width), scaled(height))
}

/// The pictures of a captured frame so far.
#[derive(Default)]
pub struct CaptureBudget {
    images: usize,
    bytes: u64,
}

impl CaptureBudget {
    /// Adds the picture of an image with a size. Returns an error if the limits allow no more.
    fn take(&mut self, width: u32, height: u32) -> Result<(), String> {
        let (width, height) = picture_size(width, height);
        let bytes = self.bytes + u64::from(width) * u64::from(height) * 4;
        if self.images >= CAPTURED_IMAGES_MAX {
            return Err(format!(
                "no picture: the frame has more than {CAPTURED_IMAGES_MAX} images \
                                (CAPTURED_IMAGES_MAX)"
            ));
        }
        if bytes > CAPTURED_BYTES_MAX {
            return Err(format!(
                "no picture: those of the frame have more than \
                                {CAPTURED_BYTES_MAX} bytes (CAPTURED_BYTES_MAX)"
            ));
        }
        (self.images, self.bytes) = (self.images + 1, bytes);
        Ok(())
    }
}

/// Encodes the picture of an image, if the budget allows it.
pub fn begin(
    device: &GpuDevice,
    encoder: &mut wgpu::CommandEncoder,
    of: &FrameImageView,
    budget: &mut CaptureBudget,
) -> PendingImage {
    let texture = of.image.texture();
    let (width, height, samples) = (texture.width(), texture.height(), texture.sample_count());
    let format = texture.format();
    let texel = format.block_copy_size(None).unwrap_or(4);
    let bytes = u64::from(width) * u64::from(height) * u64::from(samples) * u64::from(texel);
    let captured = CapturedImage {
        view: of.view,
        name: of.name.clone(),
        width,
        height,
        format: format!("{format:?}"),
        samples,
        bytes,
        picture: Err(String::new()),
    };
    let copy = budget.take(width, height).and_then(|()| draw(device, encoder, of.image));
    PendingImage { captured, copy }
}

/// Creates the pipeline that shows a texture as bytes, in a size.
fn capture_pipeline(
    device: &GpuDevice,
    layout: &wgpu::BindGroupLayout,
    texture: &wgpu::Texture,
    (width, height): (u32, u32),
) -> Result<wgpu::RenderPipeline, String> {
    let samples = texture.sample_count();
    device.compiled(|raw| {
        let whole = include_str!("frame_capture.wgsl");
        let source = match samples > 1 {
            true => whole.to_string(),
            false => whole.replace("_multisampled_2d", "_2d"),
        };
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("capture"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let constants = [
            ("SAMPLES", f64::from(samples)),
            ("KIND", f64::from(kind_of(texture.format()))),
            ("WIDTH", f64::from(width)),
            ("HEIGHT", f64::from(height)),
        ];
        make(
            raw,
            &PipelineOptions {
                label: "capture",
                layouts: &[Some(layout)],
                module: &module,
                vertex: "capture_vertex",
                fragment: Some("capture_fragment"),
                constants: &constants,
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: None,
                samples: 1,
                target: Some((FORMAT, None)),
            },
        )
    })
}

/// Draws an image as bytes, and encodes the copy of them.
fn draw(
    device: &GpuDevice,
    encoder: &mut wgpu::CommandEncoder,
    image: &wgpu::TextureView,
) -> Result<PendingReadback, String> {
    let texture = image.texture();
    let samples = texture.sample_count();
    let (width, height) = picture_size(texture.width(), texture.height());
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    let target = readback::create_target(device, size, FORMAT);
    let layout = device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("capture"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: samples > 1,
            },
            count: None,
        }],
    });
    let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("capture"),
        layout: &layout,
        entries: &[entry(0, wgpu::BindingResource::TextureView(image))],
    });
    let pipeline = capture_pipeline(device, &layout, texture, (width, height))?;
    let onto = target.create_view(&Default::default());
    let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("capture"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &onto,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                store: wgpu::StoreOp::Store,
            },
        })],
        depth_stencil_attachment: None,
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    });
    to.set_pipeline(&pipeline);
    to.set_bind_group(0, &group, &[]);
    to.draw(0..3, 0..1);
    drop(to);
    readback::begin(device, encoder, &target)
}

/// Waits for a picture.
pub fn end(device: &GpuDevice, pending: PendingImage) -> CapturedImage {
    let picture = pending.copy.and_then(|copy| readback::end(device, &copy, true));
    CapturedImage { picture, ..pending.captured }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_large_images_are_scaled_down() {
        assert_eq!(picture_size(320, 180), (320, 180));
        assert_eq!(picture_size(8192, 4096), (2048, 1024));
        assert_eq!(picture_size(16384, 1), (2048, 1));
        assert_eq!(picture_size(0, 0), (1, 1));
    }

    #[test]
    fn a_capture_has_few_images_and_bytes() {
        let mut small = CaptureBudget::default();
        assert!((0..CAPTURED_IMAGES_MAX).all(|_| small.take(1, 1).is_ok()));
        assert!(small.take(1, 1).unwrap_err().contains("CAPTURED_IMAGES_MAX"));
        let mut large = CaptureBudget::default();
        // Pictures have at most 2,048 x 2,048 texels, whatever the images have.
        assert!((0..64).all(|_| large.take(16384, 16384).is_ok()));
        assert!(large.take(2048, 2048).unwrap_err().contains("CAPTURED_BYTES_MAX"));
    }

    #[test]
    fn the_shader_of_captures_is_valid() {
        let whole = include_str!("frame_capture.wgsl");
        for source in [whole.to_string(), whole.replace("_multisampled_2d", "_2d")] {
            let module = wgpu::naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
            let flags = wgpu::naga::valid::ValidationFlags::all();
            let able = wgpu::naga::valid::Capabilities::empty();
            wgpu::naga::valid::Validator::new(flags, able).validate(&module).unwrap();
        }
    }
}
