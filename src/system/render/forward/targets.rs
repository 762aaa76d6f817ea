//! The render targets of scenes: light and depth, and the shadow maps. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::DEPTH_FORMAT;
use super::super::numeric_map::NumberMap;
use super::super::textures::entry;
use super::LIGHT_FORMAT;
use super::bind_group_layouts::BindGroupLayouts;
use super::light_behind::LightBehindTargets;

/// Targets of more sizes than this are not kept.
const SIZES_MAX: usize = 4;

/// Light and depth of one size.
pub struct SceneTarget {
    pub light: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    /// Bind groups for tone mapping: light and depth, and light alone.
    pub group: wgpu::BindGroup,
    pub light_group: wgpu::BindGroup,
    /// Bind group of depth alone, for particles.
    pub depth_group: wgpu::BindGroup,
}

/// An array of shadow maps that grows on demand.
pub struct ShadowMapArray {
    pub all: wgpu::TextureView,
    pub layers: Vec<wgpu::TextureView>,
    side: u32,
}

/// The shadow maps of omni and spot lights, in one texture that grows on demand.
pub struct ShadowAtlasTexture {
    pub view: wgpu::TextureView,
    side: u32,
}

impl ShadowAtlasTexture {
    fn new(device: &GpuDevice, side: u32) -> ShadowAtlasTexture {
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadow atlas"),
            size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        ShadowAtlasTexture { view: texture.create_view(&Default::default()), side }
    }

    /// Gives the texture a side; it loses its content if the side changes. Returns true if bind
    /// groups with it are stale.
    pub fn ensure(&mut self, device: &GpuDevice, side: u32) -> bool {
        let is_other = side.max(1) != self.side;
        if is_other {
            *self = ShadowAtlasTexture::new(device, side.max(1));
        }
        is_other
    }
}

/// All render targets of scenes.
pub struct SceneTargets {
    samples: u32,
    sizes: NumberMap<(u32, u32), SceneTarget>,
    pub behind: LightBehindTargets,
    pub sun: ShadowMapArray,
    pub atlas: ShadowAtlasTexture,
}

impl ShadowMapArray {
    fn new(device: &GpuDevice, side: u32, layers: u32) -> ShadowMapArray {
        let map_side = if layers == 0 { 1 } else { side };
        let count = layers.max(if device.two_layers { 2 } else { 1 });
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadows"),
            size: wgpu::Extent3d {
                width: map_side,
                height: map_side,
                depth_or_array_layers: count,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let all = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        });
        let layer = |i| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer: i,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        ShadowMapArray { all, layers: (0..layers).map(layer).collect(), side }
    }

    /// Makes room for `layers` maps. Returns true if bind groups with the array are stale.
    pub fn ensure(&mut self, device: &GpuDevice, layers: u32) -> bool {
        let grown = layers as usize > self.layers.len();
        if grown {
            *self = ShadowMapArray::new(device, self.side, layers);
        }
        grown
    }
}

impl SceneTargets {
    pub fn new(device: &GpuDevice, samples: u32, sun_side: u32) -> SceneTargets {
        SceneTargets {
            samples,
            sizes: NumberMap::default(),
            behind: LightBehindTargets::default(),
            sun: SceneTargets::sun_maps(device, sun_side),
            atlas: ShadowAtlasTexture::new(device, 1),
        }
    }

    /// Returns the array for the shadow maps of suns, without any.
    pub fn sun_maps(device: &GpuDevice, side: u32) -> ShadowMapArray {
        ShadowMapArray::new(device, side.clamp(1, device.info.texture_side_max), 0)
    }

    /// Creates targets of the sizes of a frame, if they do not exist.
    pub fn ensure(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, sizes: &[(u32, u32)]) {
        let new = sizes.iter().filter(|size| !self.sizes.contains_key(size)).count();
        if self.sizes.len() + new > SIZES_MAX {
            self.sizes.retain(|size, _| sizes.contains(size));
        }
        for size in sizes {
            self.ensure_size(device, layouts, *size);
        }
    }

    fn ensure_size(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, size: (u32, u32)) {
        if self.sizes.contains_key(&size) {
            return;
        }
        let make = |label, format, (width, height)| {
            let texture = device.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: self.samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                    | wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let (light, depth) = (make("light", LIGHT_FORMAT, size), make("depth", DEPTH_FORMAT, size));
        // If depth cannot be read while it is tested against, this stand-in is never sampled.
        let placeholder = (!device.depth_reads).then(|| make("depth", DEPTH_FORMAT, (1, 1)));
        let read = placeholder.as_ref().unwrap_or(&depth);
        let view = |view| wgpu::BindingResource::TextureView(view);
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("light"),
            layout: &layouts.light,
            entries: &[entry(0, view(&light)), entry(1, view(&depth))],
        });
        let light_group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("light alone"),
            layout: &layouts.light_only,
            entries: &[entry(0, view(&light))],
        });
        let depth_group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("depth"),
            layout: &layouts.depth,
            entries: &[entry(0, view(read))],
        });
        self.sizes.insert(size, SceneTarget { light, depth, group, light_group, depth_group });
    }

    /// Returns a target that `ensure` created.
    pub fn get(&self, size: (u32, u32)) -> &SceneTarget {
        &self.sizes[&size]
    }
}

/// Creates bind group 1 of the tone mapping for light that is not that of a target, with or without
/// a depth. `layouts`: with and without.
pub fn light_group(
    device: &GpuDevice,
    layouts: (&wgpu::BindGroupLayout, &wgpu::BindGroupLayout),
    light: &wgpu::TextureView,
    depth: Option<&wgpu::TextureView>,
) -> wgpu::BindGroup {
    let mut entries = vec![entry(0, wgpu::BindingResource::TextureView(light))];
    entries.extend(depth.map(|depth| entry(1, wgpu::BindingResource::TextureView(depth))));
    device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("resolved light"),
        layout: if depth.is_some() { layouts.0 } else { layouts.1 },
        entries: &entries,
    })
}
