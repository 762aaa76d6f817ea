//! A view's scene, encoded: shadow maps, light, and the picture. State is set as seldom as can be,
//! and each group is a draw call. Decides nothing about what is drawn.

use super::super::materials::Materials;
use super::super::scene::{BatchKey, Class, Group, Scenes, Seen, ShadowMap, ViewPlan};
use super::super::shader::MATERIAL_GROUP;
use super::super::textures::Textures;
use super::super::timing::Timing;
use super::pipelines::Key;
use super::{Lit, PARTICLE_BYTES, painted};

/// What a view is encoded with.
pub struct Frame<'a> {
    pub scenes: &'a Scenes,
    pub textures: &'a Textures,
    pub materials: &'a Materials,
    pub timing: &'a mut Option<Timing>,
}

/// What is set at the moment, so that it is not set again.
#[derive(Default)]
struct Set {
    /// The class, and the material that paints.
    class: Option<(Class, u32)>,
    set: Option<u32>,
    page: Option<u32>,
}

impl Lit {
    /// Encodes everything of one of the plan's views up to its light.
    pub fn draw(&self, encoder: &mut wgpu::CommandEncoder, index: usize, frame: &mut Frame) {
        let Some(place) = self.places[index] else { return };
        let view = &frame.scenes.plans.views[index];
        for number in view.shadows.clone() {
            self.shadow(encoder, view, number, frame);
        }
        let target = self.targets.get((place.rectangle[2], place.rectangle[3]));
        let timing = frame.timing.as_mut().and_then(|it| it.pass("scene".to_string()));
        let keeps_depth = place.deep || view.particles;
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            color_attachments: &[Some(color(&target.light, true))],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &target.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: if keeps_depth { wgpu::StoreOp::Store } else { wgpu::StoreOp::Discard },
                }),
                stencil_ops: None,
            }),
            timestamp_writes: timing,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let (group, offset) = self.buffers.scene(view.scene, index);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = Set::default();
        for group in &frame.scenes.plans.groups[view.solid.clone()] {
            self.group(&mut to, &mut set, (frame, view, index), group);
        }
        if view.uniform.horizon[3] > 0.5 {
            to.set_pipeline(self.pipelines.get(Key::Sky));
            let (group, offset) = self.buffers.view(index);
            to.set_bind_group(0, group, &[offset]);
            to.draw(0..3, 0..1);
        }
        if !view.particles {
            self.through(&mut to, view, index, frame);
            return;
        }
        drop(to);
        let timing =
            frame.timing.as_mut().and_then(|it| it.pass("scene, seen through".to_string()));
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("seen through"),
            color_attachments: &[Some(color(&target.light, false))],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &target.depth,
                // Read alone: particles look it up while it is tested against.
                depth_ops: None,
                stencil_ops: None,
            }),
            timestamp_writes: timing,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        self.through(&mut to, view, index, frame);
    }

    /// Draws what is seen through.
    fn through(&self, to: &mut wgpu::RenderPass, view: &ViewPlan, index: usize, frame: &mut Frame) {
        let plans = &frame.scenes.plans;
        let mut set = Set::default();
        let mut batches =
            plans.views[..index].iter().map(|view| particles(frame.scenes, view)).sum();
        let mut meshes_bound = false;
        for seen in &plans.seen[view.blended.clone()] {
            match seen {
                Seen::Group(group) => {
                    if !std::mem::replace(&mut meshes_bound, true) {
                        let (scene, offset) = self.buffers.scene(view.scene, index);
                        to.set_bind_group(0, scene, &[offset]);
                        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
                        set = Set::default();
                    }
                    self.group(to, &mut set, (frame, view, index), group);
                }
                Seen::Particles { batch, first, count } => {
                    let known = &frame.scenes.scenes[&view.scene].particle_batches[*batch as usize];
                    to.set_pipeline(self.pipelines.get(Key::Particles(known.blend)));
                    let (group, offsets) = self.buffers.particle_view(index, batches);
                    to.set_bind_group(0, group, &offsets);
                    to.set_bind_group(1, frame.textures.group(known.texture), &[]);
                    let rectangle = self.places[index].expect("it is drawn").rectangle;
                    let target = self.targets.get((rectangle[2], rectangle[3]));
                    to.set_bind_group(2, &target.depth_group, &[]);
                    let (begin, bytes) = (u64::from(*first), u64::from(*count) * PARTICLE_BYTES);
                    let begin = begin * PARTICLE_BYTES;
                    let buffer = &self.buffers.particles.buffer;
                    to.set_vertex_buffer(0, buffer.slice(begin..begin + bytes));
                    to.draw(0..4, 0..*count);
                    batches += 1;
                    meshes_bound = false;
                }
            }
        }
    }

    fn shadow(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &ViewPlan,
        number: usize,
        frame: &mut Frame,
    ) {
        let shadow = &frame.scenes.plans.shadows[number];
        let (maps, kind) = match shadow.map {
            ShadowMap::Sun => (&self.targets.sun, "sun"),
            ShadowMap::Spot => (&self.targets.spots, "spot"),
        };
        let name = || format!("shadow of {kind} {}", shadow.layer + 1);
        let timing = frame.timing.as_mut().and_then(|it| it.pass(name()));
        let mut to = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &maps.layers[shadow.layer as usize],
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: timing,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let (group, offset) = self.buffers.map(view.scene, number);
        to.set_bind_group(0, group, &[offset]);
        to.set_vertex_buffer(1, self.buffers.instances.buffer.slice(..));
        let mut set = Set::default();
        for group in &frame.scenes.plans.groups[shadow.groups.clone()] {
            self.batch(&mut to, &mut set, frame.scenes, group, |to, key| {
                to.set_pipeline(self.pipelines.get(Key::Mesh(key.class)));
                true
            });
        }
    }

    /// One draw call of a view.
    fn group(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut Set,
        (frame, view, index): (&Frame, &ViewPlan, usize),
        group: &Group,
    ) {
        let was_painted = set.class.is_some_and(|(_, painter)| painter != 0);
        self.batch(to, set, frame.scenes, group, |to, key| {
            let (scene, offset) = self.buffers.scene(view.scene, index);
            let Some(slot) = painted::slot(key) else {
                if was_painted {
                    to.set_bind_group(0, scene, &[offset]);
                }
                to.set_pipeline(self.pipelines.get(Key::Mesh(key.class)));
                return true;
            };
            let painter = frame.materials.painter(slot);
            let Some((pipeline, own)) = self.painted.get(key, &painter) else { return false };
            to.set_pipeline(pipeline);
            let (told, at) = self.buffers.frame(index);
            to.set_bind_group(0, told, &[at]);
            to.set_bind_group(3, scene, &[offset]);
            if let Some(group) = painter.group.filter(|_| own) {
                to.set_bind_group(MATERIAL_GROUP, group, &[]);
            }
            true
        });
    }

    /// One draw call; `begin` sets the pipeline of a batch, and says whether there is one.
    fn batch(
        &self,
        to: &mut wgpu::RenderPass,
        set: &mut Set,
        scenes: &Scenes,
        group: &Group,
        begin: impl FnOnce(&mut wgpu::RenderPass, &BatchKey) -> bool,
    ) {
        let key: &BatchKey = scenes.library.batch(group.batch);
        let found = self.meshes.get(key.mesh).zip(scenes.library.mesh(key.mesh));
        let Some(((place, page), mesh)) = found else {
            // It was refused, and that was said.
            return;
        };
        let alike = (key.class, key.painter);
        if set.class != Some(alike) {
            if !begin(to, key) {
                return;
            }
            set.class = Some(alike);
        }
        let textured = !key.class.has(Class::SHADOW) || key.class.has(Class::MASK);
        if textured && set.set.replace(key.set) != Some(key.set) {
            to.set_bind_group(1, self.buffers.set(key.set), &[]);
        }
        if set.page.replace(place.page) != Some(place.page) {
            to.set_vertex_buffer(0, page.vertices.slice(..));
            to.set_index_buffer(page.indices.slice(..), page.format);
        }
        let part = &mesh.parts[key.part as usize];
        let instances = group.first..group.first + group.count;
        let first = place.first_index + part.first;
        to.draw_indexed(first..first + part.count, place.first_vertex as i32, instances);
    }

    /// Shows a view's light as a picture, in a pass on its target whose viewport is set to where it
    /// is shown.
    pub fn show(&self, to: &mut wgpu::RenderPass, index: usize) {
        let Some(place) = self.places[index] else { return };
        let [x, y, width, height] = place.rectangle;
        to.set_scissor_rect(x, y, width, height);
        to.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        to.set_pipeline(self.pipelines.get(Key::Show { format: place.format, deep: place.deep }));
        let (group, offset) = self.buffers.view(index);
        to.set_bind_group(0, group, &[offset]);
        let target = self.targets.get((width, height));
        to.set_bind_group(1, if place.deep { &target.group } else { &target.light_group }, &[]);
        to.draw(0..3, 0..1);
    }
}

/// How many batches of particles a view draws.
fn particles(scenes: &Scenes, view: &ViewPlan) -> usize {
    let seen = &scenes.plans.seen[view.blended.clone()];
    seen.iter().filter(|seen| matches!(seen, Seen::Particles { .. })).count()
}

fn color(view: &wgpu::TextureView, clear: bool) -> wgpu::RenderPassColorAttachment<'_> {
    wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load: match clear {
                true => wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                false => wgpu::LoadOp::Load,
            },
            store: wgpu::StoreOp::Store,
        },
    }
}
