//! The images of post effects: for each size of a view, created when an effect first needs them,
//! and dropped when no view has needed them for a while. Draws nothing.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;

/// Images of more sizes than this are not kept.
const SIZES_MAX: usize = 4;
/// Images that no view has needed for this number of frames are dropped.
const UNUSED_FRAMES_MAX: u64 = 60;
/// Most images of a bloom chain. The smallest has 1/256 of the view's size.
const BLOOM_IMAGES_MAX: usize = 8;
/// A bloom image with a shorter side than this has no smaller one.
const BLOOM_SIDE_MIN: u32 = 4;

/// The format of light that post effects store, and of tone-mapped images.
pub const LIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
pub const IMAGE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// The formats of the edges and of the weights of SMAA.
pub const EDGE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg8Unorm;
pub const WEIGHT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
/// The format of automatic exposure, which changes by less than half floats can represent.
pub const EXPOSURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

/// An image that effects draw onto and read.
#[derive(Clone)]
pub struct PostImage {
    pub view: wgpu::TextureView,
    pub texture: wgpu::Texture,
    /// Unique number.
    pub id: u64,
}

impl PostImage {
    pub fn bytes(&self) -> u64 {
        let size = self.texture.size();
        let texel = self.texture.format().block_copy_size(None).unwrap_or(0);
        let texels = u64::from(size.width) * u64::from(size.height);
        texels * u64::from(size.depth_or_array_layers) * u64::from(texel)
    }
}

/// Creates images with unique numbers.
#[derive(Default)]
pub struct ImageMaker {
    created: u64,
}

impl ImageMaker {
    pub fn make(
        &mut self,
        device: &GpuDevice,
        label: &'static str,
        (width, height): (u32, u32),
        format: wgpu::TextureFormat,
    ) -> PostImage {
        self.created += 1;
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        PostImage { view, texture, id: self.created }
    }

    /// Creates an image of one texel with these bytes.
    pub fn texel(
        &mut self,
        device: &GpuDevice,
        format: wgpu::TextureFormat,
        bytes: &[u8],
    ) -> PostImage {
        self.filled(device, (1, 1, wgpu::TextureDimension::D2), format, bytes)
    }

    /// Creates a square of texels with two bytes each.
    pub fn square(&mut self, device: &GpuDevice, side: u32, bytes: &[u8]) -> PostImage {
        self.filled(device, (side, 1, wgpu::TextureDimension::D2), EDGE_FORMAT, bytes)
    }

    /// Creates a cube of half floats, four for each texel.
    pub fn cube(&mut self, device: &GpuDevice, side: u32, bytes: &[u8]) -> PostImage {
        self.filled(device, (side, side, wgpu::TextureDimension::D3), LIGHT_FORMAT, bytes)
    }

    fn filled(
        &mut self,
        device: &GpuDevice,
        (side, layers, dimension): (u32, u32, wgpu::TextureDimension),
        format: wgpu::TextureFormat,
        bytes: &[u8],
    ) -> PostImage {
        self.created += 1;
        let size = wgpu::Extent3d { width: side, height: side, depth_or_array_layers: layers };
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("post"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension,
            format,
            usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let row = format.block_copy_size(None).unwrap_or(0) * side;
        device.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level: 0,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            },
            bytes,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(side),
            },
            size,
        );
        let view = texture.create_view(&Default::default());
        PostImage { view, texture, id: self.created }
    }
}

/// A kind of image that a view needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageKind {
    /// The chain of bloom.
    Bloom,
    /// The tone-mapped image.
    Shown,
    /// The tone-mapped image after anti-aliasing.
    Smoothed,
    /// The edges of the tone-mapped image, and the weights by which its pixels are mixed.
    Edges,
}

struct KeptImages {
    images: Vec<PostImage>,
    /// The frame that needed them last.
    used: u64,
}

/// All images by size and kind.
#[derive(Default)]
pub struct SizedImages {
    kept: NumberMap<((u32, u32), ImageKind), KeptImages>,
}

/// Returns the sizes of a bloom chain for a view.
fn bloom_sizes(view: (u32, u32)) -> Vec<(u32, u32)> {
    let half = |(width, height): (u32, u32)| (width.div_ceil(2), height.div_ceil(2));
    let mut sizes = vec![half(view)];
    while sizes.len() < BLOOM_IMAGES_MAX {
        let (width, height) = half(sizes[sizes.len() - 1]);
        if width.min(height) < BLOOM_SIDE_MIN {
            break;
        }
        sizes.push((width, height));
    }
    sizes
}

impl SizedImages {
    /// Returns the images of a kind for a view of a size, at least one texel each.
    pub fn get(
        &mut self,
        device: &GpuDevice,
        maker: &mut ImageMaker,
        (width, height): (u32, u32),
        kind: ImageKind,
        frame: u64,
    ) -> &[PostImage] {
        let size = (width.max(1), height.max(1));
        let kept = self.kept.entry((size, kind)).or_insert_with(|| {
            let images = match kind {
                ImageKind::Bloom => bloom_sizes(size)
                    .into_iter()
                    .map(|size| maker.make(device, "bloom", size, LIGHT_FORMAT))
                    .collect(),
                ImageKind::Shown => vec![maker.make(device, "shown", size, IMAGE_FORMAT)],
                ImageKind::Edges => vec![
                    maker.make(device, "edges", size, EDGE_FORMAT),
                    maker.make(device, "edge weights", size, WEIGHT_FORMAT),
                ],
                ImageKind::Smoothed => vec![maker.make(device, "smoothed", size, IMAGE_FORMAT)],
            };
            KeptImages { images, used: frame }
        });
        kept.used = frame;
        &kept.images
    }

    /// Drops images that no view needs, and returns true if there were any.
    pub fn drop_unused(&mut self, frame: u64) -> bool {
        let before = self.kept.len();
        self.kept.retain(|_, kept| frame - kept.used <= UNUSED_FRAMES_MAX);
        let mut sizes: Vec<_> = self.kept.keys().map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > SIZES_MAX {
            self.kept.retain(|_, kept| kept.used == frame);
        }
        self.kept.len() < before
    }

    pub fn bytes(&self) -> u64 {
        self.kept.values().flat_map(|kept| &kept.images).map(PostImage::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bloom_chain_halves_down_to_a_few_texels() {
        assert_eq!(bloom_sizes((320, 180)), [(160, 90), (80, 45), (40, 23), (20, 12), (10, 6)]);
        assert_eq!(bloom_sizes((1, 1)), [(1, 1)]);
        assert_eq!(bloom_sizes((16384, 16384)).len(), BLOOM_IMAGES_MAX);
        assert_eq!(bloom_sizes((16384, 3)), [(8192, 2)]);
    }
}
