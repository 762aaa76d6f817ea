//! Transfer of worlds to the renderer: writes the meshes, lights and cameras of units into the
//! packet as changes. Unchanged objects are not visited.

use super::{Assets, Devices, Engine, Worlds};
use engine_foundation::{Error, Handle, Mat4, log};
use engine_frame_packet::FramePacket;
use engine_frame_packet::mesh::SurfaceSlot;
use engine_frame_packet::scene::{self, DrawChange, DrawMesh, flag as draw_flag};
use engine_frame_packet::texture::TextureSlot;
use engine_materials::MaterialId;
use engine_textures::TextureNumber;
use engine_world::animation::{MeshMorphs, palette};
use engine_world::environment::{Environment, default_sun};
use engine_world::instance_table::flag;
use engine_world::light::LightType;
use engine_world::mesh::{MeshComponent, MeshId, MeshInstance};
use engine_world::render_scenes::{RenderScenes, WorldRenderScene, scene_of};
use engine_world::unit::UnitId;
use engine_world::{WORLDS_MAX, WorldId};
use std::sync::Arc;

impl Worlds {
    /// Ends the scene of a destroyed world.
    pub(super) fn end_scene(&mut self, world: WorldId) {
        if let Some(scene) = self.scenes.worlds.get_mut(world.0.index()).and_then(Option::take) {
            self.scenes.ended.push(scene.world.to_number() as u64);
        }
    }

    /// Adds a mesh to an existing unit.
    pub fn add_mesh(&mut self, unit: UnitId, part: &MeshComponent) -> Result<MeshId, Error> {
        let world = self.units.of(unit).world;
        let draw = self.scenes.of(world).take_slot();
        let added = self.scenes.meshes.add(unit, part, draw);
        if added.is_err() {
            self.scenes.of(world).free.push(draw);
        }
        added
    }

    pub(super) fn world_of_row(&self, row: u32) -> Option<WorldId> {
        self.units.slots.at(row as usize).map(|unit| unit.world)
    }

    /// Updates the world poses of units that moved since the world's update, and records which
    /// units moved.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started.
    fn update_scene(&mut self, devices: &Devices, world: WorldId) -> Result<(), Error> {
        self.units.update_scene(world, &devices.tasks)?;
        self.scenes.note_moved(&self.units.moved);
        self.physics.note_late_moves(&self.units.moved);
        Ok(())
    }

    /// Returns the surroundings of a world.
    pub fn environment(&mut self, world: WorldId) -> Environment {
        let scene = self.scenes.worlds.get(world.0.index()).and_then(Option::as_ref);
        let set = scene.and_then(|scene| scene.environment);
        set.unwrap_or_else(|| Environment::of(self.world(world).flags))
    }

    /// Sets the surroundings of a world. From now on views show the world's scene, even if it
    /// contains nothing else.
    pub fn set_environment(&mut self, world: WorldId, environment: Environment) {
        let scene = self.scenes.of(world);
        scene.environment = Some(environment);
        scene.frame.sky = Some(environment.sky);
        scene.lights_changed = true;
    }

    /// Sends the default surroundings of worlds whose scenes are new.
    fn send_default_environments(&mut self) {
        for scene in self.scenes.worlds.iter_mut().flatten() {
            let Some(world) = self.slots.get(scene.world) else { continue };
            if scene.environment.is_none() {
                let environment = Environment::of(world.flags);
                scene.environment = Some(environment);
                scene.frame.sky = Some(environment.sky);
                scene.lights_changed |= environment.sun;
            }
        }
    }

    /// Prepares the destruction of a material: objects that use it fall back to their mesh's own
    /// material, or to none.
    pub fn forget_material(&mut self, material: MaterialId) {
        self.forget_material_slot(material);
        let mut slots = Vec::new();
        for (handle, mesh) in self.scenes.meshes.slots.iter_mut() {
            if !mesh.extra.materials.contains(&Some(material.0)) {
                continue;
            }
            let materials = &mut Arc::make_mut(&mut mesh.extra).materials;
            materials
                .iter_mut()
                .filter(|slot| **slot == Some(material.0))
                .for_each(|slot| *slot = None);
            slots.push(handle.index());
        }
        for slot in slots {
            self.scenes.meshes.record_change(slot, flag::NEW);
        }
    }

