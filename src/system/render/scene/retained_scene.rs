//! The retained state of one scene: arrays by the draws' slots, lights, the sky, and the particles
//! of the newest frame. Culls nothing and draws nothing.

use super::super::numeric_map::{DirtyRanges, NumberMap};
use super::caster_changes::CasterChanges;
use super::culling::Spheres;
use super::decals::SceneDecals;
use super::deformations::Deformations;
use super::draw_resources::{DrawPart, DrawResources, NONE, ResourceChanges};
use super::pipeline_class::PipelineClass;
use super::previous_poses::PreviousPoses;
use super::scene_lights::SceneLights;
use bytemuck::{Pod, Zeroable};
use engine_foundation::Vec3;
use engine_frame_packet::decal::DECALS_MAX;
use engine_frame_packet::fog_volume::{FOG_VOLUMES_MAX, FogVolumeFrame};
use engine_frame_packet::mesh::SLOTS_MAX;
use engine_frame_packet::outline::OutlineStyle;
use engine_frame_packet::reflection_probe::{PROBES_MAX, ProbeFrame};
use engine_frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LIGHTS_MAX, MorphUpdate, PARTICLES_MAX,
    ParticleBatch, SceneFrame, SkinUpdate, SkyFrame, flag,
};

/// A draw on the adapter, with the layout of `Draw` in forward/mesh.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct DrawData {
    pub pose: DrawTransform,
    pub tint: [u8; 4],
    /// The part of its textures, as in [`DrawMesh`].
    pub part: [u16; 4],
    /// Bit 0: flipped horizontally; bit 1: flipped vertically. The bits above are the location of
    /// its deformation ([`Deformations::location`]).
    pub flags: u32,
}

/// Number of the bits of [`DrawData::flags`] that are not the location of a deformation.
const FLIP_BITS: u32 = 2;

impl DrawData {
    fn of(draw: &DrawMesh) -> DrawData {
        let flags = u32::from(draw.flags & flag::FLIP_X != 0)
            | u32::from(draw.flags & flag::FLIP_Y != 0) << 1;
        DrawData { pose: draw.pose, tint: draw.tint, part: draw.part, flags }
    }
}

/// The key by which a draw's batches are found again.
#[derive(Clone, Copy)]
struct BatchLookup {
    mesh: u32,
    /// The first surface; further ones are in `RetainedScene::surfaces`.
    surface: u32,
}

/// State bits of a draw, in [`RetainedScene::states`].
pub mod state {
    /// The draw exists: a packet added it, and no packet has removed it.
    pub const EXISTS: u8 = 1;
    /// The draw's pose mirrors the mesh.
    pub const MIRRORED: u8 = 2;
    /// The draw is visible in views.
    pub const VISIBLE: u8 = 4;
    /// The draw is visible in shadow maps.
    pub const CASTS_SHADOW: u8 = 8;
    /// The draw has a range of distances in
    /// [`RetainedScene::ranges`](super::RetainedScene::ranges).
    pub const RANGED: u8 = 16;
    /// The draw has a deformation in
    /// [`RetainedScene::deformations`](super::RetainedScene::deformations).
    pub const DEFORMED: u8 = 32;
}

/// Sorting of a draw that has an order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawOrder {
    pub order: i32,
    pub sequence: u32,
    /// Slot of the draw whose distance counts.
    pub sorted_with: u32,
}

/// A scene.
pub struct RetainedScene {
    pub spheres: Spheres,
    /// Bits of [`state`].
    pub states: Vec<u8>,
    /// Groups of each draw, as bits.
    pub layers: Vec<u32>,
    /// Range of distances in which a draw is visible, in metres, if its state has the bit. The
    /// array ends with the last draw that has a range.
    pub ranges: Vec<[f32; 2]>,
    /// The first part of each draw.
    pub items: Vec<DrawPart>,
    /// Further parts of draws whose meshes have several.
    pub extra_parts: NumberMap<u32, Box<[DrawPart]>>,
    pub data: Vec<DrawData>,
    /// Ranges of `data` that have changed since they were copied.
    pub changed: DirtyRanges,
    pub deformations: Deformations,
    pub previous: PreviousPoses,
    /// Order, sequence and sorting distance of the draws that have an order.
    pub orders: NumberMap<u32, DrawOrder>,
    /// The outlines of the draws that have one.
    pub outlines: NumberMap<u32, OutlineStyle>,
    wanted: Vec<BatchLookup>,
    /// The surfaces of draws that do not have exactly one.
    surfaces: NumberMap<u32, Box<[u32]>>,
    pub live: u32,
    pub lights: SceneLights,
    pub decals: SceneDecals,
    pub probes: Vec<ProbeFrame>,
    pub fog_volumes: Vec<FogVolumeFrame>,
    /// Changes of the draws that cast shadows, collected while lamps with shadows exist.
    pub caster_changes: CasterChanges,
    pub sky: SkyFrame,
    pub particle_batches: Vec<ParticleBatch>,
    /// Number of particles that the newest packet has for the batches.
    pub particles: u32,
    scratch: Vec<DrawPart>,
}

