//! Integration of particles with units, textures, materials, Guis and scenes. Their simulation is
//! in src/system/particles.

use super::{Assets, Devices, Drawing, Frame, Worlds};
use engine_foundation::error;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Handle, Mat4, Vec2, Vec3, Vec4, log};
use engine_frame_packet::FramePacket;
use engine_frame_packet::gui::GuiBatchKey;
use engine_frame_packet::material::MaterialSlot;
use engine_frame_packet::scene::{self, ParticleBatch, SceneFrame};
use engine_frame_packet::texture::TextureSlot;
use engine_gui::{GuiId, Guis};
use engine_particles::built_in_textures;
use engine_particles::data::{EffectData, EmitterDef};
use engine_particles::draw::{self, AppearanceRules, DrawContext, DrawStyle, ParticleTexture};
use engine_particles::emitter::Emitter;
use engine_particles::pose::EffectTransform;
use engine_particles::{
    EffectDesc, EffectId, EffectStage, OrphanPolicy, ParticleEffect, Particles,
};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_world::WorldId;
use engine_world::unit::{UnitId, Units};

impl Worlds {
    /// Returns the index of an effect's resource. It is read on the first request.
    pub fn find_particles(&mut self, assets: &mut Assets, name: &str) -> Result<usize, Error> {
        if let Some(known) = self.particles.get_loaded(name) {
            return Ok(known);
        }
        let data = assets.read_particles(name)?;
        assets.check_particle_textures(name, &data)?;
        Ok(self.particles.add_resource(name, data))
    }
}

impl Assets {
    fn read_particles(&mut self, name: &str) -> Result<EffectData, Error> {
        let resource = ResourceName::new(kind_names::PARTICLES, name);
        if !self.store.has(&resource) {
            return Err(error!("{}", self.store.missing_message(&resource)));
        }
        let bytes = self.store.read(&resource)?;
        contain(&resource, || {
            EffectData::read(&bytes).map_err(|error| error!("effect \"{name}\": {}", error.message))
        })
    }
}

impl Worlds {
    /// Starts an effect.
    pub fn create_particles(
        &mut self,
        assets: &mut Assets,
        devices: &Devices,
        world: WorldId,
        stage: EffectStage,
        name: &str,
        pose: EffectTransform,
    ) -> Result<EffectId, Error> {
        let resource = self.find_particles(assets, name)?;
        if stage == EffectStage::World {
            // From now on views show the world's scene, even if it contains nothing else.
            self.scenes.of(world);
        }
        let making = EffectDesc { world: world.0, stage, resource, pose };
        self.particles.create(making, &devices.tasks)
    }

    /// Destroys the effects of destroyed Guis.
    pub(super) fn end_particles_of_ended_guis(&mut self, guis: &Guis, frame: &Frame) {
        let orphan = |it: &ParticleEffect| match it.stage {
            EffectStage::Gui { gui, .. } => guis.slots().get(gui).is_none(),
            EffectStage::World => false,
        };
        self.particles.destroy_matching(orphan, frame.index, "");
    }

    /// Applies changed effects (hot reload). If an effect is invalid or was removed, its previous
    /// version stays.
    pub fn reload_particles(&mut self, assets: &mut Assets, changed: &ChangedResources) {
        for resource in changed.of(ReloadStep::Particles) {
            let Some(index) = self.particles.get_loaded(&resource.name) else { continue };
            let done = assets.read_particles(&resource.name).and_then(|data| {
                assets.check_particle_textures(&resource.name, &data)?;
                self.particles.redefine(index, data)
            });
            if let Err(error) = done {
                log::error(&format!(
                    "{}: effects that are playing continue unchanged",
                    error.message
                ));
            }
        }
    }
}

impl Assets {
    /// Refuses an effect with an emitter that cannot be drawn.
    fn check_particle_textures(&mut self, name: &str, data: &EffectData) -> Result<(), Error> {
        for def in &data.emitters {
            self.particle_texture(def, false).map_err(|error| {
                error!("the effect \"{name}\", emitter '{}': {}", def.name, error.message)
            })?;
        }
        Ok(())
    }

