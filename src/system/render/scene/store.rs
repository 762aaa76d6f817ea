//! One scene as it was told by packets so far: arrays by the draws' slots, lights, the sky, and the
//! particles of the newest frame. Culls nothing and draws nothing.

use super::super::table::{Map, RangeList};
use super::cull::Spheres;
use super::library::{Changed, Item, Library};
use crate::foundation::Vec3;
use crate::packet::mesh::SLOTS_MAX;
use crate::packet::scene::{
    DrawChange, DrawSlot, LIGHTS_MAX, Light, PARTICLES_MAX, ParticleBatch, Pose, Put, SceneFrame,
    Sky, flag,
};
use bytemuck::{Pod, Zeroable};

/// A draw on the adapter, as scene.wgsl's `Draw` has it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct DrawData {
    pub pose: Pose,
    pub tint: [u8; 4],
    /// Which part of its textures, as [`Put`] has it.
    pub part: [u16; 4],
    /// Bit 0: from its right; bit 1: from below.
    pub flips: u32,
}

impl DrawData {
    fn of(put: &Put) -> DrawData {
        let flips = u32::from(put.flags & flag::FLIP_X != 0)
            | u32::from(put.flags & flag::FLIP_Y != 0) << 1;
        DrawData { pose: put.pose, tint: put.tint, part: put.part, flips }
    }
}

/// What is needed to find a draw's batches again.
#[derive(Clone, Copy)]
struct Wanted {
    mesh: u32,
    /// The first surface; more of them in `Scene::surfaces`.
    surface: u32,
}

/// What is true of a draw: bits of [`Scene::states`].
pub mod state {
    /// It was put, and has not ended.
    pub const THERE: u8 = 1;
    /// Its pose turns it inside out.
    pub const MIRRORED: u8 = 2;
    /// It is seen, and casts a shadow.
    pub const SEEN: u8 = 4;
    pub const CASTS_SHADOW: u8 = 8;
    /// It has a range of distances in [`Scene::ranges`](super::Scene::ranges).
    pub const RANGED: u8 = 16;
}

/// A scene.
pub struct Scene {
    pub spheres: Spheres,
    /// Bits of [`state`].
    pub states: Vec<u8>,
    /// In which groups each is.
    pub layers: Vec<u32>,
    /// From which distance on and up to which it is drawn, in metres, where its state says that it
    /// has such a range: as long as the last that has one.
    pub ranges: Vec<[f32; 2]>,
    /// The first item of each.
    pub items: Vec<Item>,
    /// Further items, of meshes with several parts.
    pub more: Map<u32, Box<[Item]>>,
    pub data: Vec<DrawData>,
    /// Which of `data` have changed since they were copied.
    pub changed: RangeList,
    /// Of those that have one.
    pub orders: Map<u32, i32>,
    wanted: Vec<Wanted>,
    /// The surfaces of draws that have not just one.
    surfaces: Map<u32, Box<[u32]>>,
    pub live: u32,
    pub lights: Vec<Light>,
    pub sky: Sky,
    pub particle_batches: Vec<ParticleBatch>,
    /// How many particles the newest packet has for them.
    pub particles: u32,
    scratch: Vec<Item>,
}

/// A point and a length in the world: what a pose makes of a mesh's sphere.
fn sphere_of(pose: &Pose, center: Vec3, radius: f32) -> (Vec3, f32) {
    let Pose([x, y, z]) = pose;
    let along = |row: &[f32; 4]| row[0] * center.x + row[1] * center.y + row[2] * center.z + row[3];
    let square = |i: usize| x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    let scale = square(0).max(square(1)).max(square(2)).sqrt();
    (Vec3::new(along(x), along(y), along(z)), radius * scale)
}

/// Whether a pose turns a mesh inside out: its determinant is below 0.
fn mirrors(pose: &Pose) -> bool {
    let Pose([x, y, z]) = pose;
    let axis = |i: usize| Vec3::new(x[i], y[i], z[i]);
    axis(0).cross(axis(1)).dot(axis(2)) < 0.0
}

