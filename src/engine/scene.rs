//! Worlds on their way to the renderer: the meshes, lights and cameras of units, brought into the
//! packet as changes. What does not change is not looked at.

use super::Engine;
use super::sprites::Pictures;
use crate::error;
use crate::foundation::{Error, Handle, Mat4, log};
use crate::packet::Packet;
use crate::packet::mesh::SurfaceSlot;
use crate::packet::scene::{self, DrawChange, DrawSlot, Put, SceneFrame, Sky, flag as draw_flag};
use crate::system::materials::MaterialId;
use crate::system::models::MeshNumber;
use crate::world::WorldId;
use crate::world::camera::{CAMERAS_MAX, CameraId, Owner, UnitCameras};
use crate::world::light::Lights;
use crate::world::mesh::{Mesh, MeshId, MeshPart, Meshes, flag};
use crate::world::sprite::Sprites;
use crate::world::unit::UnitId;
use crate::world::unit_map::UnitMaps;
use crate::world::unit_resource::UnitResource;
use std::sync::Arc;

/// What worlds show of their units.
#[derive(Default)]
pub struct Scenes {
    pub meshes: Meshes,
    pub lights: Lights,
    pub sprites: Sprites,
    pub maps: UnitMaps,
    pub pictures: Pictures,
    pub cameras: UnitCameras,
    /// By the places of worlds.
    worlds: Vec<Option<WorldScene>>,
    /// Scenes of worlds that were released.
    ended: Vec<u64>,
}

/// One world's scene.
pub(super) struct WorldScene {
    world: Handle,
    /// Places of draws that can be used again, and those that can when the frame was taken.
    free: Vec<DrawSlot>,
    freed: Vec<DrawSlot>,
    used: u32,
    /// What the next packet says of it.
    pub(super) frame: SceneFrame,
    sky: Sky,
    /// How many lights it has.
    has_lights: bool,
    lights_changed: bool,
}

impl WorldScene {
    fn new(world: Handle) -> WorldScene {
        WorldScene {
            world,
            free: Vec::new(),
            freed: Vec::new(),
            used: 0,
            frame: SceneFrame::default(),
            sky: Sky::DEFAULT,
            has_lights: false,
            lights_changed: false,
        }
    }

    /// How many draws it has, or is about to give up.
    pub(super) fn used_draws(&self) -> u32 {
        self.used - self.free.len() as u32
    }

    pub(super) fn take_slot(&mut self) -> DrawSlot {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            DrawSlot(self.used - 1)
        })
    }

    pub(super) fn end(&mut self, slot: DrawSlot) {
        self.frame.changes.push(DrawChange::End(slot));
        self.freed.push(slot);
    }
}

impl Scenes {
    pub(super) fn of(&mut self, world: WorldId) -> &mut WorldScene {
        let index = world.0.index();
        if self.worlds.len() <= index {
            self.worlds.resize_with(index + 1, || None);
        }
        self.worlds[index].get_or_insert_with(|| WorldScene::new(world.0))
    }

    /// Notes that meshes are not what they were: all that show them are told anew.
    pub fn note_meshes(&mut self, numbers: &[MeshNumber]) {
        let shows = |mesh: &Mesh| numbers.contains(&mesh.mesh);
        let places: Vec<usize> = self
            .meshes
            .slots
            .iter()
            .filter(|(_, mesh)| shows(mesh))
            .map(|(handle, _)| handle.index())
            .collect();
        for place in places {
            self.meshes.note(place, flag::NEW);
        }
    }

    /// Notes that units moved.
    pub fn note_moved(&mut self, rows: &[u32]) {
        self.meshes.note_moved(rows);
        self.lights.note_moved(rows);
        self.sprites.note_moved(rows);
        self.maps.note_moved(rows);
    }

    /// Sets or clears a reason why what is seen of a unit is hidden, of a group or of all.
    pub fn hide(&mut self, row: u32, group: Option<u8>, reason: u8, hidden: bool) {
        self.meshes.hide(row, group, reason, hidden);
        self.sprites.hide(row, group, reason, hidden);
        self.maps.hide(row, group, reason, hidden);
    }
}

/// What is left of a node's axes, at least, where they lean to each other.
const FLAT: f32 = 1e-4;

