//! The array of the textures of decals on the adapter. It grows with the number of its layers, and
//! exists only while decals have textures.

use super::super::device::GpuDevice;
use super::super::scene::{DECAL_LEVELS, DECAL_SIDE, DecalLayerTable};

/// The array, and the versions of the layers that it contains.
pub struct DecalImages {
    texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    /// One for each layer that the array has room for; empty: there is none.
    versions: Vec<u64>,
}

fn array(device: &GpuDevice, (side, levels): (u32, u32), layers: u32) -> wgpu::Texture {
    device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("decals"),
        size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: layers },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn array_view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..Default::default()
    })
}

impl DecalImages {
    pub fn new(device: &GpuDevice) -> DecalImages {
        // Through GL, an array of one layer is no array.
        let texture = array(device, (1, 1), 2);
        DecalImages { view: array_view(&texture), texture, versions: Vec::new() }
    }

    /// Drops all layers. Returns true if bind groups with the array are stale.
    pub fn release(&mut self, device: &GpuDevice) -> bool {
        let was_used = !self.versions.is_empty();
        if was_used {
            *self = DecalImages::new(device);
        }
        was_used
    }

    /// Copies the layers that have changed, and adds to the number of copied bytes. Returns true if
    /// bind groups with the array are stale.
    pub fn follow(
        &mut self,
        device: &GpuDevice,
        table: &DecalLayerTable,
        copied: &mut u64,
    ) -> bool {
        if table.images.is_empty() {
            return self.release(device);
        }
        let is_grown = table.images.len() > self.versions.len();
        if is_grown {
            let layers = table.images.len().next_power_of_two().max(2);
            self.texture = array(device, (DECAL_SIDE as u32, DECAL_LEVELS), layers as u32);
            self.view = array_view(&self.texture);
            self.versions = vec![0; layers];
        }
        for (layer, image) in table.images.iter().enumerate() {
            if image.bytes.is_empty() || self.versions[layer] == image.version {
                continue;
            }
            self.versions[layer] = image.version;
            self.copy(device, layer as u32, &image.bytes);
            *copied += image.bytes.len() as u64;
        }
        is_grown
    }

    /// Copies all mip levels of a layer.
    fn copy(&self, device: &GpuDevice, layer: u32, bytes: &[u8]) {
        let mut begin = 0;
        for level in 0..DECAL_LEVELS {
            let side = DECAL_SIDE as u32 >> level;
            let count = (side * side * 4) as usize;
            let mut to = self.texture.as_image_copy();
            to.mip_level = level;
            to.origin.z = layer;
            let (bytes_per_row, rows_per_image) = (Some(side * 4), Some(side));
            let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image };
            let size = wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 };
            device.queue.write_texture(to, &bytes[begin..begin + count], layout, size);
            begin += count;
        }
    }
}