/// Transforms a mesh's bounding sphere by a pose.
fn sphere_of(pose: &DrawTransform, center: Vec3, radius: f32) -> (Vec3, f32) {
    let DrawTransform([x, y, z]) = pose;
    let along = |row: &[f32; 4]| row[0] * center.x + row[1] * center.y + row[2] * center.z + row[3];
    let square = |i: usize| x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    let scale = square(0).max(square(1)).max(square(2)).sqrt();
    (Vec3::new(along(x), along(y), along(z)), radius * scale)
}

/// Returns true if a pose mirrors a mesh: its determinant is below 0.
fn mirrors(pose: &DrawTransform) -> bool {
    let DrawTransform([x, y, z]) = pose;
    let axis = |i: usize| Vec3::new(x[i], y[i], z[i]);
    axis(0).cross(axis(1)).dot(axis(2)) < 0.0
}

/// Returns a range of an array; it is empty if it is not within the array.
fn range<T>(all: &[T], first: u32, count: u32) -> &[T] {
    let (first, count) = (first as usize, count as usize);
    first.checked_add(count).and_then(|end| all.get(first..end)).unwrap_or_default()
}

impl RetainedScene {
    pub fn new() -> RetainedScene {
        RetainedScene {
            spheres: Spheres::default(),
            states: Vec::new(),
            layers: Vec::new(),
            ranges: Vec::new(),
            items: Vec::new(),
            extra_parts: NumberMap::default(),
            data: Vec::new(),
            changed: DirtyRanges::default(),
            deformations: Deformations::new(),
            previous: PreviousPoses::default(),
            orders: NumberMap::default(),
            outlines: NumberMap::default(),
            wanted: Vec::new(),
            surfaces: NumberMap::default(),
            live: 0,
            lights: SceneLights::default(),
            decals: SceneDecals::default(),
            probes: Vec::new(),
            fog_volumes: Vec::new(),
            caster_changes: CasterChanges::default(),
            sky: SkyFrame::DEFAULT,
            particle_batches: Vec::new(),
            particles: 0,
            scratch: Vec::new(),
        }
    }

    /// Applies a frame's changes.
    pub fn apply(&mut self, library: &mut DrawResources, frame: &SceneFrame) {
        for change in &frame.changes {
            match change {
                DrawChange::Set(draw) => {
                    let (first, count) = (draw.surfaces.0 as usize, draw.surfaces.1 as usize);
                    self.set_draw(
                        library,
                        draw,
                        frame.surfaces[first..first + count].iter().map(|it| it.0),
                    );
                }
                DrawChange::End(slot) => self.end(library, *slot),
                DrawChange::Reset => self.reset(library),
            }
        }
        assert_eq!(frame.moved.len(), frame.poses.len(), "a pose for each draw that moved");
        for (slot, pose) in frame.moved.iter().zip(&frame.poses) {
            self.move_to(library, *slot, pose);
        }
        if !frame.skins.is_empty() {
            self.deformations.begin_palettes(frame.palettes.hold());
            for update in &frame.skins {
                self.set_palette(library, update, frame.palettes.matrices());
            }
            self.deformations.end_palettes();
        }
        for update in &frame.morphs {
            self.set_weights(library, update, &frame.morph_weights);
        }
        if frame.lights_changed {
            assert!(frame.lights.len() <= LIGHTS_MAX, "{} lights (LIGHTS_MAX)", frame.lights.len());
            self.lights.set(&frame.lights);
        }
        if frame.decals_changed {
            assert!(frame.decals.len() <= DECALS_MAX, "{} decals (DECALS_MAX)", frame.decals.len());
            self.decals.set(&frame.decals);
        }
        if frame.probes_changed {
            assert!(frame.probes.len() <= PROBES_MAX, "{} probes (PROBES_MAX)", frame.probes.len());
            self.probes.clone_from(&frame.probes);
        }
        if frame.fog_volumes_changed {
            let count = frame.fog_volumes.len();
            assert!(count <= FOG_VOLUMES_MAX, "{count} fog volumes (FOG_VOLUMES_MAX)");
            self.fog_volumes.clone_from(&frame.fog_volumes);
        }
        if let Some(sky) = frame.sky {
            self.sky = sky;
        }
        let count = frame.particles.len();
        assert!(count <= PARTICLES_MAX, "{count} particles (PARTICLES_MAX)");
        self.particle_batches.clone_from(&frame.particle_batches);
        self.particles = count as u32;
    }