    /// Returns the texture and material of an emitter's particles. `in_world` is true if they are
    /// also drawn in a scene.
    fn particle_texture(
        &mut self,
        def: &EmitterDef,
        in_world: bool,
    ) -> Result<ParticleTexture, Error> {
        let (mut material, _) = draw::blending(def);
        if !def.material.is_empty() {
            let id = self.find_material(&def.material)?;
            if self.materials.slots().get(id.0).is_some_and(|it| it.surface().is_some()) {
                return Err(error!(
                    "the material '{}' is for meshes: particles take one without a block surface",
                    def.material
                ));
            }
            let source = self.source_of_material(id);
            material = source.material;
            if def.texture.is_empty() {
                let (slot, paint, uv) = (source.texture, source.paint, source.uv);
                let (scene, soft) = (TextureSlot::SHARED, false);
                return Ok(ParticleTexture { material, slot, paint, uv, scene, soft });
            }
        }
        let soft = def.texture.is_empty();
        let name = if soft { built_in_textures::SOFT } else { &def.texture };
        let number = match (built_in_textures::find(name), self.textures.get_loaded(name)) {
            (Some(built_in), None) => {
                self.textures.add_runtime_texture(name, built_in.side, built_in.texels())?
            }
            (Some(_), Some(known)) => known,
            (None, _) => self.textures.find(&mut self.store, name)?,
        };
        let entry = *self.textures.entry(number);
        let scene = match in_world && !soft {
            true => self.textures.slot(&mut self.store, number)?,
            false => TextureSlot::SHARED,
        };
        let (slot, paint, uv) = (entry.slot, entry.paint, entry.uv);
        Ok(ParticleTexture { material, slot, paint, uv, scene, soft })
    }
}

impl Worlds {
    /// Updates the textures and materials of all emitters.
    pub(super) fn refresh_particle_textures(&mut self, assets: &mut Assets) {
        let version =
            [self.particles.version(), assets.textures.version(), assets.materials.version()];
        if self.particles.draw_context.version == version {
            return;
        }
        let plain = ParticleTexture {
            material: MaterialSlot::BUILT_IN,
            slot: TextureSlot::SHARED,
            paint: engine_frame_packet::gui::paint::SOLID,
            uv: [0.0; 4],
            scene: TextureSlot::SHARED,
            soft: false,
        };
        let mut particle_textures = Vec::new();
        for index in 0..self.particles.resources().len() {
            let resource = &self.particles.resources()[index];
            let (data, in_world) = (resource.data.clone(), resource.in_world);
            // A missing resource was reported when it was removed.
            let particle_texture =
                |def: &EmitterDef| assets.particle_texture(def, in_world).unwrap_or(plain);
            particle_textures.push(data.emitters.iter().map(particle_texture).collect());
        }
        self.particles.draw_context.textures = particle_textures;
        let version =
            [self.particles.version(), assets.textures.version(), assets.materials.version()];
        self.particles.draw_context.version = version;
    }

    /// Draws the particles of Guis into the Guis, and those of visible worlds into their scenes.
    pub(super) fn draw_particles(
        &mut self,
        drawing: &mut Drawing,
        devices: &Devices,
        packet: &mut FramePacket,
    ) {
        if self.particles.slots().is_empty() {
            return;
        }
        let window = devices.window.picture_size().to_array();
        let (particles, guis, tasks) = (&mut self.particles, &mut drawing.guis, &devices.tasks);
        let mut refused = None;
        particles.each(|effect, emitters, drawn| {
            let EffectStage::Gui { gui, layer } = effect.stage else { return };
            let Some(of) = guis.slots().get(gui) else { return };
            let fresh = drawn.textures.len() > effect.resource;
            effect.was_visible = is_within(effect, emitters, of.desc.visible_area(window));
            if !effect.was_visible || !fresh {
                return;
            }
            for index in effect.emitters.iter() {
                let emitter = &emitters[*index as usize];
                let particle_texture = drawn.textures[effect.resource][emitter.index];
                let layer = layer + emitter.numbers().layer;
                let (material, texture) = (particle_texture.material, particle_texture.slot);
                let key = GuiBatchKey { layer, material, texture, ..GuiBatchKey::PLAIN };
                let look = AppearanceRules::new(emitter, &effect.variables);
                let drawing = DrawStyle {
                    emitter,
                    appearance: &look,
                    texture: &particle_texture,
                    eye: Vec3::ZERO,
                };
                let done = guis
                    .reserve_quads(GuiId(gui), key, emitter.count * quads_per_particle(emitter))
                    .map_err(Error::new)
                    .and_then(|out| {
                        let DrawContext { instances, ribbons, .. } = drawn;
                        if has_ribbons(emitter) {
                            let each =
                                |path: &[_]| draw::path_quads(path, 1.0, &particle_texture, out);
                            draw::paths(&drawing, ribbons, each);
                        }
                        match has_heads(emitter) {
                            true => drawing.add(out, instances, tasks),
                            false => Ok(()),
                        }
                    });
                refused = done.err().or(refused.take());
            }
        });
        if let Some(error) = refused {
            log::warn("particles", &error.message);
        }
        self.draw_scenes(devices, packet);
    }

