//! Textures on the adapter: the shared atlases, separate textures, render targets, samplers. Keeps
//! the source texels, so that textures can be restored after a lost device. Knows no files. It does
//! not choose positions in an atlas: the creator of packets does.

use super::RendererEvent;
use super::atlas_extent::{AtlasExtent, required_extents};
use super::device::GpuDevice;
use super::numeric_map::NumberMap;
use engine_frame_packet::atlas_cell;
use engine_frame_packet::texture::{
    ATLAS_LAYERS_MAX, ATLAS_LEVELS, ATLAS_SIDE, AxisWrap, SamplerSettings, TexelFormat,
    TextureChange, TextureSlot, TextureTexels, WrapMode,
};

/// The format of render targets.
pub const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const PLAIN: SamplerSettings = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };

/// A texture that is not in an atlas.
struct OwnTexture {
    view: wgpu::TextureView,
    texture: wgpu::Texture,
    /// The source texels; a render target has none.
    texels: Option<TextureTexels>,
    sampling: SamplerSettings,
    group: wgpu::BindGroup,
}

/// A filled rectangle of an atlas.
struct AtlasFill {
    layer: u32,
    x: u32,
    y: u32,
    texels: TextureTexels,
    /// Size of the image, if the texels contain it without its cell as the largest level.
    picture: Option<(u32, u32)>,
}

impl AtlasFill {
    fn extent(&self) -> AtlasExtent {
        AtlasExtent::of(self.layer, self.y, self.texels.height)
    }

    fn covers(&self, other: &AtlasFill) -> bool {
        let overlap = |a: u32, a_size: u32, b: u32, b_size: u32| a < b + b_size && b < a + a_size;
        self.layer == other.layer
            && overlap(self.x, self.texels.width, other.x, other.texels.width)
            && overlap(self.y, self.texels.height, other.y, other.texels.height)
    }
}

/// A texture array that grows when a rectangle beyond its end is filled.
pub struct GpuAtlas {
    pub view: wgpu::TextureView,
    texture: wgpu::Texture,
    /// Size of the array. Without layers, nothing was filled yet, and one texel stands in for it.
    extent: AtlasExtent,
    levels: u32,
    format: wgpu::TextureFormat,
    name: &'static str,
    fills: Vec<AtlasFill>,
}

/// All textures.
pub struct TextureTable {
    pub atlas: GpuAtlas,
    pub glyphs: GpuAtlas,
    /// Incremented whenever a bind group with these textures becomes stale.
    pub generation: u64,
    layout: wgpu::BindGroupLayout,
    white: wgpu::BindGroup,
    white_view: wgpu::TextureView,
    own: NumberMap<u32, OwnTexture>,
    samplers: NumberMap<SamplerSettings, wgpu::Sampler>,
}

fn array(
    device: &GpuDevice,
    layers: u32,
    (width, height): (u32, u32),
    levels: u32,
    format: wgpu::TextureFormat,
) -> (wgpu::Texture, wgpu::TextureView) {
    let layers = if device.two_layers { layers.max(2) } else { layers };
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("atlas"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: layers },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_DST
            | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..Default::default()
    });
    (texture, view)
}

/// Copies a texture's levels into place. `at`: the origin of level 0. `picture`: the size of the
/// image in level 0, if its cell still has to be built around it.
fn fill(
    device: &GpuDevice,
    texture: &wgpu::Texture,
    at: wgpu::Origin3d,
    texels: &TextureTexels,
    picture: Option<(u32, u32)>,
) {
    let block = texture.format().block_dimensions();
    let block_bytes = texture.format().block_copy_size(None).expect("a colour format");
    let mut start = texels.start;
    for level in 0..texels.levels {
        let width = (texels.width >> level).max(1).next_multiple_of(block.0);
        let height = (texels.height >> level).max(1).next_multiple_of(block.1);
        let row = width / block.0 * block_bytes;
        let rows = height / block.1;
        let mut size = row as usize * rows as usize;
        let cell;
        let data = match picture {
            Some((width, height)) if level == 0 => {
                size = width as usize * height as usize * 4;
                cell = atlas_cell::with_border(width, height, &texels.bytes[start..start + size]);
                &cell
            }
            _ => &texels.bytes[start..start + size],
        };
        device.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture,
                mip_level: level,
                origin: wgpu::Origin3d { x: at.x >> level, y: at.y >> level, z: at.z },
                aspect: wgpu::TextureAspect::All,
            },
            data,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(rows),
            },
            wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        );
        start += size;
    }
}

impl GpuAtlas {
    fn new(
        device: &GpuDevice,
        name: &'static str,
        format: wgpu::TextureFormat,
        levels: u32,
    ) -> GpuAtlas {
        let (texture, view) = array(device, 1, (1, 1), 1, format);
        let (extent, fills) = (AtlasExtent::default(), Vec::new());
        GpuAtlas { view, texture, extent, levels, format, name, fills }
    }