    /// Returns true if a draw exists.
    pub fn exists(&self, slot: u32) -> bool {
        self.states.get(slot as usize).is_some_and(|bits| bits & state::EXISTS != 0)
    }

    /// Returns the slot of the mesh that a draw shows.
    pub fn mesh(&self, slot: u32) -> u32 {
        self.wanted[slot as usize].mesh
    }

    fn make_room(&mut self, slot: u32) {
        assert!(slot < SLOTS_MAX, "draw slot {slot} (SLOTS_MAX)");
        let count = slot as usize + 1;
        if self.items.len() < count {
            self.spheres.resize(count);
            self.states.resize(count, 0);
            self.layers.resize(count, 0);
            self.items.resize(count, DrawPart::NONE);
            self.data.resize(count, DrawData::of(&DrawMesh::DEFAULT));
            self.wanted.resize(count, BatchLookup { mesh: 0, surface: 0 });
        }
    }

    fn set_draw(
        &mut self,
        library: &mut DrawResources,
        draw: &DrawMesh,
        surfaces: impl ExactSizeIterator<Item = u32> + Clone,
    ) {
        let slot = draw.slot.0;
        self.make_room(slot);
        let index = slot as usize;
        let surface = surfaces.clone().next().unwrap_or(0);
        if surfaces.len() > 1 {
            self.surfaces.insert(slot, surfaces.collect());
        } else {
            self.surfaces.remove(&slot);
        }
        self.layers[index] = draw.layers;
        let is_known = self.exists(slot);
        self.live += u32::from(!is_known);
        let ranged = draw.range != DrawMesh::DEFAULT.range;
        if ranged {
            let count = self.ranges.len().max(index + 1);
            self.ranges.resize(count, DrawMesh::DEFAULT.range);
            self.ranges[index] = draw.range;
        }
        let bits = [
            (state::EXISTS, true),
            (state::MIRRORED, mirrors(&draw.pose)),
            (state::VISIBLE, draw.flags & flag::VISIBLE != 0),
            (state::CASTS_SHADOW, draw.flags & flag::CASTS_SHADOW != 0),
            (state::RANGED, ranged),
        ];
        self.note_caster(index);
        self.states[index] = bits.iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum();
        if self.wanted[index].mesh != draw.mesh.0 || !is_known {
            self.deformations.release(slot);
            self.previous.forget(slot);
        } else {
            self.keep_previous(slot);
        }
        self.wanted[index] = BatchLookup { mesh: draw.mesh.0, surface };
        match draw.order {
            Some(order) => {
                let (sequence, other) = (draw.sequence, draw.sorted_with);
                let sorted_with = other.map_or(slot, |DrawSlot(other)| other);
                self.orders.insert(slot, DrawOrder { order, sequence, sorted_with })
            }
            None => self.orders.remove(&slot),
        };
        match draw.outline {
            Some(style) => self.outlines.insert(slot, style),
            None => self.outlines.remove(&slot),
        };
        self.data[index] = DrawData::of(draw);
        self.changed.add(slot..slot + 1);
        self.find_batches(library, slot);
    }

    fn end(&mut self, library: &mut DrawResources, DrawSlot(slot): DrawSlot) {
        let index = slot as usize;
        if !self.exists(slot) {
            return;
        }
        self.note_caster(index);
        self.states[index] = 0;
        self.live -= 1;
        self.orders.remove(&slot);
        self.outlines.remove(&slot);
        self.surfaces.remove(&slot);
        self.deformations.release(slot);
        self.previous.forget(slot);
        self.release(library, slot);
        self.spheres.set(index, Vec3::ZERO, f32::NEG_INFINITY);
    }

