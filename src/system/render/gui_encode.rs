//! The draws of a pass's Guis: they are prepared before the pass begins, and then encoded with a
//! draw call for each item, setting pipelines, bind groups and buffers as seldom as possible.
//! Decides nothing about what is drawn, and begins no passes (view_encode.rs).

use super::RendererEvent;
use super::device::GpuDevice;
use super::forward::ForwardRenderer;
use super::frame_capture::CapturedPass;
use super::generators::GeneratorRenderer;
use super::gpu_timing::GpuTiming;
use super::gui_batches::GuiDraw;
use super::gui_buffers::GuiBuffers;
use super::gui_passes::{FillRectangle, GuiPass, GuiPassList, MaskPass, PassItem, PixelRectangle};
use super::gui_pipelines::{ALL_PAINTS, DEPTH_FORMAT, MASK_FORMAT, PipelinePurpose};
use super::mask_images::MaskImages;
use super::materials::MaterialTable;
use super::numeric_map::NumberMap;
use super::scene::RetainedScenes;
use super::shader::MATERIAL_GROUP;
use super::textures::TextureTable;
use engine_frame_packet::gui::{QuadInstance, paint};
use engine_frame_packet::material::{BlendMode, MaterialSlot};
use engine_frame_packet::texture::TextureSlot;

/// Depth buffers of more sizes than this are not kept.
const DEPTHS_MAX: usize = 8;
const INSTANCE_BYTES: u64 = size_of::<QuadInstance>() as u64;
/// The bind group of a mask in gui.wgsl.
const MASK_GROUP: u32 = 3;

/// The resources for encoding a pass.
pub struct EncodeContext<'a> {
    pub device: &'a GpuDevice,
    pub textures: &'a mut TextureTable,
    pub materials: &'a mut MaterialTable,
    pub buffers: &'a GuiBuffers,
    pub masks: &'a MaskImages,
    pub plan: &'a GuiPassList,
    /// The renderer of scenes, if there are any.
    pub forward: Option<&'a ForwardRenderer>,
    pub scenes: &'a RetainedScenes,
    pub generators: &'a mut GeneratorRenderer,
    /// A depth buffer for each size of target that has needed one.
    pub depths: &'a mut NumberMap<(u32, u32), wgpu::TextureView>,
    pub timing: &'a mut Option<GpuTiming>,
    /// The passes of a captured frame.
    pub passes: &'a mut Option<Vec<CapturedPass>>,
    pub events: &'a mut Vec<RendererEvent>,
}

/// The texture that a pass draws onto.
pub struct PassTarget {
    pub texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    pub format: wgpu::TextureFormat,
    /// Slot of the texture, if games can draw with it.
    pub slot: Option<TextureSlot>,
}

/// A draw with its pipeline and texture, which are resolved before the pass begins.
pub struct PreparedDraw<'a> {
    item: &'a PassItem,
    purpose: PipelinePurpose,
    texture: TextureSlot,
}

/// A filled rectangle: its instance, and its pipeline.
pub struct PreparedFill {
    rectangle: FillRectangle,
    instance: wgpu::Buffer,
    purpose: PipelinePurpose,
}

/// The current bindings, so that unchanged ones are not set again.
#[derive(Default)]
struct GuiBoundState {
    program: Option<(MaterialSlot, PipelinePurpose)>,
    uniform: Option<u32>,
    texture: Option<TextureSlot>,
    scissor: Option<PixelRectangle>,
    mask: Option<Option<u32>>,
}

