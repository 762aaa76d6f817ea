//! One pass, encoded: pipelines, groups and buffers set as seldom as can be, and a draw call for
//! each item. Decides nothing about what is drawn.

use super::Event;
use super::batches::Draw;
use super::buffers::Buffers;
use super::device::Device;
use super::lit::{self, Lit};
use super::materials::{ALL_PAINTS, DEPTH_FORMAT, Materials, Purpose};
use super::passes::{Fill, Item, Pass, Plan, Rectangle};
use super::scene::Scenes;
use super::shader::MATERIAL_GROUP;
use super::table::Map;
use super::textures::Textures;
use super::timing::Timing;
use crate::packet::gui::{Instance, paint};
use crate::packet::material::{Blend, MaterialSlot};
use crate::packet::texture::TextureSlot;

/// Depth buffers of more sizes than this are not kept.
const DEPTHS_MAX: usize = 8;
const INSTANCE_BYTES: u64 = size_of::<Instance>() as u64;

/// What a pass is encoded with.
pub struct Stage<'a> {
    pub device: &'a Device,
    pub textures: &'a mut Textures,
    pub materials: &'a mut Materials,
    pub buffers: &'a Buffers,
    pub plan: &'a Plan,
    /// What draws scenes, where there are any.
    pub lit: Option<&'a Lit>,
    pub scenes: &'a Scenes,
    /// A depth buffer for each size of target that has wanted one.
    pub depths: &'a mut Map<(u32, u32), wgpu::TextureView>,
    pub timing: &'a mut Option<Timing>,
    pub events: &'a mut Vec<Event>,
}

/// What a pass draws onto.
pub struct Onto {
    pub texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    pub format: wgpu::TextureFormat,
    /// Where it is a texture that games can draw with.
    pub slot: Option<TextureSlot>,
}

/// What a draw needs, found out before the pass begins.
struct Ready<'a> {
    item: &'a Item,
    purpose: Purpose,
    texture: TextureSlot,
}

/// What is set at the moment, so that it is not set again.
#[derive(Default)]
struct Set {
    program: Option<(MaterialSlot, Purpose)>,
    uniform: Option<u32>,
    texture: Option<TextureSlot>,
    scissor: Option<Rectangle>,
}