impl Engine {
    /// Makes what of a unit is seen.
    ///
    /// # Errors
    /// There are as many meshes, lights or cameras as there can be: some of it may be made.
    pub(super) fn spawn_seen(
        &mut self,
        world: WorldId,
        unit: UnitId,
        resource: &UnitResource,
    ) -> Result<(), Error> {
        let seen = &resource.seen;
        if !seen.meshes.is_empty() {
            self.scenes.of(world);
            let Scenes { meshes, worlds, .. } = &mut self.scenes;
            let scene = worlds[world.0.index()].as_mut().expect("it was just made");
            scene.check_room(seen.meshes.len())?;
            meshes.spawn(unit, &seen.meshes, || scene.take_slot())?;
        }
        if !seen.sprites.is_empty() {
            self.scenes.of(world);
            let Scenes { sprites, worlds, .. } = &mut self.scenes;
            let scene = worlds[world.0.index()].as_mut().expect("it was just made");
            scene.check_room(seen.sprites.len())?;
            sprites.spawn(unit, &seen.sprites, || scene.take_slot())?;
        }
        for map in &seen.maps {
            self.spawn_map(world, unit, map)?;
        }
        if !seen.lights.is_empty() {
            self.scenes.lights.spawn(unit, &seen.lights)?;
            self.scenes.of(world).has_lights = true;
        }
        for part in &seen.cameras {
            let mut camera = part.camera;
            camera.owner = Some(Owner { unit, node: part.node, local: Mat4::IDENTITY });
            let added = self.cameras.add(camera).map(CameraId).ok_or_else(|| {
                error!("{CAMERAS_MAX} cameras are there already (CAMERAS_MAX): destroy some first")
            })?;
            self.scenes.cameras.add(unit.row(), added);
        }
        Ok(())
    }

    /// Ends what of a unit is seen; `place` is the script's line, for the words of stale handles.
    pub fn end_seen(&mut self, unit: UnitId, place: &str) {
        let (frame, row) = (self.frame.index, unit.row());
        let world = self.units.of(unit).world;
        self.end_maps(world, row, place);
        if let Some(scene) = self.scenes.worlds.get_mut(world.0.index()).and_then(Option::as_mut) {
            self.scenes.sprites.destroy(row, frame, place, |sprite| scene.end(sprite.draw));
            let models = &mut self.models;
            self.scenes.meshes.destroy(row, frame, place, |mesh| {
                scene.end(mesh.draw);
                models.end_own(mesh.mesh);
            });
            scene.lights_changed |= self.scenes.lights.destroy(row, frame, place);
        }
        for camera in self.scenes.cameras.take(row) {
            self.cameras.remove(camera.0, "", frame, place);
        }
    }

    /// The world's scene ends with it.
    pub(super) fn end_scene(&mut self, world: WorldId) {
        if let Some(scene) = self.scenes.worlds.get_mut(world.0.index()).and_then(Option::take) {
            self.scenes.ended.push(scene.world.to_number() as u64);
        }
    }

    /// Adds a mesh to a unit that is there.
    pub fn add_mesh(&mut self, unit: UnitId, part: &MeshPart) -> Result<MeshId, Error> {
        let world = self.units.of(unit).world;
        let draw = self.scenes.of(world).take_slot();
        let added = self.scenes.meshes.add(unit, part, draw);
        if added.is_err() {
            self.scenes.of(world).free.push(draw);
        }
        added
    }

    /// Takes a mesh off its unit.
    pub fn remove_mesh(&mut self, mesh: MeshId, place: &str) {
        let world = self.world_of_row(self.scenes.meshes.of(mesh).unit);
        if let Some(mesh) = self.scenes.meshes.remove(mesh, self.frame.index, place)
            && let Some(world) = world
        {
            self.scenes.of(world).end(mesh.draw);
            self.models.end_own(mesh.mesh);
        }
    }

    pub(super) fn world_of_row(&self, row: u32) -> Option<WorldId> {
        self.units.slots.at(row as usize).map(|unit| unit.world)
    }

    /// Brings the world poses of a world's units up to date, and notes who moved: what was moved
    /// since the world's update.
    ///
    /// # Errors
    /// For want of threads.
    fn update_scene(&mut self, world: WorldId) -> Result<(), Error> {
        self.units.update_scene(world, &self.tasks)?;
        self.scenes.note_moved(&self.units.moved);
        Ok(())
    }

    /// What a world has around it.
    pub fn sky(&mut self, world: WorldId) -> Sky {
        self.scenes.of(world).sky
    }

