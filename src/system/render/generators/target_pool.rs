//! The textures that generators draw onto and read, by size and format. They are created on demand,
//! shared by all views, and dropped when no frame uses them any more. Draws nothing.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;

/// Number of frames for which an unused texture is kept.
const KEPT_FRAMES: u64 = 4;

/// The purpose of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PoolUse {
    /// A target of a config, by its number in the plan.
    Own(u32),
    /// The mean of the light's samples, and the depth of the first sample.
    Light,
    Depth,
    /// A copy of the view's part of its target.
    Target,
}

/// A texture's size, format and purpose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolKey {
    pub size: (u32, u32),
    pub format: wgpu::TextureFormat,
    pub purpose: PoolUse,
}

/// A texture of the pool.
#[derive(Clone)]
pub struct PooledTexture {
    pub texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    /// Number that no other texture has or had.
    pub id: u64,
}

/// All textures.
#[derive(Default)]
pub struct TargetPool {
    textures: NumberMap<PoolKey, (PooledTexture, u64)>,
    frame: u64,
    next_id: u64,
}

impl TargetPool {
    /// Returns a texture, which is created if it does not exist.
    pub fn get(&mut self, device: &GpuDevice, key: PoolKey) -> PooledTexture {
        let (frame, next_id) = (self.frame, &mut self.next_id);
        let (found, used) = self.textures.entry(key).or_insert_with(|| {
            *next_id += 1;
            (create(device, key, *next_id), frame)
        });
        *used = frame;
        found.clone()
    }

    /// Ends a frame, and drops textures that are not used any more. Returns true if there were
    /// some, whose bind groups must be dropped too.
    pub fn end_frame(&mut self) -> bool {
        let (frame, before) = (self.frame, self.textures.len());
        self.textures.retain(|_, (_, used)| *used + KEPT_FRAMES > frame);
        self.frame += 1;
        self.textures.len() < before
    }

    pub fn len(&self) -> usize {
        self.textures.len()
    }

    /// Returns the textures that the frame has used so far, with their keys, in order.
    pub fn used(&self) -> Vec<(&PoolKey, &PooledTexture)> {
        let all = self.textures.iter().filter(|(_, (_, used))| *used == self.frame);
        let mut used: Vec<_> = all.map(|(key, (texture, _))| (key, texture)).collect();
        used.sort_unstable_by_key(|(_, texture)| texture.id);
        used
    }

    /// Returns the number of bytes of all textures.
    pub fn bytes(&self) -> u64 {
        let bytes = |key: &PoolKey| {
            let texel = key.format.block_copy_size(None).unwrap_or(4);
            u64::from(key.size.0) * u64::from(key.size.1) * u64::from(texel)
        };
        self.textures.keys().map(bytes).sum()
    }
}

fn create(device: &GpuDevice, key: PoolKey, id: u64) -> PooledTexture {
    let usage = match key.purpose {
        PoolUse::Target => wgpu::TextureUsages::COPY_DST,
        PoolUse::Own(_) | PoolUse::Light | PoolUse::Depth => wgpu::TextureUsages::RENDER_ATTACHMENT,
    };
    let (width, height) = key.size;
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("generator"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: key.format,
        usage: usage | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    let view = texture.create_view(&Default::default());
    PooledTexture { texture, view, id }
}
