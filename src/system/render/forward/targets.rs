//! The render targets of scenes: light and depth, and the shadow maps. Draws nothing.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::DEPTH_FORMAT;
use super::super::numeric_map::NumberMap;
use super::super::textures::entry;
use super::LIGHT_FORMAT;
use super::bind_group_layouts::BindGroupLayouts;

/// Targets of more sizes than this are not kept.
const SIZES_MAX: usize = 4;

/// Levels of the light behind surfaces. The smallest one is blurred over a quarter of the image.
const BACKGROUND_LEVELS_MAX: u32 = 8;

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

/// The light behind surfaces that let it through: one view and one bind group for each level, of
/// which the first has all levels.
pub struct BackgroundTarget {
    pub levels: Vec<wgpu::TextureView>,
    pub groups: Vec<wgpu::BindGroup>,
    pub group: wgpu::BindGroup,
}

/// An array of shadow maps that grows on demand.
pub struct ShadowMapArray {
    pub all: wgpu::TextureView,
    pub layers: Vec<wgpu::TextureView>,
    side: u32,
}

/// All render targets of scenes.
pub struct SceneTargets {
    samples: u32,
    sizes: NumberMap<(u32, u32), SceneTarget>,
    backgrounds: NumberMap<(u32, u32), BackgroundTarget>,
    pub sun: ShadowMapArray,
    pub spots: ShadowMapArray,
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
    pub fn new(device: &GpuDevice, samples: u32, sun_side: u32, spot_side: u32) -> SceneTargets {
        let most = device.info.texture_side_max;
        SceneTargets {
            samples,
            sizes: NumberMap::default(),
            backgrounds: NumberMap::default(),
            sun: ShadowMapArray::new(device, sun_side.clamp(1, most), 0),
            spots: ShadowMapArray::new(device, spot_side.clamp(1, most), 0),
        }
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

    /// Creates the backgrounds of the sizes of a frame, if they do not exist, and drops all others.
    pub fn ensure_backgrounds(
        &mut self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        sizes: &[(u32, u32)],
    ) {
        self.backgrounds.retain(|size, _| sizes.contains(size));
        for size in sizes {
            let make = || BackgroundTarget::new(device, layouts, *size);
            self.backgrounds.entry(*size).or_insert_with(make);
        }
    }

    /// Returns a background that `ensure_backgrounds` created.
    pub fn background(&self, size: (u32, u32)) -> Option<&BackgroundTarget> {
        self.backgrounds.get(&size)
    }

    /// Returns a target that `ensure` created.
    pub fn get(&self, size: (u32, u32)) -> &SceneTarget {
        &self.sizes[&size]
    }
}

impl BackgroundTarget {
    fn new(
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        (width, height): (u32, u32),
    ) -> BackgroundTarget {
        let count = (width.max(height).ilog2() + 1).min(BACKGROUND_LEVELS_MAX);
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("background"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: count,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: LIGHT_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let sampler = device.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("background"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        let view = |first, levels| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                base_mip_level: first,
                mip_level_count: Some(levels),
                ..Default::default()
            })
        };
        let group = |view: &wgpu::TextureView| {
            device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("background"),
                layout: &layouts.background,
                entries: &[
                    entry(0, wgpu::BindingResource::TextureView(view)),
                    entry(1, wgpu::BindingResource::Sampler(&sampler)),
                ],
            })
        };
        let levels: Vec<_> = (0..count).map(|level| view(level, 1)).collect();
        let groups = levels.iter().map(group).collect();
        BackgroundTarget { groups, group: group(&view(0, count)), levels }
    }
}