    pub fn set_sky(&mut self, world: WorldId, sky: Sky) {
        let scene = self.scenes.of(world);
        scene.sky = sky;
        scene.frame.sky = Some(sky);
    }

    /// What this frame alone shows in a world: particles.
    pub fn scene_frame(&mut self, world: WorldId) -> &mut SceneFrame {
        &mut self.scenes.of(world).frame
    }

    /// A material is about to end: what shows it shows its mesh's own instead, or none.
    pub fn forget_material(&mut self, material: MaterialId) {
        self.forget_painter(material);
        let mut places = Vec::new();
        for (handle, mesh) in self.scenes.meshes.slots.iter_mut() {
            if !mesh.extra.materials.contains(&Some(material.0)) {
                continue;
            }
            let materials = &mut Arc::make_mut(&mut mesh.extra).materials;
            materials
                .iter_mut()
                .filter(|slot| **slot == Some(material.0))
                .for_each(|slot| *slot = None);
            places.push(handle.index());
        }
        for place in places {
            self.scenes.meshes.note(place, flag::NEW);
        }
    }

    /// The surface of a place of a mesh of a unit.
    fn surface(&self, mesh: &Mesh, place: usize) -> SurfaceSlot {
        let own = mesh.extra.materials.get(place).copied().flatten();
        let usual = || *self.models.entry(mesh.mesh).materials.get(place)?;
        let material = own.or_else(usual).and_then(|handle| self.materials.slots().get(handle));
        material.and_then(|material| material.surface()).unwrap_or(SurfaceSlot::DEFAULT)
    }

    /// Where a mesh of a unit is in the world.
    pub fn mesh_pose(&mut self, row: u32, node: usize, local: Option<Mat4>) -> scene::Pose {
        match local {
            None => scene::Pose(self.units.scene.world_rows(row, node)),
            Some(local) => scene::Pose::of(&(self.units.scene.world(row, node) * local)),
        }
    }

    /// Tells the scenes what is new about meshes.
    fn tell_meshes(&mut self) {
        let changed = std::mem::take(&mut self.scenes.meshes.changed);
        for place in &changed {
            let Some(mesh) = self.scenes.meshes.slots.at_mut(*place as usize) else { continue };
            let flags = mesh.flags;
            if flags & flag::LISTED == 0 {
                // It was listed before its place was used again, and told since.
                continue;
            }
            mesh.flags &= !(flag::LISTED | flag::NEW);
            let (row, node, slot) = (mesh.unit, usize::from(mesh.node), mesh.draw);
            let local = mesh.extra.local;
            let Some(world) = self.world_of_row(row) else { continue };
            let pose = self.mesh_pose(row, node, local);
            if flags & flag::NEW != 0 {
                self.tell_new(world, *place as usize, pose);
            } else {
                let frame = &mut self.scenes.of(world).frame;
                frame.moved.push(slot);
                frame.poses.push(pose);
            }
        }
        // Its room is kept.
        let mut changed = changed;
        changed.clear();
        changed.append(&mut self.scenes.meshes.changed);
        self.scenes.meshes.changed = changed;
    }

    fn tell_new(&mut self, world: WorldId, place: usize, pose: scene::Pose) {
        let mesh = self.scenes.meshes.slots.at(place).expect("the caller looked");
        let entry = self.models.entry(mesh.mesh);
        let count = entry.materials.len();
        let visible = mesh.flags & flag::ANY_HIDDEN == 0;
        let casts = visible && mesh.flags & flag::CASTS_SHADOWS != 0;
        let flags = if visible { draw_flag::VISIBLE } else { 0 }
            | if casts { draw_flag::CASTS_SHADOW } else { 0 };
        let mut put = Put {
            slot: mesh.draw,
            mesh: entry.slot,
            surfaces: (0, count as u32),
            pose,
            flags,
            layers: u32::MAX,
            tint: mesh.tint,
            range: mesh.extra.range,
            ..Put::DEFAULT
        };
        let surfaces: Vec<SurfaceSlot> = (0..count).map(|at| self.surface(mesh, at)).collect();
        let frame = &mut self.scenes.of(world).frame;
        put.surfaces.0 = frame.surfaces.len() as u32;
        frame.surfaces.extend(surfaces);
        frame.changes.push(DrawChange::Put(put));
    }

