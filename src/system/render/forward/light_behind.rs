//! The light behind surfaces that let it through: a copy of the light of a view before transparent
//! objects, with smaller and smoother levels that rough surfaces read. Knows no passes.

use super::super::device::GpuDevice;
use super::super::numeric_map::NumberMap;
use super::super::scene::DrawPlans;
use super::super::textures::entry;
use super::bind_group_layouts::BindGroupLayouts;
use super::pipelines::PipelineKey;
use super::{ForwardRenderer, LIGHT_FORMAT};

/// Levels of the light. The smallest one is blurred over a quarter of the image.
const LEVELS_MAX: u32 = 8;

/// The light of one size: a view and a bind group for each level, and a bind group with all levels.
pub struct LightBehindTarget {
    levels: Vec<wgpu::TextureView>,
    groups: Vec<wgpu::BindGroup>,
    group: wgpu::BindGroup,
}

/// The light of all sizes of a frame.
#[derive(Default)]
pub struct LightBehindTargets(NumberMap<(u32, u32), LightBehindTarget>);

impl LightBehindTarget {
    fn new(
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        (width, height): (u32, u32),
    ) -> LightBehindTarget {
        let count = (width.max(height).ilog2() + 1).min(LEVELS_MAX);
        let texture = device.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("light behind"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: count,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: LIGHT_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let sampler = device.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("light behind"),
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
                label: Some("light behind"),
                layout: &layouts.behind,
                entries: &[
                    entry(0, wgpu::BindingResource::TextureView(view)),
                    entry(1, wgpu::BindingResource::Sampler(&sampler)),
                ],
            })
        };
        let levels: Vec<_> = (0..count).map(|level| view(level, 1)).collect();
        let groups = levels.iter().map(group).collect();
        LightBehindTarget { groups, group: group(&view(0, count)), levels }
    }
}

impl LightBehindTargets {
    /// Creates the targets of the sizes of a frame, if they do not exist, and drops all others.
    fn ensure(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, sizes: &[(u32, u32)]) {
        self.0.retain(|size, _| sizes.contains(size));
        for size in sizes {
            let make = || LightBehindTarget::new(device, layouts, *size);
            self.0.entry(*size).or_insert_with(make);
        }
    }
}

impl ForwardRenderer {
    /// Creates the targets of the views with surfaces that let light through.
    pub(super) fn ensure_light_behind(&mut self, device: &GpuDevice, plans: &DrawPlans) {
        let shown = plans.views.iter().zip(&self.areas).filter(|(view, _)| view.transmission);
        let sizes: Vec<_> =
            shown.filter_map(|(_, area)| area.as_ref().map(|it| self.scale.size(it))).collect();
        self.targets.behind.ensure(device, &self.layouts, &sizes);
    }

    /// Returns the size of a view's light, and its copy.
    fn light_behind(&self, index: usize) -> Option<((u32, u32), &LightBehindTarget)> {
        let size = self.scale.size(&self.areas[index]?);
        Some((size, self.targets.behind.0.get(&size)?))
    }

    /// Returns the levels of the light behind the surfaces of a view.
    pub fn light_behind_levels(&self, index: usize) -> &[wgpu::TextureView] {
        self.light_behind(index).map_or(&[], |(_, target)| &target.levels)
    }

    /// Draws a level of the light behind the surfaces of a view: a copy of the light, or of the
    /// level before.
    pub fn draw_light_behind(&self, to: &mut wgpu::RenderPass, index: usize, level: usize) {
        let Some((size, target)) = self.light_behind(index) else { return };
        to.set_pipeline(self.pipelines.get(PipelineKey::LightBehind { copies: level == 0 }));
        let group = match level {
            0 => &self.targets.get(size).light_group,
            level => &target.groups[level - 1],
        };
        to.set_bind_group(0, group, &[]);
        to.draw(0..3, 0..1);
    }

    /// Sets the light behind the surfaces of a view, for pipelines of transmission.
    pub(super) fn set_light_behind(&self, to: &mut wgpu::RenderPass, index: usize) {
        let (_, target) = self.light_behind(index).expect("the plan has transmission");
        to.set_bind_group(3, &target.group, &[]);
    }
}