impl EncodeContext<'_> {
    /// Notes a pass, if the frame is captured.
    pub fn note_pass(&mut self, view: Option<usize>, name: impl FnOnce() -> String) {
        if let Some(passes) = self.passes {
            passes.push(CapturedPass { view, name: name() });
        }
    }

    /// Returns the depth buffer for a target.
    pub fn depth(&mut self, target: &wgpu::Texture) -> wgpu::TextureView {
        let size = (target.width(), target.height());
        let make = || {
            let texture = self.device.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("depth"),
                size: target.size(),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: DEPTH_FORMAT,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        if self.depths.len() >= DEPTHS_MAX && !self.depths.contains_key(&size) {
            self.depths.clear();
        }
        self.depths.entry(size).or_insert_with(make).clone()
    }

    /// Returns an instance that covers the whole target, and the pipeline that replaces the
    /// background with it.
    pub fn prepare_fill(
        &mut self,
        onto: &PassTarget,
        pass: &GuiPass,
        fill: FillRectangle,
    ) -> PreparedFill {
        let instance = QuadInstance {
            corners: [-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0],
            color: fill.color.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8),
            paint: QuadInstance::paint(paint::SOLID, 0, 0),
            ..QuadInstance::default()
        };
        let buffer = self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("fill"),
            size: INSTANCE_BYTES,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.device.queue.write_buffer(&buffer, 0, bytemuck::bytes_of(&instance));
        let purpose = PipelinePurpose {
            blend: BlendMode::Replace,
            depth: pass.world,
            paints: self.paints(1 << paint::SOLID),
            ..PipelinePurpose::plain(onto.format)
        };
        let (material, events) = (MaterialSlot::BUILT_IN, &mut *self.events);
        self.materials.prepare(self.device, self.textures, material, purpose, events);
        PreparedFill { rectangle: fill, instance: buffer, purpose }
    }

    /// Returns the paints that a pipeline supports: those that are needed on a software adapter,
    /// and all on others.
    fn paints(&self, needed: u32) -> u32 {
        if self.device.info.software { needed } else { ALL_PAINTS }
    }

    /// Prepares the resources of a pass's draws, and returns those that can be drawn.
    pub fn prepare<'a>(
        &mut self,
        onto: &PassTarget,
        pass: &GuiPass,
        plan: &'a GuiPassList,
    ) -> Vec<PreparedDraw<'a>> {
        let items = &plan.items[pass.items.clone()];
        let purpose = PipelinePurpose { depth: pass.world, ..PipelinePurpose::plain(onto.format) };
        let prepared = items.iter().map(|item| {
            let material_blend = || self.materials.blend(item.draw.key.material);
            let blend = item.draw.key.blend.unwrap_or_else(material_blend);
            let masked = item.mask.is_some();
            self.prepare_item(item, onto.slot, PipelinePurpose { blend, masked, ..purpose })
        });
        prepared.flatten().collect()
    }

    /// Prepares the draws of a mask's shape.
    pub fn prepare_mask<'a>(
        &mut self,
        onto: Option<TextureSlot>,
        mask: &MaskPass,
        plan: &'a GuiPassList,
    ) -> Vec<PreparedDraw<'a>> {
        let purpose = self.mask_purpose(ALL_PAINTS, mask.outside);
        let items = &plan.mask_items[mask.items.clone()];
        items.iter().filter_map(|item| self.prepare_item(item, onto, purpose)).collect()
    }

    /// Prepares the fill of masks, and returns its purpose.
    pub fn prepare_mask_fill(&mut self) -> PipelinePurpose {
        let purpose = self.mask_purpose(1 << paint::SOLID, false);
        let (textures, events) = (&mut *self.textures, &mut *self.events);
        self.materials.prepare(self.device, textures, MaterialSlot::BUILT_IN, purpose, events);
        purpose
    }

    fn mask_purpose(&self, paints: u32, erases: bool) -> PipelinePurpose {
        let paints = self.paints(paints);
        PipelinePurpose { paints, masked: true, erases, ..PipelinePurpose::plain(MASK_FORMAT) }
    }

    /// Prepares the resources of a draw; `None` if it cannot be drawn.
    fn prepare_item<'a>(
        &mut self,
        item: &'a PassItem,
        onto: Option<TextureSlot>,
        purpose: PipelinePurpose,
    ) -> Option<PreparedDraw<'a>> {
        let key = &item.draw.key;
        let source_texture = match key.texture {
            TextureSlot::SHARED => {
                self.materials.plain_texture(key.material).unwrap_or(key.texture)
            }
            texture => texture,
        };
        // The target of a pass cannot be sampled in it.
        let texture =
            if onto == Some(source_texture) { TextureSlot::SHARED } else { source_texture };
        let purpose = PipelinePurpose { paints: self.paints(item.draw.paints), ..purpose };
        let (textures, events) = (&mut *self.textures, &mut *self.events);
        let ready = self.materials.prepare(self.device, textures, key.material, purpose, events);
        ready.then_some(PreparedDraw { item, purpose, texture })
    }
}

