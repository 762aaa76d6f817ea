//! The outlines of a view: its shapes, the nearest shape of each pixel in its row, and the outlines
//! on the target of the view. Without outlines, there are no images and no pipelines.

use super::super::device::GpuDevice;
use super::super::gui_pipelines::blend_state;
use super::super::numeric_map::NumberMap;
use super::super::scene::{OutlinePlan, PipelineClass, pixel_width};
use super::super::shader_sources::source;
use super::super::textures::entry;
use super::ViewRectangle;
use super::bind_group_layouts::BindGroupLayouts;
use super::growing_buffer::GrowingBuffer;
use super::mesh_pipelines::mesh_buffers;
use super::pipelines::{PipelineOptions, make};
use super::scene_buffers::MapUniform;
use bytemuck::{Pod, Zeroable};
use engine_foundation::Color;
use engine_frame_packet::material::BlendMode;
use engine_frame_packet::outline::OUTLINE_STYLES_MAX;

/// Formats of the shapes, and of the nearest shapes with their distances.
const FORMATS: [wgpu::TextureFormat; 2] =
    [wgpu::TextureFormat::R8Uint, wgpu::TextureFormat::Rg8Uint];
/// Images that no view has needed for this number of frames are dropped: a unit that the cursor
/// passes needs no new ones.
const UNUSED_FRAMES_MAX: u32 = 60;
/// Names of the images.
const NAMES: [&str; 2] = ["outline shapes", "outline distances"];

/// One style, with the layout of `Style` in outlines.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct StyleUniform {
    color: [f32; 4],
    width: [f32; 4],
}

/// The uniform `outlines` of outlines.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct OutlineUniform {
    options: [f32; 4],
    styles: [StyleUniform; OUTLINE_STYLES_MAX],
}

/// The purpose of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum OutlineKey {
    Shape(PipelineClass),
    Row,
    Show { format: wgpu::TextureFormat, has_depth: bool },
}

/// GPU objects that exist while a view has outlines.
struct OutlineResources {
    shapes: wgpu::ShaderModule,
    outlines: wgpu::ShaderModule,
    layout: wgpu::BindGroupLayout,
    pipelines: NumberMap<OutlineKey, wgpu::RenderPipeline>,
    /// A [`MapUniform`] for each view, and then an [`OutlineUniform`] for each.
    maps: GrowingBuffer,
    styles: GrowingBuffer,
}

/// The outlines of one view.
struct OutlineView {
    /// The shapes, and the nearest shapes.
    images: [wgpu::TextureView; 2],
    /// Bind group 0 of the shapes, and the offset of its uniform.
    map: (wgpu::BindGroup, u32),
    /// Bind groups that read each of the images.
    groups: [wgpu::BindGroup; 2],
    area: ViewRectangle,
    /// Left, top, width and height of the pixels that outlines can cover.
    part: [u32; 4],
}

/// The outlines of all views.
#[derive(Default)]
pub struct Outlines {
    resources: Option<OutlineResources>,
    /// By their size, with the number of frames since a view needed them.
    images: NumberMap<(u32, u32), ([wgpu::TextureView; 2], u32)>,
    views: NumberMap<usize, OutlineView>,
}

/// The parameters of a view's outlines.
pub struct OutlineInputs<'a> {
    pub index: usize,
    pub plan: &'a OutlinePlan,
    pub area: ViewRectangle,
    /// Size of the depth of the scene.
    pub depth_size: (u32, u32),
    /// Without the jitter of temporal anti-aliasing.
    pub to_clip: [[f32; 4]; 4],
}

/// Returns the class of shapes of a batch.
pub fn shape_class(class: PipelineClass, is_picture: bool) -> PipelineClass {
    let double = if is_picture { PipelineClass::DOUBLE } else { 0 };
    PipelineClass(class.shape().0 | double)
}