    /// Draws the particles of worlds that views show.
    fn draw_scenes(&mut self, devices: &Devices, packet: &mut FramePacket) {
        for (id, hidden) in self.scenes.effects.take_changed() {
            if let Some(effect) = self.particles.slots_mut().get_mut(id.0) {
                effect.hidden = hidden;
            }
        }
        let (particles, tasks) = (&mut self.particles, &devices.tasks);
        let FramePacket { views, scenes, spare_scenes, .. } = packet;
        let mut refused = None;
        particles.each(|effect, emitters, drawn| {
            if effect.stage != EffectStage::World {
                return;
            }
            let number = effect.world.to_number() as u64;
            let (low, high) = bounds(effect, emitters);
            let center = (low + high) * 0.5;
            let radius = (high - low).length() * 0.5 + particle_extent(effect, emitters);
            let mut seeing = views.iter().filter(|view| {
                let matrix = view.camera.projection * view.camera.view;
                view.scene == Some(number) && is_in_frustum(&matrix, center, radius)
            });
            let eye = seeing.next().map(|view| view.camera.position);
            effect.was_visible = eye.is_some() && !effect.hidden;
            let eye = eye.filter(|_| !effect.hidden);
            let Some(eye) = eye.filter(|_| drawn.textures.len() > effect.resource) else { return };
            let scene = scene_of(scenes, spare_scenes, number);
            for index in effect.emitters.iter() {
                let emitter = &emitters[*index as usize];
                if emitter.count > 0 {
                    let particle_texture = drawn.textures[effect.resource][emitter.index];
                    let look = AppearanceRules::new(emitter, &effect.variables);
                    let drawing =
                        DrawStyle { emitter, appearance: &look, texture: &particle_texture, eye };
                    let done = draw_in_scene(&drawing, scene, drawn, (center, radius), tasks);
                    refused = done.err().or(refused.take());
                }
            }
        });
        if let Some(error) = refused {
            log::warn("particles in a world", &error.message);
        }
    }

    /// Returns the name of an effect for the comparison of two runs.
    pub(super) fn name_in_particles(&self, object: u64) -> String {
        let handle = Handle::from_number(object as f64);
        match handle.and_then(|handle| self.particles.slots().get(handle)) {
            Some(effect) => {
                let name = &self.particles.resources()[effect.resource].name;
                format!("particle effect {object} '{name}'")
            }
            None => format!("particle effect {object}"),
        }
    }
}

/// Moves effects along with the units that they are linked to.
pub(super) fn follow_links(
    particles: &mut Particles,
    units: &mut Units,
    world: WorldId,
    frame: u64,
) {
    let mut ends = Vec::new();
    let linked = particles.slots_mut().iter_mut();
    for (handle, effect) in linked.filter(|(_, effect)| effect.world == world.0) {
        let Some(link) = effect.link else { continue };
        let unit = units.slots.get(link.unit).map(|_| UnitId(link.unit).row());
        match unit {
            Some(row) => {
                let node = EffectTransform::of(&units.scene.world(row, link.node as usize));
                effect.pose = link.pose.in_parent_space(&node);
            }
            None => {
                effect.link = None;
                match link.orphaned {
                    OrphanPolicy::Destroy => ends.push(EffectId(handle)),
                    OrphanPolicy::Stop => effect.spawning = false,
                    OrphanPolicy::Unlink => {}
                }
            }
        }
    }
    for id in ends {
        particles.destroy(id, frame, "the end of the unit that it was linked to");
    }
}