    /// Ends every draw.
    pub fn reset(&mut self, library: &mut DrawResources) {
        for slot in 0..self.items.len() as u32 {
            self.end(library, DrawSlot(slot));
        }
    }

    fn move_to(
        &mut self,
        library: &mut DrawResources,
        DrawSlot(slot): DrawSlot,
        pose: &DrawTransform,
    ) {
        let index = slot as usize;
        if !self.exists(slot) {
            return;
        }
        self.keep_previous(slot);
        self.data[index].pose = *pose;
        self.changed.add(slot..slot + 1);
        if mirrors(pose) == (self.states[index] & state::MIRRORED != 0) {
            self.update_sphere(library, slot);
        } else {
            self.states[index] ^= state::MIRRORED;
            self.find_batches(library, slot);
        }
    }

    /// Keeps the pose of a draw that is about to change.
    fn keep_previous(&mut self, slot: u32) {
        let pose = &self.data[slot as usize].pose;
        self.previous.keep(slot, pose, || self.deformations.rows_of(slot));
    }

    fn set_palette(
        &mut self,
        library: &DrawResources,
        update: &SkinUpdate,
        palettes: &[DrawTransform],
    ) {
        let slot = update.slot.0;
        if !self.exists(slot) {
            return;
        }
        if let Some(mesh) = library.mesh(self.mesh(slot)) {
            let palette = range(palettes, update.first, update.count);
            self.keep_previous(slot);
            self.deformations.set_held_palette(slot, mesh, update, palette);
            // The location of a known deformation stays.
            if self.states[slot as usize] & state::DEFORMED == 0 {
                self.locate_deformation(slot);
            }
            self.update_sphere(library, slot);
        }
    }

    fn set_weights(&mut self, library: &DrawResources, update: &MorphUpdate, weights: &[f32]) {
        let slot = update.slot.0;
        if !self.exists(slot) {
            return;
        }
        if let Some(mesh) = library.mesh(self.mesh(slot)) {
            let weights = range(weights, update.first, update.count);
            self.keep_previous(slot);
            self.deformations.set_weights(slot, mesh, weights);
            self.locate_deformation(slot);
            self.update_sphere(library, slot);
        }
    }

    /// Stores the location of a draw's deformation with the draw.
    fn locate_deformation(&mut self, slot: u32) {
        let index = slot as usize;
        let (location, flags) = (self.deformations.location(slot), self.data[index].flags);
        let wanted = flags & ((1 << FLIP_BITS) - 1) | location << FLIP_BITS;
        if wanted != flags {
            self.data[index].flags = wanted;
            self.changed.add(slot..slot + 1);
        }
        let others = self.states[index] & !state::DEFORMED;
        self.states[index] = others | if location > 0 { state::DEFORMED } else { 0 };
    }

    /// Notes that a draw which casts shadows has changed, or will change.
    fn note_caster(&mut self, index: usize) {
        if self.lights.has_shadows && self.states[index] & state::CASTS_SHADOW != 0 {
            self.caster_changes.add(self.spheres.get(index));
        }
    }

    /// Notes the draws whose shadows follow the functions of their materials: these may read the
    /// time, and the variables and textures of the material.
    pub fn note_changing_outlines(&mut self, library: &DrawResources) {
        if !self.lights.has_shadows {
            return;
        }
        for index in 0..self.items.len() {
            let extra = self.extra_parts.get(&(index as u32)).map_or(&[][..], |parts| &parts[..]);
            let mut parts = std::iter::once(&self.items[index]).chain(extra);
            let changes = |part: &DrawPart| {
                let shadow = Some(part.shadow).filter(|shadow| *shadow != NONE);
                shadow.is_some_and(|it| library.batch(it).class.has(PipelineClass::FUNCTIONS))
            };
            if parts.any(changes) {
                self.note_caster(index);
            }
        }
    }

