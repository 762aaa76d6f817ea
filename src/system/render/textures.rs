//! Textures on the adapter: the shared atlases, textures of their own, render targets, samplers.
//! Keeps where the texels came from, so that a lost device can be filled again. Knows no files, and
//! not where in an atlas what is placed: that is decided where packets are made.

use super::Event;
use super::device::Device;
use super::extent::{Extent, ahead};
use super::table::Map;
use crate::packet::cell;
use crate::packet::texture::{
    ATLAS_LAYERS_MAX, ATLAS_LEVELS, ATLAS_SIDE, Format, Sampling, Texels, TextureChange,
    TextureSlot, Wrap,
};

/// The format of render targets.
pub const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const PLAIN: Sampling = Sampling { nearest: false, wrap: Wrap::Clamp };

/// A texture of its own.
struct Own {
    view: wgpu::TextureView,
    texture: wgpu::Texture,
    /// Where it came from; a render target came from nowhere.
    texels: Option<Texels>,
    group: wgpu::BindGroup,
}

/// A place in an atlas that was filled.
struct Fill {
    layer: u32,
    x: u32,
    y: u32,
    texels: Texels,
    /// The size of the picture, where it alone stands as the largest level.
    picture: Option<(u32, u32)>,
}

impl Fill {
    fn extent(&self) -> Extent {
        Extent::of(self.layer, self.y, self.texels.height)
    }

    fn covers(&self, other: &Fill) -> bool {
        let overlap = |a: u32, a_size: u32, b: u32, b_size: u32| a < b + b_size && b < a + a_size;
        self.layer == other.layer
            && overlap(self.x, self.texels.width, other.x, other.texels.width)
            && overlap(self.y, self.texels.height, other.y, other.texels.height)
    }
}

/// An array of layers that grows when something beyond its end is filled.
pub struct Atlas {
    pub view: wgpu::TextureView,
    texture: wgpu::Texture,
    /// No layers: nothing was filled yet, and what stands in for it is one texel.
    extent: Extent,
    levels: u32,
    format: wgpu::TextureFormat,
    name: &'static str,
    fills: Vec<Fill>,
}

/// Every texture.
pub struct Textures {
    pub atlas: Atlas,
    pub glyphs: Atlas,
    /// Counts whenever a bind group made with them is out of date.
    pub generation: u64,
    layout: wgpu::BindGroupLayout,
    white: wgpu::BindGroup,
    white_view: wgpu::TextureView,
    own: Map<u32, Own>,
    samplers: Map<Sampling, wgpu::Sampler>,
}