    /// Returns the world transform of a unit's mesh.
    pub(super) fn mesh_pose(
        &mut self,
        row: u32,
        node: usize,
        local: Option<Mat4>,
    ) -> scene::DrawTransform {
        match local {
            None => scene::DrawTransform(self.units.scene.world_rows(row, node)),
            Some(local) => scene::DrawTransform::of(&(self.units.scene.world(row, node) * local)),
        }
    }

    /// Sends changed meshes to the scenes.
    fn send_mesh_changes(&mut self, assets: &Assets) {
        let changed = std::mem::take(&mut self.scenes.meshes.changed);
        for slot in &changed {
            let taken = self.scenes.meshes.take_change(*slot);
            let Some((flags, mesh)) = taken else { continue };
            let (row, node, draw) = (mesh.unit, usize::from(mesh.node), mesh.draw);
            let local = mesh.extra.local;
            let Some(world) = self.world_of_row(row) else { continue };
            let pose = self.mesh_pose(row, node, local);
            if flags & flag::NEW != 0 {
                self.send_new_meshes(assets, world, *slot as usize, pose);
            } else {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(draw);
                frame.poses.push(pose);
            }
        }
        // Keeps the allocation of the list.
        let mut changed = changed;
        changed.clear();
        changed.append(&mut self.scenes.meshes.changed);
        self.scenes.meshes.changed = changed;
    }

    fn send_new_meshes(
        &mut self,
        assets: &Assets,
        world: WorldId,
        slot: usize,
        pose: scene::DrawTransform,
    ) {
        let mesh = self.scenes.meshes.slots.at(slot).expect("the caller looked");
        let entry = assets.models.entry(mesh.mesh);
        let count = entry.materials.len();
        let visible = mesh.flags & flag::ANY_HIDDEN == 0;
        let casts = visible && mesh.flags & flag::CASTS_SHADOWS != 0;
        let flags = if visible { draw_flag::VISIBLE } else { 0 }
            | if casts { draw_flag::CASTS_SHADOW } else { 0 };
        let mut draw = DrawMesh {
            slot: mesh.draw,
            mesh: entry.slot,
            surfaces: (0, count as u32),
            pose,
            flags,
            // The other groups are those of all views.
            layers: !u32::from(!mesh.extra.light_layers),
            tint: mesh.tint,
            range: mesh.extra.range,
            outline: mesh.extra.outline,
            ..DrawMesh::DEFAULT
        };
        let surfaces: Vec<SurfaceSlot> = (0..count).map(|at| assets.surface(mesh, at)).collect();
        let frame = &mut self.scenes.of(world).frame;
        draw.surfaces.0 = frame.surfaces.len() as u32;
        frame.surfaces.extend(surfaces);
        frame.changes.push(DrawChange::Set(draw));
    }

    /// Sends the poses of meshes that skins move, for characters whose poses changed.
    fn send_palettes(&mut self, assets: &Assets) {
        let Worlds { animations, scenes, units, .. } = self;
        let RenderScenes { meshes, skeletons, worlds, .. } = scenes;
        animations.take_changed(|character| {
            let row = character.unit.row();
            if character.model.sprite_skeleton.is_some() {
                skeletons.note_posed(row);
            }
            let Some(world) = units.slots.at(row as usize).map(|unit| unit.world) else { return };
            for slot in meshes.of_unit(row) {
                let mesh = meshes.slots.at(slot).expect("lists hold living meshes");
                let skin =
                    mesh.extra.skin.and_then(|skin| character.model.skins.get(skin as usize));
                let shape = &assets.models.entry(mesh.mesh).shape;
                let frame = &mut scene_of(worlds, world).frame;
                // A node of a skinned mesh has no effect, so that the mesh is all that is compared.
                let shows = |it: &&MeshMorphs| {
                    let node = character.nodes[usize::from(it.bone)];
                    it.mesh == Some(mesh.mesh) && (skin.is_some() || node == Some(mesh.node))
                };
                if let Some(morphs) = character.model.morphs.iter().find(shows) {
                    frame.add_morph(mesh.draw, character.weights.of(morphs));
                }
                let (Some(skin), Some(bounded)) = (skin, &shape.skin) else { continue };
                let (matrices, joints) = (character.matrices(), &skin.joints[..]);
                frame.add_palette(mesh.draw, bounded, joints.len(), |out| {
                    palette(matrices, joints, out);
                });
            }
        });
    }