    /// Returns the ratio of the rows of a whole layer to the rows of this atlas.
    pub fn row_ratio(&self) -> f32 {
        if self.extent.layers > 0 { ATLAS_SIDE as f32 / self.extent.rows as f32 } else { 1.0 }
    }

    /// Fills a rectangle. Returns true if bind groups with the atlas are stale. `ahead`: the extent
    /// that this and the following rectangles need, so that the atlas grows once for all of them.
    fn upload(
        &mut self,
        device: &GpuDevice,
        new: AtlasFill,
        ahead: AtlasExtent,
    ) -> Result<bool, String> {
        let needed = new.extent();
        let grown = !self.extent.contains(needed);
        if grown {
            self.grow(device, needed, ahead)?;
        }
        let at = wgpu::Origin3d { x: new.x, y: new.y, z: new.layer };
        fill(device, &self.texture, at, &new.texels, new.picture);
        self.fills.retain(|old| !old.covers(&new));
        self.fills.push(new);
        Ok(grown)
    }

    fn grow(
        &mut self,
        device: &GpuDevice,
        needed: AtlasExtent,
        ahead: AtlasExtent,
    ) -> Result<(), String> {
        let most = ATLAS_LAYERS_MAX.min(device.limits.max_texture_array_layers);
        if needed.layers > most {
            return Err(format!("the {} has {most} layers, and all are full", self.name));
        }
        let extent = self.extent.with(needed).with(ahead).rounded(most);
        let (layers, size) = (extent.layers, (ATLAS_SIDE, extent.rows));
        let created = device.checked(|_| array(device, layers, size, self.levels, self.format));
        let (texture, view) = created.map_err(|message| {
            let rows = extent.rows;
            format!("the {} cannot have {layers} × {ATLAS_SIDE} × {rows}: {message}", self.name)
        })?;
        if self.extent.layers > 0 {
            let mut encoder = device.device.create_command_encoder(&Default::default());
            for level in 0..self.levels {
                let copy_info = |texture| wgpu::TexelCopyTextureInfo {
                    texture,
                    mip_level: level,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                };
                let size = wgpu::Extent3d {
                    width: ATLAS_SIDE >> level,
                    height: self.extent.rows >> level,
                    depth_or_array_layers: self.extent.layers,
                };
                encoder.copy_texture_to_texture(
                    copy_info(&self.texture),
                    copy_info(&texture),
                    size,
                );
            }
            device.queue.submit([encoder.finish()]);
        }
        (self.texture, self.view, self.extent) = (texture, view, extent);
        Ok(())
    }
}

fn format_of(format: TexelFormat) -> wgpu::TextureFormat {
    match format {
        TexelFormat::Rgba8Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
        TexelFormat::Rgba8 => wgpu::TextureFormat::Rgba8Unorm,
        TexelFormat::R8 => wgpu::TextureFormat::R8Unorm,
        TexelFormat::Rgba16Float => wgpu::TextureFormat::Rgba16Float,
        TexelFormat::Bc1Srgb => wgpu::TextureFormat::Bc1RgbaUnormSrgb,
        TexelFormat::Bc3Srgb => wgpu::TextureFormat::Bc3RgbaUnormSrgb,
        TexelFormat::Bc4 => wgpu::TextureFormat::Bc4RUnorm,
        TexelFormat::Bc5 => wgpu::TextureFormat::Bc5RgUnorm,
        TexelFormat::Bc7Srgb => wgpu::TextureFormat::Bc7RgbaUnormSrgb,
        TexelFormat::Bc7 => wgpu::TextureFormat::Bc7RgbaUnorm,
    }
}

/// Returns the reason why a texture cannot be created on an adapter, if there is one.
fn refusal(
    device: &GpuDevice,
    width: u32,
    height: u32,
    format: wgpu::TextureFormat,
) -> Option<String> {
    let (most, name) = (device.info.texture_side_max, &device.info.name);
    if width > most || height > most {
        return Some(format!(
            "it has {width} × {height} texels, and the adapter {name} takes {most} on a side at \
             most (max_texture_dimension_2d): make it smaller, or split it"
        ));
    }
    if width == 0 || height == 0 {
        return Some(format!("it has {width} × {height} texels: it needs one on each side"));
    }
    if format.is_compressed() && !device.info.block_textures {
        return Some(format!(
            "it is compressed as {format:?}, which the adapter {name} cannot read: compile it \
             uncompressed"
        ));
    }
    None
}