fn array(
    device: &Device,
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

/// Copies a texture's levels into place. `at`: the origin of level 0. `picture`: the size of what
/// stands as level 0, where its cell is still to be made around it.
fn fill(
    device: &Device,
    texture: &wgpu::Texture,
    at: wgpu::Origin3d,
    texels: &Texels,
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
        let made;
        let data = match picture {
            Some((width, height)) if level == 0 => {
                size = width as usize * height as usize * 4;
                made = cell::around(width, height, &texels.bytes[start..start + size]);
                &made
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

impl Atlas {
    fn new(device: &Device, name: &'static str, format: wgpu::TextureFormat, levels: u32) -> Atlas {
        let (texture, view) = array(device, 1, (1, 1), 1, format);
        let (extent, fills) = (Extent::default(), Vec::new());
        Atlas { view, texture, extent, levels, format, name, fills }
    }

    /// How many times its rows a whole layer has.
    pub fn stretch(&self) -> f32 {
        if self.extent.layers > 0 { ATLAS_SIDE as f32 / self.extent.rows as f32 } else { 1.0 }
    }

    /// Fills a place; true when bind groups with the atlas are out of date. `ahead`: what will be
    /// needed at once for this place and others, so that the atlas grows once for all of them.
    fn put(&mut self, device: &Device, new: Fill, ahead: Extent) -> Result<bool, String> {
        let needed = new.extent();
        let grown = !self.extent.holds(needed);
        if grown {
            self.grow(device, needed, ahead)?;
        }
        let at = wgpu::Origin3d { x: new.x, y: new.y, z: new.layer };
        fill(device, &self.texture, at, &new.texels, new.picture);
        self.fills.retain(|old| !old.covers(&new));
        self.fills.push(new);
        Ok(grown)
    }

    fn grow(&mut self, device: &Device, needed: Extent, ahead: Extent) -> Result<(), String> {
        let most = ATLAS_LAYERS_MAX.min(device.limits.max_texture_array_layers);
        if needed.layers > most {
            return Err(format!("the {} has {most} layers, and all are full", self.name));
        }
        let extent = self.extent.with(needed).with(ahead).rounded(most);
        let (layers, size) = (extent.layers, (ATLAS_SIDE, extent.rows));
        let made = device.checked(|_| array(device, layers, size, self.levels, self.format));
        let (texture, view) = made.map_err(|words| {
            let rows = extent.rows;
            format!("the {} cannot have {layers} × {ATLAS_SIDE} × {rows}: {words}", self.name)
        })?;
        if self.extent.layers > 0 {
            let mut encoder = device.device.create_command_encoder(&Default::default());
            for level in 0..self.levels {
                let place = |texture| wgpu::TexelCopyTextureInfo {
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
                encoder.copy_texture_to_texture(place(&self.texture), place(&texture), size);
            }
            device.queue.submit([encoder.finish()]);
        }
        (self.texture, self.view, self.extent) = (texture, view, extent);
        Ok(())
    }
}

fn format_of(format: Format) -> wgpu::TextureFormat {
    match format {
        Format::Rgba8Srgb => wgpu::TextureFormat::Rgba8UnormSrgb,
        Format::Rgba8 => wgpu::TextureFormat::Rgba8Unorm,
        Format::R8 => wgpu::TextureFormat::R8Unorm,
        Format::Rgba16Float => wgpu::TextureFormat::Rgba16Float,
        Format::Bc1Srgb => wgpu::TextureFormat::Bc1RgbaUnormSrgb,
        Format::Bc3Srgb => wgpu::TextureFormat::Bc3RgbaUnormSrgb,
        Format::Bc4 => wgpu::TextureFormat::Bc4RUnorm,
        Format::Bc5 => wgpu::TextureFormat::Bc5RgUnorm,
        Format::Bc7Srgb => wgpu::TextureFormat::Bc7RgbaUnormSrgb,
        Format::Bc7 => wgpu::TextureFormat::Bc7RgbaUnorm,
    }
}

/// Why a texture cannot be made on an adapter, if it cannot.
fn refusal(
    device: &Device,
    width: u32,
    height: u32,
    format: wgpu::TextureFormat,
) -> Option<String> {
    let (most, name) = (device.about.texture_side_max, &device.about.name);
    if width > most || height > most {
        return Some(format!(
            "it has {width} × {height} texels, and the adapter {name} takes {most} on a side at \
             most (max_texture_dimension_2d): make it smaller, or split it"
        ));
    }
    if width == 0 || height == 0 {
        return Some(format!("it has {width} × {height} texels: it needs one on each side"));
    }
    if format.is_compressed() && !device.about.block_textures {
        return Some(format!(
            "it is compressed as {format:?}, which the adapter {name} cannot read: compile it \
             uncompressed"
        ));
    }
    None
}

/// The textures' bind group: group 1 of gui.wgsl.
fn own_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("texture"),
        entries: &[texture_entry(0), sampler_entry(1)],
    })
}

/// A place for a texture in a bind group.
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

/// A place for a sampler in a bind group.
pub fn sampler_entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        count: None,
    }
}

fn make_sampler(device: &Device, sampling: Sampling) -> wgpu::Sampler {
    let wrap = match sampling.wrap {
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
    };
    let (filter, mipmap_filter) = if sampling.nearest {
        (wgpu::FilterMode::Nearest, wgpu::MipmapFilterMode::Nearest)
    } else {
        (wgpu::FilterMode::Linear, wgpu::MipmapFilterMode::Linear)
    };
    device.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("sampler"),
        address_mode_u: wrap,
        address_mode_v: wrap,
        address_mode_w: wrap,
        mag_filter: filter,
        min_filter: filter,
        mipmap_filter,
        ..Default::default()
    })
}

impl Textures {
    pub fn new(device: &Device) -> Textures {
        let layout = own_layout(&device.device);
        let mut samplers = Map::default();
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
        let texels = Texels {
            width: 1,
            height: 1,
            levels: 1,
            format: Format::Rgba8,
            sampling: PLAIN,
            bytes: vec![255; 4].into(),
            start: 0,
        };
        fill(device, &white, wgpu::Origin3d::ZERO, &texels, None);
        let white_view = white.create_view(&Default::default());
        let white = group(device, &layout, &white_view, &mut samplers, PLAIN);
        let colors = wgpu::TextureFormat::Rgba8UnormSrgb;
        let fields = wgpu::TextureFormat::Rgba8Unorm;
        Textures {
            atlas: Atlas::new(device, "atlas of small textures", colors, ATLAS_LEVELS),
            glyphs: Atlas::new(device, "atlas of glyphs", fields, 1),
            generation: 0,
            layout,
            white,
            white_view,
            own: Map::default(),
            samplers,
        }
    }

    /// Does what a packet says, in order.
    pub fn apply(&mut self, device: &Device, changes: &[TextureChange], events: &mut Vec<Event>) {
        let (atlas, glyphs) = ahead(changes);
        for change in changes {
            let (slot, done) = match change {
                TextureChange::Put { slot, texels } => (*slot, self.put(device, *slot, texels)),
                TextureChange::Target { slot, width, height } => {
                    (*slot, self.target(device, *slot, *width, *height))
                }
                TextureChange::End { slot } => {
                    self.generation += u64::from(self.own.remove(&slot.0).is_some());
                    (*slot, Ok(()))
                }
                TextureChange::Atlas { layer, x, y, texels, picture } => {
                    let (texels, picture) = (texels.clone(), *picture);
                    let fill = Fill { layer: *layer, x: *x, y: *y, texels, picture };
                    let done = self.atlas.put(device, fill, atlas);
                    (TextureSlot::SHARED, self.note(done))
                }
                TextureChange::Glyph { layer, x, y, texels } => {
                    let (texels, picture) = (texels.clone(), None);
                    let fill = Fill { layer: *layer, x: *x, y: *y, texels, picture };
                    let done = self.glyphs.put(device, fill, glyphs);
                    (TextureSlot::SHARED, self.note(done))
                }
            };
            if let Err(words) = done {
                events.push(Event::TextureRefused { slot, words });
            }
        }
    }