    /// Sends the lights to the scenes in which lights were added, removed or moved.
    fn send_lights(&mut self, assets: &mut Assets) {
        self.scenes.lights.follow_textures(assets.textures.version());
        let changed = std::mem::take(&mut self.scenes.lights.changed);
        for row in &changed {
            if let Some(world) = self.world_of_row(*row) {
                self.scenes.of(world).lights_changed = true;
            }
        }
        let is_new = |scene: &Option<WorldRenderScene>| {
            scene.as_ref().is_some_and(|scene| scene.lights_changed)
        };
        if !self.scenes.worlds.iter().any(is_new) {
            return;
        }
        let all: Vec<(u32, Vec<_>)> =
            self.scenes.lights.all().map(|(row, all)| (row, all.to_vec())).collect();
        for scene in self.scenes.worlds.iter_mut().flatten().filter(|scene| scene.lights_changed) {
            scene.frame.lights.clear();
            scene.frame.lights_changed = true;
        }
        let mut own_suns = [false; WORLDS_MAX];
        for (row, lights) in all {
            let Some(world) = self.world_of_row(row) else { continue };
            if !self.scenes.of(world).lights_changed {
                continue;
            }
            for light in lights {
                let id = light.0.to_number() as u64;
                let light = *self.scenes.lights.slots.get(light.0).expect("its unit lives");
                own_suns[world.0.index()] |= light.settings.kind == LightType::Directional;
                if !light.settings.enabled {
                    continue;
                }
                let pose = self.units.scene.world(row, usize::from(light.node)) * light.local;
                let texture = light.settings.texture.and_then(|it| assets.light_texture(it));
                let frame = scene::LightFrame { id, ..light.settings.to_frame(&pose, texture) };
                self.scenes.of(world).frame.lights.push(frame);
            }
        }
        for (index, scene) in self.scenes.worlds.iter_mut().enumerate() {
            let Some(scene) = scene.as_mut().filter(|scene| scene.lights_changed) else { continue };
            scene.lights_changed = false;
            let sun = scene.environment.is_some_and(|environment| environment.sun);
            if sun && !own_suns[index] {
                scene.frame.lights.insert(0, default_sun());
            }
            check_lights(scene);
        }
    }

    /// Returns the number of a world's scene for views, or `None` if the scene was never used.
    pub(super) fn scene_number(&self, world: WorldId) -> Option<u64> {
        let scene = self.scenes.worlds.get(world.0.index())?.as_ref()?;
        Some(scene.world.to_number() as u64)
    }
}

/// Warns about lights beyond the limits of a scene, and removes those that cannot be sent.
fn check_lights(scene: &mut WorldRenderScene) {
    let is_sun = |light: &&scene::LightFrame| matches!(light.kind, scene::LightKind::Sun { .. });
    let suns = scene.frame.lights.iter().filter(is_sun).count();
    if suns > scene::SUNS_MAX {
        let message = format!(
            "a world has {suns} directional lights, and the first {} shine (SUNS_MAX): switch some \
             off",
            scene::SUNS_MAX
        );
        log::warn("suns", &message);
    }
    let count = scene.frame.lights.len();
    if count > scene::LIGHTS_MAX {
        let message = format!(
            "a world has {count} lights, and {} are shown (LIGHTS_MAX): switch some off",
            scene::LIGHTS_MAX
        );
        log::warn("lights", &message);
        scene.frame.lights.truncate(scene::LIGHTS_MAX);
    }
}

impl Assets {
    /// Returns the surface of a material slot of a unit's mesh.
    fn surface(&self, mesh: &MeshInstance, part: usize) -> SurfaceSlot {
        let own = mesh.extra.materials.get(part).copied().flatten();
        let usual = || *self.models.entry(mesh.mesh).materials.get(part)?;
        let material = own.or_else(usual).and_then(|handle| self.materials.slots().get(handle));
        material.and_then(|material| material.surface()).unwrap_or(SurfaceSlot::DEFAULT)
    }
}