impl Stage<'_> {
    /// Encodes a pass.
    pub fn pass(&mut self, encoder: &mut wgpu::CommandEncoder, onto: &Onto, pass: &Pass) {
        if let (Some((scene, _)), Some(lit)) = (pass.scene, self.lit) {
            let (scenes, textures) = (self.scenes, &*self.textures);
            let (materials, timing) = (&*self.materials, &mut *self.timing);
            lit.draw(encoder, scene, &mut lit::Frame { scenes, textures, materials, timing });
        }
        let ready = self.prepare(onto, pass, self.plan);
        let depth = pass.world.then(|| self.depth(&onto.texture));
        let fill = pass.fill.map(|fill| (fill, self.fill(onto, pass, fill)));
        let clear = pass.clear.map(|color| {
            let [r, g, b, a] = color.map(f64::from);
            wgpu::Color { r, g, b, a }
        });
        let kind = if pass.world { "world" } else { "gui" };
        let name = match onto.slot {
            Some(slot) => format!("{kind} on texture {}", slot.0),
            None => kind.to_string(),
        };
        let timestamp_writes = self.timing.as_mut().and_then(|timing| timing.pass(name));
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(kind),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &onto.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: depth.as_ref().map(|view| {
                wgpu::RenderPassDepthStencilAttachment {
                    view,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(1.0),
                        store: wgpu::StoreOp::Discard,
                    }),
                    stencil_ops: None,
                }
            }),
            timestamp_writes,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let mut set = Set::default();
        if let Some((fill, (buffer, purpose))) = &fill {
            let material = MaterialSlot::BUILT_IN;
            self.set(&mut to, &mut set, material, *purpose, TextureSlot::SHARED, fill.uniform);
            let [x, y, width, height] = fill.rectangle;
            to.set_scissor_rect(x, y, width, height);
            to.set_vertex_buffer(0, buffer.slice(..));
            to.draw(0..6, 0..1);
        }
        if let (Some((scene, _)), Some(lit)) = (pass.scene, self.lit) {
            lit.show(&mut to, scene);
            set = Set::default();
        }
        let [x, y, width, height] = pass.viewport.map(|side| side as f32);
        to.set_viewport(x, y, width.max(1.0), height.max(1.0), 0.0, 1.0);
        for Ready { item, purpose, texture } in &ready {
            let draw = &item.draw;
            self.set(&mut to, &mut set, draw.key.material, *purpose, *texture, item.uniform);
            if set.scissor.replace(item.scissor) != Some(item.scissor) {
                let [x, y, width, height] = item.scissor;
                to.set_scissor_rect(x, y, width, height);
            }
            to.set_vertex_buffer(0, self.instances(draw));
            to.draw(0..6, 0..draw.count);
        }
    }

    /// The instances of a draw. Not every graphics interface can begin at a later instance, so the
    /// buffer begins there.
    fn instances(&self, draw: &Draw) -> wgpu::BufferSlice<'_> {
        let buffer = match draw.retained {
            true => self.buffers.retained(draw.gui),
            false => &self.buffers.immediate,
        };
        let first = u64::from(draw.first) * INSTANCE_BYTES;
        buffer.slice(first..first + u64::from(draw.count) * INSTANCE_BYTES)
    }

    /// The depth buffer for a target.
    fn depth(&mut self, target: &wgpu::Texture) -> wgpu::TextureView {
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

    /// An instance that covers everything, and what draws it instead of what is behind.
    fn fill(&mut self, onto: &Onto, pass: &Pass, fill: Fill) -> (wgpu::Buffer, Purpose) {
        let instance = Instance {
            corners: [-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0],
            color: fill.color.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8),
            paint: Instance::paint(paint::SOLID, 0, 0),
            ..Instance::default()
        };
        let buffer = self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("fill"),
            size: INSTANCE_BYTES,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.device.queue.write_buffer(&buffer, 0, bytemuck::bytes_of(&instance));
        let paints = if self.device.about.software { 1 << paint::SOLID } else { ALL_PAINTS };
        let purpose =
            Purpose { blend: Blend::Replace, format: onto.format, depth: pass.world, paints };
        let (material, events) = (MaterialSlot::BUILT_IN, &mut *self.events);
        self.materials.prepare(self.device, self.textures, material, purpose, events);
        (buffer, purpose)
    }

    /// Makes whatever the draws of a pass need; those that cannot be drawn are left out.
    fn prepare<'a>(&mut self, onto: &Onto, pass: &Pass, plan: &'a Plan) -> Vec<Ready<'a>> {
        let mut all = Vec::new();
        for item in &plan.items[pass.items.clone()] {
            let key = &item.draw.key;
            let own = match key.texture {
                TextureSlot::SHARED => self.materials.picture(key.material).unwrap_or(key.texture),
                texture => texture,
            };
            // What is being drawn to cannot be drawn with.
            let texture = if onto.slot == Some(own) { TextureSlot::SHARED } else { own };
            let paints = if self.device.about.software { item.draw.paints } else { ALL_PAINTS };
            let blend = self.materials.blend(key.material);
            let purpose = Purpose { blend, format: onto.format, depth: pass.world, paints };
            let (textures, events) = (&mut *self.textures, &mut *self.events);
            if self.materials.prepare(self.device, textures, key.material, purpose, events) {
                all.push(Ready { item, purpose, texture });
            }
        }
        all
    }

    fn set(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut Set,
        material: MaterialSlot,
        purpose: Purpose,
        texture: TextureSlot,
        uniform: u32,
    ) {
        if set.program.replace((material, purpose)) != Some((material, purpose)) {
            let (pipeline, own) = self.materials.ready(material, purpose);
            to.set_pipeline(pipeline);
            if let Some(own) = own {
                to.set_bind_group(MATERIAL_GROUP, own, &[]);
            }
        }
        if set.uniform.replace(uniform) != Some(uniform) {
            let (group, offset) = self.buffers.frame(uniform);
            to.set_bind_group(0, group, &[offset]);
        }
        if set.texture.replace(texture) != Some(texture) {
            to.set_bind_group(1, self.textures.group(texture), &[]);
        }
    }
}