    fn note(&mut self, done: Result<bool, String>) -> Result<(), String> {
        self.generation += u64::from(*done.as_ref().unwrap_or(&false));
        done.map(|_| ())
    }

    fn put(&mut self, device: &Device, slot: TextureSlot, texels: &Texels) -> Result<(), String> {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let format = format_of(texels.format);
        let size = (texels.width, texels.height, texels.levels);
        self.make(device, slot, size, format, usage, texels.sampling)?;
        let own = self.own.get_mut(&slot.0).expect("it was just made");
        fill(device, &own.texture, wgpu::Origin3d::ZERO, texels, None);
        own.texels = Some(texels.clone());
        Ok(())
    }

    fn target(
        &mut self,
        device: &Device,
        slot: TextureSlot,
        width: u32,
        height: u32,
    ) -> Result<(), String> {
        let usage = wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::RENDER_ATTACHMENT;
        self.make(device, slot, (width, height, 1), TARGET_FORMAT, usage, PLAIN)
    }

    fn make(
        &mut self,
        device: &Device,
        slot: TextureSlot,
        (width, height, levels): (u32, u32, u32),
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
        sampling: Sampling,
    ) -> Result<(), String> {
        // What was there is gone either way: a refused texture must not show an older picture.
        self.own.remove(&slot.0);
        self.generation += 1;
        if let Some(words) = refusal(device, width, height, format) {
            return Err(words);
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
        let texture = texture.map_err(|words| {
            format!("{width} × {height} texels could not be had on {}: {words}", device.about.name)
        })?;
        let view = texture.create_view(&Default::default());
        let group = group(device, &self.layout, &view, &mut self.samplers, sampling);
        self.own.insert(slot.0, Own { view, texture, texels: None, group });
        Ok(())
    }

    /// The same textures on another device. Render targets come back empty.
    pub fn restore(&mut self, device: &Device, events: &mut Vec<Event>) {
        let old = std::mem::replace(self, Textures::new(device));
        self.generation = old.generation + 1;
        let mut refuse = |slot: TextureSlot, done: Result<(), String>| {
            if let Err(words) = done {
                events.push(Event::TextureRefused { slot, words });
            }
        };
        for fill in old.atlas.fills {
            let done = self.atlas.put(device, fill, old.atlas.extent);
            refuse(TextureSlot::SHARED, done.map(|_| ()));
        }
        for fill in old.glyphs.fills {
            let done = self.glyphs.put(device, fill, old.glyphs.extent);
            refuse(TextureSlot::SHARED, done.map(|_| ()));
        }
        for (slot, old) in old.own {
            let slot = TextureSlot(slot);
            let done = match &old.texels {
                Some(texels) => self.put(device, slot, texels),
                None => self.target(device, slot, old.texture.width(), old.texture.height()),
            };
            refuse(slot, done);
        }
    }

    /// Group 1 for a slot; white where there is no texture.
    pub fn group(&self, slot: TextureSlot) -> &wgpu::BindGroup {
        self.own.get(&slot.0).map_or(&self.white, |own| &own.group)
    }

    /// The layout of group 1.
    pub fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// What is in a slot; white where there is no texture.
    pub fn view(&self, slot: TextureSlot) -> &wgpu::TextureView {
        self.own.get(&slot.0).map_or(&self.white_view, |own| &own.view)
    }

    /// A render target in a slot.
    pub fn target_of(&self, slot: TextureSlot) -> Option<(&wgpu::Texture, &wgpu::TextureView)> {
        let own = self.own.get(&slot.0).filter(|own| own.texels.is_none())?;
        Some((&own.texture, &own.view))
    }

    pub fn sampler(&mut self, device: &Device, sampling: Sampling) -> &wgpu::Sampler {
        self.samplers.entry(sampling).or_insert_with(|| make_sampler(device, sampling))
    }

    pub fn len(&self) -> usize {
        self.own.len()
    }
}

/// Group 1: a texture and its sampler.
fn group(
    device: &Device,
    layout: &wgpu::BindGroupLayout,
    view: &wgpu::TextureView,
    samplers: &mut Map<Sampling, wgpu::Sampler>,
    sampling: Sampling,
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

/// A line of a bind group.
pub fn entry(binding: u32, resource: wgpu::BindingResource) -> wgpu::BindGroupEntry {
    wgpu::BindGroupEntry { binding, resource }
}
