//! What scenes are drawn into before they are shown: light and depth, and the shadow maps. Draws
//! nothing.

use super::super::device::Device;
use super::super::materials::DEPTH_FORMAT;
use super::super::table::Map;
use super::super::textures::entry;
use super::LIGHT_FORMAT;
use super::layouts::Layouts;

/// Targets of more sizes than this are not kept.
const SIZES_MAX: usize = 4;

/// Light and depth of one size.
pub struct Target {
    pub light: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    /// Both, to be shown, and light alone.
    pub group: wgpu::BindGroup,
    pub light_group: wgpu::BindGroup,
    /// Depth alone, for particles.
    pub depth_group: wgpu::BindGroup,
}

/// An array of shadow maps that grows when it is needed.
pub struct Maps {
    pub all: wgpu::TextureView,
    pub layers: Vec<wgpu::TextureView>,
    side: u32,
}

/// Every target.
pub struct Targets {
    samples: u32,
    sizes: Map<(u32, u32), Target>,
    pub sun: Maps,
    pub spots: Maps,
}

impl Maps {
    fn new(device: &Device, side: u32, layers: u32) -> Maps {
        let shown = if layers == 0 { 1 } else { side };
        let count = layers.max(if device.two_layers { 2 } else { 1 });
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadows"),
            size: wgpu::Extent3d { width: shown, height: shown, depth_or_array_layers: count },
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
        Maps { all, layers: (0..layers).map(layer).collect(), side }
    }

    /// Makes room for so many maps; true when groups with the array are out of date.
    pub fn need(&mut self, device: &Device, layers: u32) -> bool {
        let grown = layers as usize > self.layers.len();
        if grown {
            *self = Maps::new(device, self.side, layers);
        }
        grown
    }
}

impl Targets {
    pub fn new(device: &Device, samples: u32, sun_side: u32, spot_side: u32) -> Targets {
        let most = device.about.texture_side_max;
        Targets {
            samples,
            sizes: Map::default(),
            sun: Maps::new(device, sun_side.clamp(1, most), 0),
            spots: Maps::new(device, spot_side.clamp(1, most), 0),
        }
    }

    /// Makes targets of the sizes of a frame, where there are none.
    pub fn need(&mut self, device: &Device, layouts: &Layouts, sizes: &[(u32, u32)]) {
        let new = sizes.iter().filter(|size| !self.sizes.contains_key(size)).count();
        if self.sizes.len() + new > SIZES_MAX {
            self.sizes.retain(|size, _| sizes.contains(size));
        }
        for size in sizes {
            self.need_size(device, layouts, *size);
        }
    }

    fn need_size(&mut self, device: &Device, layouts: &Layouts, size: (u32, u32)) {
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
        // Where depth cannot be read while it is tested against, nothing looks into this.
        let stand_in = (!device.depth_reads).then(|| make("depth", DEPTH_FORMAT, (1, 1)));
        let read = stand_in.as_ref().unwrap_or(&depth);
        let view = |view| wgpu::BindingResource::TextureView(view);
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("light"),
            layout: &layouts.light,
            entries: &[entry(0, view(&light)), entry(1, view(&depth))],
        });
        let light_group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("light alone"),
            layout: &layouts.light_alone,
            entries: &[entry(0, view(&light))],
        });
        let depth_group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("depth"),
            layout: &layouts.depth,
            entries: &[entry(0, view(read))],
        });
        self.sizes.insert(size, Target { light, depth, group, light_group, depth_group });
    }

    /// A target that was needed before.
    pub fn get(&self, size: (u32, u32)) -> &Target {
        &self.sizes[&size]
    }
}