    /// Updates a draw's bounding sphere from its pose.
    fn update_sphere(&mut self, library: &DrawResources, slot: u32) {
        let index = slot as usize;
        let (center, radius) = match library.mesh(self.wanted[index].mesh) {
            Some(mesh) => {
                let is_deformed = self.states[index] & state::DEFORMED != 0;
                let deformed = is_deformed.then(|| self.deformations.bounds(slot, mesh)).flatten();
                let (center, radius) = deformed.unwrap_or((mesh.bounds.center, mesh.bounds.radius));
                let (center, radius) = sphere_of(&self.data[index].pose, center, radius);
                let surfaces = self.surfaces.get(&slot);
                let first = std::slice::from_ref(&self.wanted[index].surface);
                let offset = library.offset_max(surfaces.map_or(first, |all| &all[..]));
                (center, radius + offset)
            }
            None => (Vec3::ZERO, f32::NEG_INFINITY),
        };
        self.note_caster(index);
        self.spheres.set(index, center, radius);
        self.note_caster(index);
    }

    fn release(&mut self, library: &mut DrawResources, slot: u32) {
        let first = std::mem::replace(&mut self.items[slot as usize], DrawPart::NONE);
        library.release(first);
        for item in self.extra_parts.remove(&slot).into_iter().flatten() {
            library.release(item);
        }
    }

    /// Finds the batches of a draw, and replaces the ones it has.
    fn find_batches(&mut self, library: &mut DrawResources, slot: u32) {
        let index = slot as usize;
        let BatchLookup { mesh, surface } = self.wanted[index];
        let mirrored = self.states[index] & state::MIRRORED != 0;
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        let surfaces = self.surfaces.get(&slot);
        let surfaces = surfaces.map_or(std::slice::from_ref(&surface), |it| &it[..]);
        // The new batches are taken before the old ones are released, so that a batch that both
        // have is kept.
        library.take_items(mesh, surfaces, (mirrored, self.layers[index]), &mut found);
        self.release(library, slot);
        if let Some((first, more)) = found.split_first() {
            self.items[index] = *first;
            if !more.is_empty() {
                self.extra_parts.insert(slot, more.into());
            }
        }
        self.scratch = found;
        self.deformations.fit(slot, library.mesh(mesh).map(|mesh| &**mesh));
        self.locate_deformation(slot);
        self.update_sphere(library, slot);
    }

    /// Finds the batches again for draws whose mesh or surface has changed.
    pub fn refresh(&mut self, library: &mut DrawResources, changed: &ResourceChanges) {
        let is = |list: &[bool], slot: u32| list.get(slot as usize).is_some_and(|it| *it);
        for slot in 0..self.wanted.len() as u32 {
            let BatchLookup { mesh, surface } = self.wanted[slot as usize];
            let stale = self.exists(slot)
                && (is(&changed.meshes, mesh)
                    || is(&changed.surfaces, surface)
                    || self.surfaces.get(&slot).is_some_and(|more| {
                        more.iter().any(|surface| is(&changed.surfaces, *surface))
                    }));
            if stale {
                self.find_batches(library, slot);
            }
        }
    }

    /// Marks everything as changed, to be copied to another adapter.
    pub fn mark_all_changed(&mut self) {
        self.changed.add(0..self.data.len() as u32);
        self.deformations.changed.add(0..self.deformations.rows.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Mat4;

    #[test]
    fn a_draw_takes_105_bytes_of_memory_and_64_on_the_gpu() {
        // Sphere, state, groups, part, data and lookup key: docs/renderer.md.
        let here =
            16 + 1 + 4 + size_of::<DrawPart>() + size_of::<DrawData>() + size_of::<BatchLookup>();
        assert_eq!((here, size_of::<DrawData>()), (105, 64));
    }

    #[test]
    fn bounding_spheres_follow_poses_and_mirroring_is_detected() {
        let turned = Mat4::from_translation(Vec3::new(1.0, 0.0, 0.0))
            * Mat4::from_rotation_z(std::f32::consts::FRAC_PI_2)
            * Mat4::from_scale(Vec3::new(2.0, 1.0, 3.0));
        let (center, radius) = sphere_of(&DrawTransform::of(&turned), Vec3::X, 0.5);
        assert!(center.distance(Vec3::new(1.0, 2.0, 0.0)) < 1e-5);
        assert!((radius - 1.5).abs() < 1e-5);
        assert!(!mirrors(&DrawTransform::of(&turned)));
        let mirrored = turned * Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        assert!(mirrors(&DrawTransform::of(&mirrored)));
    }
}