/// The Guis of a pass, ready to draw.
pub struct GuiDraws<'a> {
    pub buffers: &'a GuiBuffers,
    pub textures: &'a TextureTable,
    pub materials: &'a MaterialTable,
    pub masks: &'a MaskImages,
    pub ready: Vec<PreparedDraw<'a>>,
}

impl GuiDraws<'_> {
    /// Draws a filled rectangle of the background.
    pub fn draw_fill(&self, to: &mut wgpu::RenderPass, fill: &PreparedFill) {
        let (material, texture) = (MaterialSlot::BUILT_IN, TextureSlot::SHARED);
        let mut set = GuiBoundState::default();
        self.set(to, &mut set, material, fill.purpose, texture, fill.rectangle.uniform);
        let [x, y, width, height] = fill.rectangle.rectangle;
        to.set_scissor_rect(x, y, width, height);
        to.set_vertex_buffer(0, fill.instance.slice(..));
        to.draw(0..6, 0..1);
    }

    /// Fills the image of a mask, through its parent.
    pub fn fill_mask(&self, to: &mut wgpu::RenderPass, mask: &MaskPass, purpose: PipelinePurpose) {
        let (material, texture) = (MaterialSlot::BUILT_IN, TextureSlot::SHARED);
        let mut set = GuiBoundState::default();
        self.set(to, &mut set, material, purpose, texture, mask.fill_uniform);
        self.set_mask(to, &mut set, mask.parent);
        to.set_vertex_buffer(0, self.masks.fill().slice(..));
        to.draw(0..6, 0..1);
    }

    /// Draws the Guis of a pass.
    pub fn draw(&self, to: &mut wgpu::RenderPass, viewport: PixelRectangle) {
        let mut set = GuiBoundState::default();
        let [x, y, width, height] = viewport.map(|side| side as f32);
        to.set_viewport(x, y, width.max(1.0), height.max(1.0), 0.0, 1.0);
        for PreparedDraw { item, purpose, texture } in &self.ready {
            let draw = &item.draw;
            self.set(to, &mut set, draw.key.material, *purpose, *texture, item.uniform);
            if purpose.masked {
                self.set_mask(to, &mut set, item.mask);
            }
            if set.scissor.replace(item.scissor) != Some(item.scissor) {
                let [x, y, width, height] = item.scissor;
                to.set_scissor_rect(x, y, width, height);
            }
            to.set_vertex_buffer(0, self.instances(draw));
            to.draw(0..6, 0..draw.count);
        }
    }

    /// Returns the instances of a draw. Not every graphics API supports a first instance, so
    /// the buffer slice begins there.
    fn instances(&self, draw: &GuiDraw) -> wgpu::BufferSlice<'_> {
        let buffer = match draw.retained {
            true => self.buffers.retained(draw.gui),
            false => &self.buffers.immediate,
        };
        let first = u64::from(draw.first) * INSTANCE_BYTES;
        buffer.slice(first..first + u64::from(draw.count) * INSTANCE_BYTES)
    }

    fn set_mask(&self, to: &mut wgpu::RenderPass, set: &mut GuiBoundState, mask: Option<u32>) {
        if set.mask.replace(mask) != Some(mask) {
            to.set_bind_group(MASK_GROUP, self.masks.group(mask), &[]);
        }
    }

    fn set(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut GuiBoundState,
        material: MaterialSlot,
        purpose: PipelinePurpose,
        texture: TextureSlot,
        uniform: u32,
    ) {
        if set.program.replace((material, purpose)) != Some((material, purpose)) {
            let (pipeline, material_group) = self.materials.prepared(material, purpose);
            to.set_pipeline(pipeline);
            if let Some(material_group) = material_group {
                to.set_bind_group(MATERIAL_GROUP, material_group, &[]);
            }
        }
        if set.uniform.replace(uniform) != Some(uniform) {
            let (group, offset) = self.buffers.frame(uniform);
            to.set_bind_group(0, group, &[offset]);
        }
        if set.texture.replace(texture) != Some(texture) {
            to.set_bind_group(1, self.textures.bind_group(texture), &[]);
        }
    }
}