impl Assets {
    /// Returns the slot of the texture of a light. One without room is reported once.
    fn light_texture(&mut self, texture: TextureNumber) -> Option<TextureSlot> {
        let slot = self.textures.slot(&mut self.store, texture);
        if let Err(error) = &slot {
            log::warn("textures of lights", &error.message);
        }
        slot.ok()
    }
}

impl Engine {
    /// Removes a mesh from its unit.
    pub fn remove_mesh(&mut self, mesh: MeshId, location: &str) {
        let world = self.worlds.world_of_row(self.worlds.scenes.meshes.of(mesh).unit);
        if let Some(mesh) = self.worlds.scenes.meshes.remove(mesh.0, self.frame.index, location)
            && let Some(world) = world
        {
            self.worlds.scenes.of(world).end(mesh.draw);
            self.assets.models.remove_game_mesh(mesh.mesh);
        }
    }

    /// Fills a packet with the changes of all worlds.
    pub(super) fn fill_scenes(&mut self, packet: &mut FramePacket) {
        for at in 0..packet.views.len() {
            // Objects moved since the last update are shown at their new position.
            let number = packet.views[at].scene.and_then(|one| Handle::from_number(one as f64));
            if let Some(world) = number
                && self.worlds.slots.get(world).is_some()
                && let Err(error) = self.worlds.update_scene(&self.devices, WorldId(world))
            {
                log::error(&error.to_string());
            }
        }
        self.worlds.send_palettes(&self.assets);
        // These calls may create meshes and surfaces.
        self.worlds.send_skeletons(&mut self.assets);
        self.worlds.send_sprite_changes(&mut self.assets);
        self.worlds.send_occluder_changes(&mut self.assets);
        self.worlds.send_tilemaps(&mut self.assets, &packet.views);
        self.assets.models.flush(&mut packet.meshes);
        self.assets.materials.flush_surfaces(&mut packet.surfaces);
        self.worlds.send_mesh_changes(&self.assets);
        self.worlds.send_default_environments();
        self.worlds.send_lights(&mut self.assets);
        self.worlds.send_decals(&mut self.assets, self.frame.total);
        self.worlds.send_probes(&mut self.assets);
        packet.ended_scenes.append(&mut self.worlds.scenes.ended);
        for scene in self.worlds.scenes.worlds.iter_mut().flatten() {
            scene.free.append(&mut scene.freed);
            if scene.frame.is_empty() {
                continue;
            }
            let spare = packet.spare_scenes.pop().unwrap_or_default();
            let mut frame = std::mem::replace(&mut scene.frame, spare);
            frame.scene = scene.world.to_number() as u64;
            packet.scenes.push(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_world::WorldFlags;

    /// Returns the sky and the number of lights that a packet has for its only scene.
    fn sent(engine: &mut Engine) -> (Option<scene::SkyFrame>, bool, usize) {
        let packet = engine.take_packet(FramePacket::default());
        let scene = packet.scenes.into_iter().next().unwrap_or_default();
        (scene.sky, scene.lights_changed, scene.lights.len())
    }

    #[test]
    fn a_new_world_has_a_day_until_its_game_sets_a_sky() {
        let mut engine = crate::tests::engine();
        let world = engine.worlds.new_world(WorldFlags::default()).unwrap();
        assert_eq!(sent(&mut engine), (None, false, 0), "a world without contents has no scene");
        engine.worlds.scenes.of(world);
        assert_eq!(sent(&mut engine), (Some(Environment::DAY.sky), true, 1));
        assert_eq!(sent(&mut engine), (None, false, 0), "nothing has changed");
        engine.worlds.set_environment(world, Environment::PLAIN);
        assert_eq!(sent(&mut engine), (Some(Environment::PLAIN.sky), true, 0));
        assert_eq!(engine.worlds.environment(world), Environment::PLAIN);
    }

    #[test]
    fn a_world_without_a_sky_has_no_sun() {
        let mut engine = crate::tests::engine();
        let flags = WorldFlags { no_sky: true, ..WorldFlags::default() };
        let world = engine.worlds.new_world(flags).unwrap();
        engine.worlds.scenes.of(world);
        assert_eq!(sent(&mut engine), (Some(Environment::PLAIN.sky), false, 0));
    }
}