fn image(device: &GpuDevice, (width, height): (u32, u32), step: usize) -> wgpu::TextureView {
    let texture = device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(NAMES[step]),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMATS[step],
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

impl OutlineResources {
    fn new(device: &GpuDevice, samples: u32) -> OutlineResources {
        let module = |name: &str| {
            device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(source(name, samples).into()),
            })
        };
        let visibility = wgpu::ShaderStages::FRAGMENT;
        let uniform = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let shapes = wgpu::BindGroupLayoutEntry {
            binding: 1,
            visibility,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Uint,
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        };
        let layout = device.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("outlines"),
            entries: &[uniform, shapes],
        });
        OutlineResources {
            shapes: module("outline_shapes"),
            outlines: module("outlines"),
            layout,
            pipelines: NumberMap::default(),
            maps: GrowingBuffer::new(device, wgpu::BufferUsages::UNIFORM, 0),
            styles: GrowingBuffer::new(device, wgpu::BufferUsages::UNIFORM, 0),
        }
    }

    fn ensure(&mut self, device: &GpuDevice, layouts: &BindGroupLayouts, key: OutlineKey) {
        if self.pipelines.contains_key(&key) {
            return;
        }
        let pipeline = match key {
            OutlineKey::Shape(class) => self.shape_pipeline(device, layouts, class),
            OutlineKey::Row => self.full_screen(device, "row_fragment", (FORMATS[1], None), false),
            OutlineKey::Show { format, has_depth } => {
                let target = (format, blend_state(BlendMode::Alpha));
                self.full_screen(device, "show_fragment", target, has_depth)
            }
        };
        self.pipelines.insert(key, pipeline);
    }

    fn shape_pipeline(
        &self,
        device: &GpuDevice,
        layouts: &BindGroupLayouts,
        class: PipelineClass,
    ) -> wgpu::RenderPipeline {
        let deformed = class.has(PipelineClass::DEFORMED);
        let mask = class.has(PipelineClass::MASK);
        make(
            &device.device,
            &PipelineOptions {
                label: NAMES[0],
                layouts: &[Some(&layouts.map), Some(&layouts.set), Some(&layouts.depth)],
                module: &self.shapes,
                vertex: if deformed { "deformed_shape_vertex" } else { "shape_vertex" },
                fragment: Some("shape_fragment"),
                constants: &[("MASK", f64::from(u8::from(mask)))],
                buffers: &mesh_buffers(deformed),
                strip: false,
                front: match class.has(PipelineClass::MIRRORED) {
                    true => wgpu::FrontFace::Cw,
                    false => wgpu::FrontFace::Ccw,
                },
                cull: (!class.has(PipelineClass::DOUBLE)).then_some(wgpu::Face::Back),
                depth: None,
                samples: 1,
                target: Some((FORMATS[0], None)),
            },
        )
    }

    fn full_screen(
        &self,
        device: &GpuDevice,
        fragment: &'static str,
        target: (wgpu::TextureFormat, Option<wgpu::BlendState>),
        has_depth: bool,
    ) -> wgpu::RenderPipeline {
        let always = wgpu::CompareFunction::Always;
        make(
            &device.device,
            &PipelineOptions {
                label: "outlines",
                layouts: &[Some(&self.layout)],
                module: &self.outlines,
                vertex: "outline_vertex",
                fragment: Some(fragment),
                constants: &[],
                buffers: &[],
                strip: false,
                front: wgpu::FrontFace::Ccw,
                cull: None,
                depth: has_depth.then(|| super::depth_state(false, always)),
                samples: 1,
                target: Some(target),
            },
        )
    }
}

/// Returns the pixels of a view that outlines of a plan can cover.
fn covered_part(plan: &OutlinePlan, [_, _, width, height]: [u32; 4], widest: f32) -> [u32; 4] {
    let edge = widest + 2.0;
    let [left, top, right, bottom] = plan.rectangle;
    let begin = |part: f32, side: u32| (part * side as f32 - edge).clamp(0.0, side as f32) as u32;
    let end = |part: f32, side: u32| (part * side as f32 + edge).ceil().clamp(0.0, side as f32);
    let (x, y) = (begin(left, width), begin(top, height));
    let (x_end, y_end) = (end(right, width) as u32, end(bottom, height) as u32);
    [x, y, x_end.saturating_sub(x), y_end.saturating_sub(y)]
}