/// Draws an emitter's particles into a scene, as one batch.
fn draw_in_scene(
    drawing: &DrawStyle,
    scene: &mut SceneFrame,
    drawn: &mut DrawContext,
    (center, radius): (Vec3, f32),
    tasks: &TaskPool,
) -> Result<(), Error> {
    let emitter = drawing.emitter;
    let first = scene.particles.len();
    if first + emitter.count * quads_per_particle(emitter) > scene::PARTICLES_MAX {
        let most = scene::PARTICLES_MAX;
        return Err(error!("a world shows {most} particles (PARTICLES_MAX): more are left out"));
    }
    if has_ribbons(emitter) {
        let (out, glow) = (&mut scene.particles, drawing.appearance.glow);
        let each = |path: &[_]| draw::path_quads(path, glow, drawing.texture, out);
        draw::paths(drawing, &mut drawn.ribbons, each);
    }
    if has_heads(emitter) {
        drawing.add(&mut scene.particles, &mut drawn.particles, tasks)?;
    }
    scene.particle_batches.push(ParticleBatch {
        first: first as u32,
        count: (scene.particles.len() - first) as u32,
        texture: drawing.texture.scene,
        blend: draw::blending(emitter.def()).1,
        softness: emitter.numbers().softness,
        lit: emitter.numbers().lit,
        distortion: emitter.numbers().distortion,
        center,
        radius,
        layers: u32::MAX,
        order: emitter.numbers().layer,
    });
    Ok(())
}

fn has_ribbons(emitter: &Emitter) -> bool {
    let numbers = emitter.numbers();
    numbers.trail_points > 0 || numbers.ribbon > 0
}

fn has_heads(emitter: &Emitter) -> bool {
    let numbers = emitter.numbers();
    numbers.ribbon == 0 && (numbers.trail_points == 0 || numbers.trail_heads > 0)
}

/// Returns the maximum number of quads per particle.
fn quads_per_particle(emitter: &Emitter) -> usize {
    1 + emitter.numbers().trail_points as usize
}

/// Returns the world bounding box of an effect and its particles, as far as they were measured.
fn bounds(effect: &ParticleEffect, emitters: &[Emitter]) -> (Vec3, Vec3) {
    let (mut least, mut most) = (effect.pose.position, effect.pose.position);
    for index in &effect.emitters {
        let emitter = &emitters[*index as usize];
        let Some((low, high)) = emitter.bounds() else { continue };
        for corner in 0..8 {
            let side = |bit: usize| if corner >> bit & 1 == 1 { high[bit] } else { low[bit] };
            let point = emitter.to_world.point(Vec3::new(side(0), side(1), side(2)));
            (least, most) = (least.min(point), most.max(point));
        }
    }
    (least, most)
}

/// Returns the extent of an effect's largest particle, measured from its center.
fn particle_extent(effect: &ParticleEffect, emitters: &[Emitter]) -> f32 {
    let each = effect.emitters.iter().map(|index| {
        let numbers = emitters[*index as usize].numbers();
        numbers.size_max * numbers.aspect.max(1.0) * effect.pose.scale
    });
    each.fold(0.0, f32::max)
}

/// Returns true if a part of an effect is in the visible area of a Gui. An effect without measured
/// bounds counts as visible.
fn is_within(
    effect: &ParticleEffect,
    emitters: &[Emitter],
    [left_bottom, right_top]: [Vec2; 2],
) -> bool {
    let measured = effect.emitters.iter().any(|index| emitters[*index as usize].step.bounds);
    if !measured {
        return true;
    }
    let (low, high) = bounds(effect, emitters);
    let reach = particle_extent(effect, emitters);
    let (low, high) = (low.truncate() - reach, high.truncate() + reach);
    low.cmplt(right_top).all() && high.cmpgt(left_bottom).all()
}

/// Returns true if a sphere intersects a view frustum.
pub(super) fn is_in_frustum(matrix: &Mat4, center: Vec3, radius: f32) -> bool {
    let row = |i: usize| matrix.row(i);
    let last = row(3);
    let planes =
        [last + row(0), last - row(0), last + row(1), last - row(1), row(2), last - row(2)];
    planes.iter().all(|plane: &Vec4| {
        let normal = plane.truncate();
        normal.dot(center) + plane.w > -radius * normal.length()
    })
}

/// Returns the frame of a scene in a packet, and adds one if it is missing.
fn scene_of<'a>(
    scenes: &'a mut Vec<SceneFrame>,
    spare: &mut Vec<SceneFrame>,
    number: u64,
) -> &'a mut SceneFrame {
    let index = scenes.iter().position(|scene| scene.scene == number).unwrap_or_else(|| {
        let mut scene = spare.pop().unwrap_or_default();
        scene.scene = number;
        scenes.push(scene);
        scenes.len() - 1
    });
    &mut scenes[index]
}
