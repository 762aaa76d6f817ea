//! The images that masks of Guis are drawn onto. They are reused in later frames. Draws nothing.

use super::device::GpuDevice;
use super::gui_passes::MaskPass;
use super::gui_pipelines::MASK_FORMAT;
use super::textures::entry;
use engine_frame_packet::gui::{QuadInstance, paint};

/// The sides of images are multiples of this number of texels, so that a mask that grows by a few
/// pixels keeps its image.
const SIDE_STEP: u32 = 64;
/// An image that no mask used in this number of frames is released.
const IDLE_FRAMES_MAX: u32 = 30;

struct MaskImage {
    size: (u32, u32),
    view: wgpu::TextureView,
    group: wgpu::BindGroup,
    /// Number of frames since it was used; 0: it is used in this frame.
    idle: u32,
}

/// The images of all masks of a frame.
pub struct MaskImages {
    layout: wgpu::BindGroupLayout,
    /// A white image, for what is drawn through no mask.
    white: wgpu::BindGroup,
    /// One instance that fills an image.
    fill: wgpu::Buffer,
    images: Vec<MaskImage>,
    /// Index of the image of each planned mask; `None` for a mask without pixels.
    of_masks: Vec<Option<usize>>,
}

impl MaskImages {
    pub fn new(
        device: &GpuDevice,
        layout: &wgpu::BindGroupLayout,
        white: &wgpu::TextureView,
    ) -> MaskImages {
        let instance = QuadInstance {
            corners: [-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0],
            color: [255; 4],
            paint: QuadInstance::paint(paint::SOLID, 0, 0),
            ..QuadInstance::default()
        };
        let fill = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("mask"),
            size: size_of::<QuadInstance>() as u64,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        device.queue.write_buffer(&fill, 0, bytemuck::bytes_of(&instance));
        let white = bind_group(device, layout, white);
        let (layout, images) = (layout.clone(), Vec::new());
        MaskImages { layout, white, fill, images, of_masks: Vec::new() }
    }

    /// Chooses an image for each mask, and creates those that are missing.
    pub fn assign(&mut self, device: &GpuDevice, masks: &[MaskPass]) {
        self.images.iter_mut().for_each(|image| image.idle += 1);
        self.images.retain(|image| image.idle <= IDLE_FRAMES_MAX);
        self.of_masks.clear();
        for mask in masks {
            let [_, _, width, height] = mask.rectangle;
            let is_empty = width == 0 || height == 0;
            let of_mask = (!is_empty).then(|| self.image(device, (width, height)));
            self.of_masks.push(of_mask);
        }
    }

    /// Returns the index of an image that no other mask of the frame uses.
    fn image(&mut self, device: &GpuDevice, (width, height): (u32, u32)) -> usize {
        let side = |length: u32| {
            length.next_multiple_of(SIDE_STEP).min(device.limits.max_texture_dimension_2d)
        };
        let size = (side(width), side(height));
        let free = self.images.iter().position(|image| image.idle > 0 && image.size == size);
        let index = free.unwrap_or_else(|| {
            let view = create_view(device, size);
            let group = bind_group(device, &self.layout, &view);
            self.images.push(MaskImage { size, view, group, idle: 0 });
            self.images.len() - 1
        });
        self.images[index].idle = 0;
        index
    }

    /// Returns the render view of a planned mask; `None` if it has no pixels.
    pub fn view(&self, mask: usize) -> Option<&wgpu::TextureView> {
        self.of_masks[mask].map(|image| &self.images[image].view)
    }

    /// Returns the bind group of a planned mask; that of a white image for none.
    pub fn group(&self, mask: Option<u32>) -> &wgpu::BindGroup {
        let image = mask.and_then(|mask| self.of_masks[mask as usize]);
        image.map_or(&self.white, |image| &self.images[image].group)
    }

    /// Returns the buffer with an instance that fills an image.
    pub fn fill(&self) -> &wgpu::Buffer {
        &self.fill
    }
}

fn create_view(device: &GpuDevice, (width, height): (u32, u32)) -> wgpu::TextureView {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("mask"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: MASK_FORMAT,
        usage,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

fn bind_group(
    device: &GpuDevice,
    layout: &wgpu::BindGroupLayout,
    view: &wgpu::TextureView,
) -> wgpu::BindGroup {
    device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("mask"),
        layout,
        entries: &[entry(0, wgpu::BindingResource::TextureView(view))],
    })
}