/// Returns the layout of a texture's bind group: group 1 of gui.wgsl.
fn own_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("texture"),
        entries: &[texture_entry(0), sampler_entry(1)],
    })
}

/// Returns the layout entry of a texture.
pub fn texture_entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        count: None,
    }
}

/// Returns the layout entry of a sampler.
pub fn sampler_entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        count: None,
    }
}

/// Returns the addressing of a sampler along one axis.
pub fn address_mode(wrap: AxisWrap) -> wgpu::AddressMode {
    match wrap {
        AxisWrap::Clamp => wgpu::AddressMode::ClampToEdge,
        AxisWrap::Repeat => wgpu::AddressMode::Repeat,
        AxisWrap::Mirror => wgpu::AddressMode::MirrorRepeat,
    }
}

fn make_sampler(device: &GpuDevice, sampling: SamplerSettings) -> wgpu::Sampler {
    let [u, v] = sampling.wrap.axes().map(address_mode);
    let (filter, mipmap_filter) = if sampling.nearest {
        (wgpu::FilterMode::Nearest, wgpu::MipmapFilterMode::Nearest)
    } else {
        (wgpu::FilterMode::Linear, wgpu::MipmapFilterMode::Linear)
    };
    device.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("sampler"),
        address_mode_u: u,
        address_mode_v: v,
        mag_filter: filter,
        min_filter: filter,
        mipmap_filter,
        ..Default::default()
    })
}

impl TextureTable {
    pub fn new(device: &GpuDevice) -> TextureTable {
        let layout = own_layout(&device.device);
        let mut samplers = NumberMap::default();
        let white = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("white"),
            size: wgpu::Extent3d { width: 1, height: 1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let texels = TextureTexels {
            width: 1,
            height: 1,
            levels: 1,
            format: TexelFormat::Rgba8,
            sampling: PLAIN,
            bytes: vec![255; 4].into(),
            start: 0,
        };
        fill(device, &white, wgpu::Origin3d::ZERO, &texels, None);
        let white_view = white.create_view(&Default::default());
        let white = create_bind_group(device, &layout, &white_view, &mut samplers, PLAIN);
        let colors = wgpu::TextureFormat::Rgba8UnormSrgb;
        let fields = wgpu::TextureFormat::Rgba8Unorm;
        TextureTable {
            atlas: GpuAtlas::new(device, "atlas of small textures", colors, ATLAS_LEVELS),
            glyphs: GpuAtlas::new(device, "atlas of glyphs", fields, 1),
            generation: 0,
            layout,
            white,
            white_view,
            own: NumberMap::default(),
            samplers,
        }
    }

    /// Applies a packet's changes, in order.
    pub fn apply(
        &mut self,
        device: &GpuDevice,
        changes: &[TextureChange],
        events: &mut Vec<RendererEvent>,
    ) {
        let (atlas, glyphs) = required_extents(changes);
        for change in changes {
            let (slot, done) = match change {
                TextureChange::Set { slot, texels } => (*slot, self.upload(device, *slot, texels)),
                TextureChange::Target { slot, width, height, sampling } => {
                    (*slot, self.target(device, *slot, (*width, *height), *sampling))
                }
                TextureChange::End { slot } => {
                    self.generation += u64::from(self.own.remove(&slot.0).is_some());
                    (*slot, Ok(()))
                }
                TextureChange::Atlas { layer, x, y, texels, picture } => {
                    let (texels, picture) = (texels.clone(), *picture);
                    let fill = AtlasFill { layer: *layer, x: *x, y: *y, texels, picture };
                    let done = self.atlas.upload(device, fill, atlas);
                    (TextureSlot::SHARED, self.record_growth(done))
                }
                TextureChange::Glyph { layer, x, y, texels } => {
                    let (texels, picture) = (texels.clone(), None);
                    let fill = AtlasFill { layer: *layer, x: *x, y: *y, texels, picture };
                    let done = self.glyphs.upload(device, fill, glyphs);
                    (TextureSlot::SHARED, self.record_growth(done))
                }
            };
            if let Err(message) = done {
                events.push(RendererEvent::TextureRefused { slot, message });
            }
        }
    }

    fn record_growth(&mut self, done: Result<bool, String>) -> Result<(), String> {
        self.generation += u64::from(*done.as_ref().unwrap_or(&false));
        done.map(|_| ())
    }

    fn upload(
        &mut self,
        device: &GpuDevice,
        slot: TextureSlot,
        texels: &TextureTexels,
    ) -> Result<(), String> {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let format = format_of(texels.format);
        let size = (texels.width, texels.height, texels.levels);
        self.make(device, slot, size, format, usage, texels.sampling)?;
        let own = self.own.get_mut(&slot.0).expect("it was just created");
        fill(device, &own.texture, wgpu::Origin3d::ZERO, texels, None);
        own.texels = Some(texels.clone());
        Ok(())
    }

    fn target(
        &mut self,
        device: &GpuDevice,
        slot: TextureSlot,
        (width, height): (u32, u32),
        sampling: SamplerSettings,
    ) -> Result<(), String> {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::RENDER_ATTACHMENT;
        self.make(device, slot, (width, height, 1), TARGET_FORMAT, usage, sampling)
    }

    fn make(
        &mut self,
        device: &GpuDevice,
        slot: TextureSlot,
        (width, height, levels): (u32, u32, u32),
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
        sampling: SamplerSettings,
    ) -> Result<(), String> {
        // The old texture is removed in any case: a refused texture must not show an older image.
        self.own.remove(&slot.0);
        self.generation += 1;
        if let Some(message) = refusal(device, width, height, format) {
            return Err(message);
        }
        let texture = device.checked(|device| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some("texture"),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: levels,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        });
        let texture = texture.map_err(|message| {
            format!(
                "{width} × {height} texels could not be allocated on {}: {message}",
                device.info.name
            )
        })?;
        let view = texture.create_view(&Default::default());
        let group = create_bind_group(device, &self.layout, &view, &mut self.samplers, sampling);
        self.own.insert(slot.0, OwnTexture { view, texture, texels: None, sampling, group });
        Ok(())
    }