    /// Tells the scenes their lights, where some are new, gone or elsewhere.
    fn tell_lights(&mut self) {
        let changed = std::mem::take(&mut self.scenes.lights.changed);
        for row in &changed {
            if let Some(world) = self.world_of_row(*row) {
                self.scenes.of(world).lights_changed = true;
            }
        }
        let is_new =
            |scene: &Option<WorldScene>| scene.as_ref().is_some_and(|scene| scene.lights_changed);
        if !self.scenes.worlds.iter().any(is_new) {
            return;
        }
        let all: Vec<(u32, Vec<_>)> =
            self.scenes.lights.all().map(|(row, all)| (row, all.to_vec())).collect();
        for scene in self.scenes.worlds.iter_mut().flatten().filter(|scene| scene.lights_changed) {
            scene.frame.lights.clear();
            scene.frame.lights_changed = true;
        }
        for (row, lights) in all {
            let Some(world) = self.world_of_row(row) else { continue };
            if !self.scenes.of(world).lights_changed {
                continue;
            }
            for light in lights {
                let light = *self.scenes.lights.slots.get(light.0).expect("its unit lives");
                if !light.look.enabled {
                    continue;
                }
                let pose = self.units.scene.world(row, usize::from(light.node)) * light.local;
                self.scenes.of(world).frame.lights.push(light.look.placed(&pose));
            }
        }
        for scene in self.scenes.worlds.iter_mut().flatten() {
            scene.lights_changed = false;
            let is_sun = |light: &&scene::Light| matches!(light.kind, scene::LightKind::Sun { .. });
            let suns = scene.frame.lights.iter().filter(is_sun).count();
            if suns > scene::SUNS_MAX {
                let words = format!(
                    "a world has {suns} directional lights, and the first {} shine (SUNS_MAX): \
                     switch some off",
                    scene::SUNS_MAX
                );
                log::warn("suns", &words);
            }
            let count = scene.frame.lights.len();
            if count > scene::LIGHTS_MAX {
                let words = format!(
                    "a world has {count} lights, and {} are shown (LIGHTS_MAX): switch some off",
                    scene::LIGHTS_MAX
                );
                log::warn("lights", &words);
                scene.frame.lights.truncate(scene::LIGHTS_MAX);
            }
        }
    }

    /// Fills a packet with what is new in all worlds.
    pub(super) fn fill_scenes(&mut self, packet: &mut Packet) {
        for at in 0..packet.views.len() {
            // What was moved since the last update is shown where it is.
            let number = packet.views[at].scene.and_then(|one| Handle::from_number(one as f64));
            if let Some(world) = number
                && self.worlds.get(world).is_some()
                && let Err(fault) = self.update_scene(WorldId(world))
            {
                log::error(&fault.to_string());
            }
        }
        // These may make meshes and surfaces.
        self.tell_sprites();
        self.tell_maps(&packet.views);
        self.models.flush(&mut packet.meshes);
        self.materials.flush_surfaces(&mut packet.surfaces);
        self.tell_meshes();
        self.tell_lights();
        packet.ended_scenes.append(&mut self.scenes.ended);
        for scene in self.scenes.worlds.iter_mut().flatten() {
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

    /// The number of a world's scene, for views; none where nothing was ever in it.
    pub(super) fn scene_number(&self, world: WorldId) -> Option<u64> {
        let scene = self.scenes.worlds.get(world.0.index())?.as_ref()?;
        Some(scene.world.to_number() as u64)
    }

    /// Brings a camera that hangs on a unit to where its node is.
    pub(super) fn follow(&mut self, camera: CameraId) {
        let Some(Owner { unit, node, local }) = self.cameras.get(camera.0).and_then(|c| c.owner)
        else {
            return;
        };
        let pose = self.units.scene.world(unit.row(), usize::from(node)) * local;
        let found = self.cameras.get_mut(camera.0).expect("it was just there");
        // Sizes of nodes are not for cameras. What has none, or is flat, is not turned in any way:
        // there a camera stays turned as it was.
        let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.normalize_or_zero());
        let [x, y, z] = axes.map(|axis| axis.truncate());
        let [x, y, z] = match x.cross(y).dot(z).abs() > FLAT {
            true => axes,
            false => [found.pose.x_axis, found.pose.y_axis, found.pose.z_axis],
        };
        found.pose = Mat4::from_cols(x, y, z, pose.w_axis);
    }
}