/// Returns the uniform of the styles of a view, and the greatest width.
fn style_uniform(inputs: &OutlineInputs) -> (OutlineUniform, f32) {
    let mut uniform = OutlineUniform::zeroed();
    let mut widest = 0.0f32;
    for (to, style) in uniform.styles.iter_mut().zip(&inputs.plan.styles) {
        let [red, green, blue, alpha] = style.color.map(f32::from);
        let width = pixel_width(style, inputs.area.scale);
        widest = widest.max(width);
        to.color = Color { red, green, blue, alpha }.to_light();
        to.width[0] = width;
    }
    let [x, y, ..] = inputs.area.rectangle;
    let encodes = f32::from(u8::from(!inputs.area.format.is_srgb()));
    uniform.options = [widest, encodes, x as f32, y as f32];
    (uniform, widest)
}

impl Outlines {
    /// Prepares the outlines of a frame's views. `group` returns bind group 0 of the shapes of a
    /// view with a buffer of [`MapUniform`], and `classes` the classes of its draws. Returns the
    /// number of copied bytes.
    pub fn prepare(
        &mut self,
        device: &GpuDevice,
        (layouts, samples): (&BindGroupLayouts, u32),
        views: &[OutlineInputs],
        group: impl Fn(usize, &wgpu::Buffer) -> wgpu::BindGroup,
        classes: impl Fn(usize) -> Vec<PipelineClass>,
    ) -> u64 {
        self.views.clear();
        let size = |inputs: &OutlineInputs| (inputs.area.rectangle[2], inputs.area.rectangle[3]);
        self.images.retain(|known, (_, unused)| {
            let is_used = views.iter().any(|inputs| size(inputs) == *known);
            *unused = if is_used { 0 } else { *unused + 1 };
            *unused <= UNUSED_FRAMES_MAX
        });
        if views.is_empty() {
            return 0;
        }
        let resources =
            self.resources.get_or_insert_with(|| OutlineResources::new(device, samples));
        let alignment = device.limits.min_uniform_buffer_offset_alignment.max(256) as usize;
        let style_stride = size_of::<OutlineUniform>().next_multiple_of(alignment);
        let (mut maps, mut styles, mut widths) = (Vec::new(), Vec::new(), Vec::new());
        for inputs in views {
            let [_, _, width, height] = inputs.area.rectangle.map(|side| side.max(1) as f32);
            let scale = [inputs.depth_size.0 as f32 / width, inputs.depth_size.1 as f32 / height];
            let reads = f32::from(u8::from(device.depth_reads));
            let options = [scale[0], scale[1], reads, 0.0];
            let map = MapUniform { to_clip: inputs.to_clip, options };
            push(&mut maps, bytemuck::bytes_of(&map), alignment);
            let (uniform, widest) = style_uniform(inputs);
            push(&mut styles, bytemuck::bytes_of(&uniform), style_stride);
            widths.push(widest);
        }
        resources.maps.write(device, &maps);
        resources.styles.write(device, &styles);
        for (number, inputs) in views.iter().enumerate() {
            let (format, has_depth) = (inputs.area.format, inputs.area.has_depth);
            resources.ensure(device, layouts, OutlineKey::Row);
            resources.ensure(device, layouts, OutlineKey::Show { format, has_depth });
            for class in classes(inputs.index) {
                resources.ensure(device, layouts, OutlineKey::Shape(class));
            }
            let images = self.images.entry(size(inputs));
            let (images, _) =
                images.or_insert_with(|| ([0, 1].map(|step| image(device, size(inputs), step)), 0));
            let buffer = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &resources.styles.buffer,
                offset: (number * style_stride) as u64,
                size: std::num::NonZeroU64::new(size_of::<OutlineUniform>() as u64),
            });
            let groups = [0, 1].map(|step| {
                let image = wgpu::BindingResource::TextureView(&images[step]);
                device.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("outlines"),
                    layout: &resources.layout,
                    entries: &[entry(0, buffer.clone()), entry(1, image)],
                })
            });
            let map = group(inputs.index, &resources.maps.buffer);
            let view = OutlineView {
                images: images.clone(),
                map: (map, (number * alignment) as u32),
                groups,
                area: inputs.area,
                part: covered_part(inputs.plan, inputs.area.rectangle, widths[number]),
            };
            self.views.insert(inputs.index, view);
        }
        (maps.len() + styles.len()) as u64
    }

    /// Returns true if a view has outlines.
    pub fn has(&self, index: usize) -> bool {
        self.views.contains_key(&index)
    }

    /// Returns the image that a step draws onto: the shapes, and then the nearest shapes.
    pub fn image(&self, index: usize, step: usize) -> Option<&wgpu::TextureView> {
        Some(&self.views.get(&index)?.images[step])
    }

    /// Drops all images, because nothing is shown.
    pub fn release(&mut self) {
        self.views.clear();
        self.images.clear();
    }

    /// Returns the number of images.
    pub fn image_count(&self) -> u32 {
        self.images.len() as u32 * 2
    }

    /// Sets bind group 0 of the shapes of a view.
    pub fn begin_shapes(&self, to: &mut wgpu::RenderPass, index: usize) {
        let view = &self.views[&index];
        let (group, offset) = &view.map;
        to.set_bind_group(0, group, &[*offset]);
    }

    /// Sets the pipeline of the shapes of a class.
    pub fn set_shape_pipeline(&self, to: &mut wgpu::RenderPass, class: PipelineClass) {
        if let Some(resources) = &self.resources {
            to.set_pipeline(&resources.pipelines[&OutlineKey::Shape(class)]);
        }
    }

    /// Draws the nearest shapes of a view.
    pub fn draw_rows(&self, to: &mut wgpu::RenderPass, index: usize) {
        let view = &self.views[&index];
        let [x, y, width, height] = view.part;
        if width > 0 && height > 0 {
            to.set_scissor_rect(x, y, width, height);
            self.draw_step(to, OutlineKey::Row, &view.groups[0]);
        }
    }

    /// Draws the outlines onto the target of a view.
    pub fn draw(&self, to: &mut wgpu::RenderPass, index: usize) {
        let Some(view) = self.views.get(&index) else { return };
        let [left, top, width, height] = view.area.rectangle;
        let [x, y, part_width, part_height] = view.part;
        if part_width == 0 || part_height == 0 {
            return;
        }
        to.set_viewport(left as f32, top as f32, width as f32, height as f32, 0.0, 1.0);
        to.set_scissor_rect(left + x, top + y, part_width, part_height);
        let (format, has_depth) = (view.area.format, view.area.has_depth);
        self.draw_step(to, OutlineKey::Show { format, has_depth }, &view.groups[1]);
        to.set_scissor_rect(left, top, width, height);
    }

    fn draw_step(&self, to: &mut wgpu::RenderPass, key: OutlineKey, group: &wgpu::BindGroup) {
        let Some(resources) = &self.resources else { return };
        to.set_pipeline(&resources.pipelines[&key]);
        to.set_bind_group(0, group, &[]);
        to.draw(0..3, 0..1);
    }
}

fn push(to: &mut Vec<u8>, bytes: &[u8], stride: usize) {
    let end = to.len() + stride;
    to.extend_from_slice(bytes);
    to.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_cover_their_shapes_and_their_width() {
        let plan =
            |rectangle| OutlinePlan { groups: 0..1, styles: Vec::new(), rectangle, dropped: 0 };
        let view = [7, 9, 200, 100];
        let part = covered_part(&plan([0.5, 0.5, 0.625, 0.75]), view, 3.0);
        assert_eq!(part, [95, 45, 35, 35]);
        assert_eq!(covered_part(&plan([0.0, 0.0, 1.0, 1.0]), view, 3.0), [0, 0, 200, 100]);
        assert_eq!(covered_part(&plan([1.0, 1.0, 0.0, 0.0]), view, 1.0), [197, 97, 0, 0]);
    }
}