impl Scene {
    pub fn new() -> Scene {
        Scene {
            spheres: Spheres::default(),
            states: Vec::new(),
            layers: Vec::new(),
            ranges: Vec::new(),
            items: Vec::new(),
            more: Map::default(),
            data: Vec::new(),
            changed: RangeList::default(),
            orders: Map::default(),
            wanted: Vec::new(),
            surfaces: Map::default(),
            live: 0,
            lights: Vec::new(),
            sky: Sky::DEFAULT,
            particle_batches: Vec::new(),
            particles: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes over what a frame says.
    pub fn apply(&mut self, library: &mut Library, frame: &SceneFrame) {
        for change in &frame.changes {
            match change {
                DrawChange::Put(put) => {
                    let (first, count) = (put.surfaces.0 as usize, put.surfaces.1 as usize);
                    self.put(
                        library,
                        put,
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
        if frame.lights_changed {
            assert!(frame.lights.len() <= LIGHTS_MAX, "{} lights (LIGHTS_MAX)", frame.lights.len());
            self.lights.clone_from(&frame.lights);
        }
        if let Some(sky) = frame.sky {
            self.sky = sky;
        }
        let count = frame.particles.len();
        assert!(count <= PARTICLES_MAX, "{count} particles (PARTICLES_MAX)");
        self.particle_batches.clone_from(&frame.particle_batches);
        self.particles = count as u32;
    }

    fn is_there(&self, slot: u32) -> bool {
        self.states.get(slot as usize).is_some_and(|bits| bits & state::THERE != 0)
    }

    /// The slot of the mesh that a draw shows.
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
            self.items.resize(count, Item::NONE);
            self.data.resize(count, DrawData::of(&Put::DEFAULT));
            self.wanted.resize(count, Wanted { mesh: 0, surface: 0 });
        }
    }

    fn put(
        &mut self,
        library: &mut Library,
        put: &Put,
        surfaces: impl ExactSizeIterator<Item = u32> + Clone,
    ) {
        let slot = put.slot.0;
        self.make_room(slot);
        let index = slot as usize;
        let surface = surfaces.clone().next().unwrap_or(0);
        if surfaces.len() > 1 {
            self.surfaces.insert(slot, surfaces.collect());
        } else {
            self.surfaces.remove(&slot);
        }
        self.layers[index] = put.layers;
        self.live += u32::from(!self.is_there(slot));
        let ranged = put.range != Put::DEFAULT.range;
        if ranged {
            let count = self.ranges.len().max(index + 1);
            self.ranges.resize(count, Put::DEFAULT.range);
            self.ranges[index] = put.range;
        }
        let bits = [
            (state::THERE, true),
            (state::MIRRORED, mirrors(&put.pose)),
            (state::SEEN, put.flags & flag::VISIBLE != 0),
            (state::CASTS_SHADOW, put.flags & flag::CASTS_SHADOW != 0),
            (state::RANGED, ranged),
        ];
        self.states[index] = bits.iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum();
        self.wanted[index] = Wanted { mesh: put.mesh.0, surface };
        match put.order {
            Some(order) => self.orders.insert(slot, order),
            None => self.orders.remove(&slot),
        };
        self.data[index] = DrawData::of(put);
        self.changed.add(slot..slot + 1);
        self.find(library, slot);
    }

    fn end(&mut self, library: &mut Library, DrawSlot(slot): DrawSlot) {
        let index = slot as usize;
        if !self.is_there(slot) {
            return;
        }
        self.states[index] = 0;
        self.live -= 1;
        self.orders.remove(&slot);
        self.surfaces.remove(&slot);
        self.give_back(library, slot);
        self.spheres.set(index, Vec3::ZERO, f32::NEG_INFINITY);
    }

    /// Ends every draw.
    pub fn reset(&mut self, library: &mut Library) {
        for slot in 0..self.items.len() as u32 {
            self.end(library, DrawSlot(slot));
        }
    }

    fn move_to(&mut self, library: &mut Library, DrawSlot(slot): DrawSlot, pose: &Pose) {
        let index = slot as usize;
        if !self.is_there(slot) {
            return;
        }
        self.data[index].pose = *pose;
        self.changed.add(slot..slot + 1);
        if mirrors(pose) == (self.states[index] & state::MIRRORED != 0) {
            self.place(library, slot);
        } else {
            self.states[index] ^= state::MIRRORED;
            self.find(library, slot);
        }
    }

    /// Puts a draw's sphere where its pose says.
    fn place(&mut self, library: &Library, slot: u32) {
        let index = slot as usize;
        let (center, radius) = match library.mesh(self.wanted[index].mesh) {
            Some(mesh) => {
                let bounds = &mesh.bounds;
                sphere_of(&self.data[index].pose, bounds.center, bounds.radius)
            }
            None => (Vec3::ZERO, f32::NEG_INFINITY),
        };
        self.spheres.set(index, center, radius);
    }

    fn give_back(&mut self, library: &mut Library, slot: u32) {
        let first = std::mem::replace(&mut self.items[slot as usize], Item::NONE);
        library.give_back(first);
        for item in self.more.remove(&slot).into_iter().flatten() {
            library.give_back(item);
        }
    }

    /// Finds the batches of a draw, anew where it has some.
    fn find(&mut self, library: &mut Library, slot: u32) {
        let index = slot as usize;
        let Wanted { mesh, surface } = self.wanted[index];
        let mirrored = self.states[index] & state::MIRRORED != 0;
        let mut found = std::mem::take(&mut self.scratch);
        found.clear();
        let surfaces = self.surfaces.get(&slot);
        let surfaces = surfaces.map_or(std::slice::from_ref(&surface), |it| &it[..]);
        // The new ones are taken first: batches that both have stay.
        library.take_items(mesh, surfaces, mirrored, &mut found);
        self.give_back(library, slot);
        if let Some((first, more)) = found.split_first() {
            self.items[index] = *first;
            if !more.is_empty() {
                self.more.insert(slot, more.into());
            }
        }
        self.scratch = found;
        self.place(library, slot);
    }

    /// Finds the batches anew of draws whose mesh or surface is another now.
    pub fn refresh(&mut self, library: &mut Library, changed: &Changed) {
        let is = |list: &[bool], slot: u32| list.get(slot as usize).is_some_and(|it| *it);
        for slot in 0..self.wanted.len() as u32 {
            let Wanted { mesh, surface } = self.wanted[slot as usize];
            let stale = self.is_there(slot)
                && (is(&changed.meshes, mesh)
                    || is(&changed.surfaces, surface)
                    || self.surfaces.get(&slot).is_some_and(|more| {
                        more.iter().any(|surface| is(&changed.surfaces, *surface))
                    }));
            if stale {
                self.find(library, slot);
            }
        }
    }

    /// What must be copied to another adapter: all of it.
    pub fn all_changed(&mut self) {
        self.changed.add(0..self.data.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::Mat4;

    #[test]
    fn a_draw_takes_105_bytes_here_and_64_on_the_adapter() {
        // Sphere, state, groups, item, data and what was wanted: docs/renderer.md.
        let here = 16 + 1 + 4 + size_of::<Item>() + size_of::<DrawData>() + size_of::<Wanted>();
        assert_eq!((here, size_of::<DrawData>()), (105, 64));
    }

    #[test]
    fn a_sphere_follows_its_pose_and_mirrors_are_known() {
        let turned = Mat4::from_translation(Vec3::new(1.0, 0.0, 0.0))
            * Mat4::from_rotation_z(std::f32::consts::FRAC_PI_2)
            * Mat4::from_scale(Vec3::new(2.0, 1.0, 3.0));
        let (center, radius) = sphere_of(&Pose::of(&turned), Vec3::X, 0.5);
        assert!(center.distance(Vec3::new(1.0, 2.0, 0.0)) < 1e-5);
        assert!((radius - 1.5).abs() < 1e-5);
        assert!(!mirrors(&Pose::of(&turned)));
        let mirrored = turned * Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        assert!(mirrors(&Pose::of(&mirrored)));
    }
}