    /// Restores the same textures on another device. Render targets are empty then.
    pub fn restore(&mut self, device: &GpuDevice, events: &mut Vec<RendererEvent>) {
        let old = std::mem::replace(self, TextureTable::new(device));
        self.generation = old.generation + 1;
        let mut refuse = |slot: TextureSlot, done: Result<(), String>| {
            if let Err(message) = done {
                events.push(RendererEvent::TextureRefused { slot, message });
            }
        };
        for fill in old.atlas.fills {
            let done = self.atlas.upload(device, fill, old.atlas.extent);
            refuse(TextureSlot::SHARED, done.map(|_| ()));
        }
        for fill in old.glyphs.fills {
            let done = self.glyphs.upload(device, fill, old.glyphs.extent);
            refuse(TextureSlot::SHARED, done.map(|_| ()));
        }
        for (slot, old) in old.own {
            let slot = TextureSlot(slot);
            let done = match &old.texels {
                Some(texels) => self.upload(device, slot, texels),
                None => {
                    let size = (old.texture.width(), old.texture.height());
                    self.target(device, slot, size, old.sampling)
                }
            };
            refuse(slot, done);
        }
    }

    /// Returns bind group 1 for a slot; white if there is no texture.
    pub fn bind_group(&self, slot: TextureSlot) -> &wgpu::BindGroup {
        self.own.get(&slot.0).map_or(&self.white, |own| &own.group)
    }

    /// Returns the layout of bind group 1.
    pub fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// Returns the texture view of a slot; white if there is no texture.
    pub fn view(&self, slot: TextureSlot) -> &wgpu::TextureView {
        self.own.get(&slot.0).map_or(&self.white_view, |own| &own.view)
    }

    /// Returns the source texels of a slot; a render target has none.
    pub fn texels_of(&self, slot: TextureSlot) -> Option<&TextureTexels> {
        self.own.get(&slot.0)?.texels.as_ref()
    }

    /// Returns the render target in a slot.
    pub fn target_of(&self, slot: TextureSlot) -> Option<(&wgpu::Texture, &wgpu::TextureView)> {
        let own = self.own.get(&slot.0).filter(|own| own.texels.is_none())?;
        Some((&own.texture, &own.view))
    }

    pub fn sampler(&mut self, device: &GpuDevice, sampling: SamplerSettings) -> &wgpu::Sampler {
        self.samplers.entry(sampling).or_insert_with(|| make_sampler(device, sampling))
    }

    pub fn len(&self) -> usize {
        self.own.len()
    }
}

/// Creates bind group 1: a texture and its sampler.
fn create_bind_group(
    device: &GpuDevice,
    layout: &wgpu::BindGroupLayout,
    view: &wgpu::TextureView,
    samplers: &mut NumberMap<SamplerSettings, wgpu::Sampler>,
    sampling: SamplerSettings,
) -> wgpu::BindGroup {
    let sampler = samplers.entry(sampling).or_insert_with(|| make_sampler(device, sampling));
    device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("texture"),
        layout,
        entries: &[
            entry(0, wgpu::BindingResource::TextureView(view)),
            entry(1, wgpu::BindingResource::Sampler(sampler)),
        ],
    })
}

/// Returns an entry of a bind group.
pub fn entry(binding: u32, resource: wgpu::BindingResource) -> wgpu::BindGroupEntry {
    wgpu::BindGroupEntry { binding, resource }
}
